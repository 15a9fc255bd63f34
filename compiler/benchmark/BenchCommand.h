// `tilec bench`: measures the cases of a source on a GPU, beside cuBLAS (docs/benchmarks.md).
#pragma once

#include "compiler/driver/Compilation.h"

namespace tilec {

/// Prints its diagnostics and returns the status with which to end.
ExitCode benchKernels(const Options &options, Compilation &compilation);

} // namespace tilec
