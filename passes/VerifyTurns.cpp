//===- VerifyTurns.cpp - do teams know the phases that they wait for? -----===//
//
// A barrier tells phases by their parity: who waits for one must know that the one before is complete (PTX ISA, mbarrier.try_wait).
// Warps that wait for each phase of a slot in order do. Those of a team do not wait for the phases of other teams' points, so
// that a wait for what another role fills has to stand in its team's turn: behind a wait for the turn before, and
// before the turn is handed on, on a channel where each team has a slot (TakeTurns.h).
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/SyncChecker.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sync;

namespace {

/// The work of a team in one of its turns.
struct TeamTurn {
  Block *block;
  Value round; ///< counts turns of all teams from 0
};

} // namespace

/// Whether `condition` says that `round` is a turn of the calling team.
static bool choosesTeam(Value condition, Value round, int64_t teams) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq) {
    return false;
  }
  Value turn = compare.getLhs(), team = compare.getRhs();
  if (turn.getDefiningOp<tgpu::TeamOp>()) {
    std::swap(turn, team);
  }
  Operation *op = turn.getDefiningOp();
  APInt by;
  if (!team.getDefiningOp<tgpu::TeamOp>() || !op || op->getNumOperands() != 2 ||
      op->getOperand(0) != round || !matchPattern(op->getOperand(1), m_ConstantInt(&by))) {
    return false;
  }
  return (isa<arith::RemUIOp, arith::RemSIOp>(op) && by == teams) ||
         (isa<arith::AndIOp>(op) && llvm::isPowerOf2_64(teams) && by == teams - 1);
}

/// The turn that `op` is in, of the innermost loop whose rounds teams share.
static std::optional<TeamTurn> turnOf(Operation *op, int64_t teams) {
  for (auto branch = op->getParentOfType<scf::IfOp>(); branch;
       branch = branch->getParentOfType<scf::IfOp>()) {
    auto loop = dyn_cast<scf::ForOp>(branch->getParentOp());
    if (loop && branch.getThenRegion().isAncestor(op->getParentRegion()) &&
        matchPattern(loop.getLowerBound(), m_Zero()) && matchPattern(loop.getStep(), m_One()) &&
        choosesTeam(branch.getCondition(), loop.getInductionVar(), teams)) {
      return TeamTurn{branch.thenBlock(), loop.getInductionVar()};
    }
  }
  return std::nullopt;
}

/// Whether `op`, in the block of a turn, waits for the turn before it, if there is one.
static bool awaitsTurn(Operation &op, Value turns, Value round) {
  auto branch = dyn_cast<scf::IfOp>(op);
  auto isAny = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  using enum arith::CmpIPredicate;
  if (!isAny || isAny.getLhs() != round || !matchPattern(isAny.getRhs(), m_Zero()) ||
      !llvm::is_contained({ne, sgt, ugt}, isAny.getPredicate())) {
    return false;
  }
  return llvm::any_of(branch.thenBlock()->getOps<tgpu::WaitOp>(), [&](tgpu::WaitOp wait) {
    Linear position = Linear::of(wait.getPosition());
    return wait.getChannel() == turns && position.constant == -1 && position.leaves.size() == 1 &&
           position.leaves.front() == round;
  });
}

/// Whether `wait` stands between a wait for a turn and what hands it on, of all threads: where one does for all, the turns may come
/// round again while another still waits for the one before.
static bool isInTurn(tgpu::WaitOp wait, int64_t teams) {
  std::optional<TeamTurn> turn = turnOf(wait, teams);
  if (!turn) {
    return false;
  }
  Operation *top = turn->block->findAncestorOpInBlock(*wait);
  for (Operation *behind = top->getNextNode(); behind; behind = behind->getNextNode()) {
    auto publish = dyn_cast<tgpu::PublishOp>(behind);
    if (!publish || publish.getPosition() != turn->round ||
        int64_t(publish.getChannel().getType().getSlots()) != teams) {
      continue;
    }
    for (Operation *before = top->getPrevNode(); before; before = before->getPrevNode()) {
      if (awaitsTurn(*before, publish.getChannel(), turn->round)) {
        return true;
      }
    }
  }
  return false;
}

void Checker::checkTurns() {
  kernel.walk([&](tgpu::RolesOp roles) {
    std::optional<unsigned> role = roles.getRoleOfTeams();
    if (!role) {
      return;
    }
    Region &own = roles.getBodies()[*role];
    own.walk([&](tgpu::WaitOp wait) {
      const bool isFilledByOthers =
          llvm::any_of(wait.getChannel().getUsers(), [&](Operation *user) {
            return isa<tgpu::PublishOp, tgpu::ExpectOp>(user) &&
                   !own.isAncestor(user->getParentRegion());
          });
      if (isFilledByOthers && !isInTurn(wait, roles.getTeams()[*role])) {
        report(wait,
               "waits for a phase of " + nameOf(wait.getChannel()) +
                   " outside of its team's turn: that the phase before is complete only those know "
                   "who waited for it",
               roles, "the teams");
      }
    });
  });
}
