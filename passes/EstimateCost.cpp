//===- EstimateCost.cpp - the cost of launches as host code --------------===//
//
// seconds = launch + max(chip + max(ends, last), memory + max(flight, ends, tail), rings), ends = exposed * min(memory, chip),
// chip = (start + max(latency, resources)) / clock
//
// latency: rounds of resident blocks, each as long as a block alone; of points off a counter no whole ones; where warps load for the next point the
// way of a first tile once. last: what the last round writes, behind which nothing hides it. resources: the points of the busiest
// multiprocessor, times what a point takes of the busiest resource. memory: every byte that is touched once, at the rate
// of DRAM. flight: where memory bounds, what is in flight is too little to hide its latency. rings: chip, where the slots of a ring bound its
// loops, and what their way from memory takes longer the more memory has to do. tail: a last round of few blocks
// leaves memory idle. Blocks of a cluster wait for each other each round, beside all that. The clock falls with the work of the tensor cores. MachineModel.h has the rates, BlockWork.cpp the work.
//
//===----------------------------------------------------------------------===//
#include "dialects/support/RowKind.h"
#include "dialects/tile/Remark.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Analysis.h"
#include "passes/BlockFootprint.h"
#include "passes/BlockWork.h"
#include "passes/CostModel.h"
#include "passes/GlobalAccess.h"
#include "passes/MemoryTraffic.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_ESTIMATECOST
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// The cost of one kernel, computed in host code.
class KernelCost {
public:
  KernelCost(tgpu::LaunchOp launch, tgpu::KernelOp kernel, const Target &target, HostMath &math)
      : launch(launch), kernel(kernel), target(target), machine(machineModel(target)), math(math),
        integers(kernel), estimates(kernel, launch, integers, math) {
    for (unsigned i = 0; i != kernel.getNumArguments(); ++i) {
      isDealt |= tgpu::kPointCounter.has(kernel, i);
    }
  }

  /// `terms` are those of termNames().
  Amount compute(Amount multiprocessors, SmallVectorImpl<Amount> &terms);
  bool isAssumed() const { return !estimates.assumed().empty(); }

private:
  bool isFirst() const;
  Amount secondsPerClock(Amount points, Amount busy, const Linear &tensor);
  Amount memory(const MemoryTraffic &traffic);
  std::pair<Amount, Amount> extremes();
  Amount roundsOf(Amount points, Amount places);
  Amount tailOf(Amount points, Amount slots, Amount alone, Amount dram);

  tgpu::LaunchOp launch;
  tgpu::KernelOp kernel;
  const Target &target;
  const MachineModel &machine;
  HostMath &math;
  IntegerAnalysis integers;
  DeviceEstimates estimates;
  bool isDealt = false; // points come off a counter

  /// In means, where memory says how often a loop runs: from not at all to this.
  static constexpr double kLongestPoint = 2;
  /// log2 of the f16 FLOP of a launch up to which the clock is the highest.
  static constexpr double kCoolDoublings = 30.3;
};

} // namespace

