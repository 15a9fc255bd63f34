// One source file on its way to one output.
#pragma once

#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/driver/CandidatePrices.h"
#include "compiler/driver/IrDiagnostics.h"
#include "compiler/driver/KernelSubjects.h"
#include "compiler/driver/ModuleJob.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/Preferences.h"
#include "compiler/driver/Report.h"
#include "compiler/driver/Timer.h"
#include "compiler/driver/TunableKernel.h"
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

/// One module of device code.
struct DeviceModule {
  std::string ptx;          ///< what ptxas gets
  std::string ptxWithLines; ///< what the pack gets
  std::string cubin;
  AssemblerReport report;
};

using EntryTable = std::map<std::string, EntryFacts>;

/// What is made of a job.
struct DeviceCode {
  std::optional<llvm::json::Object> manifest;
  std::optional<llvm::json::Object> signatures; ///< of the source, for objects
  std::vector<DeviceModule> modules;
  std::map<std::string, unsigned>
      moduleOf; ///< by entry: which of `modules` has it; empty if there is but one
  EntryTable entries;
  std::map<std::string, KernelSummary> summaries; ///< by entry; only with --report
};

/// Which of a kernel's candidates a pack gets, for each kind of rows that it has code for; without such variants `Aligned` are all.
struct ChosenCandidates {
  ByRowKind<std::vector<unsigned>> of;
  std::vector<PreferredCandidate> preferences;
};

/// Where the pack of a candidate goes.
struct CandidatePack {
  unsigned candidate = 0;
  std::string path;
};

/// "k.tune.json" of "k.tile".
std::string tuneFileBeside(llvm::StringRef source);
/// The parameters of each candidate, as a tune file has them.
std::vector<ParameterTexts> candidatesOf(const sema::KernelInstance &kernel);

/// The scalar arguments that hold integers, in order.
std::vector<std::string> integerScalars(const sema::KernelInstance &kernel);
/// Dimensions and scalar arguments: what a CallSample has to say.
std::vector<std::string> pricedNames(const sema::KernelInstance &kernel);

/// The operation as text that can be read again, with locations where they matter.
std::string printIr(mlir::Operation *op);

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
  /// The tile dialect of the job's program; its target may be `cpu`.
  mlir::OwningOpRef<mlir::ModuleOp> lowerFor(const ModuleJob &job);
  // For `tilec tune`, in this order: Candidates.cpp.
  /// The kernel whose parameters are to be chosen; nothing after a diagnostic.
  std::optional<TunableKernel> findTunable();
  /// What each candidate is expected to take; nothing after a diagnostic.
  std::optional<std::vector<CandidatePrice>> priceCandidates(const TunableKernel &kernel,
                                                             llvm::ArrayRef<CallSample> samples);
  /// Compiles candidates, each to a pack of its own. Says of each why that failed, if it did; nothing
  /// after a diagnostic of what concerns all.
  std::optional<std::vector<std::string>> compileCandidates(const TunableKernel &kernel,
                                                            llvm::ArrayRef<CandidatePack> packs);
  /// For `tilec bench`: the kernels of the source as they are for the first architecture; null after a diagnostic.
  std::unique_ptr<sema::Program> analyzeKernels();
  /// After that: the source, and what its trees live in.
  const LoadedFile &getMain() const { return *main; }
  ast::Context &getTrees() { return loader.getContext(); }
  /// Of the source and all that it imports.
  std::string tunedSourceHash() const;
  /// Writes a file that never exists half-written; false after a diagnostic.
  bool writeFile(llvm::StringRef path, llvm::StringRef bytes);
  /// Prints the diagnostics (and times) and says with which status the program should end.
  ExitCode finish(llvm::raw_ostream &os);

  DiagnosticEngine &getDiags() { return diags; }
  SourceManager &getSources() { return sources; }
  mlir::MLIRContext &getContext() { return context; }
  const std::string &getInput() const { return input; }
  /// The input is IR, which no analysis has seen.
  bool readsIr() const { return bool(inputIr); }
  /// What is being done, for the message about a crash.
  llvm::StringRef getPhase() const { return phase; }
  /// Where a pack goes instead of the place that the options say (`tilec run`).
  void setOutput(std::string path) { output = std::move(path); }
  /// A pack then holds PTX and no machine code, for the emulator: ptxas is not needed.
  void setPtxOnly() { ptxOnly = true; }

