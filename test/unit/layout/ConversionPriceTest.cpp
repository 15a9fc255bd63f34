// Prices of conversions, by hand for plans that are easy to count.
#include "dialects/layout/ConversionPrice.h"

#include "LayoutTestUtils.h"

namespace tilec::layout {
namespace {

ConversionPrice priceOf(const RegisterLayout &source, const RegisterLayout &target, unsigned bits,
                        bool storesMatrices = true) {
  return priceOf(must(planConversion(source, target, bits)), source, target, bits, storesMatrices);
}

TEST(ConversionPrice, OfNothingIsNothing) {
  const RegisterLayout layout = must(RegisterLayout::blocked({64, 64}, 4, 4));
  EXPECT_TRUE(priceOf(layout, layout, 32).isFree());
  EXPECT_EQ(priceOf(layout, layout, 32).str(), "free");
  EXPECT_EQ(priceOf(layout, layout, 32).cost(4), 0);
}

TEST(ConversionPrice, OfRegistersIsWhatHasToBeRepacked) {
  const RegisterLayout up =
      must(RegisterLayout::parse("4x32 reg 1,0:2,0 lane 0,1:0,2:0,4:0,8:0,16 warp -"));
  const RegisterLayout down =
      must(RegisterLayout::parse("4x32 reg 2,0:1,0 lane 0,1:0,2:0,4:0,8:0,16 warp -"));
  EXPECT_TRUE(priceOf(up, down, 32).isFree()); // other names
  EXPECT_EQ(priceOf(up, down, 16).instructions, 2);
  EXPECT_EQ(priceOf(up, down, 8).instructions, 1);
}

TEST(ConversionPrice, OfShuffles) {
  const RegisterLayout all = must(RegisterLayout::parse("64 reg 1 lane 2:4:8:16:32 warp -"));
  const RegisterLayout turned = must(RegisterLayout::parse("64 reg 1 lane 4:2:8:16:32 warp -"));
  const ConversionPrice words = priceOf(all, turned, 32);
  EXPECT_EQ(words.shuffles, 2);
  EXPECT_EQ(words.instructions, 2);
  EXPECT_EQ(words.str(), "2 shuffles, 2 instructions a thread");
  EXPECT_EQ(priceOf(all, turned, 64).shuffles, 4);
  // Lanes that want different slots of one source: each is fetched, and one of them taken.
  const RegisterLayout apart = must(RegisterLayout::parse("64 reg 32 lane 1:2:4:8:16 warp -"));
  const ConversionPrice both = priceOf(all, apart, 32);
  EXPECT_EQ(both.shuffles, 4);
  EXPECT_EQ(both.instructions, 6);
  EXPECT_GT(both.cost(4), words.cost(4));
}

TEST(ConversionPrice, OfAnExchange) {
  const RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 64));
  const RegisterLayout rows = must(RegisterLayout::blocked({64, 64}, 4, 4));
  const ConversionPrice price = priceOf(acc, rows, 32);
  EXPECT_EQ(price.sharedBytes, 2 * 64 * 64 * 4);
  EXPECT_EQ(price.barriers, 1);
  EXPECT_EQ(price.shuffles, 0);
  EXPECT_GE(price.accesses, 8 + 8); // of 16 bytes at most
  EXPECT_NE(price.str().find("; 32768 bytes through shared memory"), std::string::npos);
  // Copies are read too.
  const RegisterLayout copies = must(RegisterLayout::replicated({64, 64}, 4));
  EXPECT_EQ(priceOf(acc, copies, 32).sharedBytes, (1 + 128) * 64 * 64 * 4);
  // Matrices of 8 rows by one instruction.
  const RegisterLayout wide = must(RegisterLayout::blocked({64, 64}, 8, 4));
  EXPECT_LT(priceOf(acc, wide, 16, true).accesses, priceOf(acc, wide, 16, false).accesses);
}

} // namespace
} // namespace tilec::layout
