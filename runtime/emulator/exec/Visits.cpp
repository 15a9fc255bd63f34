#include "Visits.h"

namespace tile_emu {

void Step::noteVisit(Block &target, unsigned lane) {
  if (!machine.options.checkRaces) {
    return;
  }
  ThreadId visitor = thread(lane);
  Visit &visit = target.visits[visitor];
  visit.step = machine.checker.known(visitor, visitor);
  if (visit.party.ptxLine != op.instruction->line) {
    visit.party = party(lane, opcodeOf(*op.instruction));
  }
}

void checkVisits(Step &step, unsigned lane) {
  Block &block = step.block;
  if (block.visits.empty()) {
    return;
  }
  SyncPoint known; // by any thread of the block
  for (const Warp &warp : block.warps) {
    step.machine.checker.release(WarpLanes{warp.firstThread, warp.existing}, known);
  }
  for (const auto &[visitor, visit] : block.visits) {
    if (known.knowledge().happened.of(visitor) >= visit.step) {
      continue;
    }
    step.machine.sink.add(
        {.kind = Report::Kind::Exit,
         .message = "nothing keeps the block from ending before a peer has used its shared memory",
         .parties = {visit.party, step.party(lane, "end of the block")},
         .notes = {"Look for a cluster barrier (barrier.cluster.arrive and .wait) that all threads "
                   "pass before they end."}});
  }
}

} // namespace tile_emu
