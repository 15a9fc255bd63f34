//===- BlockWork.cpp - what one block of a kernel has to do --------------===//
//
// Resources are summed over the code, each operation as often as the loops around it run. The time of a block alone follows
// one of its warps through the code: it issues in order, waits where it needs what is not there, and at barriers for
// the slowest. Between two barriers no warp is faster than the multiprocessor does the work of all.
//
// A pipelined loop takes for each iteration what its busiest resource takes, or the share of a stage in the way
// of a tile from its request to the last use; a serial one goes the way of one iteration, again and again.
//
//===----------------------------------------------------------------------===//
#include "passes/BlockWork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Analysis.h"
#include "passes/BlockFootprint.h"
#include "passes/ClusterLoads.h"
#include "passes/GlobalAccess.h"
#include "passes/InstructionCounts.h"
#include "passes/Registers.h"
#include "passes/RoleRegisters.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

namespace {

class BlockPricer {
public:
  BlockPricer(tgpu::KernelOp kernel, const Target &target, DeviceEstimates &estimates, Amount busy,
              HostMath &math)
      : kernel(kernel), target(target), machine(machineModel(target)), estimates(estimates),
        busy(busy), math(math), prices(kernel, target) {
    if (kernel.getCluster()) {
      variation.emplace(kernel);
    }
  }

  BlockWork run();

private:
  struct Way; // of a warp through straight code

  BlockWork ofBlock(Block &block, bool flies);
  std::optional<BlockWork> ofRegions(Operation &op);
  Linear clocksOf(Operation &op, const Price &price, Resource resource);
  BlockWork ofLoop(scf::ForOp loop);
  bool hasRoomBehind(scf::ForOp loop);
  BlockWork ofPipelined(scf::ForOp loop, const LoopStages &stages, Amount trips);
  BlockWork ofBranch(scf::IfOp branch);
  BlockWork ofWhile(scf::WhileOp loop);
  static void add(BlockWork &work, const BlockWork &other);
  struct Loaded;
  Loaded loaded(tgpu::CopyOp copy);
  Amount shareBeyond(GlobalSlice slice, size_t dimension, double piece);
  Amount between(double few, double all);
  Amount lineFactor();
  Amount loadFactor(tgpu::CopyOp copy);
  BlockWork repeated(const BlockWork &body, Amount trips, const Linear &each);
  Linear slowest(const BlockWork &work, Linear way);

  tgpu::KernelOp kernel;
  const Target &target;
  const MachineModel &machine;
  DeviceEstimates &estimates;
  Amount busy;
  HostMath &math;
  OperationPrices prices;
  std::optional<ClusterVariation> variation; // of a kernel of clusters
  // Copies of pipelined loops, which nothing waits for; looked up only.
  llvm::DenseSet<Operation *> ahead;
};

/// Follows one warp.
struct BlockPricer::Way {
  const MachineModel &machine;
  Linear before;                         ///< what has passed with loops
  double now = 0;                        ///< since then
  double phase = 0;                      ///< where the last barrier was
  Clocks inPhase{};                      ///< what all warps have had to do since
  DenseMap<Value, double> ready;         // looked up only
  DenseMap<Operation *, double> buffers; // when the contents are there
  DenseMap<Operation *, double> readers; // when products no longer read them
  llvm::DenseSet<Operation *> unseen;    // written by threads, no barrier since

  explicit Way(const MachineModel &machine) : machine(machine) {}

