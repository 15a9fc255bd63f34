//===- WrapIntegers.cpp - signed arithmetic of launches wraps ------------===//
//
// `overflow<nsw>` marks what checked builds test (TileDialect.td). Taken as a fact it would delete
// guards: where i + 1 > i, or i * 4 >= 0 for i >= 0, is known, the comparison is gone.
//
//===----------------------------------------------------------------------===//
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_WRAPINTEGERS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct WrapIntegers : tilec::impl::WrapIntegersBase<WrapIntegers> {
  void runOnOperation() override {
    auto none =
        arith::IntegerOverflowFlagsAttr::get(&getContext(), arith::IntegerOverflowFlags::none);
    getOperation().walk([&](tile::LaunchOp launch) {
      launch.walk([&](arith::ArithIntegerOverflowFlagsInterface op) {
        op->setAttr(op.getIntegerOverflowAttrName(), none);
      });
    });
  }
};
} // namespace
