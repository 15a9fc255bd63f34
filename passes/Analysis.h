//===- Analysis.h - questions that several passes ask of tgpu IR -*- C++ -*-===//
#ifndef TILEC_PASSES_ANALYSIS_H
#define TILEC_PASSES_ANALYSIS_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/IntegerAnalysis.h"

#include "llvm/ADT/SmallBitVector.h"

namespace tilec {

/// The target of a kernel; reports at the kernel and gives null when it has none or an unknown one.
const Target *getTarget(tgpu::KernelOp kernel);

/// True if the program asks for warps that load (`@warp_specialize`), and the target has what they need.
bool asksForRoles(tgpu::KernelOp kernel);
/// Teams of warps that would take turns at the points of its grid, where loads by TMA run ahead. Needs the paths of copies.
int64_t teamsWanted(tgpu::KernelOp kernel);

/// True for the loop of a persistent block over its points of the grid.
bool runsOverGrid(mlir::Operation *loop);

/// True when `divisor` (of elements) times `bits` is a whole number of accesses of `bytes` bytes.
inline bool fitsAccess(int64_t divisor, unsigned bits, int64_t bytes) {
  return divisor * bits % (8 * bytes) == 0;
}

/// What is known of a slice of global memory at compile time.
struct GlobalSlice {
  tgpu::ViewOp view; ///< the kernel argument that it is part of; null when not found
  /// For each dimension of the view: the values whose sum is where the slice begins (none: 0).
  llvm::SmallVector<llvm::SmallVector<mlir::Value, 1>> offset;
  llvm::SmallVector<int64_t>
      sizes; ///< for each dimension of the view: extent, 1 where dropped, kDynamic
  llvm::SmallVector<int64_t> kept; ///< dimensions of the view that the slice keeps, in order
  /// Some slice between the view and here has a bound of its own inside the tensor, or gathers.
  bool hasInnerBounds = false;
  /// Dimensions of the view whose indices a tile gives; `offset` says nothing of them.
  llvm::SmallBitVector gathered;
};

/// Follows `tile.slice`s from `value` to its view; bitcasts give a null one.
GlobalSlice analyseSliceOrGather(mlir::Value value);
/// The same, but gathers give a null view, too.
GlobalSlice analyseSlice(mlir::Value value);

/// What is known of the sum of some offsets: a divisor (0 of no offset), and its range.
int64_t divisorOfSum(llvm::ArrayRef<mlir::Value> offsets, const IntegerAnalysis &integers);
IntegerRange rangeOfSum(llvm::ArrayRef<mlir::Value> offsets, const IntegerAnalysis &integers);

/// True if some slice between `value` and its view takes indices from a tile.
bool isGather(mlir::Value value);

/// The type of the elements of a view, a buffer or a tile; a scalar's own.
mlir::Type elementTypeOf(mlir::Type type);

/// True if `slice` takes a part, or one index, of a dimension that a slice before it gathers.
bool takesPartOfGather(tile::SliceOp slice);

/// True if the slice's result covers its source dimension `axis`: an offset of 0 and the source's
/// static extent.
inline bool takesWhole(tile::SliceOp slice, unsigned axis) {
  const int64_t size = slice.getStaticSizes()[axis];
  const int64_t whole = cast<tile::GlobalType>(slice.getSource().getType()).getShape()[axis];
  return !slice.isGather(axis) && size == whole && !mlir::ShapedType::isDynamic(whole) &&
         mlir::matchPattern(slice.getOffsets()[axis], mlir::m_Zero());
}

/// True for what the host can put into a tensor map: a kernel argument or a constant.
bool isHostKnown(mlir::Value value);

/// Bytes at whose multiples the tensor behind a view starts; 1 when nothing is known.
int64_t baseAlignment(tgpu::ViewOp view);

/// True for a workspace that may have no elements.
bool mayBeEmpty(tgpu::ViewOp view);

/// Bytes (a power of two up to 16) of the widest access along the last dimension that is aligned in
/// every row of `slice` and never straddles the end of the tile: base, strides, offset and static
/// size are multiples of it. The end of the tensor may cut it.
int64_t alignedAccessBytes(GlobalSlice slice, unsigned elementBits,
                           const IntegerAnalysis &integers);

/// An access of several neighbours in global memory by single threads.
struct NeighbourAccess {
  mlir::Value global;
  llvm::SmallVector<mlir::Value> indices; ///< of the first
  int64_t count = 1;
  int64_t elementBytes = 0;

  /// Nothing where `op` is no such access.
  static std::optional<NeighbourAccess> of(mlir::Operation *op);
  /// Bytes (a power of two up to 16) that one instruction would move if all were aligned.
  int64_t wantedBytes() const;
  /// Bytes that one may move, at least an element: base, rows and the index of the first are
  /// multiples of it. With `anyRows` nothing is asked of the rows.
  int64_t alignedBytes(const IntegerAnalysis &integers, bool anyRows = false) const;
};

/// The allocation behind a buffer, through `tgpu.slot` and `tgpu.subview`.
tgpu::AllocSharedOp getAllocation(mlir::Value buffer);

/// Where a kernel asks for the point of its block, the only use of the block's number; null: nowhere.
tgpu::GridPointOp findGridPoint(tgpu::KernelOp kernel);

//===----------------------------------------------------------------------===//
// @require
//===----------------------------------------------------------------------===//

/// True if the program requires `what` (a word of `@require`) of `op`: by an annotation of its own
/// statement, of one around it, or of the launch. The operation holds its own as `require` or,
/// where it has no such attribute, as `tile.require`.
bool isRequired(mlir::Operation *op, llvm::StringRef what);

/// An error [require] at `op` with `reason` if isRequired, else success.
llvm::LogicalResult checkRequired(mlir::Operation *op, llvm::StringRef what,
                                  const llvm::Twine &reason);

/// The same for `op` and all in it, up to the first error.
llvm::LogicalResult checkRequiredInside(mlir::Operation *op, llvm::StringRef what,
                                        const llvm::Twine &reason);

/// The same for `vector(n)`: an error if n is more than `bytes`, what one access moves.
llvm::LogicalResult checkRequiredVector(mlir::Operation *op, int64_t bytes);

} // namespace tilec

#endif // TILEC_PASSES_ANALYSIS_H
