#include "Copies.h"

#include "Shared.h"

#include <cstring>

namespace tile_emu {

void copyBytes(const MemoryRange &to, const MemoryRange &from) {
  if (to.bytes == 0) {
    return;
  }
  std::memcpy(to.data(), from.data(), to.bytes);
  bool allDefined = Checker::isDefined(from);
  Checker::setDefined(to, allDefined);
  for (uint64_t i = 0; i != to.bytes && !allDefined; ++i) {
    if (Checker::isDefined({from.region, from.offset + i, 1})) {
      Checker::setDefined({to.region, to.offset + i, 1}, true);
    }
  }
}

static void reportUndefined(Machine &machine, const AsyncOp &op, const MemoryRange &bytes,
                            const std::string &what) {
  uint64_t at = bytes.offset;
  while (Checker::isDefined({bytes.region, at, 1})) {
    ++at;
  }
  std::string place = bytes.region->kind == Region::Kind::Shared
                          ? describeShared(machine, at)
                          : bytes.region->name + " at byte " + std::to_string(at);
  Party party = machine.checker.party(op.issuer, op.instruction, Access::Write);
  party.asynchronous = true;
  machine.sink.add({.kind = Report::Kind::Uninitialised,
                    .message = place + ", " + what +
                               ", was never written, or computed from what was never written",
                    .parties = {std::move(party)},
                    .notes = {}});
}

void moveToGlobal(Machine &machine, const AsyncOp &op, const MemoryRange &to,
                  const MemoryRange &from, const std::optional<Reduction> &reduction) {
  if (!Checker::isDefined(from)) {
    reportUndefined(machine, op, from, "which is copied to " + to.region->name);
  }
  if (reduction) {
    if (!Checker::isDefined(to)) {
      reportUndefined(machine, op, to, "which a reduction adds to");
    }
    reduceInto(to, from, *reduction);
  } else {
    copyBytes(to, from);
  }
  Checker::setDefined(to, true);
}

void fillBytes(const MemoryRange &to, uint8_t value) {
  if (to.bytes == 0) {
    return;
  }
  std::memset(to.data(), value, to.bytes);
  Checker::setDefined(to, true);
}

} // namespace tile_emu
