// A module of the LLVM dialect becomes LLVM IR and PTX.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/emit/Toolchain.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace tilec {

struct PtxOptions {
  std::string arch;         ///< "sm_90a", "sm_80", ...
  unsigned optLevel = 2;    ///< 0 to 3: LLVM's pipeline
  bool lineTables = false;  ///< `.loc` lines
  bool flushToZero = false; ///< of libdevice's functions (@fast_math)
};

/// One translation from the LLVM dialect to PTX. Failures are reported to the engine; the functions
/// then return null or nothing. LLVM's own aborts are not caught here: the driver guards the call.
class PtxEmitter {
public:
  PtxEmitter(PtxOptions options, const Toolchain &toolchain, DiagnosticEngine &diags);

  /// Translates `module` (a builtin.module or gpu.module of the LLVM and NVVM dialects) and makes
  /// it fit for the backend: target, data layout, `convergent` on inline assembly, source names
  /// without folders, mathematical functions that the backend cannot select replaced by
  /// libdevice's. With lineTables `module` gains debug scopes.
  std::unique_ptr<llvm::Module> toLlvmIr(mlir::Operation *module, llvm::LLVMContext &context);
  /// Runs LLVM's pipeline for GPUs.
  void optimise(llvm::Module &module);
  /// Generates code. `module` is not to be used afterwards, nor its context with another emitter.
  std::optional<std::string> toPtx(llvm::Module &module);

private:
  bool linkLibdevice(llvm::Module &module);

  PtxOptions options;
  const Toolchain &toolchain;
  DiagnosticEngine &diags;
  std::unique_ptr<llvm::TargetMachine> machine; // null if LLVM has no such target
  std::unique_ptr<llvm::OptPassGate> gate;      // of the context of the module that becomes PTX
};

/// PTX without its line table: what LLVM prints if it is not asked for one.
std::string withoutLines(llvm::StringRef ptx);

/// Takes `.minnctapersm` (PTX ISA, "Performance-Tuning Directives") from an entry; false if it asks
/// for no more than one block.
bool dropMinBlocks(std::string &ptx, llvm::StringRef entry);

/// Asks for one block, where an entry has neither `.minnctapersm` nor `.maxnreg`: left to itself ptxas keeps registers for as many as
/// it thinks good, and spills for them. False if it has.
bool askForOneBlock(std::string &ptx, llvm::StringRef entry);

} // namespace tilec
