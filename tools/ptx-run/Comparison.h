// How close two answers are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tile_ptx {

/// "" if `got` is as near to `want` as `rule` says: "exact", "ulp N TYPE", "close RELATIVE ABSOLUTE
/// TYPE" (test/ptx/README.md); else what differs, with the first place and the largest distance.
/// Throws std::runtime_error for another rule.
std::string compare(std::span<const uint8_t> got, std::span<const uint8_t> want,
                    const std::string &rule);

} // namespace tile_ptx
