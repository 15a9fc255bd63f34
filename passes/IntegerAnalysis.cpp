//===- IntegerAnalysis.cpp - ranges and divisors of integers -------------===//
#include "passes/IntegerAnalysis.h"

#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Tile.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Divisibility.h"

using namespace mlir;

namespace tilec {

namespace {

/// What the runtime guarantees of values before a launch.
struct Facts {
  llvm::DenseMap<Value, uint64_t> divisors;
  llvm::DenseMap<Value, ConstantIntRanges> ranges;

  void addDivisor(Value value, uint64_t divisor) {
    uint64_t &known = divisors.try_emplace(value, 1).first->second;
    known = boundedLcm(known, divisor);
  }
  void addRange(Value value, const ConstantIntRanges &range) {
    auto [it, isNew] = ranges.try_emplace(value, range);
    if (isNew) {
      return;
    }
    // Facts that exclude each other: nothing is ever launched.
    const ConstantIntRanges both = it->second.intersection(range);
    if (both.smin().sle(both.smax())) {
      it->second = ConstantIntRanges::fromSigned(both.smin(), both.smax());
    }
  }
};

/// Ranges with what is known of arguments and of checked values.
class RangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  RangeAnalysis(DataFlowSolver &solver, const Facts &facts)
      : IntegerRangeAnalysis(solver), facts(facts.ranges) {}

  void setToEntryState(dataflow::IntegerValueRangeLattice *lattice) override {
    auto fact = facts.find(lattice->getAnchor());
    if (fact == facts.end()) {
      return IntegerRangeAnalysis::setToEntryState(lattice);
    }
    propagateIfChanged(lattice, lattice->join(IntegerValueRange(fact->second)));
  }

  LogicalResult visitOperation(Operation *op,
                               ArrayRef<const dataflow::IntegerValueRangeLattice *> operands,
                               ArrayRef<dataflow::IntegerValueRangeLattice *> results) override {
    if (op->getNumResults() == 1 && facts.contains(op->getResult(0))) {
      setToEntryState(results.front());
      return success();
    }
    if (auto difference = dyn_cast<arith::SubIOp>(op)) {
      if (std::optional<ConstantIntRanges> range = rangeBehind(difference, *operands.front())) {
        propagateIfChanged(results.front(), results.front()->join(IntegerValueRange(*range)));
        return success();
      }
    }
    return IntegerRangeAnalysis::visitOperation(op, operands, results);
  }

private:
  /// What an extent of the grid, plus a constant k, is more than the index of a point in it: at least 1 + k,
  /// where `left` does not wrap. So are the points of a dimension counted from its end.
  static std::optional<ConstantIntRanges>
  rangeBehind(arith::SubIOp difference, const dataflow::IntegerValueRangeLattice &left) {
    auto point = difference.getRhs().getDefiningOp<tgpu::GridPointOp>();
    if (!point || left.getValue().isUninitialized()) {
      return std::nullopt;
    }
    const unsigned number = cast<OpResult>(difference.getRhs()).getResultNumber();
    Value extent = difference.getLhs();
    APInt constant(32, 0), k;
    if (auto less = extent.getDefiningOp<arith::SubIOp>();
        less && matchPattern(less.getRhs(), m_ConstantInt(&k))) {
      extent = less.getLhs();
      constant = -k;
    } else if (auto more = extent.getDefiningOp<arith::AddIOp>();
               more && matchPattern(more.getRhs(), m_ConstantInt(&k))) {
      extent = more.getLhs();
      constant = k;
    }
    if (extent != point.getExtents()[number] || constant.isStrictlyPositive() ||
        constant.slt(-(1 << 30))) {
      return std::nullopt; // extents are from 1 to INT32_MAX: with these constants nothing wraps
    }
    const ConstantIntRanges &range = left.getValue().getValue();
    return ConstantIntRanges::fromSigned(constant + 1,
                                         llvm::APIntOps::smax(range.smax(), constant + 1));
  }

