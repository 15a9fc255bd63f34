//===- Elements.cpp - elements at computed indices -----------------------===//
#include "passes/llvm/ElementAccess.h"

using namespace mlir;

namespace tilec::lowering {

LogicalResult KernelLowering::lowerCoordinate(tgpu::CoordinateOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const layout::RegisterLayout *layout = tgpu::getLayout(type);
  if (!layout || !layout->isSeparable()) {
    return unsupported(op, "coordinates in such a layout");
  }
  Value first = threadCoordinate(*layout, 0);
  Fragment slots;
  for (int64_t reg = 0; reg < layout->registersPerThread(); ++reg) {
    slots.push_back(toInteger(add(first, layout->registerOffset(reg)[0]), type.getElementType()));
  }
  scalars[op.getResult()] = slots;
  return success();
}

LogicalResult KernelLowering::prepareAccess(ElementAccess &access) {
  auto view = views.find(access.place);
  auto buffer = buffers.find(access.place);
  access.view = view == views.end() ? nullptr : &view->second;
  access.buffer = buffer == buffers.end() ? nullptr : &buffer->second;
  if (!access.view && !access.buffer) {
    return unsupported(access.op, "elements of what is no view or buffer");
  }
  if (access.view && access.view->isGathered()) {
    return unsupported(access.op, "an element at gathered indices");
  }
  access.element = access.view ? access.view->element : access.buffer->element;
  auto tile = dyn_cast<RankedTensorType>(access.tile);
  access.layout = tile ? tgpu::getLayout(tile) : nullptr;
  if (tile && (!access.layout || !access.layout->isSeparable() || access.layout->partial())) {
    return unsupported(access.op, "elements of such a tile");
  }
  access.slots = tile ? access.layout->registersPerThread() : 1;
  auto bySlot = [&](Value old, Fragment &slots) {
    FailureOr<Fragment> flat = flatten(access.op, old);
    if (failed(flat)) {
      return failure();
    }
    slots = isa<RankedTensorType>(old.getType()) ? *flat : Fragment(access.slots, (*flat)[0]);
    return success();
  };
  for (Value index : access.indices) {
    if (failed(bySlot(index, access.at.emplace_back()))) {
      return failure();
    }
    if (isa<RankedTensorType>(index.getType())) {
      const unsigned bits = getElementTypeOrSelf(index.getType()).getIntOrFloatBitWidth();
      access.ranges.push_back({APInt::getSignedMinValue(bits).getSExtValue(),
                               APInt::getSignedMaxValue(bits).getSExtValue()});
    } else {
      access.ranges.push_back(integers.range(index));
    }
  }
  return access.mask ? bySlot(access.mask, access.holds) : success();
}

Value KernelLowering::placeOf(const ElementAccess &access, size_t slot, Value &condition) {
  condition = access.holds.empty() ? Value() : access.holds[slot];
  if (access.layout) { // padding has no indices
    condition = both(condition, slotInTile(*access.layout, int64_t(slot)));
  }
  if (access.view) {
    SmallVector<ElementIndex> indices;
    for (auto [slots, range] : llvm::zip_equal(access.at, access.ranges)) {
      indices.push_back({slots[slot], range});
    }
    Neighbours element(*this, *access.view, indices, /*count=*/1);
    condition = both(condition, element.inRange(0, 1));
    return element.pointer(0);
  }
  const Shared &buffer = *access.buffer;
  Value offset = sharedOffset(*this, buffer.layout, [&](unsigned d) {
    return add(toInteger(access.at[d][slot], b.getI32Type()), buffer.origin[d]);
  });
  return sharedPointer(add(offset, sharedSteps(buffer)), buffer.bytes);
}

Value KernelLowering::insideBuffer(const ElementAccess &access, size_t slot) {
  Value condition;
  for (size_t d = 0; access.buffer && d < access.at.size(); ++d) {
    Value index = access.at[d][slot];
    Value extent = constant(access.buffer->shape[d], index.getType());
    condition = both(condition, compare(arith::CmpIPredicate::ult, index, extent));
  }
  return condition;
}

LogicalResult KernelLowering::lowerGather(tgpu::GatherOp op) {
  ElementAccess access{op, op.getSource(), op.getIndices(), op.getMask(), op.getResult().getType()};
  if (failed(prepareAccess(access))) {
    return failure();
  }
  for (size_t d = 0; access.buffer && d < access.at.size(); ++d) { // outside: the nearest one
    DenseMap<Value, Value> nearest; // one for slots that read the same element; looked up only
    for (Value &index : access.at[d]) {
      Value last = constant(access.buffer->shape[d] - 1, index.getType());
      Value &known = nearest[index];
      known = known ? known : b.createOrFold<arith::MinUIOp>(loc, index, last);
      index = known;
    }
  }
  const int64_t bytes = memoryBytes(access.element);
  Type type = slotType(access.element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  const GlobalUse use = access.view ? globalUse(*access.view, tile::getCacheHint(op)) : GlobalUse();
  Fragment result;
  std::map<SmallVector<void *, 4>, Value> known; // slots that read the same element; looked up only
  for (size_t slot = 0; slot < access.slots; ++slot) {
    SmallVector<void *, 4> key;
    for (const Fragment &slots : access.at) {
      key.push_back(slots[slot].getAsOpaquePointer());
    }
    if (!access.holds.empty()) {
      key.push_back(access.holds[slot].getAsOpaquePointer());
    }
    const bool mayPad = access.layout && access.layout->hasPadding();
    if (auto it = known.find(key); it != known.end() && !mayPad) {
      result.push_back(it->second);
      continue;
    }
    Value condition, pointer = placeOf(access, slot, condition);
    Value value;
    if (condition && access.buffer) {
      auto branch = scf::IfOp::create(b, loc, TypeRange{type}, condition, true, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc, loadElements(pointer, access.element, 1, bytes));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, zero);
      value = branch.getResult(0);
    } else {
      value = loadElements(pointer, access.element, 1, bytes, use.under(condition))[0];
    }
    known[key] = value;
    result.push_back(value);
  }
  scalars[op.getResult()] = result;
  return success();
}

/// All elements of the tile would go to one place: so the mask holds for one of them at most, which
/// becomes the access's only one.
Value KernelLowering::onlyElement(ElementAccess &access, const Fragment &values) {
  Value value = values[0], holds;
  for (size_t slot = 0; slot < access.slots; ++slot) {
    Value isHere = both(access.holds.empty() ? Value() : access.holds[slot],
                        slotInTile(*access.layout, int64_t(slot)));
    if (!isHere || slot == 0) {
      value = values[slot];
      holds = isHere;
      continue;
    }
    value = b.createOrFold<arith::SelectOp>(loc, isHere, values[slot], value);
    holds = holds ? b.createOrFold<arith::OrIOp>(loc, holds, isHere) : holds;
  }
  access.holds = holds ? Fragment{holds} : Fragment();
  for (Fragment &index : access.at) {
    index.resize(1);
  }
  access.layout = nullptr;
  access.slots = 1;
  return value;
}

LogicalResult KernelLowering::lowerScatter(tgpu::ScatterOp op) {
  ElementAccess access{op, op.getDest(), op.getIndices(), op.getMask(), op.getValue().getType()};
  FailureOr<Fragment> values = flatten(op, op.getValue());
  if (failed(values) || failed(prepareAccess(access))) {
    return failure();
  }
  const int64_t bytes = memoryBytes(access.element);
  const layout::RegisterLayout *owners = access.layout;
  if (owners && llvm::all_of(op.getIndices(),
                             [](Value index) { return !isa<RankedTensorType>(index.getType()); })) {
    *values = {onlyElement(access, *values)};
  }
  auto store = [&] {
    const GlobalUse use =
        access.view ? globalUse(*access.view, tile::getCacheHint(op)) : GlobalUse();
    for (size_t slot = 0; slot < access.slots; ++slot) {
      Value condition, pointer = placeOf(access, slot, condition);
      condition = both(condition, insideBuffer(access, slot));
      auto storeUnder = [&](Value holds) {
        storeElements(pointer, access.element, (*values)[slot], bytes, use.under(holds));
      };
      if (access.view) {
        storeUnder(condition);
      } else {
        guarded(condition, [&] { storeUnder(Value()); });
      }
    }
  };
  if (owners) {
    return byOwners(op, *owners, store);
  }
  // All threads run the statement; the first one of its warps writes.
  guarded(compare(arith::CmpIPredicate::eq, threadId, i32(warps.first * 32)), store);
  return success();
}

} // namespace tilec::lowering
