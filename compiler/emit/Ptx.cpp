#include "compiler/emit/Ptx.h"

#include "compiler/emit/HeldConstants.h"
#include "compiler/emit/MathCalls.h"
#include "compiler/emit/NarrowCompares.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"

#include <array>

using namespace llvm;

namespace tilec {

/// PTX version to print: 9.0, which ptxas of CUDA 13 takes, where the architecture needs recent
/// instructions; 8.0 for PTX that the drivers of CUDA 12 should compile too; but 8-bit floats of sm_89 are 8.1 (cvt) and 8.4 (mma).
static const char *featuresOf(StringRef arch) {
  return arch.ends_with("a") || arch.ends_with("f") ? "+ptx90"
         : arch == "sm_89"                          ? "+ptx84"
                                                    : "+ptx80";
}

/// None copies accumulators around each wgmma, which ptxas then serialises: never lower than Less.
static CodeGenOptLevel codeGenLevel(unsigned optLevel) {
  return optLevel <= 1   ? CodeGenOptLevel::Less
         : optLevel == 2 ? CodeGenOptLevel::Default
                         : CodeGenOptLevel::Aggressive;
}

/// Once for the process: compilations run side by side.
static bool registerTarget() {
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  return true;
}

PtxEmitter::PtxEmitter(PtxOptions opts, const Toolchain &toolchain, DiagnosticEngine &diags)
    : options(std::move(opts)), toolchain(toolchain), diags(diags) {
  static const bool registered = registerTarget();
  (void)registered;
  Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  if (const llvm::Target *target = TargetRegistry::lookupTarget(triple, error)) {
    machine.reset(target->createTargetMachine(triple, options.arch, featuresOf(options.arch),
                                              TargetOptions(), Reloc::PIC_, std::nullopt,
                                              codeGenLevel(options.optLevel)));
  }
}

/// MLIR's inline assembly carries no call attributes. With side effects it is made convergent, or
/// LLVM may copy a barrier into both sides of a divergent branch; without, it is said to touch no
/// memory, or LLVM can neither merge nor drop it.
static void attributeInlineAsm(llvm::Module &module) {
  for (Function &function : module) {
    for (Instruction &inst : instructions(function)) {
      auto *call = dyn_cast<CallInst>(&inst);
      if (!call || !call->isInlineAsm()) {
        continue;
      }
      auto *text = cast<InlineAsm>(call->getCalledOperand());
      call->setDoesNotThrow();
      if (text->hasSideEffects()) {
        call->setConvergent();
      } else if (!StringRef(text->getConstraintString()).contains("~{memory}")) {
        call->setDoesNotAccessMemory();
        call->addFnAttr(Attribute::WillReturn);
      }
    }
  }
}

/// Source files are named without their folders: the same source gives the same bytes anywhere.
static void forgetFolders(llvm::Module &module) {
  DebugInfoFinder finder;
  finder.processModule(module);
  SmallVector<DIFile *> files;
  auto add = [&](DIFile *file) {
    if (file && !is_contained(files, file)) {
      files.push_back(file);
    }
  };
  for (DICompileUnit *unit : finder.compile_units()) {
    add(unit->getFile());
  }
  for (DISubprogram *program : finder.subprograms()) {
    add(program->getFile());
  }
  for (DIScope *scope : finder.scopes()) {
    add(scope->getFile());
  }
  LLVMContext &context = module.getContext();
  for (DIFile *file : files) {
    MDString *name = MDString::get(context, sys::path::filename(file->getFilename()));
    file->replaceOperandWith(0, name);
    file->replaceOperandWith(1, MDString::get(context, ""));
  }
}

bool PtxEmitter::linkLibdevice(llvm::Module &module) {
  std::optional<std::string> path = toolchain.findLibdevice();
  if (!path) {
    diags.report(diag::Id::ToolMissing, SMRange(), "libdevice.10.bc");
    return false;
  }
  SMDiagnostic error;
  std::unique_ptr<llvm::Module> library = parseIRFile(*path, error, module.getContext());
  if (!library) {
    diags.report(diag::Id::ToolFailed, SMRange(), *path, error.getMessage());
    return false;
  }
  library->setDataLayout(module.getDataLayout());
  library->setTargetTriple(module.getTargetTriple());
  auto internalize = [](llvm::Module &linked, const StringSet<> &names) {
    internalizeModule(linked, [&](const GlobalValue &value) {
      return !value.hasName() || !names.count(value.getName());
    });
  };
  if (Linker::linkModules(module, std::move(library), Linker::LinkOnlyNeeded, internalize)) {
    diags.report(diag::Id::ToolFailed, SMRange(), *path, "it does not link");
    return false;
  }
  // All of it becomes part of the kernels, rare paths that libdevice keeps apart too: a call in PTX
  // costs its caller's registers, and the emulator has none.
  for (Function &function : module) {
    const bool isLibrary =
        function.getName().starts_with("__nv_") || function.getName().starts_with("__internal_");
    if (isLibrary && !function.isDeclaration()) {
      function.removeFnAttr(Attribute::NoInline);
      function.removeFnAttr(Attribute::OptimizeNone);
      function.addFnAttr(Attribute::AlwaysInline);
    }
  }
  module.setModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz",
                       ConstantAsMetadata::get(ConstantInt::get(
                           Type::getInt32Ty(module.getContext()), options.flushToZero)));
  return true;
}

