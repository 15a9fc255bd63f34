// How tensor cores add: numbers tried on an H200.
#include "runtime/emulator/matrix/Product.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace tile_emu;

namespace {

/// c + sum of products[i] * 1.
float add(const Summation &how, float c, std::vector<float> products, unsigned k) {
  products.resize(k);
  std::vector<float> ones(k, 1.0f);
  multiply(how, 1, 1, k, products.data(), ones.data(), &c);
  return c;
}

TEST(Product, HalvesKeepTwoMoreBitsAndCut) {
  for (const Summation &how : {summationOfMma(Element::F16, Element::F16, Element::F32),
                               summationOfWgmma(Element::F16, Element::F16, Element::F32)}) {
    float ulp = 0x1p-15f; // of 256
    EXPECT_EQ(add(how, 256, {ulp, ulp / 2, ulp / 4}, 16), 256 + ulp);
    EXPECT_EQ(add(how, 256, {-ulp / 4}, 16), std::nextafter(256.0f, 0.0f));
    EXPECT_EQ(add(how, 256, {-ulp / 8}, 16), 256);
    EXPECT_EQ(add(how, -256, {-ulp / 2, -ulp / 4}, 16), -256);
    // Each term is cut, not their sum.
    EXPECT_EQ(add(how, 256, std::vector<float>(16, ulp / 8), 16), 256);
    EXPECT_EQ(add(how, 256, std::vector<float>(16, ulp / 4), 16), 256 + 4 * ulp);
  }
}

TEST(Product, WgmmaKeepsThirteenBitsOfFp8) {
  Summation how = summationOfWgmma(Element::E4M3, Element::E4M3, Element::F32);
  EXPECT_EQ(add(how, 0, {256, 0x1p-6f, 0x1p-6f}, 32), 256);
  EXPECT_EQ(add(how, 0, {256, 0x1p-5f}, 32), 256 + 0x1p-5f);
  EXPECT_EQ(add(how, 256, {0x1p-6f}, 32), 256);
  // The accumulator is cut too.
  EXPECT_EQ(add(how, 1 + 0x1p-14f, {}, 32), 1);
}

TEST(Product, MmaMultipliesFp8AsHalves) {
  Summation how = summationOfMma(Element::E4M3, Element::E4M3, Element::F32);
  EXPECT_EQ(add(how, 0, {256, 0x1p-6f, 0x1p-6f}, 32), 256 + 0x1p-5f);
  // C comes last, to nearest.
  EXPECT_EQ(add(how, 256, {0x1p-16f, 0x1p-17f}, 32), 256 + 0x1p-15f);
}

TEST(Product, HalfAccumulatorsRoundOnce) {
  Summation how = summationOfMma(Element::F16, Element::F16, Element::F16);
  EXPECT_EQ(add(how, 2048, {1}, 16), 2048);
  EXPECT_EQ(add(how, 2048, {1, 0x1p-10f}, 16), 2050);
  EXPECT_EQ(add(how, 65504, {65504}, 16), std::numeric_limits<float>::infinity());
}

TEST(Product, ExponentsFarApart) {
  Summation how = summationOfMma(Element::BF16, Element::BF16, Element::F32);
  EXPECT_EQ(add(how, 0x1p127f, {0x1p-100f}, 16), 0x1p127f);
  EXPECT_EQ(add(how, 0x1p-149f, {0}, 16), 0x1p-149f);
  EXPECT_EQ(add(how, 0x1p127f, {0x1p127f}, 16), std::numeric_limits<float>::infinity());
  EXPECT_EQ(add(how, 0, {}, 16), 0);
}

TEST(Product, Special) {
  float infinity = std::numeric_limits<float>::infinity();
  Summation how = summationOfMma(Element::F16, Element::F16, Element::F32);
  EXPECT_EQ(add(how, 1, {infinity}, 16), infinity);
  EXPECT_TRUE(std::isnan(add(how, -infinity, {infinity}, 16)));
  EXPECT_TRUE(std::isnan(add(how, 1, {std::nanf("")}, 16)));
}

TEST(Product, IntegersWrapOrAreClamped) {
  for (bool clamp : {false, true}) {
    int32_t a[2] = {100, 100}, b[2] = {100, 100}, c = 2147483000;
    multiply(clamp, 1, 1, 2, a, b, &c);
    EXPECT_EQ(c, clamp ? 2147483647 : int32_t(2147483000u + 20000u));
    b[0] = b[1] = -100, c = -2147483000;
    multiply(clamp, 1, 1, 2, a, b, &c);
    EXPECT_EQ(c,
              clamp ? -2147483647 - 1 : int32_t(-2147483000 - int64_t(20000) + (int64_t(1) << 32)));
  }
}

} // namespace
