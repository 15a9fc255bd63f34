//===- SyncLoops.cpp - positions and regions across loops' edges ---------===//
//
// A position is known by its forms, sums of values and a constant that are all this number; a
// region of global memory by ranges of its indices.
//
// Invariant: every form is right at every place where the position is looked at, and a region holds
// at least what was accessed. A form less, or a wider region, is never wrong: an access is then
// taken to be anywhere, and a slot that is held allows less. So over an edge a form is rewritten
// where everything in it can be said in the names of the other side, else dropped: a value that the
// loop carries, or its variable, is another number there.
//
// Why a loop has finitely many: its head adds forms once (`enter`, kMaxForms), the back edge only
// rewrites, and a rewritten form has no more values than before, of those that the loop carries.
// Their constants are taken modulo the slots of the ring (renameAll); regions that move are widened
// (`settle`).
//
//===----------------------------------------------------------------------===//
#include "passes/SyncLoops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

/// Forms kept of one position.
constexpr size_t kMaxForms = 8;

static bool isComputedIn(Operation *loop, Value value) {
  return loop->isAncestor(value.getParentBlock()->getParentOp());
}

LoopEdges::LoopEdges(scf::ForOp loop) : loop(loop) {
  Value iv = loop.getInductionVar();
  if (std::optional<int64_t> step = getConstantIntValue(loop.getStep())) {
    Linear next = Linear::of(iv);
    next.constant += *step;
    // With a step of 1 the variable would next be the upper bound.
    carried.push_back(
        {iv, Linear::of(loop.getLowerBound()), next, Linear::of(loop.getUpperBound()), *step == 1});
  }
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [index, value] : llvm::enumerate(loop.getRegionIterArgs())) {
    if (value.getType().isSignlessInteger()) {
      carried.push_back({value, Linear::of(loop.getInitArgs()[index]),
                         Linear::of(yield.getOperand(index)), Linear::of(loop.getResult(index))});
    }
  }
}

bool LoopEdges::isInside(Value value) { return isComputedIn(loop, value); }

void LoopEdges::enter(Position &position) {
  SmallVector<Linear, 2> forms(position.forms);
  for (const Carried &value : carried) {
    for (const Linear &form : position.forms) {
      Linear renamed = form;
      if (forms.size() < kMaxForms && renamed.replace(value.init, Linear::of(value.inside)) &&
          !llvm::is_contained(forms, renamed)) {
        forms.push_back(renamed);
      }
    }
  }
  position.forms = forms;
}

void LoopEdges::repeat(Position &position) { rename(position, /*leaving=*/false); }
void LoopEdges::leave(Position &position) { rename(position, /*leaving=*/true); }

void LoopEdges::rename(Position &position, bool leaving) {
  SmallVector<Linear, 2> forms;
  // Forms that name nothing of the loop stay right; after the loop they are all that is worth
  // keeping.
  for (const Linear &form : position.forms) {
    if (leaving && llvm::none_of(form.leaves, [&](Value leaf) { return isInside(leaf); })) {
      forms.push_back(form);
    }
  }
  if (!forms.empty()) {
    position.forms = forms;
    return;
  }
  for (const Linear &form : position.forms) {
    // Old names go one after the other; new names are kept apart, since they look the same.
    Linear old = form, fresh;
    for (const Carried &value : carried) {
      bool changes = llvm::any_of(value.next.leaves, [&](Value leaf) { return isInside(leaf); });
      if (changes && (!leaving || value.hasLast) && old.replace(value.next, Linear())) {
        Linear name = leaving ? value.last : Linear::of(value.inside);
        llvm::append_range(fresh.leaves, name.leaves);
        fresh.constant += name.constant;
      }
    }
    if (llvm::none_of(old.leaves, [&](Value leaf) { return isInside(leaf); })) {
      old.replace(Linear(), fresh);
      if (!llvm::is_contained(forms, old)) {
        forms.push_back(old);
      }
    }
  }
  position.forms = forms;
}

//===----------------------------------------------------------------------===//
// Regions of global memory
//===----------------------------------------------------------------------===//

/// Replaces each value of the loop in the region's indices by a number that is added: `change`
/// gives least and most of it for a value and its factor, nothing where they are not known.
template <typename Inside, typename Change>
static void move(GlobalRegion &region, Inside isInside, Change change, bool keepTerms) {
  for (IndexRange &index : region.indices) {
    SmallVector<IndexRange::Term, 2> terms(index.terms);
    for (auto [value, factor] : terms) {
      if (!isInside(value)) {
        continue;
      }
      std::optional<std::pair<int64_t, int64_t>> moved = change(value, factor);
      if (!moved) {
        index.forget();
        break;
      }
      index.shift(moved->first, moved->second);
      if (!keepTerms) {
        llvm::erase_if(index.terms, [&](auto &term) { return term.first == value; });
      }
    }
  }
}

void LoopEdges::repeat(GlobalRegion &region) {
  using Bounds = std::pair<int64_t, int64_t>;
  auto isInner = [&](Value value) { return isInside(value); };
  auto change = [&](Value value, int64_t factor) -> std::optional<Bounds> {
    for (const Carried &carry : carried) {
      // What was x + n is x now: x was n less.
      int64_t by;
      if (carry.inside == value && carry.next.leaves.size() == 1 &&
          carry.next.leaves.front() == value &&
          !__builtin_mul_overflow(carry.next.constant, -factor, &by)) {
        return Bounds{by, by};
      }
    }
    if (value != loop.getInductionVar() || factor == IndexRange::kLowest) {
      return std::nullopt;
    }
    // A step that is not constant is positive.
    return factor > 0 ? Bounds{IndexRange::kLowest, -factor}
                      : Bounds{-factor, IndexRange::kHighest};
  };
  move(region, isInner, change, /*keepTerms=*/true);
}

void LoopEdges::leave(GlobalRegion &region) {
  using Bounds = std::pair<int64_t, int64_t>;
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  auto isInner = [&](Value value) { return isInside(value); };
  auto change = [&](Value value, int64_t factor) -> std::optional<Bounds> {
    int64_t first, last;
    if (value != loop.getInductionVar() || !begin || !end || *end <= *begin ||
        __builtin_mul_overflow(*begin, factor, &first) ||
        __builtin_mul_overflow(*end - 1, factor, &last)) {
      return std::nullopt;
    }
    return Bounds{std::min(first, last), std::max(first, last)};
  };
  move(region, isInner, change, /*keepTerms=*/false);
}

void LoopEdges::repeat(Arrival &arrival) { forgetInside(loop, arrival); }

//===----------------------------------------------------------------------===//
// Loops of which nothing is known
//===----------------------------------------------------------------------===//

static bool names(Operation *loop, const Linear &form) {
  return llvm::any_of(form.leaves, [&](Value leaf) { return isComputedIn(loop, leaf); });
}

void sync::forgetInside(Operation *loop, Position &position) {
  llvm::erase_if(position.forms, [&](const Linear &form) { return names(loop, form); });
}

void sync::forgetInside(Operation *loop, GlobalRegion &region) {
  for (IndexRange &index : region.indices) {
    if (llvm::any_of(index.terms, [&](auto &term) { return isComputedIn(loop, term.first); })) {
      index.forget();
    }
  }
}

void sync::forgetInside(Operation *loop, Arrival &arrival) {
  forgetInside(loop, arrival.position);
  if (arrival.end && names(loop, *arrival.end)) {
    arrival.end.reset();
  }
}
