// How far a long command is: so many of all, and the time that is left, on standard error.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <string>

namespace tilec {

/// A line on a terminal that is written over again and again. Where standard error is none, nothing is shown, or single
/// lines that the caller asks for.
class Progress {
public:
  /// `program`: "tilec test"; `what`: "cases".
  Progress(llvm::StringRef program, size_t total, llvm::StringRef what);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;

  bool isOnTerminal() const { return isTerminal; }
  /// `left` of all are still to be done.
  void show(size_t left, llvm::StringRef label = "");
  /// Takes the line away, so that other text can stand there.
  void clear();

private:
  std::string program, what;
  size_t total;
  bool isTerminal, isShown = false;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// "80 s", "5 min"
std::string durationText(double seconds);

} // namespace tilec
