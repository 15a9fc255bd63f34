// Reading what ptxas prints under -v; the texts are those of ptxas 13.0.
#include "compiler/emit/Assembler.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

TEST(AssemblerOutput, Resources) {
  AssemblerReport report =
      parseAssemblerOutput("ptxas info    : 0 bytes gmem\n"
                           "ptxas info    : Compiling entry function 'gemm_0' for 'sm_90a'\n"
                           "ptxas info    : Function properties for gemm_0\n"
                           "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
                           "ptxas info    : Used 168 registers, used 3 barriers, 8 bytes "
                           "cumulative stack size, 32 bytes smem\n"
                           "ptxas info    : Compile time = 87.342 ms\n"
                           "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
                           "ptxas info    : Function properties for other\n"
                           "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                           "ptxas info    : Used 10 registers, used 0 barriers\n");
  ASSERT_EQ(report.functions.size(), 2u);
  const FunctionResources &gemm = report.functions["gemm_0"];
  EXPECT_EQ(gemm.registers, 168u);
  EXPECT_EQ(gemm.barriers, 3u);
  EXPECT_EQ(gemm.stackBytes, 8u);
  EXPECT_EQ(gemm.spillStoreBytes, 12u);
  EXPECT_EQ(gemm.spillLoadBytes, 16u);
  EXPECT_EQ(gemm.staticSharedBytes, 32u);
  EXPECT_EQ(report.functions["other"].registers, 10u);
  EXPECT_EQ(report.functions["other"].staticSharedBytes, 0u);
  EXPECT_TRUE(report.messages.empty());
  EXPECT_TRUE(report.errors.empty());
}

TEST(AssemblerOutput, PerformanceLossIsFoundAmongInformation) {
  AssemblerReport report = parseAssemblerOutput(
      "ptxas info    : (C7519) warpgroup.arrive is injected in around line 588 by compiler to "
      "allow use of "
      "registers in GMMA in function 'attn'\n"
      "ptxas info    : (C7513) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to "
      "non wgmma instructions defining input registers of a wgmma between start and end of the "
      "pipeline stage "
      "in the function 'attn'\n"
      "ptxas info    : (C7505) Potential Performance Loss: 'setmaxnreg' ignored to allow "
      "debugging.\n"
      "ptxas info    : (C9999) Potential Performance Loss: something new in function 'f'\n");
  ASSERT_EQ(report.messages.size(), 3u);
  EXPECT_EQ(report.messages[0].id, diag::Id::SerialisedWgmma);
  EXPECT_EQ(report.messages[0].function, "attn");
  EXPECT_TRUE(llvm::StringRef(report.messages[0].text).starts_with("(C7513)"));
  EXPECT_EQ(report.messages[1].id, diag::Id::IgnoredSetmaxnreg);
  EXPECT_EQ(report.messages[1].function, "");
  EXPECT_EQ(report.messages[2].id, diag::Id::ToolWarning);
  EXPECT_EQ(report.messages[2].function, "f");
}

TEST(AssemblerOutput, ErrorsAndWarnings) {
  AssemblerReport report = parseAssemblerOutput(
      "ptxas bad.ptx, line 4; error   : Not a name of any known instruction: 'foo'\n"
      "ptxas warning : Conflicting options\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "a line of something else\n");
  ASSERT_EQ(report.errors.size(), 2u);
  EXPECT_EQ(report.errors[0], "Not a name of any known instruction: 'foo'");
  ASSERT_EQ(report.messages.size(), 1u);
  EXPECT_EQ(report.messages[0].id, diag::Id::ToolWarning);
}

} // namespace
