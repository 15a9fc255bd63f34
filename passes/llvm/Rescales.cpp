//===- Rescales.cpp - multiplications that a warp may go round -----------===//
//
// See VoteRescales.cpp for what they are. All lanes of a warp come here together: tiles are not computed
// under conditions of a lane.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/SlotCode.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilec::lowering {

Fragment emitUnderVote(KernelLowering &lowering, arith::MulFOp op, ArrayRef<Fragment> operands) {
  auto valuesOf = [&](unsigned side) {
    return llvm::SetVector<Value>(operands[side].begin(), operands[side].end());
  };
  const unsigned side = valuesOf(1).size() <= valuesOf(0).size() ? 1 : 0;
  const Fragment &sums = operands[1 - side];
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
  Value changes;
  for (Value factor : valuesOf(side)) { // a NaN does
    Value differs = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, factor, one);
    changes = changes ? Value(arith::OrIOp::create(b, loc, changes, differs)) : differs;
  }
  Value any = NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), lowering.i32(-1), changes,
                                       NVVM::VoteSyncKind::any);
  auto branch = scf::IfOp::create(b, loc, ValueRange(sums).getTypes(), any, true, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SlotCode code(lowering, op);
  Fragment scaled;
  for (size_t i = 0; i < sums.size(); ++i) {
    scaled.push_back(code.emit({operands[0][i], operands[1][i]}).front());
  }
  scf::YieldOp::create(b, loc, scaled);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, sums);
  return Fragment(branch.getResults());
}

} // namespace tilec::lowering
