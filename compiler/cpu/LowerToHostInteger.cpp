//===- LowerToHostInteger.cpp - integer arithmetic of scalars ------------===//
//
// What docs/language.md section 4 calls an error of the program stops it; in tile expressions
// divisions and shifts are defined for all operands (section 10).
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/HostCodegen.h"
#include "dialects/tile/Divisions.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Intrinsics.h"

namespace tilec::cpu {

using namespace mlir;

/// Whether `op` works on an element of a tile, where divisions and shifts are defined for all
/// operands. Elsewhere those that are not exact are errors of the program.
static bool isOfElement(Operation *op) {
  return isTile(op->getResult(0).getType()) || op->getParentOfType<tile::MapOp>() ||
         op->getParentOfType<tile::ReduceWithOp>() || op->getParentOfType<tile::ScanWithOp>();
}

static bool isOnHost(Operation *op) { return !op->getParentOfType<tile::LaunchOp>(); }

constexpr llvm::StringLiteral kHostOverflow =
    "an integer of the host part does not fit its type [host-overflow]";

/// `+ - *`; where the operation says that it does not overflow, overflow is an error of the
/// program.
HostValue HostCodegen::emitChecked(Operation *op, ArrayRef<HostValue> in,
                                   arith::IntegerOverflowFlags flags) {
  using Flags = arith::IntegerOverflowFlags;
  using llvm::Intrinsic::ID;
  struct Operations {
    ID isSigned, isUnsigned;
    llvm::Instruction::BinaryOps wraps;
  };
  const Operations kind =
      isa<arith::AddIOp>(op)
          ? Operations{llvm::Intrinsic::sadd_with_overflow, llvm::Intrinsic::uadd_with_overflow,
                       llvm::Instruction::Add}
      : isa<arith::SubIOp>(op)
          ? Operations{llvm::Intrinsic::ssub_with_overflow, llvm::Intrinsic::usub_with_overflow,
                       llvm::Instruction::Sub}
          : Operations{llvm::Intrinsic::smul_with_overflow, llvm::Intrinsic::umul_with_overflow,
                       llvm::Instruction::Mul};
  if (flags == Flags::none || in[0]->getType()->getIntegerBitWidth() == 1) {
    return b.CreateBinOp(kind.wraps, in[0], in[1]);
  }
  ID checked = arith::bitEnumContainsAny(flags, Flags::nsw) ? kind.isSigned : kind.isUnsigned;
  HostValue both = b.CreateBinaryIntrinsic(checked, in[0], in[1]);
  trapIf(b.CreateExtractValue(both, 1), op,
         isOnHost(op) ? llvm::StringRef(kHostOverflow) : "signed integer overflow");
  return b.CreateExtractValue(both, 0);
}

HostValue HostCodegen::emitShift(Operation *op, ArrayRef<HostValue> in, bool left, bool isUnsigned,
                                 bool isExact) {
  llvm::Type *type = in[0]->getType();
  const unsigned width = type->getIntegerBitWidth();
  HostValue tooFar = b.CreateICmpUGE(in[1], llvm::ConstantInt::get(type, width));
  if (!isOfElement(op)) {
    trapIf(tooFar, op, "shift by the width of the type or more");
  }
  HostValue count = b.CreateSelect(tooFar, llvm::ConstantInt::get(type, width - 1), in[1]);
  if (!left && !isUnsigned) {
    return b.CreateAShr(in[0], count); // all but the sign shifted out
  }
  HostValue result = left ? b.CreateShl(in[0], count) : b.CreateLShr(in[0], count);
  if (left && isExact) {
    HostValue back = isUnsigned ? b.CreateLShr(result, count) : b.CreateAShr(result, count);
    trapIf(b.CreateICmpNE(back, in[0]), op, kHostOverflow);
  }
  return b.CreateSelect(tooFar, llvm::Constant::getNullValue(type), result);
}

HostValue HostCodegen::emitDivision(Operation *op, ArrayRef<HostValue> in, tile::Rounding rounding,
                                    bool isUnsigned, bool remainder) {
  HostValue x = in[0], y = in[1];
  llvm::Type *type = x->getType();
  HostValue zero = llvm::ConstantInt::get(type, 0), one = llvm::ConstantInt::get(type, 1);
  HostValue byZero = b.CreateICmpEQ(y, zero);
  HostValue byMinusOne = isUnsigned ? HostValue(b.getFalse())
                                    : b.CreateICmpEQ(y, llvm::Constant::getAllOnesValue(type));
  if (!isOfElement(op)) {
    llvm::APInt least = llvm::APInt::getSignedMinValue(type->getIntegerBitWidth());
    HostValue isLeast = b.CreateICmpEQ(x, llvm::ConstantInt::get(type, least));
    trapIf(byZero, op, "integer division by zero");
    trapIf(b.CreateAnd(byMinusOne, isLeast), op, "signed integer overflow in a division");
  }
  // By 0 and -1, which may overflow, nothing is divided.
  HostValue divisor = b.CreateSelect(b.CreateOr(byZero, byMinusOne), one, y);
  HostValue quotient = isUnsigned ? b.CreateUDiv(x, divisor) : b.CreateSDiv(x, divisor);
  HostValue rest = isUnsigned ? b.CreateURem(x, divisor) : b.CreateSRem(x, divisor);
  HostValue inexact = b.CreateICmpNE(rest, zero);
  HostValue sameSign =
      isUnsigned ? HostValue(b.getTrue()) : b.CreateICmpSGE(b.CreateXor(x, divisor), zero);
  HostValue up = b.CreateAnd(inexact, sameSign);
  HostValue down = b.CreateAnd(inexact, b.CreateNot(sameSign));
  if (remainder) {
    return rounding == tile::Rounding::Down ? b.CreateSelect(down, b.CreateAdd(rest, divisor), rest)
                                            : rest;
  }
  if (rounding == tile::Rounding::Up) {
    quotient = b.CreateSelect(up, b.CreateAdd(quotient, one), quotient);
  } else if (rounding == tile::Rounding::Down) {
    quotient = b.CreateSelect(down, b.CreateSub(quotient, one), quotient);
  }
  quotient = b.CreateSelect(byMinusOne, b.CreateNeg(x), quotient);
  return b.CreateSelect(byZero, zero, quotient);
}

/// Divisions and shifts; null if `op` is neither.
HostValue HostCodegen::emitDivisionOrShift(Operation *op, ArrayRef<HostValue> in) {
  if (std::optional<tile::Division> division = tile::divisionOf(op)) {
    return emitDivision(op, in, division->rounding, division->isUnsigned, division->remainder);
  }
  return llvm::TypeSwitch<Operation *, HostValue>(op)
      .Case<tile::ShlOp>([&](tile::ShlOp o) {
        return emitShift(op, in, /*left=*/true, o.getIsUnsigned(), isOnHost(op));
      })
      .Case<arith::ShLIOp>([&](arith::ShLIOp o) {
        using Flags = arith::IntegerOverflowFlags;
        const bool isUnsigned = arith::bitEnumContainsAny(o.getOverflowFlags(), Flags::nuw);
        return emitShift(op, in, /*left=*/true, isUnsigned, o.getOverflowFlags() != Flags::none);
      })
      .Case<tile::ShrOp>(
          [&](tile::ShrOp o) { return emitShift(op, in, false, o.getIsUnsigned(), false); })
      .Case<arith::ShRSIOp>([&](auto) { return emitShift(op, in, false, false, false); })
      .Case<arith::ShRUIOp>([&](auto) { return emitShift(op, in, false, true, false); })
      .Default([](Operation *) { return nullptr; });
}

static llvm::CmpInst::Predicate predicateOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return llvm::CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::ne:
    return llvm::CmpInst::ICMP_NE;
  case arith::CmpIPredicate::slt:
    return llvm::CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle:
    return llvm::CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt:
    return llvm::CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge:
    return llvm::CmpInst::ICMP_SGE;
  case arith::CmpIPredicate::ult:
    return llvm::CmpInst::ICMP_ULT;
  case arith::CmpIPredicate::ule:
    return llvm::CmpInst::ICMP_ULE;
  case arith::CmpIPredicate::ugt:
    return llvm::CmpInst::ICMP_UGT;
  case arith::CmpIPredicate::uge:
    return llvm::CmpInst::ICMP_UGE;
  }
  llvm_unreachable("unknown predicate");
}

