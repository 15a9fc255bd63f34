//===- InsertSync.cpp - barriers and proxy fences from data flow ---------===//
//
// Wherever an access of shared or global memory conflicts with an earlier one of other threads a
// barrier is put between, right before the later access (before a one_thread around it); when data
// that threads wrote goes to the async proxy (TMA, wgmma), or TMA overwrites what threads read, a
// fence comes before the barrier, or before the release of the slot. A store by TMA is waited for
// by its thread before something else uses its destination. Barriers, fences and waits that are
// there already count. What a branch writes to a slot that TMA has filled is ordered at the branch's
// end. Inside a role the barrier is a named one of the role's threads.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/RoleBarriers.h"
#include "passes/Sync.h"

namespace tilec {
#define GEN_PASS_DEF_INSERTSYNC
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

namespace {

class Inserter : public Walker {
public:
  Inserter(tgpu::KernelOp kernel) : Walker(kernel) {
    kernel.walk([&](Operation *op) {
      for (const Access &access : accessesOf(op)) {
        if (access.async && access.memory.alloc) {
          readAsync.insert(access.memory.alloc);
        }
      }
    });
  }

private:
  bool hazard(Hazard kind, Operation *outer, const Access &now, const Access &before) override {
    if (context.oneThread && outer == now.op) {
      return false;
    }
    if (kind == Hazard::InFlight) {
      return waitForStore(outer, before);
    }
    OpBuilder builder(beforeFence(outer));
    if (kind == Hazard::Fence) {
      // Nothing comes between a barrier right here and this place: it serves for another fence too.
      auto barrier = dyn_cast_or_null<tgpu::BarrierOp>(builder.getInsertionPoint()->getPrevNode());
      bool serves = barrier && coversContext(barrier);
      OpBuilder fence(serves ? barrier.getOperation() : &*builder.getInsertionPoint());
      tgpu::FenceAsyncOp::create(fence, outer->getLoc(), before.memory.global.has_value());
      if (serves) {
        return true;
      }
    }
    createBarrier(builder, outer->getLoc(), context.roles && outer != context.roles);
    return true;
  }

  void createBarrier(OpBuilder &builder, Location loc, bool inRole) {
    tgpu::BarrierOp::create(builder, loc, inRole ? barrierOfRole(context.role) : 0,
                            inRole ? context.threads : 0, /*groups=*/1);
  }

  /// What a branch repairs in a slot that TMA has filled is ordered in the branch: the other tiles go
  /// without barriers.
  void atBranchEnd(Block &branch) override {
    auto isRepair = [&](const Access &access) {
      return access.write && !access.async && !access.synced && access.flight == Flight::None &&
             isRepaired(access.memory) && branch.findAncestorOpInBlock(*access.op);
    };
    if (context.oneThread || context.inRegion || llvm::none_of(state.pending, isRepair)) {
      return;
    }
    OpBuilder builder(branch.getTerminator());
    const Location loc = branch.getParentOp()->getLoc();
    tgpu::FenceAsyncOp::create(builder, loc); // products may read it, TMA will fill it again
    createBarrier(builder, loc, bool(context.roles));
    fenceAsync();
    applyBarrier();
  }

  /// A store by TMA to global memory can be waited for anywhere. What else nobody has waited for no
  /// barrier can order: tgpu-verify-sync reports it.
  bool waitForStore(Operation *outer, const Access &before) {
    if (before.flight != Flight::TmaStore || !before.memory.global || before.age < 0 ||
        before.thread < 0) {
      return false;
    }
    OpBuilder builder(outer);
    Location loc = outer->getLoc();
    auto one = tgpu::OneThreadOp::create(builder, loc, before.thread % kOfGroups,
                                         std::max<int64_t>(before.thread / kOfGroups, 1));
    builder.setInsertionPointToStart(&one.getBody().emplaceBlock());
    tgpu::TmaStoreWaitOp::create(builder, loc, 0, /*read=*/false);
    return true;
  }

  bool hoistsOutOfBranches() const override { return true; }

  /// Before the wgmma_fence of a product, which belongs next to it: only computations may be
  /// between.
  static Operation *beforeFence(Operation *op) {
    if (!isa<tgpu::WgmmaOp>(op)) {
      return op;
    }
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
      if (isa<tgpu::WgmmaFenceOp>(before)) {
        return before;
      }
      if (!isMemoryEffectFree(before)) {
        break;
      }
    }
    return op;
  }

  /// Who publishes has fenced what the async proxy will read, who releases what it will overwrite.
  void visit(Operation *op) override {
    if (context.oneThread) {
      return;
    }
    auto needs = [&](const Access &access) {
      if (auto release = dyn_cast<tgpu::ReleaseOp>(op)) {
        return needsFence(access, release);
      }
      auto publish = dyn_cast<tgpu::PublishOp>(op);
      return publish && (needsFence(access, publish) ||
                         (access.write && !access.async && !access.fenced && !access.released &&
                          readAsync.contains(access.memory.alloc)));
    };
    if (llvm::any_of(state.pending, needs)) {
      OpBuilder builder(op);
      tgpu::FenceAsyncOp::create(builder, op->getLoc());
      fenceAsync();
    }
  }

  llvm::SmallPtrSet<Operation *, 8> readAsync;
};

struct InsertSync : tilec::impl::InsertSyncBase<InsertSync> {
  using InsertSyncBase::InsertSyncBase;

  void runOnOperation() override {
    Inserter inserter(getOperation());
    if (failed(inserter.run(maxWalks))) {
      return signalPassFailure();
    }
  }
};

} // namespace
