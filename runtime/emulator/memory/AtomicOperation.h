// What atom and red compute. PTX ISA, "Parallel Synchronization and Communication Instructions:
// atom, red".
#pragma once

#include "../ptx/Module.h"

namespace tile_emu {

/// The new value of a location of at most 64 bits from the old one and the operands, all in the low
/// bits. `compare` is the first operand of cas, else 0.
using Combine = uint64_t (*)(uint64_t old, uint64_t operand, uint64_t compare);

enum class AtomicOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas };

/// Null if the operation does not exist for the type. `flushes`: subnormal numbers count as zero
/// (f32 in global memory).
Combine combineOf(AtomicOp op, ptx::Type type, bool flushes);

} // namespace tile_emu
