// bar.sync, bar.arrive, bar.red, barrier.cta, bar.warp.sync, barrier.cluster.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// Thread t writes 7 t to shared memory, `barrier` follows, then it reads what thread t ^ 32 wrote.
std::string exchange(const std::string &barrier) {
  return R"(
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    mov.u32 %r2, s;
    add.u32 %r3, %r2, %r1;
    mul.lo.u32 %r4, %r0, 7;
    st.shared.b32 [%r3], %r4;
    )" + barrier +
         R"(
    xor.b32 %r5, %r1, 128;
    add.u32 %r5, %r2, %r5;
    ld.shared.b32 %r6, [%r5];
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r6;)";
}

TestKernel blockOf(unsigned threads, const std::string &body) {
  TestKernel kernel(body);
  kernel.moduleText = ".shared .align 16 .b8 s[4096];";
  kernel.block = {threads, 1, 1};
  kernel.output("out", threads * 4);
  return kernel;
}

void expectExchange(const std::string &barrier, unsigned threads) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    TestKernel kernel = blockOf(threads, exchange(barrier));
    kernel.options.randomSchedule = seed != 0;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "");
    std::vector<uint32_t> out = kernel.read<uint32_t>("out");
    for (uint32_t t = 0; t < threads; ++t) {
      EXPECT_EQ(out[t], 7 * (t ^ 32)) << barrier;
    }
  }
}

TEST(NamedBarriers, AllFormsOrderTheThreadsThatWait) {
  expectExchange("bar.sync 0;", 64);
  expectExchange("bar.cta.sync 3;", 128);
  expectExchange("barrier.cta.sync.aligned 15, 64;", 64);
  expectExchange("barrier.sync 2, 128;", 128);
  expectExchange("mov.b32 %r10, 9; mov.b32 %r11, 64; bar.sync %r10, %r11;", 64);
}

TEST(NamedBarriers, PairsOfWarpsUseBarriersOfTheirOwn) {
  expectExchange("shr.u32 %r10, %r0, 6; add.u32 %r10, %r10, 1; bar.sync %r10, 64;", 256);
}

TEST(NamedBarriers, WithoutOneThereIsARace) {
  TestKernel kernel = blockOf(64, exchange(""));
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race) || kernel.reported(Kind::Uninitialised));
}

TEST(NamedBarriers, ArriveDoesNotWaitAndOrdersThoseWhoDo) {
  // Warp 0 produces, warps 1 and 2 consume; the fourth takes no part.
  TestKernel kernel = blockOf(128, R"(
    mov.u32 %r0, %tid.x;
    shr.u32 %r1, %r0, 5;
    setp.eq.u32 %p0, %r1, 0;
    setp.eq.u32 %p1, %r1, 3;
    @%p1 ret;
    @!%p0 bra CONSUME;
    mov.b32 %r2, 42;
    st.shared.b32 [s], %r2;
    bar.arrive 1, 96;
    ret;
  CONSUME:
    bar.sync 1, 96;
    ld.shared.b32 %r3, [s];
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r3;)");
  kernel.run();
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out")[33], 42u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[95], 42u);
}

TEST(NamedBarriers, ReductionsOverPredicates) {
  TestKernel kernel = blockOf(96, R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 37;
    bar.red.popc.u32 %r1, 0, %p0;
    bar.red.and.pred %p1, 1, 96, %p0;
    barrier.cta.red.or.aligned.pred %p2, 2, !%p0;
    selp.b32 %r2, 1000, 0, %p1;
    selp.b32 %r3, 2000, 0, %p2;
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r1;)");
  kernel.run();
  EXPECT_EQ(kernel.describe(), "");
  for (uint32_t value : kernel.read<uint32_t>("out")) {
    EXPECT_EQ(value, 2037u);
  }
}

TEST(NamedBarriers, ThreadsThatHaveExitedAreNotWaitedFor) {
  TestKernel kernel = blockOf(96, R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 40;
    @%p0 ret;
    bar.sync 0;
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r0;)");
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out")[95], 95u);
}

TEST(NamedBarriers, ThreadsOfADivergentWarpArriveOneByOne) {
  TestKernel kernel = blockOf(32, R"(
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 10;
    @%p0 bra FEW;
    barrier.sync 0;
    mov.b32 %r1, 1;
    bra DONE;
  FEW:
    barrier.sync 0;
    mov.b32 %r1, 2;
  DONE:
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r1;)");
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out")[9], 2u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[10], 1u);
}

TEST(NamedBarriers, PartialWarpsCountWhole) {
  TestKernel kernel = blockOf(40, "bar.sync 0; bar.sync 1, 64; st.global.b32 [%buf0], 1;");
  EXPECT_TRUE(kernel.run());
  EXPECT_FALSE(kernel.reported(Kind::Barrier));
  EXPECT_FALSE(kernel.reported(Kind::Deadlock));
}

