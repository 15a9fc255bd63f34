// What the targets are called and what they offer.
#pragma once

#include "llvm/ADT/ArrayRef.h"
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
  /// stmatrix (PTX ISA 9.7.14.5.16: sm_90 and later).
  bool hasStmatrix() const { return arch >= 90; }
};

/// The target called `name`, or null.
const Target *findTarget(llvm::StringRef name);
/// All targets, in the order in which messages list them.
llvm::ArrayRef<Target> allTargets();

} // namespace tilec
