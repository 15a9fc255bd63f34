// What the targets are called and what they offer.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

/// One architecture that --arch names. Sizes are bytes.
struct Target {
  llvm::StringLiteral name; // "sm_90a", or "cpu"
  int arch; // the constant ARCH of the language: 80, 89, 90, ...; of `cpu` that of sm_90a
  int64_t sharedPerBlock; // the most that one block can have
  int64_t registersPerSM; // of 32 bits
  int registersPerThread; // the most that one thread can have
  bool hasTma;            // bulk tensor copies, mbarriers with transaction counts, clusters
  bool hasWgmma;          // warpgroup matrix products from shared memory
  bool isGpu() const { return name != "cpu"; }
  /// mma.sync of e4m3 and e5m2 (PTX ISA 9.7.14: sm_89 and later).
  bool hasFp8Mma() const { return arch >= 89; }
  /// A launch may begin before the one before it has ended (PTX ISA, griddepcontrol: sm_90 and later).
  bool overlapsLaunches() const { return isGpu() && arch >= 90; }
};

/// Blocks that are resident on a multiprocessor at a time, given what one takes: registers of a
/// thread, threads, bytes of shared memory. Registers are given out to warps in units of 256,
/// shared memory with 1 KiB for the system (CUDA C programming guide, compute capabilities). 0 if
/// not even one fits.
int64_t residentBlocks(const Target &target, int64_t registers, int64_t threads,
                       int64_t sharedBytes);
/// What keeps a multiprocessor from holding more of them: "registers", "shared memory", "threads", "blocks", each that does.
llvm::SmallVector<llvm::StringRef, 4> limitsOfResidency(const Target &target, int64_t registers,
                                                        int64_t threads, int64_t sharedBytes);
/// Threads that a multiprocessor holds.
int64_t threadsPerSM(const Target &target);

/// The target called `name`, or null.
const Target *findTarget(llvm::StringRef name);
/// All targets, in the order in which messages list them.
llvm::ArrayRef<Target> allTargets();

} // namespace tilec
