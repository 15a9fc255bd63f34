// The source files of a compilation.
#pragma once

#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/SourceMgr.h"

#include <string>
#include <vector>

namespace tilec {

/// Owns the text of all files of a compilation, in an llvm::SourceMgr, so that SMLocs name places.
/// A file is named as the user or the import search wrote its path.
class SourceManager {
public:
  /// Reads a file, or standard input for `-`, which is then named `<stdin>`. Returns the id of the
  /// buffer (from 1). A file is read once for each name.
  llvm::ErrorOr<unsigned> addFile(llvm::StringRef path);
  /// Adds text that is no file: `<command line>`, say.
  unsigned addText(llvm::StringRef name, llvm::StringRef text);

  llvm::StringRef name(unsigned id) const { return mgr.getMemoryBuffer(id)->getBufferIdentifier(); }
  llvm::StringRef text(unsigned id) const { return mgr.getMemoryBuffer(id)->getBuffer(); }
  unsigned numFiles() const { return mgr.getNumBuffers(); }
  /// Paths of the files that were read, in order: what `-MD` lists.
  const std::vector<std::string> &files() const { return paths; }

  llvm::SourceMgr &getMgr() { return mgr; }
  const llvm::SourceMgr &getMgr() const { return mgr; }

private:
  llvm::SourceMgr mgr;
  std::vector<std::string> paths;
};

} // namespace tilec
