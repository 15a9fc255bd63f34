// Helpers to print and parse the text forms of layouts; internal to the library.
#pragma once

#include "dialects/layout/RegisterLayout.h"

#include "llvm/ADT/STLExtras.h"

namespace tilec::layout {

/// `4x128x64`; rank 0: `scalar`.
void printShape(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> shape);
bool parseShape(llvm::StringRef text, Coords &shape);

/// The blank-separated words of a text, taken one by one.
class Words {
public:
  explicit Words(llvm::StringRef text) { text.split(words, ' ', -1, /*KeepEmpty=*/false); }

  bool done() const { return next == words.size(); }
  /// The next word; empty at the end.
  llvm::StringRef take() { return done() ? llvm::StringRef() : words[next++]; }
  /// Takes the next word when it is this one.
  bool keyword(llvm::StringRef word) {
    if (done() || words[next] != word) {
      return false;
    }
    ++next;
    return true;
  }
  /// Takes the next word when it is an integer.
  bool integer(int64_t &value);

private:
  llvm::SmallVector<llvm::StringRef, 16> words;
  size_t next = 0;
};

} // namespace tilec::layout
