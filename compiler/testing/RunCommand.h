// tilec run: compiles a kernel and runs it.
#pragma once

#include "compiler/driver/Compilation.h"

namespace tilec {

/// Runs the kernel of `compilation`'s source as the options say: on the CPU in this process, on the
/// GPU and the emulator by tile-run, which stands beside tilec. Prints what it did and the
/// diagnostics. ExitInput also means that an output differs from what was expected.
ExitCode runKernel(const Options &options, Compilation &compilation);

} // namespace tilec