private:
  bool load();
  std::unique_ptr<sema::Program> analyze(const ModuleJob &job);
  bool compileJob(const ModuleJob &job, DeviceCode &code);
  bool toTgpu(mlir::ModuleOp module, const ModuleJob &job);
  /// With --report: what was decided of the kernels of a module.
  void reportModule(mlir::ModuleOp module, DeviceCode &code);

  // Device code: DeviceModules.cpp.
  /// Code of all kernels, whose host parts are gone: one module, or, where the outputs may have several, modules of some kernels
  /// each, several at a time. How kernels are divided depends on them and on what is asked for, not on how many go at a time.
  bool toModules(mlir::ModuleOp module, const ModuleJob &job, DeviceCode &code);
  bool toModulesInParallel(mlir::ModuleOp module, const ModuleJob &job,
                           llvm::ArrayRef<std::vector<tgpu::KernelOp>> parts, DeviceCode &code);
  bool toModule(mlir::ModuleOp module, const ModuleJob &job, const EntryTable &entries,
                DeviceModule &code);
  bool dividesModules() const { return mayDivide && !readsIr() && !needsOneModule(EmitKind::Llvm); }
  bool toPtx(mlir::ModuleOp module, const ModuleJob &job, DeviceModule &code);
  bool assemble(const ModuleJob &job, const EntryTable &entries, DeviceModule &code);
  /// Gives functions that spill more registers: takes `@min_blocks` from them, since blocks that only fit by spilling are worse than
  /// fewer of them, or, where ptxas by itself kept registers for more blocks, asks it for one. Returns whether there are any.
  bool loosenSpilling(const ModuleJob &job, const EntryTable &entries,
                      const AssemblerReport &report, DeviceModule &code);
  void reportAssembler(const DeviceCode &code, const DeviceModule &module);
  static EntryTable entriesOf(mlir::ModuleOp module, const Target &target);
  /// Where the launch of an entry stands.
  llvm::SMRange placeOf(const std::string &entry, const EntryTable &entries) const;

  bool runPasses(mlir::ModuleOp module, const Target &target, llvm::StringRef name,
                 llvm::function_ref<void(mlir::OpPassManager &)> populate);
  bool compileAll(llvm::ArrayRef<ModuleJob> jobs, llvm::MutableArrayRef<DeviceCode> codes);
  /// Puts a module behind `modules`, and into the manifest what ptxas said of it.
  bool addModule(const Target &target, const DeviceModule &module, llvm::json::Object &manifest,
                 std::vector<PackModule> &modules);
  bool bundle(llvm::ArrayRef<ModuleJob> jobs, llvm::MutableArrayRef<DeviceCode> codes);

  // Objects and headers, if they are asked for: HostOutputs.cpp.
  bool writeHeaderOf(llvm::ArrayRef<ModuleJob> jobs);
  bool writeHostOutputs(const llvm::json::Object &manifest, llvm::StringRef pack,
                        llvm::MutableArrayRef<DeviceCode> codes);

  // `auto`: Tuning.cpp.
  bool usesAuto() const;
  ModuleJob jobOf(const TunableKernel &kernel, unsigned candidate) const;
  /// The jobs of a source whose kernels leave parameters to the compiler; with `single` one for each
  /// architecture. False after an error.
  bool planJobs(bool single, std::vector<ModuleJob> &jobs);
  bool planTuned(const sema::KernelInstance &kernel, const Target &target, bool single,
                 std::vector<ModuleJob> &jobs);
  /// By what the model says of sampled calls, and by what was measured at `shapes`: the last calls that are priced.
  ChosenCandidates chooseCandidates(const sema::KernelInstance &kernel,
                                    llvm::ArrayRef<MeasuredShape> shapes,
                                    llvm::ArrayRef<CandidatePrice> prices, bool single);
  /// What the choices of a job cost at each of the samples. Diagnostics stay in the engine.
  CandidatePrice price(const ModuleJob &job, llvm::ArrayRef<CallSample> samples,
                       llvm::ArrayRef<CallSample> probes = {});
  /// Does `work` for 0 to count - 1, several at a time, each in a compilation of its own of the same
  /// source; if it `keeps` them, with these options, their diagnostics and times are taken over.
  /// False after an error, or if one crashed, which is reported.
  /// Unless each `parses` the source again, it knows the texts alone, for places.
  bool inParallel(size_t count, bool keeps, llvm::function_ref<void(size_t, Compilation &)> work,
                  bool parses = true);
  void addTextsOf(const SourceManager &others);
  /// Takes over the diagnostics of a compilation of the same source.
  void adopt(const DiagnosticEngine &others);

  // Tune files: Measurements.cpp.
  bool loadTuneFile();
  /// What the tune file says of these candidates for this source, architecture and fixed dimensions. Warns of what it
  /// says of others.
  std::vector<MeasuredShape> measurementsOf(const sema::KernelInstance &kernel,
                                            const Target &target);
  /// `numbers`: for each job the number that its configuration has in the kernel of a symbol.
  void writePreferences(llvm::json::Object &manifest,
                        llvm::ArrayRef<std::map<std::string, size_t>> numbers) const;

  bool writeText(EmitKind kind, llvm::StringRef text);
  bool writesDependencies() const {
    return options.writeDependencies || !options.dependencyFile.empty();
  }
  std::string dependencyPath() const;
  /// That the make rule takes the place of nothing that was read or will be written; false after a diagnostic.
  bool checkDependencies();
  bool writeDependencies();
  /// With --save-temps, which alone prints.
  bool saveTemp(const ModuleJob &job, llvm::StringRef extension,
                llvm::function_ref<std::string()> print);
  std::string outputPath(EmitKind kind) const;
  /// The source, in the folder that the outputs are written to.
  std::string outputBase() const;
  std::string sourceHash() const;
  /// There are outputs, from `first` on, that hold the code of an architecture in one piece: all outputs of a run are of the same code.
  bool needsOneModule(EmitKind first) const;
  bool failed() const { return diags.hasErrors(); }

  const Options &options;
  std::string input;
  std::string output;
  std::optional<std::string> standardInput; ///< what `-` stands for, if it has been read
  bool ptxOnly = false;
  bool forcesAuto = false; ///< as `-P auto` does
  bool mayDivide = true; ///< kernels into modules: not where compilations run side by side already
  llvm::StringRef phase = "start";
  SourceManager sources;
  DiagnosticEngine diags;
  PhaseTimer timer;
  Toolchain toolchain;
  ImportLoader loader;
  const LoadedFile *main = nullptr;             // null for IR
  std::vector<const LoadedFile *> instantiates; // of --instantiate
  mlir::MLIRContext context;
  KernelSubjects subjects;
  IrDiagnostics irDiagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> inputIr; // of a .mlir file

  /// A preference for what a job compiles of a kernel.
  struct JobPreference {
    std::string symbol;
    Ranges ranges;
    size_t job;
    RowKind rows;
  };
  std::vector<JobPreference> preferences;
  TuneFile tuneFile;
  std::string tuneFilePath;            ///< empty if none was read
  std::set<std::string> staleReported; ///< symbols
};

} // namespace tilec
