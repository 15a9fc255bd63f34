// Blocks, warps, special registers, launches, definedness.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// Stores `%r0` of every thread, with blocks and threads numbered linearly, at %buf0.
std::string storeByThread(const std::string &compute) {
  return compute + R"(
    mov.u32 %r90, %tid.x; mov.u32 %r91, %tid.y; mov.u32 %r92, %tid.z;
    mov.u32 %r93, %ntid.x; mov.u32 %r94, %ntid.y; mov.u32 %r95, %ntid.z;
    mad.lo.u32 %r91, %r92, %r94, %r91;
    mad.lo.u32 %r90, %r91, %r93, %r90;
    mul.lo.u32 %r93, %r93, %r94; mul.lo.u32 %r93, %r93, %r95;
    mov.u32 %r91, %ctaid.x; mov.u32 %r92, %ctaid.y; mov.u32 %r94, %nctaid.x;
    mad.lo.u32 %r91, %r92, %r94, %r91;
    mad.lo.u32 %r90, %r91, %r93, %r90;
    mul.wide.u32 %rd90, %r90, 4;
    add.s64 %rd90, %buf0, %rd90;
    st.global.b32 [%rd90], %r0;)";
}

TEST(Machine, ThreadsOfPartialWarps) {
  TestKernel kernel(storeByThread("mov.u32 %r0, %tid.x;"));
  kernel.block = {40, 1, 1};
  kernel.output("out", 40 * 4);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  for (uint32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(out[i], i);
  }
}

TEST(Machine, BlocksAndThreadsInThreeDimensions) {
  TestKernel kernel(storeByThread(R"(
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y;
    mov.u32 %r0, %laneid;
    mad.lo.u32 %r0, %r1, 100, %r0;
    mad.lo.u32 %r0, %r2, 1000, %r0;
    mad.lo.u32 %r0, %r3, 10000, %r0;
    mad.lo.u32 %r0, %r4, 100000, %r0;
    mad.lo.u32 %r0, %r5, 1000000, %r0;)"));
  kernel.grid = {3, 2, 1};
  kernel.block = {3, 4, 5};
  kernel.output("out", 6 * 60 * 4);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  for (uint32_t block = 0; block < 6; ++block) {
    for (uint32_t i = 0; i < 60; ++i) {
      uint32_t expected = i % 32 + i % 3 * 100 + i / 3 % 4 * 1000 + i / 12 * 10000 +
                          block % 3 * 100000 + block / 3 * 1000000;
      EXPECT_EQ(out[block * 60 + i], expected);
    }
  }
}

TEST(Machine, ClusterRegisters) {
  TestKernel kernel(storeByThread(R"(
    mov.u32 %r0, %cluster_ctarank;
    mov.u32 %r1, %cluster_nctarank; mad.lo.u32 %r0, %r1, 10, %r0;
    mov.u32 %r1, %clusterid.x; mad.lo.u32 %r0, %r1, 100, %r0;
    mov.u32 %r1, %nclusterid.x; mad.lo.u32 %r0, %r1, 1000, %r0;
    mov.u32 %r1, %cluster_ctaid.y; mad.lo.u32 %r0, %r1, 10000, %r0;)"));
  kernel.grid = {4, 2, 1};
  kernel.cluster = {2, 2, 1};
  kernel.block = {1, 1, 1};
  kernel.output("out", 8 * 4);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  std::vector<uint32_t> out = kernel.read<uint32_t>("out");
  for (uint32_t block = 0; block < 8; ++block) {
    uint32_t x = block % 4, y = block / 4;
    EXPECT_EQ(out[block], x % 2 + 2 * y + 40 + x / 2 * 100 + 2000 + y * 10000);
  }
}

TEST(Machine, SharedMemoryIsLaidOutAsOnTheHardware) {
  TestKernel kernel(R"(
    .shared .align 16 .b8 first[24];
    .shared .align 64 .b8 second[8];
    mov.u32 %r0, first; mov.u32 %r1, second; mov.u32 %r2, dynamic;
    mov.u32 %r3, %dynamic_smem_size; mov.u32 %r4, %total_smem_size;
    st.global.v4.b32 [%buf0], {%r0, %r1, %r2, %r3};
    st.global.b32 [%buf0+16], %r4;)");
  kernel.moduleText = ".extern .shared .align 128 .b8 dynamic[];";
  kernel.block = {1, 1, 1};
  kernel.dynamicSharedBytes = 100;
  kernel.output("out", 20);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out"),
            (std::vector<uint32_t>{0x400, 0x440, 0x480, 100, 0x80 + 100}));
}

TEST(Machine, ClockMovesOn) {
  TestKernel kernel(R"(
    mov.u64 %rd0, %clock64;
    mov.u64 %rd1, %clock64;
    sub.s64 %rd0, %rd1, %rd0;
    st.global.b64 [%buf0], %rd0;)");
  kernel.block = {1, 1, 1};
  kernel.output("out", 8);
  EXPECT_TRUE(kernel.run());
  EXPECT_GT(kernel.read<uint64_t>("out")[0], 0U);
}

TEST(Machine, ModuleVariables) {
  TestKernel kernel(R"(
    ld.const.b32 %r0, [table+4];
    ld.global.b32 %r1, [counter];
    add.s32 %r1, %r1, %r0;
    st.global.b32 [counter], %r1;
    mov.u64 %rd0, counter;
    ld.global.b32 %r2, [%rd0];
    mov.u64 %rd1, table; cvta.const.u64 %rd1, %rd1;
    ld.b32 %r3, [%rd1];
    st.global.v2.b32 [%buf0], {%r2, %r3};)");
  kernel.moduleText =
      ".const .align 4 .u32 table[2] = {7, 8};\n.global .align 4 .u32 counter = 100;";
  kernel.block = {1, 1, 1};
  kernel.output("out", 8);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  EXPECT_EQ(kernel.read<uint32_t>("out"), (std::vector<uint32_t>{108, 7}));
}

//===----------------------------------------------------------------------===//
// Launches that are refused
//===----------------------------------------------------------------------===//

TEST(Machine, LaunchMustFitTheKernel) {
  TestKernel kernel("ret;");
  kernel.directives = ".reqntid 64, 1, 1";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, ".reqntid"));

  kernel.block = {64, 1, 1};
  EXPECT_TRUE(kernel.run());
  kernel.dynamicSharedBytes = 232449;
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "shared memory"));
  kernel.dynamicSharedBytes = 232448;
  EXPECT_TRUE(kernel.run());
  kernel.grid = {3, 1, 1};
  kernel.cluster = {2, 1, 1};
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "clusters"));
}

