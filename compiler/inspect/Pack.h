// A pack that was read, and the two ways to show it.
#pragma once

#include "runtime/src/Manifest.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace llvm {
class raw_ostream;
}

namespace tilec {

struct PackContents {
  uint64_t bytes = 0; ///< of the whole pack
  tile_rt::Manifest manifest;
};

/// Reads a pack by the runtime's own code and looks at its modules. Returns what is wrong with it; empty if nothing is.
std::string readPack(llvm::StringRef bytes, PackContents &pack);

/// For people; each line begins with `indent` spaces.
void printPack(const PackContents &pack, unsigned indent, llvm::raw_ostream &os);
/// The same as data: expressions as texts.
llvm::json::Object describePack(const PackContents &pack);

} // namespace tilec
