// How the values along a dimension are combined: in a thread, across the lanes of a warp, across
// warps.
//
// Elements meet in the order of their coordinates, the lower ones first. So what pads a layout, which
// lies behind the last element, is only ever the second of two parts, and is left out by a select: no
// combination needs an identity. What all parts of a group lack cannot happen, as the first part
// holds element 0.
#pragma once

#include "dialects/layout/RegisterLayout.h"

namespace tilec::layout {

/// A reduction along one dimension by something that is associative and commutative: 1. each thread
/// combines its slots; 2. shfl.bfly over each bit of laneMask, where the lane without the bit holds
/// the lower part; 3. across the warps of warpOffsets (planWarpParts).
struct ReductionPlan {
  RegisterLayout result; // complete values
  /// For each slot of the result, the slots that a thread combines, by rising coordinates. Nothing
  /// where all of them are padding in all threads.
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 16> slots;
  uint32_t laneMask = 0;
  uint32_t warpOffsets = 1; // as in Partial
  /// How far threads step along the dimension: a slot at offset o is beyond the end of it in some
  /// thread if o + threadReach is.
  int64_t threadReach = 0;
};
Answer<ReductionPlan> planReduction(const RegisterLayout &source, unsigned dim);

/// How warps that hold different elements of `dim` put their results together: as a tile in which
/// `dim` counts the warps of a group that hold any, by rising coordinates.
struct WarpParts {
  int64_t count = 1;    // such warps of a group
  RegisterLayout parts; // each warp holds its own; slots as in ReductionPlan::result
  RegisterLayout whole; // each thread holds those of its whole group
  /// Each thread holds all parts, but of elements that few others hold: of as few as can be. Nothing where `dim` is the only one.
  std::optional<RegisterLayout> spread;
};
/// For a reduction whose plan has warpOffsets other than 1.
Answer<WarpParts> planWarpParts(const RegisterLayout &source, unsigned dim);

/// The groups of warps (numbers from firstWarp on) that a set of offsets makes: each group starts
/// at its lowest warp.
llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 4> warpGroups(const RegisterLayout &layout,
                                                               uint32_t warpOffsets);

} // namespace tilec::layout
