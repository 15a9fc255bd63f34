#include "MBarrier.h"

#include "Shared.h"

#include <algorithm>
#include <utility>

namespace tile_emu {

static constexpr size_t kHistory = 8;

static std::string counted(uint64_t n, const char *noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

static std::string nameOf(const MBarrierUse &use) {
  return "the mbarrier " + describeShared(use.machine, use.offset);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

static std::string tripleOf(const std::array<uint32_t, 3> &v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

/// The block is named where it is not that of the mbarrier.
static std::string describeThread(const ThreadName &name, const Block &block) {
  return "thread " + tripleOf(name.thread) +
         (name.block == block.index ? "" : " of block " + tripleOf(name.block));
}

static std::string describeEvent(const Machine &machine, const Block &block,
                                 const MBarrierEvent &event) {
  Party party = machine.checker.party(event.thread, event.instruction, Access::Write);
  std::string text = "phase " + std::to_string(event.phase) + ": ";
  switch (event.kind) {
  case MBarrierEvent::Kind::Arrival:
    text += counted(event.amount, "arrival");
    break;
  case MBarrierEvent::Kind::RemoteArrival:
    text += counted(event.amount, "arrival") + " from a peer";
    break;
  case MBarrierEvent::Kind::Expect:
    text += std::to_string(event.amount) + " bytes expected";
    break;
  case MBarrierEvent::Kind::Complete:
    text += std::to_string(event.amount) + " bytes came";
    break;
  }
  return text + ", line " + std::to_string(event.instruction->line) + ", " +
         describeThread(party.thread, block);
}

static std::vector<std::string> historyOf(const Machine &machine, const Block &block,
                                          const MBarrier &barrier) {
  std::vector<std::string> notes{"initialised in line " + std::to_string(barrier.init->line) +
                                 " for " + counted(barrier.count, "arrival")};
  for (const MBarrierEvent &event : barrier.history) {
    notes.push_back(describeEvent(machine, block, event));
  }
  return notes;
}

Report MBarrierUse::reportOf(Report::Kind kind, const std::string &message) const {
  Party party = machine.checker.party(thread, instruction, Access::Write);
  party.what = opcodeOf(*instruction);
  Report report{.kind = kind, .message = message, .parties = {party}, .notes = {}};
  auto it = block.barriers.mbarriers.find(offset);
  if (it != block.barriers.mbarriers.end()) {
    report.notes = historyOf(machine, block, it->second);
  }
  return report;
}

void MBarrierUse::fault(const std::string &message) const {
  throw Fault(reportOf(Report::Kind::Barrier, message));
}

std::string describeWait(const MBarrierUse &use, int64_t phase) {
  const MBarrier &barrier = use.find();
  std::string text = nameOf(use) + ", phase " + std::to_string(phase) + " (parity " +
                     std::to_string(phase & 1) + "): " + std::to_string(barrier.pending) + " of " +
                     counted(barrier.count, "arrival") + " missing, ";
  text += barrier.pendingBytes >= 0
              ? std::to_string(barrier.pendingBytes) + " bytes pending"
              : std::to_string(-barrier.pendingBytes) + " bytes more than expected";
  for (const std::string &note : historyOf(use.machine, use.block, barrier)) {
    text += "; " + note;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

MBarrier &MBarrierUse::find() const {
  auto it = block.barriers.mbarriers.find(offset);
  if (it == block.barriers.mbarriers.end()) {
    fault("there is no initialised mbarrier at " + describeShared(machine, offset));
  }
  return it->second;
}

static void record(const MBarrierUse &use, MBarrier &barrier, MBarrierEvent::Kind kind,
                   uint64_t amount) {
  if (barrier.history.size() == kHistory) {
    barrier.history.pop_front();
  }
  barrier.history.push_back({.kind = kind,
                             .phase = barrier.phase,
                             .amount = uint32_t(amount),
                             .thread = use.thread,
                             .instruction = use.instruction});
}

void initMBarrier(const MBarrierUse &use, uint64_t count) {
  if (count == 0 || count > kMaxArrivals) {
    use.fault("the count of an mbarrier must be from 1 to " + std::to_string(kMaxArrivals) +
              ", not " + std::to_string(count));
  }
  std::map<uint64_t, MBarrier> &mbarriers = use.block.barriers.mbarriers;
  if (mbarriers.count(use.offset)) {
    use.fault(nameOf(use) + " is initialised again without mbarrier.inval");
  }
  MBarrier &barrier = mbarriers[use.offset];
  Checker &checker = use.machine.checker;
  barrier.count = barrier.pending = uint32_t(count);
  barrier.channel = checker.newChannel(use.thread, "mbarrier", kSharedBase + use.offset);
  barrier.initialiser = use.thread;
  barrier.initialisedAt = checker.known(use.thread, use.thread);
  barrier.init = use.instruction;
}

void invalidateMBarrier(const MBarrierUse &use) {
  use.find();
  use.block.barriers.mbarriers.erase(use.offset);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static void completePhaseIfDone(const MBarrierUse &use, MBarrier &barrier) {
  if (barrier.pending != 0 || barrier.pendingBytes != 0) {
    return;
  }
  use.machine.checker.complete(barrier.filling, barrier.channel, barrier.phase + 1);
  barrier.completed = std::exchange(barrier.filling, {});
  barrier.completedOfPeers = std::exchange(barrier.fillingOfPeers, {});
  barrier.pending = barrier.count;
  ++barrier.phase;
}

static void takeArrivals(const MBarrierUse &use, MBarrier &barrier, const Arrival &arrival) {
  if (arrival.count == 0 || arrival.count > kMaxArrivals) {
    use.fault("the number of arrivals must be from 1 to " + std::to_string(kMaxArrivals) +
              ", not " + std::to_string(arrival.count));
  }
  if (arrival.count > barrier.pending) {
    use.fault(nameOf(use) + " gets more arrivals than the " + std::to_string(barrier.count) +
              " it expects in phase " + std::to_string(barrier.phase) + ", of which " +
              std::to_string(barrier.pending) + " are missing");
  }
  if (arrival.noComplete && arrival.count == barrier.pending) {
    use.fault(nameOf(use) + ": an arrival with .noComplete is the last one of phase " +
              std::to_string(barrier.phase));
  }
  record(use, barrier,
         arrival.remote ? MBarrierEvent::Kind::RemoteArrival : MBarrierEvent::Kind::Arrival,
         arrival.count);
  barrier.pending -= uint32_t(arrival.count);
  if (arrival.drops) {
    barrier.count -= uint32_t(arrival.count);
  }
}

/// What the arriving thread knows reaches those who wait, as far as the scopes go. Many programs
/// leave out `.cluster` where a peer's thread arrives.
static void passOn(const MBarrierUse &use, SyncPoint &point, const Arrival &arrival) {
  if (arrival.remote && arrival.scope < Scope::Cluster && use.machine.options.strictWaits) {
    return;
  }
  Checker &checker = use.machine.checker;
  WarpLanes thread = WarpLanes::one(use.thread);
  if (arrival.releases) {
    checker.release(thread, point);
  } else {
    checker.releaseRelaxed(thread, point, arrival.remote ? Scope::Cluster : Scope::Cta);
  }
}

uint64_t arrive(const MBarrierUse &use, const Arrival &arrival) {
  MBarrier &barrier = use.find();
  uint64_t state = stateOf(barrier);
  uint32_t &seen = barrier.seen[use.thread];
  seen = std::max(seen, barrier.phase);
  takeArrivals(use, barrier, arrival);
  passOn(use, arrival.remote ? barrier.fillingOfPeers : barrier.filling, arrival);
  if (barrier.count == 1 && barrier.workPhase <= barrier.phase && barrier.pendingBytes == 0) {
    seen = barrier.phase + 1; // this arrival alone completes it
  }
  completePhaseIfDone(use, barrier);
  return state;
}

std::function<void()> arriveLater(const MBarrierUse &use, const Arrival &arrival) {
  SyncPoint known;
  passOn(use, known, arrival);
  return [use, arrival, known] {
    MBarrier &barrier = use.find();
    takeArrivals(use, barrier, arrival);
    barrier.fillingOfPeers.join(known);
    completePhaseIfDone(use, barrier);
  };
}

void arriveWithChannel(const MBarrierUse &use, AgentId channel, Step32 step) {
  MBarrier &barrier = use.find();
  takeArrivals(use, barrier, {});
  use.machine.checker.complete(barrier.filling, channel, step);
  completePhaseIfDone(use, barrier);
}

void expectArrival(const MBarrierUse &use) {
  MBarrier &barrier = use.find();
  if (barrier.pending == kMaxArrivals) {
    use.fault(nameOf(use) + " expects more arrivals than are possible");
  }
  ++barrier.pending;
}

static void changeBytes(const MBarrierUse &use, MBarrier &barrier, int64_t bytes) {
  barrier.pendingBytes += bytes;
  if (std::abs(barrier.pendingBytes) > kMaxPendingBytes) {
    use.fault(nameOf(use) + ": " + std::to_string(barrier.pendingBytes) +
              " pending bytes are more than the tx-count holds (" +
              std::to_string(kMaxPendingBytes) + ")");
  }
}

void expectBytes(const MBarrierUse &use, uint64_t bytes) {
  MBarrier &barrier = use.find();
  record(use, barrier, MBarrierEvent::Kind::Expect, bytes);
  changeBytes(use, barrier, int64_t(uint32_t(bytes)));
  completePhaseIfDone(use, barrier);
}

void completeBytes(const MBarrierUse &use, uint64_t bytes) {
  MBarrier &barrier = use.find();
  record(use, barrier, MBarrierEvent::Kind::Complete, bytes);
  changeBytes(use, barrier, -int64_t(uint32_t(bytes)));
  completePhaseIfDone(use, barrier);
}

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

void announceWork(const MBarrierUse &use, const AsyncOp &op) {
  MBarrier &barrier = use.find();
  ++barrier.unfinished;
  barrier.work = op.instruction;
  barrier.worker = use.thread;
  if (!use.machine.options.checkRaces) {
    return;
  }
  Party init = use.machine.checker.party(barrier.initialiser, barrier.init, Access::Write);
  auto add = [&](Report::Kind kind, const std::string &message) {
    Report report = use.reportOf(kind, message);
    init.what = opcodeOf(*barrier.init);
    report.parties.push_back(init);
    use.machine.sink.add(std::move(report));
  };
  if (op.happened(barrier.initialiser) < barrier.initialisedAt) {
    add(Report::Kind::Race,
        "nothing orders the initialisation of " + nameOf(use) + " before this use of it");
  } else if (!barrier.announced &&
             op.fenced(barrier.initialiser, FencedSpace::Shared) < barrier.initialisedAt) {
    add(Report::Kind::MissingFence,
        "the initialisation of " + nameOf(use) +
            " is not visible to the copy engine: fence.mbarrier_init or fence.proxy.async is "
            "missing after it");
  }
}

void joinPhase(const MBarrierUse &use, AsyncOp &op) {
  MBarrier &barrier = use.find();
  op.channel = barrier.channel;
  op.step = barrier.phase + 1;
  barrier.workPhase = op.step;
  barrier.unfinished -= barrier.unfinished != 0; // it may have been initialised anew
}

void announceMBarriers(Block &block, ThreadId thread) {
  for (auto &[offset, barrier] : block.barriers.mbarriers) {
    barrier.announced |= barrier.initialiser == thread;
  }
}

//===----------------------------------------------------------------------===//
// Which phase a wait means
//===----------------------------------------------------------------------===//

// Bit 63 marks a state; then the phase and the pending arrivals.
static constexpr uint64_t kStateMark = uint64_t(1) << 63;

uint64_t stateOf(const MBarrier &barrier) {
  return kStateMark | uint64_t(barrier.phase & 0x7fffffff) << 32 | barrier.pending;
}

uint32_t pendingOfState(uint64_t state) { return uint32_t(state); }

uint32_t phaseOfState(const MBarrierUse &use, const MBarrier &barrier, uint64_t state) {
  if (!(state & kStateMark)) {
    use.fault("the state operand was not returned by an arrival at an mbarrier");
  }
  uint32_t behind = (barrier.phase - uint32_t(state >> 32)) & 0x7fffffff;
  if (behind > 1) {
    use.fault("the state operand is not of the current phase of " + nameOf(use) + ", " +
              std::to_string(barrier.phase) + ", nor of the one before");
  }
  return barrier.phase - behind;
}

static int64_t meantByParity(uint32_t filling, unsigned parity) {
  return (filling & 1) == parity ? int64_t(filling) : int64_t(filling) - 1;
}

int64_t phaseOfParity(const MBarrierUse &use, MBarrier &barrier, unsigned parity) {
  int64_t phase = meantByParity(barrier.phase, parity);
  if (!use.machine.options.checkRaces) {
    return phase;
  }
  // Phases that the thread knows to be complete; the others may or may not be when it gets here.
  uint32_t known = use.machine.checker.known(use.thread, barrier.channel);
  auto seen = barrier.seen.find(use.thread);
  known = std::max(known, seen == barrier.seen.end() ? 0 : seen->second);
  int64_t earliest = meantByParity(std::min(known, barrier.phase), parity);
  if (earliest != phase) {
    use.machine.sink.add(use.reportOf(
        Report::Kind::Barrier, "this waits for phase " + std::to_string(phase) + " or phase " +
                                   std::to_string(earliest) + " of " + nameOf(use) +
                                   ", which have the same parity: nothing that the thread has "
                                   "waited for tells that phase " +
                                   std::to_string(phase - 1) + " is complete"));
  }
  return phase;
}

} // namespace tile_emu
