// What is written when a run of tilec ends, and how it begins: the trace and the messages.
#pragma once

#include "compiler/driver/Options.h"

namespace tilec {

/// Whether the files that are written at the end can be written, which is reported if not, before anything is spent on
/// them. Begins the trace.
bool beginRun(const Options &options);
/// Writes them. The status that the run ends with, `code` if nothing goes wrong. A second call does nothing.
ExitCode endRun(const Options &options, ExitCode code);

} // namespace tilec
