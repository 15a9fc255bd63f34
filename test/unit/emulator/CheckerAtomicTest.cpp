// Atomic operations, fences, and the order that they make.
#include "CheckerWorld.h"

#include <gtest/gtest.h>

using namespace tile_emu;

namespace {

struct CheckerAtomicTest : testing::Test, CheckerWorld {
  ThreadId a = block(0, 32), b = block(1, 32), c = block(2, 32);
  void atomic(ThreadId thread, AtomicKind kind, bool acquires, bool releases,
              uint64_t offset = 1024) {
    checker.atomic(thread, {&global(), offset, 4}, acquires, releases,
                   instruction({"atom", "global"}), kind);
  }
};

TEST_F(CheckerAtomicTest, DoNotRaceAmongThemselves) {
  for (ThreadId t : {a, b, c, a + 1}) {
    atomic(t, AtomicKind::ReadModifyWrite, false, false);
    atomic(t, AtomicKind::Load, false, false);
  }
  EXPECT_EQ(sink.reports().size(), 0u);
  read(b, global(), 1024, 4);
  EXPECT_GT(races(), 0u);
}

TEST_F(CheckerAtomicTest, RaceWithPlainAccesses) {
  write(a, global(), 1024, 4);
  atomic(b, AtomicKind::ReadModifyWrite, false, false);
  EXPECT_EQ(races(), 1u);
  atomic(c, AtomicKind::ReadModifyWrite, false, false); // with the plain one as well
  EXPECT_EQ(races(), 2u);
}

TEST_F(CheckerAtomicTest, ReleaseAndAcquire) {
  write(a, global(), 0, 4);
  atomic(a, AtomicKind::ReadModifyWrite, false, true);
  atomic(b, AtomicKind::Load, true, false);
  read(b, global(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
  atomic(c, AtomicKind::Load, false, false); // does not acquire
  read(c, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerAtomicTest, AReleaseThatIsNone) {
  write(a, global(), 0, 4);
  atomic(a, AtomicKind::Store, false, false);
  atomic(b, AtomicKind::Load, true, false);
  read(b, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerAtomicTest, Fences) {
  write(a, global(), 0, 4);
  checker.fence(a);
  atomic(a, AtomicKind::ReadModifyWrite, false, false);
  atomic(b, AtomicKind::ReadModifyWrite, false, false);
  checker.fence(b);
  read(b, global(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
}

TEST_F(CheckerAtomicTest, FencesOnTheWrongSide) {
  checker.fence(a);
  write(a, global(), 0, 4); // after the fence
  atomic(a, AtomicKind::ReadModifyWrite, false, false);
  atomic(b, AtomicKind::ReadModifyWrite, true, false);
  read(b, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
  write(a, global(), 4, 4);
  checker.fence(a);
  atomic(a, AtomicKind::ReadModifyWrite, false, false);
  checker.fence(c);
  atomic(c, AtomicKind::ReadModifyWrite, false, false); // before nothing that acquires
  read(c, global(), 4, 4);
  EXPECT_EQ(races(), 2u);
}

TEST_F(CheckerAtomicTest, ReadModifyWritesContinueAReleaseAndStoresEndIt) {
  write(a, global(), 0, 4);
  atomic(a, AtomicKind::ReadModifyWrite, false, true);
  atomic(b, AtomicKind::ReadModifyWrite, false, false);
  atomic(c, AtomicKind::Load, true, false);
  read(c, global(), 0, 4);
  EXPECT_EQ(sink.reports().size(), 0u);
  atomic(b, AtomicKind::Store, false, false);
  atomic(b + 1, AtomicKind::Load, true, false);
  read(b + 1, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerAtomicTest, OtherLocationsSayNothing) {
  write(a, global(), 0, 4);
  atomic(a, AtomicKind::ReadModifyWrite, false, true, 1024);
  atomic(b, AtomicKind::ReadModifyWrite, true, false, 1028);
  read(b, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerAtomicTest, RelaxedWaitsAcquireAtTheNextFenceOfTheirScope) {
  write(a, global(), 0, 4);
  SyncPoint point;
  checker.release(a, point);
  checker.acquireRelaxed(WarpLanes::one(b), point, Scope::Cluster);
  checker.fence(b, Scope::Cta);
  read(b, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
  checker.acquireRelaxed(WarpLanes::one(c), point, Scope::Cluster);
  checker.fence(c, Scope::Gpu);
  read(c, global(), 0, 4);
  EXPECT_EQ(races(), 1u);
}

TEST_F(CheckerAtomicTest, RelaxedSignalsCoverTheFenceOnly) {
  write(a, global(), 0, 4);
  checker.fence(a);
  write(a, global(), 4, 4);
  SyncPoint point;
  checker.releaseRelaxed(WarpLanes::one(a), point);
  checker.acquire(b, point);
  read(b, global(), 0, 4);
  EXPECT_EQ(races(), 0u);
  read(b, global(), 4, 4);
  EXPECT_EQ(races(), 1u);
}

} // namespace
