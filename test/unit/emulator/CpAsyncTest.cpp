// cp.async: what is copied, when it is known to be there, and groups.
#include "test/unit/emulator/TestKernel.h"

#include <numeric>

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// One warp; %rd0: the thread's 16 bytes of `in`, %r1: of shared memory, %rd1: of `out`.
TestKernel copies(const std::string &body, const std::string &after) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, s;
    shl.b32 %r2, %r0, 4;
    add.u32 %r1, %r1, %r2;
    cvt.u64.u32 %rd2, %r2;
    add.u64 %rd0, %buf1, %rd2;
    add.u64 %rd1, %buf0, %rd2;
    setp.lt.u32 %p0, %r0, 16;
    )" + body + after +
                    R"(
    ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1];
    st.global.v4.b32 [%rd1], {%r4, %r5, %r6, %r7};)");
  kernel.moduleText = ".shared .align 128 .b8 s[4096];";
  kernel.output("out", 512);
  std::vector<uint32_t> in(256);
  std::iota(in.begin(), in.end(), 1);
  kernel.input("in", in);
  return kernel;
}

std::vector<uint32_t> run(const std::string &body,
                          const std::string &after = "cp.async.wait_all;") {
  TestKernel kernel = copies(body, after);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "") << body;
  return kernel.read<uint32_t>("out");
}

TEST(CpAsync, SizesAndForms) {
  for (const char *copy : {"cp.async.cg.shared.global [%r1], [%rd0], 16;",
                           "cp.async.ca.shared::cta.global [%r1], [%rd0], 16;",
                           "cp.async.cg.shared.global.L2::128B [%r1], [%rd0], 16;",
                           "cp.async.cg.shared.global.L2::256B [%r1], [%rd0], 16;",
                           "cp.async.ca.shared.global [%r1], [%rd0], 8; cp.async.ca.shared.global "
                           "[%r1+8], [%rd0+8], 8;",
                           "cp.async.ca.shared.global [%r1], [%rd0], 4; cp.async.ca.shared.global "
                           "[%r1+4], [%rd0+4], 4;"
                           "cp.async.ca.shared.global [%r1+8], [%rd0+8], 8;"}) {
    std::vector<uint32_t> out = run(copy);
    for (uint32_t i = 0; i < 128; ++i) {
      EXPECT_EQ(out[i], i + 1) << copy;
    }
  }
}

TEST(CpAsync, WhatIsNotReadIsZero) {
  std::vector<uint32_t> out = run("selp.b32 %r9, 8, 0, %p0;"
                                  "cp.async.cg.shared.global [%r1], [%rd0], 16, %r9;");
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 2u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[64], 0u);
  out = run("cp.async.cg.shared.global [%r1], [%rd0], 16, %p0;");
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[64], 65u);
  // Nothing is read, so the address may be anything.
  run("mov.b64 %rd0, 16; cp.async.cg.shared.global [%r1], [%rd0], 16, 0;");
}

TEST(CpAsync, GroupsAreWaitedForInOrder) {
  std::string two = "cp.async.cg.shared.global [%r1], [%rd0], 16; cp.async.commit_group;"
                    "cp.async.cg.shared.global [%r1+1024], [%rd0], 16; cp.async.commit_group;";
  for (uint64_t seed = 0; seed < 5; ++seed) {
    TestKernel kernel = copies(two, "cp.async.wait_group 1;");
    kernel.options.randomSchedule = true;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_FALSE(kernel.reported(Kind::Race)) << kernel.describe();
    EXPECT_EQ(kernel.read<uint32_t>("out")[7], 8u);
  }
  for (const char *wait : {"", "cp.async.wait_group 2;"}) {
    TestKernel kernel = copies(two, wait);
    kernel.run();
    EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
  }
  // Without a commit there is no group to wait for.
  TestKernel open =
      copies("cp.async.cg.shared.global [%r1], [%rd0], 16;", "cp.async.wait_group 0;");
  open.run();
  EXPECT_TRUE(open.reported(Kind::Race)) << open.describe();
}

TEST(CpAsync, OtherThreadsNeedABarrierToo) {
  std::string copy = "cp.async.cg.shared.global [%r1], [%rd0], 16;";
  std::string next = "xor.b32 %r1, %r1, 16;";
  run(copy, "cp.async.wait_all; bar.sync 0;" + next);
  TestKernel kernel = copies(copy, "cp.async.wait_all;" + next);
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
}

TEST(CpAsync, StagesMustNotBeOverwrittenWhileTheyAreRead) {
  std::string body = "cp.async.cg.shared.global [%r1], [%rd0], 16; cp.async.wait_all; bar.sync 0;"
                     "xor.b32 %r3, %r1, 16; ld.shared.b32 %r10, [%r3];";
  std::string again = "cp.async.cg.shared.global [%r1], [%rd0], 16; cp.async.wait_all;";
  run(body + "bar.sync 0;" + again, "");
  TestKernel kernel = copies(body + again, "");
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Race)) << kernel.describe();
}

TEST(CpAsync, BadOperandsAreReported) {
  auto fault = [](const std::string &copy, Kind kind) {
    TestKernel kernel = copies(copy, "");
    EXPECT_FALSE(kernel.run());
    EXPECT_TRUE(kernel.reported(kind)) << kernel.describe();
  };
  fault("cp.async.cg.shared.global [%r1+8], [%rd0], 16;", Kind::Misaligned);
  fault("cp.async.ca.shared.global [%r1], [%rd0+2], 4;", Kind::Misaligned);
  fault("cp.async.cg.shared.global [%r1+8192], [%rd0], 16;", Kind::OutOfBounds);
  fault("cp.async.cg.shared.global [%r1], [%rd0+1024], 16;", Kind::OutOfBounds);
  fault("cp.async.cg.shared.global [%r1], [%rd0], 16, 17;", Kind::Invalid);
  for (const char *copy : {"cp.async.cg.shared.global [%r1], [%rd0], 8;",
                           "cp.async.ca.shared.global [%r1], [%rd0], 12;",
                           "cp.async.ca.shared.global.L3::64B [%r1], [%rd0], 4;",
                           "cp.async.ca.shared::cluster.global [%r1], [%rd0], 4;"}) {
    TestKernel kernel = copies(copy, "");
    EXPECT_FALSE(kernel.run()) << copy;
  }
}

} // namespace
} // namespace tile_emu
