#include "BulkWork.h"

#include "Async.h"

#include <algorithm>

namespace tile_emu {

bool isFull(Step &step) {
  constexpr int kMost = 256;
  if (step.block.pendingAsync < kMost) {
    return false;
  }
  step.waitFor([] { return std::string("asynchronous copies to make place for another"); });
  return true;
}

void checkNoMBarrier(Step &step, const SharedPlace &place, unsigned lane) {
  if (place.block->barriers.touchesMBarrier(place.range.offset, place.range.bytes)) {
    step.fault(Report::Kind::Barrier,
               "the copy to " + describeShared(step.machine, place.range.offset) +
                   " overwrites an mbarrier",
               lane);
  }
}

void issueOnMBarrier(Step &step, unsigned lane, Block &to, const SharedPlace &mbarrier,
                     uint64_t bytes, Movement move) {
  MBarrierUse use{step.machine, *mbarrier.block, mbarrier.range.offset, step.thread(lane),
                  step.op.instruction};
  AsyncOp op =
      step.machine.checker.issue(step.thread(lane), use.find().channel, 0, step.op.instruction);
  announceWork(use, op);
  step.machine.later(
      [use, op = std::move(op), bytes, move = std::move(move)]() mutable {
        joinPhase(use, op);
        move(op);
        completeBytes(use, bytes);
      },
      to, step.thread(lane), step.op.instruction);
}

void issueInBulkGroup(Step &step, unsigned lane, OutwardMovement move) {
  ThreadGroups &groups = step.warp.groups[lane];
  Checker &checker = step.machine.checker;
  ThreadId thread = step.thread(lane);
  if (!groups.bulkReadChannel) {
    groups.bulkReadChannel = checker.newChannel(thread, "bulk group (reads)");
    groups.bulkWriteChannel = checker.newChannel(thread, "bulk group");
  }
  Step32 segment = groups.bulk.open();
  groups.bulk.start();
  groups.bulkRead = segment;
  groups.bulkReader = step.op.instruction;
  AsyncOp read = checker.issue(thread, groups.bulkReadChannel, segment, step.op.instruction);
  AsyncOp write = checker.issue(thread, groups.bulkWriteChannel, segment, step.op.instruction);
  step.machine.later(
      [&groups, segment, read = std::move(read), write = std::move(write), move = std::move(move)] {
        move(read, write);
        groups.bulk.finish(segment);
      },
      step.block, step.thread(lane), step.op.instruction);
}

Execute decodeBulkCommit(Decoder &) {
  return [](Step &step) {
    step.forLanes([&](unsigned lane) { step.warp.groups[lane].bulk.commit(); });
    return Outcome::Next;
  };
}

static void learnBulk(Step &step, unsigned lane, uint64_t pending, bool readsOnly) {
  ThreadGroups &groups = step.warp.groups[lane];
  Step32 segment = groups.bulk.segmentBefore(pending);
  if (!groups.bulkReadChannel || !segment) {
    return;
  }
  step.machine.checker.complete(step.thread(lane), groups.bulkReadChannel, segment);
  groups.bulkReadWaited = std::max(groups.bulkReadWaited, segment);
  if (!readsOnly) {
    step.machine.checker.complete(step.thread(lane), groups.bulkWriteChannel, segment);
    groups.bulk.forget(segment);
  }
}

Execute decodeBulkWait(Decoder &d) {
  bool readsOnly = d.take("read");
  int64_t pending = d.immediate(0);
  if (pending < 0) {
    d.invalid("the number of groups must not be negative");
  }
  return [readsOnly, pending = uint64_t(pending)](Step &step) {
    bool done = true;
    step.forLanes([&](unsigned lane) {
      const AsyncGroups &bulk = step.warp.groups[lane].bulk;
      done &= bulk.done(bulk.segmentBefore(pending));
    });
    if (!done) {
      step.waitFor([] { return std::string("bulk copies out of shared memory"); });
      return Outcome::Blocked;
    }
    step.forLanes([&](unsigned lane) { learnBulk(step, lane, pending, readsOnly); });
    return Outcome::Next;
  };
}

} // namespace tile_emu
