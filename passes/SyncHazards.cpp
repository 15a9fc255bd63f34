//===- SyncHazards.cpp - which accesses conflict, and what repairs it -----===//
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

Walker::Walker(tgpu::KernelOp kernel) : kernel(kernel) {
  context.threads = kernel.getLaunchedThreads();
  collectGuards();
  collectGlobal();
}

void Walker::applyBarrier() {
  llvm::erase_if(state.pending, [this](Access &access) {
    if (access.flight != Flight::None) {
      return false;
    }
    // Ordered among threads, but not before what the async proxy does next.
    if (awaitsFence(access)) {
      access.synced = true;
      return false;
    }
    return true;
  });
}

void Walker::applyGroupBarrier(tgpu::BarrierOp barrier) {
  const int64_t groups = barrier.getGroups();
  for (Access &access : state.pending) {
    if (access.flight == Flight::None && access.groups % groups == 0 &&
        roleAround(access.op) == roleAround(barrier)) {
      access.met = access.met == 0 ? groups : std::min(access.met, groups);
    }
  }
}

void Walker::fenceAsync(bool global) {
  for (Access &pending : state.pending) {
    bool mine = !context.oneThread || pending.thread == context.warp;
    mine &= global == pending.memory.global.has_value();
    if (mine && !pending.fenced && !pending.async && pending.flight == Flight::None) {
      pending.fenced = true;
      pending.met = 0; // who has met has not met behind the fence
    }
  }
}

/// The operation before which all threads of the context run together.
static Operation *outerOf(Operation *op, const Context &context) {
  return context.oneThread ? context.oneThread : op;
}

/// What a pass has put before an operation was done by all threads.
void Walker::applyRepair(Hazard kind, const Access &before) {
  if (kind == Hazard::InFlight) {
    return waitStores(0, /*sources=*/false, before.thread);
  }
  bool global = before.memory.global.has_value();
  for (Access &pending : state.pending) {
    pending.fenced |= kind == Hazard::Fence && global == pending.memory.global.has_value() &&
                      !pending.async && pending.flight == Flight::None;
  }
  applyBarrier();
}

void Walker::check(const Access &now, Operation *outer,
                   llvm::function_ref<bool(Hazard, const Access &)> filter) {
  if (context.inRegion) {
    return; // found in front of the region
  }
  // Waits first: a barrier before them would order nothing of what they wait for.
  for (bool inFlight : {true, false}) {
    for (size_t i = 0; i < state.pending.size();) {
      Access before = state.pending[i++];
      Hazard kind = classify(now, before);
      if (kind != Hazard::None && (kind == Hazard::InFlight) == inFlight && filter(kind, before) &&
          hazard(kind, outer, now, before)) {
        applyRepair(kind, before);
        i = 0;
      }
    }
  }
}

void Walker::access(Operation *op) {
  SmallVector<Access, 2> accesses = followedAccesses(op);
  for (const Access &now : accesses) {
    check(now, outerOf(op, context), [](Hazard, const Access &) { return true; });
  }
  for (const Access &now : accesses) {
    // The channel orders what a TMA load fills.
    if (!isa<tgpu::TmaLoadOp>(op) || now.memory.global) {
      addAccess(state.pending, now);
    }
  }
}

void Walker::checkInside(Operation *outer, bool onlyGlobal) {
  bool waits =
      outer->walk([](tgpu::TmaStoreWaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
  outer->walk([&](Operation *inner) {
    if (inner == outer) {
      return;
    }
    for (const Access &now : followedAccesses(inner)) {
      check(now, outer, [&](Hazard kind, const Access &before) {
        // What is in flight may be waited for inside.
        bool waitedFor = kind == Hazard::InFlight && (waits || !before.memory.global);
        return !waitedFor && (before.memory.global || !onlyGlobal);
      });
    }
  });
}
