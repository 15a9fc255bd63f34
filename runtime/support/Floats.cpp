#include "runtime/support/Floats.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tile_rt {

namespace {
/// A binary format with sign, exponent and mantissa fields.
struct Format {
  unsigned exponentBits, mantissaBits;
  int bias;
  bool hasInfinity; ///< the top exponent is infinity and NaN, as in IEEE 754
  bool hasNan;      ///< without hasInfinity: only the all-ones pattern
  bool saturates;
};

Format formatOf(DType type) {
  switch (type) {
  case DType::F32:
    return {8, 23, 127, true, true, false};
  case DType::F16:
    return {5, 10, 15, true, true, false};
  case DType::BF16:
    return {8, 7, 127, true, true, false};
  case DType::E4M3:
    return {4, 3, 7, false, true, true};
  case DType::E5M2:
    return {5, 2, 15, true, true, true};
  default: // E2M1
    return {2, 1, 1, false, false, true};
  }
}

uint64_t maxFinite(const Format &f) {
  uint64_t all = (uint64_t{1} << (f.exponentBits + f.mantissaBits)) - 1;
  if (f.hasInfinity) {
    return all - (uint64_t{1} << f.mantissaBits);
  }
  return f.hasNan ? all - 1 : all;
}

uint64_t nanBits(const Format &f) {
  uint64_t all = (uint64_t{1} << (f.exponentBits + f.mantissaBits)) - 1;
  if (!f.hasNan) {
    return maxFinite(f);
  }
  // Quiet: the top mantissa bit set, as the hardware's canonical NaN is not specified the same for
  // all formats.
  return f.hasInfinity ? all & ~((uint64_t{1} << (f.mantissaBits - 1)) - 1) : all;
}

/// Magnitude bits of a positive finite nonzero double, before overflow is judged: exponent and
/// mantissa fields as one number, so that a carry out of the mantissa is right by itself.
uint64_t roundMagnitude(const Format &f, double value) {
  int exponent; // value = fraction * 2^exponent, fraction in [0.5, 1)
  double fraction = std::frexp(value, &exponent);
  uint64_t significand = static_cast<uint64_t>(std::ldexp(fraction, 53)); // 53 bits, exact
  int biased = exponent - 1 + f.bias;
  int shift = 52 - static_cast<int>(f.mantissaBits);
  uint64_t field = 0;
  if (biased >= 1) {
    // The implicit bit adds one to the exponent field below.
    field = static_cast<uint64_t>(biased - 1) << f.mantissaBits;
  } else {
    shift += 1 - biased;
  }
  if (shift > 60) {
    return field; // below half of the smallest subnormal
  }
  uint64_t half = uint64_t{1} << (shift - 1);
  uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  uint64_t kept = significand >> shift;
  if (rest > half || (rest == half && (kept & 1))) {
    ++kept;
  }
  return field + kept;
}

uint64_t encodeE8M0(double value) {
  if (std::isnan(value)) {
    return 255;
  }
  if (value <= 0x1p-127) {
    return 0;
  }
  if (value >= 0x1p127) {
    return 254;
  }
  int exponent;
  double fraction =
      std::frexp(value, &exponent); // in [0.5, 1): between 2^(exponent-1) and 2^exponent
  int power = exponent - 1 + (fraction > 0.75 || (fraction == 0.75 && ((exponent - 1 + 127) & 1)));
  return static_cast<uint64_t>(power + 127);
}
} // namespace

uint64_t encodeFloat(DType type, double value) {
  if (type == DType::F64) {
    return std::bit_cast<uint64_t>(value);
  }
  if (type == DType::E8M0) {
    return encodeE8M0(value);
  }
  Format f = formatOf(type);
  uint64_t sign = std::signbit(value) ? uint64_t{1} << (f.exponentBits + f.mantissaBits) : 0;
  if (std::isnan(value)) {
    return sign | nanBits(f);
  }
  uint64_t overflow = f.saturates ? maxFinite(f) : maxFinite(f) + 1;
  if (std::isinf(value)) {
    return sign | overflow;
  }
  if (value == 0) {
    return sign;
  }
  // Far above every small format's range; keeps the exponent field of roundMagnitude small.
  if (std::fabs(value) >= 0x1p129) {
    return sign | overflow;
  }
  uint64_t magnitude = roundMagnitude(f, std::fabs(value));
  return sign | (magnitude > maxFinite(f) ? overflow : magnitude);
}

double decodeFloat(DType type, uint64_t bits) {
  if (type == DType::F64) {
    return std::bit_cast<double>(bits);
  }
  if (type == DType::E8M0) {
    bits &= 255;
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
  Format f = formatOf(type);
  uint64_t mantissa = bits & ((uint64_t{1} << f.mantissaBits) - 1);
  uint64_t exponent = (bits >> f.mantissaBits) & ((uint64_t{1} << f.exponentBits) - 1);
  bool negative = (bits >> (f.exponentBits + f.mantissaBits)) & 1;
  uint64_t magnitude = (exponent << f.mantissaBits) | mantissa;
  double value;
  if (magnitude > maxFinite(f)) {
    value = f.hasInfinity && mantissa == 0 ? std::numeric_limits<double>::infinity()
                                           : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value =
        std::ldexp(static_cast<double>(mantissa), 1 - f.bias - static_cast<int>(f.mantissaBits));
  } else {
    value = std::ldexp(static_cast<double>(mantissa | (uint64_t{1} << f.mantissaBits)),
                       static_cast<int>(exponent) - f.bias - static_cast<int>(f.mantissaBits));
  }
  return negative ? -value : value;
}

double doubleForRounding(__int128 value) {
  bool negative = value < 0;
  unsigned __int128 magnitude =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  int dropped = 0;
  bool sticky = false;
  while (magnitude >> 53) {
    sticky |= static_cast<bool>(magnitude & 1);
    magnitude >>= 1;
    ++dropped;
  }
  double result =
      std::ldexp(static_cast<double>(static_cast<uint64_t>(magnitude) | sticky), dropped);
  return negative ? -result : result;
}

double intToFloat(DType type, __int128 value) {
  return type == DType::F64 ? static_cast<double>(value)
                            : roundFloat(type, doubleForRounding(value));
}

__int128 minInt(DType type) {
  return dtypeIsSigned(type) ? -(static_cast<__int128>(1) << (dtypeBits(type) - 1)) : 0;
}

__int128 maxInt(DType type) {
  if (type == DType::Bool) {
    return 1;
  }
  return (static_cast<__int128>(1) << (dtypeBits(type) - dtypeIsSigned(type))) - 1;
}

__int128 floatToInt(DType type, double value) {
  if (std::isnan(value)) {
    return 0;
  }
  double whole = std::trunc(value);
  // Beyond 2^65 every type saturates; below, the conversion to 128 bits is exact.
  if (whole >= 0x1p65) {
    return maxInt(type);
  }
  if (whole <= -0x1p65) {
    return minInt(type);
  }
  __int128 exact = static_cast<__int128>(whole);
  return exact < minInt(type) ? minInt(type) : exact > maxInt(type) ? maxInt(type) : exact;
}

__int128 wrapInt(DType type, __int128 value) {
  unsigned bits = type == DType::Bool ? 1 : dtypeBits(type);
  unsigned __int128 low =
      static_cast<unsigned __int128>(value) & ((static_cast<unsigned __int128>(1) << bits) - 1);
  __int128 result = static_cast<__int128>(low);
  if (dtypeIsSigned(type) && (low >> (bits - 1))) {
    result -= static_cast<__int128>(1) << bits;
  }
  return result;
}

} // namespace tile_rt
