// What can be done to an mbarrier object, by instructions and by asynchronous work. PTX ISA,
// "mbarrier". A phase is complete when no arrivals and no bytes are missing.
#pragma once

#include "../exec/Machine.h"

namespace tile_emu {

/// One use of an mbarrier: which one, and by whom.
struct MBarrierUse {
  Machine &machine;
  Block &block; ///< in whose shared memory it lies
  uint64_t offset = 0;
  ThreadId thread = 0;
  const ptx::Instruction *instruction = nullptr;

  /// Fault (Barrier) if there is none.
  MBarrier &find() const;
  /// A report of this use, with the mbarrier's recent history.
  Report reportOf(Report::Kind kind, const std::string &message) const;
  [[noreturn]] void fault(const std::string &message) const;
};

constexpr uint32_t kMaxArrivals = (1u << 20) - 1;
constexpr int64_t kMaxPendingBytes = (1 << 20) - 1; ///< to both sides of zero

/// Faults: count out of range, there already is one.
void initMBarrier(const MBarrierUse &use, uint64_t count);
void invalidateMBarrier(const MBarrierUse &use);

struct Arrival {
  uint64_t count = 1;
  bool drops = false;      ///< the next phases expect them no more
  bool noComplete = false; ///< must not be the last
  bool releases = true;    ///< not `.relaxed`
  bool remote = false;     ///< by a thread of another block
  Scope scope = Scope::Cta;
};
/// The state before the arrival. Faults: more arrivals than the phase expects.
uint64_t arrive(const MBarrierUse &use, const Arrival &arrival);
/// A remote arrival that is made now and comes to the barrier when the result is called.
std::function<void()> arriveLater(const MBarrierUse &use, const Arrival &arrival);
/// More bytes expected in this phase. Fault: tx-count out of range.
void expectBytes(const MBarrierUse &use, uint64_t bytes);
/// Bytes that have come.
void completeBytes(const MBarrierUse &use, uint64_t bytes);
/// Asynchronous work of a thread's channel, up to a step, arrives (cp.async.mbarrier.arrive).
void arriveWithChannel(const MBarrierUse &use, AgentId channel, Step32 step);
/// One more arrival is expected in this phase.
void expectArrival(const MBarrierUse &use);

/// At the issue of work that completes on the mbarrier; reports if its initialisation is not
/// visible to the asynchronous proxy.
void announceWork(const MBarrierUse &use, const AsyncOp &op);
/// When such work is performed: makes it a step of the phase that is filling.
void joinPhase(const MBarrierUse &use, AsyncOp &op);

/// fence.mbarrier_init: the thread's mbarriers are visible to the asynchronous proxy and to peers.
void announceMBarriers(Block &block, ThreadId thread);

// State operands: opaque to programs.
uint64_t stateOf(const MBarrier &barrier);
uint32_t pendingOfState(uint64_t state);
/// Fault if `state` is none, or not of the current or the preceding phase.
uint32_t phaseOfState(const MBarrierUse &use, const MBarrier &barrier, uint64_t state);
/// The phase that a wait for a parity means: the one that is filling or the one before. Reports if
/// what the thread knows does not tell which.
int64_t phaseOfParity(const MBarrierUse &use, MBarrier &barrier, unsigned parity);

/// "mbarrier in shared memory at 0x400: phase 3 (parity 1) ...", with its history.
std::string describeWait(const MBarrierUse &use, int64_t phase);

} // namespace tile_emu
