// State of the barriers of a block and of its cluster, and of the asynchronous groups of threads.
// PTX ISA, "Parallel Synchronization and Communication Instructions".
#pragma once

#include "../check/Checker.h"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace tile_emu {

/// One use of a barrier that threads arrive at and wait for, from its first arrival until all that
/// wait for it have gone on.
struct BarrierPhase {
  SyncPoint point;
  bool complete = false;
  uint32_t count = 0;            ///< threads that have arrived; warps of named barriers count whole
  std::vector<uint32_t> arrived; ///< lanes, by warp (of the cluster: by rank, then warp)
  const ptx::Instruction *last = nullptr; ///< that arrived
  bool reduces = false;                   ///< bar.red
  uint32_t votes = 0, voters = 0;         ///< of bar.red: predicates that were true, threads
};

/// What the lanes of a warp wait for; null: nothing.
using BarrierWaits = std::array<std::shared_ptr<BarrierPhase>, 32>;

/// bar.sync and bar.arrive: one of sixteen. All of it belongs to async/NamedBarriers.cpp.
struct NamedBarrier {
  std::shared_ptr<BarrierPhase> filling; ///< null: nobody has arrived
  uint32_t expected = 0;                 ///< threads, of the phase that is filling
  bool wholeBlock = false;               ///< no count given: threads that exit are not waited for
};

/// barrier.cluster: async/ClusterBarrier.cpp.
struct ClusterBarrier {
  std::shared_ptr<BarrierPhase> filling;
  std::vector<BarrierWaits> arrived; ///< phases that lanes have arrived at and not waited for yet
};

/// Something that happened to an mbarrier, for reports.
struct MBarrierEvent {
  enum class Kind : uint8_t { Arrival, RemoteArrival, Expect, Complete };
  Kind kind = Kind::Arrival;
  uint32_t phase = 0, amount = 0; ///< arrivals, bytes
  ThreadId thread = 0;
  const ptx::Instruction *instruction = nullptr;
};

/// An mbarrier object in shared memory. All of it belongs to async/MBarrier.cpp.
struct MBarrier {
  uint32_t count = 0, pending = 0; ///< arrivals of a phase; still missing
  int64_t pendingBytes = 0;        ///< tx-count
  uint32_t phase = 0;              ///< number of the phase that is filling; its parity is bit 0
  AgentId channel = 0;             ///< of the asynchronous work that completes here: phase n is its
                                   ///< step n + 1
  SyncPoint filling, completed;    ///< completed: of the phase before
  /// Of arrivals by threads of other blocks, in `.cluster` scope: for waits in that scope.
  SyncPoint fillingOfPeers, completedOfPeers;
  ThreadId initialiser = 0;
  Step32 initialisedAt = 0;
  bool announced = false; ///< fence.mbarrier_init or fence.proxy.async since
  const ptx::Instruction *init = nullptr;
  uint32_t workPhase = 0;   ///< phases with asynchronous work: the last one, from 1; 0 none
  uint32_t waitedPhase = 0; ///< the last phase, from 1, that a thread has waited for
  uint32_t unfinished = 0;  ///< asynchronous work issued and not yet performed
  const ptx::Instruction *work = nullptr; ///< the last asynchronous work
  ThreadId worker = 0;                    ///< that issued it
  std::map<ThreadId, uint32_t> seen;  ///< completed phases a thread must know of for other reasons
                                      ///< than its knowledge: it has arrived at the next
  std::map<ThreadId, uint32_t> polls; ///< failed test_waits in a row
  std::deque<MBarrierEvent> history;  ///< the last ones
};

struct BlockBarriers {
  std::array<NamedBarrier, 16> named;
  std::vector<BarrierWaits> waits;        ///< at named barriers, by warp
  std::map<uint64_t, MBarrier> mbarriers; ///< by offset in shared memory
  /// Does an mbarrier lie in these bytes of shared memory? For accesses that may not touch it.
  bool touchesMBarrier(uint64_t offset, uint64_t bytes) const {
    if (mbarriers.empty()) {
      return false;
    }
    auto it = mbarriers.lower_bound(offset < 7 ? 0 : offset - 7);
    return it != mbarriers.end() && it->first < offset + bytes;
  }
  // setmaxnreg: async/Registers.cpp.
  std::vector<uint32_t> registersPerThread; ///< by warp; empty before the first setmaxnreg
  std::vector<std::vector<const ptx::Instruction *>> registerChanges; ///< by warp
};

/// Asynchronous operations of a thread, in groups. Segments are numbered from 1 and end with every
/// commit and with every cp.async.mbarrier.arrive: they are the steps of the thread's channel.
class AsyncGroups {
public:
  /// The segment that operations started now belong to.
  Step32 open() const { return first + (outstanding.empty() ? 0 : Step32(outstanding.size()) - 1); }
  void start();
  void finish(Step32 segment) { --outstanding[segment - first]; }
  void commit();
  /// Ends the open segment, but not the group; its number.
  Step32 mark();
  /// The segment up to which all is done when at most `pending` groups are not; 0: none.
  Step32 segmentBefore(uint64_t pending) const;
  /// Has everything up to a segment been done?
  bool done(Step32 segment) const;
  /// The thread has waited for a segment: groups up to it need not be remembered.
  void forget(Step32 segment);

private:
  Step32 first = 1;                  ///< number of outstanding[0]
  std::vector<uint32_t> outstanding; ///< operations not done, by segment; the last one is open
  std::vector<Step32> groups;        ///< last segments of the groups that have been committed
  Step32 waited = 0;
};

/// Asynchronous groups of one thread.
struct ThreadGroups {
  AgentId copyChannel = 0, bulkReadChannel = 0, bulkWriteChannel = 0; ///< 0: none yet
  AsyncGroups copies, bulk;
  /// The last bulk operation that reads shared memory: its segment, and the one up to which the
  /// thread has waited.
  Step32 bulkRead = 0, bulkReadWaited = 0;
  const ptx::Instruction *bulkReader = nullptr;
};

} // namespace tile_emu
