// Binary floating-point formats with sign, exponent and mantissa fields, and rounding to them from
// double or from an integer significand, in every direction. Independent of compiler and hardware
// support; inline, since the emulator rounds every result through here.
#pragma once

#include "Bits.h"

#include <cstdint>

namespace tile_rt {

struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  int bias;
  bool hasInfinity; ///< the top exponent is infinity and NaN, as in IEEE 754
  bool hasNan;      ///< without hasInfinity: only the all-ones pattern

  constexpr unsigned bits() const { return 1 + exponentBits + mantissaBits; }
  constexpr uint64_t signBit() const { return uint64_t{1} << (exponentBits + mantissaBits); }
  constexpr uint64_t maxFinite() const {
    uint64_t all = signBit() - 1;
    if (hasInfinity) {
      return all - (uint64_t{1} << mantissaBits);
    }
    return hasNan ? all - 1 : all;
  }
  /// What infinities and too large values become where they do not saturate: a format without
  /// infinities has its NaN for them, or else its largest value.
  constexpr uint64_t overflow() const {
    return hasInfinity || hasNan ? maxFinite() + 1 : maxFinite();
  }
  /// The positive quiet NaN with no other bit set than it needs; the largest value if there is
  /// none.
  constexpr uint64_t quietNan() const {
    uint64_t all = signBit() - 1;
    if (!hasNan) {
      return maxFinite();
    }
    return hasInfinity ? all & ~((uint64_t{1} << (mantissaBits - 1)) - 1) : all;
  }
  constexpr uint64_t minNormal() const { return uint64_t{1} << mantissaBits; }
};

inline constexpr FloatFormat kF64{11, 52, 1023, true, true}, kF32{8, 23, 127, true, true},
    kTF32{8, 10, 127, true, true}, kF16{5, 10, 15, true, true}, kBF16{8, 7, 127, true, true},
    kE4M3{4, 3, 7, false, true}, kE5M2{5, 2, 15, true, true}, kE3M2{3, 2, 3, false, false},
    kE2M3{2, 3, 1, false, false}, kE2M1{2, 1, 1, false, false};

enum class Rounding : uint8_t { NearestEven, NearestAway, Zero, Down, Up };

/// Whether a magnitude that lies between two neighbours goes to the upper one. `half` and `below`
/// are the first bit cut off and whether any after it is set; `odd` is the last bit kept.
constexpr bool roundsUp(Rounding rounding, bool negative, bool odd, bool half, bool below) {
  switch (rounding) {
  case Rounding::NearestEven:
    return half && (below || odd);
  case Rounding::NearestAway:
    return half;
  case Rounding::Zero:
    return false;
  case Rounding::Down:
    return negative && (half || below);
  case Rounding::Up:
    return !negative && (half || below);
  }
  return false;
}

/// `significand` * 2^`exponent`, with the sign, rounded once. `significand` may be 0. With
/// `saturate`, what overflows becomes the largest finite value.
constexpr uint64_t encodeScaled(const FloatFormat &f, bool negative, uint64_t significand,
                                int exponent, Rounding rounding, bool saturate) {
  uint64_t sign = negative ? f.signBit() : 0;
  if (significand == 0) {
    return sign;
  }
  int mantissaBits = static_cast<int>(f.mantissaBits), top = 63 - leadingZeros(significand);
  int biased = top + exponent + f.bias, shift = top - mantissaBits;
  uint64_t field = 0, maxField = (uint64_t{1} << f.exponentBits) - 1;
  if (biased < 1) { // subnormal
    shift += 1 - biased;
  } else if (biased > static_cast<int>(maxField)) {
    field = maxField << f.mantissaBits; // beyond every rounding
  } else {
    // Exponent and mantissa are one number, so that a carry out of the mantissa is right by
    // itself; the implicit bit adds one to the exponent.
    field = static_cast<uint64_t>(biased - 1) << f.mantissaBits;
  }
  uint64_t magnitude = 0;
  if (shift <= 0) {
    magnitude = field + (significand << -shift);
  } else {
    if (shift > 63) { // less than a quarter of the smallest value: only that it is not zero counts
      significand = 1;
      shift = 63;
    }
    uint64_t kept = significand >> shift, rest = significand & ((uint64_t{1} << shift) - 1);
    bool half = rest >> (shift - 1), below = rest & ((uint64_t{1} << (shift - 1)) - 1);
    magnitude = field + kept + roundsUp(rounding, negative, kept & 1, half, below);
  }
  if (magnitude <= f.maxFinite()) {
    return sign | magnitude;
  }
  bool towardsZero =
      rounding == Rounding::Zero || rounding == (negative ? Rounding::Up : Rounding::Down);
  return sign | (saturate || towardsZero ? f.maxFinite() : f.overflow());
}

/// A double rounded once. Infinities stay infinite in every direction unless `saturate`; a NaN
/// gives quietNan() with its sign.
constexpr uint64_t encodeFloat(const FloatFormat &f, double value, Rounding rounding,
                               bool saturate = false) {
  uint64_t bits = bitCast<uint64_t>(value);
  bool negative = bits >> 63;
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    uint64_t sign = negative ? f.signBit() : 0;
    return sign | (mantissa ? f.quietNan() : saturate ? f.maxFinite() : f.overflow());
  }
  int biased = exponent - 1023 + f.bias;
  if (rounding == Rounding::NearestEven && f.mantissaBits < 52 && biased >= 1 &&
      biased < (1 << f.exponentBits) - 1) {
    // The common case, quickly: a normal result. Adding just below half, and the last bit kept,
    // carries exactly where rounding goes up.
    unsigned shift = 52 - f.mantissaBits;
    uint64_t magnitude = static_cast<uint64_t>(biased) << 52 | mantissa;
    magnitude += (uint64_t{1} << (shift - 1)) - 1 + (magnitude >> shift & 1);
    if (magnitude >> shift <= f.maxFinite()) {
      return (negative ? f.signBit() : 0) | magnitude >> shift;
    }
  }
  if (exponent != 0) {
    mantissa |= uint64_t{1} << 52;
    --exponent;
  }
  return encodeScaled(f, negative, mantissa, exponent - 1074, rounding, saturate);
}

/// The value of those bits; exact. Bits above the format's width are ignored.
constexpr double decodeFloat(const FloatFormat &f, uint64_t bits) {
  uint64_t sign = bits & f.signBit() ? uint64_t{1} << 63 : 0;
  uint64_t magnitude = bits & (f.signBit() - 1);
  unsigned up = 52 - f.mantissaBits;
  if (magnitude > f.maxFinite()) {
    bool infinite = f.hasInfinity && !(magnitude & (f.minNormal() - 1));
    return bitCast<double>(sign | uint64_t{0x7ff} << 52 | (infinite ? 0 : uint64_t{1} << 51));
  }
  if (magnitude >= f.minNormal()) {
    uint64_t rebias = static_cast<uint64_t>(1023 - f.bias) << 52;
    return bitCast<double>(sign | ((magnitude << up) + rebias));
  }
  if (f.mantissaBits == 52) {
    return bitCast<double>(sign | magnitude);
  }
  // The smallest value of a format below f64 is a normal double.
  int smallest = 1 - f.bias - static_cast<int>(f.mantissaBits);
  double unit = bitCast<double>(static_cast<uint64_t>(1023 + smallest) << 52);
  double value = static_cast<double>(magnitude) * unit;
  return sign ? -value : value;
}

} // namespace tile_rt
