//===- StartSums.cpp - loops whose first product begins a sum -------------===//
//
// A sum that a loop adds products to begins as zeros: a move for each register of a thread, where a tile begins and
// the tensor cores have nothing else to do. wgmma makes them itself: with scale-d = 0 it takes no notice of what its
// accumulator holds. So the first iteration of a loop of products stands before it, and its product begins the sum. One product with
// scale-d of a register would do without the copy, but then what the registers hold before counts as used: ptxas keeps
// them through the rest of a tile (int8_gemm spilled 528 bytes).
//
// A loop that may have no iteration leaves zeros all the same, in a branch. The wait for the products is in the other one:
// ptxas serialises products (C7515) where moves to their registers come together with them before it.
//
//===----------------------------------------------------------------------===//
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_STARTSUMS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Zeros, or a sum in flight that begins with them. Not -0, which stays -0 if nothing is added.
bool isOfZeros(Value value) {
  if (auto begin = value.getDefiningOp<tgpu::WgmmaBeginOp>()) {
    value = begin.getAcc();
  }
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat && (matchPattern(splat.getInput(), m_Zero()) ||
                   matchPattern(splat.getInput(), m_PosZeroFloat()));
}

/// The product that in each iteration is the only one to read `sum`, as what it adds to.
tgpu::WgmmaOp productThatAddsTo(BlockArgument sum) {
  if (!sum.hasOneUse()) {
    return {};
  }
  OpOperand &use = *sum.getUses().begin();
  auto product = dyn_cast<tgpu::WgmmaOp>(use.getOwner());
  const bool addsAlways = product && product->getBlock() == sum.getOwner() &&
                          product.getAccumulate() && !product.getUseAcc() &&
                          use.getOperandNumber() == product.getAccMutable().getOperandNumber();
  return addsAlways ? product : tgpu::WgmmaOp();
}

