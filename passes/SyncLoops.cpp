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

/// Adds the names in `names` of what a position is already known by.
static void addNames(Position &position, ArrayRef<std::pair<Linear, Linear>> names) {
  SmallVector<Linear, 2> forms(position.forms);
  for (auto &[old, fresh] : names) {
    for (const Linear &form : position.forms) {
      Linear renamed = form;
      if (forms.size() < kMaxForms && renamed.replace(old, fresh) &&
          !llvm::is_contained(forms, renamed)) {
        forms.push_back(renamed);
      }
    }
  }
  position.forms = forms;
}

void LoopEdges::collect(ValueRange inside, ValueRange inits, ValueRange nexts) {
  for (auto [value, init, next] : llvm::zip_equal(inside, inits, nexts)) {
    if (value.getType().isSignlessInteger()) {
      carried.push_back({value, Linear::of(init), Linear::of(next)});
    }
  }
}

LoopEdges::LoopEdges(scf::ForOp loop) : loop(loop) {
  Value iv = loop.getInductionVar();
  const Linear upper = Linear::of(loop.getUpperBound());
  if (std::optional<int64_t> step = getConstantIntValue(loop.getStep())) {
    Linear next = Linear::of(iv);
    next.constant += *step;
    carried.push_back({iv, Linear::of(loop.getLowerBound()), next});
    if (*step == 1) { // the variable would next be the upper bound
      left.emplace_back(next, upper);
      variable = {carried.back().init, upper};
    }
  }
  ValueRange nexts = loop.getBody()->getTerminator()->getOperands();
  collect(loop.getRegionIterArgs(), loop.getInitArgs(), nexts);
  for (auto [result, init, next] : llvm::zip_equal(loop.getResults(), loop.getInitArgs(), nexts)) {
    if (result.getType().isSignlessInteger()) {
      left.emplace_back(Linear::of(next), Linear::of(result));
      skipped.emplace_back(Linear::of(init), Linear::of(result));
    }
  }
}

LoopEdges::LoopEdges(scf::WhileOp loop) : loop(loop) {
  collect(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getResults());
  for (auto [value, inside, result] : llvm::zip_equal(
           loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
    if (value.getType().isSignlessInteger()) {
      passed.emplace_back(Linear::of(value), Linear::of(inside));
      left.emplace_back(Linear::of(value), Linear::of(result));
    }
  }
}

bool LoopEdges::isInside(Value value) const { return isComputedIn(loop, value); }

void LoopEdges::enter(Position &position) {
  Names names;
  for (const Carried &value : carried) {
    names.emplace_back(value.init, Linear::of(value.inside));
  }
  addNames(position, names);
}

void LoopEdges::pass(Position &position) { addNames(position, passed); }

void LoopEdges::skip(Position &position, bool ends) {
  Names names(skipped);
  if (ends && variable) {
    names.push_back(*variable);
  }
  addNames(position, names);
}

void LoopEdges::repeat(Position &position) {
  Names names;
  for (const Carried &value : carried) {
    names.emplace_back(value.next, Linear::of(value.inside));
  }
  rename(position, names);
}

void LoopEdges::leave(Position &position) {
  // Forms that name nothing of the loop stay right; after the loop they are all that is worth
  // keeping.
  Position outer = position;
  forgetInside(loop, outer);
  if (outer.forms.empty()) {
    return rename(position, left);
  }
  position = outer;
}

void LoopEdges::rename(Position &position, const Names &names) const {
  SmallVector<Linear, 2> forms;
  for (const Linear &form : position.forms) {
    // Old names go one after the other; new names are kept apart, since they look the same.
    Linear old = form, fresh;
    for (auto &[before, after] : names) {
      if (isNamedInside(loop, before) && old.replace(before, Linear())) {
        llvm::append_range(fresh.leaves, after.leaves);
        fresh.constant += after.constant;
      }
    }
    if (!isNamedInside(loop, old)) {
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
        index.forgetPlace();
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
  auto counting = dyn_cast<scf::ForOp>(loop);
  if (!counting) {
    return forgetInside(loop, region);
  }
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
    if (value != counting.getInductionVar() || factor == IndexRange::kLowest) {
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
  auto counting = dyn_cast<scf::ForOp>(loop);
  if (!counting) {
    return forgetInside(loop, region);
  }
  std::optional<int64_t> begin = getConstantIntValue(counting.getLowerBound()),
                         end = getConstantIntValue(counting.getUpperBound());
  auto isInner = [&](Value value) { return isInside(value); };
  auto change = [&](Value value, int64_t factor) -> std::optional<Bounds> {
    int64_t first, last;
    if (value != counting.getInductionVar() || !begin || !end || *end <= *begin ||
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

bool sync::isNamedInside(Operation *loop, const Linear &form) {
  return llvm::any_of(form.leaves, [&](Value leaf) { return isComputedIn(loop, leaf); });
}

void sync::forgetInside(Operation *loop, Position &position) {
  llvm::erase_if(position.forms, [&](const Linear &form) { return isNamedInside(loop, form); });
}

void sync::forgetInside(Operation *loop, GlobalRegion &region) {
  for (IndexRange &index : region.indices) {
    if (llvm::any_of(index.terms, [&](auto &term) { return isComputedIn(loop, term.first); })) {
      index.forgetPlace();
    }
  }
}

void sync::forgetInside(Operation *loop, Arrival &arrival) {
  forgetInside(loop, arrival.position);
  if (arrival.end && isNamedInside(loop, *arrival.end)) {
    arrival.end.reset();
  }
}
