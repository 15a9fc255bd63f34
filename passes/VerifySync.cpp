//===- VerifySync.cpp - is every dependency through shared memory ordered? -===//
//
// Walks the kernel as tgpu-insert-sync does and reports what is not ordered. Besides barriers and
// fences it checks the protocols that no other pass derives: channels (acquire, expect, load; wait,
// read, release), groups of matrix products, and the fence before the registers of a product.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/SyncChecker.h"

namespace tilec {
#define GEN_PASS_DEF_VERIFYSYNC
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

std::string sync::nameOf(const Memory &memory) {
  if (memory.global) {
    BlockArgument base = memory.global->base;
    auto kernel = base ? cast<tgpu::KernelOp>(base.getOwner()->getParentOp()) : tgpu::KernelOp();
    StringAttr name = base ? tile::kName.get(kernel, base.getArgNumber()) : StringAttr();
    return name ? "`" + name.str() + "`" : "global memory";
  }
  if (memory.messages) {
    return "what the block prints";
  }
  auto alloc = dyn_cast_or_null<tgpu::AllocSharedOp>(memory.alloc);
  return alloc ? "`" + alloc.getName().value_or("buffer").str() + "`" : "scratch space";
}

std::string sync::nameOf(Value channel) {
  auto op = channel.getDefiningOp<tgpu::ChannelOp>();
  return "`" + (op ? op.getName().value_or("channel") : "channel").str() + "`";
}

Checker::Checker(tgpu::KernelOp kernel) : Walker(kernel) {
  kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<tgpu::ChannelOp>(op); channel && channel.getConsumers() != 0) {
      withEmpty.insert(channel.getResult());
    } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(op)) {
      loaded.insert({getAllocation(load.getDest()), load.getChannel()});
    }
    for (const Access &access : accessesOf(op)) {
      if (access.async && access.memory.alloc) {
        usedAsync.insert(access.memory.alloc);
      }
    }
  });
  kernel.walk([&](tgpu::RolesOp roles) {
    for (Region &role : roles.getBodies()) {
      collectHandovers(role);
    }
  });
}

