#include "Memory.h"

#include "../src/Error.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace tile_rt {

namespace {
/// What the control group of this process may have, by both versions of the kernel's interface; a container sees its own there.
uint64_t groupLimit() {
  uint64_t least = UINT64_MAX;
  for (const char *path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    if (uint64_t bytes = 0; file >> bytes) { // else there is no such file, or it says `max`
      least = std::min(least, bytes);
    }
  }
  return least;
}
} // namespace

uint64_t memoryLimit() {
  static const uint64_t limit = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    constexpr uint64_t unknown = uint64_t{1} << 33;
    const uint64_t all = pages > 0 && bytes > 0
                             ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes)
                             : unknown;
    return std::min(all, groupLimit()) / 4;
  }();
  return limit;
}

std::string sizeText(Int bytes) {
  constexpr std::array<const char *, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    return intText(bytes) + " bytes";
  }
  auto size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit) {
    size /= 1024;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", size, units[unit]);
  return text.data();
}

void checkMemory(Int bytes, const std::string &what) {
  if (bytes > static_cast<Int>(memoryLimit())) {
    throw Error(TILE_ERROR_ARGUMENT, "the call needs " + sizeText(bytes) + " for its " + what +
                                         ", but may have " + sizeText(memoryLimit()) +
                                         ", a quarter of this machine's memory");
  }
}

} // namespace tile_rt
