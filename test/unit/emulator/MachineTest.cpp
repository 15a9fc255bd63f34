// Blocks, warps, special registers, launches.
#include "test/unit/emulator/TestKernel.h"

namespace tile_emu {
namespace {

TEST(Machine, StoresThreadIndices) {
  TestKernel kernel(R"(
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd0, %r0, 4;
    add.s64 %rd0, %buf0, %rd0;
    st.global.b32 [%rd0], %r0;
    ret;)");
  kernel.block = {40, 1, 1};
  kernel.output("out", 40 * 4);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "");
  for (uint32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(kernel.read<uint32_t>("out")[i], i);
  }
}

} // namespace
} // namespace tile_emu
