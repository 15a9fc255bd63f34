// The table of options against what the compiler has, and what is taken for what was meant.
#include "compiler/driver/OptionTable.h"

#include "compiler/basic/Spelling.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace tilec;
using llvm::StringRef;

TEST(OptionTable, EachOptionSaysWhatItIs) {
  for (const OptionEntry &entry : optionTable().entries()) {
    EXPECT_FALSE(entry.help.empty()) << entry.spelling.str();
    EXPECT_FALSE(entry.help.ends_with(".")) << entry.spelling.str();
    EXPECT_NE(entry.visibility, 0u) << entry.spelling.str();
  }
}

TEST(OptionTable, KnowsEachArchitecture) {
  std::vector<StringRef> known{"native", "all"};
  for (const Target &target : allTargets()) {
    if (target.isGpu()) {
      known.push_back(target.name);
    }
  }
  EXPECT_TRUE(llvm::equal(optionTable().valuesOf(OPT_arch), known));
}

TEST(OptionTable, KnowsEachKindOfOutput) {
  llvm::ArrayRef<StringRef> known = optionTable().valuesOf(OPT_emit);
  std::vector<std::string> kinds;
  for (unsigned kind = 0; kind != known.size(); ++kind) {
    kinds.push_back(emitKindName(EmitKind(kind)).str());
  }
  EXPECT_TRUE(llvm::equal(known, kinds));
}

TEST(Spelling, NearestName) {
  const StringRef names[] = {"emit", "arch", "kernel", "BLOCK_M", "BLOCK_N", "x"};
  EXPECT_EQ(nearestName("emti", names), "emit");
  EXPECT_EQ(nearestName("epx", {"exp", "max"}), "exp"); // two letters exchanged are one difference
  EXPECT_EQ(nearestName("bf61", {"f64", "bf16"}), "bf16");
  EXPECT_EQ(nearestName("krenel", names), "kernel");
  EXPECT_EQ(nearestName("block_n", names), "BLOCK_N"); // not BLOCK_M, which comes first
  EXPECT_EQ(nearestName("BLOCK_K", names), "BLOCK_M");
  EXPECT_EQ(nearestName("something", names), "");
  EXPECT_EQ(nearestName("sm_90", {"sm_80", "sm_90a"}), "sm_90a"); // goes on like it
  EXPECT_EQ(nearestName("sm90", {"sm_80", "sm_90a"}), "sm_90a");  // `_` is no letter
  EXPECT_EQ(nearestName("gpu", {"cpu", "emu"}), "");              // another word
  EXPECT_EQ(nearestName("sass", {"ast"}), "");
  EXPECT_EQ(nearestName("y", names), ""); // not every letter is meant to be another one
  EXPECT_EQ(nearestName("X", names), "x");
  EXPECT_EQ(nearestName("", names), "");
  EXPECT_EQ(didYouMean("emti", names), "did you mean `emit`?");
  EXPECT_EQ(didYouMean("something", names), "");
}

TEST(Spelling, Lists) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b or c");
  EXPECT_EQ(listed({"a", "b"}, "and"), "a and b");
}
