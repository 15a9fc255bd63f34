// A warp's turn. Lanes that are at the same instruction form a path and execute together. The path
// that is furthest behind in the program goes first, so that paths meet again after a branch; from
// time to time another one does, so that none starves while it is waited for. PTX ISA, "SIMT
// Architecture" (independent thread scheduling).
#include "Scheduler.h"
#include "Text.h"

#include <map>

namespace tile_emu {

static constexpr unsigned kRotateEvery = 8; ///< turns

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// The path to go on with: that of `preferredLane` if that can, else the first in the program.
Path *Machine::Scheduler::select(Warp &warp, unsigned preferredLane) {
  Path *best = nullptr;
  for (Path &path : warp.paths) {
    if (path.blocked) {
      continue;
    }
    if (preferredLane < kWarpSize && path.lanes >> preferredLane & 1) {
      return &path;
    }
    if (!best || path.pc < best->pc) {
      best = &path;
    }
  }
  return best;
}

static void erase(Warp &warp, Path &path) {
  if (&path != &warp.paths.back()) {
    path = std::move(warp.paths.back());
  }
  warp.paths.pop_back();
}

/// Lanes that are not in any path arrive at an instruction.
static void arrive(Warp &warp, LaneMask lanes, uint32_t pc) {
  if (!lanes) {
    return;
  }
  for (Path &path : warp.paths) {
    if (path.pc == pc) {
      path.lanes |= lanes;
      path.blocked = false;
      return;
    }
  }
  warp.paths.push_back(
      {.pc = pc, .lanes = lanes, .blocked = false, .gathering = false, .waiting = {}});
}

/// Lanes go from one instruction to another: maybe to another round of a loop, or out of it.
static void countRounds(const Code &code, Warp &warp, uint32_t from, uint32_t target,
                        LaneMask lanes) {
  for (uint32_t number : code.loopsAround(from)) {
    const Code::Loop &loop = code.loops()[number];
    warp.rounds.resize(code.loops().size());
    if (target != loop.head && loop.body[target]) {
      continue;
    }
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      uint32_t &round = warp.rounds[number][unsigned(std::countr_zero(rest))];
      round = target == loop.head ? round + 1 : 0;
    }
  }
}

/// Some lanes of a path go to the next instruction.
void Machine::Scheduler::moveOn(Warp &warp, Path &path, LaneMask lanes) {
  uint32_t pc = path.pc + 1;
  countRounds(*machine.config->code, warp, path.pc, pc, lanes);
  if (lanes == path.lanes && warp.paths.size() == 1) {
    path.pc = pc;
    return;
  }
  path.lanes &= ~lanes;
  if (!path.lanes) {
    erase(warp, path);
  }
  arrive(warp, lanes, pc);
}

/// Lanes of a path take different ways. Only those that are in the same round of each loop are at
/// the same execution of the branch: others have run ahead, as threads may, and could all go the
/// same way each time.
void Machine::Scheduler::noteDivergence(Warp &warp, const Path &path, const Step &step,
                                        LaneMask onward) {
  const LaneMask jumped = step.jumped & ~warp.exited, all = onward | jumped;
  auto wayOf = [&](unsigned lane) { return jumped >> lane & 1 ? step.targets[lane] : path.pc + 1; };
  LaneMask others = 0;
  for (LaneMask rest = all; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    others |= wayOf(lane) == wayOf(unsigned(std::countr_zero(all))) ? 0 : LaneMask(1) << lane;
  }
  if (!others) {
    return;
  }
  const Code &code = *machine.config->code;
  warp.rounds.resize(code.loops().size());
  std::map<std::vector<uint32_t>, std::map<uint32_t, LaneMask>> executions;
  for (LaneMask rest = all; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    std::vector<uint32_t> rounds;
    for (uint32_t loop : code.loopsAround(path.pc)) {
      rounds.push_back(warp.rounds[loop][lane]);
    }
    executions[rounds][wayOf(lane)] |= LaneMask(1) << lane;
  }
  for (const auto &[rounds, ways] : executions) {
    if (ways.size() < 2) {
      continue;
    }
    Divergence divergence;
    divergence.meetingPoint = code.meetingPoint(path.pc);
    for (auto [target, lanes] : ways) {
      divergence.ways.push_back(lanes);
      divergence.lanes |= lanes;
    }
    divergence.inside = divergence.lanes;
    warp.divergences.push_back(std::move(divergence));
  }
}

