//===- Combine.cpp - two parts of some elements become one ----------------===//
#include "passes/llvm/KernelLowering.h"

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

/// Sums: -0.0. Extremes, which prefer a number to a NaN: a NaN.
static APFloat neutralFloat(layout::Combine kind, const llvm::fltSemantics &semantics) {
  switch (kind) {
  case layout::Combine::Sum:
    return APFloat::getZero(semantics, /*Negative=*/true);
  case layout::Combine::Product:
    return APFloat::getOne(semantics);
  default:
    return APFloat::getQNaN(semantics);
  }
}

static APInt neutralInteger(layout::Combine kind, unsigned bits, bool isUnsigned) {
  switch (kind) {
  case layout::Combine::Product:
    return {bits, 1};
  case layout::Combine::Max:
    return isUnsigned ? APInt::getMinValue(bits) : APInt::getSignedMinValue(bits);
  case layout::Combine::Min:
    return isUnsigned ? APInt::getMaxValue(bits) : APInt::getSignedMaxValue(bits);
  case layout::Combine::And:
    return APInt::getAllOnes(bits);
  default:
    return APInt::getZero(bits);
  }
}

/// The number that changes no other when they are combined, not even the sign of a zero or a NaN.
Value KernelLowering::neutral(layout::Combine kind, Type type, bool isUnsigned) {
  if (auto real = dyn_cast<FloatType>(type)) {
    return arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type, neutralFloat(kind, real.getFloatSemantics())));
  }
  return arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(type, neutralInteger(kind, type.getIntOrFloatBitWidth(), isUnsigned)));
}

Combiner KernelLowering::combinerOf(tile::CombineKind kind, bool isUnsigned) {
  return {[this, kind, isUnsigned](ArrayRef<Value> first, ArrayRef<Value> second, Value) {
            return Fragment{combine(layout::Combine(kind), first[0], second[0], isUnsigned)};
          },
          /*commutes=*/true, /*asks=*/false};
}

bool KernelLowering::hasLoops(Region &body) {
  return body.walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
}

Combiner KernelLowering::combinerOf(Region &region) {
  const bool loops = hasLoops(region);
  const bool checks =
      region.walk([](tile::VerifyOp) { return WalkResult::interrupt(); }).wasInterrupted();
  auto run = [this, &region]() -> FailureOr<Fragment> {
    Block &body = region.front();
    LogicalResult lowered = lowerBlock(body);
    loc = region.getLoc();
    return failed(lowered) ? FailureOr<Fragment>(failure())
                           : flatten(region.getParentOp(), body.getTerminator()->getOperands());
  };
  auto combine = [this, &region, loops, run](ArrayRef<Value> first, ArrayRef<Value> second,
                                             Value isReal) {
    for (auto [argument, value] :
         llvm::zip_equal(region.getArguments(), llvm::concat<const Value>(first, second))) {
      scalars[argument] = {value};
    }
    mappedSlotInTile = isReal;
    FailureOr<Fragment> result = valuesUnder(loops ? isReal : Value(), first, run);
    mappedSlotInTile = Value();
    return result;
  };
  return {combine, /*commutes=*/false, loops || checks};
}

FailureOr<Fragment> KernelLowering::combineReal(const Combiner &combiner, ArrayRef<Value> first,
                                                ArrayRef<Value> second, Value areReal,
                                                ArrayRef<Value> otherwise, Value isElement) {
  FailureOr<Fragment> result =
      combiner.combine(first, second, combiner.asks ? both(areReal, isElement) : Value());
  if (succeeded(result) && areReal) {
    for (auto [value, other] : llvm::zip_equal(*result, otherwise)) {
      value = arith::SelectOp::create(b, loc, areReal, value, other);
    }
  }
  return result;
}

Value KernelLowering::laneBit(unsigned bit) {
  Value shifted = b.createOrFold<arith::ShRUIOp>(loc, laneId, i32(bit));
  return b.createOrFold<arith::AndIOp>(loc, shifted, i32(1));
}

} // namespace tilec::lowering
