// Which bits of values nobody has written, and where that shows: PTX leaves the contents of
// registers, shared memory and results undefined until they are written.
#include "test/unit/emulator/TestKernel.h"

#include <cmath>

using namespace tile_emu;
using Kind = Report::Kind;

namespace {

/// A body that computes %r0 of %r50 and %r51, which are undefined, and stores it.
TestKernel storing(const std::string &body) {
  TestKernel kernel(body + "\nst.global.b32 [%buf0], %r0;");
  kernel.block = {1, 1, 1};
  kernel.output("out", 4);
  return kernel;
}

void expectDefined(const std::string &body) {
  TestKernel kernel = storing(body);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.describe(), "") << body;
}

void expectUndefined(const std::string &body) {
  TestKernel kernel = storing(body);
  EXPECT_TRUE(kernel.run());
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%r0, which is stored to out at byte 0"))
      << body << kernel.describe();
}

} // namespace

TEST(Definedness, AStoreToGlobalMemoryIsAReport) {
  expectUndefined("mov.b32 %r0, %r50;");
  expectUndefined("add.u32 %r0, %r50, 1;");
  expectDefined("mov.b32 %r0, 1;");
}

TEST(Definedness, MasksMakeBitsDefined) {
  expectDefined("and.b32 %r0, %r50, 0;");
  expectDefined("or.b32 %r0, %r50, -1;");
  expectUndefined("and.b32 %r0, %r50, 1;");
  expectDefined("shl.b32 %r1, %r50, 16; and.b32 %r0, %r1, 0xffff;");
  expectDefined("shl.b32 %r1, %r50, 16; shr.u32 %r1, %r50, 16; and.b32 %r0, %r1, 0xffff0000;");
  expectUndefined("shl.b32 %r1, %r50, 16; shr.s32 %r0, %r1, 8;");
  expectDefined("lop3.b32 %r0, %r50, 5, 0, 0xf0 & 0xc0; and.b32 %r0, %r0, 5; and.b32 %r0, %r0, 2;");
  expectDefined("lop3.b32 %r0, %r50, 5, 3, 0xcc;"); // b alone
  expectUndefined("lop3.b32 %r0, %r50, 5, 3, 0xf0;");
  expectDefined("bfi.b32 %r1, 7, %r50, 0, 16; and.b32 %r0, %r1, 0xffff;");
  expectDefined("prmt.b32 %r0, %r50, 0x1234, 0x5454;");
  expectUndefined("prmt.b32 %r0, %r50, 0x1234, 0x5450;");
}

TEST(Definedness, OnlyTheValueThatIsChosenCounts) {
  expectDefined("setp.eq.u32 %p0, 1, 1; selp.b32 %r0, 3, %r50, %p0;");
  expectUndefined("setp.eq.u32 %p0, 1, 1; selp.b32 %r0, %r50, 3, %p0;");
  expectDefined("setp.eq.u32 %p0, 1, 2; setp.eq.u32 %p1, %r50, 2; and.pred %p2, %p0, %p1;"
                "selp.b32 %r0, 1, 2, %p2;");
}

TEST(Definedness, HalvesOfPackedValues) {
  expectUndefined("mov.b32 %r0, {%h0, %h1};");
  expectDefined("mov.b16 %h1, 5; mov.b32 %r1, {%h0, %h1}; mov.b32 {_, %h2}, %r1;"
                "mov.b32 %r0, {%h2, %h2};");
  expectDefined("mov.f32 %f1, 0f3F800000; cvt.rn.f16x2.f32 %r1, %f1, %f0; shr.u32 %r0, %r1, 16;");
  expectUndefined("mov.f32 %f1, 0f3F800000; cvt.rn.f16x2.f32 %r0, %f1, %f0;");
  expectDefined("mov.b16 %h1, 5; mov.b32 %r1, {%h0, %h1}; add.f16x2 %r1, %r1, %r1;"
                "shr.u32 %r0, %r1, 16;");
  expectDefined("mov.b32 %r1, 3; mov.b64 %rd1, {%r50, %r1}; mov.b64 {_, %r0}, %rd1;");
}

TEST(Definedness, BytesGoThroughSharedMemory) {
  TestKernel kernel(R"(
    mov.b16 %h0, 7;
    mov.b32 %r1, {%h0, %h1};
    st.shared.b32 [s], %r1;
    ld.shared.u16 %r2, [s];
    st.global.b32 [%buf0], %r2;
    ld.shared.u16 %r3, [s+2];
    st.global.b32 [%buf0+4], %r3;)");
  kernel.moduleText = ".shared .b32 s;";
  kernel.block = {1, 1, 1};
  kernel.output("out", 8);
  EXPECT_TRUE(kernel.run());
  ASSERT_EQ(kernel.reports().size(), 1U) << kernel.describe();
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%r3, which is stored to out at byte 4"));
}

TEST(Definedness, MemoryStartsAsNaN) {
  TestKernel kernel(R"(
    ld.shared.f32 %f0, [s];
    st.global.f32 [%buf0], %f0;
    cvt.f64.f32 %fd1, %f1;
    st.global.f64 [%buf0+8], %fd1;)");
  kernel.moduleText = ".shared .b32 s;";
  kernel.block = {1, 1, 1};
  kernel.output("out", 16);
  EXPECT_TRUE(kernel.run());
  EXPECT_EQ(kernel.reports().size(), 2U) << kernel.describe();
  EXPECT_TRUE(std::isnan(kernel.read<float>("out")[0]));
  EXPECT_TRUE(std::isnan(kernel.read<double>("out")[1]));
}

TEST(Definedness, ShufflesTakeItFromTheOtherLane) {
  TestKernel kernel(R"(
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p0, %r1, 16;
    @%p0 mov.u32 %r2, 1;
    shfl.sync.idx.b32 %r3, %r2, 15, 31, 0xffffffff;
    shfl.sync.idx.b32 %r4, %r2, 16, 31, 0xffffffff;
    shl.b32 %r1, %r1, 2;
    cvt.u64.u32 %rd0, %r1;
    add.u64 %rd0, %rd0, %buf0;
    st.global.b32 [%rd0], %r3;
    st.global.b32 [%rd0+128], %r4;)");
  kernel.output("out", 256);
  EXPECT_TRUE(kernel.run());
  ASSERT_EQ(kernel.reports().size(), 1U) << kernel.describe();
  EXPECT_TRUE(kernel.reported(Kind::Uninitialised, "%r4"));
}

TEST(Definedness, ResultsThatWereNeverWrittenAreKnown) {
  Emulator emulator;
  uint64_t address = emulator.allocate(64, "out");
  uint32_t value = 1;
  emulator.write(address, &value, 4);
  emulator.write(address + 8, &value, 4);
  EXPECT_EQ(emulator.unwritten(address).bytes, 56U);
  EXPECT_EQ(emulator.unwritten(address).first, 4U);
}
