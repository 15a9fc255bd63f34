// The choice of a shared layout: every candidate is asked what its users need.
#include "dialects/layout/Compatibility.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace llvm;

namespace tilec::layout {

namespace {

/// Measured on an H200: a box costs about 20 clocks more than its bytes, at 90 bytes per clock.
constexpr int64_t bytesPerBoxIssue = 1800;

struct Score {
  int64_t requiredUnmet = 0, unmet = 0, wavefronts = 0, cost = 0;

  bool operator<(const Score &o) const {
    return std::tie(requiredUnmet, unmet, wavefronts, cost) <
           std::tie(o.requiredUnmet, o.unmet, o.wavefronts, o.cost);
  }
};

/// What one candidate means to all demands.
class Evaluation {
public:
  explicit Evaluation(SharedLayout layout) { choice.layout = std::move(layout); }

  void ask(const Demand &demand) {
    switch (demand.kind) {
    case Demand::Kind::Wgmma:
      note(demand, wgmmaDescriptor(choice.layout, demand.wgmma).reason());
      return;
    case Demand::Kind::Tma:
    case Demand::Kind::TmaStore:
      askTma(demand);
      return;
    case Demand::Kind::CpAsync:
      note(demand, cpAsyncRefusal(choice.layout, demand.bytes));
      return;
    case Demand::Kind::Ldmatrix:
      askMatrix(demand, ldmatrixPlan(choice.layout, demand.fragment, demand.trans));
      return;
    case Demand::Kind::Stmatrix:
      askMatrix(demand, stmatrixPlan(choice.layout, demand.fragment, demand.trans));
      return;
    case Demand::Kind::Words:
      if (Answer<WordPlan> plan = wordPlan(choice.layout, demand.fragment)) {
        count(demand, bankConflicts(choice.layout, *plan));
        return;
      }
      askAccess(demand);
      return;
    case Demand::Kind::Access:
      askAccess(demand);
      return;
    }
  }

  Score finish() {
    score.cost += choice.layout.sizeBytes();
    score.wavefronts = choice.wavefronts;
    return score;
  }

  SharedChoice choice;

private:
  void note(const Demand &demand, const std::string &reason) {
    if (reason.empty()) {
      return;
    }
    (demand.required ? score.requiredUnmet : score.unmet) += demand.weight;
    choice.allRequiredMet &= !demand.required;
    choice.unmet.push_back(reason);
  }

  void count(const Demand &demand, const BankReport &banks) {
    choice.wavefronts += demand.weight * banks.wavefronts;
    choice.conflicts += demand.weight * banks.conflicts();
  }

  void askTma(const Demand &demand) {
    Answer<TmaBoxes> boxes = tmaBoxes(choice.layout);
    note(demand, boxes.reason());
    if (!boxes) {
      return;
    }
    score.cost += demand.weight * bytesPerBoxIssue * int64_t(boxes->boxes.size());
    if (demand.kind == Demand::Kind::TmaStore && boxes->overhang) {
      note(demand, "the last panel reaches beyond the tile, a TMA store would write there");
    }
  }

  void askMatrix(const Demand &demand, const Answer<MatrixPlan> &plan) {
    note(demand, plan.reason());
    if (plan) {
      count(demand, bankConflicts(choice.layout, *plan));
    } else {
      count(demand, bankConflicts(choice.layout, demand.fragment));
    }
  }

  void askAccess(const Demand &demand) {
    const BankReport banks = bankConflicts(choice.layout, demand.fragment);
    if (banks.wavefronts == 0) { // no plan: ask why
      note(demand, accessPlan(choice.layout, demand.fragment).reason());
    }
    count(demand, banks);
  }

  Score score;
};

SmallVector<SharedLayout, 8> candidates(ArrayRef<int64_t> shape, unsigned elementBits,
                                        int contiguousDim) {
  SmallVector<SharedLayout, 8> result;
  auto add = [&](const Answer<SharedLayout> &layout) {
    if (layout) {
      result.push_back(*layout);
    }
  };
  for (unsigned swizzle : {128u, 64u, 32u, 0u}) {
    add(SharedLayout::panels(shape, elementBits, swizzle, contiguousDim));
  }
  for (int64_t pad : {0, 16, 32, 8, 4}) {
    add(SharedLayout::rows(shape, elementBits, contiguousDim, pad));
  }
  return result;
}

} // namespace

std::string cpAsyncRefusal(const SharedLayout &layout, int64_t bytes) {
  return layout.rowPitch() % bytes == 0
             ? ""
             : "rows do not start at multiples of the " + std::to_string(bytes) +
                   " bytes that cp.async writes at once";
}

SharedChoice chooseSharedLayout(ArrayRef<int64_t> shape, unsigned elementBits, int contiguousDim,
                                ArrayRef<Demand> demands) {
  std::optional<SharedChoice> best;
  Score bestScore;
  for (SharedLayout &candidate : candidates(shape, elementBits, contiguousDim)) {
    Evaluation evaluation(std::move(candidate));
    for (const Demand &demand : demands) {
      evaluation.ask(demand);
    }
    const Score score = evaluation.finish();
    if (!best || score < bestScore) {
      best = std::move(evaluation.choice);
      bestScore = score;
    }
  }
  return best ? *best
              : SharedChoice{SharedLayout(), false, {"no shared layout has this shape"}, 0, 0};
}

} // namespace tilec::layout
