// Issue and completion of bulk and tensor copies: what they have in common. PTX ISA, "Data
// Movement and Conversion Instructions: Asynchronous copy", "completion mechanisms".
#pragma once

#include "MBarrier.h"
#include "Shared.h"

namespace tile_emu {

/// Moves the data, and tells the checker of every access, as part of `op`.
using Movement = std::function<void(const AsyncOp &op)>;

/// Work into the shared memory of `to` that completes on an mbarrier with `bytes`.
void issueOnMBarrier(Step &step, unsigned lane, Block &to, const SharedPlace &mbarrier,
                     uint64_t bytes, Movement move);

/// Moves the data of a copy out of shared memory: `read` and `write` are the sides of it.
using OutwardMovement = std::function<void(const AsyncOp &read, const AsyncOp &write)>;

/// Work from the executing block's shared memory in the thread's open bulk group.
void issueInBulkGroup(Step &step, unsigned lane, OutwardMovement move);

/// So much asynchronous work of the block is under way that more has to wait: Outcome::Blocked.
bool isFull(Step &step);

/// `issue(lane)` for the active lanes; Outcome::Blocked if too much work is under way.
template <typename F>
Outcome issueByLane(Step &step, F &&issue) {
  if (isFull(step)) {
    return Outcome::Blocked;
  }
  step.forLanes(issue);
  return Outcome::Next;
}

/// `f(place, mbarrier, isFirst)` for the block at `place`, or, with a mask of ranks (multicast),
/// for the same places in each block of the cluster that it names.
template <typename F>
void forReceivers(Step &step, unsigned lane, std::optional<Row> mask, const SharedPlace &place,
                  const SharedPlace &mbarrier, F &&f) {
  if (!mask) {
    f(place, mbarrier, true);
    return;
  }
  uint64_t ranks = step.get(*mask, lane);
  for (uint64_t rest = ranks; rest; rest &= rest - 1) {
    uint32_t rank = uint32_t(std::countr_zero(rest));
    f(inPeer(step, place, rank, lane), inPeer(step, mbarrier, rank, lane), rest == ranks);
  }
}

/// Fault (Barrier) if an mbarrier lies in what is going to be written.
void checkNoMBarrier(Step &step, const SharedPlace &place, unsigned lane);

/// For cp.async.bulk.commit_group and .wait_group.
Execute decodeBulkCommit(Decoder &d);
Execute decodeBulkWait(Decoder &d);

} // namespace tile_emu
