// Which library has the functions of the CUDA driver: CUDA's own, or the emulator's.
#pragma once

#include <string>

namespace tile_rt {

struct DriverLibrary {
  std::string path; ///< for dlopen
  std::string what; ///< for messages: "the CUDA driver"
  std::string hint; ///< where it cannot be opened
};

/// By TILE_CUDA_DRIVER, which names a library, and TILE_DEVICE: `cuda`, `emu` or `emu:` and architectures. Throws
/// TILE_ERROR_NO_DRIVER for another device.
DriverLibrary driverLibrary();

} // namespace tile_rt
