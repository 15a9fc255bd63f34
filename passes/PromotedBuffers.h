//===- PromotedBuffers.h - buffers that become values -----------*- C++ -*-===//
//
// Fragments, variables of a block and scalar variables of a region are mutable buffers in the tile dialect,
// and SSA values from tgpu on.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_PROMOTEDBUFFERS_H
#define TILEC_PASSES_PROMOTEDBUFFERS_H

#include "dialects/tile/Tile.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {

/// True for a buffer whose contents become SSA values, and for a slice of one.
bool isPromoted(mlir::Value value);

/// The buffer that `storage` is a slice, or another view, of; itself if it is none.
mlir::Value wholeOf(mlir::Value storage);

/// The value type of a promoted buffer.
mlir::Type valueType(tile::BufferType type);
/// Whether a load or store of `moved` is of a whole variable of the block: it has no indices, or is of a `vec`.
bool isWholeVariable(mlir::Value buffer, mlir::ValueRange indices, mlir::Type moved);
/// Whether it is a `vec` of the block, whose value is a vector.
bool isVector(mlir::Value buffer);
/// An element of the value of a `vec`, and the vector with another one. `index` is mapped by `names` unless it is constant.
mlir::Value elementOf(mlir::OpBuilder &builder, mlir::Value vec, mlir::Value index,
                      const mlir::IRMapping &names);
mlir::Value withElement(mlir::OpBuilder &builder, mlir::Value vec, mlir::Value element,
                        mlir::Value index, const mlir::IRMapping &names);

/// The value as what a copy puts into elements of this type.
mlir::Value copiedAs(mlir::OpBuilder &builder, tile::CopyOp copy, mlir::Value value,
                     mlir::Type element);

/// Promoted buffers defined outside `op` that its regions assign, in program order.
llvm::SetVector<mlir::Value> buffersAssignedIn(mlir::Operation *op);

/// True if `op` or an operation inside it takes a buffer.
bool usesBuffer(mlir::Operation *op);

} // namespace tilec

#endif // TILEC_PASSES_PROMOTEDBUFFERS_H
