// Products of small matrices as tensor cores compute them.
#pragma once

#include "runtime/emulator/matrix/Elements.h"

namespace tile_emu {

/// How a tensor core adds: all terms of a step (products and the accumulator) are cut towards zero
/// to `fraction` bits below the leading bit of the largest, added exactly, and the sum is cut
/// towards zero to `result` bits after its leading bit. Measured on an H200.
struct Summation {
  unsigned fraction;
  unsigned result;
  unsigned terms; ///< products in a step
};
Summation summationOf(Element element);

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