void expectMisuse(const std::string &body, const std::string &words, Kind kind = Kind::Barrier) {
  TestKernel kernel = blockOf(96, "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5;" + body);
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(kind, words)) << kernel.describe();
}

TEST(NamedBarriers, MisuseIsReported) {
  expectMisuse("bar.sync 0, 48;", "multiple of 32");
  expectMisuse("bar.sync 0, 0;", "multiple of 32");
  expectMisuse("mov.b32 %r2, 16; bar.sync %r2;", "16 is none of them");
  expectMisuse("setp.eq.u32 %p0, %r1, 0; @%p0 bar.sync 1, 64; @!%p0 bar.sync 1, 96;", "expects 64");
  expectMisuse("bar.arrive 1, 96; setp.eq.u32 %p0, %r1, 0; @%p0 bar.arrive 1, 96;"
               "bar.arrive 1, 96;",
               "again before it is complete");
  expectMisuse("setp.eq.u32 %p0, %r1, 0; @%p0 bar.sync 1, 64; @%p0 ret;"
               "bar.red.popc.u32 %r3, 1, 64, %p0;",
               "bar.red meets");
  expectMisuse("setp.lt.u32 %p0, %r0, 5; @%p0 bar.sync 0; bar.sync 1;", "of the warp",
               Kind::Deadlock);
}

TEST(NamedBarriers, DeadlockSaysWhoHasArrived) {
  TestKernel kernel = blockOf(96, R"(
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p0, %r0, 64;
    @%p0 ret;
    bar.sync 4, 96;)");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, "barrier 4: 64 of 96 threads have arrived, of warps "
                                              "0, 1"))
      << kernel.describe();
}

TEST(WarpBarrier, OrdersItsLanes) {
  TestKernel kernel = blockOf(32, R"(
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra JOIN;
    st.shared.b32 [s], 5;
  JOIN:
    bar.warp.sync 0xffffffff;
    ld.shared.b32 %r1, [s];
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r1;)");
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out")[31], 5u);
  kernel.body.replace(kernel.body.find("bar.warp.sync 0xffffffff;"), 25, "");
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race));
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// Every block writes its rank + 1 into shared memory of its neighbour, which stores it.
TestKernel neighbours(const std::string &barrier, const std::string &before = "") {
  TestKernel kernel(R"(
    mov.u32 %r0, %cluster_ctarank;
    xor.b32 %r1, %r0, 1;
    mov.u64 %rd0, s;
    cvt.u32.u64 %r2, %rd0;
    mapa.shared::cluster.u32 %r3, %r2, %r1;
    add.u32 %r4, %r0, 1;
    setp.eq.u32 %p0, %r0, %r0;
    barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    st.shared::cluster.b32 [%r3], %r4;
    )" + before + barrier +
                    R"(
    ld.shared.b32 %r5, [s];
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd1, %buf0, %rd1;
    st.global.b32 [%rd1], %r5;
    barrier.cluster.arrive; barrier.cluster.wait;)");
  kernel.moduleText = ".shared .align 16 .b8 s[16];";
  kernel.grid = {2, 1, 1};
  kernel.cluster = {2, 1, 1};
  kernel.block = {1, 1, 1};
  kernel.output("out", 8);
  return kernel;
}

TEST(ClusterBarrier, OrdersBlocks) {
  for (const char *barrier :
       {"barrier.cluster.arrive; barrier.cluster.wait;",
        "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;",
        "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait;"}) {
    TestKernel kernel = neighbours(barrier);
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "") << barrier;
    EXPECT_EQ(kernel.read<uint32_t>("out"), (std::vector<uint32_t>{2, 1}));
  }
}

TEST(ClusterBarrier, RelaxedDoesNotOrder) {
  TestKernel kernel = neighbours("barrier.cluster.arrive.relaxed; barrier.cluster.wait;");
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
}

TEST(ClusterBarrier, MisuseIsReported) {
  TestKernel twice = neighbours("barrier.cluster.arrive; barrier.cluster.arrive;");
  EXPECT_FALSE(twice.run());
  EXPECT_TRUE(twice.reported(Kind::Barrier, "without having waited"));
  TestKernel early = neighbours("barrier.cluster.wait;");
  EXPECT_FALSE(early.run());
  EXPECT_TRUE(early.reported(Kind::Barrier, "without having arrived"));
}

TEST(ClusterBarrier, WaitsForAllThatRun) {
  TestKernel kernel = neighbours("setp.eq.u32 %p1, %r0, 0; @%p1 bra SKIP; barrier.cluster.arrive;"
                                 "barrier.cluster.wait; SKIP: bar.sync 0, 32;");
  kernel.block = {32, 1, 1};
  kernel.run(); // block 0 meets block 1 at its last barrier: not a deadlock
  EXPECT_FALSE(kernel.reported(Kind::Deadlock)) << kernel.describe();
}

} // namespace
} // namespace tile_emu
