//===- Divisibility.cpp - a number that divides an integer ---------------===//
//
// A value of w bits is what mathematics says modulo 2^w. So of a divisor of the exact result only
// the power of two divides the value, unless ranges show that the result fits.
//
//===----------------------------------------------------------------------===//
#include "passes/Divisibility.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace tilec {

constexpr uint64_t kLimit = uint64_t(1) << 62;

Divisor Divisor::join(const Divisor &a, const Divisor &b) {
  if (!a.isKnown() || !b.isKnown()) {
    return a.isKnown() ? a : b;
  }
  return std::gcd(a.get(), b.get());
}

void Divisor::print(raw_ostream &os) const {
  isKnown() ? os << "divisible by " << get() : os << "no path";
}

uint64_t powerOfTwoPart(uint64_t divisor) {
  return divisor == 0 ? kLimit : std::min(kLimit, divisor & -divisor);
}

uint64_t boundedLcm(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0) {
    return 0;
  }
  uint64_t product;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &product) || product > kLimit) {
    return std::max(a, b);
  }
  return product;
}

/// A divisor of a product: both numbers', or, where that is too large to keep, powers of two.
static uint64_t multiplied(uint64_t a, uint64_t b) {
  uint64_t product;
  if (!__builtin_mul_overflow(a, b, &product) && product <= kLimit) {
    return product;
  }
  const unsigned shift =
      llvm::countr_zero(powerOfTwoPart(a)) + llvm::countr_zero(powerOfTwoPart(b));
  return uint64_t(1) << std::min(shift, 62u);
}

void DivisibilityAnalysis::set(DivisorLattice *lattice, uint64_t divisor) {
  auto fact = facts.find(lattice->getAnchor());
  if (fact != facts.end()) {
    divisor = boundedLcm(divisor, fact->second);
  }
  propagateIfChanged(lattice, lattice->join(Divisor(divisor)));
}

void DivisibilityAnalysis::setToEntryState(DivisorLattice *lattice) { set(lattice, 1); }

