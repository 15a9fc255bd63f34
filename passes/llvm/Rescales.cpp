//===- Rescales.cpp - sums that are scaled row by row between products ---===//
//
// An online softmax multiplies its sums by a factor for each row before the next product adds to them:
// a factor that is 1 unless the row's maximum has grown. A warp all of whose factors are 1 goes round
// the multiplications; x * 1 is x. They would stand between two products, where the tensor cores wait.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/SlotCode.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilec::lowering {

/// The least multiplications of a thread for which a vote and a branch are worth it.
constexpr size_t kLeastProducts = 64;

/// mma.sync takes registers where they are, and ptxas moves its operands' reads over the multiplications
/// but not over a branch: attention by it became 11 % slower with one.
static bool isAddedToByWgmma(Value sum) {
  return llvm::any_of(sum.getUses(), [](OpOperand &use) {
    auto product = dyn_cast<tgpu::WgmmaOp>(use.getOwner());
    return product && product.getAccMutable().getOperandNumber() == use.getOperandNumber();
  });
}

/// `sums`, one of the operands, or the product where a lane of the warp has a factor that is not 1.
static Fragment scaleUnlessOne(KernelLowering &lowering, Operation *op, ArrayRef<Fragment> operands,
                               ValueRange sums, ArrayRef<Value> factors) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
  Value changes;
  for (Value factor : factors) { // a NaN does
    Value differs = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, factor, one);
    changes = changes ? Value(arith::OrIOp::create(b, loc, changes, differs)) : differs;
  }
  Value any = NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), lowering.i32(-1), changes,
                                       NVVM::VoteSyncKind::any);
  auto branch = scf::IfOp::create(b, loc, sums.getTypes(), any, true, true);
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

Fragment scaleSum(KernelLowering &lowering, Operation *op, ArrayRef<Fragment> operands) {
  if (!isa<arith::MulFOp>(op) || !getElementTypeOrSelf(op->getResult(0).getType()).isF32() ||
      !isAddedToByWgmma(op->getResult(0)) || operands[0].size() < kLeastProducts) {
    return {};
  }
  for (unsigned side : {1U, 0U}) {
    llvm::SetVector<Value> factors(operands[side].begin(), operands[side].end());
    if (16 * factors.size() <= operands[side].size()) {
      return scaleUnlessOne(lowering, op, operands, operands[1 - side], factors.getArrayRef());
    }
  }
  return {};
}

} // namespace tilec::lowering
