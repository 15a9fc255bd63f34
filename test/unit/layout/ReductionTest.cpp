// Plans of reductions, carried out on what each thread holds.
#include "dialects/layout/Reduction.h"

#include "LayoutTestUtils.h"

#include <map>
#include <numeric>
#include <set>

namespace tilec::layout {
namespace {

/// A part of a row: coordinates along the reduced dimension, in the order in which they met.
using Part = std::vector<int64_t>;

/// What a thread (warp, lane) holds of each slot of the result.
using Parts = std::map<std::pair<int64_t, int64_t>, std::vector<Part>>;

/// The lower part first; what is padding is only ever the second, and left out.
Part combined(Part low, const Part &high, int64_t extent) {
  EXPECT_LT(low.front(), high.front());
  if (high.front() < extent) {
    low.insert(low.end(), high.begin(), high.end());
  }
  return low;
}

Parts slotsOf(const RegisterLayout &source, unsigned dim, const ReductionPlan &plan) {
  Parts parts;
  for (int64_t thread = 0; thread < 32 * source.numWarps(); ++thread) {
    const int64_t lane = thread % 32, warp = source.firstWarp() + thread / 32;
    for (const auto &slots : plan.slots) {
      std::vector<Part> held;
      for (int64_t slot : slots) {
        const int64_t at = source.coords(slot, lane, warp)[dim];
        EXPECT_LE(at, source.registerOffset(slot)[dim] + plan.threadReach);
        held.push_back({at});
      }
      parts[{warp, lane}].push_back(
          held.empty() ? Part()
                       : std::accumulate(held.begin() + 1, held.end(), held.front(),
                                         [&](const Part &low, const Part &high) {
                                           return combined(low, high, source.shape()[dim]);
                                         }));
    }
  }
  return parts;
}

Parts lanesOf(Parts parts, const ReductionPlan &plan, int64_t extent) {
  for (unsigned bit = 0; bit < 5; ++bit) {
    if (plan.laneMask >> bit & 1) {
      Parts old = parts;
      for (auto &[thread, held] : parts) {
        auto [warp, lane] = thread;
        const int64_t low = lane & ~(1 << bit), high = lane | 1 << bit;
        for (size_t slot = 0; slot < held.size(); ++slot) {
          if (!held[slot].empty()) {
            held[slot] = combined(old.at({warp, low})[slot], old.at({warp, high})[slot], extent);
          }
        }
      }
    }
  }
  return parts;
}

/// After the lanes each warp has a part of each row; those of a group are whole, in order.
void expectReduces(const RegisterLayout &source, unsigned dim) {
  const ReductionPlan plan = must(planReduction(source, dim));
  const int64_t extent = source.shape()[dim];
  const Parts parts = lanesOf(slotsOf(source, dim, plan), plan, extent);
  std::set<int64_t> grouped;
  for (const auto &group : warpGroups(plan.result, plan.warpOffsets)) {
    for (int64_t place = 0; place < 32 * plan.result.registersPerThread(); ++place) {
      const int64_t lane = place % 32, slot = place / 32;
      Part all;
      for (int64_t warp : group) {
        grouped.insert(warp);
        const Part &part = parts.at({warp, lane})[slot];
        if (!part.empty() && part.front() < extent) {
          all.insert(all.end(), part.begin(), part.end());
        }
      }
      if (plan.result.inBounds(plan.result.coords(slot, lane, group.front()))) {
        std::sort(all.begin(), all.end());
        Part whole(extent);
        std::iota(whole.begin(), whole.end(), 0);
        ASSERT_EQ(all, whole) << source.str() << " dim " << dim;
      }
    }
  }
  EXPECT_EQ(int64_t(grouped.size()), source.numWarps());
}

TEST(Reduction, GivesEveryOwnerAllElements) {
  for (const RegisterLayout &s :
       {must(RegisterLayout::wgmmaAccumulator(128, 96, 2)),
        must(RegisterLayout::wgmmaAccumulator(16, 100)),
        must(RegisterLayout::wgmmaAccumulator(64, 576, 1, 3)),
        must(RegisterLayout::wgmmaA(64, 96, MmaType::F8)), must(RegisterLayout::mmaC(64, 64, 2, 2)),
        must(RegisterLayout::mmaA(48, 32, MmaType::F16, 3, 2)),
        must(RegisterLayout::mmaB(48, 40, MmaType::F16, 2, 1)),
        must(RegisterLayout::blocked({64, 96}, 8, 4)),
        must(RegisterLayout::blocked({4, 1000}, 8, 12)),
        must(RegisterLayout::blocked({7, 7}, 1, 4)),
        must(RegisterLayout::blocked({3, 5, 24}, 4, 4)),
        must(RegisterLayout::replicated({4, 6}, 2)), must(RegisterLayout::blocked({4096}, 8, 8)),
        must(RegisterLayout::wgmmaAccumulator(128, 96, 2)).onWarps(4),
        // elements held twice by a thread count once
        must(RegisterLayout::parse("8x4 reg 0,0:0,1:0,2 lane 1,0:2,0:4,0:0,0:0,0 warp 0,0"))}) {
    for (unsigned dim = 0; dim < s.rank(); ++dim) {
      expectReduces(s, dim);
    }
  }
}

/// The parts of warps have the slots of the result, one part for each warp of a group that holds
/// any, by rising coordinates, and what is left to do with all of them in each thread gives that
/// result.
void expectParts(const RegisterLayout &source, unsigned dim, const ReductionPlan &plan) {
  WarpParts parts = must(planWarpParts(source, dim));
  EXPECT_EQ(parts.parts.shape()[dim], parts.count);
  EXPECT_EQ(parts.whole.shape(), parts.parts.shape());
  EXPECT_TRUE(parts.parts.complete() && parts.whole.complete()) << source.str();
  for (const auto &group : warpGroups(plan.result, plan.warpOffsets)) {
    for (int64_t place = 0; place < 32 * plan.result.registersPerThread(); ++place) {
      std::map<int64_t, int64_t> begins; // of parts
      for (int64_t w : group) {
        Coords c = parts.parts.coords(place / 32, place % 32, w);
        const int64_t begin = source.coords(0, 0, w)[dim];
        begins[c[dim]] = begin;
        EXPECT_EQ(c[dim] < parts.count, begin < source.shape()[dim]) << source.str();
        c.erase(c.begin() + dim);
        EXPECT_EQ(c, plan.result.coords(place / 32, place % 32, w)) << source.str();
      }
      EXPECT_EQ(begins.size(), group.size());
      int64_t before = -1;
      for (auto [part, begin] : begins) {
        EXPECT_GT(begin, before);
        before = begin;
      }
    }
  }
  ReductionPlan rest = must(planReduction(parts.whole, dim));
  EXPECT_EQ(rest.laneMask, 0u);
  EXPECT_EQ(rest.warpOffsets, 1u);
  EXPECT_EQ(rest.threadReach, 0);
  EXPECT_TRUE(rest.result.sameMap(plan.result)) << rest.result.str();
}

TEST(Reduction, PartsOfWarpsAreATileOfTheirOwn) {
  int across = 0;
  for (const RegisterLayout &s :
       {must(RegisterLayout::wgmmaAccumulator(64, 64, 1, 2)),
        must(RegisterLayout::wgmmaAccumulator(64, 576, 1, 3)),
        must(RegisterLayout::mmaC(64, 64, 2, 2)), must(RegisterLayout::mmaC(40, 72, 1, 3)),
        must(RegisterLayout::blocked({4, 1000}, 8, 12)),
        must(RegisterLayout::blocked({4096}, 8, 8)),
        must(RegisterLayout::blocked({3, 5, 24}, 4, 4)), must(RegisterLayout::blocked({7}, 1, 4)),
        must(RegisterLayout::blocked({2, 640}, 2, 6)).onWarps(4)}) {
    for (unsigned dim = 0; dim < s.rank(); ++dim) {
      ReductionPlan plan = must(planReduction(s, dim));
      if (plan.warpOffsets != 1) {
        ++across;
        expectParts(s, dim, plan);
      }
    }
  }
  EXPECT_GE(across, 8);
}

TEST(Reduction, WarpsOfPaddingHaveNoPart) {
  // Rows 16 to 63 of the instruction are no rows of the tile.
  WarpParts parts = must(planWarpParts(must(RegisterLayout::wgmmaAccumulator(16, 32)), 0));
  EXPECT_EQ(parts.count, 1);
  // Two warps have 16 rows each, the third begins behind the 24th.
  EXPECT_EQ(must(planWarpParts(must(RegisterLayout::wgmmaAccumulator(24, 32)), 0)).count, 2);
  // Higher bits of the warp may have lower elements.
  RegisterLayout swapped =
      must(RegisterLayout::parse("64 reg - lane 1:2:4:8:16 warp 64:32")).withShape({100});
  EXPECT_EQ(must(planWarpParts(swapped, 0)).parts.str(), "4 reg - lane 0:0:0:0:0 warp 2:1");
}

TEST(Reduction, AttentionRows) {
  ReductionPlan plan = must(planReduction(must(RegisterLayout::wgmmaAccumulator(128, 128, 2)), 1));
  EXPECT_EQ(plan.laneMask, 3u);
  EXPECT_EQ(plan.warpOffsets, 1u);
  EXPECT_EQ(plan.threadReach, 6);
  EXPECT_FALSE(bool(planReduction(plan.result.withPartial({Combine::Sum, 3, 1}), 0)));
  // Column halves of two warpgroups: combined across warps 0 and 4, 1 and 5, ...
  ReductionPlan halves =
      must(planReduction(must(RegisterLayout::wgmmaAccumulator(64, 64, 1, 2)), 1));
  EXPECT_EQ(halves.warpOffsets, 0x11u);
  EXPECT_EQ(warpGroups(halves.result, halves.warpOffsets)[1],
            (llvm::SmallVector<int64_t, 8>{1, 5}));
}

TEST(Reduction, WhatHasNoOrderIsRefused) {
  RegisterLayout skewed =
      must(RegisterLayout::parse("32x32 reg - lane 1,1:2,2:4,4:8,8:16,16 warp -"));
  EXPECT_EQ(planReduction(skewed, 1).reason(),
            "a lane or warp bit walks the reduced dimension and another one");
  RegisterLayout mixed = must(RegisterLayout::parse("32 reg 1 lane 3:4:8:16:0 warp -"));
  EXPECT_EQ(planReduction(mixed, 0).reason(), "the layout mixes register and thread bits");
  // The second warp of three begins in the middle of what the bits of the number walk.
  RegisterLayout tangled =
      must(RegisterLayout::parse("64 reg - lane 1:2:4:0:0 warp 8:16 rep warp*3@0+8"));
  EXPECT_EQ(planWarpParts(tangled, 0).reason(),
            "the warps do not hold the reduced dimension in an order");
}

} // namespace
} // namespace tilec::layout
