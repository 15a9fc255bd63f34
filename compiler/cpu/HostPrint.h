//===- HostPrint.h - values as text ---------------------------------------===//
#pragma once

#include "compiler/cpu/HostRuntime.h"

namespace tilec::cpu {

/// `format` with each `{}` replaced by the next of `count` values. Bit i of `unsignedMask` says
/// that integer value i has no sign. Floats are written as the shortest text that reads back as the
/// same number, tiles as `[a, b]`.
std::string formatValues(const char *format, const HostView *values, int64_t count,
                         int64_t unsignedMask);

} // namespace tilec::cpu
