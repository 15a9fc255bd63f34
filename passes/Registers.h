//===- Registers.h - what fragments take of a thread's registers -*- C++ -*-===//
#ifndef TILEC_PASSES_REGISTERS_H
#define TILEC_PASSES_REGISTERS_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Registers of 32 bits that a fragment takes of a thread; 0 for other values. At rest several
/// elements share one; what only passes through has one for each (`apart`).
int64_t registersOf(mlir::Value value, bool apart = false);

/// Registers that each of a block's threads can have, if `blocks` blocks share a multiprocessor.
int64_t registersPerThread(tgpu::KernelOp kernel, const Target &target, int64_t blocks = 1);

/// An estimate of the registers that fragments take at one time while `loop` runs, at most: its own
/// and those around it that are used later. What is the same value again or a coordinate takes none.
int64_t registersInUse(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_PASSES_REGISTERS_H
