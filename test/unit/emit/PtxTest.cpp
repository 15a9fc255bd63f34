// What is changed in PTX after ptxas has seen it.
#include "compiler/emit/Ptx.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

std::string entry(const std::string &name, const std::string &directives) {
  return ".visible .entry " + name + "(\n\t.param .u64 p\n)\n.reqntid 128, 1, 1" + directives +
         "\n{\n\tret;\n}\n";
}

TEST(PtxBounds, OneBlockIsAskedForOfTheEntryThatIsMeant) {
  std::string ptx = entry("a", "") + entry("ab", "");
  EXPECT_TRUE(askForOneBlock(ptx, "ab"));
  EXPECT_EQ(ptx, entry("a", "") + entry("ab", "\n.minnctapersm 1"));
  EXPECT_FALSE(askForOneBlock(ptx, "ab"));
  EXPECT_FALSE(askForOneBlock(ptx, "b"));
}

TEST(PtxBounds, WhatTheSourceAsksForStays) {
  for (const char *directive : {"\n.minnctapersm 4", "\n.maxnreg 64"}) {
    std::string ptx = entry("a", directive);
    EXPECT_FALSE(askForOneBlock(ptx, "a"));
    EXPECT_EQ(ptx, entry("a", directive));
  }
}

TEST(PtxBounds, MoreThanOneBlockIsLeftOut) {
  std::string ptx = entry("a", "\n.minnctapersm 1") + entry("b", "\n.minnctapersm 2");
  EXPECT_FALSE(dropMinBlocks(ptx, "a"));
  EXPECT_TRUE(dropMinBlocks(ptx, "b"));
  EXPECT_EQ(ptx, entry("a", "\n.minnctapersm 1") + entry("b", ""));
}

} // namespace
