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

/// The operation as text that can be read again, with locations where they matter.
static std::string printIr(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os);
  os << "\n";
  return text;
}

static std::string printIr(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
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
         saveTemp(job, "tgpu.mlir", printIr(module));
}

/// Takes the host part out of a module, whose manifest is made by now.
static void eraseHost(ModuleOp module) {
  for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    kernel.erase();
  }
}

bool Compilation::toDevice(ModuleOp module, const ModuleJob &job, DeviceCode &code) {
  const Target &target = *job.target;
  PipelineOptions pipeline{&target, options.optLevel};
  bool isLlvm = !contains<tgpu::KernelOp>(module);
  if ((!isLlvm && !runPasses(module, target, "LLVM passes",
                             [&](OpPassManager &passes) { addLlvmPasses(passes, pipeline); })) ||
      !saveTemp(job, "llvm.mlir", printIr(module))) {
    return false;
  }
  // Packs have lines in their PTX with -g or without. So that it is the same code in either case
  // and in each kind of output, code is always generated with them, and taken out of the text.
  bool lines = options.debug || options.emit >= EmitKind::Ptx;
  PtxOptions ptxOptions{target.name.str(), options.optLevel, lines};
  PtxEmitter emitter(ptxOptions, toolchain, diags);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> ir;
  {
    phase = "translation to LLVM IR";
    PhaseTimer::Scope time(timer, "LLVM IR");
    ir = emitter.toLlvmIr(module, llvmContext);
    if (!ir || failed() || !saveTemp(job, "ll", printIr(*ir))) {
      return false;
    }
  }
  if (options.wants(EmitKind::Llvm) && !writeText(EmitKind::Llvm, printIr(*ir))) {
    return false;
  }
  if (options.emit == EmitKind::Llvm) {
    return true;
  }
  {
    phase = "LLVM's optimisation";
    PhaseTimer::Scope time(timer, "LLVM optimisation");
    emitter.optimise(*ir);
    if (!saveTemp(job, "opt.ll", printIr(*ir))) {
      return false;
    }
  }
  phase = "code generation";
  PhaseTimer::Scope time(timer, "code generation");
  std::optional<std::string> ptx = emitter.toPtx(*ir);
  if (!ptx || failed()) {
    return false;
  }
  code.ptx = options.debug ? *ptx : withoutLines(*ptx);
  code.ptxWithLines = std::move(*ptx);
  return saveTemp(job, "ptx", code.ptx);
}

static int64_t mostRegistersOf(tgpu::KernelOp kernel, const Target &target, int64_t blocks) {
  return std::min<int64_t>(registersPerThread(kernel, target, blocks),
                           kernel.getMaxRegisters().value_or(target.registersPerThread));
}

/// Do the blocks that a kernel asks for, or the compiler for it, leave a thread fewer registers than it might have else? If not, what
/// spills does so without them.
static bool blocksBoundRegisters(tgpu::KernelOp kernel, const Target &target) {
  const std::optional<uint32_t> blocks =
      kernel.getMinBlocks() ? kernel.getMinBlocks() : kernel.getAimedBlocks();
  return mostRegistersOf(kernel, target, blocks.value_or(1)) <
         std::min<int64_t>(target.registersPerThread,
                           kernel.getMaxRegisters().value_or(target.registersPerThread));
}

bool Compilation::loosenSpilling(const ModuleJob &job, const AssemblerReport &report,
                                 DeviceCode &code,
                                 llvm::function_ref<llvm::SMRange(const std::string &)> place) {
  bool changed = false;
  for (const auto &[function, used] : report.functions) {
    const uint64_t spills = used.spillStoreBytes + used.spillLoadBytes;
    if (spills == 0) {
      continue;
    }
    auto launch = code.launches.find(function);
    const bool bound = launch == code.launches.end() || launch->second.blocksBound;
    auto change = [&](llvm::function_ref<bool(std::string &, StringRef)> edit) {
      const bool done = edit(code.ptx, function);
      if (done) {
        edit(code.ptxWithLines, function);
      }
      return done;
    };
    llvm::StringRef what;
    if (bound && change(dropMinBlocks)) {
      what = "`@min_blocks` is left out, which would make it spill ";
    } else if (launch != code.launches.end() &&
               int64_t(used.registers) < launch->second.mostRegisters && change(askForOneBlock)) {
      what =
          "ptxas may give all registers to one block of a multiprocessor; for more it would spill ";
    } else {
      continue;
    }
    changed = true;
    if (options.report) {
      diags.remark(subjects.named(function, nullptr), place(function),
                   what + llvm::Twine(spills) + " bytes of registers to memory");
    }
  }
  return changed && saveTemp(job, "ptx", code.ptx);
}

bool Compilation::assemble(const ModuleJob &job, DeviceCode &code) {
  const Target &target = *job.target;
  phase = "ptxas";
  PhaseTimer::Scope time(timer, PhaseTimer::assembler, target.name);
  auto place = [&](const std::string &entry) {
    auto found = code.launches.find(entry);
    return found == code.launches.end() ? llvm::SMRange()
                                        : sourceRange(found->second.location, diags);
  };
  Assembler assembler(toolchain, diags);
  std::optional<Cubin> cubin = assembler.assemble(code.ptx, target.name, options.debug, place);
  if (cubin && loosenSpilling(job, cubin->report, code, place)) {
    cubin = assembler.assemble(code.ptx, target.name, options.debug, place);
  }
  if (!cubin) {
    return false;
  }
  code.cubin = std::move(cubin->bytes);
  code.report = std::move(cubin->report);
  reportAssembler(job, code);
  return !failed() && saveTemp(job, "cubin", code.cubin);
}

