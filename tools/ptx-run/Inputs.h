// Generated inputs: bit for bit the same in test/ptx/inputs.py.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace tile_ptx {

/// Element `index` of the random sequence `seed`.
uint64_t splitmix64(uint64_t seed, uint64_t index);

/// The bytes of a list of segments (test/ptx/README.md). Throws nlohmann::json::exception for
/// missing members and std::runtime_error for values out of range.
std::vector<uint8_t> inputBytes(const nlohmann::json &segments);

} // namespace tile_ptx
