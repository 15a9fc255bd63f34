//===- MakePersistent.cpp - blocks that work through grid points ---------===//
//
// Of n blocks, block b works on one point of each n that follow each other: on the b-th of the first n, on the
// b-th from the end of the next, and so on in turn. What a point costs often falls or repeats along the grid,
// as below the diagonal of causal attention. Dealt out in one direction, the same blocks would get the most
// each time. Clusters of blocks go through boxes of points in the same way, so that all blocks of one have as many.
//
// With a counter each block begins with the point of its number and then takes the next that nobody has: the
// counter gives 0, 1, .. beyond the first n. Where points cost differently no block waits for another.
//
//===----------------------------------------------------------------------===//
#include "dialects/tgpu/Cluster.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/RingPositions.h"

namespace tilec {
#define GEN_PASS_DEF_MAKEPERSISTENT
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// What a persistent kernel is made of.
class Maker {
public:
  Maker(tgpu::KernelOp kernel, tgpu::GridPointOp point)
      : kernel(kernel), point(point), builder(point), loc(point.getLoc()) {
    total = point.getExtents().front();
    for (Value extent : point.getExtents().drop_front()) {
      total = arith::MulIOp::create(builder, loc, total, extent);
    }
    // There are less than 2^31 points, and no more blocks than points.
    if (std::optional<ArrayRef<int32_t>> cluster = point.getCluster()) {
      total = arith::DivUIOp::create(builder, loc, total,
                                     constantI32(builder, loc, tgpu::blocksOfCluster(*cluster)));
      blocks = tgpu::NumClustersOp::create(builder, loc, builder.getI32Type());
    } else {
      blocks = tgpu::NumBlocksOp::create(builder, loc, builder.getI32Type());
    }
    block = point.getLinear();
    zero = constantI32(builder, loc, 0);
    one = constantI32(builder, loc, 1);
  }

  void dealInTurn();
  void dealByCounter(BlockArgument counter);

private:
  /// Everything from the grid point to the end of the kernel is the work of one point, `number` of all.
  void moveWork(Operation *loop, Block &body, Value number) {
    Block &entry = kernel.getBody().front();
    SmallVector<Operation *> work;
    for (Operation &op :
         llvm::make_range(point->getIterator(), entry.getTerminator()->getIterator())) {
      if (&op != loop) {
        work.push_back(&op);
      }
    }
    for (Operation *op : work) {
      op->moveBefore(&body, body.end());
    }
    point.getLinearMutable().assign(number);
  }

  tgpu::KernelOp kernel;
  tgpu::GridPointOp point;
  OpBuilder builder;
  Location loc;
  Value total, blocks, block, zero, one; // of clusters and their boxes of points, if there are such
};

void Maker::dealInTurn() {
  Value last = arith::SubIOp::create(builder, loc, blocks, one);
  Value fromEnd = arith::SubIOp::create(builder, loc, last, block);
  auto turn = [&](Value round) {
    Value odd = arith::AndIOp::create(builder, loc, round, one);
    Value isEven = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, odd, zero);
    return arith::SelectOp::create(builder, loc, isEven, block, fromEnd).getResult();
  };
  Value full = arith::DivUIOp::create(builder, loc, total, blocks);
  Value left =
      arith::SubIOp::create(builder, loc, total, arith::MulIOp::create(builder, loc, full, blocks));
  Value isOneMore =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, turn(full), left);
  Value more = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), isOneMore);
  Value rounds = arith::AddIOp::create(builder, loc, full, more);
  auto loop = scf::ForOp::create(builder, loc, zero, rounds, one);
  Block &body = *loop.getBody();
  body.getTerminator()->erase();
  builder.setInsertionPointToStart(&body);
  Value before = arith::MulIOp::create(builder, loc, loop.getInductionVar(), blocks);
  Value number = arith::AddIOp::create(builder, loc, before, turn(loop.getInductionVar()));
  moveWork(loop, body, number);
  builder.setInsertionPointToEnd(&body);
  scf::YieldOp::create(builder, loc);
}

/// Behind the last loop, or what has one in it; where `body` has none, before all it does.
static void setBehindLoops(OpBuilder &builder, Block &body) {
  builder.setInsertionPointToStart(&body);
  for (Operation &op : body) {
    if (op.walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted()) {
      builder.setInsertionPointAfter(&op);
    }
  }
}

/// The next point is asked for late in the work of this one, and looked at behind it. A block that took it at the beginning of a long point
/// would keep it from blocks that are done sooner: from the longest to the shortest points no order would be left.
void Maker::dealByCounter(BlockArgument counter) {
  auto smem = tgpu::SmemType::get(builder.getContext(), {1}, builder.getI32Type(), {});
  Value next = tgpu::AllocSharedOp::create(builder, loc, smem, builder.getStringAttr("next point"),
                                           StringAttr(), IntegerAttr());
  Value counting =
      tgpu::ViewOp::create(builder, loc, counter.getType(), counter, one, ValueRange());
  auto loop = scf::WhileOp::create(builder, loc, builder.getI32Type(), block);
  Block *test = builder.createBlock(&loop.getBefore(), {}, builder.getI32Type(), loc);
  Value number = test->getArgument(0);
  // Of 31 bits and one more at most, without a sign.
  Value isPoint = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, total);
  scf::ConditionOp::create(builder, loc, isPoint, number);
  Block *body = builder.createBlock(&loop.getAfter(), {}, builder.getI32Type(), loc);
  moveWork(loop, *body, body->getArgument(0));
  setBehindLoops(builder, *body);
  tgpu::AtomicOp::create(builder, loc, Type(), tile::AtomicKind::Add, one, Value(), counting, zero,
                         Value(), next, tile::MemoryOrder::Relaxed, /*is_unsigned=*/false);
  builder.setInsertionPointToEnd(body);
  Value taken = tgpu::LoadElementOp::create(builder, loc, builder.getI32Type(), next, zero);
  Value following = arith::AddIOp::create(builder, loc, blocks, taken);
  scf::YieldOp::create(builder, loc, following);
}

struct MakePersistent : tilec::impl::MakePersistentBase<MakePersistent> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    tgpu::GridPointOp point = findGridPoint(kernel);
    if (!kernel.getPersistent() || !point || point->getParentOp() != kernel ||
        point.getExtents().empty()) {
      return;
    }
    for (BlockArgument argument : kernel.getArguments()) {
      if (tgpu::kPointCounter.has(kernel, argument.getArgNumber())) {
        return Maker(kernel, point).dealByCounter(argument);
      }
    }
    Maker(kernel, point).dealInTurn();
  }
};

} // namespace
