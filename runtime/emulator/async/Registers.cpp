// setmaxnreg and griddepcontrol: PTX ISA, "Miscellaneous Instructions", "griddepcontrol".
#include "Async.h"
#include "Shared.h"

#include <algorithm>

namespace tile_emu {

static constexpr uint32_t kRegistersPerSM = 65536, kRegisterUnit = 8, kMaxPerThread = 255;
static constexpr size_t kWarpsPerGroup = 4;

/// Registers per thread at entry: as many as the block's threads leave, which is what ptxas gives
/// to kernels that use setmaxnreg.
static uint32_t entryRegisters(const Block &block) {
  uint32_t threads = uint32_t(block.warps.size()) * kWarpSize;
  uint32_t share = kRegistersPerSM / std::max(threads, kWarpSize) / kRegisterUnit * kRegisterUnit;
  return std::min(share, (kMaxPerThread + 1) / kRegisterUnit * kRegisterUnit);
}

/// Registers of the block's pool that no running warp has, per thread of a warp.
static int64_t freeRegisters(const Block &block) {
  int64_t free = int64_t(entryRegisters(block)) * int64_t(block.warps.size());
  for (const Warp &warp : block.warps) {
    if (liveLanes(warp)) {
      free -= block.barriers.registersPerThread[warp.index];
    }
  }
  return free;
}

/// The n-th setmaxnreg of every warp of a warpgroup must be the same instruction.
static void checkGroup(Step &step) {
  auto &changes = step.block.barriers.registerChanges;
  size_t mine = step.warp.index, group = mine / kWarpsPerGroup * kWarpsPerGroup;
  size_t n = changes[mine].size();
  if (group + kWarpsPerGroup > step.block.warps.size()) {
    step.fault(Report::Kind::Invalid, "the warp belongs to no whole warpgroup");
  }
  for (size_t other = group; other != group + kWarpsPerGroup; ++other) {
    if (changes[other].size() > n && changes[other][n] != step.op.instruction) {
      step.fault(Report::Kind::Invalid,
                 "warp " + std::to_string(other) +
                     " of the same warpgroup has executed setmaxnreg in line " +
                     std::to_string(changes[other][n]->line) + " instead");
    }
  }
}

static Outcome setRegisters(Step &step, bool increases, uint32_t registers) {
  BlockBarriers &state = step.block.barriers;
  if (state.registersPerThread.empty()) {
    state.registersPerThread.assign(step.block.warps.size(), entryRegisters(step.block));
    state.registerChanges.resize(step.block.warps.size());
  }
  checkGroup(step);
  uint32_t &current = state.registersPerThread[step.warp.index];
  if (increases ? registers < current : registers > current) {
    step.fault(Report::Kind::Invalid, "the warp has " + std::to_string(current) +
                                          " registers per thread, which this does not " +
                                          (increases ? "increase" : "decrease"));
  }
  if (increases && freeRegisters(step.block) < int64_t(registers) - int64_t(current)) {
    step.waitFor([&block = step.block, registers, current] {
      return "registers: " + std::to_string(registers) + " per thread instead of " +
             std::to_string(current) + ", of " +
             std::to_string(entryRegisters(block) * block.warps.size()) +
             " that the warps share; " + std::to_string(freeRegisters(block)) + " are free";
    });
    return Outcome::Blocked;
  }
  current = registers;
  state.registerChanges[step.warp.index].push_back(step.op.instruction);
  return Outcome::Next;
}

void checkRegistersAtExit(Step &step) {
  const auto &changes = step.block.barriers.registerChanges;
  size_t first = step.warp.index / kWarpsPerGroup * kWarpsPerGroup;
  if (changes.empty() || first + kWarpsPerGroup > changes.size()) {
    return;
  }
  const ptx::Instruction *missed = nullptr;
  size_t most = 0;
  for (size_t i = first; i != first + kWarpsPerGroup; ++i) {
    const Warp &warp = step.block.warps[i];
    if (warp.exited != warp.existing) {
      return; // the last one looks
    }
    most = std::max(most, changes[i].size());
  }
  for (size_t i = first; i != first + kWarpsPerGroup; ++i) {
    for (size_t other = first; other != first + kWarpsPerGroup && changes[i].size() < most;
         ++other) {
      if (changes[other].size() == most) {
        missed = changes[other][changes[i].size()];
        Party party = step.party(kWarpSize, opcodeOf(*missed));
        party.ptxLine = missed->line;
        party.source = missed->source;
        party.thread.thread = step.block.threadIndex(uint32_t(other * kWarpSize));
        step.machine.sink.add({.kind = Report::Kind::Invalid,
                               .message = "warp " + std::to_string(i) +
                                          " of the same warpgroup has not executed this: all four "
                                          "warps must",
                               .parties = {std::move(party)},
                               .notes = {}});
        return;
      }
    }
  }
}

Execute decodeSetMaxRegisters(Decoder &d) {
  bool increases = d.take("inc");
  if (!increases) {
    d.expect("dec");
  }
  d.expect("sync");
  d.expect("aligned");
  d.expect("u32");
  int64_t registers = d.immediate(0);
  if (registers < 24 || registers > 256 || registers % kRegisterUnit) {
    d.invalid("the number of registers must be a multiple of 8 from 24 to 256");
  }
  d.op.together = Together::Warp;
  return [increases, registers = uint32_t(registers)](Step &step) {
    return setRegisters(step, increases, registers);
  };
}

/// Grids run one after the other here, so that there is nothing to wait for; what a thread does before it has waited is held
/// against the launches before all the same. These may be run into whether or not they say that they may: who says nothing has
/// said it by ending, and only a wait makes visible what was written.
Execute decodeGridControl(Decoder &d) {
  if (d.take("launch_dependents")) {
    return [](Step &) { return Outcome::Next; };
  }
  if (!d.take("wait")) {
    d.unsupported("modifier `." + std::string(d.peek()) + "`");
  }
  return [](Step &step) {
    step.machine.checker.waitForLaunches({step.warp.firstThread, step.lanes});
    return Outcome::Next;
  };
}

} // namespace tile_emu
