//===- GatheringAccess.h - tiles at places that index tiles give -*- C++ -*-===//
//
// A copy, load, store or atomic operation on a view whose slices take indices from tiles. Each thread needs the
// indices of the elements that it moves: the layout of an index tile is that of the tile, along the
// dimension that it gathers.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_GATHERINGACCESS_H
#define TILEC_PASSES_GATHERINGACCESS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

struct GatheringAccess {
  mlir::OpOperand *view;
  mlir::Value fragment; ///< the tile that it moves, if it is in registers

  /// An index tile as an operand of its slice, and the dimension of the tile that it gathers.
  using Indices = std::pair<mlir::OpOperand *, unsigned>;

  /// Nothing where `op` is no such operation.
  static std::optional<GatheringAccess> of(mlir::Operation *op);
  llvm::SmallVector<Indices, 2> indices() const;
};

/// How the threads of `warps` warps share a copy between global and shared memory.
layout::Answer<layout::RegisterLayout> layoutOfCopy(tgpu::CopyOp copy, int64_t warps);

} // namespace tilec

#endif // TILEC_PASSES_GATHERINGACCESS_H
