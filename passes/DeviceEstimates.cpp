//===- DeviceEstimates.cpp - integers of a kernel as the host sees them --===//
#include "passes/DeviceEstimates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilec;

/// Expressions grow no further than this: what is deeper counts as unknown.
static constexpr unsigned kMostDepth = 24;

void DeviceEstimates::assume(Operation *loop) {
  if (!llvm::is_contained(assumptions, loop)) {
    assumptions.push_back(loop);
  }
}

std::optional<Amount> DeviceEstimates::middle(Value value) {
  std::optional<Spread> spread = of(value);
  if (!spread) {
    return std::nullopt;
  }
  return spread->isUniform() ? spread->low : math.mul(math.add(spread->low, spread->high), 0.5);
}

std::optional<Spread> DeviceEstimates::of(Value value, unsigned depth) {
  auto found = known.find(value);
  if (found == known.end()) {
    std::optional<Spread> result = depth > kMostDepth ? std::nullopt : compute(value, depth);
    found = known.try_emplace(value, result).first;
  }
  return found->second;
}

static Spread uniform(Amount amount) { return {amount, amount}; }

std::optional<Spread> DeviceEstimates::compute(Value value, unsigned depth) {
  if (!value.getType().isIntOrIndexOrFloat()) {
    return std::nullopt;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == kernel) {
      return uniform(math.of(launch.getArgs()[argument.getArgNumber()]));
    }
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && loop.getInductionVar() == value) {
      return ofInduction(loop, depth);
    }
    if (auto threads = dyn_cast<tile::ThreadsOp>(parent)) {
      return Spread{0.0, double(threads.getAxes()[argument.getArgNumber()] - 1)};
    }
    return std::nullopt;
  }
  return ofOperation(value.getDefiningOp(), value, depth);
}

std::optional<Spread> DeviceEstimates::ofInduction(scf::ForOp loop, unsigned depth) {
  std::optional<Spread> low = of(loop.getLowerBound(), depth + 1),
                        high = of(loop.getUpperBound(), depth + 1),
                        step = of(loop.getStep(), depth + 1);
  if (!low || !high || !step || !step->isUniform()) {
    return std::nullopt;
  }
  // Up to the last multiple of the step below the bound, as if there were at least one.
  Amount count = math.ceil(math.div(math.sub(high->high, low->low), step->low));
  Amount last = math.add(low->low, math.mul(math.sub(math.max(count, 1), 1), step->low));
  return Spread{low->low, last};
}

/// What a quotient by a positive number becomes.
static Amount round(HostMath &math, Operation *op, Amount quotient) {
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op)) {
    return math.ceil(quotient);
  }
  auto division = dyn_cast<tile::DivOp>(op);
  return division && division.getRounding() == tile::Rounding::Up ? math.ceil(quotient)
                                                                  : math.floor(quotient);
}

