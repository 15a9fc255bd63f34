// Comparisons of widened f16 values with numbers that no f16 reaches.
#pragma once

#include "llvm/IR/PassManager.h"

namespace tilec {

/// Turns `x >= c` and `x > c`, ordered, of an x that is the extension of a half, or its absolute value, into `x == +inf` where c is
/// finite and greater than 65504, and their opposites into the opposite: no other half is so large. LLVM narrows such a comparison
/// only if the half can hold c. libdevice's sine and cosine have some hundred instructions for each argument above 105615; behind
/// this LLVM sees that none comes there.
struct NarrowComparesPass : llvm::PassInfoMixin<NarrowComparesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
};

} // namespace tilec
