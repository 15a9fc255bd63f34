// Copying bytes with what is known of them.
#pragma once

#include "../exec/Machine.h"
#include "Reduction.h"

namespace tile_emu {

/// Bytes of `from` and whether they were ever written; both of one size, in different places.
void copyBytes(const MemoryRange &to, const MemoryRange &from);
/// Asynchronous work moves bytes to global memory, or combines them with what is there. Bytes that
/// were never written are reported, since somebody else will read them, and count as written from
/// here on.
void moveToGlobal(Machine &machine, const AsyncOp &op, const MemoryRange &to,
                  const MemoryRange &from, const std::optional<Reduction> &reduction);
/// Bytes of one value, defined.
void fillBytes(const MemoryRange &to, uint8_t value);

} // namespace tile_emu
