// Constants that products of warpgroups read from registers.
#pragma once

namespace llvm {
class FunctionPass;
} // namespace llvm

namespace tilec {

/// A pass to run right before instructions are selected. The words of A that wgmma.mma_async reads from registers are made before its
/// wgmma.fence and are read until its wait (PTX ISA, wgmma.mma_async): the fence and the wait have them as inputs, so LLVM
/// keeps them. Not so those that it finds to be constants, of which it makes one for each use: behind the fence, too. The pass gives
/// each such constant a register, in the entry block, by assembly that LLVM does not look into.
llvm::FunctionPass *createHoldConstantsPass();

} // namespace tilec
