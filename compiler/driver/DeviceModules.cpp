// Compilation, continued: from kernels of the tgpu dialect to machine code, in modules that are made side by side.
#include "compiler/driver/Compilation.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/emit/Manifest.h"
#include "compiler/emit/Ptx.h"
#include "compiler/emit/SourceLocation.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "passes/Analysis.h"
#include "passes/Registers.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilec {

/// Modules for each architecture at most. Each is a run of ptxas, whose start takes as long as a small kernel, and on a GPU it is
/// loaded when one of its kernels is first called.
static constexpr size_t kMostModules = 8;

static std::string printIr(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, nullptr);
  return text;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

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

EntryTable Compilation::entriesOf(ModuleOp module, const Target &target) {
  EntryTable entries;
  for (auto kernel : module.getOps<tgpu::KernelOp>()) {
    entries.emplace(kernel.getSymName().str(),
                    EntryFacts{kernel.getLoc(), kernel.getLaunchedThreads(),
                               int64_t(kernel.getSharedBytes().value_or(0)),
                               isRequired(kernel, "no_spill"), blocksBoundRegisters(kernel, target),
                               mostRegistersOf(kernel, target, 1)});
  }
  return entries;
}

llvm::SMRange Compilation::placeOf(const std::string &entry, const EntryTable &entries) const {
  auto found = entries.find(entry);
  return found == entries.end() ? llvm::SMRange() : sourceRange(found->second.location, diags);
}

//===----------------------------------------------------------------------===//
// One module
//===----------------------------------------------------------------------===//

