// Conversions over every bit pattern, against formulas written differently from the implementation.
#include "runtime/support/Floats.h"

#include "runtime/harness/Generate.h"
#include "runtime/support/FloatFormat.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace tile_rt {
namespace {

constexpr DType kSmall[] = {DType::F16,  DType::BF16, DType::E4M3,
                            DType::E5M2, DType::E2M1, DType::E8M0};

/// All patterns of a type; for f16 and bf16 all 65536.
uint64_t patterns(DType type) { return uint64_t{1} << dtypeBits(type); }

TEST(Floats, EveryPatternRoundTrips) {
  for (DType type : kSmall) {
    for (uint64_t bits = 0; bits < patterns(type); ++bits) {
      double value = decodeFloat(type, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decodeFloat(type, encodeFloat(type, value))))
            << dtypeName(type) << bits;
      } else if (std::isinf(value) && type == DType::E5M2) {
        EXPECT_EQ(std::fabs(roundFloat(type, value)), 57344.0); // saturates
      } else {
        EXPECT_EQ(encodeFloat(type, value), bits) << dtypeName(type) << " " << value;
      }
    }
  }
}

TEST(Floats, KnownValues) {
  EXPECT_EQ(decodeFloat(DType::F16, 0x7bff), 65504.0);
  EXPECT_EQ(decodeFloat(DType::F16, 0x0001), 0x1p-24);
  EXPECT_EQ(decodeFloat(DType::F16, 0xfc00), -INFINITY);
  EXPECT_EQ(decodeFloat(DType::BF16, 0x3f80), 1.0);
  EXPECT_EQ(decodeFloat(DType::BF16, 0x7f7f), 0x1.fep127);
  EXPECT_EQ(decodeFloat(DType::E4M3, 0x7e), 448.0);
  EXPECT_EQ(decodeFloat(DType::E4M3, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::E4M3, 0x7f)));
  EXPECT_EQ(decodeFloat(DType::E5M2, 0x7b), 57344.0);
  EXPECT_EQ(decodeFloat(DType::E5M2, 0x7c), INFINITY);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::E5M2, 0x7d)));
  double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(decodeFloat(DType::E2M1, i), e2m1[i]);
    EXPECT_EQ(decodeFloat(DType::E2M1, i + 8), -e2m1[i]);
  }
  EXPECT_EQ(decodeFloat(DType::E8M0, 127), 1.0);
  EXPECT_EQ(decodeFloat(DType::E8M0, 0), 0x1p-127);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::E8M0, 255)));
}

TEST(Floats, BFloatIsTheUpperHalfOfFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = std::bit_cast<float>(bits << 16);
    double decoded = decodeFloat(DType::BF16, bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decoded));
    } else {
      EXPECT_EQ(decoded, static_cast<double>(value));
    }
  }
}

TEST(Floats, RoundsToNearestEvenBetweenAllNeighbours) {
  // For neighbours a < b: the middle goes to the even pattern, a bit less to a, a bit more to b.
  for (DType type : {DType::F16, DType::BF16, DType::E4M3, DType::E5M2, DType::E2M1}) {
    for (uint64_t bits = 0; bits + 1 < patterns(type) / 2; ++bits) {
      double a = decodeFloat(type, bits), b = decodeFloat(type, bits + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) {
        continue;
      }
      double middle = (a + b) / 2;
      uint64_t even = bits % 2 == 0 ? bits : bits + 1;
      ASSERT_EQ(encodeFloat(type, middle), even) << dtypeName(type) << " " << middle;
      ASSERT_EQ(encodeFloat(type, std::nextafter(middle, 0)), bits);
      ASSERT_EQ(encodeFloat(type, std::nextafter(middle, INFINITY)), bits + 1);
      ASSERT_EQ(encodeFloat(type, -middle), even + patterns(type) / 2);
    }
  }
}

