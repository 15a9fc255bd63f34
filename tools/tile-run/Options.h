// The command line of tile-run. A case is what one run of a kernel needs; a case file has one per
// line.
#pragma once

#include "runtime/harness/Call.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile_run {

struct CaseOptions {
  std::string kernel, arch, variant;
  std::optional<unsigned> configuration;
  tile_rt::CallOptions call;
  int repeat = 0, warmup = 3;
  bool flushL2 = false, showPrints = true;
  std::string bench;
  double seconds = 0;   ///< of timed launches, at least
  std::string baseline; ///< what to measure beside: cublas(A, B, C)
  bool sensors = false; ///< clock and power while launches are timed

  // Of the emulator.
  std::string ptx;      ///< file to run instead of the pack's PTX
  std::string schedule; ///< "round-robin", "random"; "": round-robin, then a few random ones
  std::optional<uint64_t> scheduleSeed;    ///< of a random schedule; else `seed`
  unsigned schedules = 0;                  ///< so many random schedules, seeds one after the other
  unsigned sms = 4;                        ///< multiprocessors of the emulated device
  uint64_t stepBudget = uint64_t{1} << 32; ///< instructions of warps in one launch
  bool profile = false, checkRaces = true;
};

/// What runs the kernels: Auto is the GPU if there is one, else the emulator.
enum class On { Auto, Cuda, Emu };

struct Options {
  std::string pack, casesFile;
  std::string resultsFile; ///< gets a line of JSON for each case; may be empty
  On on = On::Auto;
  int device = 0;
  bool list = false;
  bool devices = false; ///< print the devices, and run nothing
  CaseOptions common;
};

/// Reads the command line; throws tile_rt::InputError for wrong usage, exit status 2. Returns
/// nothing if it asked for help, which was printed.
std::optional<Options> parseCommandLine(int argc, char **argv);

/// The lines of the file of cases, each on top of what the command line said. `#` begins a comment.
struct CaseLine {
  std::string text;
  CaseOptions options;
};
std::vector<CaseLine> readCases(const Options &options);

} // namespace tile_run