std::unique_ptr<llvm::Module> PtxEmitter::toLlvmIr(mlir::Operation *module, LLVMContext &context) {
  if (!machine) {
    diags.report(diag::Id::InternalError, SMRange(), "LLVM has no target for " + options.arch);
    return nullptr;
  }
  // Where every launch was found to do nothing, no pass has loaded it.
  module->getContext()->loadDialect<mlir::LLVM::LLVMDialect>();
  if (options.lineTables) {
    // Any other kind prints `.target ..., debug`, for which ptxas gives up optimising.
    mlir::LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
    scopes.emissionKind = mlir::LLVM::DIEmissionKind::DebugDirectivesOnly;
    mlir::PassManager passes(module->getContext(), module->getName().getStringRef());
    passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass(scopes));
    if (failed(passes.run(module))) {
      return nullptr;
    }
  }
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context, "kernels");
  if (!result) {
    if (!diags.hasErrors()) {
      diags.report(diag::Id::InternalError, SMRange(), "translation to LLVM IR failed");
    }
    return nullptr;
  }
  result->setSourceFileName("kernels");
  result->setTargetTriple(machine->getTargetTriple());
  result->setDataLayout(machine->createDataLayout()); // before any pass runs
  attributeInlineAsm(*result);
  forgetFolders(*result);
  if (legaliseMathCalls(*result) && !linkLibdevice(*result)) {
    return nullptr;
  }
  return result;
}

/// Global value numbering asks for each load what other blocks do to its memory, and for each such
/// question how their branches bound the addresses. With thousands of guarded accesses that took 7
/// of 12 seconds; for such functions the common subexpressions that other passes find are enough.
static bool isTooBranched(const Function &function) {
  constexpr size_t kManyBlocks = 1000;
  return function.size() > kManyBlocks;
}

/// What leaves a loop takes registers all through it. Of the hundreds of addresses that a large body
/// has, each a constant beside another, none would stay in one: they are cheaper computed again than
/// spilled, and to find that out took ptxas most of 10 seconds.
static bool isLarge(const Loop &loop) {
  constexpr size_t kManyInstructions = 3000;
  size_t count = 0;
  for (const BasicBlock *block : loop.blocks()) {
    count += block->size();
  }
  return count > kManyInstructions;
}

void PtxEmitter::optimise(llvm::Module &module) {
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](StringRef pass, Any unit) {
    if (const auto *loop = any_cast<const Loop *>(&unit)) {
      return pass != LICMPass::name() || !isLarge(**loop);
    }
    const auto *function = any_cast<const Function *>(&unit);
    return pass != GVNPass::name() || !function || !isTooBranched(**function);
  });
  TimeProfilingPassesHandler trace; // does nothing where nothing is traced
  trace.registerCallbacks(callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  // With the machine: nvvm-reflect, infer-address-spaces.
  PassBuilder builder(machine.get(), PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // Behind the first pass that simplifies what was inlined: what it folds goes with the next.
  builder.registerPeepholeEPCallback(
      [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(NarrowComparesPass()); });
  const OptimizationLevel levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                      OptimizationLevel::O2, OptimizationLevel::O3};
  OptimizationLevel level = levels[std::min(options.optLevel, 3u)];
  ModulePassManager passes = level == OptimizationLevel::O0
                                 ? builder.buildO0DefaultPipeline(level)
                                 : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

namespace {
/// Which of the back end's passes run on a function: on large ones not straight-line strength reduction, which holds each
/// expression against all others like it: at 10,000 instructions it took 8 of 9 seconds, and what ptxas then made was 0.4 % smaller.
/// What else the module has does not count, as a kernel's code is to be the same beside others and alone.
class BackEndGate : public OptPassGate {
public:
  static constexpr unsigned kManyInstructions = 5000;

  explicit BackEndGate(const llvm::Module &module) {
    for (const Function &function : module) {
      if (function.getInstructionCount() > kManyInstructions) {
        large.insert(("function (" + function.getName() + ")").str());
      }
    }
  }

  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef unit) const override {
    static const StringRef strengthReduction =
        Pass::lookupPassInfo(
            std::unique_ptr<Pass>(createStraightLineStrengthReducePass())->getPassID())
            ->getPassArgument();
    return pass != strengthReduction || !large.contains(unit);
  }

private:
  StringSet<> large; ///< as LLVM describes them
};

/// The back end's passes, and one of ours before the last that sees LLVM IR.
class BackEndPasses : public legacy::PassManager {
public:
  void add(Pass *pass) override {
    if (pass->getPassName().contains("Instruction Selection")) {
      legacy::PassManager::add(createHoldConstantsPass());
      holdsConstants = true;
    }
    legacy::PassManager::add(pass);
  }

  bool holdsConstants = false;
};
} // namespace

