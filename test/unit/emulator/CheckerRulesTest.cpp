// Rules of the checker beside order: spaces of proxy fences, reads without coherence, and which
// stores of a warp count as one.
#include "CheckerWorld.h"

#include <gtest/gtest.h>

using namespace tile_emu;

namespace {

struct CheckerRulesTest : testing::Test, CheckerWorld {
  ThreadId t = block(0, 64), other = block(1, 32);
  AgentId channel = checker.newChannel(t, "bulk group");
  const ptx::Instruction *store = instruction({"st", "shared", "b32"});

  /// Lanes 0 and 1 store to one place.
  void storeTwice(uint64_t offset, AccessFlags flags) {
    std::array<uint64_t, 32> offsets;
    offsets.fill(offset);
    checker.access(Access::Write, {t, 3}, shared(), offsets.data(), 4, flags, store);
  }
};

TEST_F(CheckerRulesTest, AProxyFenceOfOneSpaceSaysNothingOfTheOther) {
  uint64_t at = 0;
  for (Region *region : {&shared(), &global()}) {
    for (std::optional<FencedSpace> space :
         {std::optional(FencedSpace::Global), std::optional(FencedSpace::Shared),
          std::optional<FencedSpace>()}) {
      size_t before = missingFences();
      write(t + 40, *region, at, 16);
      checker.proxyFence(t + 40, space);
      pass(t + 40, t);
      asyncRead(issue(t, channel, 1), *region, at, 16);
      at += 16;
      bool covers = !space || (*space == FencedSpace::Shared) == (region == &shared());
      EXPECT_EQ(missingFences() - before, covers ? 0u : 1u);
    }
  }
  EXPECT_EQ(races(), 0u);
}

TEST_F(CheckerRulesTest, WhatIsReadWithoutCoherenceIsNeverWritten) {
  read(t, global(), 0, 4, {.nonCoherent = true});
  read(other, global(), 0, 4);
  write(t, global(), 16, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
  write(t, global(), 0, 4); // after it, by the same thread
  EXPECT_EQ(count(Report::Kind::NonCoherent), 1u);
  read(t, global(), 16, 4, {.nonCoherent = true}); // before it
  EXPECT_EQ(count(Report::Kind::NonCoherent), 2u);
  AsyncOp copy = issue(t, channel, 1);
  read(t, global(), 32, 4, {.nonCoherent = true});
  asyncWrite(copy, global(), 32, 16);
  EXPECT_EQ(count(Report::Kind::NonCoherent), 3u);
}

TEST_F(CheckerRulesTest, LanesThatStoreTogetherRaceWhereTheirValuesDiffer) {
  storeTwice(0, {});
  EXPECT_EQ(races(), 0u);
  storeTwice(16, {.apart = true});
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerRulesTest, OneInstructionExecutedTwiceIsTwoStores) {
  checker.access(Access::Write, t, {&shared(), 0, 4}, {}, store);
  checker.access(Access::Write, t + 1, {&shared(), 0, 4}, {}, store);
  EXPECT_EQ(races(), 1u);
}

} // namespace
