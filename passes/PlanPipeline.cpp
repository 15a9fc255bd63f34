//===- PlanPipeline.cpp - the schedule of each pipelined loop ------------===//
//
// The copies that fill shared memory run stages - 1 iterations ahead of the work on them; the wait
// for a matrix product whose accumulator only the next product takes runs one iteration behind it,
// so that one product is always in flight. The plan is written as attributes (tgpu.pipeline on the
// loop, tgpu.schedule on operations), which tgpu-expand-pipeline carries out.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/Shared.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_PLANPIPELINE
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

bool tilec::isRecomputable(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || !loop->isAncestor(value.getParentBlock()->getParentOp())) {
    return true;
  }
  Operation *definition = value.getDefiningOp();
  return definition && definition->getBlock() == loop.getBody() &&
         definition->getNumRegions() == 0 && isMemoryEffectFree(definition) &&
         llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return isRecomputable(operand, loop); });
}

tgpu::WgmmaWaitOp tilec::findDeferrableWait(scf::ForOp loop) {
  tgpu::WgmmaWaitOp found;
  int waits = 0;
  loop.walk([&](tgpu::WgmmaWaitOp wait) {
    found = wait;
    ++waits;
  });
  if (waits != 1 || found->getBlock() != loop.getBody() || found.getInputs().size() != 1) {
    return {};
  }
  Value result = found.getResult(0);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  auto it = llvm::find(yield.getOperands(), result);
  auto product = found.getInputs()[0].getDefiningOp<tgpu::WgmmaOp>();
  if (!result.hasOneUse() || it == yield.getOperands().end() || !product) {
    return {};
  }
  BlockArgument carried = loop.getRegionIterArg(it - yield.getOperands().begin());
  return carried.hasOneUse() && product.getAcc() == carried ? found : tgpu::WgmmaWaitOp();
}

namespace {

/// Why a copy cannot run ahead of its loop; empty when it can.
std::string refuseCopy(tgpu::CopyOp copy, scf::ForOp loop) {
  if (copy.getPath() == CopyPath::Vector) {
    return "it moves by loads and stores";
  }
  if (!isa<tgpu::SmemType>(copy.getDest().getType())) {
    return "it stores";
  }
  if (!isRecomputable(copy.getSource(), loop)) {
    return "where it reads from depends on what the loop computes";
  }
  tgpu::AllocSharedOp alloc = copy.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  if (!alloc) {
    return "it fills part of a buffer";
  }
  for (Operation *user : alloc->getUsers()) {
    if (user != copy && !loop->isProperAncestor(user)) {
      return "the buffer is also used outside the loop";
    }
    if (user != copy && isa<tgpu::CopyOp, tgpu::LocalStoreOp>(user)) {
      return "the buffer is written twice in an iteration";
    }
  }
  return "";
}

struct PlanPipeline : tilec::impl::PlanPipelineBase<PlanPipeline> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(tile::kStagesAttr)) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      plan(loop, *target);
    }
  }

  void plan(scf::ForOp loop, const Target &target) {
    int64_t stages = loop->getAttrOfType<IntegerAttr>(tile::kStagesAttr).getInt();
    SmallVector<tgpu::CopyOp> copies;
    for (auto copy : loop.getBody()->getOps<tgpu::CopyOp>()) {
      if (isa<tile::GlobalType>(copy.getSource().getType())) {
        copies.push_back(copy);
      }
    }
    std::string refusal = copies.empty() ? "it fills no shared memory" : "";
    bool allTma = true;
    for (tgpu::CopyOp copy : copies) {
      std::string reason = refuseCopy(copy, loop);
      refusal = refusal.empty() ? reason : refusal;
      allTma &= copy.getPath() == CopyPath::Tma;
    }
    if (allTma && !llvm::all_of(enclosing(loop), llvm::IsaPred<scf::ForOp>)) {
      allTma = false; // the ring's position cannot be carried through branches
    }
    stages = refusal.empty() ? fittingStages(loop, copies, stages, target) : stages;
    if (refusal.empty() && stages < 2 && !allTma) {
      refusal = "one stage overlaps nothing";
    }
    if (!refusal.empty()) {
      return staySerial(loop, copies, refusal);
    }
    write(loop, copies, stages, allTma ? CopyPath::Tma : CopyPath::CpAsync);
    ++numPipelined;
  }

  /// Operations from the loop (exclusive) to the kernel (exclusive).
  static SmallVector<Operation *> enclosing(scf::ForOp loop) {
    SmallVector<Operation *> result;
    for (Operation *op = loop->getParentOp(); !isa<tgpu::KernelOp>(op); op = op->getParentOp()) {
      result.push_back(op);
    }
    return result;
  }

  void staySerial(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, StringRef reason) {
    loop.emitRemark("pipelined loop stays serial: ") << reason;
    for (tgpu::CopyOp copy : copies) {
      makeSynchronous(copy);
    }
    loop->removeAttr(tile::kStagesAttr);
    ++numRefused;
  }

  /// The most stages, up to `wanted`, whose buffers fit shared memory beside all others.
  int64_t fittingStages(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, int64_t wanted,
                        const Target &target) {
    int64_t perStage = 0, others = 0;
    llvm::SetVector<Operation *> filled;
    for (tgpu::CopyOp copy : copies) {
      filled.insert(copy.getDest().getDefiningOp());
    }
    getOperation().walk([&](tgpu::AllocSharedOp alloc) {
      (filled.contains(alloc) ? perStage : others) +=
          llvm::alignTo(sharedBytes(alloc.getResult().getType()), 1024);
    });
    constexpr int64_t barriers = 1024;
    int64_t fitting = std::max<int64_t>(1, (target.sharedPerBlock - others - barriers) /
                                               std::max<int64_t>(perStage, 1));
    if (fitting < wanted) {
      loop.emitRemark("pipelined loop has ")
          << fitting << " stages, not " << wanted << ": a stage takes " << perStage << " bytes, "
          << others << " of " << target.sharedPerBlock << " are taken by other buffers";
    }
    return std::min(wanted, fitting);
  }

  void write(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, int64_t stages, CopyPath path) {
    MLIRContext *context = loop.getContext();
    loop->setAttr(tile::kStagesAttr, IntegerAttr::get(IntegerType::get(context, 32), stages));
    loop->setAttr(kPipelineAttr, tgpu::CopyPathAttr::get(context, path));
    tgpu::WgmmaWaitOp deferred =
        path == CopyPath::Tma && stages > 2 ? findDeferrableWait(loop) : tgpu::WgmmaWaitOp();
    int64_t order = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isMemoryEffectFree(&op)) {
        continue; // scalars go where they are needed
      }
      bool ahead = llvm::is_contained(copies, &op);
      int64_t stage = ahead ? 0 : &op == deferred ? stages : stages - 1;
      op.setAttr(tgpu::kScheduleAttr, tgpu::StageAttr::get(context, stage, order++, 0));
    }
    loop.emitRemark("pipelined loop: ")
        << stages << " stages by " << (path == CopyPath::Tma ? "TMA" : "cp.async")
        << (deferred ? ", one product in flight across iterations" : "");
  }
};

} // namespace
