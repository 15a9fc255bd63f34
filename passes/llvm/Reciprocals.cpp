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
  Type narrow = b.getI32Type(), wide = b.getI64Type();
  Value zero = i32(0), magnitude = x, negative;
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
  auto extended = [&](Value value) -> Value { return arith::ExtUIOp::create(b, loc, wide, value); };
  Value product = arith::MulIOp::create(b, loc, extended(magnitude), extended(known.factor));
  Value sum = arith::AddIOp::create(b, loc, product, extended(known.addend));
  Value high = arith::TruncIOp::create(b, loc, narrow,
                                       arith::ShRUIOp::create(b, loc, sum, i64(32)).getResult());
  Value quotient = arith::ShRUIOp::create(b, loc, high, known.shift);
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
  if (!mayBeZero || result == quotient) { // by 0 the quotient is 0
    return result;
  }
  Value byZero = compare(arith::CmpIPredicate::eq, y, zero);
  return b.createOrFold<arith::SelectOp>(loc, byZero, zero, result);
}

} // namespace tilec::lowering
