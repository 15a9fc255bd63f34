// Who waits for what when nobody can go on.
#pragma once

#include "Machine.h"

namespace tile_emu {

Report deadlockReport(const Code &code, const std::vector<const Block *> &blocks);

} // namespace tile_emu
