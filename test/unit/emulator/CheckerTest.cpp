#include "CheckerWorld.h"

#include <gtest/gtest.h>
#include <set>

using namespace tile_emu;

namespace {

struct CheckerTest : testing::Test, CheckerWorld {};

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_F(CheckerTest, WriteThenReadByAnotherThread) {
  ThreadId t = block(0, 64);
  write(t, shared(), 0, 4);
  read(t + 40, shared(), 0, 4);
  EXPECT_EQ(races(), 1u);
  read(t, shared(), 0, 4); // the writer itself
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerTest, ABarrierOrders) {
  ThreadId t = block(0, 64);
  write(t, shared(), 0, 4);
  barrier(t, 64);
  read(t + 40, shared(), 0, 4);
  barrier(t, 64);
  write(t + 41, shared(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(CheckerTest, ReadThenWrite) {
  ThreadId t = block(0, 64);
  read(t + 1, shared(), 16, 4);
  read(t + 2, shared(), 16, 4);
  read(t + 50, shared(), 16, 4);
  pass(t + 1, t);
  pass(t + 50, t);
  write(t, shared(), 16, 4); // t + 2 is not ordered
  ASSERT_EQ(races(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.thread[0], 2u);
  EXPECT_EQ(sink.reports()[0].parties[1].thread.thread[0], 0u);
}

TEST_F(CheckerTest, OrderIsOneWay) {
  ThreadId t = block(0, 64);
  write(t, shared(), 0, 4);
  pass(t + 33, t); // the other direction
  read(t + 33, shared(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerTest, WhatFollowsTheReleaseIsNotCovered) {
  ThreadId t = block(0, 64);
  SyncPoint point;
  checker.release(t, point);
  write(t, shared(), 0, 4);
  checker.acquire(t + 33, point);
  read(t + 33, shared(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerTest, OrderPassesOn) {
  ThreadId t = block(0, 96);
  write(t, shared(), 0, 4);
  pass(t, t + 33);
  pass(t + 33, t + 70);
  write(t + 70, shared(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(CheckerTest, LanesOfAWarpNeedOrderToo) {
  ThreadId t = block(0, 32);
  write(t, shared(), 0, 4);
  read(t + 1, shared(), 0, 4);
  ASSERT_EQ(races(), 1u);
  EXPECT_NE(format(sink.reports()[0], {}).find("bar.warp.sync"), std::string::npos);
}

TEST_F(CheckerTest, NeighbouringBytesDoNotRace) {
  ThreadId t = block(0, 64);
  for (uint32_t i = 0; i < 64; ++i) {
    write(t + i, shared(), i, 1);
  }
  for (uint32_t i = 0; i < 64; ++i) {
    read(t + i, shared(), i, 1);
  }
  EXPECT_EQ(sink.reports().size(), 0u);
  read(t, shared(), 0, 2); // and the neighbour's byte
  ASSERT_EQ(races(), 1u);
  EXPECT_EQ(sink.reports()[0].message, "shared memory at +0x1 (1 byte)");
}

TEST_F(CheckerTest, WritesOfTheSameValueDoNotRace) {
  ThreadId t = block(0, 96);
  write(t, shared(), 0, 4);
  write(t + 33, shared(), 0, 4, {.unchanged = true});
  EXPECT_EQ(races(), 0u);
  pass(t + 33, t + 70);
  read(t + 70, shared(), 0, 4); // must know both
  EXPECT_EQ(races(), 1u);
  pass(t, t + 70);
  write(t + 70, shared(), 16, 4);
  read(t, shared(), 16, 4); // a read is none
  EXPECT_EQ(races(), 2u);
}

TEST_F(CheckerTest, ReadBeforeAWriteOfTheSameValue) {
  ThreadId t = block(0, 64);
  read(t, shared(), 0, 4);
  write(t + 33, shared(), 0, 4, {.unchanged = true});
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerTest, BlocksRaceInGlobalMemory) {
  ThreadId a = block(0, 32), b = block(1, 32);
  write(a, global(), 64, 4);
  write(b, global(), 64, 4);
  ASSERT_EQ(races(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.block[0], 0u);
  EXPECT_EQ(sink.reports()[0].parties[1].thread.block[0], 1u);
}

TEST_F(CheckerTest, EndedBlocksAreRemembered) {
  ThreadId a = block(0, 32);
  write(a + 3, global(), 64, 4);
  checker.endBlock(a);
  ThreadId b = block(1, 32);
  EXPECT_NE(a, b);
  read(b + 3, global(), 64, 4);
  ASSERT_EQ(races(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.thread[0], 3u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.block[0], 0u);
}

TEST_F(CheckerTest, LaunchesAreOrdered) {
  ThreadId a = block(0, 32);
  write(a, global(), 64, 4);
  checker.newLaunch();
  ThreadId b = block(0, 32);
  read(b + 1, global(), 64, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(CheckerTest, WithoutRacesNothingIsReported) {
  checker.enableRaces(false);
  ThreadId t = block(0, 64);
  write(t, shared(), 0, 4);
  write(t + 33, shared(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(CheckerTest, ManyBlocks) {
  for (uint32_t i = 0; i < 20000; ++i) {
    ThreadId t = block(i, 128);
    checker.newChannel(t, "bulk group");
    read(t, global(), 0, 16);
    barrier(t, 128);
    write(t + 5, global(), 1024 + 2 * i, 2);
    checker.endBlock(t);
  }
  EXPECT_EQ(sink.reports().size(), 0u);
}

//===----------------------------------------------------------------------===//
// Lanes together
//===----------------------------------------------------------------------===//

struct Lanes : CheckerTest {
  std::array<uint64_t, 32> stride(uint64_t start, uint64_t step) {
    std::array<uint64_t, 32> offsets;
    for (unsigned i = 0; i < 32; ++i) {
      offsets[i] = start + i * step;
    }
    return offsets;
  }
  void access(Access kind, ThreadId first, Region &region, const std::array<uint64_t, 32> &offsets,
              unsigned bytes, uint32_t mask = ~0u) {
    checker.access(kind, WarpLanes{first, mask}, region, offsets.data(), bytes, {},
                   instruction({kind == Access::Write ? "st" : "ld"}));
  }
};

TEST_F(Lanes, EachItsOwn) {
  ThreadId t = block(0, 64);
  for (unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    access(Access::Write, t, shared(), stride(0, bytes), bytes);
    access(Access::Read, t, shared(), stride(0, bytes), bytes);
    barrier(t, 64);
  }
  EXPECT_EQ(sink.reports().size(), 0u);
  access(Access::Write, t, shared(), stride(0, 4), 4);
  access(Access::Read, t, shared(), stride(4, 4), 4, ~0u >> 1); // each its neighbour's
  ASSERT_EQ(sink.reports().size(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.thread[0], 1u);
  EXPECT_EQ(sink.reports()[0].parties[1].thread.thread[0], 0u);
}

TEST_F(Lanes, AllTheSame) {
  ThreadId t = block(0, 64);
  for (unsigned i = 0; i < 100; ++i) {
    access(Access::Read, t, shared(), stride(32, 0), 4);
    access(Access::Read, t + 32, shared(), stride(32, 0), 4);
  }
  SyncPoint point;
  checker.release(WarpLanes{t, ~0u}, point);
  checker.release(WarpLanes{t + 32, ~0u & ~8u}, point); // all but one
  checker.acquire(t, point);
  write(t, shared(), 32, 4);
  ASSERT_EQ(races(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.thread[0], 35u);
}

TEST_F(Lanes, WritersOfOneExecutionDoNotRace) {
  ThreadId t = block(0, 64);
  const ptx::Instruction *store = instruction({"st"});
  auto run = [&](const std::array<uint64_t, 32> &offsets, uint32_t mask) {
    checker.access(Access::Write, WarpLanes{t, mask}, shared(), offsets.data(), 4, {}, store);
  };
  run(stride(0, 0), ~0u);
  barrier(t, 64);
  std::array<uint64_t, 32> twice = stride(0, 4);
  std::copy(twice.begin(), twice.begin() + 16, twice.begin() + 16);
  run(twice, ~0u); // lanes 16 to 31 where lanes 0 to 15 write
  EXPECT_EQ(sink.reports().size(), 0u);
  run(stride(4, 4), ~0u); // the next time round
  EXPECT_GT(races(), 0u);
}

TEST_F(Lanes, AnotherLanesReadIsNotHiddenByTheOwnWrite) {
  ThreadId t = block(0, 64);
  for (unsigned bytes : {4u, 32u}) {
    read(t + 1, shared(), 0, 4);
    access(Access::Write, t, shared(), stride(0, 0), bytes, 6); // lanes 1 and 2
    EXPECT_EQ(sink.reports().size(), 1u);
    sink.clear();
    barrier(t, 64);
  }
}

TEST_F(Lanes, LanesThatKnowDifferentThings) {
  ThreadId t = block(0, 64);
  for (unsigned i = 0; i < 32; ++i) {
    write(t + 32 + i, shared(), 4 * i, 4);
    pass(t + 32 + i, t + i);
  }
  access(Access::Read, t, shared(), stride(0, 4), 4);
  EXPECT_EQ(sink.reports().size(), 0u);
  access(Access::Read, t, shared(), stride(4, 4), 4, 1); // lane 0 what lane 1 may
  EXPECT_EQ(races(), 1u);
}

//===----------------------------------------------------------------------===//
// Asynchronous work and proxies
//===----------------------------------------------------------------------===//

struct AsyncTest : CheckerTest {
  ThreadId t = block(0, 64);
  AgentId channel = checker.newChannel(t, "mbarrier");
};

TEST_F(AsyncTest, CopyThenReadWithoutWaiting) {
  asyncWrite(issue(t, channel, 1), shared(), 0, 256);
  read(t, shared(), 16, 16); // even by the thread that issued it
  ASSERT_EQ(races(), 1u);
  const Report &report = sink.reports()[0];
  EXPECT_EQ(report.parties[0].what, "write by cp.async.bulk.tensor.2d");
  EXPECT_TRUE(report.parties[0].asynchronous);
  EXPECT_NE(format(report, {}).find("mbarrier"), std::string::npos);
}

TEST_F(AsyncTest, CopyThenReadAfterItsPhase) {
  AsyncOp op = issue(t, channel, 1);
  SyncPoint phase;
  asyncWrite(op, shared(), 0, 256);
  checker.complete(phase, channel, 1);
  checker.acquire(t + 40, phase);
  read(t + 40, shared(), 0, 16);
  EXPECT_EQ(sink.reports().size(), 0u);
  asyncWrite(issue(t, channel, 2), shared(), 256, 256);
  read(t + 40, shared(), 256, 16); // the next phase
  EXPECT_EQ(races(), 1u);
}

TEST_F(AsyncTest, StageOverwrittenTooEarly) {
  read(t + 40, shared(), 0, 16);
  asyncWrite(issue(t, channel, 1), shared(), 0, 256);
  EXPECT_EQ(races(), 1u);
}

TEST_F(AsyncTest, ReadsBeforeAnAsynchronousWriteNeedNoFenceUnlessStrict) {
  for (bool strict : {false, true}) {
    checker.strictProxyReads = strict;
    read(t + 40, shared(), 0, 16);
    pass(t + 40, t);
    asyncWrite(issue(t, channel, 1), shared(), 0, 256);
    EXPECT_EQ(races(), 0u);
    EXPECT_EQ(missingFences(), strict ? 1u : 0u);
    checker.newLaunch();
    t = block(0, 64);
    channel = checker.newChannel(t, "mbarrier");
  }
}

TEST_F(AsyncTest, GenericWriteBeforeAnAsynchronousReadNeedsAFence) {
  write(t + 40, shared(), 0, 16);
  pass(t + 40, t);
  asyncRead(issue(t, channel, 1), shared(), 0, 256);
  EXPECT_EQ(races(), 0u);
  ASSERT_EQ(missingFences(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.thread[0], 40u);
  EXPECT_NE(format(sink.reports()[0], {}).find("fence.proxy.async in thread (40,0,0)"),
            std::string::npos);
}

TEST_F(AsyncTest, TheFenceMayBeAnywhereBetween) {
  write(t + 40, shared(), 0, 16);
  checker.proxyFence(t + 40); // by the writer
  pass(t + 40, t);
  asyncRead(issue(t, channel, 1), shared(), 0, 16);
  write(t + 40, shared(), 16, 16);
  pass(t + 40, t);
  checker.proxyFence(t); // by the reader
  asyncRead(issue(t, channel, 1), shared(), 16, 16);
  write(t + 40, shared(), 32, 16);
  pass(t + 40, t + 7);
  checker.proxyFence(t + 7); // on the way
  pass(t + 7, t);
  asyncRead(issue(t, channel, 1), shared(), 32, 16);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(AsyncTest, AFenceBeforeTheWriteIsNone) {
  checker.proxyFence(t);
  write(t, shared(), 0, 16);
  asyncRead(issue(t, channel, 1), shared(), 0, 16);
  EXPECT_EQ(races(), 0u);
  EXPECT_EQ(missingFences(), 1u);
}

TEST_F(AsyncTest, AFenceWithoutOrderIsNone) {
  write(t + 40, shared(), 0, 16);
  checker.proxyFence(t + 40);
  asyncRead(issue(t, channel, 1), shared(), 0, 16);
  EXPECT_EQ(races(), 1u);
  EXPECT_EQ(missingFences(), 0u);
}

TEST_F(AsyncTest, CompletionNeedsNoFence) {
  asyncWrite(issue(t, channel, 1), shared(), 0, 64);
  checker.complete(t, channel, 1);
  asyncRead(issue(t, checker.newChannel(t, "wgmma group"), 1), shared(), 0, 64);
  write(t, shared(), 64, 16);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(AsyncTest, SourceOverwrittenWhileItIsRead) {
  AsyncOp op = issue(t, channel, 1);
  write(t, shared(), 0, 16); // performed first, but the copy is on its way
  asyncRead(op, shared(), 0, 64);
  ASSERT_EQ(races(), 1u);
  write(t, shared(), 32, 16); // the other way round
  EXPECT_EQ(races(), 2u);
  checker.complete(t, channel, 1);
  write(t, shared(), 48, 16);
  EXPECT_EQ(races(), 2u);
}

TEST_F(AsyncTest, CpAsyncWritesThroughTheGenericProxy) {
  AgentId copies = checker.newChannel(t, "cp.async group");
  asyncWrite(issue(t, copies, 1), shared(), 0, 16, Proxy::Generic);
  read(t, shared(), 0, 16);
  EXPECT_EQ(races(), 1u);
  asyncWrite(issue(t, copies, 2), shared(), 16, 16, Proxy::Generic);
  checker.complete(t, copies, 2);
  read(t, shared(), 16, 16);
  EXPECT_EQ(races(), 1u);
  asyncRead(issue(t, channel, 1), shared(), 16, 16);
  EXPECT_EQ(missingFences(), 1u);
  checker.proxyFence(t);
  asyncRead(issue(t, channel, 1), shared(), 16, 16);
  EXPECT_EQ(missingFences(), 1u);
}

TEST_F(AsyncTest, TwoCopiesIntoTheSameBytes) {
  AsyncOp first = issue(t, channel, 1), second = issue(t, channel, 1);
  asyncWrite(first, shared(), 0, 64);
  asyncWrite(second, shared(), 64, 64);
  EXPECT_EQ(races(), 0u);
  asyncWrite(issue(t, channel, 1), shared(), 48, 32);
  EXPECT_GT(races(), 0u);
}

TEST_F(AsyncTest, ReadsByManyWarpsBeforeARefill) {
  std::vector<AgentId> channels;
  for (uint32_t warp = 0; warp < 2; ++warp) {
    channels.push_back(checker.newChannel(t + 32 * warp, "wgmma group"));
    AsyncOp op = checker.issue(WarpLanes{t + 32 * warp, ~0u}, channels[warp], 1,
                               instruction({"wgmma", "mma_async"}));
    asyncRead(op, shared(), 0, 1024);
  }
  SyncPoint empty;
  checker.complete(WarpLanes{t, ~0u}, channels[0], 1);
  checker.release(t, empty);
  checker.complete(WarpLanes{t + 32, ~0u}, channels[1], 0); // has not waited
  checker.release(t + 32, empty);
  checker.acquire(t, empty);
  asyncWrite(issue(t, channel, 1), shared(), 0, 1024);
  ASSERT_EQ(sink.reports().size(), 1u);
  EXPECT_EQ(sink.reports()[0].parties[0].thread.thread[0], 32u);
  EXPECT_EQ(sink.reports()[0].count, 64u);
}

TEST_F(AsyncTest, ManyChannels) {
  std::set<AgentId> all;
  for (int i = 0; i < 5000; ++i) {
    AgentId agent = checker.newChannel(t + 3, "mbarrier");
    EXPECT_TRUE(all.insert(agent).second);
    checker.complete(t, agent, 7);
    EXPECT_EQ(checker.known(t, agent), 7u);
    EXPECT_EQ(checker.party(agent, nullptr, Access::Read).thread.thread[0], 3u);
  }
}

} // namespace
