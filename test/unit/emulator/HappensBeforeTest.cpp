// The race detector against an explicit graph: random short traces, every pair of accesses compared
// by reachability.
#include "CheckerWorld.h"

#include <algorithm>
#include <bitset>
#include <gtest/gtest.h>
#include <random>

using namespace tile_emu;

namespace {

constexpr unsigned kMaxEvents = 800;

using Events = std::bitset<kMaxEvents>;

/// Accesses, each an event, and which ones an agent knows to have happened.
class Graph {
public:
  struct Known {
    Events happened, fenced; ///< fenced: with a proxy fence between
    void join(const Known &other) {
      happened |= other.happened;
      fenced |= other.fenced;
    }
  };
  struct Access {
    unsigned event;
    uint64_t offset, bytes;
    bool writes, async, atomic;
  };
  enum class Verdict { Fine, Race, Fence };

  unsigned newEvent() { return next++; }

  /// Whether all earlier accesses are ordered before this one, which is noted.
  Verdict access(const Known &known, const Access &access) {
    Verdict verdict = Verdict::Fine;
    for (const Access &other : accesses) {
      bool overlap =
          other.offset < access.offset + access.bytes && access.offset < other.offset + other.bytes;
      if (!overlap || (!access.writes && !other.writes) || (access.atomic && other.atomic)) {
        continue;
      }
      if (!known.happened[other.event]) {
        verdict = Verdict::Race;
      } else if (access.async && !other.async && other.writes && !known.fenced[other.event] &&
                 verdict == Verdict::Fine) {
        verdict = Verdict::Fence;
      }
    }
    accesses.push_back(access);
    return verdict;
  }
  void forget() { accesses.clear(); }

private:
  unsigned next = 0;
  std::vector<Access> accesses;
};

using Verdict = Graph::Verdict;

/// The same trace on both.
class Trace : public CheckerWorld {
public:
  explicit Trace(unsigned seed) : random(seed) {
    for (uint32_t b = 0; b < kBlocks; ++b) {
      ThreadId first = block(b, 64);
      for (unsigned i = 0; i < kThreads; ++i) { // the last one is of another warp
        threads.push_back(first + (i < kLanes ? i : 33));
        channels.push_back(checker.newChannel(threads.back(), "bulk group"));
      }
    }
    known.resize(threads.size());
    channelStep.resize(threads.size(), 1);
    channelEvents.resize(threads.size());
    points.resize(3);
    graphPoints.resize(3);
  }

  void run(unsigned steps) {
    for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      step();
    }
  }

  std::array<unsigned, 3> verdicts{};

private:
  static constexpr uint32_t kBlocks = 2;
  static constexpr unsigned kLanes = 5, kThreads = kLanes + 1;
  struct Pending {
    AsyncOp op;
    Graph::Known before;
    unsigned agent, event;
    bool writes;
    uint64_t offset, bytes;
  };

  unsigned below(unsigned n) { return unsigned(random() % n); }

  void expect(Verdict verdict) {
    Verdict found = Verdict::Fine;
    for (const Report &report : sink.reports()) {
      if (report.kind == Report::Kind::Race) {
        found = Verdict::Race;
      } else if (found == Verdict::Fine) {
        found = Verdict::Fence;
      }
    }
    EXPECT_EQ(int(found), int(verdict)) << log;
    sink.clear();
  }

  std::pair<uint64_t, uint64_t> range() {
    uint64_t bytes = uint64_t(1) << below(5);
    return {bytes * below(unsigned(96 / bytes)), bytes};
  }

  void step() {
    unsigned i = below(unsigned(threads.size())), j = below(unsigned(threads.size()));
    unsigned what = below(46);
    if (what >= 43) {
      return warpBarrier(i / kThreads);
    }
    if (what >= 40) {
      return warpAccess(i / kThreads);
    }
    if (what < 8) {
      return plainAccess(i, below(4) == 0);
    }
    if (what < 20) {
      log += "pass " + std::to_string(i) + " " + std::to_string(j) + "\n";
      pass(threads[i], threads[j]);
      return known[j].join(known[i]);
    }
    if (what < 23) {
      log += "release " + std::to_string(i) + "\n";
      checker.release(threads[i], points[j % 3]);
      return graphPoints[j % 3].join(known[i]);
    }
    if (what < 26) {
      log += "acquire " + std::to_string(i) + "\n";
      checker.acquire(threads[i], points[j % 3]);
      return known[i].join(graphPoints[j % 3]);
    }
    if (what == 26) {
      log += "fence " + std::to_string(i) + "\n";
      checker.proxyFence(threads[i]);
      known[i].fenced = known[i].happened;
      return;
    }
    if (what < 31) {
      return issueWork(i);
    }
    if (what < 36) {
      return pending.empty() ? void() : performWork(below(unsigned(pending.size())));
    }
    return waitFor(i);
  }

  void plainAccess(unsigned i, bool atomic) {
    auto [offset, bytes] = range();
    bool writes = below(2) != 0;
    log += (writes ? "write " : "read ") + std::to_string(i) + " " + std::to_string(offset) + " " +
           std::to_string(bytes) + (atomic ? " atomic\n" : "\n");
    unsigned event = graph.newEvent();
    Verdict verdict =
        graph.access(known[i], {event, offset, bytes, writes, /*async=*/false, atomic});
    known[i].happened[event] = true;
    if (writes) {
      write(threads[i], global(), offset, bytes, {.atomic = atomic});
    } else {
      read(threads[i], global(), offset, bytes, {.atomic = atomic});
    }
    expect(verdict);
    ++verdicts[int(verdict)];
    if (verdict != Verdict::Fine) {
      reset();
    }
  }

