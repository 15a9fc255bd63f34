// Lanes that exchange parts of their registers: plans carried out on numbers, word by word as the code does.
#include "dialects/layout/LaneSwaps.h"

#include "LayoutTestUtils.h"
#include "dialects/layout/Conversion.h"

#include "gtest/gtest.h"
#include <map>

using namespace tilec::layout;

namespace {

using Thread = std::pair<int64_t, int64_t>; // warp, lane
using Slots = std::vector<Coords>;
using Registers = std::map<Thread, Slots>;

Registers fill(const RegisterLayout &layout) {
  Registers registers;
  for (int64_t warp = layout.firstWarp(); warp < layout.firstWarp() + layout.numWarps(); ++warp) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (int64_t slot = 0; slot < layout.registersPerThread(); ++slot) {
        registers[{warp, lane}].push_back(layout.coords(slot, lane, warp));
      }
    }
  }
  return registers;
}

/// A word: its slots, one after the other.
Slots word(const Slots &slots, int64_t number, int64_t together) {
  return {slots.begin() + number * together, slots.begin() + (number + 1) * together};
}

void put(Slots &slots, int64_t number, const Slots &value) {
  std::copy(value.begin(), value.end(), slots.begin() + number * int64_t(value.size()));
}

Registers carryOut(const LaneSwaps &plan, Registers now) {
  for (const LaneSwap &step : plan.steps) {
    const Registers before = now;
    for (auto &[thread, slots] : now) {
      const auto &[warp, lane] = thread;
      const int64_t words = int64_t(slots.size()) / plan.together;
      const int64_t partner = lane ^ int64_t(1) << step.laneBit;
      const int64_t own = lane >> step.laneBit & 1;
      for (int64_t number = 0; number < words; ++number) {
        if ((number >> step.registerBit & 1) != own) {
          put(slots, number,
              word(before.at({warp, partner}), number ^ int64_t(1) << step.registerBit,
                   plan.together));
        }
      }
    }
  }
  for (auto &[thread, slots] : now) {
    const Slots before = slots;
    for (size_t i = 0; i < plan.registers.size(); ++i) {
      put(slots, int64_t(i), word(before, plan.registers[i], plan.together));
    }
  }
  return now;
}

void expectSwaps(const RegisterLayout &source, const RegisterLayout &target, unsigned bits,
                 int64_t together, int64_t shuffles) {
  Answer<LaneSwaps> plan = planLaneSwaps(source, target, bits);
  ASSERT_TRUE(bool(plan)) << plan.reason();
  EXPECT_EQ(plan->together, together);
  EXPECT_EQ(plan->shuffles(), shuffles);
  EXPECT_TRUE(carryOut(*plan, fill(source)) == fill(target))
      << source.str() << " -> " << target.str();
}

TEST(LaneSwaps, RunsOfAnAccumulator) {
  for (int64_t columns : {64, 128, 256}) {
    for (int64_t groups : {1, 2}) {
      RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64 * groups, columns, groups));
      const int64_t slots = columns / 2;
      // 16 bytes: eight of 16 bits, which move in pairs; four of 32; sixteen of 8.
      RegisterLayout eight = must(withRuns(acc, 8));
      EXPECT_GE(eight.contiguousElements(1), 8);
      expectSwaps(acc, eight, 16, 2, slots / 2);
      RegisterLayout four = must(withRuns(acc, 4));
      EXPECT_GE(four.contiguousElements(1), 4);
      expectSwaps(acc, four, 32, 1, slots / 2);
      RegisterLayout sixteen = must(withRuns(acc, 16));
      EXPECT_GE(sixteen.contiguousElements(1), 16);
      expectSwaps(acc, sixteen, 8, 2, slots / 2);
      // And back.
      expectSwaps(eight, acc, 16, 2, slots / 2);
    }
  }
}

TEST(LaneSwaps, RepeatedRegisters) {
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 96));
  expectSwaps(acc, must(withRuns(acc, 8)), 16, 2, 24);
  RegisterLayout upper = acc.onWarps(4);
  expectSwaps(upper, must(withRuns(upper, 8)), 16, 2, 24);
}

TEST(LaneSwaps, Refused) {
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 64));
  // Rows in other lanes; other warps; partial values; too few columns for lanes to go on.
  EXPECT_FALSE(bool(planLaneSwaps(acc, must(RegisterLayout::blocked({64, 64}, 8, 4)), 16)));
  EXPECT_FALSE(bool(planLaneSwaps(acc, acc.onWarps(4), 16)));
  EXPECT_FALSE(bool(planLaneSwaps(acc, must(withRuns(acc, 2)), 64)));
  EXPECT_FALSE(bool(withRuns(must(RegisterLayout::wgmmaAccumulator(64, 8)), 8)));
}

TEST(LaneSwaps, AreAConversion) {
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 128));
  Conversion plan = must(planConversion(acc, must(withRuns(acc, 8)), 16));
  EXPECT_EQ(int(plan.kind), int(Conversion::Kind::Swaps));
  EXPECT_EQ(plan.describe(), "32 warp shuffles");
  EXPECT_EQ(plan.sharedBytes, 0);
  // One bit: half of the words stay, where a shuffle for each register would send all.
  plan = must(planConversion(acc, must(withRuns(acc, 4)), 32));
  EXPECT_EQ(int(plan.kind), int(Conversion::Kind::Swaps));
  EXPECT_EQ(plan.describe(), "32 warp shuffles");
}

} // namespace