void DivisibilityAnalysis::visitNonControlFlowArguments(Operation *op,
                                                        const RegionSuccessor &successor,
                                                        ArrayRef<DivisorLattice *> arguments,
                                                        unsigned firstIndex) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  std::optional<Value> induction = loop ? loop.getSingleInductionVar() : std::nullopt;
  std::optional<OpFoldResult> lower = loop ? loop.getSingleLowerBound() : std::nullopt;
  std::optional<OpFoldResult> step = loop ? loop.getSingleStep() : std::nullopt;
  if (!induction || !lower || !step) {
    return SparseForwardDataFlowAnalysis::visitNonControlFlowArguments(op, successor, arguments,
                                                                       firstIndex);
  }
  ProgramPoint *point = getProgramPointBefore(cast<BlockArgument>(*induction).getOwner());
  Divisor all(0);
  for (OpFoldResult bound : {*lower, *step}) {
    if (auto value = dyn_cast<Value>(bound)) {
      const Divisor &of = getLatticeElementFor(point, value)->getValue();
      if (!of.isKnown()) {
        return; // visited again
      }
      all = Divisor::join(all, of);
    } else {
      all = Divisor::join(all, std::abs(getConstantIntValue(bound).value_or(1)));
    }
  }
  // The other arguments are loop-carried: control flow gives them their values.
  for (DivisorLattice *argument : arguments) {
    if (argument->getAnchor() == *induction) {
      set(argument, all.get());
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

std::optional<ConstantIntRanges> DivisibilityAnalysis::rangeAt(Operation *op, Value value) {
  const auto *lattice =
      getOrCreateFor<dataflow::IntegerValueRangeLattice>(getProgramPointAfter(op), value);
  const IntegerValueRange &range = lattice->getValue();
  return range.isUninitialized() ? std::nullopt
                                 : std::optional<ConstantIntRanges>(range.getValue());
}

bool DivisibilityAnalysis::isExact(Operation *op) {
  SmallVector<ConstantIntRanges> in;
  for (Value operand : op->getOperands()) {
    std::optional<ConstantIntRanges> range = rangeAt(op, operand);
    if (!range) {
      return false;
    }
    in.push_back(*range);
  }
  auto fits = [&](auto overflows) {
    for (const APInt &x : {in[0].smin(), in[0].smax()}) {
      for (const APInt &y : {in[1].smin(), in[1].smax()}) {
        bool overflow = false;
        overflows(x, y, overflow);
        if (overflow) {
          return false;
        }
      }
    }
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddIOp>([&](auto) {
        return fits([](const APInt &x, const APInt &y, bool &o) { (void)x.sadd_ov(y, o); });
      })
      .Case<arith::SubIOp>([&](auto) {
        return fits([](const APInt &x, const APInt &y, bool &o) { (void)x.ssub_ov(y, o); });
      })
      .Case<arith::MulIOp>([&](auto) {
        return fits([](const APInt &x, const APInt &y, bool &o) { (void)x.smul_ov(y, o); });
      })
      .Case<arith::ShLIOp>([&](auto) {
        return fits([](const APInt &x, const APInt &y, bool &o) { (void)x.sshl_ov(y, o); });
      })
      .Case<arith::TruncIOp, arith::IndexCastOp>([&](auto cast) {
        const unsigned width = ConstantIntRanges::getStorageBitwidth(cast.getType());
        return in[0].smin().isSignedIntN(width) && in[0].smax().isSignedIntN(width);
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return in[0].smin().isNonNegative(); })
      .Default([](Operation *) { return false; });
}

uint64_t DivisibilityAnalysis::reduced(Operation *op, uint64_t exact) {
  if (exact == 0 || isExact(op)) {
    return exact;
  }
  // The least power that matters is 2^width: what it divides is 0.
  const unsigned width = ConstantIntRanges::getStorageBitwidth(
      isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) ? op->getOperand(0).getType()
                                                    : op->getResult(0).getType());
  return std::min(powerOfTwoPart(exact), uint64_t(1) << std::min(width, 62u));
}

/// The divisor of a quotient of what `divisor` divides by the constant `by`, however it is rounded.
static uint64_t divided(uint64_t divisor, const APInt &by) {
  if (divisor == 0 || by.isZero() || by.getSignificantBits() > 63) {
    return divisor == 0 ? 0 : 1;
  }
  const uint64_t number = std::abs(by.getSExtValue());
  return divisor % number == 0 ? divisor / number : 1;
}

uint64_t DivisibilityAnalysis::transfer(Operation *op, ArrayRef<uint64_t> in) {
  APInt constant;
  auto byConstant = [&] { return matchPattern(op->getOperand(1), m_ConstantInt(&constant)); };
  return llvm::TypeSwitch<Operation *, uint64_t>(op)
      .Case<arith::AddIOp, arith::SubIOp>([&](auto) { return reduced(op, std::gcd(in[0], in[1])); })
      .Case<arith::MulIOp>([&](auto) { return reduced(op, multiplied(in[0], in[1])); })
      .Case<arith::ShLIOp>([&](auto) -> uint64_t {
        if (!byConstant() || constant.uge(constant.getBitWidth())) {
          return 1;
        }
        const uint64_t factor = uint64_t(1) << std::min<uint64_t>(constant.getZExtValue(), 62);
        return reduced(op, multiplied(in[0], factor));
      })
      .Case<arith::ShRSIOp>([&](auto) -> uint64_t {
        if (!byConstant() || constant.uge(62)) {
          return 1;
        }
        return divided(in[0], APInt(64, uint64_t(1) << constant.getZExtValue()));
      })
      .Case<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(
          [&](auto) -> uint64_t { return byConstant() ? divided(in[0], constant) : 1; })
      // x - y * q for some q, where that cannot overflow; a divisor of 0 leaves 0.
      .Case<arith::RemSIOp>([&](auto) { return std::gcd(in[0], in[1]); })
      .Case<tile::RemOp>([&](tile::RemOp rem) -> uint64_t {
        return rem.getIsUnsigned() ? std::min(powerOfTwoPart(in[0]), powerOfTwoPart(in[1]))
                                   : std::gcd(in[0], in[1]);
      })
      .Case<arith::RemUIOp>(
          [&](auto) { return std::min(powerOfTwoPart(in[0]), powerOfTwoPart(in[1])); })
      .Case<arith::AndIOp>(
          [&](auto) { return std::max(powerOfTwoPart(in[0]), powerOfTwoPart(in[1])); })
      .Case<arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return std::min(powerOfTwoPart(in[0]), powerOfTwoPart(in[1])); })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return std::gcd(in[0], in[1]); })
      .Case<arith::SelectOp>([&](auto) { return std::gcd(in[1], in[2]); })
      .Case<arith::ExtSIOp>([&](auto) { return in[0]; })
      .Case<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return reduced(op, in[0]); })
      .Default([](Operation *) { return 1; });
}

LogicalResult DivisibilityAnalysis::visitOperation(Operation *op,
                                                   ArrayRef<const DivisorLattice *> operands,
                                                   ArrayRef<DivisorLattice *> results) {
  SmallVector<uint64_t> in;
  for (const DivisorLattice *operand : operands) {
    if (!operand->getValue().isKnown()) {
      return success(); // visited again
    }
    in.push_back(operand->getValue().get());
  }
  for (DivisorLattice *result : results) {
    if (!result->getAnchor().getType().isIntOrIndex()) {
      set(result, 1);
      continue;
    }
    APInt constant;
    if (matchPattern(result->getAnchor(), m_ConstantInt(&constant))) {
      const bool fits = constant.getSignificantBits() <= 62;
      set(result,
          fits ? std::abs(constant.getSExtValue()) : powerOfTwoPart(constant.getZExtValue()));
      continue;
    }
    set(result, op->getNumResults() == 1 ? transfer(op, in) : 1);
  }
  return success();
}

} // namespace tilec
