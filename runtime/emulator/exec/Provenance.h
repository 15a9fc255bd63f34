#pragma once

#include "Code.h"

namespace tile_emu {

/// Fills in Code::provenance.
void findProvenance(Code &code);

} // namespace tile_emu
