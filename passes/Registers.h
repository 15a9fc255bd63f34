//===- Registers.h - what fragments take of a thread's registers -*- C++ -*-===//
#ifndef TILEC_PASSES_REGISTERS_H
#define TILEC_PASSES_REGISTERS_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Registers of a thread beside fragments: addresses, positions, what passes through. Measured on loops of
/// one product: ptxas takes 154 for 128 of a sum, 218 for 192.
inline constexpr int64_t kRegistersBesideFragments = 26;
/// Of a thread that leaves the fills to others. Measured: attention with 136 for fragments does not spill with 160.
inline constexpr int64_t kRegistersBesideFragmentsOfRole = 24;

/// Registers of 32 bits that a fragment takes of a thread; 0 for other values. At rest several
/// elements share one; what only passes through has one for each (`apart`).
int64_t registersOf(mlir::Value value, bool apart = false);

/// How many elements of this type a loop may carry in one register: integers of 8 and 16 bits, and floats of 8, have one each, which
/// takes less code, where that leaves enough registers (isCrowded). 1 for other types.
int64_t packedInWord(mlir::Type element);

/// Whether a loop carries so much, in this many registers with one for each element, that elements have to share them.
bool isCrowded(int64_t apart, int64_t available);
bool isCrowded(mlir::scf::ForOp loop);

/// Registers that a fragment takes which a loop carries, `shares` them or not.
int64_t registersCarried(mlir::Value value, bool shares);

/// Registers that each of a block's threads can have, if `blocks` blocks share a multiprocessor.
int64_t registersPerThread(tgpu::KernelOp kernel, const Target &target, int64_t blocks = 1);

/// How many accesses of `bytes` each of a thread go together in a copy of a tile by loads and stores, of which `registers` are left for
/// them: what waits for memory again and again waits the longer for it. Copies beside each other in a block are in flight at the same
/// time and share the registers.
int64_t accessesInFlight(tgpu::CopyOp copy, int64_t bytes, int64_t registers);
/// That is at least so many.
inline constexpr int64_t kLeastInFlight = 16;

/// An estimate of the registers that fragments take at one time while `loop` runs, at most: its own
/// and those around it that are used later. What is the same value again or a coordinate takes none.
int64_t registersInUse(mlir::scf::ForOp loop);
/// The same where a fragment takes `weight` registers.
int64_t registersInUse(mlir::scf::ForOp loop, llvm::function_ref<int64_t(mlir::Value)> weight);
/// The registers of a thread that fragments take which are made before `loop`, or carried by loops
/// around it, and are needed in it or behind it.
int64_t registersThrough(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_PASSES_REGISTERS_H
