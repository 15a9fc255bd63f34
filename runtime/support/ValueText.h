// Values as `print` and failed checks show them: one text on all targets.
#pragma once

#include "DType.h"

#include <string>

namespace tile_rt {

/// Appends the value that these bits are, those above the type's width being ignored. Floats are the
/// shortest text that reads back as the same number of f32, or of f64; a NaN has no sign.
void appendValue(std::string &text, DType type, uint64_t bits);

} // namespace tile_rt
