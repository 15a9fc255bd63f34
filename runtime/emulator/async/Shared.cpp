#include "Shared.h"

namespace tile_emu {

static constexpr unsigned kRankShift = 24; // exec/Machine.h, Addresses

SharedForm takeOwnSharedForm(Decoder &d) {
  return d.takeOneOf({"shared", "shared::cta"}) ? SharedForm::Cta : SharedForm::Generic;
}

SharedForm takeSharedForm(Decoder &d) {
  return d.take("shared::cluster") ? SharedForm::Cluster : takeOwnSharedForm(d);
}

std::string describeShared(const Machine &machine, uint64_t offset) {
  return machine.config->code->nameOfShared(offset);
}

SharedPlace sharedPlace(Step &step, SharedForm form, uint64_t address, uint64_t bytes,
                        unsigned align, unsigned lane) {
  if (form == SharedForm::Generic) {
    if (address - kSharedWindow >= kWindowBytes) {
      step.fault(Report::Kind::Invalid, "this generic address is not one of shared memory", lane);
    }
    address -= kSharedWindow;
  }
  Block &block = step.blockOf(address, lane);
  if (form == SharedForm::Cta && &block != &step.block) {
    step.fault(Report::Kind::Invalid,
               "this address is in the shared memory of another block of the cluster, which needs "
               "`.shared::cluster`",
               lane);
  }
  uint64_t offset = address - kSharedBase, size = block.shared.bytes.size();
  if (align && address % align) {
    step.fault(Report::Kind::Misaligned,
               describeShared(step.machine, offset) + " is not aligned to " +
                   std::to_string(align) + " bytes",
               lane);
  }
  if (offset > size || bytes > size - offset) {
    step.fault(Report::Kind::OutOfBounds,
               std::to_string(bytes) + " bytes at " + describeShared(step.machine, offset) +
                   ": beyond the " + std::to_string(size) + " bytes of the block's shared memory",
               lane);
  }
  return {&block, {&block.shared, offset, bytes}};
}

SharedPlace sharedPlace(Step &step, SharedForm form, Decoder::AddressRows address, uint64_t bytes,
                        unsigned align, unsigned lane) {
  SharedPlace place = sharedPlace(
      step, form, step.get(address.base, lane) + uint64_t(address.offset), bytes, align, lane);
  step.checkVariable(address.base, place.range, lane);
  return place;
}

SharedPlace inPeer(Step &step, const SharedPlace &place, uint32_t rank, unsigned lane) {
  auto &blocks = step.block.cluster->blocks;
  if (rank >= blocks.size()) {
    step.fault(Report::Kind::Invalid,
               "block " + std::to_string(rank) + " of a cluster of " +
                   std::to_string(blocks.size()) + " is addressed",
               lane);
  }
  uint64_t address = uint64_t(rank + 1) << kRankShift;
  Block &block = step.blockOf(address, lane); // reports a block that has ended
  if (place.range.offset + place.range.bytes > block.shared.bytes.size()) {
    step.fault(Report::Kind::OutOfBounds,
               describeShared(step.machine, place.range.offset) +
                   " is beyond the shared memory of block " + std::to_string(rank) +
                   " of the cluster",
               lane);
  }
  return {&block, {&block.shared, place.range.offset, place.range.bytes}};
}

} // namespace tile_emu
