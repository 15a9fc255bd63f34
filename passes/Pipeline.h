//===- Pipeline.h - what planning and expansion of pipelines share -*- C++ -*-===//
#ifndef TILEC_PASSES_PIPELINE_H
#define TILEC_PASSES_PIPELINE_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// True when `value` can be computed for any iteration of `loop` from its induction variable and
/// values from outside, without side effects.
bool isRecomputable(mlir::Value value, mlir::scf::ForOp loop);

/// The wait of the loop's only matrix product if the product's sum goes nowhere but into the next
/// iteration's: it may then run one iteration later. Null otherwise.
tgpu::WgmmaWaitOp findDeferrableWait(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_PASSES_PIPELINE_H