bool Checker::hazard(Hazard kind, Operation *, const Access &now, const Access &before) {
  std::string name = nameOf(now.memory);
  std::string other = nameOf(before.memory);
  if (name != other) {
    name += " (same bytes as " + other + ")";
  }
  switch (kind) {
  case Hazard::Fence:
    report(now.op,
           "lets the async proxy use " + name + " without tgpu.fence_async" +
               (now.memory.global ? " {global}" : "") + " and a barrier after threads " +
               (before.write ? "wrote it" : "read it"),
           before.op, before.write ? "written here" : "read here");
    break;
  case Hazard::InFlight:
    report(now.op, "uses " + name + " while an asynchronous access of it is in flight", before.op,
           "started here, not waited for");
    break;
  default:
    report(now.op,
           Twine(now.write ? "writes " : "reads ") + name +
               " without a barrier after another thread's access",
           before.op, before.write ? "written here" : "read here");
    break;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

void Checker::checkProduct(tgpu::WgmmaOp product) {
  for (Value operand : {product.getAcc(), product.getA()}) {
    if (state.unfenced.contains(operand)) {
      return report(product, "uses registers that were written after the last tgpu.wgmma_fence",
                    operand.getDefiningOp(), "written here");
    }
  }
  // The registers of a new accumulator held other values until then.
  if (!isa<tgpu::PendingType>(product.getAcc().getType()) && !state.unfenced.empty()) {
    report(product, "starts an accumulator in registers that may have been used after the last "
                    "tgpu.wgmma_fence");
  }
}

/// LLVM and ptxas know nothing of the flight: what a product reads keeps its registers only as long
/// as something uses the value, so the wait has to.
void Checker::checkOperands(Operation *op) {
  if (auto wait = dyn_cast<tgpu::WgmmaWaitOp>(op)) {
    for (auto &[fragment, age] : state.operands) {
      if (age >= int64_t(wait.getPending()) && !llvm::is_contained(wait.getFragments(), fragment)) {
        return report(wait, "ends a product without using the fragment that it reads until here",
                      fragment.getDefiningOp(), "the fragment");
      }
    }
  }
  // The next iteration computes its values in the same registers.
  bool edge = op->hasTrait<OpTrait::IsTerminator>() && isa<LoopLikeOpInterface>(op->getParentOp());
  if (edge && !state.operands.empty()) {
    report(op, "begins the next iteration while a product in flight reads registers",
           state.operands.front().first.getDefiningOp(), "the fragment");
  }
}

void Checker::checkWait(tgpu::WgmmaWaitOp wait) {
  for (auto [input, result] : llvm::zip_equal(wait.getInputs(), wait.getResults())) {
    auto it = state.ages.find(input);
    if (it == state.ages.end() || isa<tgpu::PendingType>(result.getType()) ||
        it->second >= int64_t(wait.getPending())) {
      continue;
    }
    if (it->second < 0) {
      return report(wait, "gives an accumulator whose group tgpu.wgmma_commit has not closed");
    }
    return report(wait, "gives an accumulator that is still being written: only " +
                            Twine(it->second) + " groups were closed after its own, and " +
                            Twine(wait.getPending()) + " may be incomplete");
  }
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void Checker::visit(Operation *op) {
  for (const Access &access : accessesOf(op)) {
    checkGuard(access);
    bool forOthers = context.roles && handovers.lookup(access.memory.alloc).size() > 1;
    if (forOthers && access.write && !access.async && !state.unpublished.insert(op)) {
      report(op, "overwrites what it has not handed over: tgpu.publish is missing after it");
    }
  }
  checkOperands(op);
  if (auto release = dyn_cast<tgpu::ReleaseOp>(op)) {
    checkRelease(release);
  } else if (auto publish = dyn_cast<tgpu::PublishOp>(op)) {
    checkPublish(publish);
  } else if (auto wait = dyn_cast<tgpu::WaitOp>(op)) {
    checkArrival(wait);
  } else if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
    checkProduct(product);
  } else if (auto wait = dyn_cast<tgpu::WgmmaWaitOp>(op)) {
    checkWait(wait);
  } else if (auto load = dyn_cast<tgpu::TmaLoadOp>(op)) {
    checkLoad(load);
  } else if (auto expect = dyn_cast<tgpu::ExpectOp>(op)) {
    checkExpect(expect);
  } else if (auto barrier = dyn_cast<tgpu::BarrierOp>(op)) {
    if (context.oneThread) {
      report(barrier, "is in code of one thread, which would wait for the others for ever");
    }
  }
}

void Checker::atEnd(Operation *parent) {
  for (const Held &held : state.held) {
    if (withEmpty.contains(held.channel) && parent->isAncestor(held.op)) {
      report(held.op, "takes a slot of " + nameOf(held.channel) + " that nothing releases");
    }
  }
  for (const Held &held : state.acquired) {
    if (parent->isAncestor(held.op)) {
      report(held.op, "acquires a slot of " + nameOf(held.channel) + " that nothing fills");
    }
  }
  if (isa<tgpu::OneThreadOp>(parent)) {
    return;
  }
  for (Operation *op : state.unpublished) {
    report(op,
           "writes for other roles, but nothing hands it over: tgpu.publish is missing after it");
  }
  for (const Access &pending : state.pending) {
    // Stores complete by themselves, but what they read lives no longer than the block.
    bool reads = pending.flight == Flight::TmaStore && !pending.write;
    if (pending.flight == Flight::Wgmma || reads) {
      report(pending.op, "is not waited for before the kernel ends");
    }
  }
}

namespace {
struct VerifySync : tilec::impl::VerifySyncBase<VerifySync> {
  using VerifySyncBase::VerifySyncBase;

  void runOnOperation() override {
    Checker checker(getOperation());
    LogicalResult settled = checker.run(maxWalks);
    checker.checkWaits();
    checker.checkArrivals();
    checker.checkBarriers();
    checker.checkProgress();
    checker.checkGlobal();
    checker.checkTurns();
    checker.checkClusters();
    if (checker.failed || mlir::failed(settled)) {
      signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
