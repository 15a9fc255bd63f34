// Loads, stores, spaces, generic addresses, bounds, alignment.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

TEST(Memory, WidthsAndSigns) {
  TestKernel kernel(R"(
    ld.global.s8 %r0, [%buf0];
    ld.global.u8 %r1, [%buf0];
    ld.global.s16 %r2, [%buf0];
    ld.global.u16 %r3, [%buf0];
    ld.global.s8 %h0, [%buf0];
    ld.global.s32 %rd0, [%buf0];
    ld.global.b64 %rd1, [%buf0];
    cvt.u32.u16 %r4, %h0;
    st.global.v4.b32 [%buf1], {%r0, %r1, %r2, %r3};
    st.global.b32 [%buf1+16], %r4;
    st.global.b8 [%buf1+20], %r0;
    st.global.b16 [%buf1+22], %h0;
    st.global.v2.b64 [%buf1+32], {%rd0, %rd1};)");
  kernel.block = {1, 1, 1};
  kernel.input("in", std::vector<uint32_t>{0xfffe8081, 0x12345678});
  kernel.output("out", 48);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  EXPECT_EQ(out[0], 0xffffff81U);
  EXPECT_EQ(out[1], 0x81U);
  EXPECT_EQ(out[2], 0xffff8081U);
  EXPECT_EQ(out[3], 0x8081U);
  EXPECT_EQ(out[4], 0xff81U);
  EXPECT_EQ(out[5] & 0xffff00ff, 0xff810081U);
  EXPECT_EQ(out[8], 0xfffe8081U);
  EXPECT_EQ(out[9], 0xffffffffU);
  EXPECT_EQ(out[11], 0x12345678U);
}

TEST(Memory, ModifiersOfCaches) {
  TestKernel kernel(R"(
    createpolicy.fractional.L2::evict_first.b64 %rd0, 0f3F800000;
    createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd0, 0f3F000000;
    ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%r0, %r1, %r2, %r3}, [%buf0];
    ld.global.ca.L2::cache_hint.b32 %r4, [%buf0], %rd0;
    ld.weak.global.cg.b32 %r4, [%buf0];
    ld.volatile.global.b32 %r4, [%buf0];
    ld.relaxed.gpu.global.L1::evict_last.b32 %r4, [%buf0];
    ld.mmio.relaxed.sys.global.b32 %r4, [%buf0];
    ldu.global.v2.b32 {%r5, %r6}, [%buf0];
    prefetch.global.L2 [%buf0];
    prefetch.global.L2::evict_last [%buf0];
    prefetchu.L1 [%buf0];
    applypriority.global.L2::evict_normal [%buf1], 128;
    st.global.wt.b32 [%buf1], %r0;
    st.global.L1::no_allocate.L2::cache_hint.v2.b32 [%buf1+8], {%r0, %r1}, %rd0;
    st.release.gpu.global.b32 [%buf1+16], %r2;
    nanosleep.u32 100;)");
  kernel.block = {1, 1, 1};
  kernel.input("in", std::vector<uint32_t>{1, 2, 3, 4});
  kernel.output("out", 128);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out")[4], 3U);
}

TEST(Memory, SpacesAndGenericAddresses) {
  TestKernel kernel(R"(
    .shared .align 8 .b8 s[64];
    .local .align 8 .b8 l[16];
    mov.u32 %r0, %tid.x;
    st.local.b32 [l+4], %r0;
    mov.u64 %rd0, l; cvta.local.u64 %rd1, %rd0;
    ld.b32 %r1, [%rd1+4];
    mov.u64 %rd2, s; cvta.shared.u64 %rd3, %rd2;
    mul.wide.u32 %rd4, %r0, 4;
    add.s64 %rd5, %rd3, %rd4;
    st.b32 [%rd5], %r1;
    cvta.to.shared.u64 %rd6, %rd5;
    ld.shared.b32 %r2, [%rd6];
    isspacep.shared %p0, %rd5;
    isspacep.local %p1, %rd1;
    isspacep.global %p2, %buf0;
    isspacep.global %p3, %rd5;
    selp.u32 %r3, 1, 0, %p0; selp.u32 %r4, 10, 0, %p1; selp.u32 %r5, 100, 0, %p2;
    selp.u32 %r6, 1000, 0, %p3;
    add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
    mad.lo.u32 %r2, %r2, 10000, %r3;
    add.s64 %rd7, %buf0, %rd4;
    st.b32 [%rd7], %r2;)");
  kernel.block = {16, 1, 1};
  kernel.output("out", 64);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out[i], i * 10000 + 111);
  }
}

