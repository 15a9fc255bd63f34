//===- SplitLoops.cpp - loops are cut where a condition turns false -------===//
//
// A step of a loop that masks what lies beyond an edge, or begins with something, asks in each iteration:
//     for j in lo..hi: .. if (a * j + b > e) {mask} ..
// Of a comparison of this form, and of `and` and `or` of such, is known where it turns. The loop becomes two that
// follow each other, in one of which the branch is gone:
//     c = clamp(floor((e - b) / a) + 1, lo, hi)
//     for j in lo..c: ..      for j in c..hi: .. if (a * j + b > e) {mask} ..
// Both carry what the loop carried, so the order of all that happens is that of the loop.
//
// Arithmetic of 32 bits wraps, so the claim has to hold for what the code computes, not for the numbers that are
// meant: places are computed with 64 bits, exactly, and an iteration counts as one without the branch only if the
// exact number is between -2^31 and 2^31 - 1, where it is the wrapped one. The other loop keeps the branch with its
// condition, so nothing has to be known there.
//
// Where blocks of a cluster fill each other's slots in the loop, it is cut only at an iteration that is the same in all of them.
//
// Invariants: only conditions whose terms are constants times the loop's variable, and values from outside of the
// loop, are cut. Each cut takes one branch out of a copy; kMostCuts says how deep.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/ClusterLoads.h"
#include "passes/Passes.h"
#include "passes/Registers.h"

namespace tilec {
#define GEN_PASS_DEF_SPLITLOOPS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// How deep: with two branches each half is cut once more, for the other, and a loop is four copies of its body at most.
constexpr int64_t kMostCuts = 2;
/// A branch around fewer registers of a fragment costs less than code twice as long.
constexpr int64_t kLeastRegisters = 16;
/// Factors of the loop's variable: sums of products stay far below 2^63.
constexpr int64_t kMostFactor = int64_t(1) << 24;
/// Terms of a condition; more may be one value again and again.
constexpr unsigned kMostVisits = 64;

/// The exact value factor * j + the sum of `terms` (32 bits, with sign) times their factors + constant.
struct Affine {
  int64_t factor = 0, constant = 0;
  SmallVector<std::pair<Value, int64_t>> terms;
};

/// Iterations [lo, end) or [begin, hi) of a loop, of which something is known.
enum class Side { First, Last };

class Cutter {
public:
  explicit Cutter(scf::ForOp loop) : loop(loop), builder(loop), loc(loop.getLoc()) {}

  /// Where the iterations of a side end or begin (i32, between the loop's bounds), in all of which `condition` is
  /// false; null where nothing is known.
  Value whereFalse(Value condition, Side side) { return where(condition, false, side); }

private:
  Value where(Value condition, bool truth, Side side);
  Value whereCompared(arith::CmpIOp compare, bool truth, Side side);
  bool collect(Value value, int64_t times, Affine &sum);
  bool isOutside(Value value) { return loop.isDefinedOutsideOfLoop(value); }

  Value wide(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
  Value wide(Value value) {
    return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value);
  }
  /// The sum without the loop's variable.
  Value emit(const Affine &sum);
  /// `left` op `right`.
  template <typename Op>
  Value make(Value left, Value right) {
    return Op::create(builder, loc, left, right);
  }

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  unsigned visits = 0;
};

/// Adds `times` * `value` to the sum. The sum of what wraps is exact modulo 2^32, which is all that is asked of it.
bool Cutter::collect(Value value, int64_t times, Affine &sum) {
  if (!value.getType().isInteger(32) || ++visits > kMostVisits || std::abs(times) > kMostFactor) {
    return false;
  }
  if (value == loop.getInductionVar()) {
    sum.factor += times;
    return std::abs(sum.factor) <= kMostFactor;
  }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    sum.constant += times * constant.getSExtValue();
    return true;
  }
  if (isOutside(value)) {
    sum.terms.emplace_back(value, times);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (auto add = dyn_cast_or_null<arith::AddIOp>(op)) {
    return collect(add.getLhs(), times, sum) && collect(add.getRhs(), times, sum);
  }
  if (auto sub = dyn_cast_or_null<arith::SubIOp>(op)) {
    return collect(sub.getLhs(), times, sum) && collect(sub.getRhs(), -times, sum);
  }
  if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
    Value left = product.getLhs(), right = product.getRhs();
    if (matchPattern(left, m_ConstantInt(&constant))) {
      std::swap(left, right);
    }
    if (matchPattern(right, m_ConstantInt(&constant)) &&
        std::abs(constant.getSExtValue()) <= kMostFactor) {
      return collect(left, times * constant.getSExtValue(), sum);
    }
  }
  return false;
}

