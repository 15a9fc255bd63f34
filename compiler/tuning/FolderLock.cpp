#include "compiler/tuning/FolderLock.h"

#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilec {

FolderLock::~FolderLock() {
  if (descriptor >= 0) {
    close(descriptor);
  }
}

bool FolderLock::take(llvm::StringRef folder) {
  const std::string path = folder.str();
  while (descriptor < 0) {
    descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
      return true; // what is written there will fail, and say why
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      return errno != EWOULDBLOCK;
    }
    // Who held it may have removed the folder at its end: then this is another one's, or nobody's.
    struct stat held{}, there{};
    if (fstat(descriptor, &held) == 0 && stat(path.c_str(), &there) == 0 &&
        held.st_ino == there.st_ino && held.st_dev == there.st_dev) {
      return true;
    }
    close(descriptor);
    descriptor = -1;
    if (llvm::sys::fs::create_directories(path)) {
      return true;
    }
  }
  return true;
}

bool FolderLock::open(llvm::StringRef folder, llvm::StringRef command, DiagnosticEngine &diags) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    diags.report(diag::Id::FileWrite, llvm::SMRange(), folder, error.message());
    return false;
  }
  if (!take(folder)) {
    diags
        .report(diag::Id::FileWrite, llvm::SMRange(), folder,
                "another `" + command.str() + "` works in it")
        .hint("wait for it, or give this one a folder of its own with `--work`");
    return false;
  }
  return true;
}

} // namespace tilec
