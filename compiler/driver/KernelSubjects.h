// Which kernel, architecture and variant a remark is about.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/driver/ModuleJob.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>

namespace tilec {

/// Subjects of the kernels of one job after the other.
class KernelSubjects {
public:
  /// From now on kernels are those of `job`.
  void begin(const ModuleJob &job);
  Subject of(tgpu::KernelOp kernel) const;
  /// Of the kernel of the tile or the tgpu dialect that is called so; `module` may be null.
  Subject named(llvm::StringRef name, mlir::ModuleOp module) const;
  /// Remembers the kernels of a module that is about to lose its host part, which says whose they are.
  void keep(mlir::ModuleOp module);

private:
  Subject ofKernel(llvm::StringRef symbol) const;

  std::string arch;
  std::map<std::string, std::string> parameters; ///< by symbol: those that `auto` chose
  std::map<std::string, Subject> kept;           ///< by entry
};

} // namespace tilec
