// setmaxnreg and griddepcontrol.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

using Kind = Report::Kind;

/// Three warpgroups; %p0: the first, %p1: the second.
TestKernel groups(const std::string &body) {
  TestKernel kernel("mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 7; setp.eq.u32 %p0, %r1, 0;"
                    "setp.eq.u32 %p1, %r1, 1; shr.u32 %r2, %r0, 5; setp.eq.u32 %p2, %r2, 0;" +
                    body);
  kernel.block = {384, 1, 1};
  return kernel;
}

TEST(SetMaxRegisters, WhatIsGivenBackCanBeTaken) {
  // 168 registers at entry: 3 * 168 = 24 + 2 * 240.
  TestKernel kernel = groups("@%p0 bra FEW; setmaxnreg.inc.sync.aligned.u32 240; ret;"
                             "FEW: setmaxnreg.dec.sync.aligned.u32 24;");
  for (uint64_t seed = 0; seed < 5; ++seed) {
    kernel.options.randomSchedule = seed != 0;
    kernel.options.seed = seed;
    EXPECT_TRUE(kernel.run());
    EXPECT_EQ(kernel.describe(), "");
  }
}

TEST(SetMaxRegisters, WhatNobodyGivesBackIsADeadlock) {
  TestKernel kernel = groups("@%p0 bra FEW; setmaxnreg.inc.sync.aligned.u32 240; bar.sync 0; ret;"
                             "FEW: setmaxnreg.dec.sync.aligned.u32 40; bar.sync 0;");
  EXPECT_FALSE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Deadlock, "240 per thread instead of 168"))
      << kernel.describe();
}

TEST(SetMaxRegisters, MisuseIsReported) {
  auto expect = [](const std::string &body, const std::string &words) {
    TestKernel kernel = groups(body);
    EXPECT_FALSE(kernel.run());
    EXPECT_TRUE(kernel.reported(Kind::Invalid, words)) << kernel.describe();
  };
  expect("setmaxnreg.dec.sync.aligned.u32 240;", "does not decrease");
  expect("setmaxnreg.inc.sync.aligned.u32 24;", "does not increase");
  expect("@!%p0 ret; @%p2 bra OTHER; setmaxnreg.dec.sync.aligned.u32 40; ret;"
         "OTHER: setmaxnreg.dec.sync.aligned.u32 32;",
         "of the same warpgroup");
  for (const char *count : {"20", "44", "264"}) {
    expect("setmaxnreg.dec.sync.aligned.u32 " + std::string(count) + ";", "multiple of 8");
  }
}

TEST(SetMaxRegisters, AWarpThatSkipsItsGroupsIsNamed) {
  TestKernel kernel("mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; setp.eq.u32 %p0, %r1, 2;"
                    "@%p0 ret; setmaxnreg.dec.sync.aligned.u32 40;");
  kernel.block = {128, 1, 1};
  kernel.run();
  EXPECT_TRUE(kernel.reported(Kind::Invalid, "warp 2 of the same warpgroup has not executed this"))
      << kernel.describe();
}

TEST(GridControl, DoesNothingAlone) {
  TestKernel kernel("griddepcontrol.wait; griddepcontrol.launch_dependents;");
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
}

TEST(Unsupported, IsNamed) {
  for (const char *text :
       {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %q0;",
        "multimem.red.release.sys.global.add.u32 [%rd0], %r0;",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
        "[%r0], [%rd0, {%r1, %r2}], [%r3];",
        "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r0], "
        "[%rd0, {%r1, %r2, %r4}], [%r3], {%h0};",
        "fence.proxy.texture;", "mbarrier.arrive.acquire.cta.b64 _, [%rd0];",
        "cp.async.bulk.shared::cluster.global.bulk_group [%r0], [%rd0], 16;",
        "bar.sync.relaxed 0;"}) {
    TestKernel kernel(text);
    EXPECT_FALSE(kernel.run());
    EXPECT_TRUE(kernel.reported(Kind::Unsupported)) << text << kernel.describe();
  }
}

} // namespace
} // namespace tile_emu
