// The mbarrier instructions: PTX ISA, "mbarrier.init" to "mbarrier.try_wait".
#include "Async.h"
#include "MBarrier.h"
#include "Shared.h"

#include <algorithm>

namespace tile_emu {

namespace {

/// An mbarrier operand.
struct Target {
  SharedForm form = SharedForm::Generic;
  Decoder::AddressRows address{};

  MBarrierUse use(Step &step, unsigned lane) const {
    SharedPlace place = sharedPlace(step, form, address, 8, 8, lane);
    return {step.machine, *place.block, place.range.offset, step.thread(lane), step.op.instruction};
  }
};

/// The accesses of mbarrier operations to the object race with what initialises and invalidates it,
/// not with one another.
void checkAccess(const MBarrierUse &use, Access access, bool atomic) {
  use.machine.checker.access(access, use.thread, {&use.block.shared, use.offset, 8},
                             {.atomic = atomic}, use.instruction);
}

struct Semantics {
  bool relaxed = false;
  Scope scope = Scope::Cta;
};

Semantics takeSemantics(Decoder &d, std::string_view strong) {
  Semantics semantics{.relaxed = d.take("relaxed")};
  if (semantics.relaxed || d.take(strong)) {
    std::optional<unsigned> scope = d.takeOneOf({"cta", "cluster"});
    if (!scope) {
      d.unsupported("scope `." + std::string(d.peek()) + "`");
    }
    semantics.scope = *scope == 0 ? Scope::Cta : Scope::Cluster;
  }
  return semantics;
}

Execute decodeInit(Decoder &d) {
  Target target{takeOwnSharedForm(d), {}};
  d.expect("b64");
  target.address = d.address(0);
  Row count = d.source(1, ptx::Type::U32);
  return [target, count](Step &step) {
    step.forLanes([&](unsigned lane) {
      MBarrierUse use = target.use(step, lane);
      checkAccess(use, Access::Write, false);
      Checker::setDefined({&use.block.shared, use.offset, 8}, true);
      initMBarrier(use, step.get(count, lane));
    });
    return Outcome::Next;
  };
}

Execute decodeInval(Decoder &d) {
  Target target{takeOwnSharedForm(d), {}};
  d.expect("b64");
  target.address = d.address(0);
  return [target](Step &step) {
    step.forLanes([&](unsigned lane) {
      MBarrierUse use = target.use(step, lane);
      checkAccess(use, Access::Write, false);
      invalidateMBarrier(use);
      Checker::setDefined({&use.block.shared, use.offset, 8}, false);
    });
    return Outcome::Next;
  };
}

/// mbarrier.expect_tx and mbarrier.complete_tx.
Execute decodeBytes(Decoder &d, bool expects) {
  takeSemantics(d, "relaxed");
  Target target{takeSharedForm(d), {}};
  d.expect("b64");
  target.address = d.address(0);
  Row bytes = d.source(1, ptx::Type::U32);
  return [=](Step &step) {
    step.forLanes([&](unsigned lane) {
      MBarrierUse use = target.use(step, lane);
      checkAccess(use, Access::Write, true);
      (expects ? expectBytes : completeBytes)(use, step.get(bytes, lane));
    });
    return Outcome::Next;
  };
}

struct ArriveOp {
  Target target;
  Arrival arrival;
  std::optional<Row> count, bytes;
  Row state = kSinkRow;

