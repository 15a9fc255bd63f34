// cp.async.bulk and cp.reduce.async.bulk without a tensor map, and the prefetch: PTX ISA,
// "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.prefetch". Addresses and sizes are
// multiples of 16.
#include "Async.h"
#include "BulkWork.h"
#include "Copies.h"
#include "Reduction.h"

namespace tile_emu {

namespace {

constexpr unsigned kUnit = 16; ///< bytes

uint64_t sizeOf(Step &step, Row size, unsigned lane) {
  uint64_t bytes = step.get(size, lane);
  if (bytes % kUnit) {
    step.fault(Report::Kind::Misaligned,
               "the size of a bulk copy must be a multiple of 16, not " + std::to_string(bytes),
               lane);
  }
  return bytes;
}

MemoryRange globalRange(Step &step, Decoder::AddressRows address, uint64_t bytes, unsigned lane) {
  return step.resolve(ptx::Space::Global, addressOf(step, address, lane), bytes, kUnit, lane);
}

/// Takes `.L2::cache_hint`.
bool takePolicy(Decoder &d) { return d.take("L2::cache_hint"); }

//===----------------------------------------------------------------------===//
// Into shared memory, completing on an mbarrier
//===----------------------------------------------------------------------===//

struct BulkLoad {
  SharedForm form = SharedForm::Cluster, sourceForm = SharedForm::Cta;
  bool fromGlobal = true;
  std::optional<Reduction> reduction; ///< from shared memory
  Decoder::AddressRows to{}, from{}, mbarrier{};
  Row size = 0;
  std::optional<Row> mask; ///< of the blocks that receive: multicast

  Outcome operator()(Step &step) const {
    return issueByLane(step, [&](unsigned lane) { issue(step, lane); });
  }

private:
  void issue(Step &step, unsigned lane) const;
  void issueTo(Step &step, unsigned lane, const SharedPlace &place, const SharedPlace &barrier,
               const MemoryRange &source, bool tellsOfSource) const;
};

void BulkLoad::issueTo(Step &step, unsigned lane, const SharedPlace &place,
                       const SharedPlace &barrier, const MemoryRange &source,
                       bool tellsOfSource) const {
  checkNoMBarrier(step, place, lane);
  issueOnMBarrier(step, lane, *place.block, barrier, source.bytes,
                  [&machine = step.machine, to = place.range, source, tellsOfSource,
                   reduction = reduction](const AsyncOp &op) {
                    if (source.bytes == 0) {
                      return;
                    }
                    if (tellsOfSource) {
                      machine.checker.access(Access::Read, op, Proxy::Async, source);
                    }
                    machine.checker.access(Access::Write, op, Proxy::Async, to, flagsOf(reduction));
                    if (reduction) {
                      reduceInto(to, source, *reduction);
                    } else {
                      copyBytes(to, source);
                    }
                  });
}

void BulkLoad::issue(Step &step, unsigned lane) const {
  uint64_t bytes = sizeOf(step, size, lane);
  SharedPlace place = sharedPlace(step, form, to, bytes, kUnit, lane);
  SharedPlace barrier = sharedPlace(step, form, mbarrier, 8, 8, lane);
  MemoryRange source = fromGlobal ? globalRange(step, from, bytes, lane)
                                  : sharedPlace(step, sourceForm, from, bytes, kUnit, lane).range;
  step.machine.profile.bulk(step.op.instruction, bytes);
  forReceivers(step, lane, mask, place, barrier,
               [&](const SharedPlace &to, const SharedPlace &counts, bool isFirst) {
                 issueTo(step, lane, to, counts, source, isFirst);
               });
}

/// After `cp.async.bulk` or `cp.reduce.async.bulk` and the destination.
Execute decodeLoad(Decoder &d, SharedForm form, bool reduces) {
  BulkLoad load;
  load.form = form;
  load.fromGlobal = !reduces && d.take("global");
  if (!load.fromGlobal) {
    d.expect("shared::cta");
  }
  d.expect("mbarrier::complete_tx::bytes");
  bool isMulticast = load.fromGlobal && d.take("multicast::cluster");
  bool hasPolicy = load.fromGlobal && takePolicy(d);
  if (reduces) {
    ReductionKind kind = takeReductionKind(d);
    load.reduction = Reduction{kind, d.takeType()};
    if (!load.reduction->isPossible()) {
      d.unsupported("this operation for this type");
    }
  }
  load.to = d.address(0);
  load.from = d.address(1);
  load.size = d.source(2, ptx::Type::U32);
  load.mbarrier = d.address(3);
  size_t next = 4;
  if (isMulticast) {
    load.mask = d.source(next++, ptx::Type::B16);
  }
  if (hasPolicy) {
    d.source(next, ptx::Type::B64);
  }
  return load;
}

//===----------------------------------------------------------------------===//
// Out of shared memory to global memory, in the thread's bulk group
//===----------------------------------------------------------------------===//

struct BulkStore {
  std::optional<Reduction> reduction;
  Decoder::AddressRows to{}, from{};
  Row size = 0;
  std::optional<Row> byteMask; ///< of every 16 bytes, those that are written

