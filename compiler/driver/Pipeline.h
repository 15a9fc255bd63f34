// The list of GPU phases: the one place that orders passes.
#pragma once

#include "dialects/support/Target.h"
#include "mlir/Pass/PassManager.h"

namespace tilec {

struct PipelineOptions {
  const Target *target;
  unsigned optLevel = 2;
};

/// From the tile dialect to tgpu kernels in which every layout, buffer and barrier is decided: what
/// --emit=tgpu prints and the manifest is made from.
void addTgpuPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

/// From there to the LLVM and NVVM dialects. The module holds device code only.
void addLlvmPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

} // namespace tilec
