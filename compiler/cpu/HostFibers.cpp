//===- HostFibers.cpp ----------------------------------------------------===//
#include "compiler/cpu/HostFibers.h"

#include "llvm/Support/ErrorHandling.h"

#include <sys/mman.h>

namespace tilec::cpu {
namespace {
constexpr size_t kStackSize = 256 * 1024; ///< reserved; memory is used as far as it is touched
constexpr int64_t kWarpSize = 32;
} // namespace

FiberScheduler::~FiberScheduler() {
  if (stacks) {
    munmap(stacks, stacksSize);
  }
}

void FiberScheduler::prepare(int64_t count) {
  numThreads = count;
  if (stacksSize < kStackSize * count) {
    if (stacks) {
      munmap(stacks, stacksSize);
    }
    stacksSize = kStackSize * count;
    void *memory = mmap(nullptr, stacksSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      llvm::report_bad_alloc_error("stacks of the threads of a region");
    }
    stacks = static_cast<char *>(memory);
  }
  while ((int64_t)fibers.size() < count) {
    fibers.push_back(std::make_unique<Fiber>());
  }
  warps.resize((count + kWarpSize - 1) / kWarpSize);
}

/// First function on a thread's stack; makecontext passes ints, so the pointer comes in two halves.
void FiberScheduler::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<FiberScheduler *>(((uint64_t)high << 32) | low);
  Fiber &fiber = *self->active;
  self->body(&fiber.thread, self->closure, fiber.thread.number);
  fiber.state = State::Done;
  // Returning switches to uc_link, the scheduler.
}

void FiberScheduler::start(Fiber &fiber) {
  int64_t number = fiber.thread.number;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stacks + number * kStackSize;
  fiber.context.uc_stack.ss_size = kStackSize;
  fiber.context.uc_link = &scheduler;
  uint64_t self = reinterpret_cast<uint64_t>(this);
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(&FiberScheduler::enter), 2,
              (unsigned)(self >> 32), (unsigned)self);
  fiber.state = State::Ready;
}

void FiberScheduler::run(HostThread *block, ThreadBody threadBody, void *threadClosure,
                         int64_t count, const char *where) {
  prepare(count);
  body = threadBody;
  closure = threadClosure;
  abandoned = false;
  for (int64_t number = 0; number < count; ++number) {
    Fiber &fiber = *fibers[number];
    fiber.thread.run = block->run;
    fiber.thread.number = number;
    fiber.thread.arena.release(0);
    start(fiber);
  }
  // Exchanges are released before the barrier, which needs everybody.
  while (runReady() || releaseWarps(block) || releaseBarrier(block)) {
  }
}

/// Runs every thread that can run until it waits or ends; false if there was none.
bool FiberScheduler::runReady() {
  bool any = false;
  for (int64_t number = 0; number < numThreads; ++number) {
    Fiber &fiber = *fibers[number];
    if (fiber.state != State::Ready) {
      continue;
    }
    any = true;
    active = &fiber;
    swapcontext(&scheduler, &fiber.context);
    active = nullptr;
    if (abandoned) {
      leaveProgram(*fiber.thread.run);
    }
  }
  return any;
}

/// Lets warps go on whose lanes have all arrived at one exchange; false if no warp waits for one.
bool FiberScheduler::releaseWarps(HostThread *block) {
  bool any = false;
  for (size_t warp = 0; warp < warps.size(); ++warp) {
    const int64_t first = (int64_t)warp * kWarpSize;
    const char *place = nullptr;
    for (int64_t lane = 0; lane < kWarpSize && !place; ++lane) {
      Fiber &fiber = *fibers[first + lane];
      place = fiber.state == State::AtExchange ? fiber.place : nullptr;
    }
    if (!place) {
      continue;
    }
    for (int64_t lane = 0; lane < kWarpSize; ++lane) {
      Fiber &fiber = *fibers[first + lane];
      if (fiber.state != State::AtExchange || fiber.place != place) {
        block->run->error = std::string(place) +
                            "not all 32 lanes of the warp arrive here: thread " +
                            std::to_string(first + lane) + " does not [divergent-warp]";
        stopProgram(block);
      }
      warps[warp].values[lane] = fiber.given;
    }
    for (int64_t lane = 0; lane < kWarpSize; ++lane) {
      fibers[first + lane]->state = State::Ready;
    }
    any = true;
  }
  return any;
}

/// Lets all go on from the barrier; false if nobody waits there.
bool FiberScheduler::releaseBarrier(HostThread *block) {
  const char *place = nullptr;
  for (int64_t number = 0; number < numThreads && !place; ++number) {
    place = fibers[number]->state == State::AtBarrier ? fibers[number]->place : nullptr;
  }
  if (!place) {
    return false;
  }
  for (int64_t number = 0; number < numThreads; ++number) {
    Fiber &fiber = *fibers[number];
    if (fiber.state != State::AtBarrier || fiber.place != place) {
      block->run->error = std::string(place) +
                          "not all threads of the block arrive at this sync_threads(): thread " +
                          std::to_string(number) + " does not [divergent-sync]";
      stopProgram(block);
    }
  }
  for (int64_t number = 0; number < numThreads; ++number) {
    fibers[number]->state = State::Ready;
  }
  return true;
}

void FiberScheduler::wait(Fiber &fiber, State state, const char *where) {
  fiber.state = state;
  fiber.place = where;
  swapcontext(&fiber.context, &scheduler);
}

void FiberScheduler::syncThreads(HostThread *thread, const char *where) {
  wait(*fibers[thread->number], State::AtBarrier, where);
}

const uint64_t *FiberScheduler::exchange(HostThread *thread, uint64_t bits, const char *where) {
  Fiber &fiber = *fibers[thread->number];
  fiber.given = bits;
  wait(fiber, State::AtExchange, where);
  // Stays as it is until all lanes arrive at their next exchange, having read these.
  return warps[thread->number / kWarpSize].values;
}

void FiberScheduler::abandon() {
  abandoned = true;
  setcontext(&scheduler);
  llvm_unreachable("setcontext failed");
}

} // namespace tilec::cpu
