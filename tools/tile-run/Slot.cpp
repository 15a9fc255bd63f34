#include "tools/tile-run/Slot.h"

#include "tools/tile-run/Options.h"

using namespace tile_rt;

namespace tile_run {

void setPitches(std::vector<Slot> &slots, const std::map<std::string, int64_t> &pitches) {
  for (Slot &slot : slots) {
    auto given = pitches.find(slot.argument->name);
    if (given == pitches.end()) {
      continue;
    }
    const std::vector<int64_t> &shape = slot.host.shape;
    if (!slot.argument->isTensor || slot.absent || slot.same || shape.size() < 2 ||
        given->second < shape.back() || dtypeBits(slot.argument->dtype) < 8) {
      throw UsageError("--pitch " + given->first + "=" + std::to_string(given->second) +
                       ": it is for tensors of their own with rank 2 or more and whole bytes, and "
                       "no less than a row");
    }
    slot.pitch = given->second;
    slot.strides = pitchedStrides(shape, *slot.pitch);
  }
  for (Slot &slot : slots) {
    if (slot.same) {
      slot.pitch = slots[*slot.same].pitch;
      slot.strides = slots[*slot.same].strides;
    }
  }
}

} // namespace tile_run