Value Cutter::emit(const Affine &sum) {
  Value total = wide(sum.constant);
  for (auto [value, times] : sum.terms) {
    Value term = wide(value);
    term = times == 1 ? term : make<arith::MulIOp>(term, wide(times));
    total = make<arith::AddIOp>(total, term);
  }
  return total;
}

/// value(j) compared with a bound from outside. With value = a * j + b and a > 0, the iterations before
/// c = floor((bound - b) / a) + 1 are those with value <= bound, and the others have value > bound.
Value Cutter::whereCompared(arith::CmpIOp compare, bool truth, Side side) {
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  Value left = compare.getLhs(), right = compare.getRhs();
  if (!left.getType().isInteger(32)) {
    return {};
  }
  auto mirror = [](P p) {
    return p == P::slt ? P::sgt : p == P::sle ? P::sge : p == P::sgt ? P::slt : P::sle;
  };
  if (!llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate)) {
    return {};
  }
  if (isOutside(left)) {
    std::swap(left, right);
    predicate = mirror(predicate);
  }
  Affine sum, bound;
  if (!isOutside(right) || !collect(left, 1, sum) || sum.factor == 0 || !collect(right, 1, bound)) {
    return {};
  }
  // What holds where value <= limit, and what where it is above.
  const bool isStrict = predicate == P::sgt || predicate == P::sle;
  const bool trueAbove = predicate == P::sgt || predicate == P::sge;
  const bool rises = sum.factor > 0;
  // The side asked for is that of small values if the value rises towards the other one.
  const bool isBelow = rises == (side == Side::First);
  if ((isBelow ? !trueAbove : trueAbove) != truth) {
    return {};
  }
  Value rest = emit(sum), limit = emit(bound);
  if (!isStrict) { // value < bound: at most bound - 1
    limit = make<arith::SubIOp>(limit, wide(1));
  }
  Value low = wide(loop.getLowerBound()), high = wide(loop.getUpperBound());
  Value distance = make<arith::SubIOp>(limit, rest);
  // The first iteration of the last side: rising, the first with value > limit; falling, with value <= limit.
  Value factor = wide(std::abs(sum.factor)), cut;
  if (rises) {
    cut = make<arith::AddIOp>(make<arith::FloorDivSIOp>(distance, factor), wide(1));
  } else {
    cut = make<arith::CeilDivSIOp>(make<arith::SubIOp>(wide(0), distance), factor);
  }
  cut = make<arith::MinSIOp>(make<arith::MaxSIOp>(cut, low), high);
  // Of the side, the iteration farthest from the limit says whether all of it is exact.
  Value farthest = side == Side::First ? low : make<arith::SubIOp>(high, wide(1));
  Value extreme = make<arith::AddIOp>(make<arith::MulIOp>(farthest, wide(sum.factor)), rest);
  Value isExact = arith::CmpIOp::create(builder, loc, isBelow ? P::sge : P::sle, extreme,
                                        wide(isBelow ? INT32_MIN : INT32_MAX));
  Value nothing = side == Side::First ? low : high;
  cut = arith::SelectOp::create(builder, loc, isExact, cut, nothing);
  cut = arith::TruncIOp::create(builder, loc, builder.getI32Type(), cut);
  // Once more with 32 bits: the walks over synchronisation see so that it is between the bounds.
  return make<arith::MinSIOp>(make<arith::MaxSIOp>(cut, loop.getLowerBound()),
                              loop.getUpperBound());
}

/// Of both terms of an `or` that is to be false, or of an `and` that is to be true; of one of them otherwise.
Value Cutter::where(Value condition, bool truth, Side side) {
  Operation *op = condition.getDefiningOp();
  if (++visits > kMostVisits) {
    return {};
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    return whereCompared(compare, truth, side);
  }
  if (!isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op) || !loop->isProperAncestor(op)) {
    return {};
  }
  const bool needsBoth = isa<arith::AndIOp>(op) == truth;
  Value left = where(op->getOperand(0), truth, side), right = where(op->getOperand(1), truth, side);
  if (!left || !right) {
    return needsBoth ? Value() : left ? left : right;
  }
  // The shorter side where both have to hold.
  const bool takesLess = needsBoth == (side == Side::First);
  return takesLess ? Value(arith::MinSIOp::create(builder, loc, left, right))
                   : Value(arith::MaxSIOp::create(builder, loc, left, right));
}

