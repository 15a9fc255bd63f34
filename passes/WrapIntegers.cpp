//===- WrapIntegers.cpp - signed arithmetic of launches wraps ------------===//
//
// `overflow<nsw>` marks what checked builds test (TileDialect.td). Taken as a fact it would delete
// guards: where i + 1 > i, or i * 4 >= 0 for i >= 0, is known, the comparison is gone.
//
// Loops whose constant bounds lie further apart than their type counts with sign would be deleted
// too: MLIR's canonicalisation takes the wrapped distance for no trips at all.
//
//===----------------------------------------------------------------------===//
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_WRAPINTEGERS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

/// A loop with sign from -100 to 100 in i8 becomes one without from 0 to 200.
static void countWithoutSign(scf::ForOp loop) {
  APInt from, to;
  if (loop.getUnsignedCmp() || !matchPattern(loop.getLowerBound(), m_ConstantInt(&from)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&to)) || !from.slt(to) ||
      (to - from).isNonNegative()) {
    return;
  }
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value first = loop.getLowerBound(), index = loop.getInductionVar();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(first.getType(), value));
  };
  loop.getLowerBoundMutable().assign(constant(APInt::getZero(from.getBitWidth())));
  loop.getUpperBoundMutable().assign(constant(to - from));
  loop.setUnsignedCmp(true);
  b.setInsertionPointToStart(loop.getBody());
  auto shifted = arith::AddIOp::create(b, loc, index, first);
  index.replaceAllUsesExcept(shifted, shifted);
}

namespace {
struct WrapIntegers : tilec::impl::WrapIntegersBase<WrapIntegers> {
  void runOnOperation() override {
    auto none =
        arith::IntegerOverflowFlagsAttr::get(&getContext(), arith::IntegerOverflowFlags::none);
    getOperation().walk([&](tile::LaunchOp launch) {
      launch.walk([&](arith::ArithIntegerOverflowFlagsInterface op) {
        op->setAttr(op.getIntegerOverflowAttrName(), none);
      });
      launch.walk(countWithoutSign);
    });
  }
};
} // namespace
