//===- SlotCode.h - an element-wise operation, a slot at a time -*- C++ -*-===//
#ifndef TILEC_PASSES_LLVM_SLOTCODE_H
#define TILEC_PASSES_LLVM_SLOTCODE_H

#include "passes/llvm/KernelLowering.h"

#include <map>

namespace tilec::lowering {

/// Code of one element-wise operation. Slots that one scalar filled give one result, which the first
/// of them computes.
class SlotCode {
public:
  SlotCode(KernelLowering &lowering, mlir::Operation *op)
      : lowering(lowering), op(op), inPairs(isPairwise(op)) {}

  /// True for what has an instruction for two numbers of 16 bits. Slots 2i and 2i + 1 of such numbers
  /// share a register.
  static bool isPairwise(mlir::Operation *op);

  Fragment emit(llvm::ArrayRef<mlir::Value> slot);
  /// Of slots 2i and 2i + 1, by one instruction if there is one.
  std::pair<Fragment, Fragment> emitTwo(llvm::ArrayRef<mlir::Value> even,
                                        llvm::ArrayRef<mlir::Value> odd);

private:
  Fragment emitPair(mlir::ValueRange even, mlir::ValueRange odd);
  Fragment &resultsOf(llvm::ArrayRef<mlir::Value> slot);

  KernelLowering &lowering;
  mlir::Operation *op;
  bool inPairs;
  std::map<llvm::SmallVector<void *, 3>, Fragment> known; // by operands; looked up only
};

/// The product of `operands`, the slots of sums and of factors, either first; computed where a factor of
/// the warp's is not 1, else it is the sums. Factors are the operand of fewer values.
Fragment emitUnderVote(KernelLowering &lowering, mlir::arith::MulFOp op,
                       llvm::ArrayRef<Fragment> operands);

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_SLOTCODE_H
