// cp.async, its groups, and cp.async.mbarrier.arrive: PTX ISA, "cp.async". The copies write
// through the generic proxy, in any order, at any time before they are waited for.
#include "Async.h"
#include "BulkWork.h"
#include "Copies.h"
#include "MBarrier.h"
#include "Shared.h"

#include <algorithm>

namespace tile_emu {

namespace {

/// The copy of one thread.
struct LaneCopy {
  AsyncOp op;
  ThreadGroups *groups = nullptr;
  MemoryRange from, to; ///< from: what is read, may be empty; the rest of `to` is zeros
};

struct CpAsyncOp {
  Decoder::AddressRows to{}, from{};
  unsigned bytes = 0;
  std::optional<Row> sourceBytes, ignore;
  bool ignoreNegated = false;

  Outcome operator()(Step &step) const;

private:
  uint64_t readBytes(Step &step, unsigned lane) const;
  void count(Step &step, const std::vector<LaneCopy> &copies) const;
};

/// Do the bytes hold already what the copy writes? Several threads may copy the same.
bool holdsAlready(const LaneCopy &copy) {
  const uint8_t *at = copy.to.data(), *zeros = at + copy.from.bytes;
  return Checker::isDefined(copy.to) &&
         (copy.from.bytes == 0 ||
          (Checker::isDefined(copy.from) && std::equal(at, zeros, copy.from.data()))) &&
         std::all_of(zeros, at + copy.to.bytes, [](uint8_t byte) { return byte == 0; });
}

void perform(Machine &machine, LaneCopy &copy) {
  if (copy.from.bytes) {
    machine.checker.access(Access::Read, copy.op, Proxy::Generic, copy.from);
  }
  machine.checker.access(Access::Write, copy.op, Proxy::Generic, copy.to,
                         {.unchanged = holdsAlready(copy)});
  MemoryRange filled{copy.to.region, copy.to.offset, copy.from.bytes};
  MemoryRange zeros{copy.to.region, copy.to.offset + copy.from.bytes,
                    copy.to.bytes - copy.from.bytes};
  copyBytes(filled, copy.from);
  fillBytes(zeros, 0);
  copy.groups->copies.finish(copy.op.step);
}

uint64_t CpAsyncOp::readBytes(Step &step, unsigned lane) const {
  if (ignore && (step.get(*ignore, lane) & 1) != ignoreNegated) {
    return 0;
  }
  uint64_t read = sourceBytes ? step.get(*sourceBytes, lane) : bytes;
  if (read > bytes) {
    step.fault(Report::Kind::Invalid,
               "src-size " + std::to_string(read) + " is more than cp-size " +
                   std::to_string(bytes),
               lane);
  }
  return read;
}

void CpAsyncOp::count(Step &step, const std::vector<LaneCopy> &copies) const {
  std::array<uint64_t, kWarpSize> shared, global;
  LaneMask writing = 0, reading = 0;
  for (size_t i = 0; i != copies.size(); ++i) {
    shared[i] = kSharedBase + copies[i].to.offset;
    writing |= LaneMask(1) << i;
    if (copies[i].from.bytes) {
      global[i] = copies[i].from.region->base + copies[i].from.offset;
      reading |= LaneMask(1) << i;
    }
  }
  Profile &profile = step.machine.profile;
  profile.shared(step.op.instruction, shared.data(), writing, bytes);
  if (reading) {
    profile.globalAccess(step.op.instruction, global.data(), reading, bytes);
  }
}

Outcome CpAsyncOp::operator()(Step &step) const {
  if (isFull(step)) {
    return Outcome::Blocked;
  }
  std::vector<LaneCopy> copies;
  step.forLanes([&](unsigned lane) {
    LaneCopy copy;
    copy.to = sharedPlace(step, SharedForm::Cta, to, bytes, bytes, lane).range;
    if (uint64_t read = readBytes(step, lane)) {
      copy.from = step.resolve(ptx::Space::Global, addressOf(step, from, lane), read, bytes, lane);
    }
    if (step.block.barriers.touchesMBarrier(copy.to.offset, bytes)) {
      step.fault(Report::Kind::Barrier, "writes into an mbarrier", lane);
    }
    ThreadGroups &groups = step.warp.groups[lane];
    if (!groups.copyChannel) {
      groups.copyChannel = step.machine.checker.newChannel(step.thread(lane), "cp.async group");
    }
    copy.groups = &groups;
    copy.op = step.machine.checker.issue(step.thread(lane), groups.copyChannel,
                                         groups.copies.open(), step.op.instruction);
    groups.copies.start();
    copies.push_back(std::move(copy));
  });
  if (step.machine.profile.enabled) {
    count(step, copies);
  }
  step.machine.later(
      [&machine = step.machine, copies = std::move(copies)]() mutable {
        for (LaneCopy &copy : copies) {
          perform(machine, copy);
        }
      },
      step.block, step.thread(unsigned(std::countr_zero(step.lanes))), step.op.instruction);
  return Outcome::Next;
}

Execute decodeCopyItself(Decoder &d) {
  bool bypasses = d.take("cg");
  if (!bypasses) {
    d.expect("ca");
  }
  if (!d.takeOneOf({"shared", "shared::cta"})) {
    d.unsupported("destination `." + std::string(d.peek()) + "`");
  }
  d.expect("global");
  bool hasPolicy = false;
  while (std::optional<unsigned> hint =
             d.takeOneOf({"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"})) {
    hasPolicy |= *hint == 0;
  }
  if (hasPolicy) {
    // Measured: test/ptx/faults/cp_async_policy_*.ptx, docs/performance.md. Which form of address
    // ptxas chooses is not to be seen here. Bulk copies, ld and st take policies.
    d.invalid("of cp.async with a cache policy ptxas makes code that an H200 may end with an "
              "illegal instruction, though PTX documents it");
  }
  CpAsyncOp op;
  op.to = d.address(0);
  op.from = d.address(1);
  int64_t bytes = d.immediate(2);
  if (bytes != 16 && (bypasses || (bytes != 4 && bytes != 8))) {
    d.invalid(bypasses ? "cp-size must be 16" : "cp-size must be 4, 8 or 16");
  }
  op.bytes = unsigned(bytes);
  if (d.numOperands() > 3) {
    const ptx::Operand &operand = d.operand(3);
    if (d.registerType(operand) == ptx::Type::Pred) {
      op.ignore = d.source(operand, ptx::Type::Pred, &op.ignoreNegated);
    } else {
      op.sourceBytes = d.source(operand, ptx::Type::U32);
    }
  }
  return op;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void commit(Step &step) {
  step.forLanes([&](unsigned lane) { step.warp.groups[lane].copies.commit(); });
}

/// At most `pending` of the committed groups may be left.
Outcome waitForGroups(Step &step, uint64_t pending) {
  bool done = true;
  step.forLanes([&](unsigned lane) {
    const AsyncGroups &copies = step.warp.groups[lane].copies;
    done &= copies.done(copies.segmentBefore(pending));
  });
  if (!done) {
    step.waitFor([] { return std::string("copies by cp.async"); });
    return Outcome::Blocked;
  }
  step.forLanes([&](unsigned lane) {
    ThreadGroups &groups = step.warp.groups[lane];
    Step32 segment = groups.copies.segmentBefore(pending);
    if (groups.copyChannel && segment) {
      step.machine.checker.complete(step.thread(lane), groups.copyChannel, segment);
      groups.copies.forget(segment);
    }
  });
  return Outcome::Next;
}

Execute decodeWaitGroup(Decoder &d) {
  int64_t pending = d.immediate(0);
  if (pending < 0) {
    d.invalid("the number of groups must not be negative");
  }
  return [pending](Step &step) { return waitForGroups(step, uint64_t(pending)); };
}

/// All that the thread has started is waited for, in a group or not.
Outcome waitForAll(Step &step) {
  bool done = true;
  step.forLanes([&](unsigned lane) {
    const AsyncGroups &copies = step.warp.groups[lane].copies;
    done &= copies.done(copies.open());
  });
  if (!done) {
    step.waitFor([] { return std::string("copies by cp.async"); });
    return Outcome::Blocked;
  }
  commit(step);
  return waitForGroups(step, 0);
}

//===----------------------------------------------------------------------===//
// cp.async.mbarrier.arrive
//===----------------------------------------------------------------------===//

/// Arrives once all copies that the thread has started before are done.
void arriveWhenDone(const MBarrierUse &use, ThreadGroups &groups, Step32 segment, Block &block) {
  if (groups.copies.done(segment)) {
    arriveWithChannel(use, groups.copyChannel, segment);
    return;
  }
  use.machine.later(
      [use, &groups, segment, &block] { arriveWhenDone(use, groups, segment, block); }, block,
      use.thread, use.instruction);
}

Execute decodeMBarrierArrive(Decoder &d) {
  d.expect("arrive");
  bool isExpected = d.take("noinc");
  SharedForm form = takeOwnSharedForm(d);
  d.expect("b64");
  Decoder::AddressRows address = d.address(0);
  return [=](Step &step) {
    step.forLanes([&](unsigned lane) {
      SharedPlace place = sharedPlace(step, form, address, 8, 8, lane);
      MBarrierUse use{step.machine, *place.block, place.range.offset, step.thread(lane),
                      step.op.instruction};
      use.find();
      step.machine.checker.access(Access::Write, use.thread, place.range, {.atomic = true},
                                  use.instruction);
      if (!isExpected) {
        expectArrival(use);
      }
      ThreadGroups &groups = step.warp.groups[lane];
      if (!groups.copyChannel) {
        groups.copyChannel = step.machine.checker.newChannel(use.thread, "cp.async group");
      }
      arriveWhenDone(use, groups, groups.copies.mark(), step.block);
    });
    return Outcome::Next;
  };
}

} // namespace

Execute decodeCpAsync(Decoder &d) {
  if (d.take("commit_group")) {
    return [](Step &step) {
      commit(step);
      return Outcome::Next;
    };
  }
  if (d.take("wait_group")) {
    return decodeWaitGroup(d);
  }
  if (d.take("wait_all")) {
    return waitForAll;
  }
  if (d.take("mbarrier")) {
    return decodeMBarrierArrive(d);
  }
  return decodeCopyItself(d);
}

} // namespace tile_emu
