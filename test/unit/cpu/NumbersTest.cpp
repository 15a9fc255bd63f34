// Number conversions of the cpu target over every bit pattern, against LLVM's arbitrary-precision
// floats.
#include "compiler/cpu/HostNumbers.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tilec::cpu;
using llvm::APFloat;
using llvm::APInt;

namespace {

struct Case {
  Num num;
  const llvm::fltSemantics &semantics;
  unsigned bits;
  bool saturates;
};

const Case kCases[] = {{Num::F16, APFloat::IEEEhalf(), 16, false},
                       {Num::BF16, APFloat::BFloat(), 16, false},
                       {Num::E4M3, APFloat::Float8E4M3FN(), 8, true},
                       {Num::E5M2, APFloat::Float8E5M2(), 8, true},
                       {Num::E2M1, APFloat::Float4E2M1FN(), 4, true}};

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
  for (const Case &format : kCases) {
    for (uint64_t bits = 0; bits < (uint64_t(1) << format.bits); ++bits) {
      double got = decode(format.num, bits), want = exact(format, bits);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << (int)format.num << ' ' << bits;
        continue;
      }
      ASSERT_EQ(got, want) << (int)format.num << ' ' << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(want));
      if (std::isfinite(want) || !format.saturates) {
        ASSERT_EQ(encode(format.num, got), bits) << (int)format.num;
      }
    }
  }
}

TEST(CpuNumbers, RoundsBetweenEveryTwoNeighbours) {
  for (const Case &format : kCases) {
    for (uint64_t bits = 0; bits + 1 < (uint64_t(1) << format.bits); ++bits) {
      double low = exact(format, bits), high = exact(format, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) {
        continue;
      }
      double middle = low + (high - low) / 2;
      for (double x : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300),
                       std::nextafter(low, high), low + (high - low) * 0.3}) {
        ASSERT_EQ(encode(format.num, x), rounded(format, x)) << (int)format.num << ' ' << x;
      }
    }
  }
}

TEST(CpuNumbers, Overflow) {
  for (const Case &format : kCases) {
    double largest = APFloat::getLargest(format.semantics).convertToDouble();
    for (double factor : {1.01, 1.03, 1.0625, 1.2, 1.5, 2.0, 1e30}) {
      for (double x : {largest * factor, -largest * factor}) {
        EXPECT_EQ(encode(format.num, x), rounded(format, x)) << (int)format.num << ' ' << x;
      }
    }
    EXPECT_EQ(encode(format.num, INFINITY), rounded(format, INFINITY));
    EXPECT_EQ(encode(format.num, 1e-320), 0u);
  }
  EXPECT_TRUE(std::isnan(decode(Num::E4M3, encode(Num::E4M3, NAN))));
  EXPECT_TRUE(std::isnan(decode(Num::E5M2, encode(Num::E5M2, NAN))));
  EXPECT_TRUE(std::isnan(decode(Num::F16, encode(Num::F16, NAN))));
  EXPECT_TRUE(std::isnan(decode(Num::BF16, encode(Num::BF16, NAN))));
  EXPECT_EQ(decode(Num::E2M1, encode(Num::E2M1, NAN)), 6.0);
}

TEST(CpuNumbers, PowersOfTwo) {
  for (unsigned bits = 0; bits < 255; ++bits) {
    EXPECT_EQ(decode(Num::E8M0, bits), std::pow(2.0, (int)bits - 127));
  }
  EXPECT_TRUE(std::isnan(decode(Num::E8M0, 255)));
}

TEST(CpuNumbers, FloatToInteger) {
  auto from = [](double value, Num to, bool isUnsigned) {
    return convert(Num::F64, false, to, isUnsigned, encode(Num::F64, value));
  };
  EXPECT_EQ(from(2.9, Num::I32, false), 2u);
  EXPECT_EQ(from(-2.9, Num::I32, false), 0xFFFFFFFEu);
  EXPECT_EQ(from(NAN, Num::I32, false), 0u);
  EXPECT_EQ(from(1e20, Num::I32, false), 0x7FFFFFFFu);
  EXPECT_EQ(from(-1e20, Num::I32, false), 0x80000000u);
  EXPECT_EQ(from(-1e20, Num::I32, true), 0u);
  EXPECT_EQ(from(INFINITY, Num::I64, false), 0x7FFFFFFFFFFFFFFFu);
  EXPECT_EQ(from(INFINITY, Num::I64, true), 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(from(300, Num::I8, true), 255u);
  EXPECT_EQ(from(-300, Num::I8, false), 0x80u);
  EXPECT_EQ(from(9, Num::I4, false), 7u);
  EXPECT_EQ(from(-9, Num::I4, false), 8u);
}

TEST(CpuNumbers, IntegerToFloatRoundsOnce) {
  // 2^24 + 1 is a tie, 2^54 + 2^30 + 1 just above one: rounding to f64 first would lose the 1.
  EXPECT_EQ(decode(Num::F32, convert(Num::I32, false, Num::F32, false, (1 << 24) + 1)), 16777216.0);
  uint64_t big = (uint64_t(1) << 54) + (uint64_t(1) << 30) + 1;
  EXPECT_EQ(decode(Num::F32, convert(Num::I64, false, Num::F32, false, big)),
            (double)((uint64_t(1) << 54) + (uint64_t(1) << 31)));
  EXPECT_EQ(decode(Num::F32, convert(Num::I64, false, Num::F32, false, ~uint64_t(0))), -1.0);
  EXPECT_EQ(decode(Num::F32, convert(Num::I64, true, Num::F32, false, ~uint64_t(0))), 0x1p64);
  EXPECT_EQ(decode(Num::F16, convert(Num::I32, false, Num::F16, false, 70000)), INFINITY);
  EXPECT_EQ(decode(Num::E4M3, convert(Num::I32, false, Num::E4M3, false, 70000)), 448.0);
  for (uint64_t seed = 1, i = 0; i < 10000; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = seed >> (i % 64);
    EXPECT_EQ(convert(Num::I64, true, Num::F32, false, x), encode(Num::F32, (float)x)) << x;
    EXPECT_EQ(decode(Num::F32, convert(Num::I64, false, Num::F32, false, x)),
              (double)(float)(int64_t)x);
  }
}

TEST(CpuNumbers, Integers) {
  EXPECT_EQ(convert(Num::I8, false, Num::I32, false, 0xFF), 0xFFFFFFFFu);
  EXPECT_EQ(convert(Num::I8, true, Num::I32, false, 0xFF), 0xFFu);
  EXPECT_EQ(convert(Num::I32, false, Num::I8, false, 0x1234), 0x34u);
  EXPECT_EQ(convert(Num::I1, false, Num::I32, false, 1), 1u);
  for (uint64_t bits = 0; bits < 16; ++bits) {
    int64_t value = bits < 8 ? (int64_t)bits : (int64_t)bits - 16;
    EXPECT_EQ(decode(Num::F32, convert(Num::I4, false, Num::F32, false, bits)), (double)value);
    EXPECT_EQ(decode(Num::F32, convert(Num::I4, true, Num::F32, false, bits)), (double)bits);
    EXPECT_EQ((int32_t)convert(Num::I4, false, Num::I32, false, bits), value);
  }
}

TEST(CpuNumbers, Tf32) {
  EXPECT_EQ(roundToTf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f); // a tie goes away from zero
  EXPECT_EQ(roundToTf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(roundToTf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
  EXPECT_TRUE(std::isnan(roundToTf32(NAN)));
}

} // namespace
