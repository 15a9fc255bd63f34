#include "runtime/emulator/async/Copies.h"

#include <cstring>

namespace tile_emu {

void copyBytes(const MemoryRange &to, const MemoryRange &from) {
  if (to.bytes == 0) {
    return;
  }
  std::memcpy(to.data(), from.data(), to.bytes);
  bool allDefined = Checker::isDefined(from);
  Checker::setDefined(to, allDefined);
  for (uint64_t i = 0; i != to.bytes && !allDefined; ++i) {
    if (Checker::isDefined({from.region, from.offset + i, 1})) {
      Checker::setDefined({to.region, to.offset + i, 1}, true);
    }
  }
}

void fillBytes(const MemoryRange &to, uint8_t value) {
  if (to.bytes == 0) {
    return;
  }
  std::memset(to.data(), value, to.bytes);
  Checker::setDefined(to, true);
}

} // namespace tile_emu
