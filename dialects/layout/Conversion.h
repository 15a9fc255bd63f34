// How values move between register layouts: conversions and broadcasts.
#pragma once

#include "dialects/layout/Compatibility.h"
#include "dialects/layout/LaneSwaps.h"

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
  enum class Kind { None, Registers, Shuffles, Swaps, Shared } kind = Kind::None;
  /// Registers: target slot i takes source slot registers[i] of the same thread.
  llvm::SmallVector<int64_t, 16> registers;
  /// Shuffles, in order; a step whose sourceLane isIdentity() needs no shuffle.
  llvm::SmallVector<ShuffleStep, 16> shuffles;
  /// Swaps: parts of registers change lanes, where shuffles alone would be too many.
  LaneSwaps swaps;
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

} // namespace tilec::layout
