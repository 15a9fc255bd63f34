//===- SumsInFlight.h - where LLVM might copy the sums of products -*- C++ -*-===//
//
// While a product of warpgroups is in flight nothing may read or write its sums (PTX ISA, wgmma.mma_async). The assembly from its
// fence to its wait ties them, so LLVM copies from one operation to the next, and drops each copy where both ends may share a
// register: where they are not live at a time. What loops and branches carry is copied, too, and so the sums share registers with
// it. If then some part of that is live beside the sums a copy stays, at any of these places, also in flight. A sum that might
// meet such goes through a register of its own, in front of the fence or behind the wait.
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
