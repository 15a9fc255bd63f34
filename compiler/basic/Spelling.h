// What somebody may have meant who wrote a name that does not exist.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tilec {

/// The name of `names` from which `given` differs least: by a third of its letters at most, where a difference of case
/// alone always counts as near, and exchanged neighbours as one. Of several the one that goes on like `given`, or the
/// first; empty if there is none.
llvm::StringRef nearestName(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names);

/// "did you mean `x`?", or nothing.
std::string didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names);

/// "a, b or c"
std::string listed(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef last = "or");

/// "no arguments", "1 argument", "2 arguments": `noun` is what one of them is.
std::string counted(size_t count, llvm::StringRef noun);

} // namespace tilec
