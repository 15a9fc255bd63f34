//===- TileIntegerOps.cpp - division, shifts, ranges of integers ---------===//
#include "dialects/tile/TileShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"

using namespace mlir;
using namespace tilec::tile;

namespace tilec::tile {

/// The constant that all elements of `value` are.
static std::optional<APInt> constantOf(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>()) {
    value = splat.getInput();
  }
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? std::optional<APInt>(constant)
                                                       : std::nullopt;
}

bool isSafeDivisor(Value divisor, bool isUnsigned) {
  std::optional<APInt> constant = constantOf(divisor);
  return constant && !constant->isZero() && (isUnsigned || !constant->isAllOnes());
}

bool isSafeShift(Value count) {
  std::optional<APInt> constant = constantOf(count);
  return constant && constant->ult(constant->getBitWidth());
}

Value createDiv(OpBuilder &b, Location loc, Value x, Value y, Rounding rounding, bool isUnsigned) {
  if (!isSafeDivisor(y, isUnsigned)) {
    return DivOp::create(b, loc, x, y, rounding, isUnsigned);
  }
  if (rounding == Rounding::Up) {
    return isUnsigned ? arith::CeilDivUIOp::create(b, loc, x, y).getResult()
                      : arith::CeilDivSIOp::create(b, loc, x, y).getResult();
  }
  if (isUnsigned) {
    return arith::DivUIOp::create(b, loc, x, y);
  }
  return rounding == Rounding::Down ? arith::FloorDivSIOp::create(b, loc, x, y).getResult()
                                    : arith::DivSIOp::create(b, loc, x, y).getResult();
}

/// `arith` has no signed remainder that rounds down.
static bool hasPlainRemainder(Value divisor, Rounding rounding, bool isUnsigned) {
  return isSafeDivisor(divisor, isUnsigned) && (isUnsigned || rounding == Rounding::Zero);
}

Value createRem(OpBuilder &b, Location loc, Value x, Value y, Rounding rounding, bool isUnsigned) {
  if (!hasPlainRemainder(y, rounding, isUnsigned)) {
    return RemOp::create(b, loc, x, y, rounding, isUnsigned);
  }
  return isUnsigned ? arith::RemUIOp::create(b, loc, x, y).getResult()
                    : arith::RemSIOp::create(b, loc, x, y).getResult();
}

Value createShr(OpBuilder &b, Location loc, Value x, Value count, bool isUnsigned) {
  if (!isSafeShift(count)) {
    return ShrOp::create(b, loc, x, count, isUnsigned);
  }
  return isUnsigned ? arith::ShRUIOp::create(b, loc, x, count).getResult()
                    : arith::ShRSIOp::create(b, loc, x, count).getResult();
}

} // namespace tilec::tile

LogicalResult RemOp::verify() {
  return getRounding() == Rounding::Up ? emitOpError("rounds to zero or down") : success();
}

//===----------------------------------------------------------------------===//
// Canonical forms: with harmless constants the operations are those of arith
//===----------------------------------------------------------------------===//

LogicalResult DivOp::canonicalize(DivOp op, PatternRewriter &rewriter) {
  if (!isSafeDivisor(op.getRhs(), op.getIsUnsigned())) {
    return rewriter.notifyMatchFailure(op, "the divisor is not a harmless constant");
  }
  rewriter.replaceOp(op, createDiv(rewriter, op.getLoc(), op.getLhs(), op.getRhs(),
                                   op.getRounding(), op.getIsUnsigned()));
  return success();
}

LogicalResult RemOp::canonicalize(RemOp op, PatternRewriter &rewriter) {
  if (!hasPlainRemainder(op.getRhs(), op.getRounding(), op.getIsUnsigned())) {
    return rewriter.notifyMatchFailure(op, "the divisor is not a harmless constant");
  }
  rewriter.replaceOp(op, createRem(rewriter, op.getLoc(), op.getLhs(), op.getRhs(),
                                   op.getRounding(), op.getIsUnsigned()));
  return success();
}

LogicalResult ShlOp::canonicalize(ShlOp op, PatternRewriter &rewriter) {
  if (!isSafeShift(op.getRhs())) {
    return rewriter.notifyMatchFailure(op, "the count is not a harmless constant");
  }
  // Host code, which is exact, keeps how its result is read.
  auto flags = op->getParentOfType<KernelOp>() && !op->getParentOfType<LaunchOp>()
                   ? (op.getIsUnsigned() ? arith::IntegerOverflowFlags::nuw
                                         : arith::IntegerOverflowFlags::nsw)
                   : arith::IntegerOverflowFlags::none;
  rewriter.replaceOpWithNewOp<arith::ShLIOp>(op, op.getLhs(), op.getRhs(), flags);
  return success();
}