/// Whether no launch is made before this one: none stands before it but in another branch.
bool KernelCost::isFirst() const {
  bool follows = false;
  launch->getParentOfType<tile::KernelOp>()->walk([&](tgpu::LaunchOp one) {
    follows |= one != launch && !insideMutuallyExclusiveRegions(one, launch);
    return one == launch ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !follows;
}

/// Large products run at a lower clock, where they keep the chip busy.
Amount KernelCost::secondsPerClock(Amount points, Amount busy, const Linear &tensor) {
  if (tensor.isZero()) {
    return 1e-9 / machine.plainGHz;
  }
  Amount clocks = math.max(math.mul(points, math.sum(tensor)), 1);
  Amount doublings = math.add(math.log2(clocks), std::log2(machine.wgmmaFlop) - kCoolDoublings);
  Amount gigahertz =
      math.sub(machine.mostGHz, math.mul(math.mul(doublings, busy), machine.perDoubling));
  gigahertz = math.min(math.max(gigahertz, machine.leastGHz), machine.mostGHz);
  return math.div(1e-9, gigahertz);
}

Amount KernelCost::memory(const MemoryTraffic &traffic) {
  // Lines that others have written leave L2 for what is read, unless the launch writes as much itself.
  Amount written = math.max(traffic.written, math.min(traffic.read, machine.dirtyBytes));
  Amount read = math.add(traffic.read, math.mul(traffic.narrow, machine.narrowPieces));
  written = math.add(written, math.add(math.mul(traffic.unaligned, machine.unalignedRows),
                                       math.mul(traffic.pieces, machine.piecesOfRows)));
  written = math.add(written, math.mul(traffic.parted, machine.partsOfRows));
  return math.add(
      math.add(math.mul(read, 1 / machine.dramRead), math.mul(written, 1 / machine.dramWrite)),
      machine.dramStart);
}

/// Clocks by which a block alone on the chip begins sooner, and has its first tiles.
static double soonerAlone(tgpu::KernelOp kernel, const MachineModel &machine) {
  WalkResult byElements = kernel.walk([](tgpu::CopyOp copy) {
    const bool isLoad = isa<tile::GlobalType>(copy.getSource().getType());
    return isLoad && copy.getPath().value_or(tgpu::CopyPath::Vector) == tgpu::CopyPath::Vector
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return machine.soonerStart + (byElements.wasInterrupted() ? machine.soonerElements : 0);
}

/// What the blocks of a last round that is not full take longer than memory does for them: each has its time, however few there are. `slots`: blocks
/// that run at a time; `alone`: seconds of a block, `dram`: of memory for all.
Amount KernelCost::tailOf(Amount points, Amount slots, Amount alone, Amount dram) {
  Amount last = math.sub(points, math.mul(math.floor(math.div(points, slots)), slots));
  Amount ofLast = math.mul(dram, math.div(last, math.max(points, 1)));
  return math.mul(math.min(last, 1), math.sub(alone, ofLast));
}

/// The shortest and the longest point's work, in means: what the loops say, of which one may run longer for some points than for others.
std::pair<Amount, Amount> KernelCost::extremes() {
  Amount shortest = 1.0, longest = 1.0;
  kernel.walk([&](scf::ForOp loop) {
    std::optional<Spread> end = estimates.of(loop.getUpperBound());
    if (!end) {
      shortest = 0.0;
      longest = math.max(longest, kLongestPoint);
    } else if (!end->isUniform()) {
      Amount mean = math.max(estimates.trips(loop), 1);
      shortest = math.min(shortest, math.div(math.min(end->low, end->high), mean));
      longest = math.max(longest, math.div(math.max(end->low, end->high), mean));
    }
  });
  return {math.max(shortest, 0.0), longest};
}

/// Points that one of `places` works on, in means of their work.
Amount KernelCost::roundsOf(Amount points, Amount places) {
  Amount each = math.div(points, places), whole = math.ceil(each);
  if (!isDealt) {
    return whole;
  }
  // Off a counter one ends later than others by a shortest point, unless a longest one alone takes longer than all.
  auto [shortest, longest] = extremes();
  return math.max(math.add(each, math.mul(math.sub(whole, each), shortest)), longest);
}

static SmallVector<StringRef> termNames() {
  SmallVector<StringRef> names = {"launch", "waves", "resident", "memory", "latency"};
  for (unsigned i = 0; i < kResources; ++i) {
    names.push_back(nameOf(Resource(i)));
  }
  return names;
}

Amount KernelCost::compute(Amount multiprocessors, SmallVectorImpl<Amount> &terms) {
  Amount points = 1.0;
  for (Value extent : launch.getGrid()) {
    points = math.mul(points, math.of(extent));
  }
  const auto resident = double(estimateResident(kernel, target));
  Amount busy = math.min(math.div(points, multiprocessors), 1);
  BlockWork work = workOf(kernel, target, estimates, busy, math);
  Amount clock = work.runsBehind ? Amount(1e-9 / machine.behindGHz)
                                 : secondsPerClock(points, busy, work.of(Resource::Tensor));
  Amount slots = math.mul(multiprocessors, resident);
  Amount rounds = roundsOf(points, slots), busiest = roundsOf(points, multiprocessors);

  Amount alone = math.sum(work.alone);
  Amount latency = math.sub(math.mul(rounds, alone),
                            math.mul(math.max(math.sub(rounds, 1), 0), math.sum(work.arrival)));
  if (const auto teams = double(teamsWanted(kernel)); teams > 1) {
    // Teams have every other point each, and turns at its loops; what comes behind these only the last one shows.
    latency = math.max(math.mul(math.ceil(math.div(rounds, teams)), alone),
                       math.add(math.mul(math.sub(rounds, 1), math.sum(work.turn)), alone));
  }
  Amount clocks = latency;
  if (resident > 1) { // else a block alone takes no less than its busiest resource
    // Measured of attention: two blocks beside each other take as long as one after the other.
    clocks =
        math.max(latency, math.mul(busiest, work.runsBehind ? alone : math.max(work.resources)));
  }
  // Where it overlaps with the launch before, its blocks have begun when that ends.
  const bool isStarted = kernel.getFollows() && target.overlapsLaunches();
  const bool isPlain = work.of(Resource::Tensor).isZero();
  const double start = (isStarted ? 0
                                  : (isPlain ? machine.plainStart : machine.blockStart) +
                                        machine.warpStart * double(kernel.getNumWarps())) +
                       (kernel.getCluster() ? machine.clusterStart : 0);
  Amount sooner = isPlain || isStarted ? Amount(0.0)
                                       : math.mul(math.sub(1, busy), soonerAlone(kernel, machine));
  Amount onChip = math.mul(math.sub(math.add(clocks, start + work.cold), sooner), clock);
  MemoryTraffic traffic = trafficOf(kernel, points, estimates, integers, math);
  Amount dram = memory(traffic);

  const double before =
      (isFirst() ? machine.launch : machine.nextLaunch) + (isDealt ? machine.dealing : 0);
  terms.append({before, rounds, resident, dram, math.mul(latency, clock)});
  for (const Linear &resource : work.resources) {
    terms.push_back(math.mul(math.mul(busiest, math.sum(resource)), clock));
  }
  // The shorter of the two hides behind the longer but for its ends.
  Amount ends = math.mul(math.min(onChip, dram), machine.exposed);
  if (work.of(Resource::Tensor)
          .isZero()) { // of two that memory bounds alike the one that waits less
    ends = math.add(ends, math.mul(math.min(math.mul(latency, clock), dram), machine.exposedWaits));
  }
  // What the last round writes nothing is left to hide behind.
  Amount last = math.div(math.mul(traffic.written, machine.lastWrites / machine.dramWrite),
                         math.max(rounds, 1));
  Amount flight =
      math.mul(math.mul(rounds, math.sum(work.flight)), math.mul(clock, machine.flightShare));
  Amount tail = tailOf(points, slots, math.mul(alone, clock), dram);
  Amount behind = math.max(math.max(flight, ends), tail);
  Amount either = math.max(math.add(onChip, math.max(ends, last)), math.add(dram, behind));
  if (kernel.getCluster()) {
    either = math.add(either, math.mul(math.mul(rounds, machine.clusterRound), clock));
  }
  if (!work.ring.isZero()) {
    Amount seconds = math.mul(rounds, clock);
    Amount rings = math.sub(math.sum(work.ring), math.sum(work.looped));
    Amount idle = math.add(onChip, math.mul(rings, seconds)); // were memory idle
    Amount missed = math.mul(math.mul(math.sum(work.missed), seconds), machine.queueing);
    Amount reads = math.mul(traffic.read, 1 / machine.dramRead), whole = idle;
    for (int i = 0; i < 3; ++i) { // how busy memory is depends on how long the launch takes
      Amount load = math.min(math.div(reads, whole), 1);
      whole = math.add(idle, math.mul(missed, load));
    }
    either = math.max(either, whole);
  }
  if (!kernel.getPersistent()) {
    either =
        math.max(either, math.add(math.mul(points, machine.nextBlock), math.mul(alone, clock)));
  }
  return math.add(either, before);
}

/// Writes the cost of `kernel` in front of its launch. Those of `better` assume more and do the same: it costs no less than they.
static tgpu::CostOp writeCost(tgpu::LaunchOp launch, tgpu::KernelOp kernel,
                              ArrayRef<tgpu::KernelOp> better, const Target &target) {
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  SmallVector<StringRef> names = termNames();
  auto cost = tgpu::CostOp::create(b, FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                                   b.getStrArrayAttr(names));
  b.setInsertionPointToStart(&cost.getBody().emplaceBlock());
  HostMath math(b);
  Amount multiprocessors = math.of(tile::SmCountOp::create(b, b.getI32Type()));
  KernelCost own(launch, kernel, target, math);
  SmallVector<Amount> terms;
  Amount total = own.compute(multiprocessors, terms);
  if (own.isAssumed()) {
    names.push_back("assumed");
    terms.push_back(1.0);
    cost.setTermsAttr(b.getStrArrayAttr(names));
  }
  for (tgpu::KernelOp other : better) {
    SmallVector<Amount> unused;
    total =
        math.max(total, KernelCost(launch, other, target, math).compute(multiprocessors, unused));
  }
  SmallVector<Value> values = {math.materialise(total)};
  for (Amount term : terms) {
    values.push_back(math.materialise(term));
  }
  tgpu::YieldOp::create(b, values);
  // What was computed on the way, and turned out not to matter.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(cost.getBody().front()))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
    }
  }
  return cost;
}

static void showCost(tgpu::CostOp cost, const Target &target) {
  for (const ShownCost &shown : shownCosts(cost, machineModel(target).multiprocessors)) {
    InFlightDiagnostic text = tile::remarkOn(cost.getEntry(), cost.getLoc());
    text << "expected cost";
    if (shown.size) {
      text << ", all dimensions " << *shown.size;
    }
    text << ": " << shown.terms.str();
    if (shown.terms.isAssumed) {
      text << "; loops whose length is not known count as "
           << int64_t(DeviceEstimates::kUnknownTrips) << " iterations, or as half of their bound";
    }
  }
}

namespace {
struct EstimateCost : tilec::impl::EstimateCostBase<EstimateCost> {
  void runOnOperation() override {
    llvm::StringMap<SmallVector<tgpu::KernelOp>> kernels; // looked up only
    for (auto kernel : getOperation().getOps<tgpu::KernelOp>()) {
      kernels[kernel.getLaunch().value_or("")].push_back(kernel);
    }
    WalkResult result = getOperation().walk([&](tgpu::LaunchOp launch) {
      SmallVector<tgpu::KernelOp> guarded;
      for (tgpu::KernelOp kernel : kernels.lookup(launch.getName())) {
        const Target *target = getTarget(kernel);
        if (!target) {
          return WalkResult::interrupt();
        }
        // Blocks in clusters assume more than alone ones, but do not do the same.
        const bool isAligned = kernel.getVariant() == variantOf(RowKind::Aligned);
        showCost(writeCost(launch, kernel,
                           isAligned ? ArrayRef<tgpu::KernelOp>() : ArrayRef(guarded), *target),
                 *target);
        if (kernel.getGuard()) {
          guarded.push_back(kernel);
        }
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace
