#include "runtime/emulator/exec/Families.h"

namespace tile_emu {

std::span<const Family> matrixFamilies() { return {}; }

} // namespace tile_emu
