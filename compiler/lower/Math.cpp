// Built-in functions of elements: scalars, vectors and tiles alike.
#include "mlir/Dialect/Math/IR/Math.h"

#include "compiler/lower/Lowering.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;
using sema::MathFn;
using sema::Scalar;

Value Lowering::lowerMath(const sema::MathExpr &expr) {
  SmallVector<Value> args;
  for (const sema::Expr *arg : expr.args) {
    args.push_back(lowerValue(*arg));
  }
  Scalar elem = expr.args.front()->type.elem;
  switch (expr.fn) {
  case MathFn::Min:
  case MathFn::Max: {
    Value result = args.front();
    for (Value next : llvm::drop_begin(args)) {
      result = minMax(expr.fn == MathFn::Min, result, next, elem);
    }
    return result;
  }
  case MathFn::Clamp:
    return minMax(true, minMax(false, args[0], args[1], elem), args[2], elem);
  default:
    return sema::isFloat(elem) ? floatMath(expr.fn, args) : integerMath(expr.fn, args, elem);
  }
}

/// Of a NaN and a number the number.
Value Lowering::minMax(bool isMin, Value x, Value y, Scalar elem) {
  if (sema::isFloat(elem)) {
    return isMin ? arith::MinNumFOp::create(b, x, y).getResult()
                 : arith::MaxNumFOp::create(b, x, y).getResult();
  }
  if (sema::isSignedInteger(elem)) {
    return isMin ? arith::MinSIOp::create(b, x, y).getResult()
                 : arith::MaxSIOp::create(b, x, y).getResult();
  }
  return isMin ? arith::MinUIOp::create(b, x, y).getResult()
               : arith::MaxUIOp::create(b, x, y).getResult();
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// The functions that are exact in any type; the rest is computed in f32 at least.
Value Lowering::floatMath(MathFn fn, ArrayRef<Value> args) {
  Value x = args[0];
  switch (fn) {
  case MathFn::Abs:
    return math::AbsFOp::create(b, x);
  case MathFn::Fma:
    return math::FmaOp::create(b, x, args[1], args[2]);
  case MathFn::Floor:
    return math::FloorOp::create(b, x);
  case MathFn::Ceil:
    return math::CeilOp::create(b, x);
  case MathFn::Round:
    return math::RoundEvenOp::create(b, x);
  case MathFn::Trunc:
    return math::TruncOp::create(b, x);
  case MathFn::IsNan:
    return math::IsNaNOp::create(b, x);
  case MathFn::IsInf:
    return math::IsInfOp::create(b, x);
  case MathFn::IsFinite:
    return math::IsFiniteOp::create(b, x);
  default:
    break;
  }
  Type element = getElementTypeOrSelf(x.getType());
  if (!element.isF16() && !element.isBF16()) {
    return floatFunction(fn, args);
  }
  SmallVector<Value> wide;
  for (Value arg : args) {
    wide.push_back(convert(arg, element.isF16() ? Scalar::F16 : Scalar::BF16, Scalar::F32));
  }
  Value result = floatFunction(fn, wide);
  return convert(result, Scalar::F32, element.isF16() ? Scalar::F16 : Scalar::BF16);
}

Value Lowering::floatFunction(MathFn fn, ArrayRef<Value> args) {
  Value x = args[0];
  bool isF32 = getElementTypeOrSelf(x.getType()).isF32();
  arith::FastMathFlags fast = isF32 ? approximate() : arith::FastMathFlags::none;
  switch (fn) {
  case MathFn::Sqrt:
    return math::SqrtOp::create(b, x, fast);
  case MathFn::Rsqrt:
    return math::RsqrtOp::create(b, x, fast);
  case MathFn::Exp:
    return math::ExpOp::create(b, x, fast);
  case MathFn::Exp2:
    return math::Exp2Op::create(b, x, fast);
  case MathFn::Log:
    return math::LogOp::create(b, x, fast);
  case MathFn::Log2:
    return math::Log2Op::create(b, x, fast);
  case MathFn::Pow:
    return math::PowFOp::create(b, x, args[1], fast);
  case MathFn::Sin:
    return math::SinOp::create(b, x, fast);
  case MathFn::Cos:
    return math::CosOp::create(b, x, fast);
  case MathFn::Tanh:
    return math::TanhOp::create(b, x, fast);
  case MathFn::Erf:
    return math::ErfOp::create(b, x, fast);
  case MathFn::Sigmoid:
    return sigmoid(x);
  default:
    llvm_unreachable("not a function of floats");
  }
}

/// With e = exp(-|x|), which cannot overflow: 1 / (1 + e), or e / (1 + e) where x is negative. The
/// divisor is in [1, 2], where the hardware's quotient is within 2 units in the last place (PTX ISA,
/// div.approx) and all of it within the 4 of docs/language.md.
Value Lowering::sigmoid(Value x) {
  bool isF32 = getElementTypeOrSelf(x.getType()).isF32();
  arith::FastMathFlags fast = isF32 ? approximate() : arith::FastMathFlags::none;
  Value one = constantLike(x.getType(), 1);
  Value zero = constantLike(x.getType(), 0);
  Value negated = arith::NegFOp::create(b, math::AbsFOp::create(b, x));
  Value e = math::ExpOp::create(b, negated, fast);
  Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
  Value above = arith::SelectOp::create(b, isNegative, e, one);
  arith::FastMathFlags near = isF32 ? fast | arith::FastMathFlags::afn : fast;
  return arith::DivFOp::create(b, above, arith::AddFOp::create(b, e, one), near);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value Lowering::integerMath(MathFn fn, ArrayRef<Value> args, Scalar elem) {
  Value x = args[0];
  bool isSigned = sema::isSignedInteger(elem);
  switch (fn) {
  case MathFn::Abs:
    return isSigned ? math::AbsIOp::create(b, x).getResult() : x;
  case MathFn::CeilDiv:
    return tile::createDiv(b, b.getLoc(), x, args[1], tile::Rounding::Up, !isSigned);
  case MathFn::FloorDiv:
    return tile::createDiv(b, b.getLoc(), x, args[1], tile::Rounding::Down, !isSigned);
  case MathFn::FloorMod:
    return tile::createRem(b, b.getLoc(), x, args[1], tile::Rounding::Down, !isSigned);
  case MathFn::PopCount:
    return math::CtPopOp::create(b, x);
  case MathFn::Clz:
    return math::CountLeadingZerosOp::create(b, x);
  case MathFn::MulHi:
    return isSigned ? arith::MulSIExtendedOp::create(b, x, args[1]).getHigh()
                    : arith::MulUIExtendedOp::create(b, x, args[1]).getHigh();
  default:
    llvm_unreachable("not a function of integers");
  }
}