bool Compilation::toPtx(ModuleOp module, const ModuleJob &job, DeviceModule &code) {
  const Target &target = *job.target;
  PipelineOptions pipeline{&target, options.optLevel};
  bool isLlvm = module.getOps<tgpu::KernelOp>().empty();
  if ((!isLlvm && !runPasses(module, target, "LLVM passes",
                             [&](OpPassManager &passes) { addLlvmPasses(passes, pipeline); })) ||
      !saveTemp(job, "llvm.mlir", [&] { return printIr(module); })) {
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
    if (!ir || failed() || !saveTemp(job, "ll", [&] { return printIr(*ir); })) {
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
    if (!saveTemp(job, "opt.ll", [&] { return printIr(*ir); })) {
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
  return saveTemp(job, "ptx", [&] { return code.ptx; });
}

bool Compilation::loosenSpilling(const ModuleJob &job, const EntryTable &entries,
                                 const AssemblerReport &report, DeviceModule &code) {
  bool changed = false;
  for (const auto &[function, used] : report.functions) {
    const uint64_t spills = used.spillStoreBytes + used.spillLoadBytes;
    if (spills == 0) {
      continue;
    }
    auto launch = entries.find(function);
    const bool bound = launch == entries.end() || launch->second.blocksBound;
    auto change = [&](llvm::function_ref<bool(std::string &, llvm::StringRef)> edit) {
      const bool done = edit(code.ptx, function);
      if (done) {
        edit(code.ptxWithLines, function);
      }
      return done;
    };
    llvm::StringRef what;
    if (bound && change(dropMinBlocks)) {
      what = "`@min_blocks` is left out, which would make it spill ";
    } else if (launch != entries.end() && int64_t(used.registers) < launch->second.mostRegisters &&
               change(askForOneBlock)) {
      what =
          "ptxas may give all registers to one block of a multiprocessor; for more it would spill ";
    } else {
      continue;
    }
    changed = true;
    if (options.report) {
      diags.remark(subjects.named(function, nullptr), placeOf(function, entries),
                   what + llvm::Twine(spills) + " bytes of registers to memory");
    }
  }
  return changed && saveTemp(job, "ptx", [&] { return code.ptx; });
}

bool Compilation::assemble(const ModuleJob &job, const EntryTable &entries, DeviceModule &code) {
  const Target &target = *job.target;
  phase = "ptxas";
  PhaseTimer::Scope time(timer, PhaseTimer::assembler, target.name);
  auto place = [&](const std::string &entry) { return placeOf(entry, entries); };
  Assembler assembler(toolchain, diags);
  std::optional<Cubin> cubin = assembler.assemble(code.ptx, target.name, options.debug, place);
  if (cubin && loosenSpilling(job, entries, cubin->report, code)) {
    cubin = assembler.assemble(code.ptx, target.name, options.debug, place);
  }
  if (!cubin) {
    return false;
  }
  code.cubin = std::move(cubin->bytes);
  code.report = std::move(cubin->report);
  return !failed() && saveTemp(job, "cubin", [&] { return code.cubin; });
}

void Compilation::reportAssembler(const DeviceCode &code, const DeviceModule &module) {
  auto place = [&](const std::string &function) { return placeOf(function, code.entries); };
  for (const AssemblerMessage &message : module.report.messages) {
    std::string name = message.function.empty() ? "ptxas" : message.function;
    diags.report(message.id, place(message.function), name, message.text);
  }
  for (const auto &[function, used] : module.report.functions) {
    uint64_t spills = used.spillStoreBytes + used.spillLoadBytes;
    auto launch = code.entries.find(function);
    if (spills != 0 && launch != code.entries.end() && launch->second.mayNotSpill) {
      diags.report(diag::Id::Require, place(function), "no_spill",
                   "`" + function + "` spills " + llvm::Twine(spills) +
                       " bytes of registers to memory");
    } else if (spills != 0) {
      const std::string parameters = subjects.named(function, nullptr).parameters;
      diags.report(diag::Id::Spills, place(function), function, spills,
                   parameters.empty() ? "" : " with " + parameters);
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

//===----------------------------------------------------------------------===//
// Several
//===----------------------------------------------------------------------===//

/// The kernels of each module: as many of each as of the others, in order.
static std::vector<std::vector<tgpu::KernelOp>> divide(ModuleOp module, size_t most) {
  const auto kernels = llvm::to_vector(module.getOps<tgpu::KernelOp>());
  const size_t count = std::clamp<size_t>(kernels.size(), 1, most);
  std::vector<std::vector<tgpu::KernelOp>> parts(count);
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    parts[i * count / kernels.size()].push_back(kernel);
  }
  return parts;
}

/// The module with these of its kernels alone, which it loses, as another context can read it; empty if that fails.
static std::string takeOut(ModuleOp module, llvm::ArrayRef<tgpu::KernelOp> kernels) {
  OwningOpRef<ModuleOp> part = cast<ModuleOp>(module->cloneWithoutRegions());
  part->getBodyRegion().emplaceBlock();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (!isa<tgpu::KernelOp>(op)) {
      part->push_back(op.clone());
    } else if (llvm::is_contained(kernels, cast<tgpu::KernelOp>(op))) {
      op.remove();
      part->push_back(&op);
    }
  }
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  return succeeded(writeBytecodeToFile(*part, os)) ? bytes : "";
}

bool Compilation::toModule(ModuleOp module, const ModuleJob &job, const EntryTable &entries,
                           DeviceModule &code) {
  return toPtx(module, job, code) &&
         (options.emit <= EmitKind::Ptx || ptxOnly || assemble(job, entries, code));
}

bool Compilation::toModulesInParallel(ModuleOp module, const ModuleJob &job,
                                      llvm::ArrayRef<std::vector<tgpu::KernelOp>> parts,
                                      DeviceCode &code) {
  std::vector<std::string> bytes;
  std::vector<ModuleJob> jobs;
  for (auto [i, kernels] : llvm::enumerate(parts)) {
    tgpu::KernelOp first = kernels.front();
    jobs.push_back(job);
    jobs.back().name += (job.name.empty() ? "" : ".") + first.getSymName().str();
    for (tgpu::KernelOp kernel : kernels) {
      code.moduleOf[kernel.getSymName().str()] = i;
    }
    bytes.push_back(takeOut(module, kernels));
  }
  std::vector<char> done(parts.size());
  auto compileOne = [&](size_t i, Compilation &own) {
    own.ptxOnly = ptxOnly;
    own.subjects = subjects;
    OwningOpRef<ModuleOp> part =
        bytes[i].empty() ? nullptr
                         : parseSourceString<ModuleOp>(bytes[i], ParserConfig(&own.context));
    if (!part) {
      own.diags.report(diag::Id::InternalError, llvm::SMRange(),
                       "the kernels cannot be handed to another thread");
    }
    done[i] = part && own.toModule(*part, jobs[i], code.entries, code.modules[i]);
  };
  return inParallel(parts.size(), /*keeps=*/true, compileOne, /*parses=*/false) &&
         llvm::all_of(done, [](char one) { return one != 0; });
}

bool Compilation::toModules(ModuleOp module, const ModuleJob &job, DeviceCode &code) {
  const auto parts = divide(module, dividesModules() ? kMostModules : 1);
  code.modules.resize(parts.size());
  const bool done = parts.size() == 1 ? toModule(module, job, code.entries, code.modules.front())
                                      : toModulesInParallel(module, job, parts, code);
  if (!done) {
    return false;
  }
  for (const DeviceModule &made : code.modules) {
    reportAssembler(code, made);
  }
  return !failed();
}

} // namespace tilec
