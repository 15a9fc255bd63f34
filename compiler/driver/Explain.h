// `tilec --explain`: what a diagnostic means, with an example. Private to the command line.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
}

namespace tilec {

/// Explains the diagnostic of this name ("undeclared") or code ("T0201"); throws UsageError where there is none.
void printExplanation(llvm::raw_ostream &os, llvm::StringRef nameOrCode);

} // namespace tilec
