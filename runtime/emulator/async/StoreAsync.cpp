// st.async and red.async: stores and reductions in the shared memory of the cluster that complete
// on an mbarrier there. PTX ISA, "st.async", "red.async". They belong to the generic proxy.
#include "Async.h"
#include "BulkWork.h"
#include "Reduction.h"

#include <cstring>

namespace tile_emu {

namespace {

struct RemoteStore {
  std::optional<Reduction> reduction;
  Decoder::AddressRows to{}, mbarrier{};
  std::vector<Row> values;
  ptx::Type type = ptx::Type::B32;

  Outcome operator()(Step &step) const {
    return issueByLane(step, [&](unsigned lane) { issue(step, lane); });
  }

private:
  void issue(Step &step, unsigned lane) const;
};

void RemoteStore::issue(Step &step, unsigned lane) const {
  unsigned bytes = ptx::bitsOf(type) / 8;
  unsigned total = bytes * unsigned(values.size());
  SharedPlace place = sharedPlace(step, SharedForm::Cluster, to, total, total, lane);
  SharedPlace barrier = sharedPlace(step, SharedForm::Cluster, mbarrier, 8, 8, lane);
  checkNoMBarrier(step, place, lane);
  std::vector<uint64_t> stored;
  stored.reserve(values.size());
  for (Row value : values) {
    stored.push_back(step.get(value, lane));
  }
  issueOnMBarrier(step, lane, *place.block, barrier, total,
                  [&checker = step.machine.checker, place, bytes, stored,
                   reduction = reduction](const AsyncOp &op) {
                    checker.access(Access::Write, op, Proxy::Generic, place.range,
                                   flagsOf(reduction));
                    for (size_t i = 0; i != stored.size(); ++i) {
                      uint8_t *at = place.range.data() + i * bytes;
                      uint64_t value = stored[i], old = 0;
                      std::memcpy(&old, at, bytes);
                      value = reduction ? reduction->apply(old, value) : value;
                      std::memcpy(at, &value, bytes);
                    }
                    if (!reduction) {
                      Checker::setDefined(place.range, true);
                    }
                  });
}

void takeSpaceAndCompletion(Decoder &d) {
  d.take("shared::cluster");
  if (!d.take("mbarrier::complete_tx::bytes")) {
    d.unsupported("completion `." + std::string(d.peek()) + "`");
  }
}

} // namespace

Execute decodeStoreAsync(Decoder &d) {
  RemoteStore store;
  d.expect("async");
  d.take("weak");
  takeSpaceAndCompletion(d);
  std::optional<unsigned> vector = d.takeOneOf({"v2", "v4"});
  store.type = d.takeType();
  unsigned bits = ptx::bitsOf(store.type);
  if (bits != 32 && bits != 64) {
    d.unsupported("type ." + std::string(ptx::typeName(store.type)));
  }
  store.to = d.address(0);
  store.values = d.sources(d.operand(1), store.type);
  if (store.values.size() != (vector ? 2u << *vector : 1u)) {
    d.invalid("the number of values does not fit the instruction");
  }
  store.mbarrier = d.address(2);
  return store;
}

Execute decodeReduceAsync(Decoder &d) {
  RemoteStore store;
  d.expect("async");
  d.expect("relaxed");
  d.expect("cluster");
  takeSpaceAndCompletion(d);
  ReductionKind kind = takeReductionKind(d);
  store.type = d.takeType();
  store.reduction = Reduction{kind, store.type};
  if (!store.reduction->isPossible()) {
    d.unsupported("this operation for this type");
  }
  store.to = d.address(0);
  store.values = {d.source(1, store.type)};
  store.mbarrier = d.address(2);
  return store;
}

} // namespace tile_emu
