//===- RingPositions.cpp - numbers of iterations and positions in rings ---===//
#include "passes/RingPositions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

Value tilec::constantI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value tilec::emitSum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (matchPattern(a, m_Zero())) {
    return b;
  }
  return matchPattern(b, m_Zero()) ? a : Value(arith::AddIOp::create(builder, loc, a, b));
}

/// The distance between two bounds of one type may pass its end; where there are trips it fits
/// without sign.
Value tilec::emitTripCount(OpBuilder &builder, scf::ForOp loop) {
  const Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  const bool byOne = matchPattern(step, m_One());
  Type type = lower.getType();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)), trips;
  if (matchPattern(lower, m_Zero())) {
    trips = byOne ? upper : arith::CeilDivSIOp::create(builder, loc, upper, step).getResult();
    trips = arith::MaxSIOp::create(builder, loc, trips, zero);
  } else {
    Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
    trips = arith::SubIOp::create(builder, loc, upper, lower);
    if (!byOne) {
      trips = arith::CeilDivUIOp::create(builder, loc, trips, step);
    }
    trips = arith::SelectOp::create(builder, loc, runs, trips, zero);
  }
  Type i32 = builder.getI32Type();
  return type.isIndex()       ? arith::IndexCastOp::create(builder, loc, i32, trips).getResult()
         : type.isInteger(32) ? trips
                              : arith::TruncIOp::create(builder, loc, i32, trips).getResult();
}

Value tilec::emitInduction(OpBuilder &builder, scf::ForOp loop, Value number) {
  const Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  Value value = number;
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(builder, loc, type, number);
  } else if (!type.isInteger(32)) {
    value = arith::ExtSIOp::create(builder, loc, type, number);
  }
  if (!matchPattern(loop.getStep(), m_One())) {
    value = arith::MulIOp::create(builder, loc, value, loop.getStep());
  }
  return emitSum(builder, loc, loop.getLowerBound(), value);
}

//===----------------------------------------------------------------------===//
// The position of a ring, through all that is around its loop
//===----------------------------------------------------------------------===//

/// `op` with one more value that it carries, which begins as `base`. The paths that do not lead to
/// `place` hand it on; on the others `storePosition` says what it becomes. `base` is then what it
/// is inside.
static Operation *carryThrough(Operation *op, Operation *place, Value &base) {
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  const Location loc = op->getLoc(); // `op` is gone once it is replaced
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
        rewriter, ValueRange{base}, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> fresh) {
          return SmallVector<Value>{fresh.back()};
        });
    base = cast<scf::ForOp>(*replaced).getRegionIterArgs().back();
    return *replaced;
  }
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(base.getType());
  auto moveInto = [&](Operation *fresh) {
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), fresh->getRegions())) {
      to.takeBody(from);
    }
    rewriter.replaceOp(op, fresh->getResults().drop_back());
    return fresh;
  };
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto fresh = scf::IfOp::create(rewriter, loc, types, branch.getCondition(),
                                   /*addThenBlock=*/false, /*addElseBlock=*/false);
    moveInto(fresh);
    for (Region &region : fresh->getRegions()) {
      if (region.empty()) {
        rewriter.createBlock(&region);
        scf::YieldOp::create(rewriter, loc);
      }
      Operation *yield = region.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), base);
    }
    return fresh;
  }
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(base);
  auto fresh = scf::WhileOp::create(rewriter, loc, types, inits);
  moveInto(fresh);
  for (Region &region : fresh->getRegions()) {
    Value carried = region.front().addArgument(base.getType(), loc);
    Operation *end = region.front().getTerminator();
    end->insertOperands(end->getNumOperands(), carried);
  }
  base = fresh->getRegions()[fresh.getAfter().isAncestor(place->getParentRegion()) ? 1 : 0]
             .front()
             .getArguments()
             .back();
  return fresh;
}

RingPosition::RingPosition(tgpu::KernelOp kernel, Operation *place) {
  for (Operation *op = place->getParentOp(); !isa<tgpu::KernelOp>(op); op = op->getParentOp()) {
    around.push_back(op);
  }
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  first = constantI32(entry, place->getLoc(), 0);
  for (Operation *&outer : llvm::reverse(around)) {
    outer = carryThrough(outer, place, first);
  }
}

void RingPosition::store(Operation *last, Value end) {
  for (Operation *outer : around) {
    Operation *yield = last->getBlock()->getTerminator();
    yield->setOperand(yield->getNumOperands() - 1, end);
    end = outer->getResults().back();
    last = outer;
  }
}
