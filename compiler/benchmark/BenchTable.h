// Results as a table for people.
#pragma once

#include "compiler/benchmark/BenchReport.h"

namespace tilec {

/// Aligned columns, of which those are left out that have nothing in any row.
std::string printBenchTable(const BenchReport &report);

/// A line that says how fast cases are beside their baselines, all in all; empty where fewer than two have one.
std::string printBenchSummary(const BenchReport &report);

} // namespace tilec
