// Processes of tile-run as commands.
#pragma once

#include "compiler/tuning/TuneRunner.h"

namespace tilec {

/// A task as a line for a shell, which ends it after so many `seconds` for each case. Its file of cases is to be written.
std::string shellCommandOf(const TuneTask &task, unsigned seconds);

} // namespace tilec
