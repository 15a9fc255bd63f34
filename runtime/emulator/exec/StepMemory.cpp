// Where addresses lie, and the loads and stores of single lanes. PTX ISA, "Addresses as Operands",
// "Generic Addressing", "Shared State Space".
#include "Step.h"
#include "Text.h"

namespace tile_emu {

static constexpr unsigned kRankShift = 24;
static constexpr uint64_t kInBlock = (uint64_t(1) << kRankShift) - 1;

static std::string bytesText(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// `range` of the region, or a Fault that says by how much it is outside.
MemoryRange Step::within(Region &region, uint64_t address, uint64_t bytes, unsigned lane) {
  uint64_t offset = address - region.base, size = region.bytes.size();
  if (offset <= size && bytes <= size - offset) {
    return {&region, offset, bytes};
  }
  fault(Report::Kind::OutOfBounds,
        textOf(bytesText(bytes), " at byte ", int64_t(offset), " of ", region.name, ", which has ",
               bytesText(size)),
        lane);
}

Block &Step::blockOf(uint64_t &clusterAddress, unsigned lane) {
  uint64_t rank = clusterAddress >> kRankShift;
  if (rank == 0) {
    return block;
  }
  if (rank > block.cluster->blocks.size()) {
    fault(Report::Kind::OutOfBounds,
          hexOf(clusterAddress) + " is no address in the shared memory of the cluster", lane);
  }
  clusterAddress &= kInBlock;
  Block &target = *block.cluster->blocks[rank - 1];
  if (target.running == 0) {
    report(Report::Kind::Exit,
           textOf("the shared memory of block ", rank - 1,
                  " of the cluster is used after it has exited"),
           lane);
  } else if (&target != &block && machine.options.checkRaces &&
             !machine.checker.known(thread(lane), target.started)) {
    Report early = {.kind = Report::Kind::Start,
                    .message = textOf("the shared memory of block ", rank - 1,
                                      " of the cluster is used before that block is known to run"),
                    .parties = {party(lane, opcodeOf(*op.instruction))},
                    .notes = {"Look for a cluster barrier (barrier.cluster.arrive and .wait) at "
                              "the start of the kernel."}};
    machine.sink.add(std::move(early));
  }
  return target;
}

MemoryRange Step::resolveShared(uint64_t address, uint64_t bytes, unsigned lane) {
  if (address <= kInBlock) {
    return within(block.shared, address, bytes, lane);
  }
  Block &target = blockOf(address, lane);
  if (&target != &block) {
    noteVisit(target, lane);
  }
  return within(target.shared, address, bytes, lane);
}

void Step::checkVariable(Row base, const MemoryRange &range, unsigned lane) {
  const SharedVariable *variable = machine.config->code->variableOf(base);
  if (!variable || range.region != &block.shared) {
    return;
  }
  uint64_t at = range.offset - variable->offset; // wraps below it
  if (at > variable->bytes || range.bytes > variable->bytes - at) {
    fault(Report::Kind::OutOfBounds,
          textOf(bytesText(range.bytes), " at byte ", int64_t(at), " of the shared variable `",
                 variable->name, "`, which has ", bytesText(variable->bytes)),
          lane);
  }
}

MemoryRange Step::resolveLocal(uint64_t address, uint64_t bytes, unsigned lane) {
  if (warp.local.empty()) {
    warp.local.resize(kWarpSize);
  }
  std::unique_ptr<Region> &region = warp.local[lane];
  if (!region) {
    region = std::make_unique<Region>();
    region->kind = Region::Kind::Local;
    region->name = "local memory";
    region->block = block.number;
    region->bytes.resize(machine.config->code->localBytes, kNeverWritten);
    Checker::attach(*region, /*defined=*/false);
  }
  return within(*region, address, bytes, lane);
}

MemoryRange Step::resolveGlobal(uint64_t address, uint64_t bytes, unsigned lane) {
  Region *region = machine.global.find(address);
  auto isInside = [&] { return region && address - region->base < region->bytes.size(); };
  // Just before an allocation is more likely meant than far behind the one below it.
  if (!isInside()) {
    Region *above = machine.global.find(address + GlobalMemory::kGap / 2);
    region = above && above->base > address ? above : machine.global.find(address);
  }
  uint64_t reach = GlobalMemory::kGap;
  if (!region || address + reach - region->base > region->bytes.size() + 2 * reach) {
    fault(Report::Kind::OutOfBounds,
          textOf(bytesText(bytes), " at ", hexOf(address), ", where there is no memory"), lane);
  }
  return within(*region, address, bytes, lane);
}

MemoryRange Step::resolve(ptx::Space space, uint64_t address, uint64_t bytes, unsigned align,
                          unsigned lane) {
  if (align && (address & (align - 1)) != 0) {
    fault(Report::Kind::Misaligned,
          textOf("address ", hexOf(address), " is not aligned to ", bytesText(align)), lane);
  }
  switch (space) {
  case ptx::Space::Shared:
    return resolveShared(address, bytes, lane);
  case ptx::Space::Local:
    return resolveLocal(address, bytes, lane);
  case ptx::Space::Param:
    return within(machine.params, address, bytes, lane);
  case ptx::Space::Generic:
    if (address - kSharedWindow < kWindowBytes) {
      return resolveShared(address - kSharedWindow, bytes, lane);
    }
    if (address - kLocalWindow < kWindowBytes) {
      return resolveLocal(address - kLocalWindow, bytes, lane);
    }
    if (address - kParamWindow < kWindowBytes) {
      return within(machine.params, address - kParamWindow, bytes, lane);
    }
    return resolveGlobal(address, bytes, lane);
  default: // constant memory lies among the global one
    return resolveGlobal(address, bytes, lane);
  }
}

bool Step::load(ptx::Space space, unsigned lane, uint64_t address, void *to, unsigned bytes,
                AccessFlags flags) {
  MemoryRange range = resolve(space, address, bytes, bytes, lane);
  machine.checker.access(Access::Read, thread(lane), range, flags, op.instruction);
  std::memcpy(to, range.data(), bytes);
  return Checker::isDefined(range);
}

static bool touchesMBarrier(const Cluster &cluster, const MemoryRange &range) {
  for (const auto &block : cluster.blocks) {
    if (&block->shared == range.region) {
      return block->barriers.touchesMBarrier(range.offset, range.bytes);
    }
  }
  return false;
}

void Step::checkWritable(const MemoryRange &range, unsigned lane) {
  if (range.region->readOnly) {
    fault(Report::Kind::Invalid, "write to " + range.region->name + ", which is constant", lane);
  }
  if (range.region->kind == Region::Kind::Shared && touchesMBarrier(*block.cluster, range)) {
    fault(Report::Kind::Barrier,
          "an ordinary write to an mbarrier: mbarrier.inval has to come first", lane);
  }
}

void Step::store(ptx::Space space, unsigned lane, uint64_t address, const void *from,
                 unsigned bytes, bool defined, AccessFlags flags) {
  MemoryRange range = resolve(space, address, bytes, bytes, lane);
  checkWritable(range, lane);
  machine.checker.access(Access::Write, thread(lane), range, flags, op.instruction);
  std::memcpy(range.data(), from, bytes);
  Checker::setDefined(range, defined);
}

} // namespace tile_emu
