//===- SyncHolds.cpp - which slots the threads hold, and when ------------===//
//
// A slot that is waited for on one way through a branch or loop has to be given back on it: which
// way is taken later nobody can tell. What can be told is a comparison that stands in the code
// twice: a loop that has run at all leaves a slot held, and `if lower < upper` behind it gives it
// back; the first iteration finds no slot to give back, and `if lower < i` in it spares that. So a
// slot may be held under a comparison, and comparisons that hold are known where the walk is.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/IntegerAnalysis.h"
#include "passes/SyncLoops.h"
#include "passes/SyncState.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// A value as it stands: sums are not taken apart, since they may have wrapped.
static Linear asWhole(Value value) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) ? Linear{{}, constant.getSExtValue()}
                                                       : Linear{{value}, 0};
}

Less Less::of(Value left, Value right) { return {asWhole(left), asWhole(right)}; }

std::optional<Less> Less::of(Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare) {
    return std::nullopt;
  }
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return of(compare.getLhs(), compare.getRhs());
  case arith::CmpIPredicate::sgt:
    return of(compare.getRhs(), compare.getLhs());
  case arith::CmpIPredicate::sge:
    return of(compare.getLhs(), compare.getRhs()).negation();
  case arith::CmpIPredicate::sle:
    return of(compare.getRhs(), compare.getLhs()).negation();
  default:
    return std::nullopt;
  }
}

Less Less::negation() const {
  Less result{right, left};
  ++result.right.constant;
  return result;
}

/// True if `less` follows from `fact`: its left side is no greater, its right side no smaller.
static bool follows(const Less &less, const Less &fact) {
  return less.left.leaves == fact.left.leaves && less.right.leaves == fact.right.leaves &&
         less.left.constant - fact.left.constant <= less.right.constant - fact.right.constant;
}

std::optional<bool> sync::decide(ArrayRef<Less> facts, const Less &less) {
  if (less.left.leaves == less.right.leaves) {
    return less.left.constant < less.right.constant;
  }
  const Less opposite = less.negation();
  for (const Less &fact : facts) {
    if (follows(less, fact)) {
      return true;
    }
    if (follows(opposite, fact)) {
      return false;
    }
  }
  return std::nullopt;
}

std::optional<IntegerRange> Walker::rangeOf(const Linear &number) {
  if (number.leaves.empty()) {
    return IntegerRange{number.constant, number.constant};
  }
  if (number.leaves.size() != 1 || number.leaves.front().getType().isIndex()) {
    return std::nullopt;
  }
  if (!integers) {
    integers = std::make_unique<IntegerAnalysis>(kernel);
  }
  IntegerRange range = integers->range(number.leaves.front());
  if (__builtin_add_overflow(range.low, number.constant, &range.low) ||
      __builtin_add_overflow(range.high, number.constant, &range.high)) {
    return std::nullopt;
  }
  return range;
}

/// The operands of `number`, if it is the lesser (`Op` is arith.minsi) or the greater of two.
template <typename Op>
static std::optional<std::pair<Linear, Linear>> choiceOf(const Linear &number) {
  auto choice = number.leaves.size() == 1 && number.constant == 0
                    ? number.leaves.front().getDefiningOp<Op>()
                    : Op();
  return choice ? std::optional(std::pair(asWhole(choice.getLhs()), asWhole(choice.getRhs())))
                : std::nullopt;
}

/// Whether a comparison of the lesser or greater of two numbers is known to fail, by those of the two: a place
/// where a loop is cut is between its bounds.
bool Walker::failsForChoice(const Less &less) {
  // Each choice doubles what is asked; those of a cut are a few deep.
  constexpr unsigned kMostChoices = 8;
  if (choices >= kMostChoices) {
    return false;
  }
  llvm::SaveAndRestore deeper(choices, choices + 1);
  auto fails = [&](const Linear &left, const Linear &right) {
    return holds({left, right}) == false;
  };
  const auto least = choiceOf<arith::MinSIOp>(less.left),
             most = choiceOf<arith::MaxSIOp>(less.left);
  const auto below = choiceOf<arith::MinSIOp>(less.right),
             above = choiceOf<arith::MaxSIOp>(less.right);
  return (least && fails(least->first, less.right) && fails(least->second, less.right)) ||
         (most && (fails(most->first, less.right) || fails(most->second, less.right))) ||
         (below && (fails(less.left, below->first) || fails(less.left, below->second))) ||
         (above && fails(less.left, above->first) && fails(less.left, above->second));
}

