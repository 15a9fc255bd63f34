//===- Integers.cpp - integer arithmetic that LLVM cannot exploit --------===//
//
// LLVM takes what its operations do not define for impossible, and deletes the guards that led
// there. So nothing undefined reaches it: no operation carries overflow flags, a divisor that may
// be 0 or -1 is exchanged for 1 and the quotient selected afterwards, as is a count that is too
// large. (Elementwise.cpp: floats become integers by the saturating intrinsics.)
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

using namespace mlir;
using tilec::tile::Rounding;

namespace tilec::lowering {

Value KernelLowering::rounded(Value x, Value y, tile::Division division, Value quotient,
                              llvm::function_ref<Value()> rest) {
  Value zero = constant(0, x.getType());
  const bool isUnsigned = division.isUnsigned;
  // Whether the quotient was rounded, and in which direction: up for operands of different signs.
  auto inexact = [&](Value r, bool wantSameSign) {
    Value condition = compare(arith::CmpIPredicate::ne, r, zero);
    if (isUnsigned) {
      return condition;
    }
    Value signs = b.createOrFold<arith::XOrIOp>(loc, x, y);
    auto sign = wantSameSign ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt;
    return both(condition, compare(sign, signs, zero));
  };
  if (division.remainder) {
    Value r = rest();
    if (division.rounding != Rounding::Down || isUnsigned) {
      return r;
    }
    return b.createOrFold<arith::SelectOp>(loc, inexact(r, false), add(r, y), r);
  }
  if (division.rounding == Rounding::Up) {
    Value up = add(quotient, constant(1, x.getType()));
    return b.createOrFold<arith::SelectOp>(loc, inexact(rest(), true), up, quotient);
  }
  if (division.rounding == Rounding::Down && !isUnsigned) {
    Value down = add(quotient, constant(-1, x.getType()));
    return b.createOrFold<arith::SelectOp>(loc, inexact(rest(), false), down, quotient);
  }
  return quotient;
}

Value KernelLowering::divide(Value x, Value y, tile::Division division, bool isNonNegative) {
  if (Value product = multiplyByReciprocal(x, y, division, isNonNegative)) {
    return product;
  }
  Type type = x.getType();
  const bool isUnsigned = division.isUnsigned;
  Value zero = constant(0, type), divisor = y;
  Value byZero, byMinusOne;
  if (!tile::isSafeDivisor(y, isUnsigned)) {
    byZero = compare(arith::CmpIPredicate::eq, y, zero);
    Value harmful = byZero;
    if (!isUnsigned) {
      byMinusOne = compare(arith::CmpIPredicate::eq, y, constant(-1, type));
      harmful = b.createOrFold<arith::OrIOp>(loc, byZero, byMinusOne);
    }
    divisor = b.createOrFold<arith::SelectOp>(loc, harmful, constant(1, type), y);
  }
  auto rest = [&]() -> Value {
    return isUnsigned ? b.createOrFold<arith::RemUIOp>(loc, x, divisor)
                      : b.createOrFold<arith::RemSIOp>(loc, x, divisor);
  };
  if (division.remainder) { // by 1 and -1 nothing is left
    return rounded(x, divisor, division, Value(), rest);
  }
  Value quotient = isUnsigned ? b.createOrFold<arith::DivUIOp>(loc, x, divisor)
                              : b.createOrFold<arith::DivSIOp>(loc, x, divisor);
  quotient = rounded(x, divisor, division, quotient, rest);
  if (byMinusOne) {
    Value negated = b.createOrFold<arith::SubIOp>(loc, zero, x);
    quotient = b.createOrFold<arith::SelectOp>(loc, byMinusOne, negated, quotient);
  }
  return byZero ? b.createOrFold<arith::SelectOp>(loc, byZero, zero, quotient) : quotient;
}

Value KernelLowering::shift(Value x, Value count, bool left, bool isUnsigned) {
  Type type = x.getType();
  const unsigned width = type.getIntOrFloatBitWidth();
  const bool isSafe = tile::isSafeShift(count);
  if (!isSafe && !left && !isUnsigned) { // all but the sign is shifted out
    count = b.createOrFold<arith::MinUIOp>(loc, count, constant(width - 1, type));
  }
  if (!left && !isUnsigned) {
    return b.createOrFold<arith::ShRSIOp>(loc, x, count);
  }
  Value zero = constant(0, type), tooFar;
  if (!isSafe) {
    tooFar = compare(arith::CmpIPredicate::uge, count, constant(width, type));
    // Masked, not selected: of a select of the same count LLVM's NVPTX makes PTX's shift, which
    // stops at the width, but cuts a count of 64 bits to 32 before (LLVM 22).
    count = b.createOrFold<arith::AndIOp>(loc, count, constant(width - 1, type));
  }
  Value result = left ? b.createOrFold<arith::ShLIOp>(loc, x, count)
                      : b.createOrFold<arith::ShRUIOp>(loc, x, count);
  return tooFar ? b.createOrFold<arith::SelectOp>(loc, tooFar, zero, result) : result;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static IntegerRange limitsOf(Type type) {
  const unsigned width = type.getIntOrFloatBitWidth();
  return {APInt::getSignedMinValue(width).getSExtValue(),
          APInt::getSignedMaxValue(width).getSExtValue()};
}

Value KernelLowering::fitIndex(Value index, IntegerRange &range, Type type) {
  const IntegerRange limits = limitsOf(type);
  if (range.low < limits.low) {
    index = b.createOrFold<arith::MaxSIOp>(loc, index, constant(limits.low, index.getType()));
  }
  if (range.high > limits.high) {
    index = b.createOrFold<arith::MinSIOp>(loc, index, constant(limits.high, index.getType()));
  }
  range = {std::clamp(range.low, limits.low, limits.high),
           std::clamp(range.high, limits.low, limits.high)};
  return toInteger(index, type);
}

Value KernelLowering::addCoordinates(Value x, IntegerRange &range, Value y, IntegerRange other) {
  IntegerRange sum = {0, 0};
  bool overflows = __builtin_add_overflow(range.low, other.low, &sum.low);
  overflows |= __builtin_add_overflow(range.high, other.high, &sum.high);
  const IntegerRange limits = limitsOf(x.getType());
  if (!overflows && sum.low >= limits.low && sum.high <= limits.high) {
    range = sum;
    return add(x, y);
  }
  range = limits;
  return LLVM::SAddSat::create(b, loc, x, y);
}

Value KernelLowering::coordinateOf(const ViewDim &dim, Value index, IntegerRange &range,
                                   bool &saturates) {
  Type type = dim.offset.getType();
  const IntegerRange limits = limitsOf(type);
  const bool fits = range.low >= limits.low && range.high <= limits.high;
  if (dim.begins.empty()) {
    saturates = !fits;
    return fitIndex(index, range, type);
  }
  if (type.isInteger(64) || (fits && !dim.saturated)) {
    IntegerRange reach = dim.reach;
    Value sum = addCoordinates(dim.offset, reach, toInteger(index, type), range);
    saturates = dim.saturated || reach.low == limits.low || reach.high == limits.high;
    range = reach;
    return sum;
  }
  // A number that was cut to the type's ends cannot be added to: from the beginning, then.
  Value sum = toInteger(index, b.getI64Type());
  for (auto [begin, reach] : dim.begins) {
    sum = addCoordinates(sum, range, toInteger(begin, b.getI64Type()), reach);
  }
  saturates = true;
  return fitIndex(sum, range, type);
}

Value KernelLowering::coordinateInRange(const ViewDim &dim, Value coordinate) {
  Value inside = compare(arith::CmpIPredicate::ult, coordinate, dim.upper);
  return dim.lower ? both(inside, compare(arith::CmpIPredicate::sge, coordinate, dim.lower))
                   : inside;
}

/// A slice has bounds of its own; those of a tensor are seen at the coordinate.
Value KernelLowering::indexInRange(const ViewDim &dim, const ElementIndex &index,
                                   Value coordinate) {
  Value at = index.value, inside;
  if (!dim.whole && dim.size != ShapedType::kDynamic) {
    inside = compare(arith::CmpIPredicate::ult, at, constant(dim.size, at.getType()));
  } else if (!dim.whole && index.range.low < 0) {
    inside = compare(arith::CmpIPredicate::sge, at, constant(0, at.getType()));
  }
  return both(inside, coordinateInRange(dim, coordinate));
}

} // namespace tilec::lowering
