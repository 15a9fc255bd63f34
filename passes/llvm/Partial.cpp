//===- Partial.cpp - what each thread contributes to a reduction ---------===//
//
// A partial fragment is, in each thread, its own part of each element. Threads that hold copies of
// the same elements have the same part, and are not told apart by the layout's Partial: only one of
// them is combined with the others. A thread whose elements are all padding holds the neutral
// element, so that every part counts when they meet.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/PartialReduction.h"
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

/// Whether the calling thread is the first of those that contribute to its elements.
static Value isFirst(KernelLowering &code, const layout::RegisterLayout &layout) {
  const layout::Partial &partial = *layout.partial();
  Value first;
  if (partial.laneMask != 0) {
    Value bits = code.builder().createOrFold<arith::AndIOp>(code.location(), code.lane(),
                                                            code.i32(partial.laneMask));
    first = code.compare(arith::CmpIPredicate::eq, bits, code.i32(0));
  }
  if (partial.warpOffsets != 1) {
    uint32_t leaders = 0;
    for (ArrayRef<int64_t> group : layout::warpGroups(layout, partial.warpOffsets)) {
      leaders |= uint32_t(1) << (group.front() - layout.firstWarp());
    }
    Value shifted = code.builder().createOrFold<arith::ShRUIOp>(
        code.location(), code.i32(int32_t(leaders)), code.warpFrom(layout.firstWarp()));
    Value bit = code.builder().createOrFold<arith::AndIOp>(code.location(), shifted, code.i32(1));
    first = code.both(first, code.compare(arith::CmpIPredicate::ne, bit, code.i32(0)));
  }
  return first;
}

LogicalResult KernelLowering::lowerBeginPartial(tgpu::BeginPartialOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const layout::RegisterLayout &layout = *tgpu::getLayout(type);
  Value none =
      neutral(layout.partial()->combine, slotType(type.getElementType()), op.getIsUnsigned());
  Fragment result(layout.registersPerThread(), none);
  if (op.getStart()) {
    Value first = isFirst(*this, layout);
    const Fragment start = scalars.lookup(op.getStart());
    for (auto [value, own] : llvm::zip_equal(result, start)) {
      value = first ? Value(arith::SelectOp::create(b, loc, first, own, none)) : own;
    }
  }
  scalars[op.getResult()] = result;
  return success();
}

LogicalResult KernelLowering::lowerAccumulatePartial(tgpu::AccumulatePartialOp op) {
  const layout::RegisterLayout &to = *tgpu::getLayout(op.getResult().getType());
  const layout::Combine kind = to.partial()->combine;
  auto plan =
      layout::planPartialReduction(*tgpu::getLayout(op.getSource().getType()), op.getAxes(), kind);
  if (!plan) {
    return unsupported(op, "this reduction: " + plan.reason());
  }
  Fragment values = scalars.lookup(op.getSource());
  Value none = neutral(kind, values.front().getType(), op.getIsUnsigned());
  for (const layout::PartialReduction::Step &step : plan->steps) {
    values = reduceInThread(kind, values, step, none, op.getIsUnsigned());
  }
  Fragment result;
  for (auto [part, own] : llvm::zip_equal(scalars.lookup(op.getPartial()), values)) {
    Value both = combine(kind, part, own, op.getIsUnsigned());
    if (auto sum = both.getDefiningOp<arith::AddFOp>()) {
      sum.setFastmath(arith::FastMathFlags::contract); // with the factor of a scale_partial
    }
    result.push_back(both);
  }
  scalars[op.getResult()] = result;
  return success();
}

/// What a thread makes of its own slots; those beyond the end of the dimension are `none`.
Fragment KernelLowering::reduceInThread(layout::Combine kind, ArrayRef<Value> inputs,
                                        const layout::PartialReduction::Step &step, Value none,
                                        bool isUnsigned) {
  const int64_t extent = step.source.shape()[step.dim];
  Fragment result;
  for (ArrayRef<int64_t> slots : step.plan.slots) {
    Value sum;
    for (int64_t slot : slots) {
      Value value = inputs[slot];
      const int64_t offset = step.source.registerOffset(slot)[step.dim];
      if (offset + step.plan.threadReach >= extent) {
        Value isReal = compare(arith::CmpIPredicate::ult,
                               add(threadCoordinate(step.source, step.dim), offset), i32(extent));
        value = arith::SelectOp::create(b, loc, isReal, value, none);
      }
      sum = sum ? combine(kind, sum, value, isUnsigned) : value;
    }
    result.push_back(sum ? sum : none);
  }
  return result;
}

LogicalResult KernelLowering::lowerScalePartial(tgpu::ScalePartialOp op) {
  const Fragment partial = scalars.lookup(op.getPartial()), factor = scalars.lookup(op.getFactor());
  Fragment result;
  for (auto [part, by] : llvm::zip_equal(partial, factor)) {
    Value scaled = combine(layout::Combine::Product, part, by, /*isUnsigned=*/false);
    if (auto product = scaled.getDefiningOp<arith::MulFOp>()) {
      product.setFastmath(arith::FastMathFlags::contract);
    }
    result.push_back(scaled);
  }
  scalars[op.getResult()] = result;
  return success();
}

} // namespace tilec::lowering
