#include "compiler/emit/HostObject.h"

#include "compiler/emit/HostExtents.h"
#include "runtime/include/tile/pack_format.h"
#include "runtime/include/tile/tile.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using tile_rt::DType;

namespace tilec {

std::optional<Triple> findHost(StringRef name) {
  Triple triple(Triple::normalize(name.empty() ? sys::getProcessTriple() : name.str()));
  const bool isKnown = triple.getArch() == Triple::x86_64 || triple.getArch() == Triple::aarch64;
  if (!isKnown || !triple.isOSLinux() || !triple.isOSBinFormatELF() || triple.isX32() ||
      triple.getEnvironment() == Triple::GNUILP32) {
    return std::nullopt;
  }
  // The file says no more of it: vendors and versions make no difference.
  const bool isArm = triple.getArch() == Triple::aarch64;
  return Triple(isArm ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu");
}

/// Once for the process.
static bool registerHosts() {
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  return true;
}

static std::unique_ptr<TargetMachine> createMachine(const Triple &host) {
  static const bool registered = registerHosts();
  (void)registered;
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(host, error);
  if (!target) {
    return nullptr;
  }
  TargetOptions options;
  options.FunctionSections = true; // what is not called can be left out by the linker
  options.DataSections = true;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      host, host.getArch() == Triple::x86_64 ? "x86-64" : "generic", "", options, Reloc::PIC_));
}

/// The pack behind its header, as tile_embedded_kernel() finds it.
static std::string embed(StringRef pack) {
  std::string bytes(sizeof(tile_embedded_header), '\0');
  memcpy(bytes.data(), TILE_EMBEDDED_MAGIC, TILE_EMBEDDED_MAGIC_BYTES);
  support::endian::write32le(bytes.data() + offsetof(tile_embedded_header, version),
                             TILE_EMBEDDED_VERSION);
  support::endian::write64le(bytes.data() + offsetof(tile_embedded_header, pack_bytes),
                             pack.size());
  const std::array<uint8_t, 32> digest = SHA256::hash(arrayRefFromStringRef(pack));
  static_assert(sizeof(tile_embedded_header::digest) == sizeof(digest));
  memcpy(bytes.data() + offsetof(tile_embedded_header, digest), digest.data(), digest.size());
  return bytes + pack.str();
}

namespace {
/// Builds the functions of all kernels. The C declarations that they follow are in tile.h.
class ObjectBuilder {
public:
  ObjectBuilder(llvm::Module &module, StringRef pack);
  void add(const HostKernel &kernel, size_t index);

private:
  FunctionCallee runtime(StringRef name, ArrayRef<Type *> parameters, Type *result);
  Function *begin(const std::string &name, ArrayRef<Type *> parameters);
  void addSymbolOfHeader(Function *function);
  Value *findKernel(Function *function);
  Type *memberType(const HostMember &member) const;
  Value *memberPointer(unsigned index, const Twine &name = "");
  Value *loadMember(unsigned index);
  Value *extentOf(const HostExtent &extent);
  Value *fillArguments();
  void fillTensor(const HostArgument &argument, Value *slot, Value *extents);
  void fillScalar(const HostArgument &argument, Value *slot);
  void addCall(StringRef callee, const std::string &name, ArrayRef<Type *> more);
  void set(Value *slot, unsigned field, Value *value);

  llvm::Module &module;
  LLVMContext &context;
  IRBuilder<> builder;
  GlobalVariable *embedded;
  Type *i32, *i64;
  PointerType *pointer;
  StructType *argType; ///< tile_arg

  // Of the kernel and the function that are being built.
  const HostKernel *kernel = nullptr;
  size_t kernelIndex = 0;
  StructType *argsType = nullptr;
  Value *args = nullptr; ///< the caller's struct
};
} // namespace

ObjectBuilder::ObjectBuilder(llvm::Module &module, StringRef pack)
    : module(module), context(module.getContext()), builder(context), i32(builder.getInt32Ty()),
      i64(builder.getInt64Ty()), pointer(builder.getPtrTy()) {
  static_assert(sizeof(tile_arg) == 32 && offsetof(tile_arg, data) == 0 &&
                offsetof(tile_arg, extents) == 8 && offsetof(tile_arg, strides) == 16 &&
                offsetof(tile_arg, rank) == 24 && offsetof(tile_arg, dtype) == 28);
  argType = StructType::get(context, {pointer, pointer, pointer, i32, i32});
  Constant *bytes = ConstantDataArray::getString(context, embed(pack), /*AddNull=*/false);
  embedded = new GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                                GlobalValue::InternalLinkage, bytes, "tile_pack");
  embedded->setAlignment(Align(TILE_EMBEDDED_ALIGN));
}

FunctionCallee ObjectBuilder::runtime(StringRef name, ArrayRef<Type *> parameters, Type *result) {
  FunctionCallee callee =
      module.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
  cast<Function>(callee.getCallee())->setDoesNotThrow();
  return callee;
}

