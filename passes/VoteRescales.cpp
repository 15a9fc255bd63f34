//===- VoteRescales.cpp - sums that are scaled row by row, if at all -----===//
//
// An online softmax multiplies its sums by a factor for each row before the next product adds to them: one
// that is 1 unless the row's reference has changed. A warp all of whose factors are 1 may go round the
// multiplications: x * 1 is x. What the factors are does not matter, nor where they come from.
//
// Only sums that wgmma adds to: mma.sync takes registers where they are, and ptxas moves reads of its
// operands over the multiplications but not over a branch; attention by it became 11 % slower with one.
//
//===----------------------------------------------------------------------===//
#include "passes/VoteRescales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_VOTERESCALES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

void tilec::refuseVotes(tgpu::KernelOp kernel) {
  kernel.walk([](arith::MulFOp op) {
    if (isa<RankedTensorType>(op.getType()) && isRequired(op, "no_vote")) {
      tgpu::kUnderVote.set(op, BoolAttr::get(op.getContext(), false));
    }
  });
}

namespace {

/// Multiplications of a thread, and of these for each factor, from which on a vote and a branch are worth
/// it: what attention with heads of 64 elements has, which gained 2 %.
constexpr int64_t kLeastProducts = 32, kLeastForFactor = 16;

/// Here, or as what a loop carries or a branch gives: a product that runs an iteration behind adds to what the one before left.
bool isAddedToByWgmma(Value sum) {
  SmallVector<Value> places{sum};
  llvm::SmallPtrSet<Value, 8> seen{sum};
  const auto follow = [&](Value place) {
    if (seen.insert(place).second) {
      places.push_back(place);
    }
  };
  while (!places.empty()) {
    for (OpOperand &use : places.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (auto product = dyn_cast<tgpu::WgmmaOp>(user)) {
        if (product.getAccMutable().getOperandNumber() == use.getOperandNumber()) {
          return true;
        }
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        if (use.getOperandNumber() >= loop.getNumControlOperands()) {
          follow(loop.getTiedLoopRegionIterArg(&use));
          follow(loop.getTiedLoopResult(&use)); // of no iteration
        }
      } else if (isa<scf::YieldOp>(user)) {
        Operation *parent = user->getParentOp();
        if (auto loop = dyn_cast<scf::ForOp>(parent)) {
          follow(loop.getRegionIterArg(use.getOperandNumber()));
        }
        if (isa<scf::ForOp, scf::IfOp>(parent)) {
          follow(parent->getResult(use.getOperandNumber()));
        }
      }
    }
  }
  return false;
}

int64_t registersOf(Value tile) {
  const layout::RegisterLayout *layout = tgpu::getLayout(tile.getType());
  return layout ? layout->registersPerThread() : 0;
}

/// Either operand repeats few factors.
bool repeatsFactors(arith::MulFOp op) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto repeated = operand.getDefiningOp<tile::BroadcastOp>();
    return repeated && registersOf(repeated.getInput()) * kLeastForFactor <= registersOf(operand);
  });
}

struct VoteRescales : tilec::impl::VoteRescalesBase<VoteRescales> {
  void runOnOperation() override {
    getOperation().walk([](arith::MulFOp op) {
      auto type = dyn_cast<RankedTensorType>(op.getType());
      if (!type || !type.getElementType().isF32() || tgpu::kUnderVote.get(op) ||
          registersOf(op) < kLeastProducts || !isAddedToByWgmma(op) || !repeatsFactors(op)) {
        return;
      }
      tgpu::kUnderVote.set(op, BoolAttr::get(op.getContext(), true));
      // Behind all else that the iteration computes: a branch holds up what follows it.
      Operation *end = op->getBlock()->getTerminator();
      if (op->hasOneUse() && *op->user_begin() == end) {
        op->moveBefore(end);
      }
      op.emitRemark("a warp whose factors are all 1 does not scale its sums");
    });
  }
};

} // namespace
