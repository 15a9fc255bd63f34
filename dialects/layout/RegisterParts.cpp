// Pieces of a layout.
#include "dialects/layout/RegisterSpec.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilec::layout {

/// a + k * step == b in every dimension.
static bool isStep(const Coords &a, int64_t k, const Coords &step, const Coords &b) {
  for (unsigned d = 0; d < a.size(); ++d) {
    if (a[d] + k * step[d] != b[d]) {
      return false;
    }
  }
  return true;
}

/// Writes a sequence of offsets that starts at the origin as digits in mixed radix; false when it
/// is none.
static bool factor(SmallVector<Coords, 16> sequence, HwDim hw, SmallVectorImpl<Repeat> &digits) {
  if (sequence.empty() || any_of(sequence[0], [](int64_t x) { return x != 0; })) {
    return false;
  }
  while (sequence.size() > 1) {
    Coords step = sequence[1];
    Repeat digit{hw, -1, 2, 0};
    for (auto [d, x] : enumerate(step)) {
      if (x == 0) {
        continue;
      }
      if (digit.dim >= 0 || x < 0) {
        return false;
      }
      digit.dim = int(d);
      digit.stride = x;
    }
    // The longest run of this step; all later runs must be alike.
    size_t run = 2;
    while (run < sequence.size() && isStep(sequence[0], run, step, sequence[run])) {
      ++run;
    }
    while (sequence.size() % run != 0) {
      --run;
    }
    SmallVector<Coords, 16> starts;
    for (size_t i = 0; i < sequence.size(); ++i) {
      if (i % run == 0) {
        starts.push_back(sequence[i]);
      } else if (!isStep(starts.back(), i % run, step, sequence[i])) {
        return false;
      }
    }
    if (run == 1) {
      return false;
    }
    digit.count = int64_t(run);
    digits.push_back(digit);
    sequence = std::move(starts);
  }
  return true;
}

/// Replaces the part of one hardware dimension by digits.
static void replaceDigits(RegisterLayout::Spec &spec, HwDim hw, ArrayRef<Repeat> digits) {
  spec.bases[unsigned(hw)].clear();
  erase_if(spec.repeats, [&](const Repeat &r) { return r.hw == hw; });
  append_range(spec.repeats, digits);
}

static Answer<LayoutPart> finish(RegisterLayout::Spec spec, LayoutPart part) {
  Answer<RegisterLayout> layout = RegisterLayout::get(std::move(spec));
  if (!layout) {
    return Refusal{layout.reason()};
  }
  part.layout = *layout;
  return part;
}

Answer<LayoutPart> sliceTile(const RegisterLayout &whole, unsigned dim, int64_t offset,
                             int64_t extent) {
  if (offset < 0 || extent < 1 || offset + extent > whole.shape()[dim]) {
    return Refusal{"the slice is not inside the tile"};
  }
  if (!whole.isSeparable()) {
    return Refusal{"the layout mixes register and thread bits"};
  }
  LayoutPart part;
  part.origin.assign(whole.rank(), 0);
  part.origin[dim] = offset;
  // The last slice takes the padding behind it along.
  const bool last = offset + extent == whole.shape()[dim];
  const int64_t reach = last ? std::max(whole.span()[dim] - offset, extent) : extent;
  std::optional<SmallVector<int64_t, 16>> slots = whole.registersOf(dim, offset, reach);
  if (!slots || slots->empty()) {
    return Refusal{"the slice cuts through what threads hold in one register"};
  }
  part.registers = *slots;
  SmallVector<Coords, 16> sequence;
  for (int64_t slot : part.registers) {
    sequence.push_back(whole.registerOffset(slot));
    sequence.back()[dim] -= offset;
  }
  SmallVector<Repeat, 4> digits;
  if (!factor(std::move(sequence), HwDim::Register, digits)) {
    return Refusal{"the slice does not start where the registers do"};
  }
  RegisterLayout::Spec spec = specOf(whole);
  spec.shape[dim] = extent;
  replaceDigits(spec, HwDim::Register, digits);
  return finish(std::move(spec), std::move(part));
}

Answer<SmallVector<int64_t, 16>>
partRegisters(const RegisterLayout &whole, const RegisterLayout &part, ArrayRef<int64_t> origin) {
  if (whole.rank() != part.rank() || origin.size() != whole.rank() ||
      whole.numWarps() != part.numWarps() || whole.firstWarp() != part.firstWarp()) {
    return Refusal{"the part has another rank or other warps than the whole"};
  }
  SmallVector<int64_t, 16> result(part.registersPerThread(), 0);
  for (int64_t slot = 0; slot < part.registersPerThread(); ++slot) {
    SmallVector<int64_t, 8> candidates;
    bool first = true;
    for (int64_t thread = 0; thread < 32 * part.numWarps(); ++thread) {
      const int64_t lane = thread % 32, warp = part.firstWarp() + thread / 32;
      Coords at = part.coords(slot, lane, warp);
      if (!part.inBounds(at)) {
        continue;
      }
      for (auto [c, o] : zip_equal(at, origin)) {
        c += o;
      }
      if (first) {
        for (const Place &place : whole.owners(at)) {
          if (place.lane == lane && place.warp == warp) {
            candidates.push_back(place.reg);
          }
        }
        first = false;
      } else {
        erase_if(candidates, [&](int64_t from) { return whole.coords(from, lane, warp) != at; });
      }
      if (candidates.empty()) {
        return Refusal{"a thread does not hold its elements of the part in the same registers"};
      }
    }
    result[slot] = first ? 0 : candidates.front();
  }
  return result;
}

Answer<SmallVector<int64_t, 16>> replacedRegisters(const RegisterLayout &whole,
                                                   const RegisterLayout &part,
                                                   ArrayRef<int64_t> origin) {
  if (part.hasPadding()) {
    return Refusal{"the part has padding, which would replace elements that are none of its own"};
  }
  auto slots = partRegisters(whole, part, origin);
  if (!slots) {
    return slots;
  }
  const auto isInside = [&](const Coords &at) {
    return all_of(zip_equal(at, origin, part.shape()), [](auto both) {
      auto [coordinate, begin, extent] = both;
      return begin <= coordinate && coordinate < begin + extent;
    });
  };
  BitVector isReplaced(whole.registersPerThread());
  for (int64_t slot : *slots) {
    isReplaced.set(slot);
  }
  for (int64_t thread = 0; thread < 32 * whole.numWarps(); ++thread) {
    for (int64_t slot = 0; slot < whole.registersPerThread(); ++slot) {
      Coords at = whole.coords(slot, thread % 32, whole.firstWarp() + thread / 32);
      if (whole.inBounds(at) && isInside(at) != isReplaced.test(slot)) {
        return Refusal{"a thread holds an element of the part in other registers too"};
      }
    }
  }
  return slots;
}

} // namespace tilec::layout
