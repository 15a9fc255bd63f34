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

std::optional<Amount> DeviceEstimates::mean(Value value) {
  std::optional<Spread> spread = of(value);
  if (!spread || spread->isUniform()) {
    return spread ? std::optional(spread->low) : std::nullopt;
  }
  Amount ends = math.add(spread->low, spread->high);
  return math.mul(math.add(ends, math.mul(spread->centre, 4)), 1.0 / 6);
}

std::optional<Spread> DeviceEstimates::of(Value value, unsigned depth) {
  auto found = known.find(value);
  if (found == known.end()) {
    std::optional<Spread> result = depth > kMostDepth ? std::nullopt : compute(value, depth);
    found = known.try_emplace(value, result).first;
  }
  return found->second;
}

static Spread uniform(Amount amount) { return Spread(amount); }

Spread DeviceEstimates::between(Amount low, Amount high) {
  return {low, high, math.mul(math.add(low, high), 0.5)};
}

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
      return between(0.0, double(threads.getAxes()[argument.getArgNumber()] - 1));
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
  return between(low->low, last);
}

/// Between the two, the nearer to one the oftener it is chosen.
std::optional<Spread> DeviceEstimates::ofChoice(Value condition, Value then, Value other,
                                                unsigned depth) {
  std::optional<Spread> x = of(then, depth + 1), y = of(other, depth + 1);
  if (!x || !y) {
    return std::nullopt;
  }
  Amount chosen = share(condition);
  auto mix = [&](Amount a, Amount b) { return math.add(b, math.mul(chosen, math.sub(a, b))); };
  Amount low = mix(x->low, y->low);
  return x->isUniform() && y->isUniform()
             ? Spread(low)
             : Spread(low, mix(x->high, y->high), mix(x->centre, y->centre));
}

/// What the last iteration yields, or, if there is none, what the loop began with.
std::optional<Spread> DeviceEstimates::ofLoopResult(scf::ForOp loop, unsigned index,
                                                    unsigned depth) {
  std::optional<Spread> first = of(loop.getInitArgs()[index], depth + 1);
  std::optional<Spread> last = of(loop.getYieldedValues()[index], depth + 1);
  if (!first || !last || !first->isUniform()) {
    return std::nullopt;
  }
  Amount any = math.min(math.max(trips(loop), 0), 1);
  Amount end = math.add(first->low, math.mul(any, math.sub(last->high, first->low)));
  return Spread(end);
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
    return between(0.0, math.max(math.sub(math.of(extent), 1), 0));
  }
  if (isa<tile::LaneOp>(op)) {
    return between(0.0, 31.0);
  }
  if (isa<tgpu::WarpIdOp>(op)) {
    return between(0.0, double(kernel.getNumWarps() - 1));
  }
  if (isa<arith::ExtUIOp>(op) && op->getOperand(0).getType().isInteger(1)) { // c ? 1 : 0
    return Spread(share(op->getOperand(0)));
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp,
          tile::ConvertOp>(op)) {
    return of(op->getOperand(0), depth + 1);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return ofLoopResult(loop, cast<OpResult>(value).getResultNumber(), depth);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    const unsigned index = cast<OpResult>(value).getResultNumber();
    return ofChoice(branch.getCondition(), branch.thenYield().getOperand(index),
                    branch.elseYield().getOperand(index), depth);
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    return ofChoice(choice.getCondition(), choice.getTrueValue(), choice.getFalseValue(), depth);
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
    return same ? Spread(low)
                : Spread(low, compute(x->high, y->high), compute(x->centre, y->centre));
  };
  if (isa<arith::AddIOp>(op)) {
    return both([&](Amount a, Amount b) { return math.add(a, b); });
  }
  if (isa<arith::SubIOp>(op)) {
    Amount low = math.sub(x->low, y->high);
    return same ? Spread(low)
                : Spread(low, math.sub(x->high, y->low), math.sub(x->centre, y->centre));
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
    auto quotient = [&](Amount number) { return round(math, op, math.div(number, divisor)); };
    return x->isUniform() ? Spread(quotient(x->low))
                          : Spread(quotient(x->low), quotient(x->high), quotient(x->centre));
  }
  if (isa<arith::RemSIOp, arith::RemUIOp, tile::RemOp>(op) && y->isUniform()) {
    return between(0.0, math.max(math.sub(y->low, 1), 0));
  }
  return std::nullopt;
}

Amount DeviceEstimates::trips(scf::ForOp loop) {
  std::optional<Amount> low = mean(loop.getLowerBound()), high = mean(loop.getUpperBound()),
                        step = mean(loop.getStep());
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
