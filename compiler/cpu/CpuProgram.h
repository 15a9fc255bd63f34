//===- CpuProgram.h - running a program on the host -----------------------===//
//
// The sequential meaning of a program, straight from the tile dialect and with none of the GPU
// passes: what the other ways to run it are compared with. Everything that docs/language.md calls
// an error of the program and that can be seen at run time stops it with a message (section 9, "Out
// of range"; section 4).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

namespace tilec::cpu {

struct CpuOptions {
  int32_t smCount = 1;                    ///< what sm_count() gives
  llvm::raw_ostream *out = &llvm::outs(); ///< where `print` writes; not owned
  int64_t memoryLimit = int64_t(1) << 34; ///< bytes that one workspace can have
  /// Whether the code tests what the language says of integers and conditions of host parts. Without it they are as a GPU's
  /// manifest has them, and that has been evaluated for the call.
  bool checksHost = true;
  bool dumpLLVM = false; ///< print the LLVM IR to standard error before it is optimised
};

/// One argument of a kernel.
struct Argument {
  /// A tensor: the address of its first element (null for an optional one that is absent), extents
  /// and strides in elements. `dtype` is the language's name of the element type ("f16", "u4",
  /// "bool").
  static Argument tensor(void *data, llvm::ArrayRef<int64_t> extents,
                         llvm::ArrayRef<int64_t> strides, llvm::StringRef dtype);
  /// A row-major, contiguous tensor.
  static Argument tensor(void *data, llvm::ArrayRef<int64_t> extents, llvm::StringRef dtype);
  /// A scalar: its bits in the low end of a word.
  static Argument scalar(uint64_t bits, llvm::StringRef dtype);

  bool isTensor = false;
  void *data = nullptr;
  uint64_t bits = 0;
  llvm::SmallVector<int64_t, 8> extents, strides;
  std::string dtype;
};

class CpuProgram {
public:
  /// Generates host code for every kernel of `module`, which is in the tile dialect and stays as it
  /// is. What the cpu target does not know is reported through the context's diagnostics, at its
  /// place in the source, and as an error.
  static llvm::Expected<std::unique_ptr<CpuProgram>> compile(mlir::ModuleOp module,
                                                             const CpuOptions &options = {});
  ~CpuProgram();

  /// Runs the kernel of this name. The arguments fit its parameters: tile_rt::bindArguments has
  /// checked them. The error is about a condition at launch ("... [where-failed]"), or an error of
  /// the program, beginning with its place in the source.
  llvm::Error run(llvm::StringRef symbol, llvm::ArrayRef<Argument> arguments);

  /// Names of the kernels, in the order of the module.
  llvm::ArrayRef<std::string> symbols() const { return names; }

private:
  CpuProgram();

  CpuOptions options;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::SmallVector<std::string> names;
};

} // namespace tilec::cpu
