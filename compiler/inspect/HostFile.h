// Packs in objects, libraries and programs for the host, as `tilec --emit=obj` puts them there.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilec {

struct EmbeddedPack {
  std::string member;    ///< of an archive; else empty
  uint64_t offset;       ///< of its header, in the file or member
  llvm::StringRef bytes; ///< of the pack; empty if there is a problem
  std::string problem;   ///< with the header, or with what follows it
};

struct HostFile {
  std::string kind;                ///< "object", "shared library", "program", "archive"
  std::string machine;             ///< "x86-64"; empty for archives without an object
  std::vector<EmbeddedPack> packs; ///< in the order of the file; they point into its bytes
};

/// Whether the bytes begin as an ELF file or an archive does.
bool isHostFile(llvm::StringRef bytes);

/// Fails for what is damaged, or not known.
llvm::Expected<HostFile> readHostFile(llvm::StringRef bytes);

} // namespace tilec
