// One case: make the arguments, launch, check, time.
#pragma once

#include "runtime/src/Device.h"
#include "tools/tile-run/Options.h"

namespace tile_run {

struct CaseResult {
  bool ok = false;
  bool deviceLost = false; ///< the driver reported an error: nothing else will run in this process
  std::string text;        ///< for people, one line, or several with --verbose
  std::string reports;     ///< of the emulator
  std::string profile;     ///< likewise, if asked for
};

/// Runs a case on the GPU of the pack's context, or on the emulator if it has none. Throws
/// UsageError, tile_rt::NpyError and ArithmeticError for what the options get wrong; errors of the
/// call and of the device are in the result.
CaseResult runCase(tile_pack &pack, const CaseOptions &options);

} // namespace tile_run
