//===- KernelLowering.cpp - signature, entry code, small helpers ---------===//
#include "passes/llvm/KernelLowering.h"

#include "dialects/support/Diagnostics.h"
#include "dialects/tgpu/Cluster.h"
#include "mlir/IR/Matchers.h"
#include "passes/llvm/Clusters.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

Type slotType(Type element) {
  if (auto type = dyn_cast<FloatType>(element); type && type.getWidth() <= 8) {
    return IntegerType::get(element.getContext(), type.getWidth());
  }
  return element;
}

Type memoryType(Type element) {
  return element.getIntOrFloatBitWidth() < 8 ? IntegerType::get(element.getContext(), 8)
                                             : slotType(element);
}

int64_t memoryBytes(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

KernelLowering::KernelLowering(tgpu::KernelOp kernel, LLVM::GlobalOp sharedMemory)
    : kernel(kernel), integers(kernel), sharedMemory(sharedMemory), b(kernel.getContext()),
      loc(kernel.getLoc()) {
  StringRef target = kernel.getTarget().value_or("sm_80");
  target.consume_front("sm_");
  target.consumeInteger(10, arch);
  archSpecific = target == "a";
  warps = {0, kernel.getThreads() / 32};
}

LogicalResult KernelLowering::unsupported(Operation *op, const Twine &what) {
  return op->emitError(diag::formatDiagnostic(diag::Id::NotSupportedTarget, what.str(),
                                              kernel.getTarget().value_or("this target")));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value KernelLowering::constant(int64_t value, Type type) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value KernelLowering::add(Value x, Value y) {
  if (!x || !y) {
    return x ? x : y;
  }
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}

Value KernelLowering::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, constant(y, x.getType()));
}

Value KernelLowering::mul(Value x, int64_t y) {
  if (y == 1) {
    return x;
  }
  return b.createOrFold<arith::MulIOp>(loc, x, constant(y, x.getType()));
}

Value KernelLowering::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
}

Value KernelLowering::negated(Value condition) {
  return b.createOrFold<arith::XOrIOp>(loc, condition, constant(1, condition.getType()));
}

Value KernelLowering::both(Value x, Value y) {
  if (!x || !y) {
    return x ? x : y;
  }
  return b.createOrFold<arith::AndIOp>(loc, x, y);
}

Value KernelLowering::toInteger(Value value, Type type) {
  if (value.getType() == type) {
    return value;
  }
  if (value.getType().isIndex() || type.isIndex()) {
    return b.createOrFold<arith::IndexCastOp>(loc, type, value);
  }
  if (value.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()) {
    return b.createOrFold<arith::ExtSIOp>(loc, type, value);
  }
  return b.createOrFold<arith::TruncIOp>(loc, type, value);
}

Value KernelLowering::fromHere(Value value) {
  if (getConstantIntValue(value)) {
    return value;
  }
  auto same = LLVM::InlineAsmOp::create(
      b, loc, value.getType(), value, "", value.getType().isInteger(64) ? "=l,0" : "=r,0",
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return same.getResult(0);
}

Value KernelLowering::warpFrom(int64_t first) { return add(warpId, -first); }

Value KernelLowering::digitOf(const layout::ThreadTerm &term,
                              const layout::RegisterLayout &layout) {
  Value id = term.hw == layout::HwDim::Lane ? laneId : warpFrom(layout.firstWarp());
  if (term.divisor != 1) {
    id = llvm::isPowerOf2_64(term.divisor)
             ? b.createOrFold<arith::ShRUIOp>(loc, id, i32(llvm::Log2_64(term.divisor)))
             : b.createOrFold<arith::DivUIOp>(loc, id, i32(term.divisor));
  }
  if (term.modulus != 0) {
    id = llvm::isPowerOf2_64(term.modulus)
             ? b.createOrFold<arith::AndIOp>(loc, id, i32(term.modulus - 1))
             : b.createOrFold<arith::RemUIOp>(loc, id, i32(term.modulus));
  }
  return id;
}

Value KernelLowering::threadCoordinate(const layout::RegisterLayout &layout, unsigned dim) {
  Value sum;
  for (const layout::ThreadTerm &term : layout.threadTerms(dim)) {
    sum = add(sum, mul(digitOf(term, layout), term.stride));
  }
  return sum ? sum : i32(0);
}

//===----------------------------------------------------------------------===//
// Function
//===----------------------------------------------------------------------===//

bool KernelLowering::isWritten(Value argument) {
  // Views and slices form chains: follow them to the operations that use them.
  SmallVector<Value> worklist = {argument};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tgpu::ViewOp, tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp>(user)) {
        worklist.push_back(user->getResult(0));
        continue;
      }
      bool onlyReads = isa<tgpu::LoadOp, tgpu::GatherOp, tgpu::TmaLoadOp, tgpu::CpAsyncOp,
                           tile::LoadOp, tile::ExtentOp, tile::StrideOp>(user) ||
                       (isa<tgpu::CopyOp>(user) && use.getOperandNumber() == 0);
      if (!onlyReads) {
        return true;
      }
    }
  }
  return false;
}

