//===- TransposedAccess.h - what moves a tile and its transpose -*- C++ -*-===//
#ifndef TILEC_PASSES_TRANSPOSEDACCESS_H
#define TILEC_PASSES_TRANSPOSEDACCESS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Values that should share a layout, by loops and branches.
using LayoutTies = llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>>;

/// Layouts for the two sides of a transpose; one that is missing follows from the other.
struct TransposedLayouts {
  std::optional<layout::RegisterLayout> input, result;
};

/// What accesses of memory on both sides of a transpose want: in the layout that suits one of them
/// the other would run across the rows of its memory. So a thread holds blocks of neighbours in both
/// directions, of which either side moves whole rows; where global memory moves by single elements,
/// each side has a layout of its own, and beside shared memory, whose elements can be had one by
/// one, the side of global memory decides. Nothing where only one side accesses memory, or neither
/// that of tensors.
TransposedLayouts layoutsAcross(tile::TransposeOp op, const LayoutTies &ties, int64_t warps);

} // namespace tilec

#endif // TILEC_PASSES_TRANSPOSEDACCESS_H
