//===- Reciprocal.h - what the host knows of a divisor --------*- C++ -*-===//
//
// x / d is x times a number, shifted: for each d of 32 bits there are factor, addend and shift of 32 bits,
// with which, read without sign,
//
//     (x * factor + addend) >> 32 >> shift
//
// is x / abs(d) for every x of 32 bits. For d = 0 all are 0, and so is the quotient. Where the numbers
// come from: `evaluateReciprocal` in the runtime, which computes them for each call.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TGPU_RECIPROCAL_H
#define TILEC_DIALECTS_TGPU_RECIPROCAL_H

#include "dialects/tile/Facts.h"

namespace tilec::tgpu {

/// Fact of an argument of a kernel, an i32: the number of the argument that is the factor of its
/// magnitude, and 1 if it is read without sign. Addend and shift follow; all are i32.
inline constexpr Fact<mlir::DenseI64ArrayAttr> kReciprocal{"tgpu.reciprocal"};

} // namespace tilec::tgpu

#endif // TILEC_DIALECTS_TGPU_RECIPROCAL_H
