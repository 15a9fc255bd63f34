// What a conversion between register layouts costs, from its plan.
#pragma once

#include "dialects/layout/Conversion.h"

namespace tilec::layout {

/// The work of one thread, and what the threads of the block share.
struct ConversionPrice {
  int64_t instructions = 0; // of a thread, shuffles and accesses of shared memory among them
  int64_t shuffles = 0;     // of a thread, of 32 bits each
  int64_t accesses = 0;     // of shared memory by a thread: writes and reads
  int64_t sharedBytes = 0;  // that the block writes and reads, copies and padding among them
  int64_t barriers = 0;
  int64_t conflicts = 0; // wavefronts of the block beyond those of the bytes

  bool isFree() const { return *this == ConversionPrice(); }
  /// One number for comparisons, an estimate: cycles of a multiprocessor for `warps` warps. It issues
  /// instructions of four warps in each, but a shuffle of one and 128 bytes of shared memory; threads wait
  /// some 30 at a barrier.
  int64_t cost(int64_t warps) const;
  /// "4 shuffles, 10 instructions a thread"; "free".
  std::string str() const;

  bool operator==(const ConversionPrice &) const = default;
};

/// The price of a plan of planConversion(source, target, elementBits). `storesMatrices`: the target has
/// stmatrix.
ConversionPrice priceOf(const Conversion &plan, const RegisterLayout &source,
                        const RegisterLayout &target, unsigned elementBits, bool storesMatrices);

} // namespace tilec::layout
