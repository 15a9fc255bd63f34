// Number conversions, which the compiler, the cpu target and the runtime share, over every bit pattern
// against LLVM's arbitrary-precision floats.
#include "runtime/support/FloatFormat.h"
#include "runtime/support/Floats.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tile_rt;
using llvm::APFloat;
using llvm::APInt;

namespace {

/// From and to the integer type with that sign.
uint64_t convert(DType from, bool fromUnsigned, DType to, bool toUnsigned, uint64_t bits) {
  return convertBits(fromUnsigned ? dtypeWithoutSign(from) : from,
                     toUnsigned ? dtypeWithoutSign(to) : to, bits);
}

float roundToTf32(float value) {
  return (float)decodeFloat(kTF32, encodeFloat(kTF32, value, Rounding::NearestAway));
}

struct Case {
  DType num;
  const llvm::fltSemantics &semantics;
  unsigned bits;
  bool saturates;
};

std::vector<Case> cases() {
  return {{DType::F16, APFloat::IEEEhalf(), 16, false},
          {DType::BF16, APFloat::BFloat(), 16, false},
          {DType::E4M3, APFloat::Float8E4M3FN(), 8, true},
          {DType::E5M2, APFloat::Float8E5M2(), 8, true},
          {DType::E2M1, APFloat::Float4E2M1FN(), 4, true}};
}

double exact(const Case &format, uint64_t bits) {
  APFloat value(format.semantics, APInt(format.bits, bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

/// What `value` rounds to, by APFloat and the saturation rule of the language.
uint64_t rounded(const Case &format, double value) {
  APFloat largest = APFloat::getLargest(format.semantics, std::signbit(value));
  if (format.saturates && std::isinf(value)) {
    return largest.bitcastToAPInt().getZExtValue();
  }
  APFloat result(value);
  bool lost;
  result.convert(format.semantics, APFloat::rmNearestTiesToEven, &lost);
  if (format.saturates && !result.isFinite()) {
    result = largest;
  }
  return result.bitcastToAPInt().getZExtValue();
}

TEST(CpuNumbers, DecodesEveryPattern) {
  for (const Case &format : cases()) {
    for (uint64_t bits = 0; bits < (uint64_t(1) << format.bits); ++bits) {
      double got = decodeFloat(format.num, bits), want = exact(format, bits);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << (int)format.num << ' ' << bits;
        continue;
      }
      ASSERT_EQ(got, want) << (int)format.num << ' ' << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(want));
      if (std::isfinite(want) || !format.saturates) {
        ASSERT_EQ(encodeFloat(format.num, got), bits) << (int)format.num;
      }
    }
  }
}

TEST(CpuNumbers, RoundsBetweenEveryTwoNeighbours) {
  for (const Case &format : cases()) {
    for (uint64_t bits = 0; bits + 1 < (uint64_t(1) << format.bits); ++bits) {
      double low = exact(format, bits), high = exact(format, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) {
        continue;
      }
      double middle = low + (high - low) / 2;
      for (double x : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300),
                       std::nextafter(low, high), low + (high - low) * 0.3}) {
        ASSERT_EQ(encodeFloat(format.num, x), rounded(format, x)) << (int)format.num << ' ' << x;
      }
    }
  }
}

TEST(CpuNumbers, Overflow) {
  for (const Case &format : cases()) {
    double largest = APFloat::getLargest(format.semantics).convertToDouble();
    for (double factor : {1.01, 1.03, 1.0625, 1.2, 1.5, 2.0, 1e30}) {
      for (double x : {largest * factor, -largest * factor}) {
        EXPECT_EQ(encodeFloat(format.num, x), rounded(format, x)) << (int)format.num << ' ' << x;
      }
    }
    EXPECT_EQ(encodeFloat(format.num, INFINITY), rounded(format, INFINITY));
    EXPECT_EQ(encodeFloat(format.num, 1e-320), 0u);
  }
  EXPECT_TRUE(std::isnan(decodeFloat(DType::E4M3, encodeFloat(DType::E4M3, NAN))));
  EXPECT_TRUE(std::isnan(decodeFloat(DType::E5M2, encodeFloat(DType::E5M2, NAN))));
  EXPECT_TRUE(std::isnan(decodeFloat(DType::F16, encodeFloat(DType::F16, NAN))));
  EXPECT_TRUE(std::isnan(decodeFloat(DType::BF16, encodeFloat(DType::BF16, NAN))));
  EXPECT_EQ(decodeFloat(DType::E2M1, encodeFloat(DType::E2M1, NAN)), 6.0);
}