TEST(Machine, UnknownInstructionsAndModifiersAreNamed) {
  TestKernel kernel("ld.global.L3::maybe.b32 %r0, [%buf0];");
  kernel.output("out", 4);
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Unsupported, "L3::maybe")) << kernel.describe();
  kernel.body = "frobnicate.b32 %r0, %r1;";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Unsupported, "frobnicate.b32")) << kernel.describe();
  kernel.body = "ld.global.b32 %r0, [%buf0], %r1;";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "operand 3")) << kernel.describe();
  kernel.body = "mov.b64 %rd0, %r1;";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, ".b32 where .b64")) << kernel.describe();
}

TEST(Machine, MoreMemoryThanThereIs) {
  TestKernel kernel(R"(
    .local .b8 l[524288];
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 st.local.b32 [l], 1;)");
  kernel.block = {1024, 1, 1};
  kernel.grid = {16, 1, 1}; // half a GiB each, so only some are resident
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  kernel.cluster = {16, 1, 1};
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "4 GiB"));
  kernel.body = ".local .b8 l[524289];\nst.local.b32 [l], 1;";
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "local memory"));
}

TEST(Machine, BudgetEndsEndlessLoops) {
  TestKernel kernel("LOOP: bra LOOP;");
  kernel.options.stepBudget = 1000;
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Budget));
}

//===----------------------------------------------------------------------===//
// Definedness
//===----------------------------------------------------------------------===//

TEST(Machine, UndefinedValuesArePassedOnUntilTheyDecideSomething) {
  TestKernel kernel(R"(
    add.s32 %r1, %r0, 1;
    setp.eq.s32 %p0, %r1, 5;
    @%p0 bra DONE;
  DONE: ret;)");
  EXPECT_TRUE(kernel.run());
  ASSERT_EQ(kernel.reports().size(), 1U) << kernel.describe();
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%p0"));
}

TEST(Machine, UndefinedAddressesAreReported) {
  TestKernel kernel(R"(
    sub.s64 %rd0, %rd1, %rd1;
    sub.s64 %rd0, %rd0, -1;
    add.s64 %rd0, %buf0, %rd0;
    add.s64 %rd0, %rd0, -1;
    ld.global.b32 %r0, [%rd0];)");
  kernel.input("in", std::vector<uint32_t>{1});
  EXPECT_TRUE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%rd0")) << kernel.describe();
}

TEST(Machine, UndefinednessIsByLane) {
  TestKernel kernel(R"(
    mov.u32 %r0, %laneid;
    setp.lt.u32 %p0, %r0, 16;
    @%p0 mov.u32 %r1, 1;
    @%p0 st.shared.b32 [s], %r1;
    setp.lt.u32 %p1, %r0, 17;
    @%p1 setp.eq.u32 %p2, %r1, 1;
    @!%p1 ret;
    @%p2 ret;)");
  kernel.moduleText = ".shared .b32 s;";
  EXPECT_TRUE(kernel.run());
  ASSERT_EQ(kernel.reports().size(), 1U) << kernel.describe();
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%p2"));
  EXPECT_EQ(kernel.reports()[0].parties.at(0).thread.thread[0], 16U);
}

} // namespace
} // namespace tile_emu