/// Lanes are where branches meet that they have taken.
static void meet(Warp &warp, const Path &path) {
  std::erase_if(warp.divergences, [&](Divergence &divergence) {
    if (divergence.meetingPoint == path.pc) {
      divergence.inside &= ~path.lanes;
    }
    return (divergence.inside & ~warp.exited) == 0;
  });
}

void Machine::Scheduler::jump(Warp &warp, Path &path, const Step &step, LaneMask inactive) {
  const Code &code = *machine.config->code;
  uint32_t branch = path.pc, next = path.pc + 1;
  LaneMask onward = inactive | (step.lanes & ~step.jumped & ~warp.exited);
  noteDivergence(warp, path, step, onward);
  LaneMask leaving = inactive | step.lanes, rest = step.jumped & ~warp.exited;
  path.lanes &= ~leaving;
  if (!path.lanes) {
    erase(warp, path);
  }
  while (rest) {
    uint32_t target = step.targets[unsigned(std::countr_zero(rest))];
    LaneMask same = 0;
    for (LaneMask m = rest; m; m &= m - 1) {
      unsigned lane = unsigned(std::countr_zero(m));
      same |= step.targets[lane] == target ? LaneMask(1) << lane : 0;
    }
    countRounds(code, warp, branch, target, same);
    arrive(warp, same, target);
    rest &= ~same;
  }
  countRounds(code, warp, branch, next, onward);
  arrive(warp, onward, next);
}

/// The active lanes stay; those that the guard turned off need not wait with them.
void Machine::Scheduler::wait(Warp &warp, Path &path, LaneMask active,
                              std::function<std::string()> waiting, bool gathering) {
  path.blocked = true;
  path.gathering = gathering;
  path.waiting = std::move(waiting);
  if (LaneMask inactive = path.lanes & ~active) {
    path.lanes = active;
    countRounds(*machine.config->code, warp, path.pc, path.pc + 1, inactive);
    arrive(warp, inactive, path.pc + 1);
  }
}

//===----------------------------------------------------------------------===//
// One instruction
//===----------------------------------------------------------------------===//

/// "lane 0", "lanes 0x3f"
static std::string lanesText(LaneMask lanes) {
  return std::popcount(lanes) == 1 ? textOf("lane ", std::countr_zero(lanes))
                                   : "lanes " + hexOf(lanes);
}

static std::string registerName(const Step &step, Row row) {
  std::string name = step.machine.config->code->nameOf(row);
  return name.empty() ? "an operand" : name;
}

static void reportUndefined(Step &step, Row row, LaneMask lanes) {
  step.report(Report::Kind::Uninitialised,
              registerName(step, row) +
                  " was never written, or computed from what was never written",
              unsigned(std::countr_zero(lanes)));
}

/// Lanes in which the guard holds.
static LaneMask guarded(Machine &machine, Block &block, Warp &warp, const Op &op, LaneMask lanes) {
  if (!op.guard) {
    return lanes;
  }
  const uint64_t *values = warp.registers.data() + size_t(*op.guard) * kWarpSize;
  LaneMask set = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    set |= LaneMask(values[lane] & 1) << lane;
  }
  if (LaneMask undefined = lanes & ~warp.defined[*op.guard]) {
    Step step(machine, block, warp, op, lanes);
    reportUndefined(step, *op.guard, undefined);
  }
  return lanes & (op.guardNegated ? ~set : set);
}

/// A branch at which two groups of lanes have taken different ways, and the first has not come yet
/// to where these meet: one for which `holds`, or null.
template <typename F>
static const Divergence *branchBetween(const Warp &warp, LaneMask inside, LaneMask others,
                                       F &&holds) {
  for (const Divergence &divergence : warp.divergences) {
    for (LaneMask way : divergence.ways) {
      if ((inside & divergence.inside & way) && (others & divergence.lanes & ~way) &&
          holds(divergence)) {
        return &divergence;
      }
    }
  }
  return nullptr;
}

