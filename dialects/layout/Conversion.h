// How values move between register layouts: conversions, broadcasts, reductions.
#pragma once

#include "dialects/layout/Compatibility.h"

namespace tilec::layout {

/// A number that depends on the lane: base ^ XOR of masks[i] over the set bits i of the lane
/// number.
struct LaneFunction {
  int64_t base = 0;
  std::array<int64_t, 5> masks = {0, 0, 0, 0, 0};

  int64_t operator()(int64_t lane) const;
  bool isIdentity() const;
  bool operator==(const LaneFunction &) const = default;
};

/// One shfl.idx: every lane offers slot `source`, reads lane sourceLane(lane), and keeps what it
/// read in slot `target` when (selector(lane) == select) (always when select < 0).
struct ShuffleStep {
  int64_t source = 0;
  int64_t target = 0;
  LaneFunction sourceLane;
  LaneFunction selector;
  int64_t select = -1;
};

struct Conversion {
  enum class Kind { None, Registers, Shuffles, Shared } kind = Kind::None;
  /// Registers: target slot i takes source slot registers[i] of the same thread.
  llvm::SmallVector<int64_t, 16> registers;
  /// Shuffles, in order; a step whose sourceLane isIdentity() needs no shuffle.
  llvm::SmallVector<ShuffleStep, 16> shuffles;
  /// Shared: write through this layout, synchronise `warps` (both owners), read back.
  SharedLayout shared;
  int64_t sharedBytes = 0;
  int64_t conflicts = 0; // extra wavefronts of the write and the read
  /// For remarks, e.g. "through 16384 bytes of shared memory".
  std::string describe() const;
};

/// From `source` to `target`, same shape. Refused for different shapes and for partial values
/// (combine first).
Answer<Conversion> planConversion(const RegisterLayout &source, const RegisterLayout &target,
                                  unsigned elementBits);

/// For elementwise operations between shapes that broadcast: for each slot of `wide`, the slot of
/// `narrow` in the same thread that holds the element at the coordinates named by dims (narrow dim
/// i reads wide dim dims[i]; -1: coordinate 0). Out-of-bounds slots of `wide` get any slot. Refused
/// when some thread does not hold what it needs.
Answer<llvm::SmallVector<int64_t, 16>> broadcastRegisters(const RegisterLayout &narrow,
                                                          const RegisterLayout &wide,
                                                          llvm::ArrayRef<int> dims);

/// A reduction along one dimension. 1. each thread combines its slots: result slot r takes every
/// slot i with resultSlot[i] == r (-1: a duplicate, or always out of bounds; slots that only some
/// threads have out of bounds stay, use the identity there: needsMask). 2. shfl.bfly over each bit
/// of laneMask. 3. across the warps of warpOffsets through shared memory.
struct ReductionPlan {
  RegisterLayout result; // complete values
  llvm::SmallVector<int64_t, 16> resultSlot;
  uint32_t laneMask = 0;
  uint32_t warpOffsets = 1; // as in Partial
  bool needsMask = false;
};
Answer<ReductionPlan> planReduction(const RegisterLayout &source, unsigned dim);

/// How warps that hold different elements of `dim` put their results together: as a tile in which
/// `dim` counts the warps of a group.
struct WarpParts {
  int64_t count = 1;    // warps of a group
  RegisterLayout parts; // each warp holds its own; slots as in ReductionPlan::result
  RegisterLayout whole; // each thread holds those of its whole group
};
/// For a reduction whose plan has warpOffsets other than 1.
Answer<WarpParts> planWarpParts(const RegisterLayout &source, unsigned dim);

/// The groups of warps (numbers from firstWarp on) that a set of offsets makes: each group starts
/// at its lowest warp.
llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 4> warpGroups(const RegisterLayout &layout,
                                                               uint32_t warpOffsets);

} // namespace tilec::layout