/// Whether an iteration is little more than its products, so that another copy of it costs nothing: what others load is waited for and given back,
/// or one thread loads. Attention's gradients, whose iterations compute scores besides, took 11 % longer with one, and loops in which all threads load 5 %.
bool isOfProductsAlone(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](Operation *op) {
                const bool isOfProduct = isa<tgpu::WgmmaOp, tgpu::WgmmaWaitOp>(op);
                const bool isOfChannel =
                    isa<tgpu::WaitOp, tgpu::ReleaseOp, tgpu::AcquireOp, tgpu::ExpectOp,
                        tgpu::TmaLoadOp, tgpu::OneThreadOp, tgpu::WgmmaFenceOp, tgpu::WgmmaCommitOp,
                        tgpu::SlotOp, scf::IfOp>(op);
                const bool isScalar =
                    isMemoryEffectFree(op) &&
                    llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
                return isOfProduct || isOfChannel || isScalar ? WalkResult::advance()
                                                              : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// A loop whose first iteration is to stand before it.
class Start {
public:
  explicit Start(scf::ForOp loop) : loop(loop) {
    for (auto [begin, sum] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
      if (tgpu::WgmmaOp product = isOfZeros(begin) ? productThatAddsTo(sum) : tgpu::WgmmaOp()) {
        begun.insert(product);
      }
    }
    std::optional<APInt> count = loop.getStaticTripCount();
    isNeverEmpty = count && !count->isZero();
  }

  void run() {
    if (begun.empty() || !isOfProductsAlone(loop) || (!isNeverEmpty && !findWait())) {
      return;
    }
    if (!isNeverEmpty) {
      guard();
    }
    peel();
  }

private:
  /// What comes behind the loop up to the wait for its products, if anything is left in flight. False where that cannot be moved.
  bool findWait() {
    auto isFromLoop = [&](Value value) { return value.getDefiningOp() == loop; };
    if (llvm::none_of(loop.getResultTypes(), llvm::IsaPred<tgpu::PendingType>)) {
      return true;
    }
    for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
      if (auto found = dyn_cast<tgpu::WgmmaWaitOp>(op);
          found && llvm::any_of(found.getInputs(), isFromLoop)) {
        wait = found;
        return found.getPending() == 0 && found.getFragments().empty() &&
               llvm::all_of(found.getInputs(), isFromLoop) &&
               llvm::all_of(llvm::zip_equal(loop.getResults(), loop.getInitArgs()), [&](auto both) {
                 auto [value, begin] = both;
                 return !isa<tgpu::PendingType>(value.getType()) ||
                        (value.hasOneUse() && *value.getUsers().begin() == found &&
                         begin.template getDefiningOp<tgpu::WgmmaBeginOp>());
               });
      }
      if (llvm::any_of(op->getOperands(), isFromLoop) || op->getNumRegions() != 0 ||
          (!isMemoryEffectFree(op) && op->getNumResults() != 0)) {
        return false;
      }
      between.push_back(op);
    }
    return false;
  }

  /// Runs the loop, and the wait behind it, only where it has an iteration; elsewhere there is what its sums began with. Of zeros
  /// that LLVM knows it would compute what follows in both branches, for all elements at once.
  void guard() {
    OpBuilder builder(loop);
    const Location loc = loop.getLoc();
    const auto below =
        loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value runs =
        arith::CmpIOp::create(builder, loc, below, loop.getLowerBound(), loop.getUpperBound());
    // What is given: the results of the loop, or of the wait for them.
    SmallVector<Value> given, otherwise;
    SmallVector<Operation *> effects;
    for (Operation *op : between) {
      if (isMemoryEffectFree(op)) {
        op->moveBefore(loop);
      } else {
        effects.push_back(op);
      }
    }
    builder.setInsertionPoint(loop);
    for (auto [result, begin] : llvm::zip_equal(loop.getResults(), loop.getInitArgs())) {
      Value value = result, none = begin;
      if (isa<tgpu::PendingType>(result.getType())) {
        value = wait.getResult((*result.getUses().begin()).getOperandNumber());
        none = begin.getDefiningOp<tgpu::WgmmaBeginOp>().getAcc();
      }
      given.push_back(value);
      otherwise.push_back(none);
    }
    auto branch = scf::IfOp::create(builder, loc, ValueRange(given).getTypes(), runs,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    for (auto [from, to] : llvm::zip_equal(given, branch.getResults())) {
      from.replaceAllUsesExcept(to, wait ? wait.getOperation() : nullptr);
    }
    Block *then = branch.thenBlock();
    loop->moveBefore(then, then->end());
    for (Operation *op : effects) {
      OpBuilder::atBlockEnd(branch.elseBlock()).clone(*op);
      op->moveBefore(then, then->end());
    }
    if (wait) {
      wait->moveBefore(then, then->end());
    }
    builder.setInsertionPointToEnd(then);
    scf::YieldOp::create(builder, loc, given);
    builder.setInsertionPointToEnd(branch.elseBlock());
    for (Value &value : otherwise) {
      if (isOfZeros(value)) {
        value = tgpu::HiddenOp::create(builder, loc, value.getType(), value);
      }
    }
    scf::YieldOp::create(builder, loc, otherwise);
  }

  /// The first iteration, before the loop: its products add to nothing.
  void peel() {
    OpBuilder builder(loop);
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    first.map(loop.getRegionIterArgs(), loop.getInitArgs());
    for (Operation &op : loop.getBody()->without_terminator()) {
      Operation *copy = builder.clone(op, first);
      if (begun.contains(dyn_cast<tgpu::WgmmaOp>(op))) {
        cast<tgpu::WgmmaOp>(copy).setAccumulate(false);
      }
    }
    Value second =
        arith::AddIOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getStep());
    loop.getLowerBoundMutable().assign(second);
    for (auto [init, yielded] : llvm::zip_equal(loop.getInitArgsMutable(),
                                                loop.getBody()->getTerminator()->getOperands())) {
      init.set(first.lookupOrDefault(yielded));
    }
  }

  scf::ForOp loop;
  llvm::SmallPtrSet<Operation *, 2> begun; ///< products that begin sums in the first iteration
  bool isNeverEmpty = false;
  SmallVector<Operation *> between; ///< what stands between the loop and the wait
  tgpu::WgmmaWaitOp wait;
};

struct StartSums : tilec::impl::StartSumsBase<StartSums> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      Start(loop).run();
    }
  }
};

} // namespace
