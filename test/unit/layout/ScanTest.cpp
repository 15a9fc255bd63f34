// Plans of scans, carried out on what each thread holds.
#include "dialects/layout/Scan.h"

#include "LayoutTestUtils.h"

#include <array>
#include <map>
#include <numeric>

namespace tilec::layout {
namespace {

/// Coordinates along the scanned dimension, of each lane of a warp.
using Part = std::vector<int64_t>;
using Lanes = std::array<Part, 32>;

/// Only neighbours meet.
Part joined(Part low, const Part &high) {
  EXPECT_EQ(low.back() + 1, high.front());
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

Lanes joined(const Lanes &low, const Lanes &high) {
  Lanes both;
  for (unsigned lane = 0; lane < 32; ++lane) {
    both[lane] = joined(low[lane], high[lane]);
  }
  return both;
}

std::vector<Lanes> runsOf(const ScanPlan::Runs &runs, const std::vector<Lanes> &members) {
  std::vector<Lanes> result;
  for (const auto &run : runs) {
    result.emplace_back();
    for (int64_t member : run) {
      result.back() =
          member == run.front() ? members[member] : joined(result.back(), members[member]);
    }
  }
  return result;
}

Lanes exchanged(const Lanes &own, unsigned bit) {
  Lanes both;
  for (unsigned lane = 0; lane < 32; ++lane) {
    both[lane] = joined(own[lane & ~(1u << bit)], own[lane | 1u << bit]);
  }
  return both;
}

/// In the end each lane knows all that its warp holds of its rows, and no slot is left out.
void expectScans(const RegisterLayout &layout, unsigned dim) {
  Answer<ScanPlan> answer = planScan(layout, dim);
  ASSERT_TRUE(bool(answer)) << layout.str() << " dim " << dim << ": " << answer.reason();
  const ScanPlan &plan = *answer;
  ASSERT_EQ(plan.runs.size(), plan.lanes.size() + 1);
  for (int64_t warp = layout.firstWarp(); warp < layout.firstWarp() + layout.numWarps(); ++warp) {
    std::vector<Lanes> members(layout.registersPerThread());
    for (int64_t slot = 0; slot < layout.registersPerThread(); ++slot) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        members[slot][lane] = {layout.coords(slot, lane, warp)[dim]};
      }
    }
    for (size_t level = 0; level < plan.lanes.size(); ++level) {
      members = runsOf(plan.runs[level], members);
      for (Lanes &block : members) {
        block = exchanged(block, plan.lanes[level].bit);
      }
    }
    const int64_t begin = layout.coords(0, 0, warp)[dim];
    for (const Lanes &row : runsOf(plan.runs.back(), members)) {
      for (const Part &part : row) {
        EXPECT_TRUE(part.empty() || part.front() == begin) << layout.str();
      }
    }
  }
  int64_t held = plan.copies.size();
  for (const auto &run : plan.runs.front()) {
    held += run.size();
  }
  for (int64_t slot = 0; slot < layout.registersPerThread(); ++slot) {
    held += !layout.inBounds(layout.registerOffset(slot));
  }
  EXPECT_GE(held, layout.registersPerThread());
}

TEST(Scan, NeighboursMeet) {
  for (const RegisterLayout &s :
       {must(RegisterLayout::wgmmaAccumulator(64, 96)),
        must(RegisterLayout::wgmmaAccumulator(16, 100)),
        must(RegisterLayout::wgmmaA(64, 96, MmaType::F8)), must(RegisterLayout::mmaC(64, 64, 2, 2)),
        must(RegisterLayout::mmaA(48, 32, MmaType::F16, 3, 2)),
        must(RegisterLayout::mmaB(48, 40, MmaType::F16, 2, 1)),
        must(RegisterLayout::blocked({64, 96}, 8, 4)), must(RegisterLayout::blocked({7, 7}, 1, 4)),
        must(RegisterLayout::blocked({3, 5, 24}, 4, 1)),
        must(RegisterLayout::replicated({4, 6}, 2)), must(RegisterLayout::blocked({1024}, 8, 4)),
        must(RegisterLayout::parse("8x4 reg 0,0:0,1:0,2 lane 1,0:2,0:4,0:0,0:0,0 warp 0,0"))}) {
    for (unsigned dim = 0; dim < s.rank(); ++dim) {
      // Of this one several warps hold the rows by turns.
      if (s == must(RegisterLayout::blocked({64, 96}, 8, 4)) && dim == 0) {
        EXPECT_FALSE(bool(planScan(s, dim)));
      } else {
        expectScans(s, dim);
      }
    }
  }
}

TEST(Scan, AccumulatorRowsAreBlocksOfBlocks) {
  // A thread holds pairs of a row in each block of 8 columns.
  const ScanPlan plan = must(planScan(must(RegisterLayout::mmaC(16, 16, 1, 1)), 1));
  ASSERT_EQ(plan.lanes.size(), 2u);
  EXPECT_EQ(plan.lanes[0].stride, 2);
  EXPECT_EQ(plan.lanes[1].stride, 4);
  EXPECT_EQ(plan.runs[0].size(), 4u);    // two rows of two pairs
  EXPECT_EQ(plan.runs[0][0].size(), 2u); // slots
  EXPECT_EQ(plan.runs[1].size(), 4u);    // the pairs of two lanes
  EXPECT_EQ(plan.runs[2].size(), 2u);    // rows
  EXPECT_EQ(plan.runs[2][0].size(), 2u); // of two blocks of 8
  EXPECT_EQ(plan.exchanges(), 8);        // of pairs, and of fours
}

TEST(Scan, WhereWarpsInterruptEachOther) {
  // Warps go on along a row before registers do.
  EXPECT_EQ(planScan(must(RegisterLayout::blocked({4096}, 4, 4)), 0).reason(),
            "other warps hold parts of what a warp holds of the scanned dimension");
  RegisterLayout crossed = must(RegisterLayout::parse("32 reg 8 lane 1:2:16:4:0 warp -"));
  EXPECT_TRUE(bool(planScan(crossed, 0)));
  RegisterLayout odd = must(RegisterLayout::parse("36 reg - lane 1:2:4:0:0 warp - rep reg*6@0+6"));
  EXPECT_EQ(planScan(odd, 0).reason(),
            "lanes and registers do not hold blocks of blocks of the scanned dimension");
}

TEST(Scan, SomeLayoutGivesEachThreadOneRun) {
  using Shape = llvm::SmallVector<int64_t, 3>;
  for (const Shape &shape :
       {Shape{4096}, Shape{1}, Shape{33}, Shape{4, 1000}, Shape{100, 7}, Shape{3, 5, 24}}) {
    for (int64_t warps : {1, 4, 6, 16}) {
      for (unsigned dim = 0; dim < shape.size(); ++dim) {
        RegisterLayout layout = must(blockedForScan(shape, dim, warps));
        EXPECT_TRUE(layout.complete());
        expectScans(layout, dim);
      }
    }
  }
  // As few registers as there can be: 4 rows of 1024 over 128 threads.
  EXPECT_EQ(must(blockedForScan({4, 1024}, 1, 4)).registersPerThread(), 32);
  // Whole columns of a thread, rather than two lanes for each: no exchange.
  const RegisterLayout columns = must(blockedForScan({64, 128}, 0, 4));
  EXPECT_EQ(columns.registersPerThread(), 64);
  EXPECT_TRUE(must(planScan(columns, 0)).lanes.empty());
}

} // namespace
} // namespace tilec::layout