  llvm::DenseMap<Value, ConstantIntRanges> facts; // looked up only
};

} // namespace

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static ConstantIntRanges signedRange(Type type, int64_t low, int64_t high) {
  const unsigned width = type.getIntOrFloatBitWidth();
  return ConstantIntRanges::fromSigned(APInt(width, low, true, true),
                                       APInt(width, high, true, true));
}

static ConstantIntRanges extentRange(Type type) {
  return signedRange(type, 0,
                     APInt::getSignedMaxValue(type.getIntOrFloatBitWidth()).getSExtValue());
}

static Facts factsOf(tgpu::KernelOp kernel) {
  Facts facts;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    const unsigned index = argument.getArgNumber();
    if (!argument.getType().isInteger() || argument.getType().getIntOrFloatBitWidth() > 64) {
      continue;
    }
    if (IntegerAttr divisor = tgpu::kDivisible.get(kernel, index)) {
      facts.addDivisor(argument, divisor.getInt());
    }
    if (DenseI64ArrayAttr range = tgpu::kRange.get(kernel, index)) {
      facts.addRange(argument, signedRange(argument.getType(), range[0], range[1]));
    }
    for (Operation *user : argument.getUsers()) {
      auto view = dyn_cast<tgpu::ViewOp>(user);
      if (view && !view.getReshaped() && llvm::is_contained(view.getExtents(), argument)) {
        facts.addRange(argument, extentRange(argument.getType()));
      }
    }
  }
  return facts;
}

/// What `value compared with constant` says of the value.
static std::optional<ConstantIntRanges> rangeOfComparison(arith::CmpIPredicate predicate,
                                                          const APInt &constant) {
  const unsigned width = constant.getBitWidth();
  const APInt least = APInt::getSignedMinValue(width), most = APInt::getSignedMaxValue(width);
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return ConstantIntRanges::constant(constant);
  case P::sge:
    return ConstantIntRanges::fromSigned(constant, most);
  case P::sle:
    return ConstantIntRanges::fromSigned(least, constant);
  case P::sgt:
    return constant == most ? std::nullopt
                            : std::optional(ConstantIntRanges::fromSigned(constant + 1, most));
  case P::slt:
    return constant == least ? std::nullopt
                             : std::optional(ConstantIntRanges::fromSigned(least, constant - 1));
  default:
    return std::nullopt;
  }
}

/// `predicate` with its sides exchanged.
static arith::CmpIPredicate mirrored(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return P::sgt;
  case P::sgt:
    return P::slt;
  case P::sle:
    return P::sge;
  case P::sge:
    return P::sle;
  case P::eq:
    return P::eq;
  default:
    return P::ne; // of no use here
  }
}

/// `x % c == 0` says that c divides x.
static void addRemainder(Value left, const APInt &right, Facts &facts) {
  auto remainder = left.getDefiningOp<arith::RemSIOp>();
  APInt divisor;
  if (remainder && right.isZero() && matchPattern(remainder.getRhs(), m_ConstantInt(&divisor)) &&
      divisor.isStrictlyPositive() && divisor.getSignificantBits() <= 62) {
    facts.addDivisor(remainder.getLhs(), divisor.getZExtValue());
  }
}

static void addCondition(Value condition, Facts &facts) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    addCondition(both.getLhs(), facts);
    addCondition(both.getRhs(), facts);
    return;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare) {
    return;
  }
  auto predicate = compare.getPredicate();
  Value left = compare.getLhs(), right = compare.getRhs();
  APInt constant;
  if (matchPattern(left, m_ConstantInt(&constant))) {
    std::swap(left, right);
    predicate = mirrored(predicate);
  }
  if (!matchPattern(right, m_ConstantInt(&constant))) {
    return;
  }
  if (predicate == arith::CmpIPredicate::eq) {
    addRemainder(left, constant, facts);
  }
  if (std::optional<ConstantIntRanges> range = rangeOfComparison(predicate, constant)) {
    const bool isExtent = isa_and_nonnull<tile::DimOp, tile::ExtentOp>(left.getDefiningOp());
    if (isExtent) {
      facts.addRange(left, extentRange(left.getType()));
    }
    facts.addRange(left, *range);
  }
}

