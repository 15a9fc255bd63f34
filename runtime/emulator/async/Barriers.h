// State of the barriers of a block and of its cluster. PTX ISA, "Parallel Synchronization and
// Communication Instructions".
#pragma once

#include "runtime/emulator/check/Checker.h"

namespace tile_emu {

/// bar.sync and bar.arrive: one of sixteen. All of it belongs to async/NamedBarriers.cpp.
struct NamedBarrier {
  uint32_t expected = 0, arrived = 0; ///< threads
  uint32_t generation = 0;
  std::shared_ptr<SyncPoint> point;    ///< of the generation that is filling
  std::shared_ptr<SyncPoint> finished; ///< of the last one that filled
  std::vector<ThreadId> waiting;       ///< who has arrived, for reports
};

/// An mbarrier object in shared memory. All of it belongs to async/MBarriers.cpp.
struct MBarrier {
  uint32_t count = 0, pending = 0; ///< arrivals of a phase; still missing
  int64_t pendingBytes = 0;        ///< tx-count
  uint32_t phase = 0;              ///< number of the phase that is filling; its parity is bit 0
  AgentId channel = 0;             ///< of the asynchronous work that completes here
  SyncPoint filling;
  std::vector<SyncPoint> completed; ///< of the last two phases
  const ptx::Instruction *init = nullptr;
  std::vector<std::string> history; ///< last arrivals, for reports
};

struct BlockBarriers {
  std::array<NamedBarrier, 16> named;
  std::map<uint64_t, MBarrier> mbarriers; ///< by offset in shared memory
};

struct ClusterBarrier {
  uint32_t arrived = 0, generation = 0;
  std::shared_ptr<SyncPoint> point, finished;
};

/// Asynchronous groups of one thread: async/AsyncGroups.cpp.
struct ThreadGroups {
  AgentId copyChannel = 0, bulkReadChannel = 0, bulkWriteChannel = 0; ///< 0: none yet
  Step32 copyGroup = 1, bulkGroup = 1;                                ///< the group that is open
};

} // namespace tile_emu
