// How far strong operations, fences and mbarriers reach: PTX ISA, "Scope", "Morally Strong
// Operations". Two blocks of one cluster, and one of another.
#include "CheckerWorld.h"
#include "test/unit/emulator/TestKernel.h"
#include "test/unit/emulator/Text.h"

using namespace tile_emu;

namespace {

struct ScopesTest : testing::Test, CheckerWorld {
  ThreadId a = block(0, 64, 0), peer = block(1, 32, 0), stranger = block(2, 32, 1);
  ThreadId sibling = a + 40; ///< another warp of the same block

  void atomic(ThreadId thread, AtomicKind kind, Scope scope, unsigned width = 4,
              uint64_t offset = 1024, bool acquires = false, bool releases = false) {
    checker.atomic(thread, {&global(), offset, width}, acquires, releases,
                   instruction({"atom", "global"}), kind, scope, width);
  }
  /// Does `to` see what `from` wrote before a flag of these scopes?
  bool seen(ThreadId from, Scope release, ThreadId to, Scope acquire) {
    uint64_t data = next += 16, flag = next += 16;
    size_t before = races();
    write(from, global(), data, 4);
    atomic(from, AtomicKind::Store, release, 4, flag, false, true);
    atomic(to, AtomicKind::Load, acquire, 4, flag, true, false);
    size_t flags = races();
    EXPECT_EQ(flags != before, !reaches(from, std::min(release, acquire), to));
    read(to, global(), data, 4);
    return races() == flags;
  }
  bool reaches(ThreadId from, Scope scope, ThreadId to) const {
    return to == sibling || scope == Scope::Gpu || (scope == Scope::Cluster && to == peer) ||
           from == to;
  }
  uint64_t next = 4096;
};

TEST_F(ScopesTest, AFlagReachesAsFarAsBothScopesDo) {
  for (Scope release : {Scope::Cta, Scope::Cluster, Scope::Gpu}) {
    for (Scope acquire : {Scope::Cta, Scope::Cluster, Scope::Gpu}) {
      for (ThreadId to : {sibling, peer, stranger}) {
        EXPECT_EQ(seen(a, release, to, acquire), reaches(a, std::min(release, acquire), to))
            << int(release) << " " << int(acquire) << " " << to;
      }
    }
  }
}

TEST_F(ScopesTest, AtomicsOfTwoWidthsRace) {
  atomic(a, AtomicKind::ReadModifyWrite, Scope::Gpu, 4);
  atomic(stranger, AtomicKind::ReadModifyWrite, Scope::Gpu, 4);
  EXPECT_EQ(races(), 0u);
  atomic(peer, AtomicKind::ReadModifyWrite, Scope::Gpu, 8);
  EXPECT_GT(races(), 0u);
}

TEST_F(ScopesTest, AFenceAroundRelaxedAtomicsHasAScopeToo) {
  for (Scope scope : {Scope::Cta, Scope::Cluster, Scope::Gpu}) {
    for (ThreadId to : {sibling, peer, stranger}) {
      uint64_t data = next += 16, flag = next += 16;
      size_t before = races();
      write(a, global(), data, 4);
      checker.fence(a, scope);
      atomic(a, AtomicKind::ReadModifyWrite, Scope::Gpu, 4, flag);
      atomic(to, AtomicKind::ReadModifyWrite, Scope::Gpu, 4, flag);
      checker.fence(to, scope);
      read(to, global(), data, 4);
      EXPECT_EQ(races() == before, reaches(a, scope, to)) << int(scope) << " " << to;
    }
  }
}

TEST_F(ScopesTest, AFenceThatOnlyAcquiresDoesNotReleaseNorTheOtherWayRound) {
  using Fence = Checker::Fence;
  for (Fence first : {Fence::Both, Fence::Acquire, Fence::Release}) {
    for (Fence second : {Fence::Both, Fence::Acquire, Fence::Release}) {
      uint64_t data = next += 16, flag = next += 16;
      size_t before = races();
      write(a, global(), data, 4);
      checker.fence(WarpLanes::one(a), Scope::Gpu, first);
      atomic(a, AtomicKind::ReadModifyWrite, Scope::Gpu, 4, flag);
      atomic(stranger, AtomicKind::ReadModifyWrite, Scope::Gpu, 4, flag);
      checker.fence(WarpLanes::one(stranger), Scope::Gpu, second);
      read(stranger, global(), data, 4);
      EXPECT_EQ(races() == before, first != Fence::Acquire && second != Fence::Release)
          << int(first) << " " << int(second);
    }
  }
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// Block 1 stores into block 0 and arrives there; block 0 waits and reads.
TestKernel remoteArrival(const std::string &arrive, const std::string &wait) {
  TestKernel kernel(R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, b;
    mov.u32 %r5, data;
    mov.b32 %r4, 0;
    setp.eq.u32 %p0, %r1, 0;
    @%p0 mbarrier.init.shared::cta.b64 [b], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    @%p0 bra WAIT;
    mapa.shared::cluster.u32 %r3, %r2, %r4;
    mapa.shared::cluster.u32 %r6, %r5, %r4;
    st.shared::cluster.b32 [%r6], 7;
    )" + arrive + R"( _, [%r3];
    bra DONE;
  WAIT:
    )" + wait + R"( %p2, [b], 0;
    @!%p2 bra WAIT;
    ld.shared.b32 %r7, [data];
    st.global.b32 [%buf0], %r7;
  DONE:
    barrier.cluster.arrive;
    barrier.cluster.wait;)");
  kernel.moduleText = ".shared .align 8 .b64 b;\n.shared .b32 data;";
  kernel.grid = kernel.cluster = {2, 1, 1};
  kernel.block = {1, 1, 1};
  kernel.output("out", 4);
  return kernel;
}

TEST(MBarrierScopes, ArrivalsOfPeersReachWaitsInTheClustersScope) {
  const char *arrive = "mbarrier.arrive", *wait = "mbarrier.try_wait.parity";
  const char *space = ".shared::cluster.b64", *own = ".shared::cta.b64";
  for (const char *release : {"", ".release.cta", ".release.cluster"}) {
    for (const char *acquire : {"", ".acquire.cta", ".acquire.cluster"}) {
      bool reaches =
          std::string(release) == ".release.cluster" && std::string(acquire) == ".acquire.cluster";
      TestKernel kernel =
          remoteArrival(joined({arrive, release, space}), joined({wait, acquire, own}));
      kernel.options.strictWaits = true;
      EXPECT_TRUE(kernel.run());
      EXPECT_EQ(kernel.reported(Report::Kind::Race), !reaches) << release << acquire;
      kernel.options.strictWaits = false; // what many programs rely on
      EXPECT_TRUE(kernel.run());
      EXPECT_EQ(kernel.describe(), "") << release << acquire;
    }
  }
}

} // namespace
