// tilec test: runs the cases of kernel files and compares with their numpy references.
#pragma once

#include "compiler/driver/Options.h"

namespace tilec {

/// Runs the cases of all sources and prints a line for each, then how many passed. ExitInput: some
/// failed, or a source is wrong; ExitTool: Python, numpy or tile-run is missing; ExitUsage: there
/// is no case to run.
ExitCode runTests(const Options &options);

} // namespace tilec
