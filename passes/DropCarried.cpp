//===- DropCarried.cpp - loops carry only what something reads ------------===//
//
// A fragment that is declared outside of a loop is carried by it, and by the loops around, whether an
// iteration begins with what it holds or writes all of it first, as products do that add to nothing. Each would count among the registers of
// the loop. What only goes round is handed on unchanged, which the canonicalizer takes out of the loop.
//
//===----------------------------------------------------------------------===//
#include "mlir/Analysis/DataFlow/LivenessAnalysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_DROPCARRIED
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// A product that does not add to its sum does not read it either.
void forgetSum(tgpu::DotOp dot) {
  if (dot.getAccumulate() || dot.getAcc().getDefiningOp<tile::SplatOp>()) {
    return;
  }
  OpBuilder builder(dot);
  auto type = cast<RankedTensorType>(dot.getAcc().getType());
  Value zero =
      arith::ConstantOp::create(builder, dot.getLoc(), builder.getZeroAttr(type.getElementType()));
  dot.getAccMutable().assign(tile::SplatOp::create(builder, dot.getLoc(), type, zero));
}

struct DropCarried : tilec::impl::DropCarriedBase<DropCarried> {
  void runOnOperation() override {
    getOperation().walk(forgetSum);
    dataflow::RunLivenessAnalysis liveness(getOperation());
    auto isRead = [&](Value value) {
      const dataflow::Liveness *known = liveness.getLiveness(value);
      return !known || known->isLive;
    };
    getOperation().walk([&](scf::ForOp loop) {
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      for (auto [argument, next, result] :
           llvm::zip_equal(loop.getRegionIterArgs(), yield->getOpOperands(), loop.getResults())) {
        if (!isRead(argument) && !isRead(result) && next.get() != argument) {
          next.set(argument);
        }
      }
    });
  }
};

} // namespace
