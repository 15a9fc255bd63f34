// Programs put together from pieces.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tile_emu {

inline std::string joined(std::initializer_list<std::string_view> pieces) {
  std::string text;
  for (std::string_view piece : pieces) {
    text += piece;
  }
  return text;
}

} // namespace tile_emu