  /// Some lanes of the block's first warp in one instruction: next to one another, all the same, or
  /// anywhere.
  void warpAccess(unsigned block) {
    uint32_t mask = 1 + below((1u << kLanes) - 1);
    uint64_t bytes = uint64_t(1) << below(6), start = below(unsigned(96 / bytes));
    bool writes = below(2) != 0;
    unsigned pattern = below(3);
    std::array<uint64_t, kLanes> place;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      place[lane] = pattern == 1 ? start : start + lane;
    }
    if (pattern == 2) {
      std::shuffle(place.begin(), place.end(), random);
    }
    log += std::string("warp ") + (writes ? "write " : "read ") + std::to_string(block) +
           " lanes " + std::to_string(mask) + " bytes " + std::to_string(bytes);
    std::array<uint64_t, 32> offsets{};
    Events own;
    std::array<unsigned, kLanes> events;
    forLanes(mask, [&](unsigned lane) {
      offsets[lane] = place[lane] * bytes;
      log += " " + std::to_string(offsets[lane]);
      events[lane] = graph.newEvent();
      own[events[lane]] = writes; // one of the lanes wins
    });
    log += "\n";
    Verdict verdict = Verdict::Fine;
    forLanes(mask, [&](unsigned lane) {
      Graph::Known before = known[block * kThreads + lane];
      before.happened |= own;
      Verdict found =
          graph.access(before, {events[lane], offsets[lane], bytes, writes, false, false});
      verdict = found == Verdict::Fine ? verdict : found;
      known[block * kThreads + lane].happened[events[lane]] = true;
    });
    checker.access(writes ? Access::Write : Access::Read,
                   WarpLanes{threads[block * kThreads], mask}, global(), offsets.data(),
                   unsigned(bytes), {}, instruction({writes ? "st" : "ld"}));
    expect(verdict);
    ++verdicts[int(verdict)];
    if (verdict != Verdict::Fine) {
      reset();
    }
  }

  void warpBarrier(unsigned block) {
    uint32_t mask = 1 + below((1u << kLanes) - 1);
    log += "warp barrier " + std::to_string(block) + " lanes " + std::to_string(mask) + "\n";
    WarpLanes lanes{threads[block * kThreads], mask};
    SyncPoint point;
    Graph::Known all;
    checker.release(lanes, point);
    checker.acquire(lanes, point);
    forLanes(mask, [&](unsigned lane) { all.join(known[block * kThreads + lane]); });
    forLanes(mask, [&](unsigned lane) { known[block * kThreads + lane] = all; });
    if (below(2)) {
      log += "fence\n";
      checker.proxyFence(lanes);
      forLanes(mask, [&](unsigned lane) {
        known[block * kThreads + lane].fenced = known[block * kThreads + lane].happened;
      });
    }
  }

  template <typename F>
  static void forLanes(uint32_t mask, F &&f) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (mask >> lane & 1) {
        f(lane);
      }
    }
  }

  void issueWork(unsigned i) {
    auto [offset, bytes] = range();
    unsigned event = graph.newEvent();
    log += "issue " + std::to_string(i) + "\n";
    pending.push_back({issue(threads[i], channels[i], channelStep[i]), known[i], i, event,
                       below(2) != 0, offset, bytes});
    channelEvents[i].emplace_back(channelStep[i], event);
  }

  void performWork(unsigned index) {
    Pending work = pending[index];
    pending.erase(pending.begin() + index);
    log += "perform " + std::to_string(work.agent) + (work.writes ? " write " : " read ") +
           std::to_string(work.offset) + " " + std::to_string(work.bytes) + "\n";
    Verdict verdict = graph.access(work.before, {work.event, work.offset, work.bytes, work.writes,
                                                 /*async=*/true, /*atomic=*/false});
    if (work.writes) {
      asyncWrite(work.op, global(), work.offset, work.bytes);
    } else {
      asyncRead(work.op, global(), work.offset, work.bytes);
    }
    expect(verdict);
    ++verdicts[int(verdict)];
    if (verdict != Verdict::Fine) {
      reset();
    }
  }

  /// Performs all of the thread's work and closes the group.
  void waitFor(unsigned i) {
    for (unsigned k = 0; k < pending.size();) {
      if (pending[k].agent == i) {
        performWork(k);
        if (testing::Test::HasFailure()) {
          return;
        }
        k = 0;
      } else {
        ++k;
      }
    }
    log += "wait " + std::to_string(i) + "\n";
    checker.complete(threads[i], channels[i], channelStep[i]);
    for (auto [step, event] : channelEvents[i]) {
      known[i].happened[event] = true;
    }
    ++channelStep[i];
  }

  /// After a report the two differ in what they remember of the racing accesses.
  void reset() {
    log += "forget\n";
    Checker::forgetAccesses(global());
    graph.forget();
  }

  std::mt19937 random;
  std::vector<ThreadId> threads;
  std::vector<AgentId> channels;
  std::vector<Graph::Known> known;
  std::vector<Step32> channelStep;
  std::vector<std::vector<std::pair<Step32, unsigned>>> channelEvents;
  std::vector<SyncPoint> points;
  std::vector<Graph::Known> graphPoints;
  std::vector<Pending> pending;
  Graph graph;
  std::string log;
};

TEST(HappensBefore, RandomTracesAgreeWithTheGraph) {
  std::array<unsigned, 3> verdicts{};
  for (unsigned seed = 0; seed < 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Trace trace(seed);
    trace.run(400);
    for (int i = 0; i < 3; ++i) {
      verdicts[i] += trace.verdicts[i];
    }
  }
  // The traces show all of it.
  for (unsigned count : verdicts) {
    EXPECT_GT(count, 30u);
  }
}

} // namespace
