// The list of GPU phases: the one place that orders passes.
#pragma once

#include "dialects/support/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace tilec {

struct PipelineOptions {
  const Target *target;
  unsigned optLevel = 2;
  bool check = false; ///< test at run time what can be tested
  /// By alignment (RowKind.h), for which rows there is code; empty: `aligned` and `any`.
  std::vector<std::string> variants = {};
  unsigned scheduleSeed = 0; ///< of schedules that are drawn; 0: planned
};

/// For PipelineOptions::variants: code for all kinds of rows, each where a kernel can use it.
std::vector<std::string> allVariants();

/// From the tile dialect to launches and kernels: the same for all targets.
void addOutliningPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Says of every kernel of the module for which architecture it is compiled.
void setTarget(mlir::ModuleOp module, const Target &target);

/// From there to tgpu kernels in which every layout, buffer and barrier is decided: what
/// --emit=tgpu prints and the manifest is made from.
void addTgpuPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

/// The first of these: as far as the cost of each launch is known.
void addCostPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

/// From there to the LLVM and NVVM dialects. The module holds device code only.
void addLlvmPasses(mlir::OpPassManager &passes, const PipelineOptions &options);

} // namespace tilec
