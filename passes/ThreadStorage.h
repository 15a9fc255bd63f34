//===- ThreadStorage.h - elements of shared and local buffers ---*- C++ -*-===//
//
// Part of convert-tile-to-tgpu: accesses to single elements of buffers in shared memory, and to what
// each thread has of its own. The latter stays memory (`tile.alloc` of scope local) unless it is a
// variable of one region, which becomes a value as block code's do.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_THREADSTORAGE_H
#define TILEC_PASSES_THREADSTORAGE_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/IRMapping.h"

namespace tilec {

class ThreadStorage {
public:
  /// `mapping` leads from the code that is converted to what `builder` makes.
  ThreadStorage(mlir::IRMapping &mapping, mlir::OpBuilder &builder, int64_t threads)
      : mapping(mapping), builder(builder), threads(threads) {}

  /// True for a variable of a region that is a scalar.
  static bool isVariable(tile::BufferType type, mlir::Value buffer);

  /// True for a buffer in shared memory or of each thread, or a part of one, whose elements are
  /// accessed here.
  bool holds(mlir::Value storage) const;
  /// A part of such a buffer that begins at computed indices: its elements are found in the buffer,
  /// by all that use it. `asTile`: or it is read or written as a tile.
  bool isPartByIndices(tile::SliceOp slice, bool asTile) const;
  /// `reshape` or `bitcast` of such a buffer, whose elements are found likewise (a remark); else the
  /// reason why they are not.
  bool isRenumbered(mlir::Operation *view, std::string &reason) const;
  /// The element at `indices` (of the old code) of `storage`, or neighbours: `type` is the result.
  mlir::Value load(mlir::Location loc, mlir::Type type, mlir::Value storage,
                   mlir::ValueRange indices);
  void store(mlir::Location loc, mlir::Value value, mlir::Value storage, mlir::ValueRange indices);

  /// Whether it is a part of a shared buffer that is no buffer of its own: it begins at computed
  /// indices, or has fewer dimensions.
  bool isPart(mlir::Value storage) const;
  /// The tile that such a part holds, element by element, and one put there.
  mlir::Value readPart(mlir::Location loc, mlir::Value part);
  void writePart(mlir::Location loc, mlir::Value tile, mlir::Value part);
  /// What `parallel` loops do to elements of such a part; false if the place of `op` is none.
  bool convertInPart(mlir::Operation *op);

  /// An atomic operation on one element, of any place. What it returns, where that is used: in block
  /// code one thread has the old value, and puts it into shared memory for the others.
  void atomic(tile::AtomicOp op);
  void atomic(tile::AtomicCasOp op);
  /// One on a tile.
  void atomic(tile::AtomicTileOp op);

  /// A `shared` buffer is declared in front of the region it stands in: it is the block's.
  mlir::Value declareShared(tile::AllocOp op, tgpu::SmemType type);
  /// True for memory of each thread's own.
  bool isLocal(mlir::Value storage) const;
  /// What a thread has in such a scalar, or all threads in a local buffer; null for another one.
  mlir::Value readLocal(tile::ReadOp read);
  /// Gives each element of a local buffer one value; false where it is a tile of different ones.
  bool fillLocal(tile::WriteOp write);

private:
  /// What all threads have, as a tile [threads, ...]: they write it to shared memory.
  mlir::Value readAll(tile::ReadOp read);
  void gather(tgpu::GatherOp op);
  void scatter(tgpu::ScatterOp op);
  void atomic(tgpu::AtomicOp op);
  struct Element {
    mlir::Value buffer; ///< of the new code
    llvm::SmallVector<mlir::Value> indices;
  };
  Element find(mlir::Location loc, mlir::Value storage, mlir::ValueRange indices);

  // ---- BufferViews.cpp: indices are of the new code, scalars or tiles; a null mask holds always.
  llvm::SmallVector<mlir::Value> indicesInSource(mlir::Location loc, tile::SliceOp slice,
                                                 mlir::ValueRange at);
  llvm::SmallVector<mlir::Value> indicesInSource(mlir::Location loc, tile::ReshapeOp reshape,
                                                 mlir::ValueRange at);
  /// What `storage` is a slice or a reshape of, with `at` as its indices: a buffer, or a bitcast of one.
  mlir::Value behindIndices(mlir::Location loc, mlir::Value storage,
                            llvm::SmallVector<mlir::Value> &at);
  mlir::Value readView(mlir::Location loc, mlir::Type type, mlir::Value storage,
                       llvm::SmallVector<mlir::Value> at, mlir::Value mask);
  mlir::Value readBitcast(mlir::Location loc, mlir::Type type, tile::BitcastViewOp view,
                          llvm::SmallVector<mlir::Value> at, mlir::Value mask);
  void writeView(mlir::Location loc, mlir::Value value, mlir::Value storage,
                 llvm::SmallVector<mlir::Value> at, mlir::Value mask);
  void writeBitcast(mlir::Location loc, mlir::Value value, tile::BitcastViewOp view,
                    llvm::SmallVector<mlir::Value> at, mlir::Value mask);
  llvm::SmallVector<mlir::Value> coordinatesOf(mlir::Location loc, llvm::ArrayRef<int64_t> shape);
  /// The elements of `storage` (of the old code) at the coordinates of a tile of its shape.
  Element findTile(mlir::Location loc, mlir::Value storage, llvm::ArrayRef<int64_t> shape);
  void atomicElement(mlir::Operation *op, tile::AtomicKind kind, mlir::Value value,
                     mlir::Value expected, mlir::Value place, mlir::ValueRange indices,
                     tile::MemoryOrder order, bool isUnsigned);
  /// `body` for each index of `shape`, in loops.
  void forEachIndex(mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(mlir::ValueRange)> body);

  mlir::IRMapping &mapping;
  mlir::OpBuilder &builder;
  int64_t threads;
};

} // namespace tilec

#endif // TILEC_PASSES_THREADSTORAGE_H
