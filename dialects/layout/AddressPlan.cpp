// Addresses of many slots from few computed ones: what an instruction's immediate or one XOR can
// reach.
#include "dialects/layout/Compatibility.h"

#include <vector>

using namespace llvm;

namespace tilec::layout {

namespace {

/// Byte offsets of one slot in all threads, and which of them are in bounds.
struct SlotAddresses {
  std::vector<int64_t> offset;
  std::vector<bool> inBounds;
};

SlotAddresses addressesOf(const SharedLayout &shared, const RegisterLayout &layout, int64_t slot) {
  SlotAddresses result;
  for (int64_t t = 0; t < 32 * layout.numWarps(); ++t) {
    Coords c = layout.coords(slot, t % 32, layout.firstWarp() + t / 32);
    result.offset.push_back(shared.byteOffset(c));
    result.inBounds.push_back(layout.inBounds(c));
  }
  return result;
}

/// The constant k with combine(base, slot) == k for all threads that need the slot.
template <typename Combine>
std::optional<int64_t> constantFor(const SlotAddresses &base, const SlotAddresses &slot,
                                   Combine combine) {
  std::optional<int64_t> constant;
  for (size_t t = 0; t < slot.offset.size(); ++t) {
    if (!slot.inBounds[t]) {
      continue;
    }
    const int64_t k = combine(base.offset[t], slot.offset[t]);
    if (constant.value_or(k) != k) {
      return std::nullopt;
    }
    constant = k;
  }
  return constant.value_or(0);
}

} // namespace

AddressPlan addressPlan(const SharedLayout &shared, const RegisterLayout &layout,
                        ArrayRef<int64_t> slots) {
  AddressPlan plan;
  std::vector<SlotAddresses> bases;
  for (int64_t slot : slots) {
    SlotAddresses mine = addressesOf(shared, layout, slot);
    std::optional<AddressPlan::Entry> entry;
    for (unsigned b = 0; b < bases.size() && !entry; ++b) {
      if (std::optional<int64_t> add =
              constantFor(bases[b], mine, [](int64_t x, int64_t y) { return y - x; })) {
        entry = AddressPlan::Entry{b, *add};
      }
    }
    if (!entry) {
      AddressPlan::Base base{slot, std::nullopt};
      if (!bases.empty()) {
        // A base serves later slots in every thread, also where this slot is out of bounds.
        SlotAddresses everywhere = mine;
        everywhere.inBounds.assign(mine.inBounds.size(), true);
        base.xorWithFirst =
            constantFor(bases[0], everywhere, [](int64_t x, int64_t y) { return x ^ y; });
      }
      entry = AddressPlan::Entry{unsigned(bases.size()), 0};
      plan.bases.push_back(base);
      bases.push_back(std::move(mine));
    }
    plan.entries.push_back(*entry);
  }
  return plan;
}

} // namespace tilec::layout