struct SplitLoops : tilec::impl::SplitLoopsBase<SplitLoops> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isWorthwhile(loop) && !isRequired(loop, "no_split")) {
        loops.push_back(loop);
      }
    });
    kept.clear();
    for (scf::ForOp loop : loops) {
      for (auto branch : loop.getBody()->getOps<scf::IfOp>()) {
        if (isLarge(branch) && differsBetweenFillers(loop, branch.getCondition())) {
          branch.emitRemark("the loop is not cut for this condition: blocks of the cluster fill ")
              << "each other's slots in it, and the condition differs between them";
        }
      }
      cut(loop, kMostCuts);
    }
  }

  /// The steps of a pipeline: element-wise work beside products in flight is what a branch stands in the way of. What
  /// cp.async has in flight is counted in groups, and the walks over synchronisation do not count them from one loop
  /// to the next; nor do they follow a slot that an iteration gives back if there was one before it, in either loop.
  static bool isWorthwhile(scf::ForOp loop) {
    const bool multiplies =
        llvm::any_of(*loop.getBody(), llvm::IsaPred<tgpu::WgmmaOp, tgpu::MmaOp>);
    const WalkResult found = loop.getBody()->walk([&](Operation *op) {
      auto branch = op->getParentOfType<scf::IfOp>();
      const bool isUnderCondition = branch && loop->isProperAncestor(branch);
      return isa<tgpu::CpAsyncWaitOp>(op) || (isa<tgpu::ReleaseOp>(op) && isUnderCondition)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return multiplies && !found.wasInterrupted() &&
           loop.getInductionVar().getType().isInteger(32) && !loop.getUnsignedCmp() &&
           matchPattern(loop.getStep(), m_One());
  }

  static bool isLarge(scf::IfOp branch) {
    int64_t registers = 0;
    for (Value result : branch.getResults()) {
      registers += registersOf(result);
    }
    return registers >= kLeastRegisters;
  }

  /// Blocks of a cluster fill each other's slots where all go through them alike (ClusterLoads.h): loops of as many iterations, not two loops
  /// that share them out in each block's own way.
  bool differsBetweenFillers(scf::ForOp loop, Value condition) {
    tgpu::KernelOp kernel = getOperation();
    ClusterDims across = 0;
    loop->walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        auto channel = operand.getDefiningOp<tgpu::ChannelOp>();
        across |= channel ? maskOf(channel.getAcross()) : 0;
      }
    });
    // Anew: the condition may be one of a copy.
    return across != 0 && kernel.getCluster() &&
           (ClusterVariation(kernel).of(condition) & across) != 0;
  }

  void cut(scf::ForOp loop, int64_t cuts) {
    if (cuts == 0) {
      return;
    }
    for (auto branch : loop.getBody()->getOps<scf::IfOp>()) {
      if (!isLarge(branch) || kept.contains(branch) ||
          differsBetweenFillers(loop, branch.getCondition())) {
        continue;
      }
      for (Side side : {Side::First, Side::Last}) {
        if (Value place = Cutter(loop).whereFalse(branch.getCondition(), side)) {
          branch.emitRemark("the loop is cut where this condition turns: no test and no branch ")
              << (side == Side::First ? "before" : "behind");
          auto [first, last] = split(loop, place);
          scf::IfOp copy = copyOf(branch, last);
          kept.insert(side == Side::First ? copy : branch);
          dropBranch(side == Side::First ? branch : copy);
          cut(first, cuts - 1);
          cut(last, cuts - 1);
          return;
        }
      }
    }
  }

  /// [lo, place) and [place, hi); the first is the loop itself.
  static std::pair<scf::ForOp, scf::ForOp> split(scf::ForOp loop, Value place) {
    OpBuilder builder(loop);
    builder.setInsertionPointAfter(loop);
    IRMapping mapping;
    auto last = cast<scf::ForOp>(builder.clone(*loop, mapping));
    last.setLowerBound(place);
    loop.replaceAllUsesWith(last.getResults());
    last.getInitArgsMutable().assign(loop.getResults());
    loop.setUpperBound(place);
    return {loop, last};
  }

  /// The operation of `last`, a copy of the loop of `branch`, that `branch` has become.
  static scf::IfOp copyOf(scf::IfOp branch, scf::ForOp last) {
    auto to = last.getBody()->begin();
    for (auto from = branch->getBlock()->begin(); &*from != branch.getOperation(); ++from) {
      ++to;
    }
    return cast<scf::IfOp>(*to);
  }

  /// What its other side does takes the place of a branch whose condition is false.
  static void dropBranch(scf::IfOp branch) {
    if (Block *other = branch.elseBlock()) {
      Operation *yield = other->getTerminator();
      branch.replaceAllUsesWith(yield->getOperands());
      yield->erase();
      branch->getBlock()->getOperations().splice(branch->getIterator(), other->getOperations());
    }
    branch.erase();
  }

  /// Branches of loops that were cut for them already.
  llvm::SmallPtrSet<Operation *, 8> kept;
};

} // namespace
