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

namespace {

/// The accesses of a thread: groups of slots that are neighbours in global memory. One that the end
/// of the tensor cuts is not accessed as a whole; its elements are, in a block of their own that few
/// threads enter, with addresses and conditions of its own.
class Groups {
public:
  /// Without `bytes` each group is one element.
  Groups(KernelLowering &lowering, Operation *op, const View &view,
         const layout::RegisterLayout &registers, std::optional<uint32_t> bytes)
      : lowering(lowering), registers(registers),
        addresses(lowering, view, registers, inBoundsOf(op)),
        count(vectorLength(registers, view.element, bytes, addresses.lastIsContiguous())) {}

  int64_t size() const { return count; }
  Value pointer(int64_t reg) { return addresses.pointer(reg); }

  /// Null: they are.
  Value inRange(int64_t reg, int64_t n) {
    return lowering.both(addresses.inRange(reg, n), addresses.inTile(reg, n));
  }

  /// Whether some group lies partly in range; null: none can.
  Value anyStraddles() {
    Value any;
    for (int64_t reg = 0; addresses.mayStraddle(count) && reg < registers.registersPerThread();
         reg += count) {
      if (Value whole = inRange(reg, count)) {
        Value partly = lowering.both(inRange(reg, 1), lowering.negated(whole));
        any = any ? lowering.builder().createOrFold<arith::OrIOp>(lowering.location(), any, partly)
                  : partly;
      }
    }
    return any;
  }

private:
  KernelLowering &lowering;
  const layout::RegisterLayout &registers;
  GlobalAddresses addresses;
  int64_t count;
};

} // namespace

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

GlobalUse KernelLowering::globalUse(const View &view, tile::CacheHint cache) {
  const bool readOnly = function.getArgAttr(view.argument, "llvm.readonly") &&
                        function.getArgAttr(view.argument, "llvm.noalias");
  return {cache, cachePolicy(cache), readOnly, /*condition=*/Value()};
}

Fragment KernelLowering::loadGlobal(Operation *op, const View &view,
                                    const layout::RegisterLayout &registers,
                                    std::optional<uint32_t> accessBytes, tile::CacheHint cache) {
  const GlobalUse use = globalUse(view, cache);
  Groups groups(*this, op, view, registers, accessBytes);
  const int64_t bytes = memoryBytes(view.element), count = groups.size();
  Fragment wide;
  for (int64_t reg = 0; reg < registers.registersPerThread(); reg += count) {
    Value pointer = groups.pointer(reg);
    wide.append(loadElements(pointer, view.element, count, count * bytes,
                             use.under(groups.inRange(reg, count))));
  }
  Value straddles = groups.anyStraddles();
  if (!straddles) {
    return wide;
  }
  auto branch = scf::IfOp::create(b, loc, TypeRange(ValueRange(wide)), straddles, true, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Groups single(*this, op, view, registers, std::nullopt);
  Fragment elements;
  for (int64_t reg = 0; reg < registers.registersPerThread(); ++reg) {
    Value pointer = single.pointer(reg);
    elements.append(
        loadElements(pointer, view.element, 1, bytes, use.under(single.inRange(reg, 1))));
  }
  scf::YieldOp::create(b, loc, elements);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, wide);
  return Fragment(branch.getResults().begin(), branch.getResults().end());
}

void KernelLowering::forEachGroup(
    Operation *op, const View &view, const layout::RegisterLayout &registers, ArrayRef<Value> slots,
    std::optional<uint32_t> accessBytes,
    llvm::function_ref<void(Value pointer, ArrayRef<Value> values, Value condition)> store) {
  Groups groups(*this, op, view, registers, accessBytes);
  const int64_t count = groups.size();
  SmallVector<Value> whole;
  for (int64_t reg = 0; reg < registers.registersPerThread(); reg += count) {
    whole.push_back(groups.inRange(reg, count));
    store(groups.pointer(reg), slots.slice(reg, count), whole.back());
  }
  Value straddles = groups.anyStraddles();
  if (!straddles) {
    return;
  }
  guarded(straddles, [&] {
    Groups single(*this, op, view, registers, std::nullopt);
    for (int64_t reg = 0; reg < registers.registersPerThread(); ++reg) {
      if (Value all = whole[reg / count]) {
        Value condition = both(single.inRange(reg, 1), negated(all));
        store(single.pointer(reg), slots.slice(reg, 1), condition);
      }
    }
  });
}

void KernelLowering::storeGlobal(Operation *op, const View &view,
                                 const layout::RegisterLayout &registers, ArrayRef<Value> slots,
                                 std::optional<uint32_t> accessBytes, tile::CacheHint cache) {
  const GlobalUse use = globalUse(view, cache);
  const int64_t bytes = memoryBytes(view.element);
  forEachGroup(op, view, registers, slots, accessBytes,
               [&](Value pointer, ArrayRef<Value> values, Value condition) {
                 storeElements(pointer, view.element, values, int64_t(values.size()) * bytes,
                               use.under(condition));
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

/// The view with strides of which LLVM knows nothing before this place.
static View withStridesFromHere(KernelLowering &lowering, View view) {
  for (ViewDim &dim : view.dims) {
    dim.stride = dim.stride ? lowering.fromHere(dim.stride) : Value();
  }
  return view;
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
  const View view = standsBesideLoops(op) ? withStridesFromHere(*this, dest->second) : dest->second;
  return byOwners(op, *registers, [&] {
    storeGlobal(op, view, *registers, *values, op.getBytes(), op.getCache());
  });
}

} // namespace tilec::lowering
