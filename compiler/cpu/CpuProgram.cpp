//===- CpuProgram.cpp - compiles for the host and runs --------------------===//
#include "compiler/cpu/CpuProgram.h"

#include "compiler/cpu/CpuArguments.h"
#include "compiler/cpu/HostCodegen.h"
#include "compiler/cpu/HostFibers.h"

#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"

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
static std::string defaultName(mlir::Type type) {
  static constexpr StringLiteral names[] = {"f64",  "f32",  "f16", "bf16", "e4m3", "e5m2", "e2m1",
                                            "e8m0", "bool", "i4",  "i8",   "i16",  "i32",  "i64"};
  std::optional<Num> num = numOf(type);
  return num ? names[(int)*num].str() : "?";
}

static Parameter describeParameter(tile::KernelOp kernel, unsigned index) {
  Parameter parameter;
  mlir::Type type = kernel.getArgumentTypes()[index];
  auto textOf = [&](const Fact<mlir::StringAttr> &fact, std::string otherwise) {
    mlir::StringAttr value = fact.get(kernel, index);
    return value ? value.getValue().str() : otherwise;
  };
  parameter.name = textOf(tile::kName, "#" + std::to_string(index));
  parameter.dtype = textOf(tile::kDtype, defaultName(elementTypeOf(type)));
  parameter.isTensor = isa<tile::GlobalType>(type);
  if (!parameter.isTensor) {
    return parameter;
  }
  parameter.direction = textOf(tile::kDirection, "in");
  parameter.isOptional = tile::kOptional.has(kernel, index);
  parameter.isStrided = tile::kStrided.has(kernel, index);
  if (mlir::IntegerAttr align = tile::kAlign.get(kernel, index)) {
    parameter.align = align.getInt();
  }
  if (mlir::ArrayAttr names = tile::kMayAlias.get(kernel, index)) {
    for (auto name : names.getAsRange<mlir::StringAttr>()) {
      parameter.mayAlias.push_back(name.getValue().str());
    }
  }
  ArrayRef<int64_t> shape = shapeOf(type);
  parameter.shape.assign(shape.begin(), shape.end());
  parameter.elementBits = storageBits(numOf(elementTypeOf(type)).value_or(Num::I8));
  return parameter;
}

static Error internalError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "cpu target: " + message);
}

/// Simplifies the module; the order of float operations stays as it is.
static void optimise(Module &module, TargetMachine *machine) {
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
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1).run(module, modules);
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
    if (failed(HostCodegen(*code, options.smCount).emitKernel(kernel))) {
      return internalError("kernel `" + kernel.getSymName() + "` could not be lowered");
    }
    program->names.push_back(kernel.getSymName().str());
    auto &parameters = program->kernels[kernel.getSymName()];
    for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i) {
      parameters.push_back(describeParameter(kernel, i));
    }
  }
  std::string problems;
  raw_string_ostream problemStream(problems);
  if (options.dumpLLVM) {
    code->print(errs(), nullptr);
  }
  if (verifyModule(*code, &problemStream)) {
    return internalError("invalid host code: " + problems);
  }
  optimise(*code, machine->get());
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

ArrayRef<Parameter> CpuProgram::parameters(StringRef symbol) const {
  auto kernel = kernels.find(symbol);
  return kernel == kernels.end() ? ArrayRef<Parameter>() : ArrayRef<Parameter>(kernel->second);
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
  if (!kernels.contains(symbol)) {
    return createStringError(inconvertibleErrorCode(), "there is no kernel `" + symbol + "`");
  }
  if (Error error = checkArguments(symbol, parameters(symbol), arguments)) {
    return error;
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
  HostThread thread;
  thread.run = &state;
  bool finished = callKernel(state, address->toPtr<void (*)(HostThread *, const HostArgument *)>(),
                             &thread, records.data());
  options.out->flush();
  return finished ? Error::success()
                  : createStringError(inconvertibleErrorCode(), "%s", state.error.c_str());
}

} // namespace tilec::cpu
