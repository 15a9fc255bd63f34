// bar.sync, bar.arrive, bar.red and barrier.cta: PTX ISA, "bar, barrier".
//
// Threads are counted, whole warps at a time where the instruction is `.aligned` (all of `bar`). A
// phase is complete when as many have arrived as the instructions say, or, without a count, all
// threads of the block that have not exited.
#include "Async.h"
#include "Shared.h"

#include <algorithm>

namespace tile_emu {

namespace {

enum class Action : uint8_t { Sync, Arrive, Popc, And, Or };

struct NamedBarrierOp {
  Action action = Action::Sync;
  bool aligned = true;
  Row id = 0;
  std::optional<Row> count;
  Row result = 0, predicate = 0;
  bool negated = false;

  bool reduces() const { return action >= Action::Popc; }
  Outcome operator()(Step &step) const;

private:
  void arriveAll(Step &step, LaneMask fresh) const;
  void leave(Step &step, BarrierWaits &waits) const;
  void arrive(Step &step, unsigned id, uint32_t expected, LaneMask lanes) const;
  void open(Step &step, NamedBarrier &barrier, unsigned id, uint32_t expected) const;
  uint32_t expectedThreads(Step &step, unsigned lane) const;
};

std::string nameOf(unsigned id) { return "barrier " + std::to_string(id); }

std::string previousArrival(const BarrierPhase &phase) {
  return phase.last ? " in line " + std::to_string(phase.last->line) : "";
}

/// Threads that arrive with `lanes`: the whole warp when aligned; else those lanes and, the first
/// time, the lanes that are not there to arrive.
uint32_t threadsOf(const Warp &warp, LaneMask lanes, bool aligned, LaneMask before) {
  if (aligned) {
    return kWarpSize;
  }
  LaneMask absent = before ? 0 : ~liveLanes(warp);
  return uint32_t(std::popcount(lanes) + std::popcount(absent));
}

bool isFull(const Block &block, const NamedBarrier &barrier) {
  const BarrierPhase &phase = *barrier.filling;
  if (!barrier.wholeBlock) {
    return phase.count >= barrier.expected;
  }
  return std::all_of(block.warps.begin(), block.warps.end(), [&](const Warp &warp) {
    return (liveLanes(warp) & ~phase.arrived[warp.index]) == 0;
  });
}

void completeIfFull(const Block &block, NamedBarrier &barrier) {
  if (barrier.filling && isFull(block, barrier)) {
    barrier.filling->complete = true;
    barrier.filling = nullptr;
    barrier.wholeBlock = false;
  }
}

/// 0 for all threads of the block.
uint32_t NamedBarrierOp::expectedThreads(Step &step, unsigned lane) const {
  if (!count) {
    return 0;
  }
  uint64_t threads = step.get(*count, lane);
  if (threads == 0 || threads % kWarpSize) {
    step.fault(Report::Kind::Barrier,
               "the count of a barrier must be a positive multiple of 32, not " +
                   std::to_string(threads),
               lane);
  }
  return uint32_t(threads);
}

/// The first arrival of a phase decides what it is; the others must agree.
void NamedBarrierOp::open(Step &step, NamedBarrier &barrier, unsigned id, uint32_t expected) const {
  uint32_t threads = expected ? expected : uint32_t(step.block.warps.size()) * uint32_t(kWarpSize);
  if (!barrier.filling) {
    barrier.filling = std::make_shared<BarrierPhase>();
    barrier.filling->arrived.resize(step.block.warps.size());
    barrier.filling->reduces = reduces();
    barrier.expected = threads;
  } else if (barrier.expected != threads) {
    step.fault(Report::Kind::Barrier,
               nameOf(id) + " is used here with " + std::to_string(threads) +
                   " threads, but the arrival" + previousArrival(*barrier.filling) +
                   " that is still waiting expects " + std::to_string(barrier.expected));
  } else if (barrier.filling->reduces != reduces()) {
    step.fault(Report::Kind::Barrier, nameOf(id) + ": bar.red meets bar.sync or bar.arrive" +
                                          previousArrival(*barrier.filling));
  }
  barrier.wholeBlock |= expected == 0;
}

void NamedBarrierOp::arrive(Step &step, unsigned id, uint32_t expected, LaneMask lanes) const {
  NamedBarrier &barrier = step.block.barriers.named[id];
  completeIfFull(step.block, barrier);
  open(step, barrier, id, expected);
  BarrierPhase &phase = *barrier.filling;
  LaneMask &arrived = phase.arrived[step.warp.index];
  if (arrived & lanes) {
    step.fault(Report::Kind::Barrier,
               "arrives at " + nameOf(id) + " again before it is complete (" +
                   std::to_string(phase.count) + " of " + std::to_string(barrier.expected) +
                   " threads have arrived, the last" + previousArrival(phase) + ")",
               unsigned(std::countr_zero(arrived & lanes)));
  }
  phase.count += threadsOf(step.warp, lanes, aligned, arrived);
  if (phase.count > barrier.expected) {
    step.fault(Report::Kind::Barrier, std::to_string(phase.count) + " threads arrive at " +
                                          nameOf(id) + ", which expects " +
                                          std::to_string(barrier.expected));
  }
  arrived |= lanes;
  phase.last = step.op.instruction;
  step.machine.checker.release(WarpLanes{step.warp.firstThread, lanes}, phase.point);
  for (LaneMask rest = lanes; rest && reduces(); rest &= rest - 1) {
    phase.votes += (step.get(predicate, unsigned(std::countr_zero(rest))) & 1) != negated;
    ++phase.voters;
  }
  if (action != Action::Arrive) {
    BarrierWaits &waits = step.block.barriers.waits[step.warp.index];
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      waits[unsigned(std::countr_zero(rest))] = barrier.filling;
    }
  }
  completeIfFull(step.block, barrier);
}

uint64_t reduced(Action action, const BarrierPhase &phase) {
  return action == Action::Popc  ? phase.votes
         : action == Action::And ? phase.votes == phase.voters
                                 : phase.votes != 0;
}

std::string describeWait(const Block &block, unsigned id) {
  const NamedBarrier &barrier = block.barriers.named[id];
  if (!barrier.filling) {
    return nameOf(id);
  }
  std::string warps;
  for (const Warp &warp : block.warps) {
    if (barrier.filling->arrived[warp.index]) {
      warps += (warps.empty() ? "" : ", ") + std::to_string(warp.index);
    }
  }
  return nameOf(id) + ": " + std::to_string(barrier.filling->count) + " of " +
         std::to_string(barrier.expected) + " threads have arrived, of warps " + warps;
}

/// The lanes that have not arrived do so, those of one barrier and count at a time.
void NamedBarrierOp::arriveAll(Step &step, LaneMask fresh) const {
  while (fresh) {
    unsigned first = unsigned(std::countr_zero(fresh));
    uint64_t number = step.get(id, first);
    uint32_t expected = expectedThreads(step, first);
    if (number >= step.block.barriers.named.size()) {
      step.fault(Report::Kind::Barrier,
                 "there are 16 barriers, " + std::to_string(number) + " is none of them", first);
    }
    LaneMask same = 0;
    for (LaneMask rest = fresh; rest; rest &= rest - 1) {
      unsigned lane = unsigned(std::countr_zero(rest));
      bool isSame = step.get(id, lane) == number && expectedThreads(step, lane) == expected;
      same |= LaneMask(isSame) << lane;
    }
    arrive(step, unsigned(number), expected, same);
    fresh &= ~same;
  }
}

/// All lanes' phases are complete: the lanes learn what those that arrived knew.
void NamedBarrierOp::leave(Step &step, BarrierWaits &waits) const {
  LaneMask rest = step.lanes;
  while (rest) {
    std::shared_ptr<BarrierPhase> phase = waits[unsigned(std::countr_zero(rest))];
    LaneMask same = 0;
    for (LaneMask candidates = rest; candidates; candidates &= candidates - 1) {
      unsigned lane = unsigned(std::countr_zero(candidates));
      if (waits[lane] == phase) {
        waits[lane] = nullptr;
        same |= LaneMask(1) << lane;
        if (reduces()) {
          step.set(result, lane, reduced(action, *phase));
        }
      }
    }
    step.machine.checker.acquire(WarpLanes{step.warp.firstThread, same}, phase->point);
    rest &= ~same;
  }
}

Outcome NamedBarrierOp::operator()(Step &step) const {
  if (aligned && step.lanes != liveLanes(step.warp)) {
    step.fault(Report::Kind::Barrier, "only some threads of the warp execute this instruction, "
                                      "which is `.aligned`: all must");
  }
  step.block.barriers.waits.resize(step.block.warps.size());
  BarrierWaits &waits = step.block.barriers.waits[step.warp.index];
  LaneMask fresh = 0;
  step.forLanes([&](unsigned lane) { fresh |= LaneMask(!waits[lane]) << lane; });
  arriveAll(step, fresh);
  if (action == Action::Arrive) {
    return Outcome::Next;
  }
  for (LaneMask rest = step.lanes; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    unsigned number = unsigned(step.get(id, lane));
    completeIfFull(step.block, step.block.barriers.named[number]); // threads may have exited
    if (!waits[lane]->complete) {
      step.waitFor([&block = step.block, number] { return describeWait(block, number); });
      return Outcome::Blocked;
    }
  }
  leave(step, waits);
  return Outcome::Next;
}

} // namespace

