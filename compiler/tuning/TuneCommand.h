// `tilec tune`: measures the candidates of a kernel on a GPU and writes down what was found (docs/tuning.md).
#pragma once

#include "compiler/driver/Compilation.h"

namespace tilec {

/// Prints its diagnostics and returns the status with which to end.
ExitCode tuneKernel(const Options &options, Compilation &compilation);

} // namespace tilec
