//===- SyncLoops.h - ring positions across the edges of loops --*- C++ -*-===//
#ifndef TILEC_PASSES_SYNCLOOPS_H
#define TILEC_PASSES_SYNCLOOPS_H

#include "passes/Sync.h"

namespace tilec::sync {

/// Says what a position of before is called after an edge of a loop: a loop-carried value means
/// another number in each iteration. Forms that cannot be said are dropped.
class LoopEdges {
public:
  explicit LoopEdges(mlir::scf::ForOp loop);

  /// Into the first iteration: adds what its carried values start from.
  void enter(Position &position);
  /// From one iteration to the next.
  void repeat(Position &position);
  /// From the last iteration to what follows the loop.
  void leave(Position &position);

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

} // namespace tilec::sync

#endif // TILEC_PASSES_SYNCLOOPS_H
