// What threads and blocks must not leave undone when they end.
#include "Async.h"
#include "MBarrier.h"
#include "Shared.h"

namespace tile_emu {

/// `issuer` has started what is still going on.
static Report exitReport(Step &step, ThreadId issuer, const std::string &message,
                         const ptx::Instruction &cause) {
  Party copy = step.machine.checker.party(issuer, &cause, Access::Read);
  copy.what = opcodeOf(cause);
  copy.asynchronous = true;
  return {
      .kind = Report::Kind::Exit, .message = message, .parties = {std::move(copy)}, .notes = {}};
}

/// Only the thread that has started a copy out of shared memory can wait for it.
static bool checkThread(Step &step, unsigned lane) {
  const ThreadGroups &groups = step.warp.groups[lane];
  if (groups.bulkRead <= groups.bulkReadWaited) {
    return false;
  }
  Report report = exitReport(step, step.thread(lane),
                             "a thread ends while bulk copies that it has started may still read "
                             "the block's shared memory",
                             *groups.bulkReader);
  report.notes.emplace_back(
      "cp.async.bulk.commit_group and .wait_group.read 0 have to come before");
  step.machine.sink.add(std::move(report));
  return true;
}

/// Asynchronous work into the block that no thread of it has waited for.
static bool checkBlock(Step &step) {
  bool any = false;
  for (const auto &[offset, barrier] : step.block.barriers.mbarriers) {
    if (!barrier.unfinished && barrier.workPhase <= barrier.waitedPhase) {
      continue;
    }
    any = true;
    Report report =
        exitReport(step, barrier.worker,
                   "the block ends without having waited for asynchronous work that completes on "
                   "the mbarrier " +
                       describeShared(step.machine, offset),
                   *barrier.work);
    step.machine.sink.add(std::move(report));
  }
  return any;
}

void reportUnfinished(Step &step, ThreadId issuer, const ptx::Instruction &cause) {
  step.machine.sink.add(exitReport(
      step, issuer, "the block ends while asynchronous copies that use its shared memory go on",
      cause));
}

bool checkAsyncAtExit(Step &step, unsigned lane) {
  bool any = checkThread(step, lane);
  if (step.block.running == 0) {
    any |= checkBlock(step);
  }
  return any;
}

} // namespace tile_emu
