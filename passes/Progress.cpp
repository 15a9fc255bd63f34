//===- Progress.cpp - do roles wait for each other? -----------------------===//
#include "passes/Progress.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;
using sync::Linear;

namespace {

/// An operation on a channel in iteration i of its loop, at base + i + offset.
struct Step {
  Operation *op;
  Operation *top; ///< of the loop's body
  Value channel;
  scf::ForOp loop;
  Region *role;
  Linear base;
  int64_t offset;
};

struct TurnEdge {
  unsigned from, to;
  int64_t distance;
  bool isWait = false; ///< `to` waits for `from` on their channel; else it is behind it in the code
};

class Progress {
public:
  explicit Progress(tgpu::KernelOp kernel) : kernel(kernel) {}
  /// The edges of a cycle that leads back by no iteration.
  SmallVector<TurnEdge> findDeadlock();
  const Step &at(unsigned step) const { return steps[step]; }
  bool isWhole() const { return whole; }

private:
  void collect();
  void collect(Operation *op);
  void order();
  void match();
  bool isComparable(const Step &a, const Step &b) const;

  tgpu::KernelOp kernel;
  SmallVector<Step> steps; ///< in the order of the code
  SmallVector<TurnEdge> edges;
  bool whole = true; ///< no turn in a loop that has a schedule, or will, was left out
};

} // namespace

/// The one loop of a channel's fills, or of what takes its slots, in a role; a loop of few iterations
/// before it, which the expansion makes, is no steady state.
static bool isPrologue(scf::ForOp loop, Operation *top, int64_t slots) {
  if (tgpu::kSchedule.has(top) || tgpu::kPipeline.has(loop)) {
    return false;
  }
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound());
  return lower && upper && *upper - *lower <= slots;
}

/// Whether `op` has its turn in each iteration of `loop`, once.
static bool isUnconditional(Operation *op, scf::ForOp loop) {
  Operation *around = op->getParentOp();
  return around == loop || (isa<tgpu::OneThreadOp>(around) && around->getParentOp() == loop);
}

/// Whether a loop around `op` has a schedule, or will have one.
static bool isPlanned(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    if (tgpu::kPipeline.has(loop)) {
      return true;
    }
  }
  return false;
}

void Progress::collect(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!loop) {
    return;
  }
  const size_t before = steps.size();
  const Value channel = op->getOperand(0);
  Operation *top = loop.getBody()->findAncestorOpInBlock(*op);
  Linear base = Linear::of(op->getOperand(1));
  if (getConstantIntValue(loop.getStep()) == 1 &&
      base.replace(Linear::of(loop.getInductionVar()), Linear()) &&
      !llvm::is_contained(base.leaves, loop.getInductionVar()) &&
      !isPrologue(loop, top, cast<tgpu::ChannelType>(channel.getType()).getSlots())) {
    Region *role = op->getParentRegion();
    while (!isa<tgpu::RolesOp, tgpu::KernelOp>(role->getParentOp())) {
      role = role->getParentRegion();
    }
    tgpu::StageAttr place = tgpu::kSchedule.get(top);
    const int64_t offset = base.constant - (place ? place.getStage() : 0);
    base.constant = 0;
    steps.push_back({op, top, channel, loop, role, base, offset});
  }
  if (isPlanned(op)) {
    whole &= steps.size() > before && tgpu::kPipeline.has(loop) && isUnconditional(op, loop) &&
             !isPlanned(loop);
  }
}

void Progress::collect() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tgpu::AcquireOp, tgpu::ExpectOp, tgpu::PublishOp, tgpu::WaitOp, tgpu::ReleaseOp>(op)) {
      collect(op);
    }
  });
}

void Progress::order() {
  llvm::MapVector<Operation *, SmallVector<unsigned>> loops;
  for (unsigned step = 0; step < steps.size(); ++step) {
    loops[steps[step].loop].push_back(step);
  }
  auto place = [&](unsigned step) {
    tgpu::StageAttr place = tgpu::kSchedule.get(steps[step].top);
    return std::tuple(place ? place.getOrder() : 0, place ? place.getHold() : 0, step);
  };
  for (auto &[loop, own] : loops) {
    llvm::sort(own, [&](unsigned a, unsigned b) { return place(a) < place(b); });
    for (auto [from, to] : llvm::zip(own, llvm::drop_begin(own))) {
      edges.push_back({from, to, 0});
    }
    edges.push_back({own.back(), own.front(), 1});
  }
}

