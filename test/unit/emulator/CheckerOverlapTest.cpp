// A launch that may begin before those before it have ended: what it does before it has waited is held against them.
#include "CheckerWorld.h"

#include <gtest/gtest.h>

using namespace tile_emu;

namespace {

struct CheckerOverlapTest : testing::Test, CheckerWorld {
  ThreadId first = block(0, 64);
  /// Another launch; its first thread.
  ThreadId next(bool overlaps = true) {
    checker.newLaunch(overlaps);
    return block(0, 64);
  }
  void wait(ThreadId thread) { checker.waitForLaunches(WarpLanes::one(thread)); }
  size_t nonCoherent() const { return count(Report::Kind::NonCoherent); }
};

TEST_F(CheckerOverlapTest, WhatHasNotWaitedRaces) {
  write(first, global(), 0, 4);
  read(first, global(), 16, 4);
  ThreadId t = next();
  read(t, global(), 0, 4);
  write(t, global(), 16, 4);
  EXPECT_EQ(races(), 2u);
  read(t, global(), 16, 4);
  write(t, global(), 32, 4); // where nobody was
  EXPECT_EQ(races(), 2u);
}

TEST_F(CheckerOverlapTest, TwoReadsDoNotRace) {
  read(first, global(), 0, 4);
  read(next(), global(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(CheckerOverlapTest, WhoHasWaitedAndWhoLearnsOfIt) {
  write(first, global(), 0, 16);
  ThreadId t = next();
  wait(t);
  read(t, global(), 0, 4);
  read(t + 1, global(), 4, 4);
  EXPECT_EQ(races(), 1u);
  pass(t, t + 2);
  read(t + 2, global(), 8, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerOverlapTest, WithoutOverlapNothingIsRemembered) {
  write(first, global(), 0, 4);
  read(next(false), global(), 0, 4);
  ThreadId t = next();
  write(t, global(), 4, 4); // the first launch ended before the second began
  EXPECT_EQ(races(), 0u);
  write(t, global(), 0, 4); // which has read it
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerOverlapTest, AsynchronousWorkOfBoth) {
  AgentId channel = checker.newChannel(first, "bulk group");
  asyncWrite(issue(first, channel, 1), global(), 0, 16);
  write(first, global(), 16, 16);
  read(first, global(), 32, 16);
  checker.strictProxyReads = true;
  ThreadId t = next();
  checker.strictProxyReads = true;
  AgentId own = checker.newChannel(t, "bulk group");
  AsyncOp early = issue(t, own, 1);
  asyncRead(early, global(), 0, 16);
  asyncRead(early, global(), 16, 16);
  asyncWrite(early, global(), 32, 16);
  EXPECT_EQ(races(), 3u);
  wait(t);
  AsyncOp late = issue(t, own, 2);
  asyncRead(late, global(), 0, 16);
  asyncRead(late, global(), 16, 16);
  EXPECT_EQ(races(), 3u);
  EXPECT_EQ(missingFences(), 0u) << "the wait is one for every proxy";
}

TEST_F(CheckerOverlapTest, OfThreeTheMiddleOneHasToWait) {
  for (bool middleWaits : {true, false}) {
    const size_t before = races();
    write(next(false), global(), 0, 4);
    ThreadId middle = next();
    if (middleWaits) {
      wait(middle + 40); // one thread, without which the launch does not end
    }
    write(middle, global(), 16, 4);
    ThreadId last = next();
    wait(last);
    read(last, global(), 16, 4);
    EXPECT_EQ(races(), before);
    read(last, global(), 0, 4);
    EXPECT_EQ(races() - before, middleWaits ? 0u : 1u);
  }
  EXPECT_NE(format(sink.reports().back(), {})
                .find("Look for griddepcontrol.wait in the launch after it."),
            std::string::npos)
      << format(sink.reports().back(), {});
}

TEST_F(CheckerOverlapTest, ReadsWithoutCoherence) {
  write(first, global(), 0, 4);
  read(first, global(), 16, 4, {.nonCoherent = true});
  ThreadId t = next();
  wait(t);
  read(t, global(), 0, 4, {.nonCoherent = true}); // written after this launch began
  EXPECT_EQ(nonCoherent(), 1u);
  write(t, global(), 16, 4); // by a launch that has ended
  EXPECT_EQ(nonCoherent(), 1u);
  EXPECT_EQ(races(), 0u);
}

TEST_F(CheckerOverlapTest, ManyReadersAreOneLaunch) {
  for (uint32_t i = 0; i < 64; ++i) {
    read(first + i, global(), 0, 16);
    read(first + i, global(), 16 + 4 * (i % 4), 4);
  }
  ThreadId t = next();
  write(t, global(), 0, 4);
  write(t, global(), 28, 4);
  EXPECT_EQ(races(), 2u);
  const Report &report = sink.reports()[0];
  ASSERT_EQ(report.parties.size(), 2u);
  EXPECT_TRUE(report.parties[0].earlierLaunch);
  EXPECT_FALSE(report.parties[1].earlierLaunch);
  const std::string text = format(report, {});
  EXPECT_NE(text.find("read by ld.shared.b32, in an earlier launch"), std::string::npos) << text;
  EXPECT_NE(text.find("thread (0,0,0) has not learnt, before it, that it has ended"),
            std::string::npos)
      << text;
}

// The first of them is the block's first thread, which begins in the middle of a granule.
TEST_F(CheckerOverlapTest, LanesSideBySide) {
  std::array<uint64_t, 32> offsets;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    offsets[lane] = 12 + 2 * lane;
  }
  checker.access(Access::Write, {first, ~0u}, global(), offsets.data(), 2, {},
                 instruction({"st", "global", "b16"}));
  ThreadId t = next();
  wait(t);
  for (uint32_t at = 12; at < 76; at += 2) {
    read(t, global(), at, 2);
  }
  EXPECT_EQ(races(), 0u);
  read(t + 1, global(), 12, 2);
  read(t + 1, global(), 74, 2);
  EXPECT_EQ(races(), 2u);
}

TEST_F(CheckerOverlapTest, AtomicsOfBoth) {
  const ptx::Instruction *add = instruction({"red", "global", "add", "u32"});
  checker.atomic(first, {&global(), 0, 4}, false, false, add);
  write(first, global(), 16, 4);
  ThreadId t = next();
  checker.atomic(t, {&global(), 0, 4}, false, false, add);
  EXPECT_EQ(races(), 0u);
  checker.atomic(t, {&global(), 16, 4}, false, false, add);
  EXPECT_EQ(races(), 1u);
  // What an atomic operation of the earlier launch released tells nothing of agents of this one.
  checker.newLaunch();
  ThreadId a = block(0, 32);
  write(a, global(), 32, 4);
  checker.atomic(a, {&global(), 48, 4}, true, true, add);
  ThreadId b = next();
  checker.atomic(b, {&global(), 48, 4}, true, true, add);
  read(b, global(), 32, 4);
  EXPECT_EQ(races(), 2u);
}

} // namespace
