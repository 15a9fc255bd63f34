// One case: a call, checked and timed.
#pragma once

#include "runtime/src/Device.h"
#include "tools/tile-run/Options.h"
#include "tools/tile-run/Sensors.h"

namespace tile_run {

/// How long launches took, in milliseconds; half of them between `lower` and `upper`.
struct Times {
  size_t launches = 0;
  double median = 0, least = 0, lower = 0, upper = 0;
};

/// What the kernel was measured beside.
struct BaselineResult {
  std::string name; ///< with its version
  std::string note; ///< why there are no times; else empty
  Times times;
  double error = 0; ///< ||C - baseline|| / ||baseline||
};

struct CaseResult : tile_rt::CallResult {
  std::vector<std::string> variants; ///< of the launches
  std::optional<Times> times;
  std::optional<BaselineResult> baseline;
  std::optional<Readings> readings;
  tile_rt::Printed printed; ///< by the kernel, in the run that is reported
  std::string reports;      ///< of the emulator
  std::string profile;      ///< likewise, if asked for
};

/// Runs a case on the GPU of the pack's context, or on the emulator if it has none. Throws
/// tile_rt::InputError and ArithmeticError for what the options get wrong; errors of the call and of
/// the device are in the result.
CaseResult runCase(tile_pack &pack, const CaseOptions &options);

/// Where there is no GPU: the result of a call that a GPU would refuse, or nothing if only the GPU is missing. Throws what runCase
/// throws.
std::optional<CaseResult> findMistake(tile_pack &pack, const CaseOptions &options);

} // namespace tile_run
