//===- Global.cpp - fragments from and to global memory ------------------===//
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

SmallVector<bool, 4> inBoundsOf(Operation *op) {
  DenseBoolArrayAttr flags = tgpu::kInBounds.get(op);
  return flags ? SmallVector<bool, 4>(flags.asArrayRef()) : SmallVector<bool, 4>();
}

/// Elements per access: what `bytes` asks for as far as a thread's slots are neighbours.
static int64_t vectorLength(const layout::RegisterLayout &registers, Type element,
                            std::optional<uint32_t> bytes, bool contiguous) {
  if (!contiguous || registers.rank() == 0) {
    return 1;
  }
  const int64_t wanted = std::max<int64_t>(1, bytes.value_or(0) / memoryBytes(element));
  return std::min(wanted, registers.contiguousElements(registers.rank() - 1));
}

FailureOr<Value> KernelLowering::ownsSlots(Operation *op, const layout::RegisterLayout &registers) {
  auto digits = registers.replicaDigits();
  if (!digits) {
    return unsupported(op, "a store of a fragment in such a layout: " + digits.reason());
  }
  Value owner;
  for (const layout::ThreadTerm &term : *digits) {
    owner = both(owner, compare(arith::CmpIPredicate::eq, digitOf(term, registers), i32(0)));
  }
  return owner;
}

LogicalResult KernelLowering::byOwners(Operation *op, const layout::RegisterLayout &registers,
                                       llvm::function_ref<void()> store) {
  FailureOr<Value> owner = ownsSlots(op, registers);
  if (failed(owner)) {
    return failure();
  }
  guarded(*owner, store);
  return success();
}

CacheUse KernelLowering::cacheUse(const View &view, tile::CacheHint cache) {
  const bool readOnly = function.getArgAttr(view.argument, "llvm.readonly") &&
                        function.getArgAttr(view.argument, "llvm.noalias");
  return {cache, cachePolicy(cache), readOnly};
}

Fragment KernelLowering::loadGlobal(Operation *op, const View &view,
                                    const layout::RegisterLayout &registers,
                                    std::optional<uint32_t> accessBytes, tile::CacheHint cache) {
  GlobalAddresses addresses(*this, view, registers, inBoundsOf(op));
  const CacheUse use = cacheUse(view, cache);
  const int64_t count =
      vectorLength(registers, view.element, accessBytes, addresses.lastIsContiguous());
  const int64_t bytes = memoryBytes(view.element);
  const bool straddles = addresses.mayStraddle(count);
  Type slot = slotType(view.element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(slot));
  // A group of neighbours under a condition; zero or `otherwise` where it does not hold.
  auto loadIf = [&](Value condition, int64_t reg, int64_t n,
                    llvm::function_ref<Fragment()> otherwise) -> Fragment {
    Value pointer = addresses.pointer(reg);
    if (!condition) {
      return loadElements(pointer, view.element, n, n * bytes, use);
    }
    auto branch = scf::IfOp::create(b, loc, SmallVector<Type>(n, slot), condition, true, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, loadElements(pointer, view.element, n, n * bytes, use));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, otherwise());
    return Fragment(branch.getResults().begin(), branch.getResults().end());
  };
  auto inRange = [&](int64_t reg, int64_t n) {
    return both(addresses.inRange(reg, n), addresses.inTile(reg, n));
  };
  Fragment result;
  for (int64_t reg = 0; reg < registers.registersPerThread(); reg += count) {
    Value whole = inRange(reg, count);
    SmallVector<Value> each;
    for (int64_t i = 0; straddles && i < count; ++i) {
      addresses.pointer(reg + i);
      each.push_back(inRange(reg + i, 1));
    }
    result.append(loadIf(whole, reg, count, [&] {
      Fragment parts;
      for (int64_t i = 0; i < count; ++i) {
        parts.append(straddles ? loadIf(each[i], reg + i, 1, [&] { return Fragment{zero}; })
                               : Fragment{zero});
      }
      return parts;
    }));
  }
  return result;
}

void KernelLowering::forEachGroup(
    Operation *op, const View &view, const layout::RegisterLayout &registers, ArrayRef<Value> slots,
    std::optional<uint32_t> accessBytes,
    llvm::function_ref<void(Value pointer, ArrayRef<Value> values)> store) {
  GlobalAddresses addresses(*this, view, registers, inBoundsOf(op));
  const int64_t count =
      vectorLength(registers, view.element, accessBytes, addresses.lastIsContiguous());
  const bool straddles = addresses.mayStraddle(count);
  auto inRange = [&](int64_t reg, int64_t n) {
    return both(addresses.inRange(reg, n), addresses.inTile(reg, n));
  };
  for (int64_t reg = 0; reg < registers.registersPerThread(); reg += count) {
    Value whole = inRange(reg, count), pointer = addresses.pointer(reg);
    if (!straddles) {
      guarded(whole, [&] { store(pointer, slots.slice(reg, count)); });
      continue;
    }
    SmallVector<Value> each;
    for (int64_t i = 0; i < count; ++i) {
      each.push_back(inRange(reg + i, 1));
    }
    auto branch = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    store(pointer, slots.slice(reg, count));
    b.setInsertionPointToStart(branch.elseBlock());
    for (int64_t i = 0; i < count; ++i) {
      Value element = addresses.pointer(reg + i);
      guarded(each[i], [&] { store(element, slots.slice(reg + i, 1)); });
    }
  }
}

void KernelLowering::storeGlobal(Operation *op, const View &view,
                                 const layout::RegisterLayout &registers, ArrayRef<Value> slots,
                                 std::optional<uint32_t> accessBytes, tile::CacheHint cache) {
  const CacheUse use = cacheUse(view, cache);
  const int64_t bytes = memoryBytes(view.element);
  forEachGroup(op, view, registers, slots, accessBytes, [&](Value pointer, ArrayRef<Value> values) {
    storeElements(pointer, view.element, values, int64_t(values.size()) * bytes, use);
  });
}

LogicalResult KernelLowering::lowerLoad(tgpu::LoadOp op) {
  auto source = views.find(op.getSource());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const layout::RegisterLayout *registers = tgpu::getLayout(type);
  if (source == views.end() || !registers || !registers->isSeparable() ||
      source->second.element != type.getElementType()) {
    return unsupported(op, "a load of such a fragment");
  }
  if (failed(checkGathered(op, source->second, *registers))) {
    return failure();
  }
  scalars[op.getResult()] =
      loadGlobal(op, source->second, *registers, op.getBytes(), op.getCache());
  return success();
}

LogicalResult KernelLowering::lowerStore(tgpu::StoreOp op) {
  auto dest = views.find(op.getDest());
  auto type = cast<RankedTensorType>(op.getValue().getType());
  const layout::RegisterLayout *registers = tgpu::getLayout(type);
  if (dest == views.end() || !registers || !registers->isSeparable() || registers->partial() ||
      dest->second.element != type.getElementType()) {
    return unsupported(op, "a store of such a fragment");
  }
  FailureOr<Fragment> values = flatten(op, op.getValue());
  if (failed(values) || failed(checkGathered(op, dest->second, *registers))) {
    return failure();
  }
  return byOwners(op, *registers, [&] {
    storeGlobal(op, dest->second, *registers, *values, op.getBytes(), op.getCache());
  });
}

} // namespace tilec::lowering
