// Texts of files that may hold anything, as a terminal can show them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tilec {

/// The bytes of the UTF-8 character at the front of `text`, which is not empty; 1 if it is not UTF-8.
size_t characterLength(llvm::StringRef text);

/// The bytes of the character at the front of `text`, which is not empty; 0 if it is not printable UTF-8.
size_t printableLength(llvm::StringRef text);

/// The text with `?` for each byte that is not printable UTF-8.
std::string printable(llvm::StringRef text);

} // namespace tilec
