//===- Reciprocals.cpp - division by multiplication ----------------------===//
//
// By divisors whose factor, addend and shift the host passes (dialects/tgpu/Reciprocal.h): magnitudes
// are divided, the quotient gets its sign then. The least integer is its own magnitude without sign, and
// divided by -1 itself, as the language wants it.
//
//===----------------------------------------------------------------------===//
#include "dialects/tgpu/Reciprocal.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

void KernelLowering::readReciprocals(Block &entry) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    DenseI64ArrayAttr fact = tgpu::kReciprocal.get(kernel, argument.getArgNumber());
    const auto first = fact ? unsigned(fact[0]) : 0;
    if (!fact || first + 2 >= kernel.getArgumentTypes().size()) {
      continue;
    }
    const IntegerRange range = integers.range(argument);
    reciprocals[entry.getArgument(argument.getArgNumber())] = {
        entry.getArgument(first), entry.getArgument(first + 1), entry.getArgument(first + 2),
        bool(fact[1]), range};
  }
}

/// Of a magnitude. `isFull`: it may be all ones.
static Value quotientOf(OpBuilder &b, Location loc, Value magnitude, const Reciprocal &known,
                        bool isFull) {
  Type type = magnitude.getType(), wide = b.getI64Type();
  auto extended = [&](Value value) -> Value { return arith::ExtUIOp::create(b, loc, wide, value); };
  if (type.isInteger(32)) {
    Value product = arith::MulIOp::create(b, loc, extended(magnitude), extended(known.factor));
    Value sum = arith::AddIOp::create(b, loc, product, extended(known.addend));
    Value bits = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
    Value high = arith::TruncIOp::create(b, loc, type,
                                         arith::ShRUIOp::create(b, loc, sum, bits).getResult());
    return arith::ShRUIOp::create(b, loc, high, known.shift);
  }
  Value addend = extended(known.addend);
  Value next = arith::AddIOp::create(b, loc, magnitude, addend);
  Value high = arith::MulUIExtendedOp::create(b, loc, next, known.factor).getHigh();
  if (isFull) { // 2^64 * factor, where adding has wrapped
    Value wrapped = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, addend);
    high = b.createOrFold<arith::SelectOp>(loc, wrapped, known.factor, high);
  }
  return arith::ShRUIOp::create(b, loc, high, extended(known.shift));
}

Value KernelLowering::multiplyByReciprocal(Value x, Value y, tile::Division division,
                                           bool isNonNegative) {
  auto found = reciprocals.find(y);
  if (found == reciprocals.end()) {
    return {};
  }
  const Reciprocal &known = found->second;
  const bool isUnsigned = division.isUnsigned, divisorHasSign = known.range.low < 0;
  if (known.isUnsigned != isUnsigned && divisorHasSign) {
    return {};
  }
  Type type = x.getType();
  if (type.getIntOrFloatBitWidth() < 32) {
    for (Value *narrow : {&x, &y}) {
      *narrow = isUnsigned ? arith::ExtUIOp::create(b, loc, b.getI32Type(), *narrow).getResult()
                           : arith::ExtSIOp::create(b, loc, b.getI32Type(), *narrow).getResult();
    }
  }
  Value zero = constant(0, x.getType()), magnitude = x, negative;
  if (!isUnsigned) {
    if (!isNonNegative) {
      negative = compare(arith::CmpIPredicate::slt, x, zero);
      Value negated = b.createOrFold<arith::SubIOp>(loc, zero, x);
      magnitude = b.createOrFold<arith::SelectOp>(loc, negative, negated, x);
    }
    if (divisorHasSign) {
      Value signs = b.createOrFold<arith::XOrIOp>(loc, x, y);
      negative = compare(arith::CmpIPredicate::slt, signs, zero);
    }
  }
  Value quotient = quotientOf(b, loc, magnitude, known, /*isFull=*/isUnsigned && !isNonNegative);
  if (negative) {
    Value negated = b.createOrFold<arith::SubIOp>(loc, zero, quotient);
    quotient = b.createOrFold<arith::SelectOp>(loc, negative, negated, quotient);
  }
  auto rest = [&]() -> Value {
    Value whole = arith::MulIOp::create(b, loc, quotient, y);
    return arith::SubIOp::create(b, loc, x, whole);
  };
  Value result = rounded(x, y, division, quotient, rest);
  const bool mayBeZero = known.range.low <= 0 && known.range.high >= 0;
  if (mayBeZero && result != quotient) { // by 0 the quotient is 0
    Value byZero = compare(arith::CmpIPredicate::eq, y, zero);
    result = b.createOrFold<arith::SelectOp>(loc, byZero, zero, result);
  }
  return type == x.getType() ? result : arith::TruncIOp::create(b, loc, type, result).getResult();
}

} // namespace tilec::lowering
