// Two names of one file.
#pragma once

#include <string>

namespace tile_rt {

/// Whether both names are of one regular file, be it there yet or not: what is written by one of them takes the place of the
/// other. Devices and FIFOs are written through, and an empty name is none.
bool isSameFile(const std::string &one, const std::string &other);

} // namespace tile_rt
