// What a Checker keeps: blocks and their agents, what each thread knows, instructions by number.
#pragma once

#include "Checker.h"
#include "Shadow.h"

#include <optional>
#include <unordered_map>

namespace tile_emu {

/// For atomic operations without semantics of their own: what the thread's last fence covers, and
/// what it has read that its next fence acquires.
struct FenceState {
  struct Covered {
    Knowledge knowledge; ///< without the thread's own steps:
    Step32 own = 0;
    BySpace<Step32> ownFenced;
  };
  /// By scope: what fences of that scope or a wider one cover.
  std::array<Covered, kNumScopes> covered;
  /// By scope: what a fence of that scope acquires.
  std::array<Knowledge, kNumScopes> pending;
};

/// What the threads of a warp know. Their steps are counted together: a step ends whenever one of
/// them passes its knowledge on, and with every store.
struct WarpState {
  Step32 step = 1;
  std::array<Clock, 32> happened; ///< without what a thread did itself
  BySpace<std::array<Clock, 32>> fenced;
  BySpace<std::array<Step32, 32>> ownFenced; ///< own steps up to here lie before a proxy fence
  std::unique_ptr<std::array<FenceState, 32>> fences; ///< made by the first fence
};

struct ChannelInfo {
  ThreadId owner = 0;
  const char *kind = "";
  uint64_t address = 0;
};

struct BlockInfo {
  std::array<uint32_t, 3> index{}, dims{};
  uint32_t cluster = 0;
  ThreadId first = 0;
  AgentId openPage = 0;               ///< for channels
  std::unique_ptr<WarpState[]> warps; ///< until the block has ended
};

/// 2048 numbers of agents: threads from the start, channels after them.
struct PageInfo {
  uint32_t block = 0;
  uint32_t threads = 0; ///< rounded up to whole warps
  std::vector<ChannelInfo> channels;
};

struct RaceKey {
  uint32_t earlier, later;
  uint16_t flags;
  uint8_t kind;
  bool operator==(const RaceKey &) const = default;
};
struct RaceKeyHash {
  size_t operator()(const RaceKey &key) const {
    return (uint64_t(key.earlier) << 32 | key.later) * 0x9e3779b97f4a7c15 +
           (size_t(key.flags) << 8 | key.kind);
  }
};

struct Checker::State {
  explicit State(ReportSink &sink) : sink(sink) {}

  ReportSink &sink;
  bool races = true;
  uint64_t era = 0;
  /// A launch that may still run when this one begins. Number i of them, from 0, is agent i + 1.
  struct Earlier {
    uint64_t era = 0;
    bool hasWaited = false; ///< so that with it those before it have ended
  };
  std::vector<Earlier> earlier;
  Clock endedLaunches; ///< who has waited for the last of them knows this
  bool hasWaited = false;
  static AgentId agentOf(size_t earlier) { return AgentId(earlier + 1); }
  std::vector<BlockInfo> blocks;
  /// The first has no threads, so that 0 is no agent; its channels are launches before this one.
  std::vector<PageInfo> pages;

  WarpState &warpOf(ThreadId thread) {
    const std::unique_ptr<WarpState[]> &warps = blocks[pages[pageOf(thread)].block].warps;
    return warps ? warps[inPage(thread) >> 5] : ended;
  }
  WarpState ended; ///< stands for threads of blocks that have ended
  AgentId newPage(uint32_t block, uint32_t threads);
  static bool isLaunch(AgentId agent) { return pageOf(agent) == 0; }
  bool isThread(AgentId agent) const { return inPage(agent) < pages[pageOf(agent)].threads; }
  const BlockInfo &blockOf(AgentId agent) const { return blocks[pages[pageOf(agent)].block]; }
  ChannelInfo channel(AgentId agent) const {
    const PageInfo &page = pages[pageOf(agent)];
    size_t index = inPage(agent) - page.threads;
    return index < page.channels.size() ? page.channels[index] : ChannelInfo{};
  }
  ThreadName nameOf(ThreadId thread) const;

  /// `a` joined with `b`. Remembers a few results, so that threads that know the same before know
  /// the same object afterwards.
  Clock join(const Clock &a, const Clock &b);
  struct Joined {
    Clock a, b, result;
  };
  std::array<Joined, 16> joins;
  unsigned nextJoin = 0;
  void joinInto(WarpLanes lanes, std::array<Clock, 32> &clocks, const Clock &what);

  // Instructions as numbers.
  uint32_t numberOf(const ptx::Instruction *instruction);
  std::vector<const ptx::Instruction *> instructions;
  std::unordered_map<const ptx::Instruction *, uint32_t> numbers;
  std::array<std::pair<const ptx::Instruction *, uint32_t>, 256> recentNumbers{};

  /// The region's shadow with what happened before this launch forgotten, or that of earlier ones which it overlaps
  /// assigned to their agents; null where accesses are not compared.
  Shadow *shadowOf(Region &region);

  // Races: reports already made.
  std::unordered_map<RaceKey, size_t, RaceKeyHash> reported;
};

/// What a report about two accesses says. Explain.cpp.
struct Conflict {
  AccessRecord earlier, later;
  AgentId earlierAgent = 0, laterAgent = 0; ///< of the records' agents, those that are not ordered
  bool fenceMissing = false;                ///< ordered, but for a proxy fence
  Step32 known = 0; ///< the last step of the earlier agent that the later one knows
  MemoryRange bytes;
};
Report explain(const Checker::State &state, const Conflict &conflict);

/// A location is read without coherence by `reader` and written by `writer`, in either order.
Report explainNonCoherent(const Checker::State &state, const MemoryRange &bytes,
                          const AccessRecord *reader, const AccessRecord *writer);

/// Do the scopes of two atomic accesses include each other's agents?
bool scopesInclude(const Checker::State &state, const AccessRecord &a, const AccessRecord &b);

/// Whose access: the thread, or the issuing thread of a channel's.
Party partyOf(const Checker::State &state, AgentId agent, const AccessRecord &record);

/// Calls `f(lane)` for each bit.
template <typename F>
void forEachLane(uint32_t mask, F &&f) {
  for (; mask; mask &= mask - 1) {
    f(unsigned(std::countr_zero(mask)));
  }
}

/// Calls `f(clock, lanes)` for groups of lanes whose clocks are one object.
template <typename F>
void forEachClock(uint32_t mask, const std::array<Clock, 32> &clocks, F &&f) {
  while (mask) {
    Clock clock = clocks[unsigned(std::countr_zero(mask))];
    uint32_t same = 0;
    forEachLane(mask,
                [&](unsigned lane) { same |= uint32_t(clocks[lane].sharesWith(clock)) << lane; });
    f(clock, same);
    mask &= ~same;
  }
}

} // namespace tile_emu
