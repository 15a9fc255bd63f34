// cp.async.bulk and cp.reduce.async.bulk without tensor maps, st.async, red.async.
#include "test/unit/emulator/TestKernel.h"
#include "test/unit/emulator/Text.h"

#include <numeric>

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// One warp; thread 0 (%p0) has initialised the mbarrier `b`, which expects it only. Shared memory
/// `s` has 2048 bytes; `in` holds 1, 2, ..., 512 as u32.
TestKernel bulk(const std::string &body,
                const std::string &initFence = "fence.mbarrier_init.release.cluster;") {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd1, %buf0, %rd0;
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 2;
    add.u32 %r2, %r1, %r2;
    @%p0 mbarrier.init.shared.b64 [b], 1;
    )" + initFence + "bar.sync 0;" +
                    body);
  kernel.moduleText = ".shared .align 16 .b8 b[64]; .shared .align 128 .b8 s[2048];";
  kernel.output("out", 2048);
  std::vector<uint32_t> in(512);
  std::iota(in.begin(), in.end(), 1);
  kernel.input("in", in);
  return kernel;
}

constexpr std::string_view kWait = R"(
  WAIT:
    mbarrier.try_wait.parity.shared.b64 %p1, [b], 0;
    @!%p1 bra WAIT;
)";
constexpr std::string_view kShow = "ld.shared.b32 %r3, [%r2]; st.global.b32 [%rd1], %r3;";
constexpr std::string_view kExpect = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [b], 128;";

void expectClean(TestKernel &kernel) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    kernel.options.randomSchedule = seed != 0;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "");
  }
}

void expectReport(TestKernel kernel, Kind kind, const std::string &words = "") {
  kernel.run();
  EXPECT_TRUE(kernel.reported(kind, words)) << kernel.describe();
}

TEST(BulkCopy, LoadsCompleteOnAnMBarrier) {
  for (const char *copy :
       {"@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%buf1+64], "
        "128, [b];",
        "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%buf1+64], 128, "
        "[b];",
        "mov.b64 %rd9, 0; @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [s], [%buf1+64], 128, [b], %rd9;"}) {
    TestKernel kernel = bulk(joined({kExpect, copy, kWait, kShow}));
    expectClean(kernel);
    EXPECT_EQ(kernel.read<uint32_t>("out")[0], 17u);
    EXPECT_EQ(kernel.read<uint32_t>("out")[31], 48u);
  }
}

TEST(BulkCopy, BytesMayComeBeforeTheyAreExpected) {
  TestKernel kernel =
      bulk(joined({"@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], "
                   "[%buf1], 128, [b];",
                   kExpect, kWait, kShow}));
  expectClean(kernel);
}

