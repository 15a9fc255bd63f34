#include "compiler/emit/NarrowCompares.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace tilec {

/// The extension of a half, or its absolute value?
static bool isWidenedHalf(Value *value) {
  Value *inner = value;
  if (!match(value, m_FAbs(m_Value(inner))) &&
      !match(value, m_Intrinsic<Intrinsic::nvvm_fabs>(m_Value(inner))) &&
      !match(value, m_Intrinsic<Intrinsic::nvvm_fabs_ftz>(m_Value(inner)))) {
    inner = value;
  }
  Value *half = nullptr;
  return match(inner, m_FPExt(m_Value(half))) && half->getType()->getScalarType()->isHalfTy();
}

/// Finite, and greater than each finite half?
static bool isBeyondHalf(Constant *bound) {
  const auto *number = dyn_cast<ConstantFP>(bound);
  if (!number || !number->getValueAPF().isFinite()) {
    return false;
  }
  APFloat largest = APFloat::getLargest(APFloat::IEEEhalf());
  bool loses = false;
  largest.convert(number->getValueAPF().getSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return number->getValueAPF() > largest;
}

PreservedAnalyses NarrowComparesPass::run(Function &function, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &inst : instructions(function)) {
    auto *compare = dyn_cast<FCmpInst>(&inst);
    auto *bound = compare ? dyn_cast<Constant>(compare->getOperand(1)) : nullptr;
    if (!bound || !isBeyondHalf(bound) || !isWidenedHalf(compare->getOperand(0))) {
      continue;
    }
    switch (compare->getPredicate()) {
    case FCmpInst::FCMP_OGE:
    case FCmpInst::FCMP_OGT:
      compare->setPredicate(FCmpInst::FCMP_OEQ);
      break;
    case FCmpInst::FCMP_ULT: // the opposites
    case FCmpInst::FCMP_ULE:
      compare->setPredicate(FCmpInst::FCMP_UNE);
      break;
    default:
      continue;
    }
    compare->setOperand(1, ConstantFP::getInfinity(bound->getType()));
    changed = true;
  }
  if (!changed) {
    return PreservedAnalyses::all();
  }
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}

} // namespace tilec
