// What a program that is ended by SIGHUP, SIGINT or SIGTERM takes with it: folders of its own, and processes that it has started.
// Of SIGKILL nothing is told; what is started here dies with it all the same (Tool.h), and a process that outlives this one by a
// moment removes the folders.
//
// The handler runs while other threads do: it marks the end, ends the processes, removes the folders and lets the signal do
// what it does. What would be made after the mark waits for the end, so that nothing is left behind it.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <sys/types.h>
#include <system_error>

namespace tilec {

/// Handles the three signals from now on, but those that are ignored already (nohup).
void handleInterrupts();

/// In a process that was forked: its parent ends it, and removes what it leaves.
void leaveInterruptsToParent();

/// Does not return where a signal is about to end the program.
void waitIfInterrupted();

/// A folder for temporary files, removed with all that is in it: at the end of its life, or by a signal.
class TemporaryFolder {
public:
  /// A name that begins with `prefix`, in TMPDIR.
  explicit TemporaryFolder(llvm::StringRef prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// Why there is none.
  std::error_code error() const { return problem; }
  llvm::StringRef path() const { return name; }

private:
  llvm::SmallString<128> name;
  std::error_code problem;
  int slot = -1; ///< where the handler finds it; -1: it does not
};

/// While it lives a signal that ends this program ends `process`, or the group of it where that is negative.
class EndedWithUs {
public:
  explicit EndedWithUs(pid_t process);
  ~EndedWithUs();
  EndedWithUs(const EndedWithUs &) = delete;
  EndedWithUs &operator=(const EndedWithUs &) = delete;

private:
  int slot;
};

} // namespace tilec
