// From PTX text to ptx::Module.
#include "runtime/emulator/ptx/Module.h"

#include <gtest/gtest.h>

using namespace tile_emu::ptx;

namespace {

TEST(PtxTypes, NamesAndSizesAgree) {
  for (unsigned i = unsigned(Type::None) + 1; i <= unsigned(Type::Pred); ++i) {
    EXPECT_EQ(typeNamed(typeName(Type(i))), Type(i));
    EXPECT_GT(bitsOf(Type(i)), 0u);
  }
  EXPECT_EQ(bitsOf(Type::F16x2), 32u);
  EXPECT_EQ(bitsOf(Type::Pred), 1u);
  EXPECT_FALSE(typeNamed("f33"));
  EXPECT_FALSE(typeNamed(""));
}

} // namespace