TEST(BulkCopy, LoadsMustBeWaitedFor) {
  const std::string load =
      joined({kExpect, "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                       "[s], [%buf1], 128, [b];"});
  expectReport(bulk(joined({load, kShow})), Kind::Race);
  expectReport(bulk(load), Kind::Exit, "without having waited");
}

TEST(BulkCopy, TheMBarrierMustBeVisibleToTheCopyEngine) {
  const std::string load =
      joined({kExpect,
              "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], "
              "[%buf1], 128, [b];",
              kWait});
  expectReport(bulk(load, ""), Kind::MissingFence, "fence.mbarrier_init");
  TestKernel other = bulk(load, "fence.proxy.async;");
  expectClean(other);
}

TEST(BulkCopy, LoadsComeAfterWhatThreadsDidThere) {
  // Written before by threads: a proxy fence and a barrier have to lie between.
  const std::string load =
      joined({kExpect,
              "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
              "[s], [%buf1], 128, [b];",
              kWait, kShow});
  TestKernel right =
      bulk("st.shared.b32 [%r2], 0; fence.proxy.async.shared::cta; bar.sync 0;" + load);
  expectClean(right);
  expectReport(bulk("st.shared.b32 [%r2], 0; bar.sync 0;" + load), Kind::MissingFence);
  expectReport(bulk("st.shared.b32 [%r2], 0; fence.proxy.async.shared::cta;" + load), Kind::Race);
}

TEST(BulkCopy, StoresNeedFenceBarrierAndWait) {
  std::string store = "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%buf0], [s], 128;"
                      "@%p0 cp.async.bulk.commit_group;";
  std::string wait = "@%p0 cp.async.bulk.wait_group.read 0;";
  std::string fill = "st.shared.b32 [%r2], %r0;", fence = "fence.proxy.async;",
              sync = "bar.sync 0;";
  TestKernel right = bulk(fill + fence + sync + store + wait + sync + fill);
  expectClean(right);
  EXPECT_EQ(right.read<uint32_t>("out")[31], 31u);
  expectReport(bulk(fill + sync + store + wait), Kind::MissingFence);
  expectReport(bulk(fill + fence + store + wait), Kind::Race);
  expectReport(bulk(fill + fence + sync + store), Kind::Exit, "may still read");
  expectReport(bulk(fill + fence + sync + store + sync + fill), Kind::Race);
  // Reads are done, writes need not be.
  std::string look = "@%p0 ld.global.b32 %r5, [%buf0];";
  expectReport(bulk(fill + fence + sync + store + wait + look), Kind::Race);
  TestKernel whole = bulk(fill + fence + sync + store + "@%p0 cp.async.bulk.wait_group 0;" + look);
  expectClean(whole);
}

TEST(BulkCopy, ByteMask) {
  TestKernel kernel = bulk(R"(
    mov.b32 %r5, 0x04030201;
    st.shared.v4.b32 [s], {%r5, %r5, %r5, %r5};
    st.shared.v4.b32 [s+16], {%r5, %r5, %r5, %r5};
    st.global.b32 [%rd1], 0;
    fence.proxy.async;
    bar.sync 0;
    mov.b16 %h0, 0x8005;
    @%p0 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%buf0], [s], 32, %h0;
    @%p0 cp.async.bulk.commit_group;
    @%p0 cp.async.bulk.wait_group 0;)");
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out")[0], 0x00030001u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[1], 0u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[7], 0x04000000u);
}

uint32_t reduced(const std::string &operation, uint32_t old, uint32_t value) {
  TestKernel kernel =
      bulk("mov.b32 %r5, " + std::to_string(value) +
           "; st.shared.b32 [%r2], %r5; st.global.b32 [%rd1], " + std::to_string(old) +
           "; fence.proxy.async; bar.sync 0;"
           "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group." +
           operation +
           " [%buf0], [s], 128; @%p0 cp.async.bulk.commit_group;"
           "@%p0 cp.async.bulk.wait_group 0;");
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "") << operation;
  return kernel.read<uint32_t>("out")[13];
}

TEST(BulkReduction, Operations) {
  EXPECT_EQ(reduced("add.u32", 5, 7), 12u);
  EXPECT_EQ(reduced("add.s32", 5, -7u), -2u);
  EXPECT_EQ(reduced("min.s32", 5, -7u), -7u);
  EXPECT_EQ(reduced("min.u32", 5, -7u), 5u);
  EXPECT_EQ(reduced("max.s32", 5, -7u), 5u);
  EXPECT_EQ(reduced("inc.u32", 5, 5), 0u);
  EXPECT_EQ(reduced("inc.u32", 4, 5), 5u);
  EXPECT_EQ(reduced("dec.u32", 0, 5), 5u);
  EXPECT_EQ(reduced("dec.u32", 4, 5), 3u);
  EXPECT_EQ(reduced("dec.u32", 6, 5), 5u);
  EXPECT_EQ(reduced("and.b32", 12, 10), 8u);
  EXPECT_EQ(reduced("or.b32", 12, 10), 14u);
  EXPECT_EQ(reduced("xor.b32", 12, 10), 6u);
  EXPECT_EQ(reduced("add.u64", 0xffffffff, 1), 1u); // with the carry of the even word
  EXPECT_EQ(reduced("add.f32", 0x3f800000, 0x40000000), 0x40400000u);
  EXPECT_EQ(reduced("add.noftz.f16", 0x3c003c00, 0x40003c00), 0x42004000u);
  EXPECT_EQ(reduced("max.bf16", 0x3f80bf80, 0x40004000), 0x40004000u);
  EXPECT_EQ(reduced("min.f16", 0x3c007e00, 0x40004000), 0x3c004000u); // not the NaN
}

TEST(BulkReduction, OfSeveralBlocksDoNotRace) {
  TestKernel kernel = bulk(R"(
    st.shared.b32 [%r2], 1;
    fence.proxy.async;
    bar.sync 0;
    @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%buf1], [s], 128;
    @%p0 cp.async.bulk.commit_group;
    @%p0 cp.async.bulk.wait_group 0;)");
  kernel.grid = {4, 1, 1};
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("in")[31], 36u);
}

