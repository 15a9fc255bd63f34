// Where in shared memory the objects of synchronising and copying instructions lie.
#pragma once

#include "../exec/Decoder.h"
#include "../exec/Step.h"

namespace tile_emu {

/// How an instruction gives a shared address.
enum class SharedForm : uint8_t {
  Cta,     ///< `.shared`, `.shared::cta`: of the executing block
  Cluster, ///< `.shared::cluster`: of any block of its cluster
  Generic  ///< no state space
};

/// Takes `.shared`, `.shared::cta` or `.shared::cluster` if it is next.
SharedForm takeSharedForm(Decoder &d);
/// Takes `.shared` or `.shared::cta` if it is next, for what cannot be a peer's.
SharedForm takeOwnSharedForm(Decoder &d);

/// Bytes in the shared memory of a block of the cluster.
struct SharedPlace {
  Block *block = nullptr;
  MemoryRange range;
  uint64_t address() const { return kSharedBase + range.offset; } ///< in the block, `.shared::cta`
};

/// Faults: OutOfBounds, Misaligned, Invalid where a generic address is not one of shared memory.
SharedPlace sharedPlace(Step &step, SharedForm form, uint64_t address, uint64_t bytes,
                        unsigned align, unsigned lane);

/// The same of an address operand, which must not leave the variable that it is made from, where
/// that is known.
SharedPlace sharedPlace(Step &step, SharedForm form, Decoder::AddressRows address, uint64_t bytes,
                        unsigned align, unsigned lane);

/// The same bytes of another block of the cluster. Fault (Invalid) if there is no such block; a
/// report if it has ended.
SharedPlace inPeer(Step &step, const SharedPlace &place, uint32_t rank, unsigned lane);

/// "smem+64 (0x440)": the variable and the address, for reports.
std::string describeShared(const Machine &machine, uint64_t offset);

/// `value` of an address operand in a lane.
inline uint64_t addressOf(Step &step, Decoder::AddressRows rows, unsigned lane) {
  return step.get(rows.base, lane) + uint64_t(rows.offset);
}

inline WarpLanes lanesOf(const Step &step) { return {step.warp.firstThread, step.lanes}; }

/// Lanes of a warp that exist and have not exited.
inline LaneMask liveLanes(const Warp &warp) { return warp.existing & ~warp.exited; }

} // namespace tile_emu
