// The variants of a launch in the manifest: its kernels' guards, parameters and tensor maps.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/emit/HostProgram.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <vector>

namespace tilec {

/// The `tgpu.kernel`s of a module by the launch that they belong to, in the module's order, which
/// is the order of preference.
class LaunchVariants {
public:
  explicit LaunchVariants(mlir::ModuleOp module);

  /// The list of variants of `launch`. A launch without kernels is reported.
  llvm::json::Array write(tgpu::LaunchOp launch, HostExpressions &expressions,
                          DiagnosticEngine &diags) const;

private:
  llvm::StringMap<std::vector<tgpu::KernelOp>> kernels; // looked up, never iterated
};

} // namespace tilec