  Outcome operator()(Step &step) const {
    return issueByLane(step, [&](unsigned lane) { issue(step, lane); });
  }

private:
  void issue(Step &step, unsigned lane) const;
};

void copyMasked(Machine &machine, const AsyncOp &op, const MemoryRange &to, const MemoryRange &from,
                uint64_t mask) {
  for (uint64_t i = 0; i != to.bytes; ++i) {
    if (mask >> i % kUnit & 1) {
      moveToGlobal(machine, op, {to.region, to.offset + i, 1}, {from.region, from.offset + i, 1},
                   std::nullopt);
    }
  }
}

void BulkStore::issue(Step &step, unsigned lane) const {
  uint64_t bytes = sizeOf(step, size, lane);
  MemoryRange target = globalRange(step, to, bytes, lane);
  step.checkWritable(target, lane);
  MemoryRange source = sharedPlace(step, SharedForm::Cta, from, bytes, kUnit, lane).range;
  uint64_t mask = byteMask ? step.get(*byteMask, lane) : 0xffff;
  step.machine.profile.bulk(step.op.instruction, bytes);
  issueInBulkGroup(step, lane,
                   [&machine = step.machine, target, source, mask,
                    reduction = reduction](const AsyncOp &read, const AsyncOp &write) {
                     if (source.bytes == 0) {
                       return;
                     }
                     machine.checker.access(Access::Read, read, Proxy::Async, source);
                     machine.checker.access(Access::Write, write, Proxy::Async, target,
                                            flagsOf(reduction));
                     if (mask == 0xffff) {
                       moveToGlobal(machine, write, target, source, reduction);
                     } else {
                       copyMasked(machine, write, target, source, mask);
                     }
                   });
}

/// After `cp.async.bulk.global` or `cp.reduce.async.bulk.global`.
Execute decodeStore(Decoder &d, bool reduces) {
  BulkStore store;
  d.expect("shared::cta");
  d.expect("bulk_group");
  bool hasPolicy = takePolicy(d);
  bool isMasked = !reduces && d.take("cp_mask");
  if (reduces) {
    ReductionKind kind = takeReductionKind(d);
    bool noFlush = d.take("noftz");
    store.reduction = Reduction{kind, d.takeType()};
    if (!store.reduction->isPossible() || (noFlush && store.reduction->bytes() != 2)) {
      d.unsupported("this operation for this type");
    }
  }
  store.to = d.address(0);
  store.from = d.address(1);
  store.size = d.source(2, ptx::Type::U32);
  size_t next = 3;
  if (hasPolicy) {
    d.source(next++, ptx::Type::B64);
  }
  if (isMasked) {
    store.byteMask = d.source(next, ptx::Type::B16);
  }
  return store;
}

/// After `cp.async.bulk.prefetch`: what is prefetched must exist.
Execute decodePrefetch(Decoder &d) {
  d.expect("L2");
  if (d.peek() != "global") {
    d.unsupported("source `." + std::string(d.peek()) + "`");
  }
  d.expect("global");
  bool hasPolicy = takePolicy(d);
  Decoder::AddressRows address = d.address(0);
  Row size = d.source(1, ptx::Type::U32);
  if (hasPolicy) {
    d.source(2, ptx::Type::B64);
  }
  return [address, size](Step &step) {
    step.forLanes(
        [&](unsigned lane) { globalRange(step, address, sizeOf(step, size, lane), lane); });
    return Outcome::Next;
  };
}

Execute decodeCopyOrReduction(Decoder &d, bool reduces) {
  if (d.take("global")) {
    return decodeStore(d, reduces);
  }
  if (d.take("shared::cluster")) {
    return decodeLoad(d, SharedForm::Cluster, reduces);
  }
  if (!reduces && d.take("shared::cta")) {
    return decodeLoad(d, SharedForm::Cta, false);
  }
  d.unsupported("destination `." + std::string(d.peek()) + "`");
}

} // namespace

Execute decodeBulk(Decoder &d) {
  if (d.take("commit_group")) {
    return decodeBulkCommit(d);
  }
  if (d.take("wait_group")) {
    return decodeBulkWait(d);
  }
  if (d.take("tensor")) {
    return decodeTensorCopy(d);
  }
  if (d.take("prefetch")) {
    return d.take("tensor") ? decodeTensorPrefetch(d) : decodePrefetch(d);
  }
  return decodeCopyOrReduction(d, false);
}

Execute decodeBulkReduce(Decoder &d) {
  return d.take("tensor") ? decodeTensorReduce(d) : decodeCopyOrReduction(d, true);
}

} // namespace tile_emu
