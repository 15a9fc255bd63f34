// Runs what a command line asks for.
#pragma once

#include "compiler/driver/Options.h"

namespace tilec {

/// Compiles each source, or runs a kernel, and returns the status for the process. Crashes and
/// aborts of LLVM end in ExitInternal with what reproduces them; they leave memory behind, so the
/// process should then end without destructors. Diagnostics go to standard error.
ExitCode runDriver(const Options &options);

} // namespace tilec
