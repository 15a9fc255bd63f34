// The version of the compiler, from the project's in CMakeLists.txt.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tilec {
inline constexpr llvm::StringLiteral kVersion = TILEC_VERSION;
} // namespace tilec
