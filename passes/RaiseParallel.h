//===- RaiseParallel.h - the body of a `parallel` loop as tiles -*- C++ -*-===//
//
// What one iteration computes as a scalar, all of them compute as a tile, which has one dimension
// for each index of the loop that the scalar depends on, in their order. What depends on none stays a
// scalar. Statements under a condition that differs between iterations happen under a mask.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_RAISEPARALLEL_H
#define TILEC_PASSES_RAISEPARALLEL_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tilec {

/// Indices of the loop, rising.
using Axes = llvm::SmallVector<unsigned, 3>;

/// A value of the body: a scalar if `axes` is empty, else a tile with these dimensions.
struct Raised {
  mlir::Value value;
  Axes axes;
};

/// An index of the loop: the tiles have `size` elements along it.
struct LoopAxis {
  int64_t size = 0;
  mlir::Value start; ///< what the tile's first index is (null: 0)
  mlir::Value left;  ///< so many of the tile's indices are the loop's (null: all)
};

/// Refused where each iteration chooses its own: the values of a `vec` of the block are no tile.
inline constexpr llvm::StringLiteral kChosenElement =
    "an element of a `vec` that each iteration chooses, in a `parallel` loop,";

class ParallelRaiser {
public:
  explicit ParallelRaiser(tile::ParallelOp loop);

  /// Puts the operations that mean the same before the loop; the loop stays.
  llvm::LogicalResult run();

private:
  // ---- RaiseParallel.cpp
  void choosePieces();
  bool indexesTile(unsigned axis, int64_t &extent);
  void openPieces();
  void defineIndices();
  llvm::LogicalResult raiseBlock(mlir::Block &block);
  llvm::LogicalResult raise(mlir::Operation *op);
  llvm::LogicalResult raisePure(mlir::Operation *op);
  llvm::LogicalResult raiseIf(mlir::scf::IfOp op);
  llvm::LogicalResult raiseBranch(mlir::scf::IfOp op, mlir::Value condition);
  llvm::LogicalResult raiseFor(mlir::scf::ForOp op);
  llvm::LogicalResult raiseUnevenFor(mlir::scf::ForOp op);
  llvm::LogicalResult raiseWhile(mlir::scf::WhileOp op);
  struct WhileShape;
  /// Raises the loop with tiles of this shape; where it turns out to be too small, enlarges it instead.
  llvm::LogicalResult tryWhile(mlir::scf::WhileOp op, WhileShape &shape, bool &fits);
  mlir::scf::WhileOp openWhile(mlir::scf::WhileOp op, const WhileShape &shape);
  llvm::LogicalResult raiseCondition(mlir::scf::WhileOp op, mlir::Block *before, WhileShape &shape,
                                     bool &fits);
  llvm::LogicalResult raiseWhileBody(mlir::scf::WhileOp op, mlir::Block *after, WhileShape &shape,
                                     bool &fits);
  void defineArguments(mlir::ValueRange old, mlir::Block *block, llvm::ArrayRef<Axes> axes);
  llvm::LogicalResult raiseVerify(tile::VerifyOp op);
  void raisePrint(tile::PrintOp op);

  Raised lookup(mlir::Value old);
  llvm::SmallVector<Raised> lookup(mlir::ValueRange old);
  void define(mlir::Value old, Raised raised) { values[old] = std::move(raised); }
  void defineAll(mlir::ValueRange old, mlir::ValueRange fresh, const Axes &axes);
  /// All indices of the loop.
  Axes allAxes();
  static Axes unite(llvm::ArrayRef<Raised> items);
  mlir::RankedTensorType tileType(const Axes &axes, mlir::Type element);
  /// The value as a tile over `axes`, which hold its own; the scalar if there are none.
  mlir::Value over(const Raised &raised, const Axes &axes);
  llvm::SmallVector<mlir::Value> over(llvm::ArrayRef<Raised> items, const Axes &axes);
  /// Conjunction; a null value is true.
  Raised both(const Raised &x, const Raised &y);
  Raised negated(const Raised &x);
  /// `then` where the condition holds, else `otherwise`.
  Raised select(const Raised &condition, const Raised &then, const Raised &otherwise);
  /// Whether it holds in some iteration (i1).
  mlir::Value any(const Raised &condition);

  // ---- RaiseParallelAccess.cpp
  /// An index of the form `base` + the loop's index `axis` (-1: just `base`); base null is 0. One that
  /// gathers is what `base`, a tile along `axis`, holds there.
  struct Affine {
    mlir::Value base;
    int axis = -1;
    bool gathers = false;
  };
  std::optional<Affine> affineOf(mlir::Value old);
  std::optional<llvm::SmallVector<Affine>> affineOf(mlir::ValueRange old);
  llvm::LogicalResult raiseLoad(tile::LoadOp op);
  llvm::LogicalResult raiseStore(tile::StoreOp op);
  /// Which index of the loop each dimension of a tile of this shape runs along, if each does along
  /// one of its own, as far as it goes.
  std::optional<llvm::SmallVector<unsigned>> identityOf(llvm::ArrayRef<int64_t> shape,
                                                        mlir::ValueRange indices);
  std::optional<Raised> readIdentity(tile::LoadOp op);
  std::optional<Raised> loadSlice(tile::LoadOp op);
  /// What all iterations write, and the part of `view` that they write it to.
  struct SliceStore {
    mlir::Value tile, part;
  };
  /// Nothing where they do not fill such a part.
  std::optional<SliceStore> asSlice(mlir::Value view, mlir::ValueRange indices, mlir::Value value);
  bool isWholeBytes(mlir::Type memory, llvm::ArrayRef<Affine> indices);
  bool storeSlice(tile::StoreOp op);
  /// `expected`: of a compare and exchange, else null.
  void raiseAtomic(mlir::Operation *op, tile::AtomicKind kind, mlir::Value value,
                   mlir::Value expected, mlir::Value place, mlir::ValueRange indices,
                   tile::MemoryOrder order, bool isUnsigned);
  bool storeIdentity(tile::StoreOp op);
  bool storeFragment(tile::StoreOp op);
  void scatter(tile::StoreOp op, mlir::Value dest);
  Raised gather(tile::LoadOp op, mlir::Value source);
  mlir::Value placesOf(const Affine &index);
  mlir::Value sliceOf(mlir::Value view, llvm::ArrayRef<Affine> indices);
  /// `tile`, whose dimensions run along `order`, with rising ones; nothing if that takes more than a
  /// transposition.
  std::optional<Raised> sorted(mlir::Value tile, llvm::ArrayRef<unsigned> order);
  /// A shared buffer with the contents of a fragment or tile.
  mlir::Value inShared(mlir::Operation *op, mlir::Value storage);
  bool isWritten(mlir::Value global);

  tile::ParallelOp loop;
  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::SmallVector<LoopAxis> axes;
  Raised mask;    ///< the iterations that execute what is being raised; null: all
  Raised padding; ///< the elements of tiles that are iterations; null: all
  // Looked up, never iterated.
  llvm::DenseMap<mlir::Value, Raised> values;
  llvm::MapVector<mlir::Operation *, std::string> remarks; ///< of statements of the loop
};

} // namespace tilec

#endif // TILEC_PASSES_RAISEPARALLEL_H
