//===- PlanPipeline.cpp - the schedule of each pipelined loop ------------===//
//
// The copies that fill shared memory run stages - 1 iterations ahead of the work on them (by TMA as
// tgpu-plan-schedule says); what the first mma.sync of an iteration reads from
// buffers that only copies ahead fill is read one iteration early. Loads of global memory into
// fragments run ahead as far as registers allow (EarlyLoads.cpp). The plan is written as
// attributes (tgpu.pipeline on the loop, tgpu.schedule on operations), which tgpu-expand-pipeline
// carries out.
//
// Invariants:
// - A pipelined loop means exactly the serial loop. Whatever runs out of its place was admitted by
//   findConflict (PipelineSchedule.cpp), which decides from the accesses of the whole body; what it
//   refuses stays in its place, and the rest of the plan is not touched by that.
// - A buffer that becomes a ring is declared before the loop and used in it alone. Copies whose
//   buffers cannot become rings are synchronous, with a remark that says why.
// - Each loop is planned once; plans of inner loops never depend on those of loops around them
//   other than through the shared memory that is left. What is left is found by the placement that
//   tgpu-allocate-shared makes, on the same lifetimes: a buffer that is used only before or behind a
//   loop takes nothing from its rings.
//
//===----------------------------------------------------------------------===//
#include "passes/CopiesAhead.h"
#include "passes/EarlyLoads.h"
#include "passes/Passes.h"
#include "passes/Shared.h"
#include "passes/SharedPieces.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_PLANPIPELINE
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

