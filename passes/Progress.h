//===- Progress.h - do roles wait for each other? --------------*- C++ -*-===//
//
// The operations on channels of the loops of all roles, in their steady state, form a marked graph. That
// of iteration j comes behind
// - the one before it in its loop, of iteration j, and the first one behind the last of j - 1;
// - a wait behind the fill of its position: at i + w and i + f, behind that of iteration j + w - f;
// - an acquire behind the releases of the position that had its slot: at i + a and i + r, with n slots,
//   behind those of iteration j + a - n - r.
// An edge's distance says how many iterations it leads back. All go on if each cycle leads back by one at
// least; one that does not is a deadlock (Commoner, Holt, Even, Pnueli: "Marked directed graphs").
//
// Positions are numbers that all roles share: one that is the variable of its loop and a constant is
// compared with those of other roles; where the loops around carry a position its base is theirs, too.
// What is in no such loop, or at other positions, is left out: edges less find cycles less, never others
// that are none. So this is no proof of progress, but what it reports stands still. It is a proof where in the loops with a
// schedule nothing was left out, and all else is in the order of one serial program (SliceOperations.cpp): there whoever
// waits does for something earlier, and a loop is one step of it.
//
// A loop that has been planned but not expanded is seen as it will be: in the order of its schedule (`tgpu.schedule`), where an
// operation of stage s does in iteration i what is that of i - s.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_PROGRESS_H
#define TILEC_PASSES_PROGRESS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Of a cycle of operations that wait for each other: `to` comes behind `from`, of so many iterations before.
struct Turn {
  mlir::Operation *from, *to;
  int64_t distance;
  bool isWait; ///< `to` waits for `from` on their channel; else it is behind it in the code
};

/// Whether roles of one serial program go on: there is no such cycle, and none can have been overlooked in loops that
/// have a schedule, or will have one.
bool provesProgress(tgpu::KernelOp kernel);

/// A cycle that leads back by no iteration; nothing if none is found.
llvm::SmallVector<Turn> findDeadlock(tgpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_PASSES_PROGRESS_H
