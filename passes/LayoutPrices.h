//===- LayoutPrices.h - what conversions of fragments cost -----*- C++ -*-===//
#ifndef TILEC_PASSES_LAYOUTPRICES_H
#define TILEC_PASSES_LAYOUTPRICES_H

#include "dialects/layout/ConversionPrice.h"
#include "passes/LayoutAssignment.h"

namespace tilec {

/// What it costs on the kernel's target to give a fragment of this type another layout than `from`; refused
/// where there is no such conversion.
layout::Answer<layout::ConversionPrice> priceOfConversion(tgpu::KernelOp kernel,
                                                          mlir::RankedTensorType type,
                                                          const layout::RegisterLayout &from,
                                                          const layout::RegisterLayout &to);

/// For remarks: ": 4 shuffles, 4 instructions a thread"; nothing where it is not known.
std::string describePrice(tgpu::KernelOp kernel, mlir::RankedTensorType from,
                          const layout::RegisterLayout &to);

/// Runs the assignment. Where layouts of two anchors meet, either of them may end there: the one is pinned with
/// which conversions, reductions and accesses cost least, each as often as the loops around it run. A
/// remark says where that is not the first to arrive.
llvm::LogicalResult chooseLayouts(tgpu::KernelOp kernel, LayoutAssignment &layouts);

} // namespace tilec

#endif // TILEC_PASSES_LAYOUTPRICES_H
