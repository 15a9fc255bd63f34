#include "dialects/layout/Reduction.h"

#include "dialects/layout/RegisterSpec.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace tilec::layout {

/// Lane bits and warps that hold different elements of `dim`; refused when they move other
/// dimensions too.
static std::optional<Refusal> reducedThreads(const RegisterLayout &source, unsigned dim,
                                             ReductionPlan &plan) {
  const Refusal mixed = refuse("a lane or warp bit walks the reduced dimension and another one");
  auto walks = [&](const Coords &v) {
    bool others = false;
    for (auto [d, x] : enumerate(v)) {
      others |= d != dim && x != 0;
    }
    return std::pair(v[dim] != 0, others);
  };
  for (auto [i, v] : enumerate(source.bases(HwDim::Lane))) {
    auto [reduced, others] = walks(v);
    if (reduced && others) {
      return mixed;
    }
    if (reduced) {
      plan.laneMask |= 1u << i;
    }
  }
  for (const Repeat &r : source.repeats()) {
    if (r.hw == HwDim::Lane && r.dim == int(dim)) {
      return mixed;
    }
  }
  for (const Coords &v : source.bases(HwDim::Warp)) {
    auto [reduced, others] = walks(v);
    if (reduced && others) {
      return mixed;
    }
  }
  if (source.numWarps() > 32) {
    return refuse("a reduction spans at most 32 warps");
  }
  // Warps that differ from warp 0 only along `dim`, and in no digit that replicates.
  plan.warpOffsets = 1;
  const unsigned bits = source.bases(HwDim::Warp).size();
  for (int64_t w = 1; w < source.numWarps(); ++w) {
    bool only = true;
    for (unsigned i = 0; i < bits; ++i) {
      only &= !(w >> i & 1) || source.bases(HwDim::Warp)[i][dim] != 0;
    }
    int64_t rest = w >> bits;
    for (const Repeat &r : source.repeats()) {
      if (r.hw == HwDim::Warp) {
        only &= rest % r.count == 0 || r.dim == int(dim);
        rest /= r.count;
      }
    }
    if (only) {
      plan.warpOffsets |= 1u << w;
    }
  }
  return std::nullopt;
}

/// The slots that each slot of the result combines.
static std::optional<Refusal> reducedSlots(const RegisterLayout &source, unsigned dim,
                                           ReductionPlan &plan) {
  // Slots by their register coordinates: the thread part is common to both layouts.
  std::map<Coords, int64_t> slotOf;
  for (int64_t r = 0; r < plan.result.registersPerThread(); ++r) {
    slotOf.insert({plan.result.registerOffset(r), r});
  }
  plan.slots.resize(plan.result.registersPerThread());
  std::set<Coords> seen;
  for (int64_t r = 0; r < source.registersPerThread(); ++r) {
    Coords c = source.registerOffset(r);
    // The first thread has the least coordinates: what is beyond the tile there is so everywhere.
    const bool counts = seen.insert(c).second && source.inBounds(c);
    c.erase(c.begin() + dim);
    auto slot = slotOf.find(c);
    if (slot == slotOf.end()) {
      return refuse("the slots of a thread do not line up with the result's");
    }
    if (counts) {
      plan.slots[slot->second].push_back(r);
    }
  }
  for (SmallVector<int64_t, 4> &slots : plan.slots) {
    sort(slots, [&](int64_t a, int64_t b) {
      return source.registerOffset(a)[dim] < source.registerOffset(b)[dim];
    });
  }
  return std::nullopt;
}

Answer<ReductionPlan> planReduction(const RegisterLayout &source, unsigned dim) {
  if (source.partial()) {
    return refuse("the values are partial already");
  }
  if (!source.isSeparable()) {
    return refuse("the layout mixes register and thread bits");
  }
  ReductionPlan plan;
  if (std::optional<Refusal> refusal = reducedThreads(source, dim, plan)) {
    return *refusal;
  }
  plan.result = source.sliceDim(dim);
  if (std::optional<Refusal> refusal = reducedSlots(source, dim, plan)) {
    return *refusal;
  }
  const Coords last = source.coords(0, 31, source.firstWarp() + source.numWarps() - 1);
  plan.threadReach = last[dim] - source.registerOffset(0)[dim];
  return plan;
}

namespace {

/// The digits of the warp's number that walk a dimension, as weights of the number of its part.
class WarpDigits {
public:
  WarpDigits(const RegisterLayout &source, unsigned dim) {
    for (const Coords &v : source.bases(HwDim::Warp)) {
      strides.push_back({v[dim], v[dim] ? 2 : 1});
    }
    for (const Repeat &r : source.repeats()) {
      if (r.hw == HwDim::Warp) {
        strides.push_back(r.dim == int(dim) ? std::pair(r.stride, r.count) : std::pair(0L, 1L));
      }
    }
  }