/// bar.warp.sync: the machine brings the lanes together.
static Execute decodeWarpBarrier(Decoder &d) {
  d.expect("sync");
  d.op.together = Together::MemberMask;
  d.op.memberMask = d.source(0, ptx::Type::U32);
  return [](Step &step) {
    SyncPoint point;
    step.machine.checker.release(lanesOf(step), point);
    step.machine.checker.acquire(lanesOf(step), point);
    return Outcome::Next;
  };
}

static NamedBarrierOp takeAction(Decoder &d) {
  NamedBarrierOp op;
  switch (d.takeOneOf({"sync", "arrive", "red"}).value_or(3)) {
  case 0:
    op.action = Action::Sync;
    return op;
  case 1:
    op.action = Action::Arrive;
    return op;
  case 2:
    if (std::optional<unsigned> reduction = d.takeOneOf({"popc", "and", "or"})) {
      op.action = Action(unsigned(Action::Popc) + *reduction);
      return op;
    }
    break;
  default:
    break;
  }
  d.unsupported("modifier `." + std::string(d.peek()) + "`");
}

Execute decodeBarrier(Decoder &d) {
  bool isBar = d.mnemonic() == "bar";
  if (isBar && d.take("warp")) {
    return decodeWarpBarrier(d);
  }
  if (!isBar && d.take("cluster")) {
    return decodeClusterBarrier(d);
  }
  d.take("cta");
  NamedBarrierOp op = takeAction(d);
  op.aligned = d.take("aligned") || isBar;
  size_t next = 0;
  if (op.reduces()) {
    ptx::Type type = op.action == Action::Popc ? ptx::Type::U32 : ptx::Type::Pred;
    d.expect(ptx::typeName(type));
    op.result = d.destination(next++, type);
  }
  op.id = d.source(next++, ptx::Type::U32);
  size_t last = d.numOperands() - (op.reduces() ? 1 : 0);
  if (next < last) {
    op.count = d.source(next++, ptx::Type::U32);
  }
  if (op.reduces()) {
    op.predicate = d.source(next++, ptx::Type::Pred, &op.negated);
  }
  if (op.action == Action::Arrive && !op.count) {
    d.invalid("bar.arrive needs a count of threads");
  }
  d.op.together = op.aligned ? Together::Warp : Together::No;
  return op;
}

} // namespace tile_emu
