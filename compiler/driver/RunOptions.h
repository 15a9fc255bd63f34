// The options of the subcommands. Private to the command line.
#pragma once

#include "compiler/driver/Options.h"

#include <CLI/CLI.hpp>

namespace tilec {

/// A command line that is wrong, with what to say.
struct UsageError {
  std::string text;
};

void addRunOptions(CLI::App &app, RunOptions &run);
/// `on` is the text of --on, for resolveTestOptions.
void addTestOptions(CLI::App &app, TestOptions &test, std::string &on);

void addTuneOptions(CLI::App &app, TuneOptions &tune);
/// `failOn` is the text of --fail-on, for resolveBenchOptions.
void addBenchOptions(CLI::App &app, BenchOptions &bench, std::string &failOn);

/// Throws UsageError.
void checkRunOptions(const RunOptions &run);
void resolveTestOptions(TestOptions &test, const std::string &on);
void resolveBenchOptions(BenchOptions &bench, const std::string &failOn);

/// Whether this machine has an NVIDIA GPU that programs may use.
bool hasGpu();

} // namespace tilec