void Compilation::reportAssembler(const ModuleJob &job, const DeviceCode &code) {
  auto place = [&](const std::string &function) {
    auto found = code.launches.find(function);
    return found == code.launches.end() ? llvm::SMRange()
                                        : sourceRange(found->second.location, diags);
  };
  for (const AssemblerMessage &message : code.report.messages) {
    std::string name = message.function.empty() ? "ptxas" : message.function;
    diags.report(message.id, place(message.function), name, message.text);
  }
  for (const auto &[function, used] : code.report.functions) {
    uint64_t spills = used.spillStoreBytes + used.spillLoadBytes;
    auto launch = code.launches.find(function);
    if (spills != 0 && launch != code.launches.end() && launch->second.mayNotSpill) {
      diags.report(diag::Id::Require, place(function), "no_spill",
                   "`" + function + "` spills " + llvm::Twine(spills) +
                       " bytes of registers to memory");
    } else if (spills != 0) {
      diags.report(diag::Id::Spills, place(function), function, spills);
    }
    if (!options.report) {
      continue;
    }
    if (auto summary = code.summaries.find(function); summary != code.summaries.end()) {
      reportSummary(summary->second, &used, diags);
    } else { // from IR of the last level
      diags.remark(subjects.named(function, nullptr), {},
                   llvm::Twine(used.registers) + " registers, " + llvm::Twine(spills) +
                       " bytes of spills, " + llvm::Twine(used.staticSharedBytes) +
                       " bytes of static shared memory");
    }
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

bool Compilation::compileJob(const ModuleJob &job, unsigned moduleIndex, DeviceCode &code) {
  llvm::TimeTraceScope trace("module", [&] { return describe(job); });
  OwningOpRef<ModuleOp> module = lowerFor(job);
  if (!module) {
    return false;
  }
  if (!saveTemp(job, "tile.mlir", printIr(*module))) {
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
    code.manifest = buildManifest(*module, moduleIndex, diags);
    if (!code.manifest) {
      return false;
    }
    module->walk([&](tgpu::KernelOp kernel) {
      EntryFacts launch{kernel.getLoc(),
                        kernel.getLaunchedThreads(),
                        int64_t(kernel.getSharedBytes().value_or(0)),
                        isRequired(kernel, "no_spill"),
                        blocksBoundRegisters(kernel, *job.target),
                        mostRegistersOf(kernel, *job.target, 1)};
      code.launches.emplace(kernel.getSymName().str(), launch);
    });
    subjects.keep(*module);
    eraseHost(*module);
  }
  if (!toDevice(*module, job, code)) {
    return false;
  }
  return options.emit <= EmitKind::Ptx || ptxOnly || assemble(job, code);
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

bool Compilation::bundle(llvm::ArrayRef<ModuleJob> jobs, llvm::MutableArrayRef<DeviceCode> codes) {
  phase = "packing";
  PhaseTimer::Scope time(timer, PhaseTimer::packing);
  Assembler assembler(toolchain, diags);
  if (options.wants(EmitKind::Fatbin)) {
    std::vector<FatbinImage> images;
    for (auto [job, code] : llvm::zip_equal(jobs, codes)) {
      llvm::append_range(images, imagesOf(*job.target, code.ptx, code.cubin));
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
  for (auto [index, code] : llvm::enumerate(codes)) {
    const Target &target = *jobs[index].target;
    if (index != 0 && !mergeManifest(manifest, std::move(*code.manifest), diags)) {
      return false;
    }
    if (ptxOnly) {
      modules.push_back({target.name.str(), "ptx", code.ptxWithLines + '\0', ""});
      continue;
    }
    addResources(manifest, index, target, code.report.functions);
    if (!isPortable(target)) {
      modules.push_back({target.name.str(), "cubin", code.cubin, code.ptxWithLines});
      continue;
    }
    std::optional<std::string> bytes = assembler.bundle(imagesOf(target, code.ptx, code.cubin));
    if (!bytes) {
      return false;
    }
    modules.push_back({target.name.str(), "fatbin", std::move(*bytes), code.ptxWithLines});
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
      if (!compileJob(job, index, codes[index])) {
        return false;
      }
    }
    return true;
  }
  std::vector<char> done(jobs.size());
  auto compileOne = [&](size_t i, Compilation &own) {
    own.ptxOnly = ptxOnly;
    done[i] = own.compileJob(jobs[i], i, codes[i]);
    codes[i].launches.clear(); // their places are in the compilation's context
  };
  return inParallel(jobs.size(), /*keeps=*/true, compileOne) &&
         llvm::all_of(done, [](char one) { return one != 0; });
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
    // One module for an architecture: all outputs of a run are of the same code.
    auto ofOne = [](EmitKind kind) { return kind != EmitKind::Ast && kind < EmitKind::Manifest; };
    const bool single = llvm::any_of(options.emits, ofOne) || options.wantsOnly(EmitKind::Header);
    if (!loadTuneFile() || !planJobs(single, jobs)) {
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
  bool done = !options.wants(EmitKind::Ptx) || writeText(EmitKind::Ptx, codes.front().ptx);
  if (done && options.wants(EmitKind::Cubin)) {
    done = writeText(EmitKind::Cubin, codes.front().cubin);
  }
  if (done && options.emit > EmitKind::Cubin) {
    done = bundle(jobs, codes);
  }
  if (done) {
    writeDependencies();
  }
}

} // namespace tilec
