// What a case cannot be faster than, out of its work and the rates of the cost model.
#pragma once

#include "compiler/benchmark/BenchReport.h"

namespace tilec {

struct BenchLimit {
  double microseconds = 0;
  llvm::StringRef bound; ///< "tensor cores", "arithmetic", "memory", "launch"
};

/// Nothing for a case that says neither operations nor bytes.
std::optional<BenchLimit> limitOf(const BenchReport &report, const BenchRow &row);

/// Operations per second of products of a type, at the highest clock, and bytes per second of memory.
double peakFlops(const BenchReport &report, llvm::StringRef type);
double peakBytes(const BenchReport &report);

} // namespace tilec