/// `@fast_math` lets subnormals of f32 become 0, and LLVM gives the instructions of f16 and bf16 the mode of
/// f32, although subnormals of f16 begin at 6e-5, and comparisons of bf16 know no such mode. Takes `.ftz` out of
/// opcodes whose last type is one of these.
static std::string keepHalfSubnormals(StringRef text) {
  constexpr StringLiteral flush = ".ftz";
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    StringRef line = text.take_front(end == StringRef::npos ? end : end + 1);
    text = text.drop_front(line.size());
    const size_t begin = line.find_if_not([](char c) { return c == ' ' || c == '\t'; });
    // A guard stands before its instruction.
    const size_t from =
        begin != StringRef::npos && line[begin] == '@' ? line.find(' ', begin) : begin;
    const size_t opcodeEnd = line.find_first_of(" \t;", from == begin ? begin : from + 1);
    StringRef opcode = line.take_front(opcodeEnd);
    const size_t at = opcode.find(flush);
    const bool isHalf = llvm::any_of(std::array<StringRef, 4>{".f16", ".f16x2", ".bf16", ".bf16x2"},
                                     [&](StringRef type) { return opcode.ends_with(type); });
    if (at != StringRef::npos && isHalf) {
      result += line.take_front(at);
      line = line.drop_front(at + flush.size());
    }
    result += line;
  }
  return result;
}

std::optional<std::string> PtxEmitter::toPtx(llvm::Module &module) {
  SmallString<0> text;
  raw_svector_ostream os(text);
  gate = std::make_unique<BackEndGate>(module);
  module.getContext().setOptPassGate(*gate);
  BackEndPasses passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::AssemblyFile) ||
      !passes.holdsConstants) {
    diags.report(diag::Id::InternalError, SMRange(), "LLVM cannot print PTX");
    return std::nullopt;
  }
  passes.run(module);
  return keepHalfSubnormals(text);
}

std::string withoutLines(StringRef ptx) {
  std::string result;
  result.reserve(ptx.size());
  bool inSection = false;
  while (!ptx.empty()) {
    size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    StringRef line = ptx.take_front(end), text = line.ltrim();
    ptx = ptx.drop_front(end);
    inSection |= text.starts_with(".section");
    bool isOfTable = inSection || text.starts_with(".loc\t") || text.starts_with(".file\t") ||
                     text.starts_with("$L__tmp") || text.starts_with("$L__func_");
    inSection &= !text.contains('}');
    if (!isOfTable) {
      result += line;
    }
  }
  return result;
}

bool dropMinBlocks(std::string &ptx, StringRef entry) {
  const size_t head = ptx.find((".entry " + entry + "(").str()), body = ptx.find("\n{", head);
  const size_t directive = ptx.find("\n.minnctapersm ", head);
  if (head == std::string::npos || directive >= body) {
    return false;
  }
  const size_t end = ptx.find('\n', directive + 1);
  const bool bounds = StringRef(ptx).slice(directive, end).trim() != ".minnctapersm 1";
  if (bounds) {
    ptx.erase(directive, end - directive);
  }
  return bounds;
}

bool askForOneBlock(std::string &ptx, StringRef entry) {
  const size_t head = ptx.find((".entry " + entry + "(").str()), body = ptx.find("\n{", head);
  if (head == std::string::npos || body == std::string::npos) {
    return false;
  }
  const StringRef directives = StringRef(ptx).slice(head, body);
  if (directives.contains("\n.minnctapersm ") || directives.contains("\n.maxnreg ")) {
    return false;
  }
  ptx.insert(body, "\n.minnctapersm 1");
  return true;
}

} // namespace tilec
