#include "Capability.h"

#include <charconv>

namespace tile_emu {

namespace {
// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr uint64_t kKiB = 1024;
constexpr Capability kCapabilities[] = {{8, 0, 163 * kKiB}, {8, 6, 99 * kKiB},  {8, 7, 163 * kKiB},
                                        {8, 9, 99 * kKiB},  {9, 0, 227 * kKiB}, {10, 0, 227 * kKiB},
                                        {12, 0, 99 * kKiB}};
} // namespace

std::optional<Capability> capabilityOf(std::string_view arch) {
  if (!arch.starts_with("sm_")) {
    return {};
  }
  unsigned number = 0;
  const char *end = arch.data() + arch.size();
  auto [rest, error] = std::from_chars(arch.data() + 3, end, number);
  const std::string_view suffix(rest, static_cast<size_t>(end - rest));
  if (error != std::errc() || !(suffix.empty() || suffix == "a" || suffix == "f")) {
    return {};
  }
  for (const Capability &capability : kCapabilities) {
    if (capability.major * 10 + capability.minor == number) {
      return capability;
    }
  }
  return {};
}

} // namespace tile_emu