TEST(Memory, WideRegisters) {
  TestKernel kernel(R"(
    ld.global.b128 %q0, [%buf0];
    st.global.b128 [%buf1], %q0;)");
  kernel.block = {1, 1, 1};
  kernel.input("in", std::vector<uint64_t>{1, 2});
  kernel.output("out", 16);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint64_t>("out"), (std::vector<uint64_t>{1, 2}));
}

TEST(Memory, SharedMemoryOfPeers) {
  TestKernel kernel(R"(
    .shared .b32 s;
    mov.u32 %r0, %cluster_ctarank;
    xor.b32 %r1, %r0, 1;
    mov.u32 %r2, s;
    mapa.shared::cluster.u32 %r3, %r2, %r1;
    add.u32 %r4, %r0, 50;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    st.shared::cluster.b32 [%r3], %r4;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ld.shared.b32 %r5, [s];
    mov.u64 %rd0, s; cvta.shared.u64 %rd0, %rd0;
    mapa.u64 %rd1, %rd0, %r1;
    getctarank.u64 %r6, %rd1;
    getctarank.shared::cluster.u32 %r7, %r2;
    mul.wide.u32 %rd2, %r0, 16;
    add.s64 %rd2, %buf0, %rd2;
    st.global.v4.b32 [%rd2], {%r5, %r6, %r7, %r7};)");
  kernel.block = {1, 1, 1};
  kernel.grid = kernel.cluster = {2, 1, 1};
  kernel.output("out", 32);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  EXPECT_EQ(out[0], 51U);
  EXPECT_EQ(out[1], 1U);
  EXPECT_EQ(out[2], 0U);
  EXPECT_EQ(out[4], 50U);
  EXPECT_EQ(out[5], 0U);
  EXPECT_EQ(out[6], 1U);
}

TEST(Memory, PeersNeedTheClusterSpace) {
  TestKernel kernel(R"(
    .shared .b32 s;
    mov.u32 %r2, s;
    mapa.shared::cluster.u32 %r3, %r2, 1;
    st.shared.b32 [%r3], %r2;)");
  kernel.block = {1, 1, 1};
  kernel.grid = kernel.cluster = {2, 1, 1};
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "shared::cluster"));
}

/// Block 1 writes to block 0, after or before block 0 has ended, without a barrier at the end.
TEST(Memory, BlocksMustNotEndBeforeTheirPeersAreDone) {
  const std::string wait = R"(
    mov.u32 %r1, 3000;
  WAIT:
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra WAIT;)";
  auto kernelOf = [](const std::string &early, const std::string &late, const std::string &end) {
    TestKernel kernel(R"(
    .shared .b32 s;
    mov.u32 %r0, %cluster_ctarank;
    setp.eq.u32 %p1, %r0, 0;
    barrier.cluster.arrive; barrier.cluster.wait;
    @%p1 bra FIRST;)" +
                      late + R"(
    mov.u32 %r2, s;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    st.shared::cluster.b32 [%r3], %r2;
    bra END;
  FIRST:)" + early +
                      "END:" + end);
    kernel.block = {1, 1, 1};
    kernel.grid = kernel.cluster = {2, 1, 1};
    return kernel;
  };
  for (const auto &[early, late] :
       {std::pair(std::string(), wait), std::pair(wait, std::string())}) {
    TestKernel without = kernelOf(early, late, "ret;");
    EXPECT_TRUE(without.run());
    EXPECT_TRUE(without.reported(Kind::Exit)) << without.describe();
    TestKernel with = kernelOf(early, late, "barrier.cluster.arrive; barrier.cluster.wait;");
    EXPECT_TRUE(with.run());
    EXPECT_EQ(with.describe(), "");
  }
}

