//===- Reductions.cpp - reductions in a thread and across a warp ---------===//
//
// After the threads' own slots, one exchange with the neighbour across each bit of the lane that the
// layout reduces over. Before the exchange across bit i lanes that differ in the bits done so far
// hold the same bits; both partners then combine the same two values, and the operation is
// commutative to the last bit. So in the end the copies agree, as values of fragments must
// (Layouts.cpp). Slots that are padding in some threads take part there as the identity.
//
// tgpu-lower-reductions has put what several warps hold into threads of one.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

Value KernelLowering::combine(layout::Combine kind, Value x, Value y, bool isUnsigned) {
  const bool isFloat = isa<FloatType>(x.getType());
  switch (kind) {
  case layout::Combine::Sum:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  case layout::Combine::Product:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y))
                   : Value(arith::MulIOp::create(b, loc, x, y));
  case layout::Combine::Max:
    return isFloat      ? Value(arith::MaxNumFOp::create(b, loc, x, y))
           : isUnsigned ? Value(arith::MaxUIOp::create(b, loc, x, y))
                        : Value(arith::MaxSIOp::create(b, loc, x, y));
  case layout::Combine::Min:
    return isFloat      ? Value(arith::MinNumFOp::create(b, loc, x, y))
           : isUnsigned ? Value(arith::MinUIOp::create(b, loc, x, y))
                        : Value(arith::MinSIOp::create(b, loc, x, y));
  case layout::Combine::And:
    return arith::AndIOp::create(b, loc, x, y);
  case layout::Combine::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case layout::Combine::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  }
  return x;
}

/// What combines with any number x to x, as a NaN does under `max` and `min`, and -0 under a sum.
static TypedAttr identityOf(layout::Combine kind, Type type, bool isUnsigned) {
  Builder b(type.getContext());
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    switch (kind) {
    case layout::Combine::Sum:
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    case layout::Combine::Product:
      return b.getFloatAttr(type, APFloat::getOne(semantics));
    default:
      return b.getFloatAttr(type, APFloat::getNaN(semantics));
    }
  }
  const unsigned bits = type.getIntOrFloatBitWidth();
  switch (kind) {
  case layout::Combine::Product:
    return b.getIntegerAttr(type, APInt(bits, 1));
  case layout::Combine::Max:
    return b.getIntegerAttr(type,
                            isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits));
  case layout::Combine::Min:
    return b.getIntegerAttr(type,
                            isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits));
  case layout::Combine::And:
    return b.getIntegerAttr(type, APInt::getAllOnes(bits));
  default:
    return b.getIntegerAttr(type, APInt::getZero(bits));
  }
}

FailureOr<Fragment> KernelLowering::reduceInWarps(Operation *op, tile::CombineKind combineKind,
                                                  Value input, unsigned axis, bool isUnsigned,
                                                  const layout::ReductionPlan &plan) {
  const layout::RegisterLayout &layout = *tgpu::getLayout(input.getType());
  const auto kind = layout::Combine(combineKind);
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  const bool isNarrow = element.isF16() || element.isBF16();
  Type inner = isNarrow ? Type(b.getF32Type()) : element;
  FailureOr<Fragment> values = convertAll(op, scalars[input], element, inner, false, false);
  if (failed(values)) {
    return failure();
  }
  Value identity;
  if (plan.needsMask) {
    identity = arith::ConstantOp::create(b, loc, identityOf(kind, slotType(inner), isUnsigned));
  }
  Fragment sums(plan.result.registersPerThread());
  for (auto [reg, slot] : llvm::enumerate(plan.resultSlot)) {
    if (slot < 0) {
      continue;
    }
    Value value = (*values)[reg];
    if (plan.needsMask) {
      Value at = add(threadCoordinate(layout, axis), layout.registerOffset(reg)[axis]);
      Value inside = compare(arith::CmpIPredicate::ult, at, i32(layout.shape()[axis]));
      value = arith::SelectOp::create(b, loc, inside, value, identity);
    }
    sums[slot] = sums[slot] ? combine(kind, sums[slot], value, isUnsigned) : value;
  }
  for (Value &sum : sums) {
    if (!sum) { // padding in all threads
      sum = arith::ConstantOp::create(b, loc, b.getZeroAttr(slotType(inner)));
      continue;
    }
    for (unsigned bit = 0; bit < 5; ++bit) {
      if (plan.laneMask >> bit & 1) {
        Value other = shuffle(NVVM::ShflKind::bfly, sum, i32(1 << bit));
        sum = combine(kind, sum, other, isUnsigned);
      }
    }
  }
  return convertAll(op, sums, inner, element, false, false);
}

LogicalResult KernelLowering::lowerReduce(tile::ReduceOp op) {
  const layout::RegisterLayout *from = tgpu::getLayout(op.getInput().getType());
  auto resultType = dyn_cast<RankedTensorType>(op.getResult().getType());
  const layout::RegisterLayout *to = resultType ? tgpu::getLayout(resultType) : nullptr;
  if (!from || !op.getAxis() || (resultType && !to) || !from->isSeparable()) {
    return unsupported(op, "this reduction");
  }
  auto plan = layout::planReduction(*from, *op.getAxis());
  if (!plan || plan->warpOffsets != 1) {
    return unsupported(op, "a reduction across warps");
  }
  FailureOr<Fragment> result =
      reduceInWarps(op, op.getKind(), op.getInput(), *op.getAxis(), op.getIsUnsigned(), *plan);
  if (succeeded(result) && to) {
    result =
        convertLayout(op, *result, resultType.getElementType(), plan->result, *to, std::nullopt);
  }
  if (failed(result)) {
    return failure();
  }
  scalars[op.getResult()] = *result;
  return success();
}

LogicalResult KernelLowering::lowerReduceInWarps(tgpu::ReduceInWarpsOp op) {
  const layout::RegisterLayout *from = tgpu::getLayout(op.getInput().getType());
  auto plan = layout::planReduction(*from, op.getAxis());
  if (!plan || !from->isSeparable()) {
    return unsupported(op, "this reduction across warps");
  }
  FailureOr<Fragment> result =
      reduceInWarps(op, op.getKind(), op.getInput(), op.getAxis(), op.getIsUnsigned(), *plan);
  if (failed(result)) {
    return failure();
  }
  scalars[op.getResult()] = *result; // the slots of the parts are those of the plan's result
  return success();
}

} // namespace tilec::lowering
