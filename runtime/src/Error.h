// Failures inside the runtime travel as exceptions; the C ABI turns them into a status and a text.
#pragma once

#include "../include/tile/tile.h"

#include <stdexcept>
#include <string>

namespace tile_rt {

struct Error : std::runtime_error {
  Error(tile_status status, const std::string &text) : std::runtime_error(text), status(status) {}
  tile_status status;
};

/// An error of a call: `rule` is the name that goes into brackets.
[[noreturn]] inline void failCall(const char *rule, const std::string &text) {
  throw Error(TILE_ERROR_ARGUMENT, std::string("[") + rule + "] " + text);
}

/// An error of the pack itself.
[[noreturn]] inline void failPack(const std::string &text) {
  throw Error(TILE_ERROR_PACK, "malformed pack: " + text);
}

} // namespace tile_rt
