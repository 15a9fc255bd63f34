//===- HostFibers.h - the threads of a region, one after another ----------===//
//
// Each thread of a `threads` region runs on a stack of its own until it reaches a barrier or an
// exchange among the lanes of its warp; then the next one runs. One thread at a time: atomics need
// nothing more.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cpu/HostRuntime.h"

#include <ucontext.h>

namespace tilec::cpu {

/// Generated code of one thread of a region.
using ThreadBody = void (*)(HostThread *thread, void *closure, int64_t number);

class FiberScheduler {
public:
  FiberScheduler() = default;
  ~FiberScheduler();
  FiberScheduler(const FiberScheduler &) = delete;
  FiberScheduler &operator=(const FiberScheduler &) = delete;

  /// Runs `count` threads to their end. A barrier that not all of them reach ends the program.
  void run(HostThread *block, ThreadBody body, void *closure, int64_t count, const char *where);

  /// Waits for all threads of the block at the barrier in the source at `where`.
  void syncThreads(HostThread *thread, const char *where);

  /// Waits for the 32 lanes of the warp at the same place and returns what each of them gave.
  const uint64_t *exchange(HostThread *thread, uint64_t bits, const char *where);

  /// Whether a thread of a region runs now, rather than code of the block.
  bool inThread() const { return active != nullptr; }
  /// Leaves the current thread for good; control is back in `run`, which then leaves the program.
  [[noreturn]] void abandon();

private:
  enum class State { Ready, AtBarrier, AtExchange, Done };
  struct Fiber {
    ucontext_t context;
    HostThread thread;
    State state = State::Done;
    const char *place = nullptr; ///< where it waits
    uint64_t given = 0;
  };
  struct Warp {
    uint64_t values[32];
  };

  void prepare(int64_t count);
  void start(Fiber &fiber);
  void wait(Fiber &fiber, State state, const char *where);
  bool runReady();
  bool releaseWarps(HostThread *block);
  bool releaseBarrier(HostThread *block);
  static void enter(unsigned high, unsigned low);

  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  char *stacks = nullptr;
  size_t stacksSize = 0;
  ucontext_t scheduler;
  Fiber *active = nullptr;
  bool abandoned = false;
  ThreadBody body = nullptr;
  void *closure = nullptr;
  int64_t numThreads = 0;
};

} // namespace tilec::cpu