std::optional<Spread> DeviceEstimates::ofOperation(Operation *op, Value value, unsigned depth) {
  if (isa<arith::ConstantOp>(op)) {
    return uniform(math.of(value));
  }
  if (auto point = dyn_cast<tgpu::GridPointOp>(op)) {
    Value extent = launch.getGrid()[cast<OpResult>(value).getResultNumber()];
    return Spread{0.0, math.max(math.sub(math.of(extent), 1), 0)};
  }
  if (isa<tile::LaneOp>(op)) {
    return Spread{0.0, 31.0};
  }
  if (isa<tgpu::WarpIdOp>(op)) {
    return Spread{0.0, double(kernel.getNumWarps() - 1)};
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp,
          tile::ConvertOp>(op)) {
    return of(op->getOperand(0), depth + 1);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    std::optional<Spread> then = of(branch.thenYield().getOperand(index), depth + 1),
                          other = of(branch.elseYield().getOperand(index), depth + 1);
    if (!then || !other) {
      return std::nullopt;
    }
    return Spread{math.min(then->low, other->low), math.max(then->high, other->high)};
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    std::optional<Spread> then = of(choice.getTrueValue(), depth + 1),
                          other = of(choice.getFalseValue(), depth + 1);
    if (!then || !other) {
      return std::nullopt;
    }
    return Spread{math.min(then->low, other->low), math.max(then->high, other->high)};
  }
  if (op->getNumOperands() != 2 || op->getNumResults() != 1) {
    return std::nullopt;
  }
  std::optional<Spread> x = of(op->getOperand(0), depth + 1), y = of(op->getOperand(1), depth + 1);
  if (!x || !y) {
    return std::nullopt;
  }
  // Where both are the same for all, computing one end is enough.
  const bool same = x->isUniform() && y->isUniform();
  auto both = [&](auto compute) {
    Amount low = compute(x->low, y->low);
    return Spread{low, same ? low : compute(x->high, y->high)};
  };
  if (isa<arith::AddIOp>(op)) {
    return both([&](Amount a, Amount b) { return math.add(a, b); });
  }
  if (isa<arith::SubIOp>(op)) {
    Amount low = math.sub(x->low, y->high);
    return Spread{low, same ? low : math.sub(x->high, y->low)};
  }
  if (isa<arith::MulIOp>(op)) { // of numbers that are not negative
    return both([&](Amount a, Amount b) { return math.mul(a, b); });
  }
  if (isa<arith::MinSIOp, arith::MinUIOp>(op)) {
    return both([&](Amount a, Amount b) { return math.min(a, b); });
  }
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op)) {
    return both([&](Amount a, Amount b) { return math.max(a, b); });
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp, tile::DivOp>(op) &&
      y->isUniform()) {
    Amount divisor = y->low.isConstant() ? y->low : math.max(y->low, 1);
    if (divisor.is(0)) {
      return std::nullopt;
    }
    Amount low = round(math, op, math.div(x->low, divisor));
    return Spread{low, x->isUniform() ? low : round(math, op, math.div(x->high, divisor))};
  }
  if (isa<arith::RemSIOp, arith::RemUIOp, tile::RemOp>(op) && y->isUniform()) {
    return Spread{0.0, math.max(math.sub(y->low, 1), 0)};
  }
  return std::nullopt;
}

Amount DeviceEstimates::trips(scf::ForOp loop) {
  std::optional<Amount> low = middle(loop.getLowerBound()), high = middle(loop.getUpperBound()),
                        step = middle(loop.getStep());
  if (low && high && step && !step->is(0)) {
    Amount count = math.sub(*high, *low);
    if (!step->is(1)) {
      count = math.ceil(math.div(count, step->isConstant() ? *step : math.max(*step, 1)));
    }
    const bool isOrdered =
        integers.range(loop.getUpperBound()).low >= integers.range(loop.getLowerBound()).high;
    return isOrdered ? count : math.max(count, 0);
  }
  assume(loop);
  // Half of what the range of the bounds admits, if that is a bound at all.
  const IntegerRange from = integers.range(loop.getLowerBound()),
                     to = integers.range(loop.getUpperBound()), by = integers.range(loop.getStep());
  const int64_t most = to.high - std::max<int64_t>(from.low, 0);
  if (by.low >= 1 && most >= 0 && most < (1 << 20)) {
    return std::max(1.0, double(most) / double(by.low) / 2);
  }
  return kUnknownTrips;
}

Amount DeviceEstimates::share(Value condition) {
  std::optional<Spread> spread;
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) {
    return shareOfCompare(compare);
  }
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    return math.mul(share(both.getLhs()), share(both.getRhs()));
  }
  spread = of(condition);
  return spread && spread->isUniform() ? spread->low : Amount(0.5);
}

Amount DeviceEstimates::shareOfCompare(arith::CmpIOp compare) {
  std::optional<Spread> x = of(compare.getLhs()), y = of(compare.getRhs());
  if (!x || !y) {
    return 0.5;
  }
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  const bool isEquality = predicate == P::eq || predicate == P::ne;
  // The difference in units of integers: positive where the comparison holds.
  Amount low, high;
  if (predicate == P::slt || predicate == P::ult || predicate == P::sle || predicate == P::ule) {
    low = math.sub(y->low, x->high);
    high = math.sub(y->high, x->low);
  } else {
    low = math.sub(x->low, y->high);
    high = math.sub(x->high, y->low);
  }
  Amount width = math.add(math.sub(high, low), 1); // how many differences there are
  if (isEquality) {
    Amount one = math.div(1, width);
    if (x->isUniform() && y->isUniform()) { // equal or not, in all
      Amount distance = math.max(low, math.sub(0, low));
      one = math.sub(1, math.min(distance, 1));
    }
    return predicate == P::eq ? one : math.sub(1, one);
  }
  const bool orEqual =
      predicate == P::sle || predicate == P::ule || predicate == P::sge || predicate == P::uge;
  Amount holding = orEqual ? math.add(high, 1) : high;
  return math.min(math.max(math.div(holding, width), 0), 1);
}
