// The pack file: docs/pack.md.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace tilec {

/// Device code for one architecture.
struct PackModule {
  std::string arch; ///< "sm_90a"
  std::string kind; ///< "fatbin", "cubin" or "ptx"
  std::string bytes;
  std::string ptx; ///< of the module, with line numbers; may be empty
};

/// The bytes of a pack. `manifest` gains its member "modules" with the offsets of `modules` and of
/// their PTX.
std::string writePack(llvm::json::Object &manifest, llvm::ArrayRef<PackModule> modules);

/// The manifest as text for people: two spaces of indentation, members in alphabetical order, a final line
/// break. `manifest` is what it was when this returns.
std::string printManifest(llvm::json::Object &manifest);

} // namespace tilec
