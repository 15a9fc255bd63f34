// Happens-before between threads and asynchronous work, and what follows from it: data races and
// missing proxy fences. PTX ISA, "Memory Consistency Model", "Proxies".
//
// Agents are what can be ordered: threads, and channels of asynchronous work. A channel is a
// sequence of numbered steps that complete in order: the bulk groups of a thread, the cp.async
// groups of a thread, the wgmma groups of a warp, the phases of an mbarrier. "Knowing step n of an
// agent" means that all it did up to n has happened before. Steps of channels are counted from 1.
// A thread knows two kinds of clocks: what happened before, and, for each state space, what of that
// a fence.proxy.async of the space lies between (for accesses by the asynchronous proxy to what the
// generic proxy did).
//
// What has to be known of an earlier access for a later one to the same bytes, one of which writes:
//   generic or cp.async -> generic, cp.async   it happened before
//   asynchronous proxy  -> any                 it happened before (completion implies the fence)
//   generic write       -> asynchronous proxy  it happened before, with a proxy fence between
//   generic read        -> asynchronous write  it happened before; with `strictProxyReads` a proxy
//                                              fence too. PTX demands it and an H200 has broken
//                                              kernels without it (docs/performance.md), but many
//                                              programs release the stages of a pipeline without
// Two atomic or strong accesses do not race if they are of the same width and each one's scope
// includes the other's agent, nor do two writes of the same value. What is read without coherence
// (ld.global.nc) must not be written in the same launch, ordered or not.
//
// A launch that overlaps the one before it finds what that one accessed as that of one more agent, a channel of the
// launch: of all that it did, the last writes and the reads since are known, and with griddepcontrol.wait threads learn that
// the channel's step is complete. PTX ISA, "griddepcontrol".
#pragma once

#include "../Report.h"
#include "../memory/Region.h"
#include "Clocks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

namespace tile_emu {

enum class Proxy : uint8_t { Generic, Async };
enum class Access : uint8_t { Read, Write };

/// Threads that a strong operation or a fence orders; `.sys` is as good as `.gpu` here.
enum class Scope : uint8_t { Cta, Cluster, Gpu };
constexpr size_t kNumScopes = 3;

struct AccessFlags {
  bool atomic = false; ///< atomic, or strong (volatile, relaxed, acquire, release): does not race
                       ///< with its like: of the same width, each scope including the other agent
  Scope scope = Scope::Gpu; ///< of an atomic access
  unsigned width = 8;       ///< bytes of its elements, at most 16
  bool nonCoherent = false; ///< ld.global.nc: of memory that nobody writes during the launch
  bool apart = false;       ///< lanes write different values to the same bytes: unlike others that
                            ///< execute together they race with one another
  bool unchanged = false; ///< a write of what the bytes hold already: whoever else writes the same,
                          ///< before or after, does no harm
};

/// What an atomic operation does to its location.
enum class AtomicKind : uint8_t { Load, Store, ReadModifyWrite };

/// Asynchronous work just issued: what its accesses are ordered after, and which agent's step it
/// is.
struct AsyncOp {
  AgentId channel = 0;
  Step32 step = 0;
  ThreadId issuer = 0;
  const ptx::Instruction *instruction = nullptr;
  /// The last step of an agent that happened before the issue; `fenced`: with a proxy fence
  /// between.
  Step32 happened(AgentId agent) const {
    return std::max(before.happened.of(agent), isIssuer(agent) ? issued : 0);
  }
  Step32 fenced(AgentId agent, FencedSpace space) const {
    return std::max(before.fenced[space].of(agent), isIssuer(agent) ? issuedFenced[space] : 0);
  }

  Knowledge before;  ///< of the issuing threads, without
  WarpLanes issuers; ///< their own steps:
  Step32 issued = 0;
  BySpace<Step32> issuedFenced;
  bool isIssuer(AgentId agent) const {
    return (agent & ~31u) == issuers.first && (issuers.mask >> (agent & 31) & 1) != 0;
  }
};

/// Collects reports, one per kind and place: repetitions are counted in the first one.
class ReportSink {
public:
  explicit ReportSink(size_t limit) : limit(limit) {}
  static constexpr size_t kDropped = SIZE_MAX;
  /// Its index in reports(), or that of the report it repeats; kDropped when over the limit.
  size_t add(Report report);
  void repeat(size_t index); ///< one more of a report; kDropped is allowed
  const std::vector<Report> &reports() const { return list; }
  size_t suppressed() const { return dropped; } ///< repetitions and what was over the limit
  /// After a launch: what only says that something was not waited for comes after what explains it.
  /// Indices given before are not valid any more.
  void exitsLast();
  void clear();

private:
  std::vector<Report> list;
  std::map<std::string, size_t> byPlace;
  size_t limit, dropped = 0;
};

class Checker {
public:
  explicit Checker(ReportSink &sink);
  ~Checker();
  /// Without it only definedness is kept, and all about agents and order costs next to nothing.
  void enableRaces(bool on);
  bool strictProxyReads = false; ///< see above

  /// A new grid: forgets all agents, and everything done before is ordered before all that follows. With `overlaps`
  /// the launch before may still run: what it did is ordered before what comes after waitForLaunches() alone.
  /// Knowledge and SyncPoints of before must not be used any more.
  void newLaunch(bool overlaps = false);
  /// griddepcontrol.wait: the launches before have ended, and all they did is visible, through every proxy.
  void waitForLaunches(WarpLanes lanes);

