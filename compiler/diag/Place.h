// Ranges of a source as files, lines and columns.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>

namespace tilec {

/// A range in terms of its file. Lines and columns count from 1, columns bytes; the end is exclusive.
struct Place {
  llvm::StringRef file;
  unsigned line, column, endLine, endColumn;
  llvm::StringRef text; ///< of the first line
  size_t start, length; ///< of the range within `text`; length >= 1
};

/// Nothing for a range that is in none of the sources.
std::optional<Place> placeOf(llvm::SMRange range, const llvm::SourceMgr &sources);

/// How many code units of UTF-16 the text has; a byte that is not UTF-8 is one.
unsigned countUtf16(llvm::StringRef text);

} // namespace tilec