SmallVector<NamedAttribute> KernelLowering::argumentAttributes(unsigned index, Type type) {
  SmallVector<NamedAttribute> attrs;
  attrs.push_back(b.getNamedAttr("llvm.noundef", b.getUnitAttr()));
  if (!isa<tile::GlobalType>(type)) {
    return attrs;
  }
  IntegerAttr align = tgpu::kAlign.get(kernel, index);
  attrs.push_back(b.getNamedAttr("llvm.align", align ? align : b.getI64IntegerAttr(16)));
  // What another argument may write is neither: no loads that bypass the caches' coherence (.nc),
  // and none that move across that argument's stores.
  BlockArgument argument = kernel.getBody().getArgument(index);
  // Nor is what a launch before this one may still be writing: its loads must stay behind the wait for that one.
  if (tgpu::mayAliasAny(argument) || tgpu::kWrittenBefore.has(kernel, index)) {
    return attrs;
  }
  // LLVM holds memory behind a noalias argument that nobody captures for the thread's own, which no
  // barrier concerns, and loads what is stored by tensor map through .nc. So what the threads of a
  // block write, and one may read or write after another, is not noalias.
  if (!isWritten(argument)) {
    attrs.push_back(b.getNamedAttr("llvm.noalias", b.getUnitAttr()));
    attrs.push_back(b.getNamedAttr("llvm.readonly", b.getUnitAttr()));
  }
  return attrs;
}

void KernelLowering::createFunction() {
  SmallVector<Type> types;
  SmallVector<SmallVector<NamedAttribute>> attrs;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    types.push_back(isa<tile::GlobalType>(type)
                        ? Type(LLVM::LLVMPointerType::get(b.getContext(), 1))
                        : memoryType(type));
    attrs.push_back(argumentAttributes(index, type));
  }
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  for (size_t i = 0; i < kernel.getTensorMaps().value_or(b.getArrayAttr({})).size(); ++i) {
    types.push_back(generic);
    attrs.push_back(
        {b.getNamedAttr("llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128))),
         b.getNamedAttr("llvm.align", b.getI64IntegerAttr(64)),
         b.getNamedAttr("nvvm.grid_constant", b.getUnitAttr()),
         b.getNamedAttr("llvm.noundef", b.getUnitAttr())});
  }
  // The record of failures and the buffer of messages, each with the number of the first place there.
  for (bool has : {tgpu::hasChecks(kernel), tgpu::hasPrints(kernel)}) {
    if (!has) {
      continue;
    }
    types.push_back(LLVM::LLVMPointerType::get(b.getContext(), 1));
    attrs.push_back({b.getNamedAttr("llvm.noundef", b.getUnitAttr()),
                     b.getNamedAttr("llvm.noalias", b.getUnitAttr()),
                     b.getNamedAttr("llvm.align", b.getI64IntegerAttr(8))});
    types.push_back(b.getI32Type());
    attrs.push_back({b.getNamedAttr("llvm.noundef", b.getUnitAttr())});
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  b.setInsertionPoint(kernel);
  function = LLVM::LLVMFuncOp::create(b, kernel.getLoc(), kernel.getSymName(), type);
  for (auto [index, list] : llvm::enumerate(attrs)) {
    for (NamedAttribute attr : list) {
      function.setArgAttr(index, attr.getName(), attr.getValue());
    }
  }
}

/// The attributes of PTX.
static void copyKernelAttributes(tgpu::KernelOp kernel, LLVM::LLVMFuncOp function) {
  Builder b(kernel.getContext());
  function->setAttr("nvvm.kernel", b.getUnitAttr());
  const int32_t threads = kernel.getLaunchedThreads();
  function->setAttr("nvvm.reqntid", b.getDenseI32ArrayAttr({threads, 1, 1}));
  bool setsRegisters = false;
  kernel.walk([&](tgpu::RolesOp roles) {
    setsRegisters |= llvm::any_of(roles.getRegisters(), [](int32_t r) { return r != 0; });
  });
  const std::optional<uint32_t> blocks =
      kernel.getMinBlocks() ? kernel.getMinBlocks() : kernel.getAimedBlocks();
  // setmaxnreg is ignored unless ptxas knows the count at entry.
  if (blocks || setsRegisters) {
    function->setAttr("nvvm.minctasm", b.getI32IntegerAttr(int32_t(blocks.value_or(1))));
  }
  if (kernel.getMaxRegisters()) {
    function->setAttr("nvvm.maxnreg", b.getI32IntegerAttr(*kernel.getMaxRegisters()));
  }
  if (kernel.getCluster()) {
    const auto blocks = int32_t(tgpu::blocksOfCluster(*kernel.getCluster()));
    function->setAttr("nvvm.cluster_dim", b.getDenseI32ArrayAttr({blocks, 1, 1}));
  }
  if (kernel.getFastMath()) {
    function.setPassthroughAttr(
        b.getArrayAttr({b.getArrayAttr({b.getStringAttr("denormal-fp-math-f32"),
                                        b.getStringAttr("preserve-sign,preserve-sign")})}));
  }
}

void KernelLowering::mapArguments() {
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  const unsigned count = kernel.getArgumentTypes().size();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    Value value = entry->getArgument(argument.getArgNumber());
    if (auto type = dyn_cast<tile::GlobalType>(argument.getType())) {
      views[argument] = View{value, argument.getArgNumber(), type.getElementType(), {}};
      continue;
    }
    if (argument.getType().isInteger(1)) {
      value = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                    constant(0, b.getI8Type()));
    }
    scalars[argument] = {value};
  }
  readReciprocals(*entry);
  const unsigned maps = kernel.getTensorMaps().value_or(b.getArrayAttr({})).size();
  for (unsigned i = count; i < count + maps; ++i) {
    tensorMaps.push_back(entry->getArgument(i));
  }
  unsigned next = count + maps;
  if (tgpu::hasChecks(kernel)) {
    failureRecord = entry->getArgument(next++);
    failureBase = entry->getArgument(next++);
  }
  if (tgpu::hasPrints(kernel)) {
    printBuffer = entry->getArgument(next++);
    printBase = entry->getArgument(next++);
  }
}