  Outcome operator()(Step &step) const {
    step.forLanes([&](unsigned lane) {
      MBarrierUse use = target.use(step, lane);
      use.find();
      checkAccess(use, Access::Write, true);
      if (bytes) {
        expectBytes(use, step.get(*bytes, lane));
      }
      Arrival made = arrival;
      made.count = count ? step.get(*count, lane) : 1;
      made.remote = &use.block != &step.block;
      if (made.remote) {
        step.noteVisit(use.block, lane);
        if (state == kSinkRow && step.machine.options.randomSchedule) {
          step.warp.arrivals.push_back({&use.block, use.offset, arriveLater(use, made)});
          return;
        }
      }
      step.set(state, lane, arrive(use, made));
    });
    return Outcome::Next;
  }
};

Execute decodeArrive(Decoder &d, bool drops) {
  ArriveOp op;
  op.arrival.drops = drops;
  bool expects = d.take("expect_tx");
  op.arrival.noComplete = !expects && d.take("noComplete");
  Semantics semantics = takeSemantics(d, "release");
  op.arrival.releases = !semantics.relaxed;
  op.arrival.scope = semantics.scope;
  op.target.form = takeSharedForm(d);
  d.expect("b64");
  size_t next = 0;
  bool hasState = d.operand(0).kind != ptx::Operand::Kind::Address;
  if (hasState) {
    op.state = d.destination(next++, ptx::Type::B64);
    if (op.target.form == SharedForm::Cluster && op.state != kSinkRow) {
      d.invalid("an arrival in .shared::cluster returns no state");
    }
  }
  op.target.address = d.address(next++);
  if (expects || op.arrival.noComplete || next < d.numOperands()) {
    (expects ? op.bytes : op.count) = d.source(next, ptx::Type::U32);
  }
  return op;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

struct WaitOp {
  Target target;
  bool tries = false, parity = false, acquires = true;
  Scope scope = Scope::Cta;
  Row result = kSinkRow, value = 0;

  Outcome operator()(Step &step) const;

private:
  struct Wait {
    MBarrier *barrier = nullptr;
    int64_t phase = 0;
    bool complete = false;
  };
  Wait look(Step &step, unsigned lane) const;
  bool blocks(Step &step, const std::array<Wait, kWarpSize> &waits) const;
  void timeOut(Step &step, std::array<Wait, kWarpSize> &waits) const;
  void learn(Step &step, std::array<Wait, kWarpSize> &waits) const;
};

WaitOp::Wait WaitOp::look(Step &step, unsigned lane) const {
  MBarrierUse use = target.use(step, lane);
  Wait wait{.barrier = &use.find()};
  if (&use.block != &step.block) {
    use.fault("only threads of the block in which an mbarrier lies can wait for it");
  }
  uint64_t operand = step.get(value, lane);
  if (parity && operand > 1) {
    use.fault("the parity of a phase is 0 or 1, not " + std::to_string(operand));
  }
  wait.phase = parity ? phaseOfParity(use, *wait.barrier, unsigned(operand))
                      : int64_t(phaseOfState(use, *wait.barrier, operand));
  wait.complete = wait.phase < int64_t(wait.barrier->phase);
  return wait;
}

/// Nobody goes on: try_wait suspends until there is something new; now and then, in random
/// schedules, it times out as it may. A test_wait that is repeated endlessly suspends too, so that
/// deadlocks are found.
bool WaitOp::blocks(Step &step, const std::array<Wait, kWarpSize> &waits) const {
  constexpr uint32_t kPolls = 100'000;
  bool suspends = tries;
  if (tries && step.machine.options.randomSchedule) {
    unsigned first = unsigned(std::countr_zero(step.lanes));
    uint32_t &polls = waits[first].barrier->polls[step.thread(first)];
    suspends = polls++ != 0 || step.machine.random() % 4 != 0;
  } else if (!tries) {
    step.forLanes([&](unsigned lane) {
      suspends |= ++waits[lane].barrier->polls[step.thread(lane)] > kPolls;
    });
  }
  return suspends;
}

/// Now and then, in random schedules, some lanes of a warp time out though the phase is complete: each thread waits for
/// itself, and nothing says that those of a warp hear of it together. (PTX ISA, "mbarrier.try_wait": it may return before
/// the phase completes; what is `.aligned` behind it needs the lanes brought together.)
void WaitOp::timeOut(Step &step, std::array<Wait, kWarpSize> &waits) const {
  constexpr unsigned kOneOf = 3;
  const auto &options = step.machine.options;
  if (!tries || !options.randomSchedule || !options.strictWaits ||
      std::has_single_bit(step.lanes) || step.machine.random() % kOneOf != 0) {
    return;
  }
  const LaneMask late = step.lanes & LaneMask(step.machine.random());
  if (late != step.lanes) {
    step.forLanes([&](unsigned lane) { waits[lane].complete &= !(late >> lane & 1); });
  }
}

/// Those whose phase is complete know what its arrivals knew, and that its asynchronous work is
/// done.
void WaitOp::learn(Step &step, std::array<Wait, kWarpSize> &waits) const {
  LaneMask rest = 0;
  step.forLanes([&](unsigned lane) { rest |= LaneMask(waits[lane].complete) << lane; });
  while (rest) {
    const Wait wait = waits[unsigned(std::countr_zero(rest))];
    LaneMask same = 0;
    for (LaneMask candidates = rest; candidates; candidates &= candidates - 1) {
      unsigned lane = unsigned(std::countr_zero(candidates));
      bool isSame = waits[lane].barrier == wait.barrier && waits[lane].phase == wait.phase;
      same |= LaneMask(isSame) << lane;
    }
    rest &= ~same;
    if (wait.phase < 0) {
      continue; // the phase before the first counts as complete
    }
    MBarrier &barrier = *wait.barrier;
    barrier.waitedPhase = std::max(barrier.waitedPhase, uint32_t(wait.phase) + 1);
    WarpLanes lanes{step.warp.firstThread, same};
    Checker &checker = step.machine.checker;
    bool reachesPeers = scope >= Scope::Cluster || !step.machine.options.strictWaits;
    if (acquires) {
      checker.acquire(lanes, barrier.completed);
      if (reachesPeers) {
        checker.acquire(lanes, barrier.completedOfPeers);
      }
      continue;
    }
    checker.acquireRelaxed(lanes, barrier.completed, Scope::Cta);
    if (reachesPeers) {
      checker.acquireRelaxed(lanes, barrier.completedOfPeers, Scope::Cluster);
    }
    for (; same; same &= same - 1) {
      uint32_t &seen = barrier.seen[step.thread(unsigned(std::countr_zero(same)))];
      seen = std::max(seen, uint32_t(wait.phase) + 1);
    }
  }
}

Outcome WaitOp::operator()(Step &step) const {
  std::array<Wait, kWarpSize> waits;
  bool anyComplete = false;
  step.forLanes([&](unsigned lane) {
    waits[lane] = look(step, lane);
    anyComplete |= waits[lane].complete;
  });
  if (!anyComplete && blocks(step, waits)) {
    unsigned first = unsigned(std::countr_zero(step.lanes));
    step.waitFor([use = target.use(step, first), phase = waits[first].phase] {
      return describeWait(use, phase);
    });
    return Outcome::Blocked;
  }
  timeOut(step, waits);
  step.forLanes([&](unsigned lane) {
    step.set(result, lane, waits[lane].complete);
    if (waits[lane].complete) {
      checkAccess(target.use(step, lane), Access::Read, true);
      waits[lane].barrier->polls.erase(step.thread(lane));
    }
  });
  learn(step, waits);
  return Outcome::Next;
}

Execute decodeWait(Decoder &d, bool tries) {
  WaitOp op;
  op.tries = tries;
  op.parity = d.take("parity");
  Semantics semantics = takeSemantics(d, "acquire");
  op.acquires = !semantics.relaxed;
  op.scope = semantics.scope;
  op.target.form = takeOwnSharedForm(d);
  d.expect("b64");
  op.result = d.destination(0, ptx::Type::Pred);
  op.target.address = d.address(1);
  op.value = d.source(2, op.parity ? ptx::Type::B32 : ptx::Type::B64);
  if (tries && d.numOperands() > 3) {
    d.source(3, ptx::Type::U32); // a hint of how long to suspend
  }
  return op;
}

Execute decodePendingCount(Decoder &d) {
  d.expect("b64");
  Row count = d.destination(0, ptx::Type::U32);
  Row state = d.source(1, ptx::Type::B64);
  return [count, state](Step &step) {
    step.forLanes(
        [&](unsigned lane) { step.set(count, lane, pendingOfState(step.get(state, lane))); });
    return Outcome::Next;
  };
}

} // namespace

Execute decodeMBarrier(Decoder &d) {
  std::string action = d.takeAny();
  if (action == "init") {
    return decodeInit(d);
  }
  if (action == "inval") {
    return decodeInval(d);
  }
  if (action == "expect_tx" || action == "complete_tx") {
    return decodeBytes(d, action == "expect_tx");
  }
  if (action == "arrive" || action == "arrive_drop") {
    return decodeArrive(d, action == "arrive_drop");
  }
  if (action == "test_wait" || action == "try_wait") {
    return decodeWait(d, action == "try_wait");
  }
  if (action == "pending_count") {
    return decodePendingCount(d);
  }
  d.unsupported("modifier `." + action + "`");
}

} // namespace tile_emu
