// atom and red: operations, types, spaces, orders.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// The old value and the new one after one atomic operation of one thread.
template <typename T>
std::pair<T, T> apply(const std::string &operation, T memory, const std::string &operands) {
  std::string bits = std::to_string(sizeof(T) * 8);
  std::string result = sizeof(T) == 8 ? "%rd0" : sizeof(T) == 4 ? "%r0" : "%h0";
  TestKernel kernel("atom." + operation + " " + result + ", [%buf0], " + operands +
                    ";\nst.global.b" + bits + " [%buf1], " + result + ";");
  kernel.block = {1, 1, 1};
  kernel.input("memory", std::vector<T>{memory});
  kernel.output("old", sizeof(T));
  EXPECT_TRUE(kernel.run()) << kernel.describe();
  EXPECT_EQ(kernel.describe(), "");
  return {kernel.read<T>("old")[0], kernel.read<T>("memory")[0]};
}

TEST(Atomics, Integers) {
  using Pair = std::pair<uint32_t, uint32_t>;
  EXPECT_EQ(apply<uint32_t>("global.add.u32", 5, "7"), Pair(5, 12));
  EXPECT_EQ(apply<uint32_t>("global.add.s32", 5, "-7"), Pair(5, 0xfffffffe));
  EXPECT_EQ(apply<uint32_t>("global.min.u32", 5, "-7"), Pair(5, 5));
  EXPECT_EQ(apply<uint32_t>("global.min.s32", 5, "-7"), Pair(5, 0xfffffff9));
  EXPECT_EQ(apply<uint32_t>("global.max.s32", 5, "-7"), Pair(5, 5));
  EXPECT_EQ(apply<uint32_t>("relaxed.gpu.global.inc.u32", 5, "7"), Pair(5, 6));
  EXPECT_EQ(apply<uint32_t>("relaxed.gpu.global.inc.u32", 7, "7"), Pair(7, 0));
  EXPECT_EQ(apply<uint32_t>("global.dec.u32", 0, "7"), Pair(0, 7));
  EXPECT_EQ(apply<uint32_t>("global.dec.u32", 8, "7"), Pair(8, 7));
  EXPECT_EQ(apply<uint32_t>("global.dec.u32", 3, "7"), Pair(3, 2));
  EXPECT_EQ(apply<uint32_t>("global.and.b32", 12, "10"), Pair(12, 8));
  EXPECT_EQ(apply<uint32_t>("global.or.b32", 12, "10"), Pair(12, 14));
  EXPECT_EQ(apply<uint32_t>("global.xor.b32", 12, "10"), Pair(12, 6));
  EXPECT_EQ(apply<uint32_t>("acquire.gpu.exch.b32", 12, "10"), Pair(12, 10));
  EXPECT_EQ(apply<uint32_t>("acq_rel.sys.global.cas.b32", 12, "12, 3"), Pair(12, 3));
  EXPECT_EQ(apply<uint32_t>("global.cas.b32", 13, "12, 3"), Pair(13, 13));
}

TEST(Atomics, OtherWidths) {
  using Wide = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(apply<uint64_t>("global.add.u64", 1ull << 40, "1"), Wide(1ull << 40, (1ull << 40) + 1));
  EXPECT_EQ(apply<uint64_t>("global.max.s64", uint64_t(-5), "-3"),
            Wide(uint64_t(-5), uint64_t(-3)));
  EXPECT_EQ(apply<uint64_t>("global.cas.b64", 1, "1, 2"), Wide(1, 2));
  TestKernel kernel(R"(
    mov.u16 %h0, 5; mov.u16 %h1, 6;
    atom.global.cas.b16 %h2, [%buf0], %h0, %h1;
    ld.global.b128 %q0, [%buf1];
    atom.global.exch.b128 %q1, [%buf1+16], %q0;
    st.global.b128 [%buf1], %q1;)");
  kernel.block = {1, 1, 1};
  kernel.input("half", std::vector<uint16_t>{5});
  kernel.input("wide", std::vector<uint64_t>{1, 2, 3, 4});
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint16_t>("half")[0], 6);
  EXPECT_EQ(kernel.read<uint64_t>("wide"), (std::vector<uint64_t>{3, 4, 1, 2}));
}

