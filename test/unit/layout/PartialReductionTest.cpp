// Reductions that stop within a thread, carried out on what each thread holds.
#include "dialects/layout/PartialReduction.h"

#include "LayoutTestUtils.h"

#include <map>

namespace tilec::layout {
namespace {

/// Elements of the source, by their coordinates, each as often as it was counted.
using Counts = std::map<Coords, int64_t>;

void add(Counts &to, const Counts &from) {
  for (const auto &[element, count] : from) {
    to[element] += count;
  }
}

/// What a thread has of each slot of the result: its own elements, without what is padding.
std::vector<Counts> ownPart(const RegisterLayout &source, const PartialReduction &plan,
                            int64_t lane, int64_t warp) {
  std::vector<Counts> slots;
  for (int64_t r = 0; r < source.registersPerThread(); ++r) {
    slots.push_back({{source.coords(r, lane, warp), 1}});
  }
  for (const PartialReduction::Step &step : plan.steps) {
    std::vector<Counts> next;
    for (const auto &from : step.plan.slots) {
      Counts &sum = next.emplace_back();
      for (int64_t slot : from) {
        const int64_t at = step.source.coords(slot, lane, warp)[step.dim];
        EXPECT_LE(at, step.source.registerOffset(slot)[step.dim] + step.plan.threadReach);
        if (at < step.source.shape()[step.dim]) {
          add(sum, slots[slot]);
        }
      }
    }
    slots = next;
  }
  return slots;
}

/// Each part has a place of its own, copies the same one; together the parts of an element are all of its
/// elements, once.
void expectParts(const RegisterLayout &source, llvm::ArrayRef<int64_t> dims) {
  const PartialReduction plan = must(planPartialReduction(source, dims, Combine::Sum));
  SCOPED_TRACE(source.str() + " to " + plan.result.str() + " by " + plan.parts.str());
  ASSERT_EQ(plan.parts.registersPerThread(), plan.result.registersPerThread());
  ASSERT_TRUE(plan.parts.isSeparable());
  std::map<Coords, Counts> parts;
  for (int64_t warp = source.firstWarp(); warp < source.firstWarp() + source.numWarps(); ++warp) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      const std::vector<Counts> own = ownPart(source, plan, lane, warp);
      for (size_t slot = 0; slot < own.size(); ++slot) {
        const Coords place = plan.parts.coords(slot, lane, warp);
        if (plan.parts.inBounds(place)) {
          auto [it, isNew] = parts.insert({place, own[slot]});
          EXPECT_TRUE(isNew || it->second == own[slot]) << "copies differ";
        }
      }
    }
  }
  std::map<Coords, Counts> results;
  for (const auto &[place, part] : parts) {
    Coords kept = place;
    for (int64_t dim : llvm::reverse(dims)) {
      kept.erase(kept.begin() + dim);
    }
    add(results[kept], part);
  }
  int64_t reduced = 1, elements = 1;
  for (size_t dim = 0; dim < source.rank(); ++dim) {
    elements *= source.shape()[dim];
    reduced *= llvm::is_contained(dims, int64_t(dim)) ? source.shape()[dim] : 1;
  }
  EXPECT_EQ(int64_t(results.size()) * reduced, elements);
  for (const auto &[kept, sum] : results) {
    EXPECT_EQ(int64_t(sum.size()), reduced);
    EXPECT_TRUE(llvm::all_of(sum, [](const auto &entry) { return entry.second == 1; }));
  }
}

TEST(PartialReduction, CountsEveryElementOnce) {
  for (const RegisterLayout &s :
       {must(RegisterLayout::wgmmaAccumulator(128, 96, 2)),
        must(RegisterLayout::wgmmaAccumulator(16, 100)),
        must(RegisterLayout::wgmmaAccumulator(64, 576, 1, 3)), // warps in a repeat
        must(RegisterLayout::wgmmaA(64, 96, MmaType::F8)), must(RegisterLayout::mmaC(64, 64, 2, 2)),
        must(RegisterLayout::mmaA(48, 32, MmaType::F16, 3, 2)), // copies in other warps
        must(RegisterLayout::blocked({64, 96}, 8, 4)),
        must(RegisterLayout::blocked({4, 1000}, 8, 12)),
        must(RegisterLayout::blocked({7, 7}, 1, 4)), // threads of padding, and of copies
        must(RegisterLayout::blocked({3, 5, 24}, 4, 4)),
        must(RegisterLayout::replicated({4, 6}, 2)), must(RegisterLayout::blocked({4096}, 8, 8)),
        must(RegisterLayout::wgmmaAccumulator(128, 96, 2)).onWarps(4),
        // elements held twice by a thread count once
        must(RegisterLayout::parse("8x4 reg 0,0:0,1:0,2 lane 1,0:2,0:4,0:0,0:0,0 warp 0,0"))}) {
    llvm::SmallVector<int64_t> all;
    for (int64_t dim = 0; dim < int64_t(s.rank()); ++dim) {
      expectParts(s, {dim});
      all.push_back(dim);
    }
    expectParts(s, all);
  }
}

/// The parts are what the type says, however they came about: the verifier of tgpu.partial_parts asks this.
TEST(PartialReduction, OfItsPartsIsThemselves) {
  for (const RegisterLayout &s : {must(RegisterLayout::wgmmaAccumulator(128, 96, 2)),
                                  must(RegisterLayout::blocked({7, 7}, 1, 4)),
                                  must(RegisterLayout::wgmmaAccumulator(64, 576, 1, 3))}) {
    const PartialReduction plan = must(planPartialReduction(s, {1}, Combine::Max));
    const PartialReduction again = must(planPartialReduction(plan.parts, {1}, Combine::Max));
    EXPECT_TRUE(again.parts.sameMap(plan.parts));
    EXPECT_EQ(again.result.partial(), plan.result.partial());
    EXPECT_TRUE(again.result.combined().sameMap(plan.result.combined()));
  }
}

TEST(PartialReduction, SaysWhoContributes) {
  const PartialReduction quads = must(
      planPartialReduction(must(RegisterLayout::wgmmaAccumulator(128, 96, 2)), {1}, Combine::Sum));
  EXPECT_EQ(*quads.result.partial(), (Partial{Combine::Sum, 3, 1}));
  EXPECT_EQ(quads.parts.shape()[1], 4);
  const PartialReduction all = must(
      planPartialReduction(must(RegisterLayout::blocked({8, 512}, 4, 2)), {0, 1}, Combine::Sum));
  EXPECT_EQ(*all.result.partial(), (Partial{Combine::Sum, 31, 3}));
  const PartialReduction own =
      must(planPartialReduction(must(RegisterLayout::replicated({4, 6}, 2)), {0, 1}, Combine::Sum));
  EXPECT_FALSE(own.isPartial());
  EXPECT_EQ(planPartialReduction(quads.result, {0}, Combine::Sum).reason(),
            "the values are partial already");
}

} // namespace
} // namespace tilec::layout