LogicalResult ShrOp::canonicalize(ShrOp op, PatternRewriter &rewriter) {
  if (!isSafeShift(op.getRhs())) {
    return rewriter.notifyMatchFailure(op, "the count is not a harmless constant");
  }
  rewriter.replaceOp(
      op, createShr(rewriter, op.getLoc(), op.getLhs(), op.getRhs(), op.getIsUnsigned()));
  return success();
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static ConstantIntRanges signedRange(unsigned width, int64_t low, const APInt &high) {
  return ConstantIntRanges::fromSigned(APInt(width, low, /*isSigned=*/true), high);
}

static ConstantIntRanges zeroRange(unsigned width) {
  return ConstantIntRanges::constant(APInt::getZero(width));
}

/// The divisors for which a division is one.
static ConstantIntRanges withoutZero(const ConstantIntRanges &range) {
  APInt one(range.umin().getBitWidth(), 1);
  return {llvm::APIntOps::umax(range.umin(), one), range.umax(),
          range.smin().isZero() ? one : range.smin(), range.smax()};
}

/// Of an operation that gives 0 for a divisor of 0.
template <typename Infer>
static ConstantIntRanges divided(ArrayRef<ConstantIntRanges> args, Infer infer) {
  const unsigned width = args[0].umin().getBitWidth();
  if (args[1].umax().isZero()) {
    return zeroRange(width);
  }
  ConstantIntRanges result = infer({args[0], withoutZero(args[1])});
  return args[1].umin().isZero() ? result.rangeUnion(zeroRange(width)) : result;
}

void DivOp::inferResultRanges(ArrayRef<ConstantIntRanges> args, SetIntRangeFn setRange) {
  setRange(getResult(), divided(args, [&](ArrayRef<ConstantIntRanges> in) {
             switch (getRounding()) {
             case Rounding::Up:
               return getIsUnsigned() ? intrange::inferCeilDivU(in) : intrange::inferCeilDivS(in);
             case Rounding::Down:
               return getIsUnsigned() ? intrange::inferDivU(in) : intrange::inferFloorDivS(in);
             case Rounding::Zero:
               break;
             }
             return getIsUnsigned() ? intrange::inferDivU(in) : intrange::inferDivS(in);
           }));
}

void RemOp::inferResultRanges(ArrayRef<ConstantIntRanges> args, SetIntRangeFn setRange) {
  const unsigned width = args[0].umin().getBitWidth();
  if (getRounding() == Rounding::Down && !getIsUnsigned()) {
    // The sign is the divisor's.
    const bool positive = args[1].smin().isNonNegative();
    setRange(getResult(),
             positive ? signedRange(width, 0,
                                    llvm::APIntOps::smax(args[1].smax() - 1, APInt::getZero(width)))
                      : ConstantIntRanges::maxRange(width));
    return;
  }
  setRange(getResult(), divided(args, [&](ArrayRef<ConstantIntRanges> in) {
             return getIsUnsigned() ? intrange::inferRemU(in) : intrange::inferRemS(in);
           }));
}

void ShlOp::inferResultRanges(ArrayRef<ConstantIntRanges> args, SetIntRangeFn setRange) {
  const unsigned width = args[0].umin().getBitWidth();
  setRange(getResult(), args[1].umax().ult(width) ? intrange::inferShl(args)
                                                  : ConstantIntRanges::maxRange(width));
}

void ShrOp::inferResultRanges(ArrayRef<ConstantIntRanges> args, SetIntRangeFn setRange) {
  const unsigned width = args[0].umin().getBitWidth();
  const APInt zero = APInt::getZero(width);
  if (getIsUnsigned()) {
    setRange(getResult(), ConstantIntRanges::fromUnsigned(zero, args[0].umax()));
    return;
  }
  // Nearer to 0, or to -1, than the number was.
  const APInt &low = args[0].smin(), &high = args[0].smax();
  setRange(getResult(),
           ConstantIntRanges::fromSigned(low.isNegative() ? low : zero,
                                         high.isNegative() ? APInt::getAllOnes(width) : high));
}

/// What an extent and a count can be: the runtime checks them, and refuses others.
static ConstantIntRanges extentRange(Type type, int64_t low = 0) {
  const unsigned width = type.getIntOrFloatBitWidth();
  return signedRange(width, low, APInt::getSignedMaxValue(width));
}

void ExtentOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  // A slice `a..b` with b < a counts as empty, but its number is b - a.
  const bool isSlice = getSource().getDefiningOp<SliceOp>() != nullptr;
  const unsigned width = getResult().getType().getIntOrFloatBitWidth();
  setRange(getResult(),
           isSlice ? ConstantIntRanges::maxRange(width) : extentRange(getResult().getType()));
}

void DimOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), extentRange(getResult().getType()));
}

void SmCountOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), extentRange(getResult().getType(), 1));
}

void ThreadsOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  for (auto [axis, argument] : llvm::zip_equal(getAxes(), getBody().getArguments())) {
    setRange(argument, signedRange(32, 0, APInt(32, axis - 1)));
  }
}

void LaneOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), signedRange(32, 0, APInt(32, 31)));
}
