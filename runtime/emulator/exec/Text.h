// Pieces of messages.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace tile_emu {

/// All arguments one after the other, numbers in decimal.
template <typename... T>
std::string textOf(const T &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  return std::move(text).str();
}

/// "0x1f00"
inline std::string hexOf(uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << value;
  return std::move(text).str();
}

} // namespace tile_emu
