//===- HostNumbers.h - the number types of the language on the host -------===//
//
// Exact decoding and correctly rounded encoding of every element type, in code of our own, so that
// the meaning of a program does not depend on what the host's compiler does with narrow floats.
// Formats: IEEE 754 (f64, f32, f16, bf16) and the OCP formats e4m3 (no infinity), e5m2, e2m1, e8m0.
// Rules: docs/language.md sections 4 and 13. A number travels as its bits in the low end of a
// uint64_t.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace tilec::cpu {

/// Element kinds. Integers have no sign; where it matters, the operation says so.
enum class Num : int32_t { F64, F32, F16, BF16, E4M3, E5M2, E2M1, E8M0, I1, I4, I8, I16, I32, I64 };

constexpr bool isFloatNum(Num num) { return num <= Num::E8M0; }

/// Bits in memory: 4 for the types that are packed two to a byte, 8 for I1.
unsigned storageBits(Num num);

/// The value of `bits`: exact, as f64 holds every value of the other float types. Floats only.
double decode(Num num, uint64_t bits);

/// `value` rounded to nearest even. Overflow gives infinity; E4M3, E5M2 and E2M1 saturate instead,
/// at infinity too. NaN stays NaN; E2M1, which has none, gives its largest value, as the hardware
/// does. Floats but E8M0.
uint64_t encode(Num num, double value);

/// T(x): from `bits` of type `from` to the bits of type `to`, zero above its width. Float to
/// integer truncates and saturates, NaN gives 0; integer to integer keeps the low bits; integer to
/// float rounds once.
uint64_t convert(Num from, bool fromUnsigned, Num to, bool toUnsigned, uint64_t bits);

/// The value as an f32, rounded once; the exact value of the types that f32 contains.
float decodeFloat(Num num, uint64_t bits);

/// An f32 rounded to the 10 mantissa bits of tf32, ties away from zero (PTX cvt.rna.tf32.f32).
float roundToTf32(float value);

} // namespace tilec::cpu
