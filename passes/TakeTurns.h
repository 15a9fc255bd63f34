//===- TakeTurns.h - teams of warps that take turns at points -*- C++ -*-===//
//
// A persistent block goes through points of its grid one after the other. Two teams of warps that compute may take every
// other one each: while one brings its results to memory, the other has the tensor cores. Both run one program:
//     for n in 0..rounds:
//       if n mod teams == team:  if n > 0: wait turns(n - 1);  the work of point n up to its last wait;
//                                publish turns(n);  the rest of it
//       else:                    where it leaves the rings
// Positions in rings are those of the serial program, so a slot is read and given back by the team that has its point, and by
// nobody else; a channel counts the warps of one team.
//
// Turns are not for speed alone. A wait for a phase of a barrier tells phases by their parity, so it is only right for who knows that the
// phase before is complete; a team has not waited for the phases of the other's points, but the other had when it handed the turn on.
// The channel of turns has a slot for each team: one waits for each phase of the slot of the team before it, in order, and that does not
// publish again before its own next turn, which comes behind. All threads of a team hand its turn on: one that is behind the others
// still waits for the turn before.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_TAKETURNS_H
#define TILEC_PASSES_TAKETURNS_H

#include "passes/RoleSlice.h"

namespace tilec {

/// What a team needs of points that are not its own: what their work leaves to the next one.
class Turns : public RoleSlice {
public:
  explicit Turns(tgpu::KernelOp kernel);

  /// Makes the loop over points, which is the work of one role by now, that of `teams` teams. Only without a refusal.
  void take(int64_t teams);

  /// Moves up what hands the turn on, to behind the last wait, once loops have their schedules.
  static void handOnEarly(tgpu::KernelOp kernel);

private:
  void orderTeams(mlir::Block &work, mlir::Value round, int64_t teams);
  void needDefinition(mlir::Operation *definition) override;
  llvm::StringRef refuseRegion(mlir::Operation *op) const override;

  mlir::scf::ForOp points;
};

} // namespace tilec

#endif // TILEC_PASSES_TAKETURNS_H
