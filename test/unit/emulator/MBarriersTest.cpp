// mbarrier objects: phases, counts, bytes, waits, and what is reported of their misuse.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// One thread initialises the mbarrier `b` for `count` arrivals; then all run `body`.
TestKernel withBarrier(unsigned threads, unsigned count, const std::string &body) {
  TestKernel kernel("mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;"
                    "mul.wide.u32 %rd0, %r0, 4; add.u64 %rd0, %buf0, %rd0;"
                    "@%p0 mbarrier.init.shared::cta.b64 [b], " +
                    std::to_string(count) + "; bar.sync 0;" + body);
  kernel.moduleText = ".shared .align 8 .b8 b[8]; .shared .align 16 .b8 s[1024];";
  kernel.block = {threads, 1, 1};
  kernel.output("out", threads * 4);
  return kernel;
}

void expectClean(TestKernel &kernel) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    kernel.options.randomSchedule = seed != 0;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "");
  }
}

void expectFault(unsigned threads, unsigned count, const std::string &body, Kind kind,
                 const std::string &words) {
  TestKernel kernel = withBarrier(threads, count, body);
  kernel.run();
  EXPECT_TRUE(kernel.reported(kind, words)) << kernel.describe();
}

TEST(MBarriers, ArrivalsOrderThoseWhoWait) {
  TestKernel kernel = withBarrier(64, 32, R"(
    setp.ge.u32 %p1, %r0, 32;
    @%p1 bra CONSUME;
    shl.b32 %r1, %r0, 2;
    mov.u32 %r2, s;
    add.u32 %r2, %r2, %r1;
    st.shared.b32 [%r2], %r0;
    mbarrier.arrive.shared::cta.b64 _, [b];
    ret;
  CONSUME:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [b], 0;
    @!%p2 bra CONSUME;
    mov.u32 %r2, s;
    sub.u32 %r3, %r0, 32;
    shl.b32 %r3, %r3, 2;
    add.u32 %r2, %r2, %r3;
    ld.shared.b32 %r4, [%r2];
    st.global.b32 [%rd0], %r4;)");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[63], 31u);
  kernel.body.replace(kernel.body.find("@!%p2 bra CONSUME;"), 18, "");
  kernel.options.seed = 3;
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race) || kernel.reported(Kind::Uninitialised));
}

TEST(MBarriers, RelaxedArrivalsDoNotOrder) {
  TestKernel kernel = withBarrier(64, 1, R"(
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra CONSUME;
    st.shared.b32 [s], 1;
    mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [b];
    ret;
  CONSUME:
    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [b], 0;
    @!%p2 bra CONSUME;
    ld.shared.b32 %r4, [s];)");
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
}

TEST(MBarriers, StatesTellPhases) {
  TestKernel kernel = withBarrier(1, 2, R"(
    mbarrier.arrive.shared.b64 %rd1, [b];
    mbarrier.test_wait.shared.b64 %p1, [b], %rd1;
    mbarrier.arrive.shared.b64 %rd2, [b];
    mbarrier.test_wait.shared.b64 %p2, [b], %rd1;
    mbarrier.pending_count.b64 %r1, %rd1;
    mbarrier.pending_count.b64 %r2, %rd2;
    mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd3, [b], 1;
    mbarrier.try_wait.shared.b64 %p3, [b], %rd2, 100;
    selp.b32 %r3, 100, 0, %p1;
    selp.b32 %r4, 200, 0, %p2;
    selp.b32 %r5, 400, 0, %p3;
    mad.lo.u32 %r1, %r1, 10, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    add.u32 %r1, %r1, %r5;
    st.global.b32 [%rd0], %r1;
    mbarrier.inval.shared.b64 [b];
    st.shared.b64 [b], 0;)");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[0], 621u);
}

TEST(MBarriers, PhasesAlternate) {
  // Two warps hand a value back and forth over two mbarriers.
  TestKernel kernel = withBarrier(64, 1, R"(
    @%p0 mbarrier.init.shared::cta.b64 [s+512], 1;
    bar.sync 0;
    mov.b32 %r1, 0;
    mov.b32 %r2, 0;
    and.b32 %r3, %r0, 31;
    setp.ne.u32 %p6, %r3, 0;
    @%p6 ret;
    setp.ge.u32 %p1, %r0, 32;
    @%p1 bra SECOND;
  FIRST:
    ld.shared.b32 %r5, [s];
    add.u32 %r5, %r5, 1;
    st.shared.b32 [s], %r5;
    mbarrier.arrive.shared.b64 _, [b];
  WAIT1:
    mbarrier.try_wait.parity.shared.b64 %p2, [s+512], %r2;
    @!%p2 bra WAIT1;
    xor.b32 %r2, %r2, 1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 10;
    @%p3 bra FIRST;
    ld.shared.b32 %r5, [s];
    st.global.b32 [%rd0], %r5;
    ret;
  SECOND:
    mbarrier.test_wait.parity.shared.b64 %p2, [b], %r2;
    @!%p2 bra SECOND;
    xor.b32 %r2, %r2, 1;
    ld.shared.b32 %r5, [s];
    mul.lo.u32 %r5, %r5, 2;
    st.shared.b32 [s], %r5;
    mbarrier.arrive.shared.b64 _, [s+512];
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 10;
    @%p3 bra SECOND;)");
  kernel.body.replace(kernel.body.find("bar.sync 0;\n    mov.b32 %r1"), 11,
                      "@%p0 st.shared.b32 [s], 0; bar.sync 0;");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[0], 2046u);
}

