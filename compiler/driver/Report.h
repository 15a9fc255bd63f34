// What --report says of kernels whose every decision is made.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilec {

/// Remarks on the tgpu kernels of `module`: what moves by TMA, and the place, size and swizzle of
/// each buffer in shared memory. What was refused, and bank conflicts, passes have said by then.
void reportKernels(mlir::ModuleOp module, DiagnosticEngine &diags);

} // namespace tilec
