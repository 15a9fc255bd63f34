// Copying bytes with what is known of them.
#pragma once

#include "runtime/emulator/check/Checker.h"

namespace tile_emu {

/// Bytes of `from` and whether they were ever written; both of one size, in different places.
void copyBytes(const MemoryRange &to, const MemoryRange &from);
/// Bytes of one value, defined.
void fillBytes(const MemoryRange &to, uint8_t value);

} // namespace tile_emu