TEST(MBarriers, BytesHoldThePhaseOpen) {
  TestKernel kernel = withBarrier(1, 1, R"(
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 32;
    mbarrier.arrive.expect_tx.shared.b64 %rd1, [b], 16;
    mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;
    mbarrier.complete_tx.shared::cta.b64 [b], 40;
    mbarrier.test_wait.parity.shared.b64 %p2, [b], 0;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 8;
    mbarrier.test_wait.parity.shared.b64 %p3, [b], 0;
    selp.b32 %r1, 1, 0, %p1;
    selp.b32 %r2, 2, 0, %p2;
    selp.b32 %r3, 4, 0, %p3;
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    st.global.b32 [%rd0], %r1;)");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[0], 4u);
}

TEST(MBarriers, DroppedArrivalsAreNotExpectedAgain) {
  TestKernel kernel = withBarrier(1, 3, R"(
    mbarrier.arrive_drop.shared.b64 _, [b], 2;
    mbarrier.arrive.shared.b64 _, [b];
    mbarrier.arrive.shared.b64 _, [b];
    mbarrier.test_wait.parity.shared.b64 %p1, [b], 1;
    selp.b32 %r1, 1, 0, %p1;
    st.global.b32 [%rd0], %r1;)");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[0], 1u);
}

TEST(MBarriers, PeersArrive) {
  TestKernel kernel = withBarrier(1, 2, R"(
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, b;
    mov.b32 %r4, 0;
    mapa.shared::cluster.u32 %r3, %r2, %r4;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
  WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [b], 0;
    @!%p2 bra WAIT;
  DONE:
    barrier.cluster.arrive;
    barrier.cluster.wait;)");
  kernel.grid = kernel.cluster = {2, 1, 1};
  expectClean(kernel);
  kernel.body.replace(kernel.body.find("fence.mbarrier_init.release.cluster;"), 36, "");
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
}

/// Block 1 of a cluster sees whether `x` has been arrived at when `y` has, both by block 0: in how many of 50 random schedules.
unsigned timesThatXIsFirst(const std::string &arrivals) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, x;
    mov.u32 %r3, y;
    mov.b32 %r4, 1;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared::cta.b64 [x], 1;
    @%p0 mbarrier.init.shared::cta.b64 [y], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r5, %r2, %r4;
    mapa.shared::cluster.u32 %r6, %r3, %r4;
    setp.eq.u32 %p1, %r1, 1;
    @%p1 bra WAIT;
    )" + arrivals + R"(
    bra DONE;
  WAIT:
    mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p2, [y], 0;
    @!%p2 bra WAIT;
    fence.acquire.sync_restrict::shared::cluster.cluster;
    mbarrier.test_wait.parity.relaxed.cluster.shared::cta.b64 %p3, [x], 0;
    selp.b32 %r7, 1, 0, %p3;
    @%p0 st.global.b32 [%buf0], %r7;
  DONE:
    barrier.cluster.arrive;
    barrier.cluster.wait;)");
  kernel.moduleText = ".shared .align 8 .b64 x;\n.shared .align 8 .b64 y;";
  kernel.grid = kernel.cluster = {2, 1, 1};
  kernel.block = {2, 1, 1};
  kernel.output("out", 4);
  unsigned count = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    kernel.options.randomSchedule = true;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "");
    count += kernel.read<uint32_t>("out")[0];
  }
  return count;
}

TEST(MBarriers, ArrivalsAtPeersAreOrderedByReleasesOnly) {
  const std::string arrive = "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, ";
  const std::string release = "fence.release.sync_restrict::shared::cta.cluster;\n";
  const std::string both = "selp.b32 %r8, %r5, %r6, %p0;\n" + arrive + "[%r8];\n"; // a lane each
  const std::string first = "@%p0 " + arrive + "[%r5];\n", second = "@%p0 " + arrive + "[%r6];\n";
  for (const std::string &unordered : {both, first + second}) {
    const unsigned times = timesThatXIsFirst(unordered);
    EXPECT_GT(times, 5u) << unordered;
    EXPECT_LT(times, 50u) << unordered;
  }
  EXPECT_EQ(timesThatXIsFirst(first + release + second), 50u);
  EXPECT_EQ(timesThatXIsFirst(first +
                              "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];"),
            50u);
}

