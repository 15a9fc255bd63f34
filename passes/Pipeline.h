//===- Pipeline.h - what planning and expansion of pipelines share -*- C++ -*-===//
//
// A schedule gives each operation of a loop's body that touches memory a stage: the operation of
// iteration i runs in step i + stage. Of n stages, copies into rings have stage 0, the work n - 1,
// reads of the first mma.sync n - 2. A load of global memory into a fragment that runs k iterations
// ahead has stage n - 1 - k. (Of loops with channels, LoopGraph.h.) Operations of one stage
// keep the order of the body; nothing is said of the order of different stages in one step.
// Where a ring has a single slot there are two stages all the same: the copy of step j fills it
// behind the last use by the work of step j, of iteration j - 1.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_PIPELINE_H
#define TILEC_PASSES_PIPELINE_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {

/// True when `value` can be computed for any iteration of `loop` from its induction variable, values
/// from outside, and global memory, without side effects.
bool isRecomputable(mlir::Value value, mlir::scf::ForOp loop);

/// The global memory that an operation reads, if that is all that it does to memory; else null.
mlir::Value globalRead(mlir::Operation *op);

/// True for an operation that reads global memory into a fragment.
bool loadsFragment(mlir::Operation *op);

/// What tells a copy or a load where it reads.
llvm::SmallVector<mlir::Value> placeOf(mlir::Operation *access);

/// The global memory that `access`, a copy or a load made for another iteration of `loop`, reads: its
/// source, and what tells where in it (a block table, say).
llvm::SmallVector<mlir::Value> globalReads(mlir::Operation *access, mlir::scf::ForOp loop);

/// Why `access`, a copy or a load of the body, cannot be made for later iterations; empty if it can.
std::string refuseAhead(mlir::Operation *access, mlir::scf::ForOp loop);

/// What reads the operands of the loop's first mma.sync from shared memory, in program order;
/// empty when the operands come from elsewhere.
llvm::SetVector<mlir::Operation *> findFirstReads(mlir::scf::ForOp loop);

/// Stages of the schedule of a loop whose rings have `slots` slots.
inline int64_t scheduledStages(int64_t slots) { return slots == 1 ? 2 : slots; }

/// The stage of `op`, an operation of the body of a loop of `stages` stages.
int64_t stageOf(mlir::Operation *op, int64_t stages);
void setStage(mlir::Operation *op, int64_t stage, int64_t order);

/// Two operations of a loop whose order its schedule changes, though it matters.
struct Conflict {
  mlir::Operation *moved = nullptr, *other = nullptr;
  std::string reason;
};

/// The first place where the schedule of `loop`, of `stages` stages, changes what the loop means;
/// nothing when it keeps it. Plans are made with this, and every plan is checked by it before it is
/// carried out.
std::optional<Conflict> findConflict(mlir::scf::ForOp loop, int64_t stages);

/// True for a copy that runs ahead and fills a ring.
bool isFill(mlir::Operation *op, int64_t stages);

/// True for a load into a fragment that runs ahead.
bool isEarlyLoad(mlir::Operation *op, int64_t stages);

} // namespace tilec

#endif // TILEC_PASSES_PIPELINE_H
