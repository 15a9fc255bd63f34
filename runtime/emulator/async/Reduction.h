// The operations of asynchronous reductions, on single elements. PTX ISA, "cp.reduce.async.bulk".
#pragma once

#include "../check/Checker.h"
#include "../exec/Decoder.h"

namespace tile_emu {

enum class ReductionKind : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

struct Reduction {
  ReductionKind kind = ReductionKind::Add;
  ptx::Type type = ptx::Type::U32;

  unsigned bytes() const { return ptx::bitsOf(type) / 8; }
  /// Does the ISA have this operation for the type?
  bool isPossible() const;
  /// `old` combined with `value`; bits of the type.
  uint64_t apply(uint64_t old, uint64_t value) const;
};

/// Takes `.add` ... `.xor`.
ReductionKind takeReductionKind(Decoder &d);

/// How a copy that may be a reduction accesses its destination: each element by a relaxed operation
/// of `.gpu` scope.
inline AccessFlags flagsOf(const std::optional<Reduction> &reduction) {
  return {.atomic = reduction.has_value(), .width = reduction ? reduction->bytes() : 8};
}

/// Combines the elements of `from` into those of `to`; sizes are equal, multiples of an element.
/// What was made from bytes never written counts as never written.
void reduceInto(const MemoryRange &to, const MemoryRange &from, const Reduction &reduction);

} // namespace tile_emu
