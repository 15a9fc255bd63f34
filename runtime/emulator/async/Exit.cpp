// What threads and blocks must not leave undone when they end.
#include "runtime/emulator/async/Async.h"
#include "runtime/emulator/async/MBarrier.h"
#include "runtime/emulator/async/Shared.h"

namespace tile_emu {

static Report exitReport(Step &step, unsigned lane, const std::string &message,
                         const ptx::Instruction &cause) {
  Party copy = step.party(lane, opcodeOf(cause));
  copy.ptxLine = cause.line;
  copy.source = cause.source;
  return {
      .kind = Report::Kind::Exit, .message = message, .parties = {std::move(copy)}, .notes = {}};
}

/// Only the thread that has started a copy out of shared memory can wait for it.
static bool checkThread(Step &step, unsigned lane) {
  const ThreadGroups &groups = step.warp.groups[lane];
  if (groups.bulkRead <= groups.bulkReadWaited) {
    return false;
  }
  Report report = exitReport(step, lane,
                             "a thread ends while bulk copies that it has started may still read "
                             "the block's shared memory",
                             *groups.bulkReader);
  report.notes.push_back("cp.async.bulk.commit_group and .wait_group.read 0 have to come before");
  step.machine.sink.add(std::move(report));
  return true;
}

/// Asynchronous work into the block that no thread of it has waited for.
static bool checkBlock(Step &step, unsigned lane) {
  bool any = false;
  for (const auto &[offset, barrier] : step.block.barriers.mbarriers) {
    if (!barrier.unfinished && barrier.workPhase <= barrier.waitedPhase) {
      continue;
    }
    any = true;
    Report report =
        exitReport(step, lane,
                   "the block ends without having waited for asynchronous work that completes on "
                   "the mbarrier " +
                       describeShared(step.machine, offset),
                   *barrier.work);
    step.machine.sink.add(std::move(report));
  }
  return any;
}

bool checkAsyncAtExit(Step &step, unsigned lane) {
  bool any = checkThread(step, lane);
  if (step.block.running == 0) {
    any |= checkBlock(step, lane);
  }
  return any;
}

} // namespace tile_emu