void KernelLowering::emitEntry() {
  const int32_t threads = kernel.getLaunchedThreads();
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, threads);
  threadId = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type(), range);
  laneId = arith::AndIOp::create(b, loc, threadId, i32(31));
  warpId = i32(0);
  if (threads > 32) {
    // The shuffle tells ptxas that the number is uniform over the warp.
    Value warp = arith::ShRUIOp::create(b, loc, threadId, i32(5));
    warpId = NVVM::ShflOp::create(b, loc, b.getI32Type(), i32(-1), warp, i32(0), i32(31),
                                  NVVM::ShflKind::idx, UnitAttr());
  }
  smemBase = LLVM::AddressOfOp::create(b, loc, sharedMemory);
  if (kernel.getCluster()) {
    clusters = std::make_shared<Clusters>(*this, *kernel.getCluster());
  }
  kernel.walk([&](tgpu::RolesOp roles) {
    if (std::optional<unsigned> role = roles.getRoleOfTeams()) {
      teams = roles.getTeams()[*role];
      teamBytes = int64_t(roles.getTeamBytes().value_or(0));
      team = b.createOrFold<arith::DivUIOp>(loc, warpFrom(roles.getFirstWarps()[*role]),
                                            i32(roles.getNumWarps()[*role]));
    }
  });
}

FailureOr<LLVM::LLVMFuncOp> KernelLowering::run() {
  for (Type type : kernel.getArgumentTypes()) { // between other passes there may be buffers
    if (!isa<tile::GlobalType>(type) && !type.isIntOrFloat()) {
      return kernel.emitError("a kernel takes views of global memory and scalars, not ") << type;
    }
  }
  createFunction();
  copyKernelAttributes(kernel, function);
  mapArguments();
  emitEntry();
  if (failed(initChannels()) || failed(lowerBlock(kernel.getBody().front()))) {
    function.erase();
    return failure();
  }
  if (clusters) {
    clusters->end();
  }
  LLVM::ReturnOp::create(b, kernel.getLoc(), ValueRange());
  return function;
}

} // namespace tilec::lowering
