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
#include "llvm/ADT/TypeSwitch.h"

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

/// True if `a` and `b` may be the same memory.
static bool mayOverlap(Value a, Value b) {
  BlockArgument first = tgpu::getBase(a), second = tgpu::getBase(b);
  return !first || !second || tgpu::mayAlias(first, second);
}

/// The global memory that `op` writes; null if it writes none.
static Value writtenGlobal(Operation *op) {
  Value place = llvm::TypeSwitch<Operation *, Value>(op)
                    .Case<tgpu::CopyOp, tgpu::StoreOp, tgpu::TmaStoreOp, tile::StoreOp>(
                        [](auto store) { return store.getDest(); })
                    .Case<tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp>(
                        [](auto atomic) { return atomic.getPlace(); })
                    .Default([](Operation *) { return Value(); });
  return place && isa<tile::GlobalType>(place.getType()) ? place : Value();
}

/// True if something in the loop of `copy` uses `buffer` or a part of it before the copy: it works
/// on the data of the iteration before.
static bool isUsedBefore(Value buffer, tgpu::CopyOp copy) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (auto part = dyn_cast<tgpu::SubviewOp>(user)) {
      return isUsedBefore(part.getResult(), copy);
    }
    Operation *inBody = copy->getBlock()->findAncestorOpInBlock(*user);
    return inBody && user != copy && inBody->isBeforeInBlock(copy);
  });
}

/// True if something but `copy` writes to `buffer` or a part of it.
static bool isWrittenBeside(Value buffer, tgpu::CopyOp copy) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (auto part = dyn_cast<tgpu::SubviewOp>(user)) {
      return isWrittenBeside(part.getResult(), copy);
    }
    auto other = dyn_cast<tgpu::CopyOp>(user);
    auto async = dyn_cast<tgpu::CpAsyncOp>(user);
    return (other && other != copy && other.getDest() == buffer) ||
           (async && async.getDest() == buffer) || isa<tgpu::LocalStoreOp>(user);
  });
}

