//===- Reductions.cpp - reductions in a thread and across a warp ---------===//
//
// After the threads' own slots, one exchange with the neighbour across each bit of the lane that the
// layout reduces over. Before the exchange across bit i lanes that differ in the bits done so far
// hold the same bits; both partners then combine the same two values in the same order, that of the
// lane without the bit first. So in the end the copies agree, as values of fragments must
// (Layouts.cpp), whatever a user's function makes of its operands. What is padding in some threads
// is always the second of two parts there, and left out (dialects/layout/Reduction.h).
//
// tgpu-lower-reductions has put what several warps hold into threads of one.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Reduction.h"
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

/// The slots of a thread, one after the other.
FailureOr<Fragment> KernelLowering::reduceSlots(const Combiner &combiner, ArrayRef<Fragment> inputs,
                                                const layout::RegisterLayout &layout, unsigned axis,
                                                ArrayRef<int64_t> slots, int64_t threadReach,
                                                Value isElement) {
  auto valuesOf = [&](int64_t slot) {
    return llvm::map_to_vector<8>(inputs, [&](const Fragment &input) { return input[slot]; });
  };
  const int64_t extent = layout.shape()[axis];
  Fragment result = valuesOf(slots.front());
  for (int64_t slot : slots.drop_front()) {
    const int64_t offset = layout.registerOffset(slot)[axis];
    Value isReal;
    if (offset + threadReach >= extent) {
      isReal = compare(arith::CmpIPredicate::ult, add(threadCoordinate(layout, axis), offset),
                       i32(extent));
    }
    FailureOr<Fragment> both =
        combineReal(combiner, result, valuesOf(slot), isReal, result, isElement);
    if (failed(both)) {
      return failure();
    }
    result = *both;
  }
  return result;
}

/// The values of a lane and of its neighbour, of which the lane without the bit comes first.
FailureOr<Fragment> KernelLowering::reduceLanes(const Combiner &combiner, ArrayRef<Value> values,
                                                unsigned bit, Value highIsReal, Value isElement) {
  Fragment low(values), high;
  for (Value value : values) {
    high.push_back(shuffle(NVVM::ShflKind::bfly, value, i32(1 << bit)));
  }
  if (!combiner.commutes || highIsReal) {
    Value isHigh = compare(arith::CmpIPredicate::ne, laneBit(bit), i32(0));
    for (auto [x, y] : llvm::zip_equal(low, high)) {
      Value own = x, other = y;
      x = arith::SelectOp::create(b, loc, isHigh, other, own);
      y = arith::SelectOp::create(b, loc, isHigh, own, other);
    }
  }
  return combineReal(combiner, low, high, highIsReal, low, isElement);
}

/// What each warp makes of one slot of the results.
FailureOr<Fragment> KernelLowering::reduceSlot(const Combiner &combiner, ArrayRef<Fragment> inputs,
                                               const layout::RegisterLayout &layout, unsigned axis,
                                               const layout::ReductionPlan &plan, int64_t slot) {
  ArrayRef<int64_t> slots = plan.slots[slot];
  if (slots.empty()) { // padding in all threads
    return llvm::map_to_vector<8>(inputs, [&](const Fragment &input) -> Value {
      return arith::ConstantOp::create(b, loc, b.getZeroAttr(input.front().getType()));
    });
  }
  Value isElement = combiner.asks ? slotInTile(plan.result, slot) : Value();
  FailureOr<Fragment> values =
      reduceSlots(combiner, inputs, layout, axis, slots, plan.threadReach, isElement);
  const int64_t first = layout.registerOffset(slots.front())[axis], extent = layout.shape()[axis];
  const bool isPadded = first + plan.threadReach >= extent;
  // The least coordinate of what a lane has combined so far, without its slots' part.
  Value least = plan.laneMask && isPadded ? threadCoordinate(layout, axis) : Value();
  for (unsigned bit = 0; bit < 5 && succeeded(values); ++bit) {
    if (plan.laneMask >> bit & 1) {
      const int64_t step = layout.bases(layout::HwDim::Lane)[bit][axis];
      Value isReal;
      if (isPadded) {
        least = b.createOrFold<arith::SubIOp>(loc, least, mul(laneBit(bit), step));
        isReal = compare(arith::CmpIPredicate::ult, add(least, first + step), i32(extent));
      }
      values = reduceLanes(combiner, *values, bit, isReal, isElement);
    }
  }
  return values;
}

FailureOr<SmallVector<Fragment>> KernelLowering::reduceInWarps(const Combiner &combiner,
                                                               ArrayRef<Fragment> inputs,
                                                               const layout::RegisterLayout &layout,
                                                               unsigned axis,
                                                               const layout::ReductionPlan &plan) {
  SmallVector<Fragment> results(inputs.size());
  for (int64_t slot = 0; slot < plan.result.registersPerThread(); ++slot) {
    FailureOr<Fragment> values = reduceSlot(combiner, inputs, layout, axis, plan, slot);
    if (failed(values)) {
      return failure();
    }
    for (auto [result, value] : llvm::zip_equal(results, *values)) {
      result.push_back(value);
    }
  }
  return results;
}

/// A reduction along a dimension of which no two warps hold different elements, or its first step.
LogicalResult KernelLowering::lowerReduction(Operation *op, const Combiner &combiner, uint64_t axis,
                                             bool inWarps) {
  const layout::RegisterLayout *from = tgpu::getLayout(op->getOperand(0).getType());
  auto plan = from ? layout::planReduction(*from, axis)
                   : layout::Answer<layout::ReductionPlan>(layout::Refusal{"no layout"});
  if (!plan || (plan->warpOffsets != 1) != inWarps) {
    return unsupported(op, "this reduction");
  }
  SmallVector<Fragment> inputs;
  for (Value input : op->getOperands()) {
    if (tgpu::getLayout(input.getType()) != from) {
      return unsupported(op, "a reduction of fragments of different layouts");
    }
    inputs.push_back(scalars.lookup(input));
  }
  FailureOr<SmallVector<Fragment>> results = reduceInWarps(combiner, inputs, *from, axis, *plan);
  if (failed(results)) {
    return failure();
  }
  for (auto [result, values] : llvm::zip_equal(op->getResults(), *results)) {
    // The slots of the parts of warps are those of the plan's result.
    const layout::RegisterLayout *to = tgpu::getLayout(result.getType());
    if (!inWarps && to && !plan->result.sameMap(*to)) {
      return unsupported(op, "a reduction that moves data between threads");
    }
    scalars[result] = values;
  }
  return success();
}

LogicalResult KernelLowering::lowerReduce(tile::ReduceOp op) {
  if (!op.getAxis() || !isa<RankedTensorType>(op.getInput().getType())) {
    return unsupported(op, "this reduction");
  }
  return lowerReduction(op, combinerOf(op.getKind(), op.getIsUnsigned()), *op.getAxis(), false);
}

LogicalResult KernelLowering::lowerReduceWith(tile::ReduceWithOp op) {
  if (!op.getAxis()) {
    return unsupported(op, "this reduction");
  }
  return lowerReduction(op, combinerOf(op.getCombine()), *op.getAxis(), false);
}

LogicalResult KernelLowering::lowerReduceInWarps(tgpu::ReduceInWarpsOp op) {
  return lowerReduction(op,
                        op.getKind() ? combinerOf(*op.getKind(), op.getIsUnsigned())
                                     : combinerOf(op.getCombine()),
                        op.getAxis(), true);
}

} // namespace tilec::lowering
