// One case: make the arguments, launch, check, time.
#pragma once

#include "runtime/src/Device.h"
#include "tools/tile-run/Options.h"

namespace tile_run {

struct CaseResult {
  bool ok = false;
  bool deviceLost = false; ///< the driver reported an error: nothing else will run in this process
  std::string text;        ///< for people, one line, or several with --verbose
};

/// Runs a case on the pack's device. Throws UsageError, tile_rt::NpyError and ArithmeticError for
/// what the options get wrong; errors of the call and of the device are in the result.
CaseResult runCase(tile_pack &pack, const CaseOptions &options);

} // namespace tile_run
