// A planned tensor map as the driver takes it. The emulator gets the same.
#pragma once

#include "../support/TensorMapArguments.h"
#include "Plan.h"

namespace tile_rt {

/// Of a map that is not absent; `workspace` is where the call's workspace begins. The arrays are
/// those of the map and of its recipe.
TensorMapArguments tensorMapArguments(const PlannedMap &map, uint64_t workspace);

} // namespace tile_rt