/// True if each buffer of a ring starts at a multiple of 128 bytes, as tensor copies need (CUDA C++
/// programming guide, tensor memory access).
static bool areSlotsAligned(Value buffer) {
  return sharedBytes(ringType(cast<tgpu::SmemType>(buffer.getType()), 2)) / 2 % 128 == 0;
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
  tgpu::SharedAttr layout = alloc.getResult().getType().getLayout();
  if (layout && !layout.getLayout().withLeading(2)) {
    return "its buffer has a layout that cannot be repeated";
  }
  for (Operation *user : alloc->getUsers()) {
    if (user != copy && !loop->isProperAncestor(user)) {
      return "the buffer is also used outside the loop";
    }
  }
  if (isUsedBefore(alloc.getResult(), copy)) {
    return "the buffer is used before it is filled";
  }
  if (isWrittenBeside(alloc.getResult(), copy)) {
    return "the buffer is written twice in an iteration";
  }
  bool overwritten = loop.walk([&](Operation *op) {
                           Value written = writtenGlobal(op);
                           return written && mayOverlap(written, copy.getSource())
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
  return overwritten ? "the loop writes to the tensor that it reads" : "";
}

struct PlanPipeline : tilec::impl::PlanPipelineBase<PlanPipeline> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    rings.clear();
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (tile::kStages.has(loop)) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      if (failed(plan(loop, *target))) {
        return signalPassFailure();
      }
    }
    if (failed(checkRoles())) {
      signalPassFailure();
    }
  }

  /// Roles of warps are not formed yet: an error where the program requires them.
  LogicalResult checkRoles() {
    constexpr StringRef word = "warp_specialize", reason = "roles of warps are not formed yet";
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      return failed(checkRequired(op, word, reason)) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult plan(scf::ForOp loop, const Target &target) {
    int64_t stages = tile::kStages.get(loop).getInt();
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
      allTma &= copy.getPath() == CopyPath::Tma &&
                (!refusal.empty() || stages == 1 || areSlotsAligned(copy.getDest()));
    }
    StringRef whyNotTma = "not all copies of its loop can use TMA";
    if (allTma && !llvm::all_of(enclosing(loop), llvm::IsaPred<scf::ForOp>)) {
      allTma = false; // the ring's position cannot be carried through branches
    }
    // Without TMA, copies need accesses that cp.async can make.
    for (tgpu::CopyOp copy : copies) {
      if (refusal.empty() && !allTma && copy.getBytes().value_or(16) < 4) {
        refusal = "not all of its copies can use TMA here, or cp.async";
      }
    }
    const int64_t wanted = stages;
    stages = refusal.empty() ? fittingStages(loop, copies, stages, target) : stages;
    if (stages < wanted && failed(checkRequired(loop, "stages",
                                                "only " + Twine(stages) + " of " + Twine(wanted) +
                                                    " stages fit shared memory"))) {
      return failure();
    }
    if (refusal.empty() && stages < 2 && !allTma) {
      refusal = "one stage overlaps nothing";
    }
    if (!refusal.empty()) {
      if (failed(checkRequired(loop, "pipelined", refusal)) ||
          (wanted > 1 && failed(checkRequired(loop, "stages", refusal)))) {
        return failure();
      }
      return staySerial(loop, copies, refusal);
    }
    if (!allTma && failed(leaveTma(copies, whyNotTma))) {
      return failure();
    }
    write(loop, copies, stages, allTma ? CopyPath::Tma : CopyPath::CpAsync);
    ++numPipelined;
    return success();
  }

  /// Says of copies that could use TMA why they do not; an error where the program requires it.
  static LogicalResult leaveTma(ArrayRef<tgpu::CopyOp> copies, StringRef reason) {
    for (tgpu::CopyOp copy : copies) {
      if (copy.getPath() != CopyPath::Tma) {
        continue;
      }
      if (failed(checkRequired(copy, "tma", reason))) {
        return failure();
      }
      copy.emitRemark("copy uses no TMA: ") << reason;
    }
    return success();
  }

  /// Buffers of the loops planned so far: their loop, and its stages. Looked up, never iterated.
  DenseMap<Operation *, std::pair<scf::ForOp, int64_t>> rings;

  /// True if the rings of the planned loop `other` are in use while `loop` runs: it is inside, or a
  /// loop around both runs them in turn.
  static bool areLiveTogether(scf::ForOp other, scf::ForOp loop) {
    auto outer = other->getParentOfType<LoopLikeOpInterface>();
    while (outer && !outer->isAncestor(loop)) {
      outer = outer->getParentOfType<LoopLikeOpInterface>();
    }
    return bool(outer);
  }

  /// Operations from the loop (exclusive) to the kernel (exclusive).
  static SmallVector<Operation *> enclosing(scf::ForOp loop) {
    SmallVector<Operation *> result;
    for (Operation *op = loop->getParentOp(); !isa<tgpu::KernelOp>(op); op = op->getParentOp()) {
      result.push_back(op);
    }
    return result;
  }

  LogicalResult staySerial(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, StringRef reason) {
    loop.emitRemark("pipelined loop stays serial: ") << reason;
    if (failed(leaveTma(copies, "its loop stays serial"))) {
      return failure();
    }
    for (tgpu::CopyOp copy : copies) {
      if (failed(makeSynchronous(copy))) {
        return failure();
      }
    }
    ++numRefused;
    return success();
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
      int64_t bytes = llvm::alignTo(sharedBytes(alloc.getResult().getType()), 1024);
      auto ring = rings.find(alloc);
      if (ring != rings.end() && areLiveTogether(ring->second.first, loop)) {
        bytes *= ring->second.second;
      }
      (filled.contains(alloc) ? perStage : others) += bytes;
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
    tgpu::kPipeline.set(loop, tgpu::PipelineAttr::get(context, path, stages));
    for (tgpu::CopyOp copy : copies) {
      rings[copy.getDest().getDefiningOp()] = {loop, stages};
    }
    tgpu::WgmmaWaitOp deferred =
        path == CopyPath::Tma && stages > 2 ? findDeferrableWait(loop) : tgpu::WgmmaWaitOp();
    int64_t order = 0;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isMemoryEffectFree(&op)) {
        continue; // scalars go where they are needed
      }
      bool ahead = llvm::is_contained(copies, &op);
      int64_t stage = ahead ? 0 : &op == deferred ? stages : stages - 1;
      tgpu::kSchedule.set(&op, tgpu::StageAttr::get(context, stage, order++, 0));
    }
    loop.emitRemark("pipelined loop: ")
        << stages << (stages == 1 ? " stage by " : " stages by ")
        << (path == CopyPath::Tma ? "TMA" : "cp.async")
        << (deferred ? ", one product in flight across iterations" : "");
  }
};

} // namespace
