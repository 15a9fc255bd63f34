// Products of small matrices as tensor cores compute them.
#pragma once

#include "Elements.h"

namespace tile_emu {

/// How a tensor core adds. All terms (products and the accumulator) are cut towards zero to
/// `fraction` bits below the leading bit of the largest, as if no product carried, and added
/// exactly; the sum is cut towards zero to `result` bits below its leading bit, or rounded to f16.
/// Bit for bit what an H200 does, for every type (it was compared on random matrices); other
/// generations keep a bit less and add fewer terms at once.
struct Summation {
  unsigned fraction = 25, result = 23;
  bool toHalf = false;
  /// Exponents of the smallest normal numbers: smaller ones are added as if they had them.
  int lowestA = -126, lowestB = -126;
  /// mma.sync multiplies fp8 as f16, in two products that start from zero, each with two of four
  /// neighbours along K; C is added last, rounding to nearest.
  bool pairwise = false;
};
Summation summationOfMma(Element a, Element b, Element sum);
Summation summationOfWgmma(Element a, Element b, Element sum);

/// c += a b, with a of `rows` x `k`, b of `k` x `columns`, c of `rows` x `columns`, all row by row.
/// Infinities and NaN follow IEEE 754; a NaN that results is the canonical one.
void multiply(const Summation &how, unsigned rows, unsigned columns, unsigned k, const float *a,
              const float *b, float *c);
/// In f64: a chain of fused multiply-adds in the order of k.
void multiply(unsigned rows, unsigned columns, unsigned k, const double *a, const double *b,
              double *c);
/// Integers; sums that leave s32 wrap or are clamped at the end.
void multiply(bool clamp, unsigned rows, unsigned columns, unsigned k, const int32_t *a,
              const int32_t *b, int32_t *c);

} // namespace tile_emu