std::optional<bool> Walker::holds(const Less &less) {
  if (std::optional<bool> known = decide(facts, less)) {
    return known;
  }
  if (failsForChoice(less)) {
    return false;
  }
  std::optional<IntegerRange> left = rangeOf(less.left), right = rangeOf(less.right);
  if (left && right && left->high < right->low) {
    return true;
  }
  return left && right && left->low >= right->high ? std::optional(false) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

static bool isSameSlot(const Held &a, const Held &b) {
  return a.channel == b.channel && a.when == b.when && a.position.equals(b.position);
}

/// True if each slot of the channel that is taken has to be given back.
static bool isCounted(Value channel) {
  auto op = channel.getDefiningOp<tgpu::ChannelOp>();
  return !op || op.getConsumers() != 0;
}

/// Keeps of `into` what `other` holds too, under the names that are right on both ways. What one of
/// them holds alone goes to `report`.
template <typename Report>
static void joinHeld(SmallVectorImpl<Held> &into, ArrayRef<Held> other, Report report) {
  SmallVector<bool> matched(other.size(), false);
  llvm::erase_if(into, [&](Held &mine) {
    for (auto [index, theirs] : llvm::enumerate(other)) {
      if (isSameSlot(mine, theirs) && !(matched[index] && isCounted(mine.channel))) {
        matched[index] = true;
        mine.given |= theirs.given;
        llvm::erase_if(mine.position.forms, [&](const Linear &form) {
          return !llvm::is_contained(theirs.position.forms, form);
        });
        return false;
      }
    }
    report(mine, /*isMine=*/true);
    return true;
  });
  for (auto [index, theirs] : llvm::enumerate(other)) {
    if (!matched[index]) {
      report(theirs, /*isMine=*/false);
    }
  }
}

/// `into` and `other` are what two sides of a branch have come to, where comparisons hold that do not
/// on the other.
void Walker::joinSides(Operation *branch, State &into, const std::optional<Less> &intoFact,
                       const State &other, const std::optional<Less> &otherFact) {
  joinPaths(into, other);
  for (bool acquired : {false, true}) {
    joinHeld(acquired ? into.acquired : into.held, acquired ? other.acquired : other.held,
             [&](const Held &held, bool isMine) {
               SmallVector<Less> known(facts);
               if (const std::optional<Less> &fact = isMine ? intoFact : otherFact) {
                 known.push_back(*fact);
               }
               // The condition that it is held under fails on its side.
               if (!held.when || decide(known, *held.when) != false) {
                 oneSided(branch, held, acquired);
               }
             });
  }
}

/// A loop may have no iteration: what only the others hold is held if there has been one.
void Walker::joinSkipped(scf::ForOp loop, State &into, const State &skipped) {
  const Less runs = Less::of(loop.getLowerBound(), loop.getUpperBound());
  for (bool acquired : {false, true}) {
    SmallVectorImpl<Held> &list = acquired ? into.acquired : into.held;
    SmallVector<Held> alone;
    joinHeld(list, acquired ? skipped.acquired : skipped.held, [&](Held held, bool isMine) {
      if (held.when) {
        return oneSided(loop, held, acquired);
      }
      held.when = isMine ? runs : runs.negation();
      const std::optional<bool> known = decide(facts, *held.when);
      if (known == true) {
        held.when.reset();
      }
      if (known != false) {
        alone.push_back(held);
      }
    });
    llvm::append_range(list, alone);
  }
}

void Walker::forgetConditions(Operation *loop, State &end) {
  for (bool acquired : {false, true}) {
    llvm::erase_if(acquired ? end.acquired : end.held, [&](const Held &held) {
      const bool isLost = held.when && (isNamedInside(loop, held.when->left) ||
                                        isNamedInside(loop, held.when->right));
      if (isLost) {
        oneSided(loop, held, acquired);
      }
      return isLost;
    });
  }
}