TEST(Atomics, Floats) {
  EXPECT_EQ(apply<float>("global.add.f32", 1.5f, "0f40000000").second, 3.5f);
  EXPECT_EQ(apply<double>("global.add.f64", 1.5, "0d4000000000000000").second, 3.5);
  // Subnormal numbers are flushed in global memory, not in shared memory.
  EXPECT_EQ(apply<float>("global.add.f32", 1e-40f, "0f00000001").second, 0.0f);
  TestKernel kernel(R"(
    .shared .b32 s;
    st.shared.b32 [s], 5;
    atom.shared.add.f32 %f0, [s], 0f00000001;
    ld.shared.b32 %r0, [s];
    mov.b16 %h0, 0x3c00;
    mov.b32 %r1, {%h0, %h0};
    red.global.add.noftz.f16x2 [%buf0+4], %r1;
    red.global.add.noftz.f16 [%buf0+8], %h0;
    red.global.add.noftz.v2.f16x2 [%buf0+16], {%r1, %r1};
    mov.f32 %f1, 0f3f800000;
    red.global.add.v4.f32 [%buf0+32], {%f1, %f1, %f1, %f1};
    red.global.min.noftz.v2.bf16 [%buf0+48], {%h0, %h0};
    st.global.b32 [%buf0], %r0;)");
  kernel.block = {1, 1, 1};
  kernel.input("data", std::vector<uint32_t>(13));
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> data = kernel.read<uint32_t>("data");
  EXPECT_EQ(data[0], 6U);
  EXPECT_EQ(data[1], 0x3c003c00U);
  EXPECT_EQ(data[2], 0x3c00U);
  EXPECT_EQ(data[4], 0x3c003c00U);
  EXPECT_EQ(data[5], 0x3c003c00U);
  EXPECT_EQ(data[11], 0x3f800000U);
  EXPECT_EQ(data[12], 0U);
}

TEST(Atomics, AllThreadsCount) {
  TestKernel kernel(R"(
    .shared .b32 s;
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 st.shared.b32 [s], 0;
    bar.sync 0;
    red.shared.add.u32 [s], %r0;
    bar.sync 0;
    ld.shared.b32 %r1, [s];
    @%p0 red.global.add.u32 [%buf0], %r1;)");
  kernel.block = {100, 1, 1};
  kernel.grid = {5, 1, 1};
  kernel.input("sum", std::vector<uint32_t>{0});
  for (unsigned seed = 0; seed < 4; ++seed) {
    kernel.options.randomSchedule = seed != 0;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "");
    EXPECT_EQ(kernel.read<uint32_t>("sum")[0], 5U * 4950);
  }
}

TEST(Atomics, ReleaseAndAcquireOrderOtherAccesses) {
  const char *body = R"(
    mov.u32 %r0, %ctaid.x;
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra READER;
    st.global.b32 [%buf1], 42;
    RELEASE.global.b32 [%buf0], 1;
    ret;
  READER:
    ld.acquire.gpu.global.b32 %r1, [%buf0];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra READER;
    ld.global.b32 %r2, [%buf1];
    st.global.b32 [%buf2], %r2;)";
  auto run = [&](const std::string &release) {
    std::string text = body;
    text.replace(text.find("RELEASE"), 7, release);
    TestKernel kernel(text);
    kernel.block = {1, 1, 1};
    kernel.grid = {2, 1, 1};
    kernel.input("flag", std::vector<uint32_t>{0});
    kernel.output("data", 4);
    kernel.output("out", 4);
    EXPECT_TRUE(kernel.run());
    return kernel.reported(Kind::Race);
  };
  EXPECT_FALSE(run("st.release.gpu"));
  EXPECT_TRUE(run("st.relaxed.gpu"));
  EXPECT_FALSE(run("fence.acq_rel.gpu; st.relaxed.gpu"));
}

TEST(Atomics, MemoryMustHaveBeenWritten) {
  TestKernel kernel("red.global.add.u32 [%buf0], 1;");
  kernel.block = {1, 1, 1};
  kernel.output("sum", 4);
  EXPECT_TRUE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "sum"));
}

TEST(Atomics, WhatDoesNotExistIsRefused) {
  for (const char *text : {"red.global.min.f32 [%buf0], %f0;", "red.global.inc.s32 [%buf0], %r0;",
                           "red.global.add.f16 [%buf0], %h0;", "red.local.add.u32 [%buf0], %r0;",
                           "red.acquire.gpu.global.add.u32 [%buf0], %r0;",
                           "atom.global.add.v2.u32 {%r0, %r1}, [%buf0], {%r0, %r1};"}) {
    TestKernel kernel(text);
    kernel.output("out", 4);
    EXPECT_FALSE(kernel.run()) << text;
    EXPECT_TRUE(kernel.reported(Kind::Unsupported)) << text << kernel.describe();
  }
}

} // namespace
} // namespace tile_emu
