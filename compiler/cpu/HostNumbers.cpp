//===- HostNumbers.cpp ---------------------------------------------------===//
#include "compiler/cpu/HostNumbers.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tilec::cpu {
namespace {

/// A float format with a sign bit on top of `expBits` and `manBits`.
struct Format {
  int expBits, manBits;
  unsigned maxCode;  ///< largest finite magnitude
  unsigned overCode; ///< what a larger magnitude becomes
  unsigned nanCode;  ///< what NaN becomes

  int bias() const { return (1 << (expBits - 1)) - 1; }
  int minExponent() const { return 1 - bias(); }
  unsigned signBit() const { return 1u << (expBits + manBits); }
};

// The NaN of f16 and bf16 is the one that NVIDIA GPUs produce.
constexpr Format kF16{5, 10, 0x7BFF, 0x7C00, 0x7FFF};
constexpr Format kBF16{8, 7, 0x7F7F, 0x7F80, 0x7FFF};
constexpr Format kE4M3{4, 3, 0x7E, 0x7E, 0x7F};
constexpr Format kE5M2{5, 2, 0x7B, 0x7B, 0x7F};
constexpr Format kE2M1{2, 1, 0x7, 0x7, 0x7};

const Format &formatOf(Num num) {
  switch (num) {
  case Num::BF16:
    return kBF16;
  case Num::E4M3:
    return kE4M3;
  case Num::E5M2:
    return kE5M2;
  case Num::E2M1:
    return kE2M1;
  default:
    return kF16;
  }
}

double decodeSmall(const Format &format, bool hasInfinity, unsigned bits) {
  unsigned magnitude = bits & (format.signBit() - 1);
  double value;
  if (magnitude > format.maxCode) {
    value = hasInfinity && magnitude == format.maxCode + 1
                ? std::numeric_limits<double>::infinity()
                : std::numeric_limits<double>::quiet_NaN();
  } else {
    int exponent = (int)(magnitude >> format.manBits);
    unsigned fraction = magnitude & ((1u << format.manBits) - 1);
    if (exponent != 0) {
      fraction += 1u << format.manBits;
    }
    int power = (exponent == 0 ? 0 : exponent - 1) + format.minExponent() - format.manBits;
    value = std::ldexp((double)fraction, power);
  }
  return (bits & format.signBit()) ? -value : value;
}

unsigned encodeSmall(const Format &format, double value) {
  if (std::isnan(value)) {
    return format.nanCode;
  }
  unsigned sign = std::signbit(value) ? format.signBit() : 0;
  double magnitude = std::fabs(value);
  if (magnitude == 0) {
    return sign;
  }
  if (std::isinf(magnitude)) {
    return sign | format.overCode;
  }
  int exponent = std::max(std::ilogb(magnitude), format.minExponent());
  // Counted in units of the last place, a value that rounds up to the next power of two carries by
  // itself.
  double units = std::nearbyint(std::ldexp(magnitude, format.manBits - exponent));
  if (exponent > format.bias() + 1) {
    return sign | format.overCode;
  }
  unsigned code = ((unsigned)(exponent - format.minExponent()) << format.manBits) + (unsigned)units;
  return sign | (code > format.maxCode ? format.overCode : code);
}

/// Values of all patterns of a type of at most 16 bits.
template <unsigned N>
std::array<double, N> tabulate(const Format &format, bool hasInfinity) {
  std::array<double, N> table;
  for (unsigned bits = 0; bits < N; ++bits) {
    table[bits] = decodeSmall(format, hasInfinity, bits);
  }
  return table;
}

unsigned integerBits(Num num) { return num == Num::I1 ? 1 : storageBits(num); }

uint64_t lowBits(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

int64_t signExtend(uint64_t bits, unsigned width) {
  return (int64_t)(bits << (64 - width)) >> (64 - width);
}

uint64_t floatToInteger(double value, unsigned width, bool isUnsigned) {
  if (std::isnan(value)) {
    return 0;
  }
  double truncated = std::trunc(value);
  if (isUnsigned) {
    if (truncated <= 0) {
      return 0;
    }
    uint64_t most = lowBits(~uint64_t(0), width);
    return truncated >= std::ldexp(1.0, (int)width) ? most : (uint64_t)truncated;
  }
  double limit = std::ldexp(1.0, (int)width - 1);
  int64_t most = (int64_t)((uint64_t(1) << (width - 1)) - 1);
  int64_t result = truncated >= limit ? most : truncated < -limit ? -most - 1 : (int64_t)truncated;
  return lowBits((uint64_t)result, width);
}

/// `magnitude` as f64, where it does not fit rounded to odd: rounding that once more to a type of
/// at most 24 bits gives what one rounding of the integer would.
double toOddDouble(uint64_t magnitude) {
  int excess = 64 - std::countl_zero(magnitude | 1) - 53;
  if (excess <= 0) {
    return (double)magnitude;
  }
  uint64_t kept = magnitude >> excess;
  bool lost = (kept << excess) != magnitude;
  return std::ldexp((double)(kept | lost), excess);
}

uint64_t integerToFloat(uint64_t bits, unsigned width, bool isUnsigned, Num to) {
  int64_t value = signExtend(bits, width);
  bool negative = !isUnsigned && value < 0;
  uint64_t magnitude = negative ? -(uint64_t)value : lowBits(bits, width);
  if (to == Num::F64) {
    double rounded = (double)magnitude;
    return std::bit_cast<uint64_t>(negative ? -rounded : rounded);
  }
  double odd = toOddDouble(magnitude);
  return encode(to, negative ? -odd : odd);
}

} // namespace

unsigned storageBits(Num num) {
  switch (num) {
  case Num::F64:
  case Num::I64:
    return 64;
  case Num::F32:
  case Num::I32:
    return 32;
  case Num::F16:
  case Num::BF16:
  case Num::I16:
    return 16;
  case Num::E2M1:
  case Num::I4:
    return 4;
  default:
    return 8;
  }
}

double decode(Num num, uint64_t bits) {
  static const std::array<double, 65536> f16 = tabulate<65536>(kF16, true);
  static const std::array<double, 256> e4m3 = tabulate<256>(kE4M3, false);
  static const std::array<double, 256> e5m2 = tabulate<256>(kE5M2, true);
  static const std::array<double, 16> e2m1 = tabulate<16>(kE2M1, false);
  switch (num) {
  case Num::F64:
    return std::bit_cast<double>(bits);
  case Num::F32:
    return std::bit_cast<float>((uint32_t)bits);
  case Num::F16:
    return f16[bits & 0xFFFF];
  case Num::BF16:
    return std::bit_cast<float>((uint32_t)bits << 16);
  case Num::E4M3:
    return e4m3[bits & 0xFF];
  case Num::E5M2:
    return e5m2[bits & 0xFF];
  case Num::E2M1:
    return e2m1[bits & 0xF];
  case Num::E8M0:
    return (bits & 0xFF) == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                                 : std::ldexp(1.0, (int)(bits & 0xFF) - 127);
  default:
    return 0;
  }
}

float decodeFloat(Num num, uint64_t bits) { return (float)decode(num, bits); }

uint64_t encode(Num num, double value) {
  if (num == Num::F64) {
    return std::bit_cast<uint64_t>(value);
  }
  if (num == Num::F32) {
    return std::bit_cast<uint32_t>((float)value);
  }
  return encodeSmall(formatOf(num), value);
}

uint64_t convert(Num from, bool fromUnsigned, Num to, bool toUnsigned, uint64_t bits) {
  if (isFloatNum(from)) {
    double value = decode(from, bits);
    return isFloatNum(to) ? encode(to, value) : floatToInteger(value, integerBits(to), toUnsigned);
  }
  unsigned width = integerBits(from);
  bool isUnsigned = fromUnsigned || from == Num::I1;
  if (isFloatNum(to)) {
    return integerToFloat(bits, width, isUnsigned, to);
  }
  uint64_t wide = isUnsigned ? lowBits(bits, width) : (uint64_t)signExtend(bits, width);
  return lowBits(wide, integerBits(to));
}

float roundToTf32(float value) {
  if (!std::isfinite(value)) {
    return value;
  }
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x1000u) & ~0x1FFFu);
}

} // namespace tilec::cpu
