// The options of the subcommands. Private to the command line.
#pragma once

#include "compiler/driver/OptionReader.h"

namespace tilec {

// What was given for a subcommand, checked: these throw UsageError.
void readRunOptions(const OptionReader &reader, RunOptions &run);
void readTestOptions(const OptionReader &reader, TestOptions &test);
void readTuneOptions(const OptionReader &reader, TuneOptions &tune);
void readBenchOptions(const OptionReader &reader, BenchOptions &bench);

/// Whether this machine has an NVIDIA GPU that programs may use.
bool hasGpu();

} // namespace tilec
