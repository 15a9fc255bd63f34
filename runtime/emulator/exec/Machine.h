// A grid in execution: blocks with their memory, warps with their registers, and who runs next.
#pragma once

#include "../async/Barriers.h"
#include "../memory/Region.h"
#include "../profile/Profile.h"
#include "Code.h"

#include <array>
#include <deque>
#include <functional>
#include <random>

namespace tile_emu {

struct LaunchConfig {
  const Code *code = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint64_t dynamicSharedBytes = 0;
  std::vector<uint8_t> params;               ///< as the ABI lays them out
  std::map<std::string, uint64_t> variables; ///< addresses of the module's, global and constant
  bool overlaps = false;                     ///< it may begin before the launch before it has ended
};

struct Options {
  bool randomSchedule = false;
  uint64_t seed = 0;
  uint64_t stepBudget = uint64_t(1)
                        << 40; ///< instructions of warps per launch; more is Report::Kind::Budget
  size_t maxReports = 100;
  unsigned residentBlocks = 132; ///< run at the same time, whole clusters
  bool checkRaces = true;
  bool strictProxyReads = false; ///< see check/Checker.h
  /// A wait of one warp tells of that warp's part of a wgmma alone, which may read all rows of A,
  /// and no lane may wait at an mbarrier while the others of its warp go on. Programs that are more
  /// generous work, mostly.
  bool strictWaits = false;
  bool profile = false;
};

struct WgmmaState; // matrix/Wgmma.h
struct Block;
class Step;

/// At an mbarrier of another block, under way. In random schedules such arrivals come there in any order, but for those at the same
/// one, and before the warp that made them executes what Op::settlesArrivals says.
struct RemoteArrival {
  const Block *block = nullptr;
  uint64_t offset = 0; ///< of the barrier in that block's shared memory
  std::function<void()> deliver;
};

/// Lanes of a warp that are at the same instruction and execute together.
struct Path {
  uint32_t pc = 0;
  LaneMask lanes = 0;
  bool blocked = false;                 ///< could not go on when it was last tried
  bool gathering = false;               ///< it waits for other lanes of its warp
  std::function<std::string()> waiting; ///< for what, when blocked
};

/// A branch at which lanes of a warp took different ways.
struct Divergence {
  uint32_t meetingPoint = 0;      ///< instruction
  LaneMask lanes = 0, inside = 0; ///< all of them; those that have not come to that point
  std::vector<LaneMask> ways;     ///< which took the same
};

struct Warp {
  uint32_t index = 0;              ///< in its block
  ThreadId firstThread = 0;        ///< of lane 0; the others follow
  std::vector<uint64_t> registers; ///< rows of 32, see Row
  std::vector<LaneMask> defined;   ///< by row: lanes in which every bit is
  /// By row: which bits are undefined in the lanes that are not in `defined`; null: all of them.
  std::vector<std::unique_ptr<std::array<uint64_t, kWarpSize>>> undefinedBits;
  /// By loop: which round of it each lane is in; 0 outside.
  std::vector<std::array<uint32_t, kWarpSize>> rounds;
  std::vector<Path> paths;             ///< of different pc; together all lanes that have not exited
  std::vector<Divergence> divergences; ///< of which not all lanes have met again
  uint32_t turns = 0;                  ///< for rotation between paths
  uint32_t steps = 1;                  ///< instructions executed, from 1
  std::vector<uint32_t> writtenAt;     ///< `steps` of a row's last write by an ordinary instruction
  /// Lanes by row in which an instruction in flight (wgmma) uses the register; empty before there
  /// is one. `touched` is called when another instruction reads or writes such a row, before it is
  /// executed.
  std::vector<LaneMask> inFlight;
  void (*touched)(Step &, Row, Access) = nullptr;
  LaneMask existing = 0, exited = 0; ///< the last warp of a block may be partial
  LaneMask carry = 0;                ///< CC.CF by lane, of add.cc and its like
  std::array<ThreadGroups, kWarpSize> groups;
  std::shared_ptr<WgmmaState> wgmma;          ///< null until its first wgmma instruction
  std::vector<std::unique_ptr<Region>> local; ///< by lane; made on first use
  std::vector<RemoteArrival> arrivals;        ///< under way

  uint64_t undefinedIn(Row row, unsigned lane) const {
    return defined[row] >> lane & 1 ? 0
           : undefinedBits[row]     ? (*undefinedBits[row])[lane]
                                    : ~uint64_t(0);
  }
  /// Adds undefined bits to a lane of a row.
  void undefine(Row row, unsigned lane, uint64_t bits);
  /// All bits of some lanes.
  void undefineAll(Row row, LaneMask lanes);
};

struct Cluster;

/// The last access of a thread to the shared memory of another block.
struct Visit {
  Step32 step = 0; ///< of the thread
  Party party;
};

struct Block {
  uint32_t number = 0; ///< in the grid, linear
  std::array<uint32_t, 3> index{};
  uint32_t rank = 0; ///< in its cluster
  Cluster *cluster = nullptr;
  Region shared; ///< static, then dynamic; base kSharedBase
  uint64_t dynamicSharedOffset = 0;
  std::vector<Warp> warps;
  BlockBarriers barriers;
  std::array<uint32_t, 3> shape{1, 1, 1}; ///< threads in x, y, z
  ThreadId firstThread = 0;
  uint32_t threads = 0, running = 0; ///< threads; those that have not exited
  AgentId started = 0;  ///< in a cluster of several: who knows its step 1 knows that the block runs
  int pendingAsync = 0; ///< queued tasks that touch this block's shared memory
  std::map<ThreadId, Visit> visits;                           ///< by threads of other blocks
  std::array<uint32_t, 3> threadIndex(uint32_t linear) const; ///< %tid of a thread of the block
};

struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  ClusterBarrier barrier;
};

// Addresses. A shared address (`shared::cta`) is what the hardware shows: dynamic memory of a block
// without static memory starts at 0x400. In `shared::cluster`, mapa gives (rank + 1) << 24 |
// address; the plain address means the executing block. A rank that cannot be gives no block's
// address.
constexpr uint64_t kSharedBase = 0x400;
constexpr uint64_t kSharedWindow = 0x7f00'0000'0000, kLocalWindow = 0x7e00'0000'0000,
                   kParamWindow = 0x7d00'0000'0000,
                   kWindowBytes = uint64_t(1)
                                  << 32; ///< generic addresses; everything else is global

class Machine {
public:
  Machine(GlobalMemory &global, ReportSink &sink, const Options &options);
  ~Machine();

  /// Runs one grid to its end. Faults become reports; false if there was one (memory is then as it
  /// was when it stopped).
  bool run(const LaunchConfig &config);

  GlobalMemory &global;
  ReportSink &sink;
  const Options options;
  Checker checker;
  Profile profile;
  const LaunchConfig *config = nullptr; ///< while running
  Region params;                        ///< of the running grid
  std::mt19937_64 random;
  uint64_t steps = 0; ///< instructions of warps executed in this launch

  /// Asynchronous work: done some time later, at the latest when nobody else can go on; in random
  /// schedules in any order. `block` cannot end before it is done without a report, which names
  /// who has issued it with what, and blocks of its cluster stay in memory until then.
  void later(std::function<void()> task, Block &block, ThreadId issuer,
             const ptx::Instruction *instruction);
  /// A lane ends; when it is its block's last, what the block left undone is reported.
  void exitLane(Step &step, unsigned lane);

private:
  class Scheduler;
  std::unique_ptr<Scheduler> scheduler; ///< of the running grid
};

} // namespace tile_emu
