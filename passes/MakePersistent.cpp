//===- MakePersistent.cpp - blocks that work through grid points ---------===//
//
// Of n blocks, block b works on one point of each n that follow each other: on the b-th of the first n, on the
// b-th from the end of the next, and so on in turn. What a point costs often falls or repeats along the grid,
// as below the diagonal of causal attention. Dealt out in one direction, the same blocks would get the most
// each time.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/RingPositions.h"

namespace tilec {
#define GEN_PASS_DEF_MAKEPERSISTENT
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// The only use of the block's number in a kernel is to find its grid point.
tgpu::GridPointOp findGridPoint(tgpu::KernelOp kernel) {
  tgpu::GridPointOp found;
  kernel.walk([&](tgpu::GridPointOp point) { found = point; });
  return found;
}

struct MakePersistent : tilec::impl::MakePersistentBase<MakePersistent> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    tgpu::GridPointOp point = findGridPoint(kernel);
    if (!kernel.getPersistent() || !point || point->getParentOp() != kernel ||
        point.getExtents().empty()) {
      return;
    }
    OpBuilder builder(point);
    Location loc = point.getLoc();
    Value total = point.getExtents().front();
    for (Value extent : point.getExtents().drop_front()) {
      total = arith::MulIOp::create(builder, loc, total, extent);
    }
    // There are less than 2^31 points, and no more blocks than points.
    Value blocks = tgpu::NumBlocksOp::create(builder, loc, builder.getI32Type());
    Value block = point.getLinear(), zero = constantI32(builder, loc, 0),
          one = constantI32(builder, loc, 1);
    Value last = arith::SubIOp::create(builder, loc, blocks, one);
    Value fromEnd = arith::SubIOp::create(builder, loc, last, block);
    auto turn = [&](Value round) {
      Value odd = arith::AndIOp::create(builder, loc, round, one);
      Value isEven = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, odd, zero);
      return arith::SelectOp::create(builder, loc, isEven, block, fromEnd).getResult();
    };
    Value full = arith::DivUIOp::create(builder, loc, total, blocks);
    Value left = arith::SubIOp::create(builder, loc, total,
                                       arith::MulIOp::create(builder, loc, full, blocks));
    Value isOneMore =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, turn(full), left);
    Value more = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), isOneMore);
    Value rounds = arith::AddIOp::create(builder, loc, full, more);
    auto loop = scf::ForOp::create(builder, loc, zero, rounds, one);

    // Everything from the grid point to the end of the kernel is the work of one point.
    Block &body = *loop.getBody();
    Block &entry = kernel.getBody().front();
    SmallVector<Operation *> work;
    for (Operation &op :
         llvm::make_range(point->getIterator(), entry.getTerminator()->getIterator())) {
      if (&op != loop.getOperation()) {
        work.push_back(&op);
      }
    }
    for (Operation *op : work) {
      op->moveBefore(body.getTerminator());
    }
    builder.setInsertionPointToStart(&body);
    Value before = arith::MulIOp::create(builder, loc, loop.getInductionVar(), blocks);
    Value number =
        arith::AddIOp::create(builder, loc, before, turn(loop.getInductionVar())).getResult();
    point.getLinearMutable().assign(number);
  }
};

} // namespace