TEST(CpuNumbers, PowersOfTwo) {
  for (unsigned bits = 0; bits < 255; ++bits) {
    EXPECT_EQ(decodeFloat(DType::E8M0, bits), std::pow(2.0, (int)bits - 127));
  }
  EXPECT_TRUE(std::isnan(decodeFloat(DType::E8M0, 255)));
}

TEST(CpuNumbers, FloatToInteger) {
  auto from = [](double value, DType to, bool isUnsigned) {
    return convert(DType::F64, false, to, isUnsigned, encodeFloat(DType::F64, value));
  };
  EXPECT_EQ(from(2.9, DType::I32, false), 2u);
  EXPECT_EQ(from(-2.9, DType::I32, false), 0xFFFFFFFEu);
  EXPECT_EQ(from(NAN, DType::I32, false), 0u);
  EXPECT_EQ(from(1e20, DType::I32, false), 0x7FFFFFFFu);
  EXPECT_EQ(from(-1e20, DType::I32, false), 0x80000000u);
  EXPECT_EQ(from(-1e20, DType::I32, true), 0u);
  EXPECT_EQ(from(INFINITY, DType::I64, false), 0x7FFFFFFFFFFFFFFFu);
  EXPECT_EQ(from(INFINITY, DType::I64, true), 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(from(300, DType::I8, true), 255u);
  EXPECT_EQ(from(-300, DType::I8, false), 0x80u);
  EXPECT_EQ(from(9, DType::I4, false), 7u);
  EXPECT_EQ(from(-9, DType::I4, false), 8u);
}

TEST(CpuNumbers, IntegerToFloatRoundsOnce) {
  // 2^24 + 1 is a tie, 2^54 + 2^30 + 1 just above one: rounding to f64 first would lose the 1.
  EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I32, false, DType::F32, false, (1 << 24) + 1)),
            16777216.0);
  uint64_t big = (uint64_t(1) << 54) + (uint64_t(1) << 30) + 1;
  EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I64, false, DType::F32, false, big)),
            (double)((uint64_t(1) << 54) + (uint64_t(1) << 31)));
  EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I64, false, DType::F32, false, ~uint64_t(0))),
            -1.0);
  EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I64, true, DType::F32, false, ~uint64_t(0))),
            0x1p64);
  EXPECT_EQ(decodeFloat(DType::F16, convert(DType::I32, false, DType::F16, false, 70000)),
            INFINITY);
  EXPECT_EQ(decodeFloat(DType::E4M3, convert(DType::I32, false, DType::E4M3, false, 70000)), 448.0);
  for (uint64_t seed = 1, i = 0; i < 10000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = seed >> (i % 64);
    EXPECT_EQ(convert(DType::I64, true, DType::F32, false, x), encodeFloat(DType::F32, (float)x))
        << x;
    EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I64, false, DType::F32, false, x)),
              (double)(float)(int64_t)x);
  }
}

TEST(CpuNumbers, Integers) {
  EXPECT_EQ(convert(DType::I8, false, DType::I32, false, 0xFF), 0xFFFFFFFFu);
  EXPECT_EQ(convert(DType::I8, true, DType::I32, false, 0xFF), 0xFFu);
  EXPECT_EQ(convert(DType::I32, false, DType::I8, false, 0x1234), 0x34u);
  EXPECT_EQ(convert(DType::Bool, false, DType::I32, false, 1), 1u);
  for (uint64_t bits = 0; bits < 16; ++bits) {
    int64_t value = bits < 8 ? (int64_t)bits : (int64_t)bits - 16;
    EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I4, false, DType::F32, false, bits)),
              (double)value);
    EXPECT_EQ(decodeFloat(DType::F32, convert(DType::I4, true, DType::F32, false, bits)),
              (double)bits);
    EXPECT_EQ((int32_t)convert(DType::I4, false, DType::I32, false, bits), value);
  }
}

TEST(CpuNumbers, Tf32) {
  EXPECT_EQ(roundToTf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f); // a tie goes away from zero
  EXPECT_EQ(roundToTf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(roundToTf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_TRUE(std::isnan(roundToTf32(NAN)));
}

} // namespace
