#include "Step.h"

namespace tile_emu {

uint64_t Step::uniform(Row r, const char *name) {
  const uint64_t *values = row(r);
  uint64_t first = values[std::countr_zero(lanes)];
  if (name) {
    forLanes([&](unsigned lane) {
      if (values[lane] != first) {
        fault(Report::Kind::Invalid, std::string(name) + " differs between the lanes of a warp",
              lane);
      }
    });
  }
  return first;
}

void Step::exit(unsigned lane) { machine.exitLane(*this, lane); }

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

Party Step::party(unsigned lane, const std::string &what) const {
  unsigned shown = lane < kWarpSize ? lane : unsigned(std::countr_zero(lanes));
  return {.what = what,
          .ptxLine = op.instruction->line,
          .source = op.instruction->source,
          .thread = {block.index, block.threadIndex(warp.index * kWarpSize + shown)}};
}

static Report reportOf(const Step &step, Report::Kind kind, const std::string &message,
                       unsigned lane) {
  return {.kind = kind,
          .message = message,
          .parties = {step.party(lane, opcodeOf(*step.op.instruction))},
          .notes = {}};
}

void Step::reportUndefinedStore(Row row, const MemoryRange &to, unsigned lane) {
  std::string name = machine.config->code->nameOf(row);
  report(Report::Kind::Uninitialised,
         (name.empty() ? "a value" : name) + ", which is stored to " + to.region->name +
             " at byte " + std::to_string(to.offset) +
             ", was never written, or computed from what was never written",
         lane);
}

void Step::fault(Report::Kind kind, const std::string &message, unsigned lane) {
  throw Fault(reportOf(*this, kind, message, lane));
}

void Step::report(Report::Kind kind, const std::string &message, unsigned lane) {
  machine.sink.add(reportOf(*this, kind, message, lane));
}

} // namespace tile_emu
