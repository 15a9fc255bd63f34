// tile-run as a program: the devices that it sees, and its processes as commands.
#pragma once

#include "compiler/tuning/TuneRunner.h"

namespace tilec {

/// How many GPUs tile-run sees, as this process has no driver of its own; 0 with the `problem` where it sees none.
size_t countDevices(const std::string &programDir, std::string &problem);

/// A task as a line for a shell, which ends it after so many `seconds` for each case. Its file of cases is to be written.
std::string shellCommandOf(const TuneTask &task, unsigned seconds);

/// "80 s", "5 min"
std::string durationText(double seconds);

} // namespace tilec
