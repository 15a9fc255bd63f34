// What the devices are that the emulator can stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tile_emu {

struct Capability {
  unsigned major, minor;
  uint64_t sharedBytes; ///< shared memory that a block can have, with opting in
};

/// Of an architecture ("sm_90a"); none for one that the emulator does not know.
std::optional<Capability> capabilityOf(std::string_view arch);

} // namespace tile_emu
