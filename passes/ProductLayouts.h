//===- ProductLayouts.h - what products demand of fragments ----*- C++ -*-===//
#ifndef TILEC_PASSES_PRODUCTLAYOUTS_H
#define TILEC_PASSES_PRODUCTLAYOUTS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Layout of the accumulator of a product.
layout::Answer<layout::RegisterLayout> accumulatorLayout(tgpu::DotOp dot, int64_t warps);

/// What the threads read of an operand of scalar multiply-adds, in shared memory as it is stored, for the
/// first elements of k; the accumulator has its layout.
layout::Answer<layout::RegisterLayout> scalarReads(tgpu::DotOp dot, bool isA);

/// Layout in which a product takes an operand that is a fragment, as it is stored (transposed if it
/// is given so).
layout::Answer<layout::RegisterLayout> operandLayout(tgpu::DotOp dot, bool isA);

} // namespace tilec

#endif // TILEC_PASSES_PRODUCTLAYOUTS_H
