//===- IssueInTurn.cpp - warpgroups that begin a step's products one by one ===//
//
// Of a step of attention a warpgroup issues products and then computes element by element while they run. Warpgroups that do
// both at the same time want the tensor cores, and then the other units, together. Where a loop says `turns`, each warpgroup
// waits for its turn before it issues a step's products, and hands it on behind the last of them: the work of one then
// stands under the products of the others.
//
//     group g: await its turn; products of the step; hand the turn on to g + 1 (of the last: to the first one's next step)
//
// A turn is a named barrier of two warpgroups: one arrives, one waits (PTX ISA 9.7.13.1, barrier.cta). The last group gives
// the first its first turn where its program begins, and the first takes the last one where it ends, so that all
// barriers are left as they were.
//
// It ends: turns are taken in the order of (step, group), and all that a warpgroup waits for in its turn is of other roles,
// which need no more than releases of earlier steps. So nothing may stand in a turn at which warpgroups meet; and all of
// them make the same steps, since conditions and bounds are of the block. This comes behind the passes that
// check synchronisation: it orders nothing that they know.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/RoleBarriers.h"

namespace tilec {
#define GEN_PASS_DEF_ISSUEINTURN
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

constexpr int64_t kWarpsOfGroup = 4;

/// The operations of a step from the first product's fence to the last commit before something is waited for.
struct StepOfTurns {
  Operation *first = nullptr, *last = nullptr;
  tgpu::WgmmaOp product; ///< the first
};

StepOfTurns findProducts(scf::ForOp loop) {
  StepOfTurns step;
  for (Operation &op : *loop.getBody()) {
    if (isa<tgpu::WgmmaFenceOp>(op) && !step.first) {
      step.first = &op;
    } else if (isa<tgpu::WgmmaWaitOp>(op) && step.last) {
      break;
    } else if (step.first && isa<tgpu::WgmmaCommitOp>(op)) {
      step.last = &op;
    } else if (auto product = dyn_cast<tgpu::WgmmaOp>(op); product && !step.product) {
      step.product = product;
    }
  }
  return step;
}

/// Whether no warpgroup meets another one of its role between the two.
bool meetsNone(Operation *first, Operation *last) {
  for (Operation *op = first; op != last; op = op->getNextNode()) {
    const bool isOfProduct = isa<tgpu::WgmmaOp, tgpu::WgmmaFenceOp, tgpu::WgmmaCommitOp>(op);
    const bool isOfOthers = isa<tgpu::WaitOp, tgpu::ReleaseOp, tgpu::FenceAsyncOp>(op);
    const bool movesNone = isMemoryEffectFree(op) && !isa<tgpu::ConvertLayoutOp>(op);
    if (!isOfProduct && !isOfOthers && !movesNone) {
      return false;
    }
  }
  return true;
}

struct IssueInTurn : tilec::impl::IssueInTurnBase<IssueInTurn> {
  void runOnOperation() override {
    scf::ForOp asked;
    SmallVector<StepOfTurns> steps;
    reason = "only products of wgmma, by two to four warpgroups of 128 threads, are issued in turn";
    getOperation().walk([&](scf::ForOp loop) {
      if (!tile::kTurns.has(loop)) {
        return;
      }
      asked = asked ? asked : loop;
      StepOfTurns step = findProducts(loop);
      if (step.product && step.first && step.last && isPossible(step) &&
          (steps.empty() || programOf(step) == programOf(steps.front()))) {
        steps.push_back(step);
      }
    });
    if (!asked) {
      return;
    }
    if (steps.empty()) {
      asked.emitRemark("`turns` has no effect: ") << reason;
      return;
    }
    const int64_t groups = groupsOf(steps.front());
    for (StepOfTurns &step : steps) {
      OpBuilder builder(step.first);
      tgpu::AwaitTurnOp::create(builder, step.first->getLoc(), groups);
      builder.setInsertionPointAfter(step.last);
      tgpu::PassTurnOp::create(builder, step.last->getLoc(), groups);
      step.product.emitRemark("warpgroups issue the products of a step in turn");
    }
    bracket(steps.front(), groups);
  }

private:
  static int64_t groupsOf(StepOfTurns &step) {
    const layout::RegisterLayout *layout =
        tgpu::getLayout(step.product.getResult().getType().getFragment());
    return layout ? layout->numWarps() / kWarpsOfGroup : 0;
  }

  bool isPossible(StepOfTurns &step) {
    const int64_t groups = groupsOf(step);
    auto roles = step.product->getParentOfType<tgpu::RolesOp>();
    const unsigned role = roles ? roles.getRoleOf(step.product) : 0;
    const int64_t warps = roles ? roles.getNumWarps()[role] : getOperation().getThreads() / 32;
    if (groups < 2 || groups > int64_t(kMostGroups) || warps != groups * kWarpsOfGroup) {
      return false;
    }
    if (roles && roles.getTeams()[role] != 1) {
      reason = "teams of warps take turns as a whole (pingpong)";
      return false;
    }
    bool isTaken = false;
    getOperation().walk([&](tgpu::BarrierOp barrier) {
      isTaken |= barrier.getGroups() > 1 && groupBarrier(barrier.getId()) == kFirstTurnBarrier;
    });
    if (isTaken) {
      reason = "groups of warps that load have the barriers";
      return false;
    }
    if (!meetsNone(step.first, step.last)) {
      reason = "warpgroups meet between the products of a step";
      return false;
    }
    return true;
  }

  /// What the warpgroups of a step run: the region of their role, or the kernel's.
  static Region *programOf(StepOfTurns &step) {
    Region *program = step.product->getParentRegion();
    while (!isa<tgpu::RolesOp, tgpu::KernelOp>(program->getParentOp())) {
      program = program->getParentRegion();
    }
    return program;
  }

  /// The first turn is given where the program of the warpgroups begins, and the last is taken where it ends.
  void bracket(StepOfTurns &step, int64_t groups) {
    tgpu::WgmmaOp product = step.product;
    Block &block = programOf(step)->front();
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    auto onlyIn = [&](int64_t group, auto make) {
      const Location loc = product.getLoc();
      const layout::RegisterLayout *layout =
          tgpu::getLayout(product.getResult().getType().getFragment());
      auto i32 = [&](int64_t value) {
        return arith::ConstantIntOp::create(builder, loc, value, 32);
      };
      Value warp = tgpu::WarpIdOp::create(builder, loc, builder.getI32Type());
      Value first = i32(layout->firstWarp() + group * kWarpsOfGroup);
      Value place = arith::SubIOp::create(builder, loc, warp, first);
      Value isIn =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, i32(kWarpsOfGroup));
      auto branch = scf::IfOp::create(builder, loc, isIn, /*withElseRegion=*/false);
      OpBuilder inside = branch.getThenBodyBuilder();
      make(inside, loc);
    };
    onlyIn(groups - 1,
           [&](OpBuilder &inside, Location loc) { tgpu::PassTurnOp::create(inside, loc, groups); });
    if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
      builder.setInsertionPointToEnd(&block);
    } else {
      builder.setInsertionPoint(&block.back());
    }
    onlyIn(0, [&](OpBuilder &inside, Location loc) {
      tgpu::AwaitTurnOp::create(inside, loc, groups);
    });
  }

  StringRef reason;
};

} // namespace