/// A function of the object. Protected: callers in the same library get this one, also where another
/// library of the process has kernels of the same name.
Function *ObjectBuilder::begin(const std::string &name, ArrayRef<Type *> parameters) {
  auto *type = FunctionType::get(i32, parameters, false);
  Function *function = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  function->setVisibility(GlobalValue::ProtectedVisibility);
  function->setDSOLocal(true);
  function->setDoesNotThrow();
  function->setUWTableKind(UWTableKind::Default); // profilers and debuggers see the callers
  function->addFnAttr("frame-pointer", "non-leaf");
  function->addFnAttr("branch-target-enforcement");
  function->addFnAttr("sign-return-address", "non-leaf");
  function->addFnAttr("sign-return-address-key", "a_key");
  builder.SetInsertPoint(BasicBlock::Create(context, "entry", function));
  return function;
}

/// The name by which programs that include the header call a function that depends on the arguments.
void ObjectBuilder::addSymbolOfHeader(Function *function) {
  GlobalAlias *alias = GlobalAlias::create(function->getName() + kernel->suffix, function);
  alias->setVisibility(GlobalValue::ProtectedVisibility);
  alias->setDSOLocal(true);
}

/// Asks the runtime for the kernel; where it fails the function returns its status.
Value *ObjectBuilder::findKernel(Function *function) {
  Value *place = builder.CreateAlloca(pointer, nullptr, "kernel");
  FunctionCallee find = runtime("tile_embedded_kernel", {pointer, pointer, i64, pointer}, i32);
  Value *status = builder.CreateCall(
      find, {function->getArg(0), embedded, builder.getInt64(kernelIndex), place});
  BasicBlock *failed = BasicBlock::Create(context, "failed", function);
  BasicBlock *found = BasicBlock::Create(context, "found", function);
  builder.CreateCondBr(builder.CreateICmpEQ(status, builder.getInt32(TILE_OK)), found, failed);
  builder.SetInsertPoint(failed);
  builder.CreateRet(status);
  builder.SetInsertPoint(found);
  return builder.CreateLoad(pointer, place);
}

Type *ObjectBuilder::memberType(const HostMember &member) const {
  if (member.kind == HostMember::Kind::Tensor || member.kind == HostMember::Kind::Strides) {
    return pointer;
  }
  if (member.kind == HostMember::Kind::Extent) {
    return i64;
  }
  const unsigned bits = dtypeBits(member.dtype);
  if (dtypeKind(member.dtype) != tile_rt::ValueKind::Float) {
    return Type::getIntNTy(context, bits);
  }
  return bits == 64 ? Type::getDoubleTy(context) : Type::getFloatTy(context);
}

Value *ObjectBuilder::memberPointer(unsigned index, const Twine &name) {
  return builder.CreateStructGEP(argsType, args, index, name);
}

Value *ObjectBuilder::loadMember(unsigned index) {
  const HostMember &member = kernel->members[index];
  return builder.CreateLoad(memberType(member), memberPointer(index), member.name);
}

void ObjectBuilder::set(Value *slot, unsigned field, Value *value) {
  builder.CreateStore(value, builder.CreateStructGEP(argType, slot, field));
}

Value *ObjectBuilder::extentOf(const HostExtent &extent) {
  if (extent.member >= 0) {
    return loadMember(extent.member);
  }
  return buildExtent(builder, extent.expression, [&](StringRef name) -> Value * {
    auto known = find_if(kernel->dimensions, [&](const HostName &dim) { return dim.name == name; });
    Value *value = loadMember(known->member);
    if (kernel->members[known->member].dtype == tile_rt::DType::Bool) {
      return builder.CreateIsNotNull(value);
    }
    return dtypeIsSigned(kernel->members[known->member].dtype) ? builder.CreateSExt(value, i64)
                                                               : builder.CreateZExt(value, i64);
  });
}

void ObjectBuilder::fillTensor(const HostArgument &argument, Value *slot, Value *extents) {
  set(slot, 0, loadMember(argument.member));
  for (const auto &[axis, extent] : enumerate(argument.extents)) {
    builder.CreateStore(extentOf(extent), builder.CreateConstGEP1_64(i64, extents, axis));
  }
  set(slot, 1, extents);
  set(slot, 2,
      argument.strides < 0 ? ConstantPointerNull::get(pointer) : loadMember(argument.strides));
  set(slot, 3, builder.getInt32(argument.extents.size()));
}

/// A value is read where it is; f16 and bf16 are rounded first.
void ObjectBuilder::fillScalar(const HostArgument &argument, Value *slot) {
  Value *place = memberPointer(argument.member);
  if (argument.dtype == DType::F16 || argument.dtype == DType::BF16) {
    FunctionCallee encode = runtime("tile_scalar_bits", {i32, builder.getDoubleTy()}, i64);
    Value *value = builder.CreateFPExt(loadMember(argument.member), builder.getDoubleTy());
    Value *bits = builder.CreateCall(encode, {builder.getInt32(int(argument.dtype)), value});
    Function *function = builder.GetInsertBlock()->getParent();
    IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    place = entry.CreateAlloca(builder.getInt16Ty());
    builder.CreateStore(builder.CreateTrunc(bits, builder.getInt16Ty()), place);
  }
  set(slot, 0, place);
  set(slot, 1, ConstantPointerNull::get(pointer));
  set(slot, 2, ConstantPointerNull::get(pointer));
  set(slot, 3, builder.getInt32(TILE_SCALAR_RANK));
}

