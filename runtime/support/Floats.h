// Conversions between double and the small floating-point formats, independent of compiler and
// hardware support. Formats: IEEE binary16, bfloat16, and e4m3, e5m2, e2m1, e8m0 of the OCP
// specifications "OFP8" 1.0 and "Microscaling Formats" 1.0. e4m3 has no infinities and one NaN per
// sign, e2m1 neither, e8m0 is 2^(x - 127) with NaN = 255. This is the only place where they are converted:
// constants of the compiler, the cpu target, calls and what is compared all come here.
#pragma once

#include "DType.h"

#include <cstdint>

namespace tile_rt {

/// Bits of `value` in a floating-point type, in the low bits of the result. Rounds to nearest even,
/// once. Overflow gives infinity, except in e4m3, e5m2 and e2m1, which saturate to the largest
/// finite value (infinities too); NaN stays NaN where the type has one, with all bits but the sign
/// set as by GPUs, and becomes the largest finite value in e2m1. e8m0: to the nearest power of two
/// in range.
uint64_t encodeFloat(DType type, double value);

/// The value of those bits; exact for every format. Bits above the type's width are ignored.
double decodeFloat(DType type, uint64_t bits);

/// `value` rounded to `type` and back.
inline double roundFloat(DType type, double value) {
  return type == DType::F64 ? value : decodeFloat(type, encodeFloat(type, value));
}

/// An integer as double such that rounding that double to any type of at most 32 bits equals
/// rounding the integer (it is rounded to odd, not to even, if it does not fit 53 bits).
double doubleForRounding(__int128 value);

/// An integer rounded to nearest even in `type`, as a double.
double intToFloat(DType type, __int128 value);

/// Truncates, saturates to the range of the integer type (bool: 0 or 1); NaN gives 0.
__int128 floatToInt(DType type, double value);

/// The low bits of `value`, read as the integer type.
__int128 wrapInt(DType type, __int128 value);

/// T(x), docs/language.md section 4: from bits of `from` to those of `to`, zero above its width.
uint64_t convertBits(DType from, DType to, uint64_t bits);

/// The largest finite value of a floating-point type.
double maxFloat(DType type);

/// Range of an integer type or bool.
__int128 minInt(DType type);
__int128 maxInt(DType type);

} // namespace tile_rt
