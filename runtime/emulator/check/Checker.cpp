// Agents, and what they know of one another.
#include "CheckerState.h"

#include <algorithm>
#include <atomic>

namespace tile_emu {

/// Every launch of every checker is another era.
static uint64_t nextEra() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

Checker::Checker(ReportSink &sink) : state(std::make_unique<State>(sink)) { newLaunch(); }
Checker::~Checker() = default;

void Checker::enableRaces(bool on) { state->races = on; }

/// Launches that run into one another, more than any call has; so many agents find room in one page.
constexpr size_t kMostEarlier = kAgentPageSize - 2;

void Checker::newLaunch(bool overlaps) {
  const std::unique_ptr<State> before = std::move(state);
  state = std::make_unique<State>(before->sink);
  state->races = before->races;
  state->era = nextEra();
  state->blocks.emplace_back();
  state->pages.emplace_back();
  if (!overlaps || before->earlier.size() == kMostEarlier) {
    return;
  }
  state->earlier = std::move(before->earlier);
  state->earlier.push_back({before->era, before->hasWaited});
  state->instructions = std::move(before->instructions); // those of accesses that are remembered
  state->numbers = std::move(before->numbers);
  state->pages[0].channels.assign(state->earlier.size() + 1, {0, "launch", 0});
  for (size_t i = state->earlier.size(); i-- > 0;) {
    state->endedLaunches.raise(State::agentOf(i), 1);
    if (!state->earlier[i].hasWaited) {
      break; // that it has ended says nothing of the one before it
    }
  }
}

void Checker::waitForLaunches(WarpLanes lanes) {
  state->hasWaited = true;
  if (!state->races || state->endedLaunches.empty()) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  state->joinInto(lanes, warp.happened, state->endedLaunches);
  forEachSpace(
      [&](FencedSpace space) { state->joinInto(lanes, warp.fenced[space], state->endedLaunches); });
}

//===----------------------------------------------------------------------===//
// Agents
//===----------------------------------------------------------------------===//

AgentId Checker::State::newPage(uint32_t block, uint32_t threads) {
  if (pages.size() >= size_t(1) << (32 - kAgentPageBits)) {
    throw Fault({Report::Kind::Unsupported,
                 "too many blocks in one launch to look for data races in them",
                 {},
                 {"Run with fewer blocks, or without looking for races."}});
  }
  pages.push_back({block, threads, {}});
  return AgentId(pages.size() - 1);
}

ThreadId Checker::newBlock(std::array<uint32_t, 3> block, std::array<uint32_t, 3> threadsPerBlock,
                           uint32_t cluster) {
  uint64_t threads = uint64_t(threadsPerBlock[0]) * threadsPerBlock[1] * threadsPerBlock[2];
  if (threads == 0 || threads > kAgentPageSize) {
    throw Fault({Report::Kind::Invalid,
                 "a block cannot have " + std::to_string(threads) + " threads",
                 {},
                 {}});
  }
  uint32_t warps = uint32_t(threads + 31) / 32;
  BlockInfo info;
  info.index = block;
  info.dims = threadsPerBlock;
  info.cluster = cluster == UINT32_MAX ? uint32_t(state->blocks.size()) : cluster;
  info.openPage = state->newPage(uint32_t(state->blocks.size()), 32 * warps);
  info.first = info.openPage << kAgentPageBits;
  info.warps = std::make_unique<WarpState[]>(warps);
  state->blocks.push_back(std::move(info));
  return state->blocks.back().first;
}

AgentId Checker::newChannel(ThreadId owner, const char *kind, uint64_t address) {
  uint32_t block = state->pages[pageOf(owner)].block;
  AgentId &page = state->blocks[block].openPage;
  if (state->pages[page].threads + state->pages[page].channels.size() >= kAgentPageSize) {
    page = state->newPage(block, 0);
  }
  PageInfo &info = state->pages[page];
  info.channels.push_back({owner, kind, address});
  return (page << kAgentPageBits) + info.threads + AgentId(info.channels.size() - 1);
}

void Checker::endBlock(ThreadId first) {
  state->blocks[state->pages[pageOf(first)].block].warps.reset();
}

ThreadName Checker::State::nameOf(ThreadId thread) const {
  const BlockInfo &block = blockOf(thread);
  uint32_t index = inPage(thread), x = std::max(block.dims[0], 1u), y = std::max(block.dims[1], 1u);
  return {block.index, {index % x, index / x % y, index / x / y}};
}

uint32_t Checker::State::numberOf(const ptx::Instruction *instruction) {
  auto &recent = recentNumbers[reinterpret_cast<uintptr_t>(instruction) / sizeof(ptx::Instruction) %
                               recentNumbers.size()];
  if (recent.first == instruction && !instructions.empty()) {
    return recent.second;
  }
  auto [it, isNew] = numbers.try_emplace(instruction, uint32_t(instructions.size()));
  if (isNew) {
    instructions.push_back(instruction);
  }
  recent = *it;
  return it->second;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Clock Checker::State::join(const Clock &a, const Clock &b) {
  if (b.empty() || a.sharesWith(b)) {
    return a;
  }
  if (a.empty()) {
    return b;
  }
  for (const Joined &known : joins) {
    if (known.a.sharesWith(a) && known.b.sharesWith(b)) {
      return known.result;
    }
  }
  Clock result = a;
  result.join(b);
  joins[nextJoin] = {a, b, result};
  nextJoin = (nextJoin + 1) % joins.size();
  return result;
}

void Checker::State::joinInto(WarpLanes lanes, std::array<Clock, 32> &clocks, const Clock &what) {
  if (what.empty()) {
    return;
  }
  forEachClock(lanes.mask, clocks, [&](const Clock &old, uint32_t same) {
    Clock result = join(old, what);
    if (!result.sharesWith(old)) {
      forEachLane(same, [&](unsigned lane) { clocks[lane] = result; });
    }
  });
}

/// What the warp's lanes know, without what they did themselves.
static void joinKnown(const WarpState &warp, uint32_t mask, SyncPoint &point) {
  forEachClock(mask, warp.happened,
               [&](const Clock &clock, uint32_t) { point.joinHappened(clock); });
  forEachSpace([&](FencedSpace space) {
    forEachClock(mask, warp.fenced[space],
                 [&](const Clock &clock, uint32_t) { point.joinFenced(space, clock); });
  });
}

/// `f(lanes, step)` for the lanes whose own steps lie before a proxy fence, by their last.
template <typename F>
static void forOwnFenced(const std::array<Step32, 32> &ownFenced, uint32_t mask, F &&f) {
  while (mask) {
    Step32 step = ownFenced[unsigned(std::countr_zero(mask))];
    uint32_t same = 0;
    forEachLane(mask, [&](unsigned lane) { same |= uint32_t(ownFenced[lane] == step) << lane; });
    if (step) {
      f(same, step);
    }
    mask &= ~same;
  }
}

void Checker::release(WarpLanes lanes, SyncPoint &point) {
  if (!state->races) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  joinKnown(warp, lanes.mask, point);
  point.raise(lanes, warp.step);
  forEachSpace([&](FencedSpace space) {
    forOwnFenced(warp.ownFenced[space], lanes.mask, [&](uint32_t same, Step32 step) {
      point.raiseFenced(space, {lanes.first, same}, step);
    });
  });
  ++warp.step;
}

void Checker::acquire(WarpLanes lanes, const SyncPoint &point) {
  if (!state->races) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  state->joinInto(lanes, warp.happened, point.knowledge().happened);
  forEachSpace([&](FencedSpace space) {
    state->joinInto(lanes, warp.fenced[space], point.knowledge().fenced[space]);
  });
}

AsyncOp Checker::issue(WarpLanes lanes, AgentId channel, Step32 step,
                       const ptx::Instruction *instruction) {
  AsyncOp op;
  op.channel = channel;
  op.step = step;
  op.issuer = lanes.first + unsigned(std::countr_zero(lanes.mask | 0x80000000));
  op.instruction = instruction;
  op.issuers = lanes;
  if (!state->races) {
    return op;
  }
  WarpState &warp = state->warpOf(lanes.first);
  forEachClock(lanes.mask, warp.happened,
               [&](const Clock &clock, uint32_t) { op.before.happened.join(clock); });
  op.issued = warp.step;
  forEachSpace([&](FencedSpace space) {
    Clock &fenced = op.before.fenced[space];
    forEachClock(lanes.mask, warp.fenced[space],
                 [&](const Clock &clock, uint32_t) { fenced.join(clock); });
    Step32 &byAll = op.issuedFenced[space];
    byAll = ~Step32(0);
    forEachLane(lanes.mask,
                [&](unsigned lane) { byAll = std::min(byAll, warp.ownFenced[space][lane]); });
    forOwnFenced(warp.ownFenced[space], lanes.mask, [&](uint32_t same, Step32 own) {
      if (own > byAll) {
        fenced.raise({lanes.first, same}, own);
      }
    });
  });
  ++warp.step;
  return op;
}

void Checker::proxyFence(WarpLanes lanes, std::optional<FencedSpace> only) {
  if (!state->races) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  forEachSpace([&](FencedSpace space) {
    if (only && *only != space) {
      return;
    }
    forEachLane(lanes.mask, [&](unsigned lane) {
      warp.fenced[space][lane] = warp.happened[lane];
      warp.ownFenced[space][lane] = warp.step;
    });
  });
  ++warp.step;
}

static std::array<FenceState, 32> &fencesOf(WarpState &warp) {
  if (!warp.fences) {
    warp.fences = std::make_unique<std::array<FenceState, 32>>();
  }
  return *warp.fences;
}

void Checker::fence(WarpLanes lanes, Scope scope, Fence kind) {
  if (!state->races) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  forEachLane(lanes.mask, [&](unsigned lane) {
    FenceState &fence = fencesOf(warp)[lane];
    const Knowledge &pending = fence.pending[size_t(scope)];
    if (kind != Fence::Release) {
      warp.happened[lane].join(pending.happened);
      forEachSpace(
          [&](FencedSpace space) { warp.fenced[space][lane].join(pending.fenced[space]); });
      for (size_t inner = 0; inner <= size_t(scope); ++inner) {
        fence.pending[inner] = {};
      }
    }
    if (kind == Fence::Acquire) {
      return;
    }
    FenceState::Covered covered;
    covered.knowledge.happened = warp.happened[lane];
    covered.own = warp.step;
    forEachSpace([&](FencedSpace space) {
      covered.knowledge.fenced[space] = warp.fenced[space][lane];
      covered.ownFenced[space] = warp.ownFenced[space][lane];
    });
    for (size_t inner = 0; inner <= size_t(scope); ++inner) {
      fence.covered[inner] = covered;
    }
  });
  ++warp.step;
}

/// What a lane's last fence of a scope covers.
static void releaseCovered(const WarpState &warp, ThreadId first, unsigned lane, Scope scope,
                           SyncPoint &point) {
  if (!warp.fences) {
    return;
  }
  const FenceState::Covered &covered = (*warp.fences)[lane].covered[size_t(scope)];
  if (covered.own == 0) {
    return;
  }
  WarpLanes one{first, 1u << lane};
  point.joinHappened(covered.knowledge.happened);
  point.raise(one, covered.own);
  forEachSpace([&](FencedSpace space) {
    point.joinFenced(space, covered.knowledge.fenced[space]);
    point.raiseFenced(space, one, covered.ownFenced[space]);
  });
}

void Checker::releaseRelaxed(WarpLanes lanes, SyncPoint &point, Scope scope) {
  if (!state->races) {
    return;
  }
  const WarpState &warp = state->warpOf(lanes.first);
  forEachLane(lanes.mask,
              [&](unsigned lane) { releaseCovered(warp, lanes.first, lane, scope, point); });
}

void Checker::acquireRelaxed(WarpLanes lanes, const SyncPoint &point, Scope scope) {
  if (!state->races) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  forEachLane(lanes.mask, [&](unsigned lane) {
    for (size_t fence = size_t(scope); fence < kNumScopes; ++fence) {
      fencesOf(warp)[lane].pending[fence].join(point.knowledge());
    }
  });
}

Step32 Checker::known(ThreadId thread, AgentId agent) const {
  if (!state->races) {
    return 0;
  }
  const WarpState &warp = state->warpOf(thread);
  return thread == agent ? warp.step : warp.happened[thread & 31].of(agent);
}

void Checker::complete(WarpLanes lanes, AgentId channel, Step32 step) {
  if (!state->races || step == 0) {
    return;
  }
  WarpState &warp = state->warpOf(lanes.first);
  uint32_t rest = lanes.mask;
  while (rest) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint32_t same = 0;
    forEachLane(rest, [&](unsigned other) {
      same |= uint32_t(warp.happened[other].sharesWith(warp.happened[lane])) << other;
    });
    rest &= ~same;
    // Where nobody else shares the clock, this changes it in place.
    Clock clock = std::move(warp.happened[lane]);
    forEachLane(same, [&](unsigned other) { warp.happened[other].clear(); });
    clock.raise(channel, step);
    forEachLane(same, [&](unsigned other) { warp.happened[other] = clock; });
  }
}

void Checker::complete(SyncPoint &point, AgentId channel, Step32 step) {
  if (state->races) {
    point.raise(channel, step);
  }
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

/// What a thread of a block gets from a location, with an operation of a scope.
template <typename F>
static void forVisible(const Shadow::Location &location, const BlockInfo &block, Scope scope,
                       F &&f) {
  auto own = location.blocks.find(block.first);
  if (own != location.blocks.end()) {
    f(own->second);
  }
  auto cluster = location.clusters.find(block.cluster);
  if (scope >= Scope::Cluster && cluster != location.clusters.end()) {
    f(cluster->second);
  }
  if (scope >= Scope::Gpu) {
    f(location.all);
  }
}

/// An operation of a scope reads what a location releases: at once if it acquires, else when the
/// thread's next fence does, as far as that one's scope goes.
static void acquireFrom(Checker &checker, WarpState &warp, ThreadId thread, bool acquires,
                        const Shadow::Location &location, const BlockInfo &block, Scope scope) {
  if (acquires) {
    forVisible(location, block, scope,
               [&](const SyncPoint &point) { checker.acquire(thread, point); });
    return;
  }
  for (Scope fence : {Scope::Cta, Scope::Cluster, Scope::Gpu}) {
    Knowledge &pending = fencesOf(warp)[thread & 31].pending[size_t(fence)];
    forVisible(location, block, std::min(fence, scope),
               [&](const SyncPoint &point) { pending.join(point.knowledge()); });
  }
}

void Checker::atomic(ThreadId thread, const MemoryRange &range, bool acquires, bool releases,
                     const ptx::Instruction *instruction, AtomicKind kind, Scope scope,
                     unsigned width) {
  access(kind == AtomicKind::Load ? Access::Read : Access::Write, thread, range,
         {.atomic = true, .scope = scope, .width = width ? width : unsigned(range.bytes)},
         instruction);
  Shadow *shadow = state->races ? state->shadowOf(*range.region) : nullptr;
  if (!shadow || range.bytes == 0) {
    return;
  }
  WarpLanes lane = WarpLanes::one(thread);
  WarpState &warp = state->warpOf(thread);
  const BlockInfo &block = state->blockOf(thread);
  uint64_t firstWord = range.offset / 4, lastWord = (range.offset + range.bytes - 1) / 4;
  for (uint64_t word = firstWord; word <= lastWord && kind != AtomicKind::Store; ++word) {
    auto at = shadow->locations.find(word);
    if (at != shadow->locations.end()) {
      acquireFrom(*this, warp, thread, acquires, at->second, block, scope);
    }
  }
  if (kind == AtomicKind::Load) {
    return;
  }
  std::array<SyncPoint, kNumScopes> released; // by the scope to which
  if (releases) {
    release(lane, released[0]);
    released[1] = released[2] = released[0];
  } else {
    for (size_t inner = 0; inner <= size_t(scope); ++inner) {
      releaseCovered(warp, lane.first, thread & 31, Scope(inner), released[inner]);
    }
  }
  bool nothing = released[0].knowledge().happened.empty();
  for (uint64_t word = firstWord; word <= lastWord; ++word) {
    if (kind == AtomicKind::Store) {
      shadow->locations.erase(word); // a store starts anew what acquiring reads get
    }
    if (nothing) {
      continue;
    }
    Shadow::Location &location = shadow->locations[word];
    location.blocks[block.first].join(released[0]);
    if (scope >= Scope::Cluster) {
      location.clusters[block.cluster].join(released[1]);
    }
    if (scope >= Scope::Gpu) {
      location.all.join(released[2]);
    }
  }
}

bool scopesInclude(const Checker::State &state, const AccessRecord &a, const AccessRecord &b) {
  const BlockInfo &first = state.blockOf(a.agent), &second = state.blockOf(b.agent);
  switch (Scope(std::min(a.scope(), b.scope()))) {
  case Scope::Cta:
    return first.first == second.first;
  case Scope::Cluster:
    return first.cluster == second.cluster;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Definedness
//===----------------------------------------------------------------------===//

void Checker::attach(Region &region, bool defined) {
  region.shadow = std::make_unique<Shadow>(region.bytes.size(), defined);
}

bool Checker::isDefined(const MemoryRange &range) {
  return !range.region->shadow || range.region->shadow->isDefined(range.offset, range.bytes);
}

void Checker::setDefined(const MemoryRange &range, bool defined) {
  if (range.region->shadow) {
    range.region->shadow->setDefined(range.offset, range.bytes, defined);
  }
}

uint64_t Checker::undefinedBits(const MemoryRange &range) {
  uint64_t bits = 0;
  if (!isDefined(range)) {
    for (uint64_t i = 0; i != range.bytes; ++i) {
      bits |= isDefined({range.region, range.offset + i, 1}) ? 0 : uint64_t(0xff) << 8 * i;
    }
  }
  return bits;
}

void Checker::setUndefinedBits(const MemoryRange &range, uint64_t undefined) {
  setDefined(range, true);
  for (uint64_t i = 0; i != range.bytes && undefined >> 8 * i; ++i) {
    if (undefined >> 8 * i & 0xff) {
      setDefined({range.region, range.offset + i, 1}, false);
    }
  }
}

void Checker::forgetAccesses(Region &region) {
  if (region.shadow) {
    region.shadow->forget();
  }
}

Shadow *Checker::State::shadowOf(Region &region) {
  Shadow *shadow = region.shadow.get();
  if (!shadow || (region.kind != Region::Kind::Global && region.kind != Region::Kind::Shared)) {
    return nullptr;
  }
  if (shadow->era != era) {
    auto last = std::find_if(earlier.begin(), earlier.end(),
                             [&](const Earlier &launch) { return launch.era == shadow->era; });
    if (last == earlier.end()) {
      shadow->forget();
    } else {
      shadow->assignTo(agentOf(size_t(last - earlier.begin())));
    }
    shadow->era = era;
  }
  return shadow;
}

} // namespace tile_emu