/// A number that the loops around hand on.
static bool isCarried(const Linear &base) {
  return base.leaves.size() == 1 && isa<BlockArgument>(base.leaves.front()) &&
         isa<LoopLikeOpInterface>(
             cast<BlockArgument>(base.leaves.front()).getOwner()->getParentOp());
}

bool Progress::isComparable(const Step &a, const Step &b) const {
  return a.channel == b.channel &&
         (a.base == b.base || (a.role != b.role && isCarried(a.base) && isCarried(b.base)));
}

void Progress::match() {
  for (unsigned to = 0; to < steps.size(); ++to) {
    const Step &later = steps[to];
    const bool isWait = isa<tgpu::WaitOp>(later.op);
    if (!isWait && !isa<tgpu::AcquireOp>(later.op)) {
      continue;
    }
    // A slot that is filled or given back at several places is so by one of them, or by each.
    SmallVector<TurnEdge> found;
    llvm::MapVector<Region *, int64_t> places;
    for (unsigned from = 0; from < steps.size(); ++from) {
      const Step &earlier = steps[from];
      const bool fits = isWait ? isa<tgpu::ExpectOp, tgpu::PublishOp>(earlier.op)
                               : isa<tgpu::ReleaseOp>(earlier.op);
      whole &= !fits || earlier.channel != later.channel || isComparable(later, earlier);
      if (fits && isComparable(later, earlier)) {
        const int64_t slots = cast<tgpu::ChannelType>(later.channel.getType()).getSlots();
        found.push_back({from, to, earlier.offset - later.offset + (isWait ? 0 : slots),
                         /*isWait=*/true});
        ++places[earlier.role];
      }
    }
    for (const TurnEdge &edge : found) {
      if (places[steps[edge.from].role] == 1) {
        edges.push_back(edge);
      } else {
        whole = false;
      }
    }
  }
}

/// By Bellman and Ford. With n steps a simple cycle has at most n edges: of n + 1 times the distance less
/// one for each edge, its sum is negative exactly if its distances add up to zero or less.
SmallVector<TurnEdge> Progress::findDeadlock() {
  collect();
  order();
  match();
  const auto count = int64_t(steps.size());
  SmallVector<int64_t> lengths(count, 0);
  SmallVector<const TurnEdge *> last(count, nullptr);
  const TurnEdge *relaxed = nullptr;
  for (int64_t round = 0; round <= count; ++round) {
    relaxed = nullptr;
    for (const TurnEdge &edge : edges) {
      const int64_t length = lengths[edge.from] + (count + 1) * edge.distance - 1;
      if (length < lengths[edge.to]) {
        lengths[edge.to] = length;
        last[edge.to] = relaxed = &edge;
      }
    }
  }
  SmallVector<TurnEdge> cycle;
  if (!relaxed) {
    return cycle;
  }
  unsigned step = relaxed->to;
  for (int64_t back = 0; back < count; ++back) {
    step = last[step]->from; // is on a cycle in the end
  }
  const unsigned begin = step;
  do {
    cycle.push_back(*last[step]);
    step = last[step]->from;
  } while (step != begin);
  return cycle;
}

bool tilec::provesProgress(tgpu::KernelOp kernel) {
  Progress progress(kernel);
  return progress.findDeadlock().empty() && progress.isWhole();
}

SmallVector<Turn> tilec::findDeadlock(tgpu::KernelOp kernel) {
  Progress progress(kernel);
  SmallVector<Turn> cycle;
  for (const TurnEdge &edge : progress.findDeadlock()) {
    cycle.push_back(
        {progress.at(edge.from).op, progress.at(edge.to).op, edge.distance, edge.isWait});
  }
  return cycle;
}
