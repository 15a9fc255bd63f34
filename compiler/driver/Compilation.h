// One source file on its way to one output.
#pragma once

#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/driver/IrDiagnostics.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/Timer.h"
#include "compiler/emit/Assembler.h"
#include "compiler/emit/Pack.h"
#include "compiler/emit/Toolchain.h"
#include "compiler/parse/ImportLoader.h"
#include "compiler/sema/Sema.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/JSON.h"

#include <memory>
#include <optional>
#include <string>

namespace tilec {

/// Owns everything of a compilation: sources, diagnostics, trees, typed programs, IR. Nothing
/// outlives it and there is no global state, so several may exist. Not copyable.
///
/// Steps return false or null after having reported why. A `.mlir` input holds IR, as --emit=tile,
/// tgpu or --save-temps printed it: compilation then starts where that stands.
class Compilation {
public:
  Compilation(const Options &options, std::string input);
  ~Compilation();

  /// Compiles and writes the output. Diagnostics stay in the engine: see finish().
  void compile();
  /// The tile dialect of the first architecture's program, or of the `cpu` target.
  mlir::OwningOpRef<mlir::ModuleOp> lowerFor(const Target &target);
  /// Prints the diagnostics (and times) and says with which status the program should end.
  ExitCode finish(llvm::raw_ostream &os);

  DiagnosticEngine &getDiags() { return diags; }
  SourceManager &getSources() { return sources; }
  mlir::MLIRContext &getContext() { return context; }
  const std::string &getInput() const { return input; }
  /// What is being done, for the message about a crash.
  llvm::StringRef getPhase() const { return phase; }
  /// Where a pack goes instead of the place that the options say (`tilec run`).
  void setOutput(std::string path) { output = std::move(path); }
  /// A pack then holds PTX and no machine code, for the emulator: ptxas is not needed.
  void setPtxOnly() { ptxOnly = true; }

private:
  struct Launch;
  struct DeviceCode; // what compileDevice makes for one architecture

  bool load();
  std::unique_ptr<sema::Program> analyze(const Target &target);
  bool compileFor(const Target &target, unsigned moduleIndex, DeviceCode &code);
  bool toTgpu(mlir::ModuleOp module, const Target &target);
  bool toDevice(mlir::ModuleOp module, const Target &target, DeviceCode &code);
  bool assemble(const Target &target, DeviceCode &code);
  /// Takes `@min_blocks` from functions that spill: blocks that only fit by spilling are worse than
  /// fewer of them. Returns whether there are any.
  bool dropSpillingBounds(const Target &target, const AssemblerReport &report, DeviceCode &code,
                          llvm::function_ref<llvm::SMRange(const std::string &)> place);
  void reportAssembler(const Target &target, const AssemblerReport &report,
                       const std::map<std::string, Launch> &launches);
  bool runPasses(mlir::ModuleOp module, const Target &target, llvm::StringRef name,
                 llvm::function_ref<void(mlir::OpPassManager &)> populate);
  bool bundle(llvm::MutableArrayRef<DeviceCode> codes);

  bool writeText(llvm::StringRef text);
  bool writeFile(llvm::StringRef path, llvm::StringRef bytes);
  bool writeDependencies();
  bool saveTemp(const Target &target, llvm::StringRef extension, llvm::StringRef text);
  std::string outputPath() const;
  std::string sourceHash() const;
  bool failed() const { return diags.hasErrors(); }

  const Options &options;
  std::string input;
  std::string output;
  bool ptxOnly = false;
  llvm::StringRef phase = "start";
  SourceManager sources;
  DiagnosticEngine diags;
  PhaseTimer timer;
  Toolchain toolchain;
  ImportLoader loader;
  const LoadedFile *main = nullptr;             // null for IR
  std::vector<const LoadedFile *> instantiates; // of --instantiate
  mlir::MLIRContext context;
  IrDiagnostics irDiagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> inputIr; // of a .mlir file
};

} // namespace tilec
