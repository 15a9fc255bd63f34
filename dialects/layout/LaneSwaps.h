// How lanes of a warp exchange parts of their registers, words of 32 bits as far as elements lie beside each other.
#pragma once

#include "dialects/layout/RegisterLayout.h"

namespace tilec::layout {

/// Each lane gives the slots whose number differs from its own bit `laneBit` in `registerBit` to the lane whose number differs
/// in `laneBit`, and takes that lane's for them: the two bits change places. A shuffle for each two slots.
struct LaneSwap {
  unsigned laneBit = 0, registerBit = 0; // of the numbers of lane and slot

  bool operator==(const LaneSwap &) const = default;
};

struct LaneSwaps {
  /// So many neighbouring slots (a power of two), of 32 bits at most together, move as one.
  int64_t together = 1;
  /// In order. Registers are counted in words of `together` slots.
  llvm::SmallVector<LaneSwap, 5> steps;
  /// Behind them: target word i is word registers[i] of the same thread.
  llvm::SmallVector<int64_t, 16> registers;

  /// Shuffles of a thread.
  int64_t shuffles() const { return int64_t(steps.size() * registers.size() / 2); }
};

/// From `source` to `target`, of the same shape and the same warps, neither partial. Refused where they differ in more than lane
/// bits that stand where register bits stood, and the order of registers.
Answer<LaneSwaps> planLaneSwaps(const RegisterLayout &source, const RegisterLayout &target,
                                unsigned elementBits);

/// `layout` with runs of `elements` (a power of two) neighbours along the last dimension in each thread's registers, got by
/// such an exchange: lanes that held the neighbours go on further along that dimension. Refused where registers have none to give
/// for them.
Answer<RegisterLayout> withRuns(const RegisterLayout &layout, int64_t elements);

} // namespace tilec::layout
