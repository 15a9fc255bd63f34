#include "Wgmma.h"

#include <algorithm>

namespace tile_emu {

namespace {
/// Products that one warp may be ahead of another of its warpgroup and still be compared.
constexpr size_t kMaxSequence = 1 << 16;
/// Groups under way whose issuers are remembered.
constexpr size_t kMaxGroups = 1 << 10;
constexpr size_t kMaxPending = 1 << 16;
constexpr const char *kFenceNote = "wgmma.fence has to come between them";

std::string nameOf(Step &step, Row row) { return step.machine.config->code->nameOf(row); }

Party partyOf(Step &step, const ptx::Instruction *instruction, std::string what) {
  Party party = step.party(unsigned(std::countr_zero(step.lanes)), what);
  party.ptxLine = instruction->line;
  party.source = instruction->source;
  return party;
}

void reportBoth(Step &step, std::string message, const ptx::Instruction *other,
                const std::string &here, const std::string &there,
                std::vector<std::string> notes = {}) {
  step.machine.sink.add({.kind = Report::Kind::InFlight,
                         .message = std::move(message),
                         .parties = {partyOf(step, step.op.instruction,
                                             here + " by " + opcodeOf(*step.op.instruction)),
                                     partyOf(step, other, there + " by " + opcodeOf(*other))},
                         .notes = std::move(notes)});
}

std::vector<std::string> waitNote(const WgmmaState &state, const WgmmaState::Use &use) {
  if (use.group == state.openGroup) {
    return {"its group is still open: wgmma.commit_group has not been executed since"};
  }
  return {"wgmma.wait_group " + std::to_string(state.openGroup - 1 - use.group) +
          " or less has to come before"};
}

/// Warp::touched: an ordinary instruction reads or writes a register that wgmma uses.
void touched(Step &step, Row row, Access access) {
  WgmmaState &state = *step.warp.wgmma;
  WgmmaState::Use &use = state.uses[row];
  const ptx::Instruction *instruction = step.op.instruction;
  bool writes = access == Access::Write;
  if (use.group && (writes || use.accumulator)) {
    reportBoth(step,
               nameOf(step, row) + " is " + (writes ? "written" : "read") + " while a wgmma " +
                   (use.accumulator ? "accumulates into it" : "reads it"),
               use.product, writes ? "write" : "read", "use", waitNote(state, use));
  }
  (writes ? use.writtenAfter : use.readAfter) = state.fences;
  (writes ? use.writer : use.reader) = instruction;
}

unsigned firstWarpOfGroup(const Step &step) {
  return step.warp.index / kWarpsOfGroup * kWarpsOfGroup;
}

std::shared_ptr<WgmmaSequence> sequenceOf(Step &step) {
  unsigned first = firstWarpOfGroup(step);
  for (unsigned i = first; i < first + kWarpsOfGroup && i < step.block.warps.size(); ++i) {
    if (const auto &state = step.block.warps[i].wgmma) {
      return state->sequence;
    }
  }
  auto sequence = std::make_shared<WgmmaSequence>();
  sequence->channel = step.machine.checker.newChannel(step.warp.firstThread, "wgmma group");
  return sequence;
}

bool hasEnded(const Warp &warp) { return warp.exited == warp.existing; }
} // namespace

WgmmaState &WgmmaState::of(Step &step) {
  Warp &warp = step.warp;
  if (!warp.wgmma) {
    auto state = std::make_shared<WgmmaState>();
    state->sequence = sequenceOf(step);
    state->channel = step.machine.options.strictWaits
                         ? step.machine.checker.newChannel(step.warp.firstThread, "wgmma group")
                         : state->sequence->channel;
    const Code &code = *step.machine.config->code;
    state->uses.resize(code.numRows);
    warp.wgmma = std::move(state);
    // All registers of products are watched from here on, for accesses without a fence.
    warp.inFlight.resize(code.numRows);
    for (const Op &op : code.ops) {
      if (op.handlesOwnRegisters) {
        for (const std::vector<Row> *rows : {&op.reads, &op.writes}) {
          for (Row row : *rows) {
            warp.inFlight[row] = ~LaneMask(0);
          }
        }
      }
    }
    warp.touched = touched;
  }
  return *warp.wgmma;
}

void WgmmaState::useRegister(Step &step, Row row, bool accumulator, MatrixShape shape) {
  Use &use = uses[row];
  const char *why = accumulator ? "accumulates into it" : "reads it as A";
  const char *before = use.accumulator ? "accumulates into it" : "reads it as A";
  bool sameShape = accumulator && use.accumulator && use.shape == shape;
  bool onlyReads = !accumulator && !use.accumulator;
  if (use.group && !sameShape && !onlyReads) {
    reportBoth(step,
               nameOf(step, row) + " is used by a wgmma while another, of another shape, " + before,
               use.product, "use", "use", waitNote(*this, use));
  } else if (use.usedAfter == fences && !sameShape && !onlyReads) {
    reportBoth(step,
               nameOf(step, row) + " has been used by a wgmma of another shape, which " + before +
                   ", since the last wgmma.fence, and another " + why,
               use.product, "use", "use", {kFenceNote});
  }
  bool written = use.writtenAfter == fences;
  if (written || (accumulator && use.readAfter == fences)) {
    reportBoth(step,
               nameOf(step, row) + " has been " + (written ? "written" : "read") +
                   " since the last wgmma.fence, and a wgmma " + why,
               written ? use.writer : use.reader, "use", written ? "write" : "read", {kFenceNote});
  }
  if (!use.group) {
    inFlight.push_back(row);
  }
  use.accumulator = accumulator || (use.group && use.accumulator);
  use.group = openGroup;
  use.product = step.op.instruction;
  use.shape = shape;
  use.usedAfter = fences;
}

void WgmmaState::agree(Step &step, const WgmmaSequence::Product &product) {
  if (fences == 1) {
    step.report(Report::Kind::InFlight, "there is no wgmma.fence before the first wgmma of a warp");
    fence();
  }
  unsigned firstWarp = firstWarpOfGroup(step);
  if (firstWarp + kWarpsOfGroup > step.block.warps.size()) {
    step.fault(Report::Kind::Invalid,
               "wgmma needs four warps of which the first has a number that is a multiple of 4");
  }
  uint64_t number = issued++;
  for (unsigned i = firstWarp; i < firstWarp + kWarpsOfGroup; ++i) {
    const Warp &other = step.block.warps[i];
    if (hasEnded(other) && (!other.wgmma || other.wgmma->issued <= number)) {
      step.fault(Report::Kind::Invalid, "warp " + std::to_string(i) +
                                            " of the same warpgroup has ended without this wgmma");
    }
  }
  WgmmaSequence &all = *sequence;
  if (number < all.first) {
    return; // too far behind to compare
  }
  if (number == all.first + all.entries.size()) {
    all.entries.push_back({product});
    if (all.entries.size() > kMaxSequence) {
      all.entries.pop_front();
      ++all.first;
    }
  }
  WgmmaSequence::Entry &entry = all.entries[number - all.first];
  if (!(entry.product == product)) {
    bool sameInstruction = entry.product.instruction == product.instruction;
    step.fault(Report::Kind::Invalid,
               sameInstruction
                   ? "the warps of a warpgroup give different descriptors or scale-d"
                   : "the warps of a warpgroup execute different wgmma: another one has executed "
                     "that of line " +
                         std::to_string(entry.product.instruction->line) + " here");
  }
  ++entry.warps;
  while (!all.entries.empty() && all.entries.front().warps == kWarpsOfGroup) {
    all.entries.pop_front();
    ++all.first;
  }
}

void WgmmaState::issue(Step &step) {
  openUsed = true;
  if (step.machine.options.strictWaits) {
    return;
  }
  auto &groups = sequence->groups;
  step.machine.checker.release({step.warp.firstThread, step.lanes}, groups[openGroup].issued);
  if (groups.size() > kMaxGroups) {
    groups.erase(groups.begin());
  }
}

void WgmmaState::commit(Step &step) {
  if (issuedBefore.size() == kMaxPending) {
    step.fault(Report::Kind::Invalid,
               std::to_string(kMaxPending) + " groups have been committed and not waited for");
  }
  ++openGroup; // an empty group counts too
  issuedBefore.push_back(issued);
  openUsed = false;
}

/// Another warp of the warpgroup that has not issued the first `products`.
static const Warp *missingWarp(const Step &step, uint64_t products) {
  unsigned first = firstWarpOfGroup(step);
  for (unsigned i = first; i < first + kWarpsOfGroup && i < step.block.warps.size(); ++i) {
    const Warp &warp = step.block.warps[i];
    if (!warp.wgmma || warp.wgmma->issued < products) {
      return &warp;
    }
  }
  return nullptr;
}

Outcome WgmmaState::wait(Step &step, uint64_t pending) {
  Step32 committed = openGroup - 1;
  if (pending >= committed || committed - pending <= doneGroup) {
    return Outcome::Next;
  }
  Step32 done = Step32(committed - pending);
  uint64_t products = issuedBefore[done - doneGroup - 1];
  const Warp *missing = products ? missingWarp(step, products) : nullptr;
  if (missing) {
    step.waitFor([index = missing->index] {
      return "a wgmma that warp " + std::to_string(index) +
             " of the same warpgroup has not executed yet";
    });
    return Outcome::Blocked;
  }
  issuedBefore.erase(issuedBefore.begin(), issuedBefore.begin() + ptrdiff_t(done - doneGroup));
  WarpLanes lanes{step.warp.firstThread, step.lanes};
  while (doneGroup < done) {
    auto group = sequence->groups.find(++doneGroup);
    if (group != sequence->groups.end()) {
      step.machine.checker.acquire(lanes, group->second.issued);
      if (++group->second.waits == kWarpsOfGroup) {
        sequence->groups.erase(group);
      }
    }
  }
  step.machine.checker.complete(lanes, channel, doneGroup);
  std::erase_if(inFlight, [&](Row row) {
    if (uses[row].group > doneGroup) {
      return false;
    }
    uses[row].group = 0;
    return true;
  });
  return Outcome::Next;
}

void checkWgmmaAtExit(Step &step) {
  const WgmmaState *state = step.warp.wgmma.get();
  if (state && (state->openUsed || state->doneGroup + 1 < state->openGroup)) {
    // Groups without products are harmless.
    if (!state->inFlight.empty()) {
      const WgmmaState::Use &use = state->uses[state->inFlight.back()];
      Report report{.kind = Report::Kind::Exit,
                    .message = "a warp ends while its wgmma are under way",
                    .parties = {partyOf(step, use.product, opcodeOf(*use.product))},
                    .notes = waitNote(*state, use)};
      step.machine.sink.add(std::move(report));
    }
  }
  unsigned first = firstWarpOfGroup(step);
  uint64_t issued = state ? state->issued : 0;
  for (unsigned i = first; i < first + kWarpsOfGroup && i < step.block.warps.size(); ++i) {
    const auto &other = step.block.warps[i].wgmma;
    if (other && other->issued > issued) {
      step.report(Report::Kind::Invalid, "a warp ends after " + std::to_string(issued) +
                                             " wgmma, another one of its "
                                             "warpgroup has executed " +
                                             std::to_string(other->issued));
      return;
    }
  }
}

} // namespace tile_emu