/// What is known of one stride of a tensor holds for every operation that reads it.
static void shareStrides(tile::KernelOp kernel, Facts &facts) {
  llvm::DenseMap<std::pair<Value, uint64_t>, Value> first;
  for (bool back : {false, true}) {
    kernel.walk([&](tile::StrideOp stride) {
      Value one = first.try_emplace({stride.getSource(), stride.getAxis()}, stride).first->second;
      Value from = back ? one : Value(stride), to = back ? Value(stride) : one;
      if (auto divisor = facts.divisors.find(from); divisor != facts.divisors.end() && from != to) {
        facts.addDivisor(to, uint64_t(divisor->second));
      }
    });
  }
}

/// Rows of an argument that is not `strided` lie side by side: a stride is the product of the extents behind it (those that are 0
/// count as 1), so what of them is constant divides it.
static void addContiguousStrides(tile::KernelOp kernel, Facts &facts) {
  kernel.walk([&](tile::StrideOp stride) {
    auto argument = dyn_cast<BlockArgument>(stride.getSource());
    if (!argument || argument.getOwner() != &kernel.getBody().front() ||
        tile::kStrided.has(kernel, argument.getArgNumber())) {
      return;
    }
    uint64_t divisor = 1;
    for (int64_t extent :
         stride.getSource().getType().getShape().drop_front(stride.getAxis() + 1)) {
      uint64_t product = 0;
      if (extent > 0 && !__builtin_mul_overflow(divisor, extent, &product) &&
          llvm::isUInt<62>(product)) { // a dynamic extent is negative
        divisor = product;
      }
    }
    if (divisor > 1) {
      facts.addDivisor(stride, divisor);
    }
  });
}

static Facts factsOf(tile::KernelOp kernel) {
  Facts facts;
  addContiguousStrides(kernel, facts);
  // What is checked on one path of the host's code only is no fact for the others.
  for (auto check : kernel.getBody().front().getOps<tile::CheckOp>()) {
    if (!check.getTensor()) {
      addCondition(check.getCondition(), facts);
    }
  }
  shareStrides(kernel, facts);
  return facts;
}

//===----------------------------------------------------------------------===//
// The analysis
//===----------------------------------------------------------------------===//

IntegerAnalysis::IntegerAnalysis(Operation *root) : solver(std::make_unique<DataFlowSolver>()) {
  Facts facts;
  if (auto kernel = dyn_cast<tgpu::KernelOp>(root)) {
    facts = factsOf(kernel);
  } else if (auto host = dyn_cast<tile::KernelOp>(root)) {
    facts = factsOf(host);
  }
  // The ranges and divisors of code that never runs stay unknown; constants decide which that is.
  solver->load<dataflow::DeadCodeAnalysis>();
  solver->load<dataflow::SparseConstantPropagation>();
  solver->load<RangeAnalysis>(facts);
  solver->load<DivisibilityAnalysis>(facts.divisors);
  if (failed(solver->initializeAndRun(root))) {
    solver = std::make_unique<DataFlowSolver>(); // nothing is known
  }
}

int64_t IntegerAnalysis::divisor(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 62) {
    return std::abs(constant.getSExtValue());
  }
  const auto *lattice = solver->lookupState<DivisorLattice>(value);
  return lattice && lattice->getValue().isKnown() ? int64_t(lattice->getValue().get()) : 1;
}

IntegerRange IntegerAnalysis::range(Value value) const {
  const unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return {constant.getSExtValue(), constant.getSExtValue()};
  }
  const auto *lattice = solver->lookupState<dataflow::IntegerValueRangeLattice>(value);
  const bool isKnown = lattice && !lattice->getValue().isUninitialized() &&
                       lattice->getValue().getValue().smin().getBitWidth() == width;
  // Where every number overflows there is none between the bounds.
  if (!isKnown ||
      lattice->getValue().getValue().smin().sgt(lattice->getValue().getValue().smax())) {
    return {APInt::getSignedMinValue(width).getSExtValue(),
            APInt::getSignedMaxValue(width).getSExtValue()};
  }
  const ConstantIntRanges &range = lattice->getValue().getValue();
  return {range.smin().getSExtValue(), range.smax().getSExtValue()};
}

} // namespace tilec
