// What the options of a call get wrong.
#pragma once

#include <stdexcept>

namespace tile_rt {

/// Wrong usage, files that options name included: exit status 2, wherever the call would have run.
/// The text may end in a line "help: ...".
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace tile_rt
