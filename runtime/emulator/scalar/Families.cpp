#include "runtime/emulator/exec/Families.h"

namespace tile_emu {

std::span<const Family> scalarFamilies() { return {}; }

} // namespace tile_emu
