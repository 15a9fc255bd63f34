#include "Floats.h"

#include "Bits.h"
#include "FloatFormat.h"

#include <cmath>
#include <limits>

namespace tile_rt {

namespace {
/// Calls `use` with the format, a constant that the compiler sees: calls for each element of a
/// tensor come through here.
template <typename Use>
auto withFormat(DType type, Use use) {
  switch (type) {
  case DType::F64:
    return use(kF64);
  case DType::F32:
    return use(kF32);
  case DType::F16:
    return use(kF16);
  case DType::BF16:
    return use(kBF16);
  case DType::E4M3:
    return use(kE4M3);
  case DType::E5M2:
    return use(kE5M2);
  default:
    return use(kE2M1);
  }
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
  int biased = exponent - 1 + 127;
  biased += fraction > 0.75 || (fraction == 0.75 && (biased & 1));
  return static_cast<uint64_t>(biased);
}
} // namespace

uint64_t encodeFloat(DType type, double value) {
  switch (type) {
  case DType::F64:
    return bitCast<uint64_t>(value);
  case DType::F32:
    return bitCast<uint32_t>(static_cast<float>(value));
  case DType::E8M0:
    return encodeE8M0(value);
  default:
    break;
  }
  bool saturates = type == DType::E4M3 || type == DType::E5M2 || type == DType::E2M1;
  return withFormat(type, [&](const FloatFormat &format) {
    return std::isnan(value) ? format.signBit() - 1
                             : encodeFloat(format, value, Rounding::NearestEven, saturates);
  });
}

double decodeFloat(DType type, uint64_t bits) {
  switch (type) {
  case DType::F64:
    return bitCast<double>(bits);
  case DType::F32:
    return bitCast<float>(static_cast<uint32_t>(bits));
  case DType::E8M0:
    bits &= 255;
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  default:
    return withFormat(type, [&](const FloatFormat &format) { return decodeFloat(format, bits); });
  }
}

double maxFloat(DType type) {
  if (type == DType::E8M0) {
    return 0x1p127;
  }
  return withFormat(
      type, [](const FloatFormat &format) { return decodeFloat(format, format.maxFinite()); });
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

uint64_t convertBits(DType from, DType to, uint64_t bits) {
  bool fromFloat = dtypeKind(from) == ValueKind::Float, toFloat = dtypeKind(to) == ValueKind::Float;
  if (fromFloat && toFloat) {
    return encodeFloat(to, decodeFloat(from, bits));
  }
  __int128 integer = fromFloat ? floatToInt(to, decodeFloat(from, bits))
                               : wrapInt(from, static_cast<__int128>(bits));
  if (toFloat) {
    return encodeFloat(to, intToFloat(to, integer));
  }
  unsigned width = to == DType::Bool ? 1 : dtypeBits(to);
  return static_cast<uint64_t>(integer) & (~uint64_t{0} >> (64 - width));
}

} // namespace tile_rt
