//===- PromotedBuffers.h - buffers that become values -----------*- C++ -*-===//
//
// Fragments, variables of a block and scalar variables of a region are mutable buffers in the tile dialect,
// and SSA values from tgpu on.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_PROMOTEDBUFFERS_H
#define TILEC_PASSES_PROMOTEDBUFFERS_H

#include "dialects/tile/Tile.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {

/// True for a buffer whose contents become SSA values, and for a slice of one.
bool isPromoted(mlir::Value value);

/// The buffer that `storage` is a slice, or another view, of; itself if it is none.
mlir::Value wholeOf(mlir::Value storage);

/// The value type of a promoted buffer.
mlir::Type valueType(tile::BufferType type);

/// Promoted buffers defined outside `op` that its regions assign, in program order.
llvm::SetVector<mlir::Value> buffersAssignedIn(mlir::Operation *op);

/// True if `op` or an operation inside it takes a buffer.
bool usesBuffer(mlir::Operation *op);

} // namespace tilec

#endif // TILEC_PASSES_PROMOTEDBUFFERS_H
