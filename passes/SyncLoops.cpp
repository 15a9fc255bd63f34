//===- SyncLoops.cpp - ring positions across the edges of loops ----------===//
#include "passes/SyncLoops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

/// Forms kept of one position.
constexpr size_t kMaxForms = 8;

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

bool LoopEdges::isInside(Value value) {
  return loop->isAncestor(value.getParentBlock()->getParentOp());
}

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
