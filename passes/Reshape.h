//===- Reshape.h - `reshape` and `bitcast` of tensors make views of arguments -*- C++ -*-===//
#ifndef TILEC_PASSES_RESHAPE_H
#define TILEC_PASSES_RESHAPE_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tilec {

/// The extents of a reshaped view: constants, and `dynamic` for the others.
llvm::SmallVector<mlir::Value> extentsOf(tile::ReshapeOp op, mlir::ValueRange dynamic,
                                         mlir::OpBuilder &builder);

/// The strides of a contiguous tensor, for all dimensions but the last. Products are i64, so that
/// large tensors do not overflow.
llvm::SmallVector<mlir::Value> rowMajorStrides(mlir::OpBuilder &builder, mlir::Location loc,
                                               llvm::ArrayRef<mlir::Value> extents);

/// Maps `op`, which stands in a launch, to a view of its kernel argument: everything is out of range
/// where the numbers of elements differ, an error of the program.
llvm::LogicalResult convertReshape(tile::ReshapeOp op, mlir::IRMapping &mapping,
                                   mlir::OpBuilder &builder);

/// A number of elements of one size as one of another: value * times / by, one of which is 1.
using ScaleElements = llvm::function_ref<mlir::Value(mlir::Value value, int64_t times, int64_t by)>;

/// `view` with elements of another type; null where its memory may begin in the middle of one.
mlir::Value bitcastView(tgpu::ViewOp view, tile::GlobalType type, mlir::OpBuilder &builder,
                        ScaleElements scale);

/// The same in a launch, also of slices where elements do not become larger. Packed elements are
/// PackElements' business.
llvm::LogicalResult convertBitcast(tile::BitcastViewOp op, mlir::IRMapping &mapping,
                                   mlir::OpBuilder &builder);

} // namespace tilec

#endif // TILEC_PASSES_RESHAPE_H