/// Threads of a warp that took different ways at a branch count as together again where these meet,
/// as assemblers arrange it; what is `.aligned` must not come before. (PTX ISA, "barrier": in
/// conditionally executed code only if all threads take the same way.)
void Machine::Scheduler::checkConverged(Block &block, Warp &warp, const Path &path, const Op &op,
                                        LaneMask active) {
  const Code &code = *machine.config->code;
  auto check = [&](LaneMask lanes, uint32_t pc, bool skip) {
    auto always = [](const Divergence &) { return true; };
    auto waits = [&](const Divergence &divergence) {
      return code.mayWaitBefore(pc, divergence.meetingPoint);
    };
    const char *how = skip || branchBetween(warp, active, lanes, always)
                          ? " have not taken the way to it"
                      : machine.options.strictWaits && branchBetween(warp, lanes, active, waits)
                          ? " may still wait for an mbarrier, alone"
                          : nullptr;
    if (!lanes || !how) {
      return;
    }
    Step step(machine, block, warp, op, active);
    Report report{
        .kind = Report::Kind::Divergence,
        .message = "all threads of the warp must execute this together (`.aligned`), and " +
                   lanesText(lanes) + how,
        .parties = {step.party(unsigned(std::countr_zero(active)), opcodeOf(*op.instruction))},
        .notes = {"they are at PTX line " + std::to_string(code.ops[pc].instruction->line)}};
    machine.sink.add(std::move(report));
  };
  for (const Path &other : warp.paths) {
    if (&other != &path) {
      check(other.lanes, other.pc, false);
    }
  }
  check(path.lanes & ~active, path.pc + 1, true);
}

/// Of the active lanes those that can execute a collective instruction now; 0: others are missing.
LaneMask Machine::Scheduler::gather(Block &block, Warp &warp, Path &path, const Op &op,
                                    LaneMask active) {
  LaneMask alive = warp.existing & ~warp.exited;
  if (op.together == Together::Warp) {
    if (active == alive) {
      return active;
    }
    checkConverged(block, warp, path, op, active);
    auto waiting = [missing = alive & ~active] {
      return lanesText(missing) + " of the warp, which have to execute it too (`.aligned`)";
    };
    wait(warp, path, active, waiting, /*gathering=*/true);
    return 0;
  }
  const uint64_t *masks = warp.registers.data() + size_t(op.memberMask) * kWarpSize;
  if (LaneMask undefined = active & ~warp.defined[op.memberMask]) {
    Step(machine, block, warp, op, active)
        .fault(Report::Kind::Uninitialised, "the mask of lanes was never written",
               unsigned(std::countr_zero(undefined)));
  }
  LaneMask missing = 0;
  for (LaneMask rest = active; rest;) {
    unsigned first = unsigned(std::countr_zero(rest));
    LaneMask mask = LaneMask(masks[first]), same = 0;
    for (LaneMask m = rest; m; m &= m - 1) {
      unsigned lane = unsigned(std::countr_zero(m));
      same |= LaneMask(masks[lane]) == mask ? LaneMask(1) << lane : 0;
    }
    if (same & ~mask) {
      Step(machine, block, warp, op, active)
          .fault(Report::Kind::Invalid,
                 textOf("lane ", std::countr_zero(same & ~mask),
                        " executes it and is not in its mask ", hexOf(mask)),
                 unsigned(std::countr_zero(same & ~mask)));
    }
    if ((mask & alive) == same) {
      return same;
    }
    missing |= mask & alive & ~same;
    rest &= ~same;
  }
  auto waiting = [missing] { return lanesText(missing) + " of the warp, which are in the mask"; };
  wait(warp, path, active, waiting, /*gathering=*/true);
  return 0;
}