/// The list of tile_arg that the struct stands for, on the stack.
Value *ObjectBuilder::fillArguments() {
  size_t numExtents = 0;
  for (const HostArgument &argument : kernel->arguments) {
    numExtents += argument.extents.size();
  }
  Function *function = builder.GetInsertBlock()->getParent();
  IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  Value *list = entry.CreateAlloca(ArrayType::get(argType, kernel->arguments.size()));
  Value *extents = entry.CreateAlloca(ArrayType::get(i64, numExtents));
  size_t used = 0;
  for (const auto &[index, argument] : enumerate(kernel->arguments)) {
    Value *slot = builder.CreateConstGEP1_64(argType, list, index);
    if (argument.isTensor) {
      fillTensor(argument, slot, builder.CreateConstGEP1_64(i64, extents, used));
      used += argument.extents.size();
    } else {
      fillScalar(argument, slot);
    }
    set(slot, 4, builder.getInt32(int(argument.dtype)));
  }
  return list;
}

/// `tile_status NAME(context, args, more...)`: calls `callee` of the runtime with kernel, arguments and
/// the rest. Without a struct the runtime says how many arguments are missing.
void ObjectBuilder::addCall(StringRef callee, const std::string &name, ArrayRef<Type *> more) {
  SmallVector<Type *> own{pointer, pointer}, others{pointer, pointer, i64};
  append_range(own, more);
  append_range(others, more);
  Function *function = begin(name, own);
  addSymbolOfHeader(function);
  args = function->getArg(1);
  SmallVector<Value *> values{findKernel(function), ConstantPointerNull::get(pointer),
                              builder.getInt64(0)};
  for (Argument &argument : drop_begin(function->args(), 2)) {
    values.push_back(&argument);
  }
  FunctionCallee call = runtime(callee, others, i32);
  if (!kernel->arguments.empty()) {
    BasicBlock *without = BasicBlock::Create(context, "without", function);
    BasicBlock *given = BasicBlock::Create(context, "given", function);
    builder.CreateCondBr(builder.CreateIsNull(args), without, given);
    builder.SetInsertPoint(without);
    builder.CreateRet(builder.CreateCall(call, values));
    builder.SetInsertPoint(given);
    values[1] = fillArguments();
    values[2] = builder.getInt64(kernel->arguments.size());
  }
  builder.CreateRet(builder.CreateCall(call, values));
}

void ObjectBuilder::add(const HostKernel &added, size_t index) {
  kernel = &added;
  kernelIndex = index;
  SmallVector<Type *> types;
  for (const HostMember &member : added.members) {
    types.push_back(memberType(member));
  }
  argsType = StructType::get(context, types);
  addCall("tile_launch", added.call, {pointer, pointer, i64});
  addCall("tile_workspace_size", added.workspace, {pointer});
  addCall("tile_describe", added.describe, {pointer, i64, pointer});

  Function *prepare = begin(added.prepare, {pointer});
  Value *found = findKernel(prepare);
  builder.CreateRet(builder.CreateCall(runtime("tile_kernel_prepare", {pointer}, i32), {found}));

  Function *handle = begin(added.handle, {pointer, pointer});
  addSymbolOfHeader(handle);
  FunctionCallee find = runtime("tile_embedded_kernel", {pointer, pointer, i64, pointer}, i32);
  builder.CreateRet(builder.CreateCall(
      find, {handle->getArg(0), embedded, builder.getInt64(index), handle->getArg(1)}));
}

std::optional<std::string> writeObject(ArrayRef<HostKernel> kernels, StringRef pack,
                                       ArrayRef<std::string> symbols, const Triple &host,
                                       DiagnosticEngine &diags) {
  std::unique_ptr<TargetMachine> machine = createMachine(host);
  if (!machine) {
    diags.report(diag::Id::InternalError, SMRange(), "LLVM has no target for " + host.str());
    return std::nullopt;
  }
  LLVMContext context;
  llvm::Module module("kernels", context);
  module.setTargetTriple(host);
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
  // So that programs which ask the processor to check jumps and returns still may.
  for (const char *flag : {"cf-protection-branch", "cf-protection-return",
                           "branch-target-enforcement", "sign-return-address"}) {
    module.addModuleFlag(llvm::Module::Min, flag, 1);
  }
  ObjectBuilder objects(module, pack);
  for (const HostKernel &kernel : kernels) {
    objects.add(kernel, find(symbols, kernel.symbol) - symbols.begin());
  }
  SmallString<0> bytes;
  raw_svector_ostream os(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::ObjectFile)) {
    diags.report(diag::Id::InternalError, SMRange(), "LLVM cannot write objects for " + host.str());
    return std::nullopt;
  }
  passes.run(module);
  return bytes.str().str();
}

} // namespace tilec
