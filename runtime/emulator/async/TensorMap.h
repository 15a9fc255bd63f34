// Tensor maps as a kernel sees them: 128 bytes made by encodeTensorMap (Emulator.h). The content is
// the emulator's own; it carries a mark and a checksum, so that a pointer to something else is
// found.
#pragma once

#include "../Emulator.h"

namespace tile_emu {

constexpr unsigned kTensorMapBytes = 128;

/// None if the bytes are no tensor map.
std::optional<TensorMapRecipe> decodeTensorMap(const uint8_t *bytes);

} // namespace tile_emu