TEST(BulkCopy, BadOperandsAreReported) {
  std::string load = "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
  expectReport(bulk(load + "[s], [%buf1], 24, [b];"), Kind::Misaligned, "multiple of 16");
  expectReport(bulk(load + "[s+8], [%buf1], 32, [b];"), Kind::Misaligned);
  expectReport(bulk(load + "[s], [%buf1+8], 32, [b];"), Kind::Misaligned);
  expectReport(bulk(load + "[s+2032], [%buf1], 4096, [b];"), Kind::OutOfBounds);
  expectReport(bulk(load + "[s], [%buf1+2032], 32, [b];"), Kind::OutOfBounds, "in");
  expectReport(bulk(load + "[s], [%buf1], 32, [s];"), Kind::Barrier, "no initialised mbarrier");
  expectReport(bulk(load + "[b], [%buf1], 64, [b];"), Kind::Barrier, "overwrites an mbarrier");
  expectReport(bulk("@%p0 cp.async.bulk.prefetch.L2.global [%buf1+2032], 32;"), Kind::OutOfBounds);
}

TEST(BulkCopy, PrefetchDoesNothingElse) {
  TestKernel kernel = bulk("@%p0 cp.async.bulk.prefetch.L2.global [%buf1], 1024;");
  expectClean(kernel);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

constexpr std::string_view kMeet = "barrier.cluster.arrive; barrier.cluster.wait;";

/// Two blocks; every one expects 128 bytes and shows them.
TestKernel cluster(const std::string &body) {
  TestKernel kernel = bulk(joined({R"(
    mov.u32 %r10, %cluster_ctarank;
    xor.b32 %r11, %r10, 1;
    mapa.shared::cluster.u32 %r12, %r1, %r11;
    mov.u32 %r13, b;
    mapa.shared::cluster.u32 %r14, %r13, %r11;
    mul.wide.u32 %rd8, %r10, 128;
    add.u64 %rd1, %rd1, %rd8;)",
                                   kMeet, kExpect, body, kWait, kShow, kMeet}));
  kernel.grid = kernel.cluster = {2, 1, 1};
  return kernel;
}

TEST(BulkCopy, MulticastReachesAllBlocksOfTheMask) {
  TestKernel kernel = cluster(R"(
    mov.b16 %h0, 3;
    setp.eq.and.u32 %p2, %r10, 1, %p0;
    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster )"
                              "[s], [%buf1+64], 128, [b], %h0;");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[0], 17u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[63], 48u);
}

TEST(BulkCopy, SharedToShared) {
  TestKernel kernel = cluster(R"(
    mad.lo.u32 %r15, %r10, 100, %r0;
    st.shared.b32 [%r2+1024], %r15;
    fence.proxy.async;
    bar.sync 0;
    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes )"
                              "[%r12], [s+1024], 128, [%r14];");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[5], 105u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[37], 5u);
}

TEST(StoreAsync, CompletesOnThePeersBarrier) {
  TestKernel kernel = cluster(R"(
    mad.lo.u32 %r15, %r10, 100, %r0;
    shl.b32 %r16, %r0, 2;
    add.u32 %r16, %r12, %r16;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r16], %r15, [%r14];)");
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[5], 105u);
  EXPECT_EQ(kernel.read<uint32_t>("out")[37], 5u);
}

TEST(StoreAsync, Reductions) {
  TestKernel kernel = cluster(joined({"st.shared.b32 [%r2], 1000;", kMeet,
                                      R"(
    shl.b32 %r16, %r0, 2;
    add.u32 %r16, %r12, %r16;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 )"
                                      "[%r16], %r0, [%r14];"}));
  expectClean(kernel);
  EXPECT_EQ(kernel.read<uint32_t>("out")[37], 1005u);
}

TEST(BulkCopy, PeersThatHaveEndedAreNotWrittenTo) {
  TestKernel kernel = cluster("");
  std::string leave = "setp.eq.u32 %p5, %r10, 0; @%p5 ret;";
  kernel.body = kernel.body.substr(0, kernel.body.find(kExpect)) + leave +
                "mov.b32 %r20, 0; LOOP: add.u32 %r20, %r20, 1; setp.lt.u32 %p6, %r20, 1000;"
                "@%p6 bra LOOP; st.shared::cluster.b32 [%r12], 1;";
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Exit)) << kernel.describe();
}

} // namespace
} // namespace tile_emu