  /// Numbers parts by rising coordinates: digits of lower strides are worth less, and all of them
  /// together walk less far than one step of the next.
  std::optional<Refusal> number() {
    SmallVector<unsigned, 8> order(strides.size());
    for (unsigned i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    sort(order, [&](unsigned a, unsigned b) {
      return std::pair(strides[a], a) < std::pair(strides[b], b);
    });
    weights.assign(strides.size(), 0);
    coordinates = {0};
    for (unsigned i : order) {
      auto [stride, count] = strides[i];
      if (count == 1) {
        continue;
      }
      if (stride <= coordinates.back()) {
        return refuse("the warps do not hold the reduced dimension in an order");
      }
      weights[i] = int64_t(coordinates.size());
      for (int64_t k = 1, n = weights[i]; k < count; ++k) {
        for (int64_t j = 0; j < n; ++j) {
          coordinates.push_back(coordinates[j] + k * stride);
        }
      }
    }
    return std::nullopt;
  }

  /// What one step of the i-th digit (bits first, then repeats) is worth.
  int64_t weight(unsigned i) const { return weights[i]; }
  /// Parts whose first coordinate is below `extent`.
  int64_t countBelow(int64_t extent) const {
    return count_if(coordinates, [&](int64_t c) { return c < extent; });
  }

private:
  SmallVector<std::pair<int64_t, int64_t>, 8> strides; // and counts
  SmallVector<int64_t, 8> weights, coordinates;
};

/// `base`, the layout of the results with a dimension more, in which the warps are numbered.
RegisterLayout::Spec partsOf(const RegisterLayout &source, const RegisterLayout &base, unsigned dim,
                             const WarpDigits &digits) {
  RegisterLayout::Spec spec = specOf(base.combined());
  spec.bases[unsigned(HwDim::Lane)] = source.bases(HwDim::Lane);
  for (Coords &v : spec.bases[unsigned(HwDim::Lane)]) {
    v[dim] = 0; // the lanes are done
  }
  spec.bases[unsigned(HwDim::Warp)] = source.bases(HwDim::Warp);
  unsigned digit = 0;
  for (Coords &v : spec.bases[unsigned(HwDim::Warp)]) {
    v[dim] = digits.weight(digit++);
  }
  spec.repeats.clear();
  copy_if(base.repeats(), std::back_inserter(spec.repeats),
          [](const Repeat &r) { return r.hw == HwDim::Register; });
  for (Repeat r : source.repeats()) {
    if (r.hw == HwDim::Warp) {
      r.stride = r.dim == int(dim) ? digits.weight(digit) : r.stride;
      ++digit;
    }
    if (r.hw != HwDim::Register) {
      spec.repeats.push_back(r);
    }
  }
  return spec;
}

} // namespace

Answer<WarpParts> planWarpParts(const RegisterLayout &source, unsigned dim) {
  Answer<ReductionPlan> plan = planReduction(source, dim);
  if (!plan) {
    return Refusal{plan.reason()};
  }
  for (const auto &slots : plan->slots) {
    // The first element of a warp is where the warp begins, so that warps of padding are known.
    if (!slots.empty() && source.registerOffset(slots.front())[dim] != 0) {
      return refuse("a warp's first element is not where the warp begins");
    }
  }
  WarpDigits digits(source, dim);
  if (std::optional<Refusal> refusal = digits.number()) {
    return *refusal;
  }
  WarpParts result;
  result.count = digits.countBelow(source.shape()[dim]);
  const RegisterLayout base = plan->result.insertDim(dim);
  RegisterLayout::Spec each = partsOf(source, base, dim, digits);
  each.shape[dim] = result.count;
  RegisterLayout::Spec all =
      specOf(base.combined()); // as many further registers as there are parts
  all.repeats.push_back({HwDim::Register, int(dim), result.count, 1});
  all.shape[dim] = result.count;
  Answer<RegisterLayout> parts = RegisterLayout::get(std::move(each));
  Answer<RegisterLayout> whole = RegisterLayout::get(std::move(all));
  if (!parts || !whole) {
    return Refusal{parts ? whole.reason() : parts.reason()};
  }
  result.parts = *parts;
  result.whole = *whole;
  if (plan->result.rank() != 0) {
    RegisterLayout::BlockedOptions options;
    options.firstWarp = source.firstWarp();
    Answer<RegisterLayout> elements =
        RegisterLayout::blocked(plan->result.shape(), 1, source.numWarps(), options);
    if (elements) {
      RegisterLayout::Spec spread = specOf(elements->insertDim(dim));
      spread.repeats.push_back({HwDim::Register, int(dim), result.count, 1});
      spread.shape[dim] = result.count;
      if (Answer<RegisterLayout> layout = RegisterLayout::get(std::move(spread))) {
        result.spread = *layout;
      }
    }
  }
  return result;
}

SmallVector<SmallVector<int64_t, 8>, 4> warpGroups(const RegisterLayout &layout,
                                                   uint32_t warpOffsets) {
  SmallVector<SmallVector<int64_t, 8>, 4> groups;
  uint64_t taken = 0;
  for (int64_t w = 0; w < layout.numWarps(); ++w) {
    if (taken >> w & 1) {
      continue;
    }
    groups.emplace_back();
    for (uint64_t set = warpOffsets; set; set &= set - 1) {
      const int64_t member = w + countr_zero(set);
      if (member < layout.numWarps()) {
        taken |= uint64_t(1) << member;
        groups.back().push_back(layout.firstWarp() + member);
      }
    }
  }
  return groups;
}

} // namespace tilec::layout
