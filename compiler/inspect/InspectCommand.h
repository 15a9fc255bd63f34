// tilec inspect: prints what is in packs, in what packs are linked into, and in cubins.
#pragma once

#include "compiler/driver/Options.h"

namespace tilec {

/// Prints each of the files, or says what is wrong with it. ExitInput if something is wrong with one.
ExitCode inspectFiles(const Options &options);

} // namespace tilec
