// Accesses to the shared memory of other blocks: the block must still be there.
#pragma once

#include "Step.h"

namespace tile_emu {

/// The last lane of a block ends: reports accesses by peers that none of its threads knows to be
/// over. PTX ISA, "Cluster": nothing but a barrier keeps a block from ending.
void checkVisits(Step &step, unsigned lane);

} // namespace tile_emu
