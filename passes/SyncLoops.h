//===- SyncLoops.h - positions and regions across loops' edges -*- C++ -*-===//
#ifndef TILEC_PASSES_SYNCLOOPS_H
#define TILEC_PASSES_SYNCLOOPS_H

#include "passes/Sync.h"

namespace tilec::sync {

/// Says what a position or region of before is called after an edge of a loop: a loop-carried value
/// means another number in each iteration. What cannot be said any more is dropped.
class LoopEdges {
public:
  explicit LoopEdges(mlir::scf::ForOp loop);

  /// Into the first iteration: adds what its carried values start from.
  void enter(Position &position);
  /// From one iteration to the next.
  void repeat(Position &position);
  void repeat(GlobalRegion &region);
  void repeat(Arrival &arrival);
  /// From the last iteration to what follows the loop.
  void leave(Position &position);
  void leave(GlobalRegion &region);
  void leave(Arrival &arrival) { repeat(arrival); }
  /// What an iteration hands on of global memory, where `head` is what its begin knew: points of
  /// the grid hand on nothing, and regions that move from one iteration to the next are widened, so
  /// that a loop has finitely many.
  void settle(llvm::SmallVectorImpl<Access> &next, llvm::ArrayRef<Access> head);

private:
  /// A number that the loop carries: what it is before, at the end of an iteration, and after.
  struct Carried {
    mlir::Value inside;
    Linear init, next, last;
    bool hasLast = true;
  };

  bool isInside(mlir::Value value);
  void rename(Position &position, bool leaving);

  mlir::scf::ForOp loop;
  llvm::SmallVector<Carried, 4> carried;
};

/// Drops what names values that `loop` computes anew in each iteration.
void forgetInside(mlir::Operation *loop, Position &position);
void forgetInside(mlir::Operation *loop, GlobalRegion &region);
void forgetInside(mlir::Operation *loop, Arrival &arrival);

} // namespace tilec::sync

#endif // TILEC_PASSES_SYNCLOOPS_H