TEST(Memory, AddressesOfBlocksThatAreNotThereMustNotBeUsed) {
  TestKernel kernel(R"(
    .shared .b32 s;
    mov.u32 %r2, s;
    mapa.shared::cluster.u32 %r3, %r2, 2;
    mapa.shared::cluster.u32 %r4, %r2, -1;)");
  kernel.block = {1, 1, 1};
  kernel.grid = kernel.cluster = {2, 1, 1};
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  for (const char *address : {"%r3", "%r4"}) {
    TestKernel use(kernel.body + "st.shared::cluster.b32 [" + address + "], %r2;");
    use.block = {1, 1, 1};
    use.grid = use.cluster = {2, 1, 1};
    EXPECT_FALSE(use.run());
    EXPECT_TRUE(use.reported(Kind::OutOfBounds, "cluster")) << use.describe();
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(Memory, OutOfBoundsNamesTheArgument) {
  TestKernel kernel("ld.global.b32 %r0, [%buf0+40];");
  kernel.block = {1, 1, 1};
  kernel.input("weights", std::vector<uint32_t>(10));
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::OutOfBounds, "byte 40 of weights, which has 40 bytes"))
      << kernel.describe();
  kernel.body = "ld.global.b32 %r0, [%buf0+-4];";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::OutOfBounds, "byte -4 of weights")) << kernel.describe();
  kernel.body = "mov.u64 %rd0, 0; ld.global.b32 %r0, [%rd0];";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::OutOfBounds, "no memory")) << kernel.describe();
  kernel.body = ".shared .b8 s[8]; ld.shared.b32 %r0, [s+8];";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::OutOfBounds, "shared memory")) << kernel.describe();
  kernel.body = "ld.param.b32 %r0, [p0+8];";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::OutOfBounds, "parameters")) << kernel.describe();
}

TEST(Memory, Misaligned) {
  TestKernel kernel("ld.global.v2.b32 {%r0, %r1}, [%buf0+4];");
  kernel.input("in", std::vector<uint32_t>(10));
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Misaligned, "8 bytes"));
}

TEST(Memory, ConstantsCannotBeWritten) {
  TestKernel kernel("mov.u64 %rd0, c; cvta.const.u64 %rd0, %rd0; st.b32 [%rd0], 1;");
  kernel.moduleText = ".const .b32 c = 3;";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "constant"));
}

TEST(Memory, UndefinedBytesStayUndefined) {
  TestKernel kernel(R"(
    .shared .align 4 .b8 s[8];
    st.shared.b16 [s], 1;
    ld.shared.v2.b16 {%h0, %h1}, [s];
    st.shared.b16 [s+4], %h1;
    ld.shared.b16 %h2, [s+4];
    setp.eq.u16 %p0, %h0, 1;
    @%p0 bra L;
  L:
    setp.eq.u16 %p1, %h2, 1;
    @%p1 ret;)");
  kernel.block = {1, 1, 1};
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.reports().size(), 1U) << kernel.describe();
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%p1"));
}

TEST(Memory, DiscardedBytesAreUndefined) {
  TestKernel kernel(R"(
    discard.global.L2 [%buf0], 128;
    ld.global.b32 %r0, [%buf0];
    setp.eq.u32 %p0, %r0, 0;
    @%p0 ret;)");
  kernel.block = {1, 1, 1};
  kernel.input("in", std::vector<uint32_t>(32));
  EXPECT_TRUE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%p0")) << kernel.describe();
}

} // namespace
} // namespace tile_emu
