#include "dialects/layout/Conversion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace llvm;

namespace tilec::layout {

int64_t LaneFunction::operator()(int64_t lane) const {
  int64_t value = base;
  for (auto [i, mask] : enumerate(masks)) {
    if (lane >> i & 1) {
      value ^= mask;
    }
  }
  return value;
}

bool LaneFunction::isIdentity() const { return *this == LaneFunction{0, {1, 2, 4, 8, 16}}; }

/// The function with these values at lanes 0..31; nothing when it is not affine over F2.
static std::optional<LaneFunction> asLaneFunction(ArrayRef<int64_t> values) {
  LaneFunction f;
  f.base = values[0];
  for (unsigned i = 0; i < 5; ++i) {
    f.masks[i] = values[0] ^ values[1 << i];
  }
  for (int64_t lane = 0; lane < 32; ++lane) {
    if (f(lane) != values[lane]) {
      return std::nullopt;
    }
  }
  return f;
}

/// Steps that fetch from another lane.
static int64_t countMoves(ArrayRef<ShuffleStep> steps) {
  return count_if(steps, [](const ShuffleStep &s) { return !s.sourceLane.isIdentity(); });
}

std::string Conversion::describe() const {
  switch (kind) {
  case Kind::None:
    return "no conversion";
  case Kind::Registers:
    return "a permutation of registers";
  case Kind::Shuffles:
    return (Twine(countMoves(shuffles)) + " warp shuffles").str();
  case Kind::Swaps:
    return (Twine(swaps.shuffles()) + " warp shuffles").str();
  case Kind::Shared:
    return ("through " + Twine(sharedBytes) + " bytes of shared memory" +
            (conflicts ? " with " + Twine(conflicts) + " bank conflicts" : Twine()))
        .str();
  }
  return "";
}

// ---- conversions

namespace {

/// Where a target slot finds its element inside the warp.
struct Source {
  int64_t reg = 0, lane = 0;
};

/// Finds moves inside warps between two layouts owned by the same warps.
class WarpMoves {
public:
  WarpMoves(const RegisterLayout &source, const RegisterLayout &target)
      : source(source), target(target) {}

  /// The same slot in every thread, or nothing.
  std::optional<SmallVector<int64_t, 16>> registers() const {
    SmallVector<int64_t, 16> result(target.registersPerThread(), 0);
    for (int64_t r = 0; r < target.registersPerThread(); ++r) {
      std::optional<int64_t> from = commonRegister(r);
      if (!from) {
        return std::nullopt;
      }
      result[r] = *from;
    }
    return result;
  }

  /// At most two shuffles per target slot (and 16 selects of own slots), the same for every warp.
  std::optional<SmallVector<ShuffleStep, 16>> shuffles() const {
    SmallVector<ShuffleStep, 16> steps;
    for (int64_t r = 0; r < target.registersPerThread(); ++r) {
      if (!addSteps(r, steps)) {
        return std::nullopt;
      }
    }
    const int64_t moves = countMoves(steps), slots = target.registersPerThread();
    if (moves > 2 * slots || int64_t(steps.size()) - moves > 16 * slots) {
      return std::nullopt;
    }
    return steps;
  }

private:
  /// A slot that holds target slot r's element in all threads for which it is in bounds.
  std::optional<int64_t> commonRegister(int64_t r) const {
    SmallVector<int64_t, 8> candidates;
    bool first = true;
    for (int64_t w = target.firstWarp(); w < target.firstWarp() + target.numWarps(); ++w) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        Coords c = target.coords(r, lane, w);
        if (!target.inBounds(c)) {
          continue;
        }
        if (first) {
          for (const Place &p : source.owners(c)) {
            if (p.lane == lane && p.warp == w) {
              candidates.push_back(p.reg);
            }
          }
          first = false;
        } else {
          erase_if(candidates, [&](int64_t from) { return source.coords(from, lane, w) != c; });
        }
        if (candidates.empty()) {
          return std::nullopt;
        }
      }
    }
    return first ? 0 : candidates.front();
  }

  /// The owner of target slot r's element for each lane of a warp: own lane preferred, then the
  /// lane with the fewest differing bits. Nothing when another warp has it.
  std::optional<SmallVector<Source, 32>> sources(int64_t r, int64_t warp) const {
    SmallVector<Source, 32> result;
    for (int64_t lane = 0; lane < 32; ++lane) {
      std::optional<Source> best;
      for (const Place &p : source.owners(target.coords(r, lane, warp))) {
        if (p.warp == warp &&
            (!best || popcount(uint64_t(p.lane ^ lane)) < popcount(uint64_t(best->lane ^ lane)))) {
          best = Source{p.reg, p.lane};
        }
      }
      if (!best) {
        return std::nullopt;
      }
      result.push_back(*best);
    }
    return result;
  }

  bool addSteps(int64_t r, SmallVectorImpl<ShuffleStep> &steps) const {
    std::optional<SmallVector<Source, 32>> from = sources(r, target.firstWarp());
    if (!from || !sameInAllWarps(r, *from)) {
      return false;
    }
    SmallVector<int64_t, 32> lanes, slots;
    for (const Source &s : *from) {
      lanes.push_back(s.lane);
      slots.push_back(s.reg);
    }
    std::optional<LaneFunction> lane = asLaneFunction(lanes), slot = asLaneFunction(slots);
    if (!lane || !slot) {
      return false;
    }
    SmallVector<int64_t, 32> distinct = slots;
    sort(distinct);
    distinct.erase(llvm::unique(distinct), distinct.end());
    for (int64_t s : distinct) {
      steps.push_back({s, r, *lane, *slot, distinct.size() == 1 ? -1 : s});
    }
    return true;
  }

