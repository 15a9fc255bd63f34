// Tensors whose rows lie further apart than they are long.
#pragma once

#include "runtime/harness/Array.h"

namespace tile_rt {

/// Strides of a row-major tensor whose last dimension begins anew every `pitch` elements; rank 2 or
/// more.
std::vector<int64_t> pitchedStrides(const std::vector<int64_t> &shape, int64_t pitch);

/// The memory of such a tensor: the rows of `array` with `gap` bytes between them, none after the
/// last. Elements are whole bytes, and `pitch` is at least as long as a row.
std::vector<std::byte> spreadRows(const Array &array, int64_t pitch, std::byte gap);

/// The rows out of such memory, as an array like `like`; `gapsIntact` says whether each byte
/// between them is still `gap`.
Array gatherRows(const Array &like, int64_t pitch, const std::vector<std::byte> &memory,
                 std::byte gap, bool &gapsIntact);

} // namespace tile_rt