  // Agents. Their numbers are not used again within a launch. Fault (Unsupported) when there are
  // more than the numbers allow (2 million blocks).
  /// The threads of a block; the first of them, lane 0 of warp 0. `cluster` is any number that
  /// blocks of a cluster share.
  ThreadId newBlock(std::array<uint32_t, 3> block, std::array<uint32_t, 3> threadsPerBlock,
                    uint32_t cluster = UINT32_MAX);
  /// `kind` is a literal: "cp.async group", "bulk group", "wgmma group", "mbarrier", ...
  /// `address` in shared memory, of an mbarrier, is for reports.
  AgentId newChannel(ThreadId owner, const char *kind, uint64_t address = 0);
  /// All threads of a block have exited.
  void endBlock(ThreadId first);

  // Accesses through the generic proxy: one thread, or lanes of a warp that execute an instruction
  // together, each `bytes` at its offset (by lane) in the region. Lanes of one execution that write
  // the same bytes do not race with one another, unless they are `apart`.
  void access(Access access, ThreadId thread, const MemoryRange &range, AccessFlags flags,
              const ptx::Instruction *instruction);
  void access(Access access, WarpLanes lanes, Region &region, const uint64_t *offsets,
              unsigned bytes, AccessFlags flags, const ptx::Instruction *instruction);
  /// A row of ldmatrix and stmatrix: 16 bytes, and the lanes that get or give its elements.
  struct MatrixRow {
    uint64_t offset = 0;
    uint32_t lanes = 0;
  };
  /// `consecutive`: each of a row's lanes has its own 4 bytes; else all are taken to access all.
  void accessRows(Access access, ThreadId first, Region &region, std::span<const MatrixRow> rows,
                  bool consecutive, AccessFlags flags, const ptx::Instruction *instruction);
  // Asynchronous work, checked when it is performed. `Proxy::Generic` for cp.async, which writes
  // through the generic proxy.
  AsyncOp issue(ThreadId thread, AgentId channel, Step32 step,
                const ptx::Instruction *instruction) {
    return issue(WarpLanes::one(thread), channel, step, instruction);
  }
  /// After all that any of the lanes knows.
  AsyncOp issue(WarpLanes lanes, AgentId channel, Step32 step, const ptx::Instruction *instruction);
  void access(Access access, const AsyncOp &op, Proxy proxy, const MemoryRange &range,
              AccessFlags flags = {});

  // Order. Each for one thread, and for lanes of a warp at once (cheaper by far than one by one).
  /// Joins the threads' knowledge, with their own steps so far, into the point.
  void release(WarpLanes lanes, SyncPoint &point);
  void release(ThreadId thread, SyncPoint &point) { release(WarpLanes::one(thread), point); }
  /// Joins the point into the threads' knowledge.
  void acquire(WarpLanes lanes, const SyncPoint &point);
  void acquire(ThreadId thread, const SyncPoint &point) { acquire(WarpLanes::one(thread), point); }
  /// For signals that do not release (`.relaxed`): joins what the threads' last fence() covers.
  void releaseRelaxed(WarpLanes lanes, SyncPoint &point, Scope scope = Scope::Cluster);
  /// For waits that do not acquire: the threads' next fence() of that scope or a wider one does.
  void acquireRelaxed(WarpLanes lanes, const SyncPoint &point, Scope scope);
  /// The agent's last step that the thread knows; of the thread itself, the one it is in.
  Step32 known(ThreadId thread, AgentId agent) const;
  /// fence.proxy.async, of one space or of all.
  void proxyFence(WarpLanes lanes, std::optional<FencedSpace> only = std::nullopt);
  void proxyFence(ThreadId thread, std::optional<FencedSpace> only = std::nullopt) {
    proxyFence(WarpLanes::one(thread), only);
  }
  /// fence, membar: for relaxed atomics around it. One that acquires alone orders what those before it have read, one that releases
  /// alone what those behind it write.
  enum class Fence : uint8_t { Both, Acquire, Release };
  void fence(WarpLanes lanes, Scope scope = Scope::Gpu, Fence kind = Fence::Both);
  void fence(ThreadId thread, Scope scope = Scope::Gpu) { fence(WarpLanes::one(thread), scope); }
  /// The threads learn that the channel's steps up to `step` are done (wait_group).
  void complete(WarpLanes lanes, AgentId channel, Step32 step);
  void complete(ThreadId thread, AgentId channel, Step32 step) {
    complete(WarpLanes::one(thread), channel, step);
  }
  /// The same through a barrier (complete_tx): into the point.
  void complete(SyncPoint &point, AgentId channel, Step32 step);
  /// Atomic operation on a location: release and/or acquire as its semantics say (relaxed ones
  /// count with fences around them), between agents that both scopes include. Checks the access
  /// too. `width`: bytes of an element, 0 for all of the range.
  void atomic(ThreadId thread, const MemoryRange &range, bool acquires, bool releases,
              const ptx::Instruction *instruction, AtomicKind kind = AtomicKind::ReadModifyWrite,
              Scope scope = Scope::Gpu, unsigned width = 0);

  // Definedness, byte by byte; kept for every region with a shadow.
  static void attach(Region &region, bool defined); ///< gives the region a shadow
  static bool isDefined(const MemoryRange &range);
  static void setDefined(const MemoryRange &range, bool defined);
  /// The same for up to 8 bytes as bits of a register: those of undefined bytes are set. A byte of
  /// which some bits are undefined is undefined.
  static uint64_t undefinedBits(const MemoryRange &range);
  static void setUndefinedBits(const MemoryRange &range, uint64_t undefined);
  /// The host orders everything: forget accesses.
  static void forgetAccesses(Region &region);

  Party party(AgentId agent, const ptx::Instruction *instruction, Access access) const;

  struct State; ///< CheckerState.h

private:
  std::unique_ptr<State> state;
};

} // namespace tile_emu
