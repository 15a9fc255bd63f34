// Running results along a dimension: in what order threads combine what they hold of it.
//
// A scan's combination is only associative, so that elements meet as neighbours. The dimension is
// cut into blocks of blocks. The innermost blocks are runs of slots of one thread; two lanes that
// differ in a bit hold the two halves of a larger block; a thread has runs of these; and so on, until
// all that a warp holds of a row is one block. Upwards each block gets its total, downwards each
// gets what comes before it. Warps hold what is further apart than all that one of them holds.
#pragma once

#include "dialects/layout/Reduction.h"

namespace tilec::layout {

struct ScanPlan {
  /// One bit of the lane: the lanes with it hold the upper halves of blocks of 2 * stride.
  struct LaneLevel {
    unsigned bit = 0;
    int64_t stride = 0;
  };
  /// Members of each run, by rising coordinates.
  using Runs = llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 16>;

  /// From the innermost.
  llvm::SmallVector<LaneLevel, 5> lanes;
  /// One more than lanes. runs[0]: of slots. runs[j]: of the blocks that lanes[j - 1] makes of
  /// runs[j - 1], by number. The last: one for each slot of `rows.result`; empty where that is
  /// padding in all threads.
  llvm::SmallVector<Runs, 6> runs;
  /// Slots that hold the element of an earlier one in every thread, and that one.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> copies;
  /// The dimension as a reduction sees it: rows, warps, how far threads step.
  ReductionPlan rows;

  /// How often lanes exchange what they hold of a block.
  int64_t exchanges() const;
};

/// Refused where the blocks do not nest; blockedForScan gives a layout where they do.
Answer<ScanPlan> planScan(const RegisterLayout &source, unsigned dim);

/// Words that a thread exchanges in a scan: of blocks between lanes and, where warps hold parts of a row, those of all of them
/// through shared memory. Refused as planScan is, and where the parts of warps make no tile (planWarpParts).
Answer<int64_t> exchangesOfScan(const RegisterLayout &source, unsigned dim);

/// A layout of `shape` in which each thread holds one run of a row, with the fewest registers, and of
/// those the one whose rows the fewest lanes share.
Answer<RegisterLayout> blockedForScan(llvm::ArrayRef<int64_t> shape, unsigned dim, int64_t warps);

} // namespace tilec::layout
