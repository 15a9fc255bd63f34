#include "runtime/emulator/exec/Families.h"

namespace tile_emu {

std::span<const Family> asyncFamilies() { return {}; }

} // namespace tile_emu
