//===- ViewBounds.h - bounds that views have inside their tensors -*- C++ -*-===//
#ifndef TILEC_PASSES_VIEWBOUNDS_H
#define TILEC_PASSES_VIEWBOUNDS_H

#include "passes/Analysis.h"

namespace tilec {

/// A bound that a view between a slice and its tensor has inside the tensor: along `dim` of the
/// tensor, index t of the slice is in the view where 0 <= sum(begin) + t < size.
struct OwnBound {
  int64_t dim;
  llvm::SmallVector<mlir::Value, 2> begin;
  mlir::OpFoldResult size; ///< a constant or an integer
};

/// All of them, from the outermost view on. `slice` has a view and gathers nothing.
llvm::SmallVector<OwnBound> ownBounds(mlir::Value slice);

/// True if the view of `slice` covers dimension `axis` of its source: an offset of 0, and the source's
/// own extent.
bool coversSource(tile::SliceOp slice, unsigned axis);

/// The part of a tile that is inside of all bounds: by dimension of the tile the first index and the
/// one behind the last (i32, inside the tile), and whether that is not all of the tile (i1).
struct InnerBox {
  llvm::SmallVector<mlir::Value> low, high;
  mlir::Value isPart;
};

/// Computes it where `builder` stands; `current` gives the value that an operand of the bounds has
/// there. `tile` is what analyseSlice says of the slice.
InnerBox emitInnerBox(mlir::OpBuilder &builder, mlir::Location loc, const GlobalSlice &tile,
                      llvm::ArrayRef<OwnBound> bounds,
                      llvm::function_ref<mlir::Value(mlir::Value)> current);

} // namespace tilec

#endif // TILEC_PASSES_VIEWBOUNDS_H