  bool sameInAllWarps(int64_t r, ArrayRef<Source> from) const {
    for (int64_t w = target.firstWarp(); w < target.firstWarp() + target.numWarps(); ++w) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        if (source.coords(from[lane].reg, from[lane].lane, w) != target.coords(r, lane, w)) {
          return false;
        }
      }
    }
    return true;
  }

  const RegisterLayout &source, &target;
};

/// The buffer both sides reach with the least work. Either dimension of the last two may be
/// contiguous.
SharedChoice chooseExchange(const RegisterLayout &source, const RegisterLayout &target,
                            unsigned elementBits) {
  SmallVector<Demand, 2> demands(2);
  demands[0].fragment = source;
  demands[1].fragment = target;
  std::optional<SharedChoice> best;
  const int rank = source.rank();
  for (int dim = rank - 1; dim >= std::max(0, rank - 2); --dim) {
    SharedChoice choice = chooseSharedLayout(source.shape(), elementBits, dim, demands);
    if (!best || choice.wavefronts < best->wavefronts) {
      best = choice;
    }
  }
  return *best;
}

/// Those that come from another lane.
int64_t countShuffles(ArrayRef<ShuffleStep> steps) {
  return llvm::count_if(steps,
                        [](const ShuffleStep &step) { return !step.sourceLane.isIdentity(); });
}

} // namespace

Answer<Conversion> planConversion(const RegisterLayout &source, const RegisterLayout &target,
                                  unsigned elementBits) {
  if (source.shape() != target.shape()) {
    return refuse("a conversion keeps the shape of the tile");
  }
  if (source.partial() != target.partial()) {
    return refuse("partial values have to be combined before they are converted");
  }
  Conversion conversion;
  if (source == target) {
    return conversion;
  }
  const bool sameWarps =
      source.firstWarp() == target.firstWarp() && source.numWarps() == target.numWarps();
  if (sameWarps) {
    const WarpMoves moves(source, target);
    if (std::optional<SmallVector<int64_t, 16>> registers = moves.registers()) {
      conversion.registers = *registers;
      bool identity = source.registersPerThread() == int64_t(registers->size());
      for (auto [i, r] : enumerate(*registers)) {
        identity &= r == int64_t(i);
      }
      conversion.kind = identity ? Conversion::Kind::None : Conversion::Kind::Registers;
      return conversion;
    }
    if (source.partial()) {
      return refuse("partial values have to be combined before they change lanes");
    }
    std::optional<SmallVector<ShuffleStep, 16>> shuffles = moves.shuffles();
    // A shuffle for each word at most: beyond that shared memory takes less. Where half of what lanes have stays with them, swaps send the
    // other half alone, and shuffles by register all of it.
    Answer<LaneSwaps> swaps = planLaneSwaps(source, target, elementBits);
    if (swaps && swaps->steps.size() <= 2 &&
        (!shuffles || 2 * swaps->shuffles() <= countShuffles(*shuffles))) {
      conversion.kind = Conversion::Kind::Swaps;
      conversion.swaps = *swaps;
      return conversion;
    }
    if (shuffles) {
      conversion.kind = Conversion::Kind::Shuffles;
      conversion.shuffles = *shuffles;
      return conversion;
    }
  }
  if (source.partial()) {
    return refuse("partial values have to be combined before they change warps");
  }
  if (source.rank() == 0) {
    // One element: the same exchange as a tile of shape [1].
    return planConversion(source.insertDim(0), target.insertDim(0), elementBits);
  }
  SharedChoice choice = chooseExchange(source, target, elementBits);
  conversion.kind = Conversion::Kind::Shared;
  conversion.shared = choice.layout;
  conversion.sharedBytes = choice.layout.sizeBytes();
  conversion.conflicts = choice.conflicts;
  return conversion;
}

// ---- broadcasts

Answer<SmallVector<int64_t, 16>>
broadcastRegisters(const RegisterLayout &narrow, const RegisterLayout &wide, ArrayRef<int> dims) {
  if (dims.size() != narrow.rank()) {
    return refuse("a broadcast names one dimension for each of the narrow tile");
  }
  if (narrow.firstWarp() != wide.firstWarp() || narrow.numWarps() != wide.numWarps()) {
    return refuse("the tiles belong to different warps");
  }
  auto narrowCoords = [&](const Coords &c) {
    Coords result;
    for (int d : dims) {
      result.push_back(d < 0 ? 0 : c[d]);
    }
    return result;
  };
  SmallVector<int64_t, 16> result(wide.registersPerThread(), 0);
  for (int64_t r = 0; r < wide.registersPerThread(); ++r) {
    std::optional<SmallVector<int64_t, 8>> candidates;
    for (int64_t t = 0; t < 32 * wide.numWarps(); ++t) {
      const int64_t lane = t % 32, warp = wide.firstWarp() + t / 32;
      Coords c = wide.coords(r, lane, warp);
      if (!wide.inBounds(c)) {
        continue;
      }
      const Coords want = narrowCoords(c);
      if (!candidates) {
        candidates.emplace();
        for (const Place &p : narrow.owners(want)) {
          if (p.lane == lane && p.warp == warp) {
            candidates->push_back(p.reg);
          }
        }
      } else {
        erase_if(*candidates,
                 [&](int64_t from) { return narrow.coords(from, lane, warp) != want; });
      }
      if (candidates->empty()) {
        return refuse("a thread does not hold the element it would broadcast");
      }
    }
    result[r] = candidates ? candidates->front() : 0;
  }
  return result;
}

} // namespace tilec::layout
