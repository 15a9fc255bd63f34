//===- Reciprocal.h - what the host knows of a divisor --------*- C++ -*-===//
//
// x / d is x times a number, shifted: for each d of N bits, 32 or 64, there are factor, addend and shift,
// with which, read without sign,
//
//     (x * factor + addend) >> N >> shift
//
// is x / abs(d) for every x of N bits. For d = 0 all are 0, and so is the quotient. Where the numbers
// come from: `evaluateReciprocal` in the runtime, which computes them for each call.
//
// The addend is 0 or the factor. An addend of 32 bits costs nothing, one of 64 the low half of a product
// of 128 bits and two carries: kernels get 1 in its place, and add that to x.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TGPU_RECIPROCAL_H
#define TILEC_DIALECTS_TGPU_RECIPROCAL_H

#include "dialects/tile/Facts.h"

namespace tilec::tgpu {

/// Fact of an argument of a kernel, an integer: the number of the argument that is the factor of its
/// magnitude, and 1 if it is read without sign. The factor is an i64 for an i64, else an i32, as if the
/// divisor were extended; addend, for an i64 0 or 1, and shift follow, i32 both.
inline constexpr Fact<mlir::DenseI64ArrayAttr> kReciprocal{"tgpu.reciprocal"};

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_RECIPROCAL_H