namespace {

/// Slots of a ring, and groups of cp.async, that a loop can use: a load takes some 1,700 clocks, an iteration 30 at
/// least. Walks over the synchronisation of a loop take time with the square of its slots.
constexpr int64_t kMostSlots = 64, kMostGroups = 16;

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
      tgpu::PipelineAttr planned = tgpu::kPipeline.get(loop);
      if (tile::kHold.has(loop) && (!planned || planned.getPath() != CopyPath::Tma)) {
        loop.emitRemark("`hold` has no effect: only loops with copies by TMA are scheduled so");
      }
    }
  }

  LogicalResult plan(scf::ForOp loop, const Target &target) {
    const int64_t wanted = tile::kStages.get(loop).getInt();
    int64_t stages = wanted;
    CopiesOfLoop copies = sortCopies(loop, stages);
    std::string refusal;
    if (copies.ahead.empty()) {
      refusal = copies.serial.empty() ? "it copies nothing from global memory in each iteration"
                                      : copies.serial.front().second;
    }
    // The position of TMA's ring is carried through all that is around its loop. Copies by cp.async
    // may be beside those by TMA, unless operands are read an iteration early.
    auto isTma = [](tgpu::CopyOp copy) { return copy.getPath() == CopyPath::Tma; };
    const bool carries =
        llvm::all_of(enclosing(loop), llvm::IsaPred<scf::ForOp, scf::IfOp, scf::WhileOp>);
    const bool allTma = carries && llvm::all_of(copies.ahead, isTma);
    const bool anyTma =
        allTma || (carries && llvm::any_of(copies.ahead, isTma) && findFirstReads(loop).empty());
    // Without TMA, copies need accesses that cp.async can make.
    for (tgpu::CopyOp copy : copies.ahead) {
      if (refusal.empty() && !anyTma && copy.getBytes().value_or(16) < 4) {
        refusal = "not all of its copies can use TMA here, or cp.async";
      }
    }
    const int64_t fitting =
        refusal.empty() ? fittingStages(loop, copies.ahead, wanted, target) : wanted;
    stages = std::min(fitting, allTma ? kMostSlots : kMostGroups);
    if (stages < fitting && !copies.ahead.empty()) {
      loop.emitRemark("pipelined loop is planned with ")
          << stages << " stages, not " << fitting
          << ": more are never on their way at once, and take long to compile";
    }
    if (stages < wanted &&
        failed(checkRequired(
            loop, "stages",
            "only " + Twine(stages) + " of " + Twine(wanted) +
                (stages < fitting ? " stages are of use" : " stages fit shared memory")))) {
      return failure();
    }
    if (refusal.empty() && stages < 2 && !allTma) {
      refusal = "one stage overlaps nothing";
    }
    const EarlyLoads early =
        planEarlyLoads(loop, refusal.empty(), std::min(wanted, kMostSlots) - 1, target);
    const bool hasCopies = !copies.ahead.empty() || !copies.serial.empty();
    if (!hasCopies && !early.missed.empty()) {
      refusal = early.missed;
    }
    std::string missed = hasCopies || early.ahead == 0 ? refusal : "";
    if (missed.empty()) {
      missed = copies.serial.empty() ? early.missed : copies.serial.front().second;
    }
    if (!missed.empty() && (failed(checkRequired(loop, "pipelined", missed)) ||
                            (wanted > 1 && failed(checkRequired(loop, "stages", missed))))) {
      return failure();
    }
    if (!refusal.empty() && early.ahead == 0) {
      loop.emitRemark("pipelined loop stays serial: ") << refusal;
      return makeAllSynchronous(copies, "its loop stays serial");
    }
    if (!refusal.empty()) {
      return planRegisters(loop, copies, refusal, early, wanted);
    }
    if (!anyTma && failed(leaveTma(copies.ahead, "not all copies of its loop can use TMA"))) {
      return failure();
    }
    const CopyPath path = allTma ? CopyPath::Tma : CopyPath::CpAsync;
    if (failed(leaveBehind(copies, path))) {
      return failure();
    }
    write(loop, copies.ahead, early, stages, path);
    return success();
  }

  /// Copies that a pipelined loop makes in their place. Beside rings filled by cp.async they move
  /// by loads and stores: waiting for a copy would wait for what runs ahead, too.
  static LogicalResult leaveBehind(const CopiesOfLoop &copies, CopyPath path) {
    for (auto [copy, reason] : copies.serial) {
      copy.emitRemark("copy overlaps nothing: ") << reason;
      if (failed(leaveTma(copy, reason))) {
        return failure();
      }
      if (path == CopyPath::CpAsync) {
        copy.setPathAttr(tgpu::CopyPathAttr::get(copy.getContext(), CopyPath::Vector));
        if (failed(checkRequired(copy, "cp_async", reason))) {
          return failure();
        }
      } else if (failed(makeSynchronous(copy))) {
        return failure();
      }
    }
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
      copy.setPathAttr(tgpu::CopyPathAttr::get(copy.getContext(), CopyPath::CpAsync));
    }
    return success();
  }

  /// Buffers of the loops planned so far. Looked up, never iterated.
  DenseMap<Operation *, PlannedRing> rings;

  /// Operations from the loop (exclusive) to the kernel (exclusive).
  static SmallVector<Operation *> enclosing(scf::ForOp loop) {
    SmallVector<Operation *> result;
    for (Operation *op = loop->getParentOp(); !isa<tgpu::KernelOp>(op); op = op->getParentOp()) {
      result.push_back(op);
    }
    return result;
  }

  static LogicalResult makeAllSynchronous(const CopiesOfLoop &copies, StringRef reason) {
    SmallVector<tgpu::CopyOp> all(copies.ahead);
    for (const auto &[copy, why] : copies.serial) {
      all.push_back(copy);
    }
    if (failed(leaveTma(all, reason))) {
      return failure();
    }
    for (tgpu::CopyOp copy : all) {
      if (failed(makeSynchronous(copy))) {
        return failure();
      }
    }
    return success();
  }

  /// A loop without rings, whose loads into fragments run ahead.
  static LogicalResult planRegisters(scf::ForOp loop, const CopiesOfLoop &copies, StringRef refusal,
                                     const EarlyLoads &early, int64_t wanted) {
    const int64_t stages = early.ahead + 1;
    if (stages < wanted &&
        failed(checkRequired(loop, "stages",
                             "loads into registers run only " + Twine(early.ahead) + " ahead"))) {
      return failure();
    }
    if (!copies.ahead.empty() || !copies.serial.empty()) {
      loop.emitRemark("copies to shared memory overlap nothing: ") << refusal;
    }
    if (failed(makeAllSynchronous(copies, refusal))) {
      return failure();
    }
    tgpu::kPipeline.set(loop, tgpu::PipelineAttr::get(loop.getContext(), CopyPath::Vector, stages));
    setStages(loop, {}, stages);
    moveAhead(early, stages);
    loop.emitRemark("pipelined loop: ") << stages << " stages in registers";
    return success();
  }

  static void moveAhead(const EarlyLoads &early, int64_t stages) {
    for (Operation *load : early.loads) {
      setStage(load, stages - 1 - early.ahead, tgpu::kSchedule.get(load).getOrder());
    }
  }

  /// In a loop of wgmma the order of iterations is another one behind this pass: what is written while products are in flight may be live at
  /// any time.
  static void liveThroughout(scf::ForOp loop, MutableArrayRef<SharedPiece> pieces,
                             const llvm::SetVector<Operation *> &filled) {
    auto isProduct = [](tgpu::WgmmaOp) { return WalkResult::interrupt(); };
    if (!loop->walk(isProduct).wasInterrupted()) {
      return;
    }
    int64_t begin = INT64_MAX, end = 0; // of the loop
    for (const SharedPiece &piece : pieces) {
      if (filled.contains(piece.op)) {
        begin = std::min(begin, piece.begin);
        end = std::max(end, piece.end);
      }
    }
    for (SharedPiece &piece : pieces) {
      if (isa<tgpu::AllocSharedOp>(piece.op) && loop->isProperAncestor(piece.op)) {
        piece.begin = std::min(begin, piece.begin);
        piece.end = std::max(end, piece.end);
      }
    }
  }

  /// The most stages, up to `wanted`, whose buffers fit shared memory beside what is live together with
  /// them.
  int64_t fittingStages(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, int64_t wanted,
                        const Target &target) {
    llvm::SetVector<Operation *> filled;
    for (tgpu::CopyOp copy : copies) {
      filled.insert(copy.getDest().getDefiningOp());
    }
    SmallVector<SharedPiece> pieces =
        collectSharedPieces(getOperation(), [&](tgpu::AllocSharedOp alloc) {
          return filled.contains(alloc) ? PlannedRing{loop, 1} : rings.lookup(alloc);
        });
    liveThroughout(loop, pieces, filled);
    int64_t perStage = 0;
    for (Operation *buffer : filled) {
      perStage += llvm::alignTo(sharedBytes(typeOf(buffer)), 1024);
    }
    auto bytes = [&](int64_t stages) {
      for (SharedPiece &piece : pieces) {
        if (filled.contains(piece.op)) {
          piece.bytes = sharedBytes(ringType(typeOf(piece.op), stages));
        }
      }
      return placeSharedPieces(pieces);
    };
    constexpr int64_t barriers = 1024;
    const int64_t available = target.sharedPerBlock - barriers;
    int64_t fitting = std::min(wanted, available / std::max<int64_t>(perStage, 1) + 1);
    while (fitting > 1 && bytes(fitting) > available) {
      --fitting;
    }
    if (fitting < wanted) {
      const int64_t others = bytes(fitting + 1) - (fitting + 1) * perStage;
      loop.emitRemark("pipelined loop has ")
          << fitting << " stages, not " << wanted << ": a stage takes " << perStage << " bytes, "
          << std::max<int64_t>(others, 0) << " of " << target.sharedPerBlock
          << " are taken by other buffers";
    }
    return fitting;
  }

  static tgpu::SmemType typeOf(Operation *buffer) {
    return cast<tgpu::AllocSharedOp>(buffer).getResult().getType();
  }

  /// Gives `ops` the stage `stage` if the loop keeps its meaning. Else nothing changes, and the
  /// reason is returned.
  static std::string tryStage(scf::ForOp loop, ArrayRef<Operation *> ops, int64_t stage,
                              int64_t stages) {
    SmallVector<tgpu::StageAttr> old;
    for (Operation *op : ops) {
      tgpu::StageAttr place = tgpu::kSchedule.get(op);
      old.push_back(place);
      setStage(op, stage, place.getOrder());
    }
    std::optional<Conflict> conflict = findConflict(loop, stages);
    if (!conflict) {
      return "";
    }
    for (auto [op, place] : llvm::zip_equal(ops, old)) {
      tgpu::kSchedule.set(op, place);
    }
    return conflict->reason;
  }

  void write(scf::ForOp loop, ArrayRef<tgpu::CopyOp> copies, const EarlyLoads &early,
             int64_t stages, CopyPath path) {
    MLIRContext *context = loop.getContext();
    tgpu::kPipeline.set(loop, tgpu::PipelineAttr::get(context, path, stages));
    for (tgpu::CopyOp copy : copies) {
      Operation *buffer = copy.getDest().getDefiningOp();
      rings[buffer] = {loop, stages};
      if (loop->isAncestor(buffer)) {
        buffer->moveBefore(loop); // its slots stay filled from iteration to iteration
      }
    }
    setStages(loop, copies, scheduledStages(stages));
    moveAhead(early, scheduledStages(stages));
    const bool usesTma =
        llvm::any_of(copies, [](tgpu::CopyOp copy) { return copy.getPath() == CopyPath::Tma; });
    SmallVector<Operation *> reads = llvm::filter_to_vector(
        findFirstReads(loop), [](Operation *op) { return isa<tgpu::LocalLoadOp>(op); });
    if (path == CopyPath::CpAsync && !usesTma && !reads.empty()) {
      std::string reason = tryStage(loop, reads, stages - 2, stages);
      if (!reason.empty()) {
        reads.front()->emitRemark("operands are not read one iteration early: ") << reason;
      }
    }
    loop.emitRemark("pipelined loop: ") << stages << (stages == 1 ? " stage by " : " stages by ")
                                        << (path == CopyPath::Tma ? "TMA"
                                            : usesTma             ? "TMA and cp.async"
                                                                  : "cp.async")
                                        << (stages == 1 ? ", filled again behind its last use" : "")
                                        << (early.ahead == 0 ? ""
                                                             : ", loads into registers one "
                                                               "iteration ahead");
  }
};

} // namespace
