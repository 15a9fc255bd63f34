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
  explicit LoopEdges(mlir::scf::WhileOp loop);

  /// Into the first iteration: adds what its carried values start from.
  void enter(Position &position);
  /// From the condition of a while loop to its body: adds what the body calls the values passed on.
  void pass(Position &position);
  /// From one iteration to the next.
  void repeat(Position &position);
  void repeat(GlobalRegion &region);
  void repeat(Arrival &arrival);
  /// From the last iteration to what follows the loop.
  void leave(Position &position);
  void leave(GlobalRegion &region);
  void leave(Arrival &arrival) { repeat(arrival); }
  /// Past a loop without iterations: adds its results' names. `ends`: its variable then is its upper
  /// bound, not beyond.
  void skip(Position &position, bool ends);
  /// What an iteration hands on of global memory, where `head` is what its begin knew: points of
  /// the grid hand on nothing, and regions that move from one iteration to the next are widened, so
  /// that a loop has finitely many.
  void settle(llvm::SmallVectorImpl<Access> &next, llvm::ArrayRef<Access> head);

private:
  /// A number that the loop carries: what it is before, and at the end of an iteration.
  struct Carried {
    mlir::Value inside;
    Linear init, next;
  };
  using Names = llvm::SmallVector<std::pair<Linear, Linear>, 4>;

  void collect(mlir::ValueRange inside, mlir::ValueRange inits, mlir::ValueRange nexts);
  bool isInside(mlir::Value value) const;
  void rename(Position &position, const Names &names) const;

  mlir::Operation *loop;
  llvm::SmallVector<Carried, 4> carried;
  Names passed; ///< what the condition of a while loop passes on, and its name in the body
  Names left;   ///< what is known at the end of an iteration, and its name behind the loop
  Names skipped;
  std::optional<std::pair<Linear, Linear>> variable; ///< of a step of 1: bounds
};

/// True if `form` names a value that `loop` computes anew in each iteration.
bool isNamedInside(mlir::Operation *loop, const Linear &form);
/// Drops what names such values.
void forgetInside(mlir::Operation *loop, Position &position);
void forgetInside(mlir::Operation *loop, GlobalRegion &region);
void forgetInside(mlir::Operation *loop, Arrival &arrival);

} // namespace tilec::sync

#endif // TILEC_PASSES_SYNCLOOPS_H
