#include "compiler/driver/Compilation.h"

#include "compiler/driver/Dialects.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/TimeTrace.h"
#include "compiler/emit/Manifest.h"
#include "compiler/emit/Ptx.h"
#include "compiler/emit/SourceLocation.h"
#include "compiler/lower/Lower.h"
#include "compiler/parse/AstPrinter.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Tile.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/Analysis.h"
#include "passes/Registers.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilec {

Compilation::Compilation(const Options &options, std::string input)
    : options(options), input(std::move(input)), output(options.output), diags(sources.getMgr()),
      toolchain(options.cudaPath, options.programDir), loader(sources, diags, options.includeDirs),
      // One thread: the same order of everything, and crashes happen where they are caught.
      context(MLIRContext::Threading::DISABLED),
      irDiagnostics(context, diags, subjects, options.report) {
  diags.setWarnings(options.warnings);
  diags.setErrorLimit(options.errorLimit);
  DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.printOpOnDiagnostic(false); // users wrote source, not IR
}

Compilation::~Compilation() = default;

//===----------------------------------------------------------------------===//
// Source to tile dialect
//===----------------------------------------------------------------------===//

/// Whether callers can name each argument. Passes do without, so the dialect does not ask for it.
static bool haveNames(ModuleOp module) {
  WalkResult found = module.walk([](tile::KernelOp kernel) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      if (!tile::kName.get(kernel, i)) {
        kernel.emitError("argument ")
            << i << " of `" << kernel.getSymName() << "` has no `" << tile::kName.name << "`";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return !found.wasInterrupted();
}

bool Compilation::load() {
  phase = "parsing";
  PhaseTimer::Scope time(timer, "parse", input);
  if (llvm::sys::path::extension(input) == ".mlir") {
    llvm::ErrorOr<unsigned> id = sources.addFile(input);
    if (!id) {
      diags.report(diag::Id::FileRead, llvm::SMRange(), input, id.getError().message());
      return false;
    }
    diags.setInputIsIr();
    context.loadAllAvailableDialects();
    inputIr = parseSourceString<ModuleOp>(sources.text(*id), &context, input);
    return inputIr && haveNames(*inputIr);
  }
  main = standardInput ? loader.loadText("<stdin>", *standardInput) : loader.load(input);
  for (const std::string &text : options.instantiate) {
    instantiates.push_back(loader.loadText("<command line>", "instantiate " + text + ";"));
  }
  return main && !failed();
}

std::unique_ptr<sema::Program> Compilation::analyze(const ModuleJob &job) {
  phase = "semantic analysis";
  PhaseTimer::Scope time(timer, "sema");
  sema::SemaOptions semaOptions;
  semaOptions.arch = job.target->arch;
  semaOptions.choices = job.choices;
  semaOptions.select = job.select;
  semaOptions.params = options.params;
  semaOptions.autoParams = options.autoParams || forcesAuto;
  semaOptions.instantiate = instantiates;
  semaOptions.kernel = options.kernel;
  std::unique_ptr<sema::Program> program = sema::analyze(*main, semaOptions, diags);
  return failed() ? nullptr : std::move(program);
}

OwningOpRef<ModuleOp> Compilation::lowerFor(const ModuleJob &job) {
  subjects.begin(job);
  if (!main && !inputIr && !load()) {
    return nullptr;
  }
  if (inputIr) {
    return OwningOpRef<ModuleOp>(inputIr->clone());
  }
  std::unique_ptr<sema::Program> program = analyze(job);
  if (!program) {
    return nullptr;
  }
  phase = "lowering";
  PhaseTimer::Scope time(timer, "lower");
  OwningOpRef<ModuleOp> module = lowerToTile(*program, context, diags);
  // `where` may leave nothing for one of several architectures.
  if (program->kernels.empty() && options.archs.size() == 1 &&
      job.select == ModuleJob::Select::All) {
    if (program->skipsKernels) {
      diags.report(diag::Id::NothingForTarget, llvm::SMRange(), input, job.target->name);
    } else {
      diags.report(diag::Id::NothingToCompile, llvm::SMRange(), input);
    }
  }
  return failed() ? nullptr : std::move(module);
}

/// "sm_90a, gemm: BM = 128, BN = 64"
static std::string describe(const ModuleJob &job) {
  std::string text = job.target->name.str();
  for (const auto &[symbol, parameters] : job.parameters) {
    text.append(", ").append(symbol).append(": ").append(parameters);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Tile dialect to device code
//===----------------------------------------------------------------------===//

bool Compilation::runPasses(ModuleOp module, const Target &target, llvm::StringRef name,
                            llvm::function_ref<void(OpPassManager &)> populate) {
  phase = name;
  PhaseTimer::Scope time(timer, name);
  PassManager passes(&context);
  passes.enableVerifier(options.verifyEach);
  passes.addInstrumentation(irDiagnostics.trackKernels());
  if (!options.timeTrace.empty()) {
    passes.addInstrumentation(TimeTrace::ofPasses());
  }
  if (options.printIrAfterAll) {
    passes.enableIRPrinting(/*shouldPrintBeforePass=*/[](Pass *, Operation *) { return false; },
                            /*shouldPrintAfterPass=*/[](Pass *, Operation *) { return true; },
                            /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
                            /*printAfterOnlyOnFailure=*/false, llvm::errs());
  }
  populate(passes);
  bool done = succeeded(passes.run(module)) && !failed();
  if (!done && !failed()) {
    diags.report(diag::Id::InternalError, llvm::SMRange(), "passes failed without a word: " + name);
  }
  if (done && mlir::failed(verify(module))) {
    return false;
  }
  return done;
}

std::string printIr(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  os << "\n";
  return text;
}

/// Whether there is an operation of this kind in the module.
template <typename Op>
static bool contains(ModuleOp module) {
  return module->walk([](Op) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool Compilation::toTgpu(ModuleOp module, const ModuleJob &job) {
  const Target &target = *job.target;
  if (!contains<tile::LaunchOp>(module)) {
    return true; // IR of a later level
  }
  PipelineOptions pipeline{&target, options.optLevel, options.check, job.variants,
                           options.scheduleSeed};
  if (!runPasses(module, target, "outlining",
                 [&](OpPassManager &passes) { addOutliningPasses(passes, pipeline); })) {
    return false;
  }
  setTarget(module, target);
  return runPasses(module, target, "tgpu passes",
                   [&](OpPassManager &passes) { addTgpuPasses(passes, pipeline); }) &&
         saveTemp(job, "tgpu.mlir", [&] { return printIr(module); });
}

/// Takes the host part out of a module, whose manifest is made by now.
static void eraseHost(ModuleOp module) {
  for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    kernel.erase();
  }
}

void Compilation::reportModule(ModuleOp module, DeviceCode &code) {
  if (!options.report) {
    return;
  }
  reportKernels(module, subjects, diags);
  code.summaries = summarise(module, subjects, diags);
  if (options.emit <= EmitKind::Ptx || ptxOnly) { // ptxas will say nothing
    for (const auto &[entry, summary] : code.summaries) {
      reportSummary(summary, nullptr, diags);
    }
  }
}

bool Compilation::compileJob(const ModuleJob &job, DeviceCode &code) {
  llvm::TimeTraceScope trace("module", [&] { return describe(job); });
  OwningOpRef<ModuleOp> module = lowerFor(job);
  if (!module) {
    return false;
  }
  if (!saveTemp(job, "tile.mlir", [&] { return printIr(*module); })) {
    return false;
  }
  if (options.wants(EmitKind::Tile) && !writeText(EmitKind::Tile, printIr(*module))) {
    return false;
  }
  if (options.emit == EmitKind::Tile) {
    return true;
  }
  // As for a header, which knows no more: passes may simplify what extents are.
  if (options.emit >= EmitKind::Object && !(code.signatures = buildSignatures(*module, diags))) {
    return false;
  }
  if (!toTgpu(*module, job)) {
    return false;
  }
  reportModule(*module, code);
  if (options.wants(EmitKind::Tgpu) && !writeText(EmitKind::Tgpu, printIr(*module))) {
    return false;
  }
  if (options.emit == EmitKind::Tgpu) {
    return true;
  }
  {
    phase = "manifest";
    PhaseTimer::Scope time(timer, "manifest");
    code.manifest = buildManifest(*module, diags);
    if (!code.manifest) {
      return false;
    }
    code.entries = entriesOf(*module, *job.target);
    subjects.keep(*module);
    eraseHost(*module);
  }
  return toModules(*module, job, code);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// True for `sm_80`, false for `sm_90a`: PTX of the former runs on later hardware too.
static bool isPortable(const Target &target) { return llvm::isDigit(target.name.back()); }

static std::vector<FatbinImage> imagesOf(const Target &target, llvm::StringRef ptx,
                                         llvm::StringRef cubin) {
  std::vector<FatbinImage> images{{FatbinImage::Kind::Cubin, target.name.str(), cubin.str()}};
  if (isPortable(target)) {
    images.push_back({FatbinImage::Kind::Ptx, target.name.str(), ptx.str()});
  }
  return images;
}

bool Compilation::addModule(const Target &target, const DeviceModule &module,
                            llvm::json::Object &manifest, std::vector<PackModule> &modules) {
  if (ptxOnly) {
    modules.push_back({target.name.str(), "ptx", module.ptxWithLines + '\0', ""});
    return true;
  }
  addResources(manifest, modules.size(), target, module.report.functions);
  if (!isPortable(target)) {
    modules.push_back({target.name.str(), "cubin", module.cubin, module.ptxWithLines});
    return true;
  }
  std::optional<std::string> bytes =
      Assembler(toolchain, diags).bundle(imagesOf(target, module.ptx, module.cubin));
  if (bytes) {
    modules.push_back({target.name.str(), "fatbin", std::move(*bytes), module.ptxWithLines});
  }
  return bytes.has_value();
}

bool Compilation::bundle(llvm::ArrayRef<ModuleJob> jobs, llvm::MutableArrayRef<DeviceCode> codes) {
  phase = "packing";
  PhaseTimer::Scope time(timer, PhaseTimer::packing);
  Assembler assembler(toolchain, diags);
  if (options.wants(EmitKind::Fatbin)) {
    std::vector<FatbinImage> images;
    for (auto [job, code] : llvm::zip_equal(jobs, codes)) {
      for (const DeviceModule &module : code.modules) {
        llvm::append_range(images, imagesOf(*job.target, module.ptx, module.cubin));
      }
    }
    std::optional<std::string> bytes = assembler.bundle(images);
    if (!bytes || !writeText(EmitKind::Fatbin, *bytes)) {
      return false;
    }
  }
  if (options.emit == EmitKind::Fatbin) {
    return true;
  }
  llvm::json::Object manifest = std::move(*codes.front().manifest);
  // A configuration stands behind those of the jobs before.
  std::vector<std::map<std::string, size_t>> numbers(jobs.size());
  std::map<std::string, size_t> counts;
  for (auto [job, own] : llvm::zip_equal(jobs, numbers)) {
    for (const auto &[symbol, candidate] : job.choices) {
      own[symbol] = counts[symbol]++;
    }
  }
  std::vector<PackModule> modules;
  for (auto [job, code] : llvm::zip_equal(jobs, codes)) {
    llvm::json::Object &own = &code == codes.begin() ? manifest : *code.manifest;
    setModules(own, [&, first = modules.size()](llvm::StringRef entry) {
      auto found = code.moduleOf.find(entry.str());
      return first + (found == code.moduleOf.end() ? 0 : found->second);
    });
    if (&own != &manifest && !mergeManifest(manifest, std::move(own), diags)) {
      return false;
    }
    for (const DeviceModule &module : code.modules) {
      if (!addModule(*job.target, module, manifest, modules)) {
        return false;
      }
    }
  }
  if (manifest.getArray("kernels")->empty()) {
    diags.report(diag::Id::NothingToCompile, llvm::SMRange(), input);
    return false;
  }
  writePreferences(manifest, numbers);
  manifest["source_hash"] = sourceHash();
  const std::string pack = writePack(manifest, modules); // says in the manifest where modules lie
  if (options.wants(EmitKind::Manifest) &&
      !writeText(EmitKind::Manifest, printManifest(manifest))) {
    return false;
  }
  if (options.wants(EmitKind::Pack) && !writeText(EmitKind::Pack, pack)) {
    return false;
  }
  return writeHostOutputs(manifest, pack, codes);
}

bool Compilation::compileAll(llvm::ArrayRef<ModuleJob> jobs,
                             llvm::MutableArrayRef<DeviceCode> codes) {
  if (jobs.size() <= options.archs.size()) {
    for (auto [index, job] : llvm::enumerate(jobs)) {
      if (!compileJob(job, codes[index])) {
        return false;
      }
    }
    return true;
  }
  std::vector<char> done(jobs.size());
  auto compileOne = [&](size_t i, Compilation &own) {
    own.ptxOnly = ptxOnly;
    done[i] = own.compileJob(jobs[i], codes[i]);
    codes[i].entries.clear(); // their places are in the compilation's context
  };
  return inParallel(jobs.size(), /*keeps=*/true, compileOne) &&
         llvm::all_of(done, [](char one) { return one != 0; });
}

bool Compilation::needsOneModule(EmitKind first) const {
  return llvm::any_of(
      options.emits, [first](EmitKind kind) { return kind >= first && kind < EmitKind::Manifest; });
}

void Compilation::compile() {
  if (!load() || !checkDependencies()) {
    return;
  }
  if (options.wants(EmitKind::Ast)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (main) {
      printAst(*main->ast, os);
    }
    if (!writeText(EmitKind::Ast, text)) {
      return;
    }
  }
  if (options.emit == EmitKind::Ast) {
    writeDependencies();
    return;
  }
  std::vector<ModuleJob> jobs;
  if (main && usesAuto()) {
    if (!loadTuneFile() ||
        !planJobs(needsOneModule(EmitKind::Tile) || options.wantsOnly(EmitKind::Header), jobs)) {
      return;
    }
  } else {
    for (const Target *target : options.archs) {
      jobs.push_back({target});
    }
  }
  if (options.wantsOnly(EmitKind::Header)) {
    writeHeaderOf(jobs) && writeDependencies();
    return;
  }
  std::vector<DeviceCode> codes(jobs.size());
  if (!compileAll(jobs, codes)) {
    return;
  }
  bool done =
      !options.wants(EmitKind::Ptx) || writeText(EmitKind::Ptx, codes.front().modules.front().ptx);
  if (done && options.wants(EmitKind::Cubin)) {
    done = writeText(EmitKind::Cubin, codes.front().modules.front().cubin);
  }
  if (done && options.emit > EmitKind::Cubin) {
    done = bundle(jobs, codes);
  }
  if (done) {
    writeDependencies();
  }
}

} // namespace tilec
