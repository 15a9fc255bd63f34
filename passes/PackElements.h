//===- PackElements.h - memory of elements of less than a byte -*- C++ -*-===//
#ifndef TILEC_PASSES_PACKELEMENTS_H
#define TILEC_PASSES_PACKELEMENTS_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/Builders.h"
#include "passes/IntegerAnalysis.h"

#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// A region of packed elements as bytes.
struct Packed {
  mlir::Value bytes;
  /// The index of its elements in their row, where a single index took the last dimension away; null:
  /// it has it.
  mlir::Value column;
  /// Elements of the last dimension that are in range (i64), where that may be odd; null: what the
  /// bytes say.
  mlir::Value end;
};

/// Puts operations on bytes before those on packed elements (PackElements.cpp; accesses:
/// PackElementsAccess.cpp).
class Packer {
public:
  explicit Packer(tgpu::KernelOp kernel)
      : integers(kernel), b(kernel.getContext()), kernel(kernel) {}

  llvm::LogicalResult run();

private:
  llvm::LogicalResult convert(mlir::Operation *op);
  // ---- Regions
  llvm::LogicalResult convertBitcast(tile::BitcastViewOp op);
  llvm::LogicalResult convertSlice(tile::SliceOp op);
  bool endsAtByte(mlir::Value size, mlir::Value offset);
  void takeColumns(tile::SliceOp op, const Packed &source, Packed &result,
                   llvm::SmallVectorImpl<mlir::Value> &sizes);
  llvm::LogicalResult convertExtent(tile::ExtentOp op);
  llvm::LogicalResult convertAlloc(tgpu::AllocSharedOp op);
  llvm::LogicalResult convertSubview(tgpu::SubviewOp op);
  // ---- Tiles
  llvm::LogicalResult convertLoad(tgpu::LoadOp op);
  llvm::LogicalResult convertStore(tgpu::StoreOp op);
  llvm::LogicalResult convertCopy(tgpu::CopyOp op);
  llvm::LogicalResult convertLocalLoad(tgpu::LocalLoadOp op);
  llvm::LogicalResult convertLocalStore(tgpu::LocalStoreOp op);
  llvm::LogicalResult convertGather(tgpu::GatherOp op);
  // ---- Elements of single threads
  template <typename Op>
  llvm::LogicalResult convertElementLoad(Op op);
  template <typename Op>
  llvm::LogicalResult convertElementStore(Op op);

  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &what,
                             llvm::StringRef wayOut = "");
  /// An error where bytes of the region cannot be written as a whole.
  llvm::LogicalResult refuseWrite(mlir::Operation *op, const Packed &dest);
  void replace(mlir::Operation *op, mlir::Value by) {
    op->getResult(0).replaceAllUsesWith(by);
    dead.push_back(op);
  }
  Packed lookup(mlir::Value memory) const { return regions.lookup(memory); }

  /// An index, or a tile of them, of the byte that holds an element.
  mlir::Value half(mlir::Value index);
  mlir::Value wide(mlir::Value value);
  mlir::Value constant(mlir::Type type, int64_t value);
  /// Null is no bound.
  mlir::Value smaller(mlir::Value x, mlir::Value y);
  /// The elements at `index` (a scalar or tile, like `bytes`) of the bytes that hold them.
  mlir::Value elementIn(mlir::Value bytes, mlir::Value index, mlir::Type type);
  /// `value` where the element at `index` is before the end of its row, else 0.
  mlir::Value beforeEnd(mlir::Value value, mlir::Value index, mlir::Value end);
  /// Bytes along the last dimension without what lies behind the end of the row.
  mlir::Value clearTail(mlir::Value bytes, mlir::Value end);
  mlir::Value unpacked(mlir::Value bytes, mlir::Type type);
  mlir::Value packed(mlir::Value elements);
  mlir::FailureOr<mlir::Value> loadBytes(mlir::Operation *op, const Packed &source,
                                         llvm::ArrayRef<int64_t> shape, tile::CacheHint cache);

  IntegerAnalysis integers; // of the values before
  mlir::OpBuilder b;
  tgpu::KernelOp kernel;
  mlir::Location loc = b.getUnknownLoc();
  llvm::DenseMap<mlir::Value, Packed> regions; // looked up, never iterated
  llvm::SmallVector<mlir::Operation *> dead;
};

/// The shape of the bytes that hold elements of this shape.
llvm::SmallVector<int64_t> shapeOfBytes(llvm::ArrayRef<int64_t> shape);

} // namespace tilec

#endif // TILEC_PASSES_PACKELEMENTS_H
