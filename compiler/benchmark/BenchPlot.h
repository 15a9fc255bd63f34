// Results as a roofline picture.
#pragma once

#include "compiler/benchmark/BenchReport.h"

namespace tilec {

/// An SVG file: operations per second over operations per byte, both logarithmic, under what memory and products let through, ours
/// and the baselines; below them bars for cases that say only one of the two, then a legend. The same bytes for the same report.
std::string printBenchPlot(const BenchReport &report);

} // namespace tilec
