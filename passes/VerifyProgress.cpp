//===- VerifyProgress.cpp - does everybody who waits go on? ---------------===//
//
// The operations on channels of the loops of all roles, in their steady state, form a marked graph. That
// of iteration j comes behind
// - the one before it in its loop, of iteration j, and the first one behind the last of j - 1;
// - a wait behind the fill of its position: at i + w and i + f, behind that of iteration j + w - f;
// - an acquire behind the releases of the position that had its slot: at i + a and i + r, with n slots,
//   behind those of iteration j + a - n - r.
// An edge's distance says how many iterations it leads back. All go on if each cycle leads back by one at
// least; one that does not is a deadlock (Commoner, Holt, Even, Pnueli: "Marked directed graphs").
//
// Positions are numbers that all roles share: one that is the variable of its loop and a constant is
// compared with those of other roles; where the loops around carry a position its base is theirs, too.
// What is in no such loop, or at other positions, is left out: edges less find cycles less, never others
// that are none. So this is no proof of progress, but what it reports stands still.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/SyncChecker.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

namespace {

/// An operation on a channel in iteration i of its loop, at base + i + offset.
struct Step {
  Operation *op;
  Value channel;
  scf::ForOp loop;
  Region *role;
  Linear base;
  int64_t offset;
};

struct Edge {
  unsigned from, to;
  int64_t distance;
  bool isWait = false; ///< `to` waits for `from` on their channel; else it is behind it in the code
};

class Progress {
public:
  explicit Progress(tgpu::KernelOp kernel) : kernel(kernel) {}
  /// The edges of a cycle that leads back by no iteration.
  SmallVector<Edge> findDeadlock();
  const Step &at(unsigned step) const { return steps[step]; }

private:
  void collect();
  void order();
  void match();
  bool isComparable(const Step &a, const Step &b) const;

  tgpu::KernelOp kernel;
  SmallVector<Step> steps; ///< in the order of the code
  SmallVector<Edge> edges;
};

} // namespace

/// The one loop of a channel's fills, or of what takes its slots, in a role; a loop of few iterations
/// before it is no steady state.
static bool isPrologue(scf::ForOp loop, int64_t slots) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound());
  return lower && upper && *upper - *lower <= slots;
}

void Progress::collect() {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    if (!isa<tgpu::AcquireOp, tgpu::ExpectOp, tgpu::PublishOp, tgpu::WaitOp, tgpu::ReleaseOp>(op) ||
        !loop || getConstantIntValue(loop.getStep()) != 1) {
      return;
    }
    const Value channel = op->getOperand(0);
    Linear base = Linear::of(op->getOperand(1));
    if (!base.replace(Linear::of(loop.getInductionVar()), Linear()) ||
        llvm::is_contained(base.leaves, loop.getInductionVar()) ||
        isPrologue(loop, cast<tgpu::ChannelType>(channel.getType()).getSlots())) {
      return;
    }
    Region *role = op->getParentRegion();
    while (!isa<tgpu::RolesOp, tgpu::KernelOp>(role->getParentOp())) {
      role = role->getParentRegion();
    }
    const int64_t offset = base.constant;
    base.constant = 0;
    steps.push_back({op, channel, loop, role, base, offset});
  });
}

void Progress::order() {
  llvm::MapVector<Operation *, std::pair<unsigned, unsigned>> ends; // of each loop
  for (unsigned step = 0; step < steps.size(); ++step) {
    auto [it, isNew] = ends.insert({steps[step].loop, {step, step}});
    if (!isNew) {
      edges.push_back({it->second.second, step, 0});
      it->second.second = step;
    }
  }
  for (auto &[loop, end] : ends) {
    edges.push_back({end.second, end.first, 1});
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
    SmallVector<Edge> found;
    llvm::MapVector<Region *, int64_t> places;
    for (unsigned from = 0; from < steps.size(); ++from) {
      const Step &earlier = steps[from];
      const bool fits = isWait ? isa<tgpu::ExpectOp, tgpu::PublishOp>(earlier.op)
                               : isa<tgpu::ReleaseOp>(earlier.op);
      if (fits && isComparable(later, earlier)) {
        const int64_t slots = cast<tgpu::ChannelType>(later.channel.getType()).getSlots();
        found.push_back({from, to, earlier.offset - later.offset + (isWait ? 0 : slots),
                         /*isWait=*/true});
        ++places[earlier.role];
      }
    }
    for (const Edge &edge : found) {
      if (places[steps[edge.from].role] == 1) {
        edges.push_back(edge);
      }
    }
  }
}

/// By Bellman and Ford. With n steps a simple cycle has at most n edges: of n + 1 times the distance less
/// one for each edge, its sum is negative exactly if its distances add up to zero or less.
SmallVector<Edge> Progress::findDeadlock() {
  collect();
  order();
  match();
  const auto count = int64_t(steps.size());
  SmallVector<int64_t> lengths(count, 0);
  SmallVector<const Edge *> last(count, nullptr);
  const Edge *relaxed = nullptr;
  for (int64_t round = 0; round <= count; ++round) {
    relaxed = nullptr;
    for (const Edge &edge : edges) {
      const int64_t length = lengths[edge.from] + (count + 1) * edge.distance - 1;
      if (length < lengths[edge.to]) {
        lengths[edge.to] = length;
        last[edge.to] = relaxed = &edge;
      }
    }
  }
  SmallVector<Edge> cycle;
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

void Checker::checkProgress() {
  Progress progress(kernel);
  SmallVector<Edge> cycle = progress.findDeadlock();
  if (cycle.empty()) {
    return;
  }
  // Begins where something waits.
  auto *waits = llvm::find_if(cycle, [](const Edge &edge) { return edge.isWait; });
  std::rotate(cycle.begin(), waits, cycle.end());
  Operation *op = progress.at(cycle.front().to).op;
  failed = true;
  InFlightDiagnostic error = op->emitOpError("waits for ever: it comes behind itself");
  for (const Edge &edge : cycle) {
    const Step &from = progress.at(edge.from);
    const int64_t distance = std::abs(edge.distance);
    const std::string count =
        std::to_string(distance) + (distance == 1 ? " iteration" : " iterations");
    const std::string when = distance == 0       ? "in the same iteration"
                             : edge.distance > 0 ? count + " earlier"
                                                 : count + " later";
    error.attachNote(from.op->getLoc())
        << (edge.isWait ? "which waits for this" : "which comes behind this") << ", " << when;
  }
}