  /// All warps meet.
  void meet() {
    const double work = *std::max_element(inPhase.begin(), inPhase.end());
    now = std::max(now, phase + work) + machine.barrier;
    phase = now;
    inPhase = {};
    unseen.clear();
  }
  void await(double time) { now = std::max(now, time); }
  /// What has begun is finished.
  void settle() {
    for (auto [value, time] : ready) {
      await(time);
    }
    for (const auto *times : {&buffers, &readers}) {
      for (auto [buffer, time] : *times) {
        await(time);
      }
    }
  }
  /// Something whose time only the host may know.
  void pass(const Linear &time) {
    settle();
    const double work = *std::max_element(inPhase.begin(), inPhase.end());
    before.add(Linear(unseen.empty() ? now : std::max(now, phase + work)));
    before.add(time);
    now = phase = 0;
    inPhase = {};
    ready.clear();
    buffers.clear();
    readers.clear();
    unseen.clear();
  }
};

/// A block alone takes at least what its busiest resource does.
Linear BlockPricer::slowest(const BlockWork &work, Linear way) {
  SmallVector<Linear> all(work.resources.begin(), work.resources.end());
  all.push_back(std::move(way));
  Amount most = math.max(all);
  if (most.isConstant()) {
    return most.constant;
  }
  for (const Linear &x : all) { // one of them, as it is
    if (llvm::all_of(all, [&](const Linear &other) { return x.covers(other); })) {
      return x;
    }
  }
  Linear result;
  result.terms.emplace_back(most.value, 1.0);
  return result;
}

BlockWork BlockPricer::repeated(const BlockWork &body, Amount trips, const Linear &each) {
  BlockWork work;
  for (unsigned i = 0; i < kResources; ++i) {
    work.resources[i] = math.scale(body.resources[i], trips);
  }
  work.flight = math.scale(body.flight, trips);
  work.looped = math.scale(body.looped, trips);
  work.ring = math.scale(body.ring, trips);
  work.missed = math.scale(body.missed, trips);
  work.turn = math.scale(body.turn, trips);
  work.arrival = math.scale(body.arrival, trips);
  work.alone = math.scale(each, trips);
  work.cold = body.cold;
  work.runsBehind = body.runsBehind;
  return work;
}

/// All but `alone`.
void BlockPricer::add(BlockWork &work, const BlockWork &other) {
  for (unsigned i = 0; i < kResources; ++i) {
    work.resources[i].add(other.resources[i]);
  }
  work.flight.add(other.flight);
  work.looped.add(other.looped);
  work.ring.add(other.ring);
  work.missed.add(other.missed);
  work.turn.add(other.turn);
  work.arrival.add(other.arrival);
  work.cold = std::max(work.cold, other.cold);
  work.runsBehind |= other.runsBehind;
}

static double bytesOfRow(tile::GlobalType tile) {
  return double(tile.getShape().back()) * tile::getStorageBits(tile.getElementType()) / 8;
}

/// The mean share of a tile that lies beyond the tensor's end along a dimension, where the host knows that, of tiles side by side;
/// pieces of so many elements count as a whole.
Amount BlockPricer::shareBeyond(GlobalSlice slice, size_t dimension, double piece) {
  const int64_t ofTile = slice.sizes[dimension];
  std::optional<Spread> extent = estimates.of(slice.view.getExtents()[dimension]);
  if (ShapedType::isDynamic(ofTile) || !extent || !extent->isUniform()) {
    return 0.0;
  }
  auto whole = [&](double size) { return math.mul(math.ceil(math.div(extent->low, size)), size); };
  Amount covered = math.max(whole(double(ofTile)), 1);
  Amount touched = piece == 1 ? extent->low : math.min(whole(piece), covered);
  return math.sub(1, math.div(touched, covered));
}

static bool arrivesByTma(tgpu::CopyOp copy) {
  return copy.getPath() == tgpu::CopyPath::Tma && isa<tile::GlobalType>(copy.getSource().getType());
}

/// From what a multiprocessor alone needs to what it needs where all of them are busy.
Amount BlockPricer::between(double few, double all) {
  return math.add(few, math.mul(busy, all - few));
}

/// The same for a line of 128 bytes by TMA, beside what it takes where all of them share L2.
Amount BlockPricer::lineFactor() { return between(machine.tmaBytes / machine.tmaBytesAlone, 1); }

/// What a tile takes by TMA, where one in whole lines of 128 bytes takes 1 if every multiprocessor is busy. Few of them get their lines faster.
struct BlockPricer::Loaded {
  Amount slowed; // by L2, for what lies within the tensor; more where its rows begin between lines
  Amount within; // by the multiprocessor, for as much in whole lines
  Amount boxes;  // the same for rows beyond the end, too
  Amount rows, columns; // for zeros of these, and of boxes wholly beyond the end of rows
  Amount behind = 0.0;  // for what is left of lines that end inside
};

BlockPricer::Loaded BlockPricer::loaded(tgpu::CopyOp copy) {
  GlobalSlice slice = analyseSlice(copy.getSource());
  Amount line = lineFactor();
  if (!arrivesByTma(copy) || !slice.view || slice.kept.size() < 2 || bytesOfBoxRow(copy) == 0) {
    return {1.0, 1.0, 1.0, 0.0, 0.0};
  }
  const auto rows = size_t(slice.kept[slice.kept.size() - 2]);
  const auto columns = size_t(slice.kept.back());
  const auto tile = cast<tile::GlobalType>(copy.getSource().getType());
  Amount factor = line, isBetween = 0.0;
  std::optional<Spread> stride = rows < slice.view.getStrides().size()
                                     ? estimates.of(slice.view.getStrides()[rows])
                                     : std::nullopt;
  if (stride && stride->isUniform()) {
    const unsigned bits = tile::getStorageBits(tile.getElementType());
    Amount pitch = math.mul(stride->low, bits / 8.0);
    Amount lines = math.mul(math.isNoMultiple(pitch, 128), machine.acrossLines);
    isBetween = math.isNoMultiple(pitch, 32);
    Amount sectors = math.mul(isBetween, machine.acrossSectors);
    factor = math.mul(line, math.add(1, math.add(lines, sectors)));
  }
  // Zeros for what lies beyond the end are no bytes of L2, but something that multiprocessors share: where few blocks run they count as lines
  // do, of boxes wholly beyond as less. A line that ends inside is loaded as a whole.
  const double boxBytes = bytesOfBoxRow(copy);
  const double piece = std::min(128.0, boxBytes) / bytesOfRow(tile);
  Amount rowsWithin = math.sub(1, shareBeyond(slice, rows, 1));
  Amount touched = math.sub(1, shareBeyond(slice, columns, piece * double(slice.sizes[columns])));
  Amount within = math.mul(rowsWithin, touched);
  const double ofLine = boxBytes / (128 * linesOfRow(boxBytes)); // moved of a line's worth
  auto zeros = [&](Amount share, double alone, double all) {
    return math.mul(share, between(machine.tmaBytes / alone, machine.tmaBytes / all * ofLine));
  };
  Loaded result = {math.mul(factor, within), math.mul(line, within), math.mul(line, touched),
                   zeros(math.sub(touched, within), machine.tmaBytesAlone, machine.beyondBytes),
                   zeros(math.sub(1, touched), machine.beyondColumnsAlone, machine.beyondColumns)};
  // Of boxes of 64 and 32 bytes between sectors nothing was seen.
  if (std::fmod(boxBytes, 128) == 0) {
    Amount rest = math.sub(touched, math.sub(1, shareBeyond(slice, columns, 1)));
    result.behind = math.mul(math.mul(rowsWithin, isBetween),
                             math.mul(rest, machine.tmaBytes / machine.beyondBytes));
  }
  return result;
}

/// How many times as long a tile takes as one in whole lines where every multiprocessor is busy. Where blocks of a cluster load it for
/// each other L2 has as much less to do, but each block gets all of it.
Amount BlockPricer::loadFactor(tgpu::CopyOp copy) {
  const auto sharers = double(variation ? sharersExpected(copy, *variation) : 1);
  Loaded tile = loaded(copy);
  if (sharers == 1) {
    return math.add(math.max(tile.slowed, math.add(tile.within, math.add(tile.rows, tile.columns))),
                    tile.behind);
  }
  Amount loads = math.add(math.max(tile.slowed, math.add(tile.within, tile.rows)), tile.behind);
  return math.add(math.max(math.mul(loads, 1 / sharers), math.mul(tile.boxes, machine.multicast)),
                  tile.columns);
}

BlockWork BlockPricer::ofLoop(scf::ForOp loop) {
  if (runsOverGrid(loop)) {
    return ofBlock(*loop.getBody(), /*flies=*/false); // points of the grid: one of them
  }
  Amount trips = estimates.trips(loop);
  if (std::optional<LoopStages> stages = stagesOf(loop, target)) {
    return ofPipelined(loop, *stages, trips);
  }
  BlockWork body = ofBlock(*loop.getBody(), /*flies=*/false);
  Linear each = slowest(body, body.alone);
  IntegerAttr together = tile::kUnroll.get(loop);
  if (IntegerAttr ahead = tile::kStages.get(loop);
      ahead && loop.getBody()->getOps<tgpu::CopyOp>().empty()) {
    together = ahead; // loads into fragments run ahead
  }
  if (together) { // loads of some iterations go together
    const double factor = together.getInt() > 0 ? double(together.getInt())
                          : trips.isConstant()  ? std::max(1.0, trips.constant)
                                                : 4;
    Linear shared;
    shared.add(body.alone, 1 / factor);
    each = slowest(body, shared);
  }
  BlockWork work = repeated(body, trips, each);
  work.alone.add(Linear(4));
  return work;
}

/// Whether the loop has two products by warpgroups, the second of which needs the first: it then runs an iteration behind, beside the
/// work between them (PlanSchedule.cpp).
static bool runsBehind(scf::ForOp loop) {
  SmallVector<tgpu::DotOp> dots(loop.getBody()->getOps<tgpu::DotOp>());
  const bool areTwo = dots.size() == 2 && llvm::all_of(dots, [](tgpu::DotOp dot) {
                        return dot.getMma() && dot.getMmaAttr().getKind() == tgpu::MmaKind::Wgmma;
                      });
  if (!areTwo || !isa<RankedTensorType>(dots.back().getA().getType())) {
    return false;
  }
  SmallVector<Value> pending = {dots.back().getA()};
  llvm::SmallPtrSet<Value, 16> seen; // asked for members only
  while (!pending.empty()) {
    Value one = pending.pop_back_val();
    Operation *op = one.getDefiningOp();
    if (!op || !loop->isProperAncestor(op) || !seen.insert(one).second) {
      continue;
    }
    if (op == dots.front()) {
      return true;
    }
    op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  }
  return false;
}

/// Whether a thread has registers for what is in flight then: what the first product gives, what becomes of it, and the sum of the second.
bool BlockPricer::hasRoomBehind(scf::ForOp loop) {
  const double threads = double(kernel.getThreads());
  double words = 0;
  for (auto dot : loop.getBody()->getOps<tgpu::DotOp>()) {
    for (Value tile : {Value(dot.getResult()), dot.getA()}) {
      if (auto type = dyn_cast<RankedTensorType>(tile.getType())) {
        words += double(type.getNumElements()) * tile::getStorageBits(type.getElementType()) / 32;
      }
    }
  }
  return words / threads <= double(mostRegisters(kernel, target) - kRegistersBesideFragmentsOfRole);
}

BlockWork BlockPricer::ofPipelined(scf::ForOp loop, const LoopStages &stages, Amount trips) {
  for (Operation *copy : stages.copies) {
    ahead.insert(copy);
  }
  // With more than two stages by TMA one product stays in flight across iterations.
  const bool flies = stages.stages > 2 && stages.allTma;
  BlockWork body = ofBlock(*loop.getBody(), flies);
  double moved = 0;
  for (Operation *copy : stages.copies) {
    Price price = prices.of(copy);
    moved += std::max(price.of(Resource::Load), price.of(Resource::Shared));
  }
  const double arrival = machine.globalLatency + moved;
  Linear round = machine.missLatency + moved; // of one slot
  round.add(body.alone);
  if (flies) {
    // Sums that are promoted are waited for in their own iteration.
    const bool waits = llvm::any_of(loop.getBody()->getOps<tgpu::DotOp>(), promotesSums);
    round.add(body.of(Resource::Tensor), waits ? 1 : 1.5);
  }
  Linear share;
  share.add(round, 1 / double(stages.stages));
  Linear way = body.alone; // with the wait for the slot
  way.add(Linear(machine.iteration + (stages.allTma ? machine.sharedLatency
                                                    : machine.sharedLatency + machine.barrier)));
  Linear each = slowest(body, way);
  const bool isBehind = stages.allTma && runsBehind(loop);
  if (isBehind) {
    each = slowest(body, Linear());
    each.add(Linear(hasRoomBehind(loop) ? machine.behindProduct : machine.inOrderProduct));
  }
  if (!each.covers(share)) {
    Amount most = math.max({each, share});
    each = most.isConstant() ? Linear(most.constant) : math.scale(1, most);
  }
  if (flies && stages.stages == 3) {
    each.add(Linear(machine.shortRing));
  }
  BlockWork work = repeated(body, trips, each);
  work.runsBehind |= isBehind;
  if (stages.allTma) {
    work.turn = work.alone;
  }
  Linear flight;
  flight.add(Linear(arrival), 1 / double(stages.stages));
  work.flight.add(math.scale(flight, trips));
  work.looped = work.alone;
  work.ring = math.scale(share, trips);
  work.missed = math.scale(Linear(machine.missLatency / double(stages.stages)), trips);
  // Warps that load have begun with this tile while others were at the one before.
  if (!isBehind || !asksForRoles(kernel)) {
    work.alone.add(Linear(arrival + (flies ? machine.mmaLatency : 0)));
    if (stages.allTma && asksForRoles(kernel)) {
      work.arrival = Linear(arrival);
    }
  }
  return work;
}

BlockWork BlockPricer::ofBranch(scf::IfOp branch) {
  Amount share = estimates.share(branch.getCondition());
  BlockWork then = ofBlock(branch.getThenRegion().front(), false);
  BlockWork work = repeated(then, share, slowest(then, then.alone));
  if (!branch.getElseRegion().empty()) {
    BlockWork other = ofBlock(branch.getElseRegion().front(), false);
    BlockWork rest = repeated(other, math.sub(1, share), slowest(other, other.alone));
    add(work, rest);
    work.alone.add(rest.alone);
  }
  return work;
}

BlockWork BlockPricer::ofWhile(scf::WhileOp loop) {
  estimates.assume(loop);
  BlockWork body = ofBlock(loop.getBefore().front(), false);
  BlockWork after = ofBlock(loop.getAfter().front(), false);
  add(body, after);
  body.alone.add(after.alone);
  if (runsOverGrid(loop)) {
    return body; // points of the grid: one of them
  }
  return repeated(body, DeviceEstimates::kUnknownTrips, slowest(body, body.alone));
}

/// None for an operation without regions of code.
std::optional<BlockWork> BlockPricer::ofRegions(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return ofLoop(loop);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return ofWhile(loop);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return ofBranch(branch);
  }
  if (auto region = dyn_cast<tile::ThreadsOp>(op)) {
    return ofBlock(region.getBody().front(), false);
  }
  return std::nullopt;
}

