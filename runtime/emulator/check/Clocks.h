// Vector clocks that are cheap to copy: what happened before, per agent. Most threads of a block
// know the same things, so clocks share their contents until one of them changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tile_emu {

using AgentId = uint32_t;
using ThreadId = AgentId;
using Step32 = uint32_t; ///< step of an agent, counted from 1; 0: nothing

/// Agents are numbered in pages: a block has one for its threads and first channels, and further
/// ones when it has many channels. Threads of a warp lie next to one another, from a multiple of
/// 32.
constexpr unsigned kAgentPageBits = 11;
constexpr AgentId kAgentPageSize = AgentId(1) << kAgentPageBits;
constexpr AgentId pageOf(AgentId agent) { return agent >> kAgentPageBits; }
constexpr AgentId inPage(AgentId agent) { return agent & (kAgentPageSize - 1); }

/// Threads of one warp: `first + i` for every bit i of `mask`; `first` is the thread of lane 0.
struct WarpLanes {
  ThreadId first = 0;
  uint32_t mask = 0;
  static WarpLanes one(ThreadId thread) { return {thread & ~31u, 1u << (thread & 31)}; }
};

namespace detail {

/// A counted reference to T, which has `uint32_t references`. Not for several threads.
template <typename T>
class Shared {
public:
  Shared() = default;
  explicit Shared(T *object) : object(object) { retain(); }
  Shared(const Shared &other) : object(other.object) { retain(); }
  Shared(Shared &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Shared &operator=(Shared other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Shared() {
    if (object && --object->references == 0) {
      delete object;
    }
  }
  const T *get() const { return object; }
  const T *operator->() const { return object; }
  const T &operator*() const { return *object; }
  explicit operator bool() const { return object; }
  bool operator==(const Shared &other) const { return object == other.object; }
  /// For writing: a copy of its own where others see it too; a new one where there is none.
  T &own() {
    if (!object) {
      *this = Shared(new T);
    } else if (object->references > 1) {
      T *copy = new T(*object);
      copy->references = 0;
      *this = Shared(copy);
    }
    return *object;
  }

private:
  void retain() {
    if (object) {
      ++object->references;
    }
  }
  T *object = nullptr;
};

struct ClockPage {
  uint32_t references = 0;
  AgentId page = 0;
  std::vector<Step32> steps; ///< by agent in the page; those beyond the end are 0
};

struct ClockPages {
  uint32_t references = 0;
  std::vector<Shared<ClockPage>> pages; ///< by number of the page
};

} // namespace detail

/// The last step known of every agent. Copies share.
class Clock {
public:
  Step32 of(AgentId agent) const {
    std::span<const Step32> steps = page(pageOf(agent));
    return inPage(agent) < steps.size() ? steps[inPage(agent)] : 0;
  }
  /// What is known of the agents of one page, from its first; those beyond the end: 0.
  std::span<const Step32> page(AgentId number) const;
  void raise(AgentId agent, Step32 step);
  /// Every lane to the same step.
  void raise(WarpLanes lanes, Step32 step);
  void join(const Clock &other);
  void clear() { content = {}; }
  bool empty() const { return !content; }
  /// The same contents by being the same object; false says nothing.
  bool sharesWith(const Clock &other) const { return content == other.content; }

private:
  std::vector<Step32> &ownPage(AgentId number, size_t size);
  detail::Shared<detail::ClockPages> content;
};

/// State spaces that a fence.proxy.async can be restricted to; shared memory is that of the
/// cluster.
enum class FencedSpace : uint8_t { Global, Shared };
constexpr size_t kNumFencedSpaces = 2;

/// One of each for accesses of a space.
template <typename T>
struct BySpace {
  std::array<T, kNumFencedSpaces> all{};
  T &operator[](FencedSpace space) { return all[size_t(space)]; }
  const T &operator[](FencedSpace space) const { return all[size_t(space)]; }
};
/// Calls `f(space)` for each.
template <typename F>
void forEachSpace(F &&f) {
  f(FencedSpace::Global);
  f(FencedSpace::Shared);
}

/// What is known to have happened. `fenced` is never ahead of `happened`.
struct Knowledge {
  Clock happened;        ///< before
  BySpace<Clock> fenced; ///< before, with a fence.proxy.async of the space between
  void join(const Knowledge &other) {
    happened.join(other.happened);
    forEachSpace([&](FencedSpace space) { fenced[space].join(other.fenced[space]); });
  }
};

/// Something through which knowledge passes from one thread to another: a phase of a barrier, an
/// atomic location. Join into it on release, from it on acquire. Copies are cheap.
class SyncPoint {
public:
  const Knowledge &knowledge() const { return known; }
  void join(const SyncPoint &other) {
    joinHappened(other.known.happened);
    forEachSpace([&](FencedSpace space) { joinFenced(space, other.known.fenced[space]); });
  }
  void joinHappened(const Clock &other);
  void joinFenced(FencedSpace space, const Clock &other);
  void raise(AgentId agent, Step32 happened) { known.happened.raise(agent, happened); }
  void raise(WarpLanes lanes, Step32 happened) { known.happened.raise(lanes, happened); }
  void raiseFenced(FencedSpace space, WarpLanes lanes, Step32 fenced) {
    known.fenced[space].raise(lanes, fenced);
  }

private:
  Knowledge known;
  Knowledge last; ///< clocks joined most recently: joining them again changes nothing
};

} // namespace tile_emu