/// Integer and bit operations; null if `op` is none.
HostValue HostCodegen::emitInteger(Operation *op, ArrayRef<HostValue> in) {
  Type result = elementTypeOf(op->getResult(0).getType());
  llvm::Type *type = scalarType(result);
  return llvm::TypeSwitch<Operation *, HostValue>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
          [&](auto sum) { return emitChecked(op, in, sum.getOverflowFlags()); })
      .Case<arith::AndIOp>([&](auto) { return b.CreateAnd(in[0], in[1]); })
      .Case<arith::OrIOp>([&](auto) { return b.CreateOr(in[0], in[1]); })
      .Case<arith::XOrIOp>([&](auto) { return b.CreateXor(in[0], in[1]); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, in[0], in[1]); })
      .Case<arith::MinSIOp>(
          [&](auto) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, in[0], in[1]); })
      .Case<arith::MaxUIOp>(
          [&](auto) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, in[0], in[1]); })
      .Case<arith::MinUIOp>(
          [&](auto) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, in[0], in[1]); })
      .Case<arith::CmpIOp>([&](auto compare) {
        return b.CreateICmp(predicateOf(compare.getPredicate()), in[0], in[1]);
      })
      .Case<arith::SelectOp>([&](auto) { return b.CreateSelect(in[0], in[1], in[2]); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](auto) { return b.CreateSExtOrTrunc(in[0], type); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return b.CreateZExtOrTrunc(in[0], type); })
      .Case<arith::TruncIOp>([&](auto) { return b.CreateTrunc(in[0], type); })
      .Case<arith::BitcastOp>([&](auto) { return fromBits(result, toBits(in[0])); })
      .Case<math::AbsIOp>([&](auto) {
        if (isOnHost(op)) {
          llvm::APInt least = llvm::APInt::getSignedMinValue(type->getIntegerBitWidth());
          trapIf(b.CreateICmpEQ(in[0], llvm::ConstantInt::get(type, least)), op, kHostOverflow);
        }
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, in[0], b.getFalse());
      })
      .Case<math::CountLeadingZerosOp>(
          [&](auto) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, in[0], b.getFalse()); })
      .Case<math::CountTrailingZerosOp>(
          [&](auto) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, in[0], b.getFalse()); })
      .Case<math::CtPopOp>(
          [&](auto) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, in[0]); })
      .Default([](Operation *) { return nullptr; });
}

} // namespace tilec::cpu
