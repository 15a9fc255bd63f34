// Tensors whose rows lie further apart than they are long, or share memory.
#pragma once

#include "Array.h"

namespace tile_rt {

/// Strides of a row-major tensor whose last dimension begins anew every `pitch` elements; rank 2 or
/// more.
std::vector<int64_t> pitchedStrides(const std::vector<int64_t> &shape, int64_t pitch);

/// Whether rows of a tensor with these strides share memory.
bool haveSharedRows(const Array &array, const std::vector<int64_t> &strides);

/// The memory of a tensor with these strides in elements, the last one 1: the rows of `array` with
/// `gap` bytes between them, none after the last. Elements are whole bytes. Where rows share memory
/// the last of them counts.
std::vector<std::byte> spreadRows(const Array &array, const std::vector<int64_t> &strides,
                                  std::byte gap);

/// The rows out of such memory, as an array like `like`; `gapsIntact` says whether each byte
/// between them is still `gap`.
Array gatherRows(const Array &like, const std::vector<int64_t> &strides,
                 const std::vector<std::byte> &memory, std::byte gap, bool &gapsIntact);

} // namespace tile_rt
