// The command line of tile-run. A case is what one run of a kernel needs; a case file has one per
// line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tile_run {

/// Wrong usage: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CaseOptions {
  std::string kernel, arch, variant;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::string> args, outs, expects;
  std::optional<double> tolerance;
  uint64_t seed = 1;
  int repeat = 0, warmup = 3;
  bool flushL2 = false, twice = false, verbose = false;
  std::string bench;
};

struct Options {
  std::string pack, casesFile;
  int device = 0;
  bool list = false;
  CaseOptions common;
};

/// Reads the command line. Returns nothing if it asked for help, which was printed.
std::optional<Options> parseCommandLine(int argc, char **argv);

/// The lines of a case file, each on top of what the command line said. `#` begins a comment.
struct CaseLine {
  std::string text;
  CaseOptions options;
};
std::vector<CaseLine> readCases(const std::string &path, const CaseOptions &common);

} // namespace tile_run