/// What an operation takes of a resource, as busy as the multiprocessors are.
Linear BlockPricer::clocksOf(Operation &op, const Price &price, Resource resource) {
  Linear clocks = price.clocks[unsigned(resource)];
  auto copy = dyn_cast<tgpu::CopyOp>(op);
  if (copy && resource == Resource::Load) {
    return math.scale(clocks, loadFactor(copy));
  }
  // Where few blocks run, what arrives takes nothing from what wgmma reads: tiles of 64x128 and 128x96 run at the tensor cores' rate then,
  // though both together are 180 bytes a clock and more.
  return copy && resource == Resource::Shared && arrivesByTma(copy) ? math.scale(clocks, busy)
                                                                    : clocks;
}

/// `flies`: what the block yields need not be there at its end.
BlockWork BlockPricer::ofBlock(Block &block, bool flies) {
  BlockWork work;
  Way way(machine);
  for (Operation &op : block) {
    if (std::optional<BlockWork> inner = ofRegions(op)) {
      add(work, *inner);
      way.pass(inner->alone);
      continue;
    }
    if (flies && op.hasTrait<OpTrait::IsTerminator>()) {
      continue;
    }
    Price price = prices.of(&op);
    work.cold = std::max(work.cold, price.cold);
    for (unsigned i = 0; i < kResources; ++i) {
      work.resources[i].add(clocksOf(op, price, Resource(i)));
    }
    if (ahead.contains(&op)) {
      way.now += price.way;
      continue;
    }
    SmallVector<Operation *, 2> touched;
    for (Value operand : op.getOperands()) {
      way.await(way.ready.lookup(operand));
      if (isa<tgpu::SmemType>(operand.getType())) {
        if (tgpu::AllocSharedOp alloc = getAllocation(operand)) {
          touched.push_back(alloc);
        }
      }
    }
    const bool isProduct = isa<tgpu::DotOp>(op);
    bool needsBarrier = price.meets;
    for (Operation *buffer : touched) {
      way.await(way.buffers.lookup(buffer));
      way.await(isProduct ? 0 : way.readers.lookup(buffer));
      needsBarrier |= way.unseen.contains(buffer);
    }
    if (needsBarrier) {
      way.meet();
    }
    for (unsigned i = 0; i < kResources; ++i) {
      way.inPhase[i] += price.clocks[i];
    }
    way.now += price.way;
    for (Value result : op.getResults()) {
      way.ready[result] = way.now + price.latency;
    }
    const bool isCopy = isa<tgpu::CopyOp>(op);
    for (Operation *buffer : touched) {
      (isProduct ? way.readers : way.buffers)[buffer] =
          way.now + (isCopy || isProduct ? price.latency : 0);
      if (price.isWritten) {
        way.unseen.insert(buffer);
      }
    }
  }
  if (!flies) {
    way.pass(Linear());
  } else {
    way.before.add(Linear(way.now));
  }
  work.alone = way.before;
  return work;
}

BlockWork BlockPricer::run() {
  BlockWork work = ofBlock(kernel.getBody().front(), false);
  work.alone = slowest(work, work.alone);
  return work;
}

} // namespace

BlockWork tilec::workOf(tgpu::KernelOp kernel, const Target &target, DeviceEstimates &estimates,
                        Amount busy, HostMath &math) {
  return BlockPricer(kernel, target, estimates, busy, math).run();
}
