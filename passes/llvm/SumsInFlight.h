//===- SumsInFlight.h - where LLVM might copy the sums of products -*- C++ -*-===//
//
// While a product of warpgroups is in flight nothing may read or write its sums (PTX ISA, wgmma.mma_async), and LLVM
// copies where two values that it would keep in one register live at a time. So they must not: what is used of the
// sums that a product begins with, or of those whose place it takes in a loop, is used before.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_LLVM_SUMSINFLIGHT_H
#define TILEC_PASSES_LLVM_SUMSINFLIGHT_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec::lowering {

/// Whether the sums that a product begins with are still wanted once it has begun, by the next trip of a loop too, or their registers
/// are: those of a loop's argument that goes on as something else, even if that is made of the new sum. LLVM then copies sums at the
/// product, or between its instructions.
bool outlivesProduct(tgpu::WgmmaOp product);

/// Whether a sum that `wait` completes goes on as a loop's argument whose value of before, as far as LLVM is concerned, may
/// still be used while the product is in flight. LLVM then has two registers for them, and may copy before the wait.
bool outlivesWait(tgpu::WgmmaWaitOp wait, unsigned result);

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_SUMSINFLIGHT_H
