// Runs a described program on the emulator.
#pragma once

#include "tools/ptx-run/Description.h"

namespace tile_ptx {

struct Outcome {
  bool ended = false; ///< all launches went to their end
  Bytes answer;       ///< the result buffers, one after the other
  std::vector<tile_emu::Report> reports;
  std::string text;                   ///< all reports, for people
  std::string profile;                ///< if asked for
  uint64_t steps = 0;                 ///< instructions of warps, in all launches
  std::vector<std::string> unwritten; ///< results of which bytes were never written, in words
};

/// Throws std::runtime_error (a bad description) and what Emulator::load throws (bad PTX).
Outcome run(const std::string &ptx, const Description &description,
            const tile_emu::Options &options = {});

} // namespace tile_ptx
