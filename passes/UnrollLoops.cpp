//===- UnrollLoops.cpp - `unrolled` loops with a factor ------------------===//
//
//     for k in a..b step s         for k in a..(b - (n - 1) * s) step n * s { n bodies }
//                            ->    for k in where that ended..b step s      { the body }
//
// The loop itself becomes the second one. Then what the n bodies read of global memory moves to
// their begin, as far as nothing before it may write: so many accesses are in flight at a time,
// which is what programs unroll for. Where n bodies and the one for what is left would be too long, there are
// fewer, a divisor of n, which leaves a rest only where n does.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/CodeSize.h"
#include "passes/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Adds `op` and what it is computed from in its block to `moved`; false where that is more than
/// arithmetic and loads that move too.
bool addWithOperands(Operation *op, llvm::SetVector<Operation *> &moved) {
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (!definition || definition->getBlock() != op->getBlock() || moved.contains(definition)) {
      continue;
    }
    if (!isMemoryEffectFree(definition) || definition->getNumRegions() != 0 ||
        !addWithOperands(definition, moved)) {
      return false;
    }
  }
  moved.insert(op);
  return true;
}

/// Moves loads of global memory to the begin of `body`.
void moveLoadsUp(Block &body) {
  llvm::SetVector<Operation *> moved;
  for (Operation &op : body.without_terminator()) {
    if (isa<tile::LoadOp>(op) && isa<tile::GlobalType>(op.getOperand(0).getType())) {
      llvm::SetVector<Operation *> all = moved;
      if (addWithOperands(&op, all)) {
        moved = all;
      }
    } else if (!isMemoryEffectFree(&op) && !hasSingleEffect<MemoryEffects::Read>(&op)) {
      break;
    }
  }
  Operation *begin = &body.front();
  while (moved.contains(begin)) {
    begin = begin->getNextNode();
  }
  for (Operation *op : moved) {
    op->moveBefore(begin);
  }
}

/// How often the body of `loop` is repeated, which asks for `wanted`.
int64_t copiesOf(scf::ForOp loop, int64_t wanted) {
  int64_t copies = std::clamp<int64_t>(mostCopies(*loop.getBody()) - 1, 1, wanted);
  while (wanted % copies != 0) {
    --copies;
  }
  if (copies < wanted) {
    loop.emitRemark("loop is unrolled ") << copies << (copies == 1 ? " time, not " : " times, not ")
                                         << wanted << ": more copies of its body would be too long";
  }
  return copies;
}

struct UnrollLoops : tilec::impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {
    IntegerAnalysis integers(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (tile::kUnroll.has(loop)) {
        loops.push_back(loop);
      }
    });
    for (scf::ForOp loop : loops) {
      unroll(loop, integers);
      tile::kUnroll.remove(loop);
    }
  }

  static void unroll(scf::ForOp loop, const IntegerAnalysis &integers) {
    APInt step;
    const unsigned width = loop.getStep().getType().getIntOrFloatBitWidth();
    const int64_t wanted = tile::kUnroll.get(loop).getInt();
    const int64_t factor = wanted < 2 ? 1 : copiesOf(loop, wanted);
    int64_t stride, ahead;
    if (factor < 2 || loop.getUnsignedCmp() ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive() ||
        __builtin_mul_overflow(step.getSExtValue(), factor, &stride) ||
        !APInt(64, stride).isSignedIntN(width)) {
      return;
    }
    ahead = stride - step.getSExtValue();
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(loop.getStep().getType(), value));
    };
    // The last index whose n bodies all run lies before this end.
    const int64_t least = APInt::getSignedMinValue(width).getSExtValue();
    Value end = loop.getUpperBound();
    if (integers.range(end).low < least + ahead) {
      end = arith::MaxSIOp::create(b, loc, end, constant(least + ahead));
    }
    end = arith::SubIOp::create(b, loc, end, constant(ahead));
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(loop.getLowerBound());
    auto many = scf::ForOp::create(b, loc, loop.getLowerBound(), end, constant(stride), inits,
                                   [](OpBuilder &, Location, Value, ValueRange) {});
    b.setInsertionPointToStart(many.getBody());
    SmallVector<Value> carried(many.getRegionIterArgs().drop_back());
    for (int64_t copy = 0; copy < factor; ++copy) {
      IRMapping mapping;
      mapping.map(loop.getRegionIterArgs(), carried);
      Value index = many.getInductionVar();
      if (copy > 0) {
        index = arith::AddIOp::create(b, loc, index, constant(copy * step.getSExtValue()));
      }
      mapping.map(loop.getInductionVar(), index);
      for (Operation &op : loop.getBody()->without_terminator()) {
        b.clone(op, mapping);
      }
      for (auto [value, yielded] :
           llvm::zip_equal(carried, loop.getBody()->getTerminator()->getOperands())) {
        value = mapping.lookupOrDefault(yielded);
      }
    }
    carried.push_back(arith::AddIOp::create(b, loc, many.getInductionVar(), constant(stride)));
    scf::YieldOp::create(b, loc, carried);
    moveLoadsUp(*many.getBody());
    loop.getLowerBoundMutable().assign(many.getResults().back());
    loop.getInitArgsMutable().assign(many.getResults().drop_back());
  }
};

} // namespace
