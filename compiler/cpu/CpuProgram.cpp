//===- CpuProgram.cpp - compiles for the host and runs --------------------===//
#include "compiler/cpu/CpuProgram.h"

#include "compiler/cpu/HostCodegen.h"
#include "compiler/cpu/HostFibers.h"

#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tilec::cpu {

using namespace llvm;

CpuProgram::CpuProgram() = default;
CpuProgram::~CpuProgram() = default;

Argument Argument::tensor(void *data, ArrayRef<int64_t> extents, ArrayRef<int64_t> strides,
                          StringRef dtype) {
  Argument argument;
  argument.isTensor = true;
  argument.data = data;
  argument.extents.assign(extents.begin(), extents.end());
  argument.strides.assign(strides.begin(), strides.end());
  argument.dtype = dtype.str();
  return argument;
}

Argument Argument::tensor(void *data, ArrayRef<int64_t> extents, StringRef dtype) {
  SmallVector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * extents[d];
  }
  return tensor(data, extents, strides, dtype);
}

Argument Argument::scalar(uint64_t bits, StringRef dtype) {
  Argument argument;
  argument.bits = bits;
  argument.dtype = dtype.str();
  return argument;
}

/// The language's name of an element type, for kernels that do not say it.
static Error internalError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "cpu target: " + message);
}

/// Whether passes over loops would take minutes: LLVM's analysis of their variables takes a time that grows with the square of a function's
/// loops, of which each operation on tiles is one.
static bool hasManyLoops(const Module &module) {
  constexpr size_t many = 500; // blocks; 100 operations on a tile took 8 s, 400 took 106
  return any_of(module, [](const Function &function) { return function.size() > many; });
}

/// Simplifies the module, or only cleans it up; the order of float operations stays as it is.
static void optimise(Module &module, TargetMachine *machine, bool cleansOnly) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  if (!cleansOnly) {
    builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1).run(module, modules);
    return;
  }
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

static Expected<std::unique_ptr<orc::LLJIT>> createJit(orc::JITTargetMachineBuilder builder) {
  Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit) {
    return jit.takeError();
  }
  orc::LLJIT &session = **jit;
  orc::SymbolMap symbols;
  for (const HostSymbol &symbol : hostSymbols()) {
    symbols[session.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                                     JITSymbolFlags::Exported |
                                                         JITSymbolFlags::Callable};
  }
  if (Error error = session.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)))) {
    return std::move(error);
  }
  // What LLVM calls by itself: memset, fmaf, floorf.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      session.getDataLayout().getGlobalPrefix());
  if (!process) {
    return process.takeError();
  }
  session.getMainJITDylib().addGenerator(std::move(*process));
  return jit;
}

Expected<std::unique_ptr<CpuProgram>> CpuProgram::compile(mlir::ModuleOp module,
                                                          const CpuOptions &options) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  std::unique_ptr<CpuProgram> program(new CpuProgram());
  program->options = options;
  Expected<orc::JITTargetMachineBuilder> target = orc::JITTargetMachineBuilder::detectHost();
  if (!target) {
    return target.takeError();
  }
  auto machine = target->createTargetMachine();
  if (!machine) {
    return machine.takeError();
  }
  auto context = std::make_unique<LLVMContext>();
  auto code = std::make_unique<Module>("tile", *context);
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  for (auto kernel : module.getOps<tile::KernelOp>()) {
    // Views are per kernel; a codegen object does not outlive one.
    if (failed(HostCodegen(*code, options.smCount, options.checksHost).emitKernel(kernel))) {
      return internalError("kernel `" + kernel.getSymName() + "` could not be lowered");
    }
    program->names.push_back(kernel.getSymName().str());
  }
  std::string problems;
  raw_string_ostream problemStream(problems);
  if (options.dumpLLVM) {
    code->print(errs(), nullptr);
  }
  if (verifyModule(*code, &problemStream)) {
    return internalError("invalid host code: " + problems);
  }
  const bool cleansOnly = hasManyLoops(*code);
  optimise(*code, machine->get(), cleansOnly);
  if (cleansOnly) {
    target->setCodeGenOptLevel(CodeGenOptLevel::None);
  }
  Expected<std::unique_ptr<orc::LLJIT>> jit = createJit(std::move(*target));
  if (!jit) {
    return jit.takeError();
  }
  program->jit = std::move(*jit);
  if (Error error =
          program->jit->addIRModule(orc::ThreadSafeModule(std::move(code), std::move(context)))) {
    return std::move(error);
  }
  return program;
}

/// Calls generated code; false if the program stopped with an error. Nothing here has a destructor
/// that `longjmp` would skip.
static bool callKernel(HostRun &run, void (*kernel)(HostThread *, const HostArgument *),
                       HostThread *thread, const HostArgument *arguments) {
  if (setjmp(run.stop) != 0) {
    return false;
  }
  kernel(thread, arguments);
  return true;
}

Error CpuProgram::run(StringRef symbol, ArrayRef<Argument> arguments) {
  if (!llvm::is_contained(names, symbol)) {
    return createStringError(inconvertibleErrorCode(), "there is no kernel `" + symbol + "`");
  }
  Expected<orc::ExecutorAddr> address = jit->lookup(symbol);
  if (!address) {
    return address.takeError();
  }
  SmallVector<HostArgument> records;
  for (const Argument &argument : arguments) {
    HostArgument record = {argument.data, argument.bits, {}, {}};
    if (argument.data) {
      llvm::copy(argument.extents, record.extents);
      llvm::copy(argument.strides, record.strides);
    }
    records.push_back(record);
  }
  HostRun state;
  state.out = options.out;
  state.memoryLimit = options.memoryLimit;
  HostThread thread;
  thread.run = &state;
  bool finished = callKernel(state, address->toPtr<void (*)(HostThread *, const HostArgument *)>(),
                             &thread, records.data());
  options.out->flush();
  return finished ? Error::success()
                  : createStringError(inconvertibleErrorCode(), "%s", state.error.c_str());
}

} // namespace tilec::cpu