TEST(MBarriers, CpAsyncArrives) {
  for (const char *form : {".noinc", ""}) {
    bool counts = *form != 0;
    std::vector<uint32_t> in(64);
    for (uint32_t i = 0; i < 64; ++i) {
      in[i] = 3 * i;
    }
    TestKernel kernel = withBarrier(
        64, counts ? 64 : 65,
        R"(
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd1, %buf1, %rd1;
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 2;
    add.u32 %r1, %r1, %r2;
    cp.async.ca.shared.global [%r1], [%rd1], 4;
    cp.async.mbarrier.arrive)" +
            std::string(form) +
            R"(.shared::cta.b64 [b];
    )" +
            (counts
                 ? ""
                 : "mbarrier.arrive.shared.b64 _, [b]; @%p0 mbarrier.arrive.shared.b64 _, [b];") +
            R"(
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p1, [b], 0;
    @!%p1 bra WAIT;
    xor.b32 %r2, %r2, 128;
    mov.u32 %r1, s;
    add.u32 %r1, %r1, %r2;
    ld.shared.b32 %r3, [%r1];
    st.global.b32 [%rd0], %r3;)");
    kernel.input("in", in);
    expectClean(kernel);
    EXPECT_EQ(kernel.read<uint32_t>("out")[1], 3 * 33u) << form;
  }
}

//===----------------------------------------------------------------------===//
// Misuse
//===----------------------------------------------------------------------===//

TEST(MBarriers, MisuseIsReported) {
  expectFault(1, 1, "mbarrier.arrive.shared.b64 _, [s];", Kind::Barrier, "no initialised mbarrier");
  expectFault(1, 1, "mbarrier.init.shared.b64 [b], 1;", Kind::Barrier, "without mbarrier.inval");
  expectFault(1, 1, "mbarrier.init.shared.b64 [s], 0;", Kind::Barrier, "count of an mbarrier");
  expectFault(1, 1, "mbarrier.init.shared.b64 [s+4], 1;", Kind::Misaligned, "");
  expectFault(1, 2, "mbarrier.arrive.shared.b64 _, [b], 3;", Kind::Barrier, "more arrivals");
  expectFault(1, 1, "mbarrier.arrive.noComplete.shared.b64 _, [b], 1;", Kind::Barrier,
              ".noComplete is the last");
  expectFault(1, 1, "mbarrier.expect_tx.shared.b64 [b], 1048576;", Kind::Barrier, "tx-count");
  expectFault(1, 1, "mbarrier.try_wait.parity.shared.b64 %p1, [b], 2;", Kind::Barrier, "0 or 1");
  expectFault(1, 1, "mov.b64 %rd1, 5; mbarrier.test_wait.shared.b64 %p1, [b], %rd1;", Kind::Barrier,
              "not returned by an arrival");
  expectFault(1, 1, "st.shared.b32 [b+4], 1;", Kind::Barrier, "ordinary write to an mbarrier");
}

TEST(MBarriers, UsesAreOrderedAfterTheInitialisation) {
  TestKernel kernel = withBarrier(64, 64, "mbarrier.arrive.shared.b64 _, [b];");
  kernel.body.replace(kernel.body.find("bar.sync 0;"), 11, "");
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
}

TEST(MBarriers, ParitiesThatMayMeanTwoPhasesAreReported) {
  // Thread 32 sees nothing of the two phases that pass before it waits for the first.
  expectFault(64, 1, R"(
    setp.lt.u32 %p1, %r0, 32;
    setp.eq.u32 %p2, %r0, 32;
    @%p0 mbarrier.arrive.shared.b64 _, [b];
    @%p0 mbarrier.arrive.shared.b64 _, [b];
    @%p1 bra DONE;
    @!%p2 bra DONE;
    mov.b32 %r2, 0;
  DELAY:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p4, %r2, 500;
    @%p4 bra DELAY;
    mbarrier.test_wait.parity.shared.b64 %p3, [b], 0;
  DONE:)",
              Kind::Barrier, "which have the same parity");
}

TEST(MBarriers, DeadlockSaysWhatIsMissing) {
  TestKernel kernel = withBarrier(64, 3, R"(
    setp.gt.u32 %p1, %r0, 1;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 %rd1, [b], 100;
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [b], 0;
    @!%p2 bra WAIT;)");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, "1 of 3 arrivals missing, 200 bytes pending"))
      << kernel.describe();
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, ", thread (1,0,0); phase 0: 1 arrival"));
}

TEST(MBarriers, EndlessPollsAreADeadlock) {
  TestKernel kernel = withBarrier(1, 1, R"(
  WAIT:
    mbarrier.test_wait.parity.shared.b64 %p2, [b], 0;
    @!%p2 bra WAIT;)");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, "1 of 1 arrival missing"));
}

} // namespace
} // namespace tile_emu
