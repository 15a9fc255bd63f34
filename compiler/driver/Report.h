// What --report says of kernels whose every decision is made.
#pragma once

#include "compiler/driver/KernelSubjects.h"
#include "compiler/emit/Assembler.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/CostModel.h"

#include <map>
#include <string>
#include <vector>

namespace tilec {

/// A kernel of one architecture and variant, in one line.
struct KernelSummary {
  Subject subject;
  llvm::SMRange range; ///< of the launch
  std::string entry;
  const Target *target = nullptr;
  std::vector<std::string>
      products; ///< what multiplies matrices, each once: "wgmma m64n256k16 f32.f16.f16"
  int64_t threads = 0;
  int64_t sharedBytes = 0; ///< dynamic
  bool isPersistent = false;
  std::vector<ShownCost> costs; ///< what the model expects; empty for IR that has no host part
};

/// Remarks on the tgpu kernels of `module`: what multiplies, what moves by TMA or cp.async, and the place, size and
/// swizzle of each buffer in shared memory. What was refused, and bank conflicts, passes have said by then.
void reportKernels(mlir::ModuleOp module, const KernelSubjects &subjects, DiagnosticEngine &diags);

/// Summaries of the tgpu kernels of `module`, by entry.
std::map<std::string, KernelSummary>
summarise(mlir::ModuleOp module, const KernelSubjects &subjects, const DiagnosticEngine &diags);

/// Says what stands in it, with the resources that ptxas found; without them (null) with what the model takes them for.
void reportSummary(const KernelSummary &summary, const FunctionResources *used,
                   DiagnosticEngine &diags);

} // namespace tilec
