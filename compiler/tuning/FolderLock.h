// A folder that one process at a time works in.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"

#include "llvm/ADT/StringRef.h"

namespace tilec {

/// Held until it is destroyed or the process ends, however it ends; processes that it starts do not hold it.
class FolderLock {
public:
  FolderLock() = default;
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  /// False if another process holds it. Where the file system has no locks the folder counts as free.
  bool take(llvm::StringRef folder);
  /// Makes the folder and takes it. False after a diagnostic, which names the command ("tilec tune").
  bool open(llvm::StringRef folder, llvm::StringRef command, DiagnosticEngine &diags);

private:
  int descriptor = -1;
};

} // namespace tilec
