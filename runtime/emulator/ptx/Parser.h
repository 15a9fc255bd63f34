// From PTX text to a Module.
#pragma once

#include "Module.h"

#include <stdexcept>

namespace tile_emu::ptx {

/// What is wrong with the text, and where.
struct SyntaxError : std::runtime_error {
  uint32_t line; ///< from 1
  SyntaxError(uint32_t line, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what), line(line) {}
};

/// Parses the text of one module. Throws SyntaxError, for every construct it does not know too.
/// Bounded in depth and time for any input. Debug sections and comments are skipped.
Module parse(std::string_view text);

} // namespace tile_emu::ptx
