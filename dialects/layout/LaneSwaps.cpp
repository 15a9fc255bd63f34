#include "dialects/layout/LaneSwaps.h"

#include "dialects/layout/RegisterSpec.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tilec::layout {

static RegisterLayout::Bases &registersOf(RegisterLayout::Spec &spec) {
  return spec.bases[unsigned(HwDim::Register)];
}
static RegisterLayout::Bases &lanesOf(RegisterLayout::Spec &spec) {
  return spec.bases[unsigned(HwDim::Lane)];
}

/// For each slot of `target` the slot of `source` with the same element in every thread; nothing where one has none, or where
/// two have the same.
static std::optional<SmallVector<int64_t, 16>> registersBetween(const RegisterLayout &source,
                                                                const RegisterLayout &target) {
  const int64_t count = source.registersPerThread();
  if (count != target.registersPerThread()) {
    return std::nullopt;
  }
  SmallVector<int64_t, 16> result;
  BitVector taken(count);
  for (int64_t slot = 0; slot < count; ++slot) {
    auto isSame = [&](int64_t from) {
      for (int64_t thread = 0; thread < 32 * source.numWarps(); ++thread) {
        const int64_t lane = thread % 32, warp = source.firstWarp() + thread / 32;
        if (source.coords(from, lane, warp) != target.coords(slot, lane, warp)) {
          return false;
        }
      }
      return true;
    };
    int64_t from = 0;
    while (from < count && (taken.test(from) || !isSame(from))) {
      ++from;
    }
    if (from == count) {
      return std::nullopt;
    }
    taken.set(from);
    result.push_back(from);
  }
  return result;
}

Answer<LaneSwaps> planLaneSwaps(const RegisterLayout &source, const RegisterLayout &target,
                                unsigned elementBits) {
  if (source.shape() != target.shape() || source.firstWarp() != target.firstWarp() ||
      source.numWarps() != target.numWarps() || source.partial() || target.partial()) {
    return Refusal{"swaps keep shape and warps, of complete values"};
  }
  if (elementBits > 32) {
    return Refusal{"elements are wider than a word"};
  }
  if (2 * elementBits <= 32) {
    Answer<RegisterLayout> wideSource = source.pairs(), wideTarget = target.pairs();
    if (wideSource && wideTarget) {
      Answer<LaneSwaps> wide = planLaneSwaps(*wideSource, *wideTarget, 2 * elementBits);
      if (wide) {
        wide->together *= 2;
      }
      return wide;
    }
  }
  LaneSwaps plan;
  RegisterLayout::Spec now = specOf(source);
  const RegisterLayout::Bases &wanted = target.bases(HwDim::Lane);
  if (lanesOf(now).size() != wanted.size()) {
    return Refusal{"lanes have repeats"};
  }
  for (unsigned lane = 0; lane < wanted.size(); ++lane) {
    if (lanesOf(now)[lane] == wanted[lane]) {
      continue;
    }
    auto *from = llvm::find(registersOf(now), wanted[lane]);
    if (from == registersOf(now).end()) {
      return Refusal{"no registers hold what a lane is to have"};
    }
    plan.steps.push_back({lane, unsigned(from - registersOf(now).begin())});
    std::swap(*from, lanesOf(now)[lane]);
  }
  Answer<RegisterLayout> swapped = RegisterLayout::get(now);
  if (!swapped) {
    return Refusal{swapped.reason()};
  }
  std::optional<SmallVector<int64_t, 16>> registers = registersBetween(*swapped, target);
  if (!registers) {
    return Refusal{"lanes hold different elements"};
  }
  plan.registers = *registers;
  return plan;
}

Answer<RegisterLayout> withRuns(const RegisterLayout &layout, int64_t elements) {
  RegisterLayout::Spec spec = specOf(layout);
  RegisterLayout::Bases &registers = registersOf(spec), &lanes = lanesOf(spec);
  const unsigned last = layout.rank() - 1;
  auto along = [&](int64_t distance) {
    Coords vector(layout.rank(), 0);
    vector[last] = distance;
    return vector;
  };
  const unsigned bits = Log2_64(elements);
  for (unsigned bit = 0; bit < bits; ++bit) {
    const Coords wanted = along(int64_t(1) << bit);
    auto *place = llvm::find(registers, wanted);
    if (place == registers.end()) {
      auto *lane = llvm::find(lanes, wanted);
      // The nearest neighbours beyond the run: a row stays in few lanes.
      place = registers.end();
      for (auto *other = registers.begin(); other != registers.end(); ++other) {
        const bool isAlong = (*other)[last] >= elements && along((*other)[last]) == *other;
        if (isAlong && (place == registers.end() || (*other)[last] < (*place)[last])) {
          place = other;
        }
      }
      if (lane == lanes.end() || place == registers.end()) {
        return Refusal{"registers hold nothing that lanes could have for it"};
      }
      std::swap(*lane, *place);
    }
    // The bits of a run are the lowest, in order.
    const Coords vector = *place;
    registers.erase(place);
    registers.insert(registers.begin() + bit, vector);
  }
  return RegisterLayout::get(spec);
}

} // namespace tilec::layout