/// Lanes whose inputs are undefined, where that passes on to all of the results; else it is
/// reported.
static LaneMask checkInputs(Step &step) {
  const Op &op = step.op;
  Warp &warp = step.warp;
  if (op.handlesOwnRegisters) {
    return 0;
  }
  LaneMask undefined = 0;
  for (Row row : op.reads) {
    LaneMask missing = step.lanes & ~warp.defined[row];
    if (!missing || op.tracksUndefined) {
      continue;
    }
    if (op.propagatesUndefined) {
      undefined |= missing;
    } else {
      reportUndefined(step, row, missing);
    }
  }
  if (undefined && op.undefinedResults) {
    for (LaneMask rest = undefined; rest; rest &= rest - 1) {
      op.undefinedResults(step, unsigned(std::countr_zero(rest)));
    }
    undefined = 0;
  }
  if (!warp.inFlight.empty()) {
    for (Row row : op.reads) {
      if (warp.inFlight[row] & step.lanes) {
        warp.touched(step, row, Access::Read);
      }
    }
    for (Row row : op.writes) {
      if (warp.inFlight[row] & step.lanes) {
        warp.touched(step, row, Access::Write);
      }
    }
  }
  return undefined;
}

static void settleOutputs(Step &step, LaneMask undefined) {
  Warp &warp = step.warp;
  if (!step.op.handlesOwnRegisters) {
    for (Row row : step.op.writes) {
      warp.defined[row] |= step.lanes;
      if (undefined) {
        warp.undefineAll(row, undefined);
      }
      warp.writtenAt[row] = warp.steps;
    }
  }
  for (auto [row, lane, bits] : step.undefined) {
    warp.undefine(row, lane, bits);
  }
}

/// True if some lanes of the path went on.
bool Machine::Scheduler::execute(Block &block, Warp &warp, Path &path) {
  const Op &op = machine.config->code->ops[path.pc];
  if (!warp.divergences.empty()) {
    meet(warp, path);
  }
  LaneMask lanes = path.lanes, active = guarded(machine, block, warp, op, lanes), ready = active;
  if (!active) {
    moveOn(warp, path, lanes);
    return true;
  }
  if (op.together != Together::No) {
    ready = gather(block, warp, path, op, active);
    if (!ready) {
      return active != lanes;
    }
  }
  if (op.settlesArrivals) {
    deliverAll(warp);
  }
  Step step(machine, block, warp, op, ready);
  LaneMask undefined = checkInputs(step), inactive = lanes & ~active;
  switch (op.execute(step)) {
  case Outcome::Blocked:
    wait(warp, path, active, std::move(step.waiting));
    return inactive != 0;
  case Outcome::Next:
    settleOutputs(step, undefined);
    moveOn(warp, path, inactive | ready);
    break;
  case Outcome::Jumped:
    settleOutputs(step, undefined);
    jump(warp, path, step, inactive);
    break;
  }
  ++warp.steps;
  if (machine.profile.enabled && op.instruction) {
    machine.profile.executed(op.instruction, unsigned(std::popcount(ready)));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Turn
//===----------------------------------------------------------------------===//

[[noreturn]] static void outOfBudget(Machine &machine, Block &block, Warp &warp) {
  const Path &path = warp.paths.front();
  Step(machine, block, warp, machine.config->code->ops[path.pc], path.lanes)
      .fault(Report::Kind::Budget, textOf("the launch takes more than ", machine.options.stepBudget,
                                          " instructions; this one was next"));
}

/// True if any of its lanes went on.
bool Machine::Scheduler::turn(Block &block, Warp &warp, unsigned quantum) {
  if (warp.paths.empty()) {
    return false;
  }
  ++warp.turns;
  unsigned preferredLane = kWarpSize;
  size_t numPaths = warp.paths.size();
  if (numPaths > 1) {
    if (machine.options.randomSchedule) {
      if (machine.random() % 4 == 0) {
        preferredLane = unsigned(std::countr_zero(warp.paths[machine.random() % numPaths].lanes));
      }
    } else if (warp.turns % kRotateEvery == 0) {
      preferredLane =
          unsigned(std::countr_zero(warp.paths[warp.turns / kRotateEvery % numPaths].lanes));
    }
  }
  for (Path &path : warp.paths) {
    path.blocked = false;
  }
  bool moved = false;
  for (unsigned n = 0; n < quantum;) {
    Path *path = select(warp, preferredLane);
    if (!path) {
      break;
    }
    if (execute(block, warp, *path)) {
      moved = true;
      ++n;
      if (++machine.steps > machine.options.stepBudget && !warp.paths.empty()) {
        outOfBudget(machine, block, warp);
      }
    }
  }
  return moved;
}

} // namespace tile_emu
