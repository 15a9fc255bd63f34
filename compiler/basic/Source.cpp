#include "compiler/basic/Source.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tilec {

llvm::ErrorOr<unsigned> SourceManager::addFile(llvm::StringRef path) {
  if (path != "-" && llvm::sys::fs::is_directory(path)) {
    return std::make_error_code(std::errc::is_a_directory);
  }
  for (unsigned id = 1; id <= mgr.getNumBuffers(); ++id) {
    if (name(id) == path) {
      return id;
    }
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false);
  if (!buffer) {
    return buffer.getError();
  }
  if (path != "-") {
    paths.push_back(path.str());
  }
  return mgr.AddNewSourceBuffer(std::move(*buffer), {});
}

unsigned SourceManager::addText(llvm::StringRef name, llvm::StringRef text) {
  return mgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), {});
}

} // namespace tilec