TEST(Floats, Overflow) {
  EXPECT_EQ(encodeFloat(DType::F16, 65519.99), 0x7bffu);
  EXPECT_EQ(encodeFloat(DType::F16, 65520), 0x7c00u);
  EXPECT_EQ(encodeFloat(DType::BF16, 1e39), 0x7f80u);
  EXPECT_EQ(encodeFloat(DType::F32, -1e39), 0xff800000u);
  EXPECT_EQ(encodeFloat(DType::F16, 1e300), 0x7c00u);
  for (double large : {449.0, 464.0, 1e5, 1e300, static_cast<double>(INFINITY)}) {
    EXPECT_EQ(encodeFloat(DType::E4M3, large), 0x7eu) << large;
    EXPECT_EQ(encodeFloat(DType::E4M3, -large), 0xfeu) << large;
    EXPECT_EQ(encodeFloat(DType::E2M1, large), 7u) << large;
  }
  EXPECT_EQ(encodeFloat(DType::E5M2, 1e9), 0x7bu);
  EXPECT_EQ(encodeFloat(DType::E8M0, 1e300), 254u);
  EXPECT_EQ(encodeFloat(DType::E8M0, 0), 0u);
  // NaN as GPUs have it, and the largest value where there is none.
  EXPECT_EQ(encodeFloat(DType::F16, -NAN), 0x7fffu);
  EXPECT_EQ(encodeFloat(DType::BF16, NAN), 0x7fffu);
  EXPECT_EQ(encodeFloat(DType::E4M3, NAN), 0x7fu);
  EXPECT_EQ(encodeFloat(DType::E5M2, NAN), 0x7fu);
  EXPECT_EQ(encodeFloat(DType::E2M1, NAN), 7u);
}

TEST(Floats, FloatAgreesWithTheHardware) {
  // f32 of doubles: what the processor does, over exponents and random mantissas.
  for (uint64_t i = 0; i < 2000000; ++i) {
    uint64_t bits = randomBits(1, 2, i);
    // Exponents from far below f32's subnormals to far above its range.
    uint64_t exponent = 1023 - 160 + bits % 320;
    double value = std::bit_cast<double>((bits & 0x800fffffffffffffu) | exponent << 52);
    ASSERT_EQ(encodeFloat(kF32, value, Rounding::NearestEven),
              std::bit_cast<uint32_t>(static_cast<float>(value)))
        << value;
  }
}

TEST(Floats, IntegersRoundOnce) {
  // 2^24 + 1 + 2^-40 of it: rounding via double to 53 bits first would tie and go down.
  __int128 sticky = (static_cast<__int128>(1) << 60) + (static_cast<__int128>(1) << 36) + 1;
  EXPECT_EQ(intToFloat(DType::F32, sticky), 0x1p60 + 0x1p37);
  EXPECT_EQ(intToFloat(DType::F32, sticky - 1), 0x1p60);
  for (uint64_t i = 0; i < 100000; ++i) {
    int64_t value = static_cast<int64_t>(randomBits(3, 4, i)) >> (i % 60);
    ASSERT_EQ(intToFloat(DType::F32, value), static_cast<double>(static_cast<float>(value)))
        << value;
    ASSERT_EQ(intToFloat(DType::F64, value), static_cast<double>(value));
  }
}

TEST(Floats, ToIntegers) {
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::I32, 2147483648.0)), INT32_MAX);
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::I32, -1e30)), INT32_MIN);
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::U8, -0.9)), 0);
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::U8, -5.0)), 0);
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::U8, 255.9)), 255);
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::I4, 100)), 7);
  EXPECT_EQ(static_cast<uint64_t>(floatToInt(DType::U64, 1e30)), UINT64_MAX);
  EXPECT_EQ(static_cast<int64_t>(floatToInt(DType::I64, NAN)), 0);
  EXPECT_EQ(static_cast<int64_t>(wrapInt(DType::I8, 200)), -56);
  EXPECT_EQ(static_cast<int64_t>(wrapInt(DType::U4, -1)), 15);
  EXPECT_EQ(static_cast<int64_t>(wrapInt(DType::I4, 8)), -8);
}

TEST(DTypes, NamesRoundTrip) {
  for (int i = 0; i < kNumDTypes; ++i) {
    DType type = static_cast<DType>(i);
    EXPECT_EQ(dtypeFromName(dtypeName(type)), type);
  }
  EXPECT_FALSE(dtypeFromName("float"));
  EXPECT_EQ(dtypeBytes(DType::U4, 7), 4u);
}

} // namespace
} // namespace tile_rt
