// What has changed between two runs, and what has only been measured again.
#pragma once

#include "compiler/benchmark/BenchReport.h"

namespace tilec {

/// A case of both runs.
struct BenchChange {
  const BenchRow *before = nullptr, *after = nullptr;
  /// Share by which the time is longer: 0.05 is 5 %. Of the ways to look at it, by the clock on the wall, beside the
  /// baseline, in cycles, the one that shows the least; 0 if they do not agree which way it goes.
  double change = 0;
  double noise = 0; ///< share that need not mean anything
  bool isSignificant() const;
};

struct BenchComparison {
  std::string problem; ///< why nothing is compared; else empty
  std::vector<BenchChange> changes;
  std::vector<const BenchRow *> added, gone;
};

/// Both outlive what is returned.
BenchComparison compareReports(const BenchReport &before, const BenchReport &after);

/// Changes that mean something, then how many do not, as lines.
std::string printComparison(const BenchComparison &comparison, llvm::StringRef oldName);

} // namespace tilec
