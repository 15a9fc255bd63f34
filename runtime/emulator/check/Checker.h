// Happens-before between threads and asynchronous work, and what follows from it: data races and
// missing proxy fences. PTX ISA, "Memory Consistency Model", "Proxies".
//
// Agents are what can be ordered: threads, and channels of asynchronous work. A channel is a
// sequence of numbered steps that complete in order: the bulk groups of a thread, the cp.async
// groups of a thread, the wgmma groups of a warp, the phases of an mbarrier. "Knowing step n of an
// agent" means that all it did up to n has happened before. A thread knows two clocks: what
// happened before, and what of that a fence.proxy.async lies between (for accesses by the
// asynchronous proxy to what the generic proxy did).
#pragma once

#include "runtime/emulator/Report.h"
#include "runtime/emulator/memory/Region.h"

#include <span>

namespace tile_emu {

using AgentId = uint32_t;
using ThreadId = AgentId;
using Step32 = uint32_t; ///< step of an agent

enum class Proxy : uint8_t { Generic, Async };
enum class Access : uint8_t { Read, Write };

struct AccessFlags {
  bool atomic = false; ///< atomic, or strong (volatile, relaxed, acquire, release): does not race
                       ///< with its like
};

/// What is known to have happened, per agent: two clocks as above.
struct Knowledge {
  std::vector<Step32> happened, fenced;
  void join(const Knowledge &other);
};

/// Something through which knowledge passes from one thread to another: a phase of a barrier, an
/// atomic location. Join into it on release, from it on acquire.
using SyncPoint = Knowledge;

/// Asynchronous work just issued: what its accesses are ordered after, and which agent's step it
/// is.
struct AsyncOp {
  AgentId channel = 0;
  Step32 step = 0;
  Knowledge before; ///< of the issuing thread at issue
  ThreadId issuer = 0;
  const ptx::Instruction *instruction = nullptr;
};

/// Collects reports, one per kind and pair of instructions.
class ReportSink {
public:
  explicit ReportSink(size_t limit) : limit(limit) {}
  void add(Report report);
  const std::vector<Report> &reports() const { return list; }
  size_t suppressed() const { return dropped; } ///< repetitions and what was over the limit
private:
  std::vector<Report> list;
  size_t limit, dropped = 0;
};

class Checker {
public:
  explicit Checker(ReportSink &sink);
  ~Checker();
  /// Without it only definedness is kept.
  void enableRaces(bool on);

  // Agents. Numbers of agents that have ended are used again once everybody knows all of them.
  ThreadId newThread(ThreadName name);
  AgentId newChannel(ThreadId owner, const char *kind);
  void endBlock(std::span<const AgentId> agents);

  // Accesses through the generic proxy by a thread.
  void access(Access access, ThreadId thread, const MemoryRange &range, AccessFlags flags,
              const ptx::Instruction *instruction);
  // Asynchronous work. `Proxy::Generic` for cp.async, which writes through the generic proxy.
  AsyncOp issue(ThreadId thread, AgentId channel, Step32 step, const ptx::Instruction *instruction);
  void access(Access access, const AsyncOp &op, Proxy proxy, const MemoryRange &range);

  // Order.
  void release(ThreadId thread, SyncPoint &point); ///< joins the thread's knowledge, with its own
                                                   ///< steps so far, into the point
  void acquire(ThreadId thread,
               const SyncPoint &point); ///< joins the point into the thread's knowledge
  void proxyFence(ThreadId thread);     ///< fence.proxy.async
  void fence(ThreadId thread);          ///< fence.acq_rel / membar: for relaxed atomics around it
  /// The thread learns that the channel's steps up to `step` are done (wait_group).
  void complete(ThreadId thread, AgentId channel, Step32 step);
  /// The same through a barrier (complete_tx): into the point.
  void complete(SyncPoint &point, AgentId channel, Step32 step);
  /// Atomic operation on a location: release and/or acquire as its semantics say (relaxed ones
  /// count with fences around them).
  void atomic(ThreadId thread, const MemoryRange &range, bool acquires, bool releases,
              const ptx::Instruction *instruction);

  // Definedness, byte by byte; kept for every region with a shadow.
  static void attach(Region &region, bool defined); ///< gives the region a shadow
  static bool isDefined(const MemoryRange &range);
  static void setDefined(const MemoryRange &range, bool defined);
  /// The host (or a launch boundary) orders everything: forget accesses.
  static void forgetAccesses(Region &region);

  Party party(AgentId agent, const ptx::Instruction *instruction, Access access) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tile_emu
