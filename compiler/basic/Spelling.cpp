#include "compiler/basic/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace tilec {

/// How many letters have to be put in, left out, replaced, or exchanged with the next one, to turn `a` into `b`.
static unsigned distanceOf(llvm::StringRef a, llvm::StringRef b) {
  // Three rows of the table of distances of beginnings: the last, the one before, and the new one.
  llvm::SmallVector<unsigned, 32> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = unsigned(j);
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = unsigned(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

/// What of a name is compared: whether words are joined by `_`, by `-` or not at all is no difference.
static std::string lettersOf(llvm::StringRef name) {
  std::string letters = name.str();
  llvm::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
  return letters;
}

llvm::StringRef nearestName(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names) {
  const std::string wanted = lettersOf(given);
  const unsigned limit = std::max<unsigned>((wanted.size() + 1) / 3, 1);
  llvm::StringRef nearest;
  unsigned least =
      2 * limit + 1; // doubled, so that of two the one that goes on like `given` is nearer
  for (llvm::StringRef name : names) {
    const std::string letters = lettersOf(name);
    if (name == given || letters.empty() || wanted.empty()) {
      continue;
    }
    if (llvm::StringRef(letters).equals_insensitive(wanted)) {
      return name;
    }
    // Of short names the first letter is right, and something of a name is left.
    const size_t shorter = std::min(wanted.size(), letters.size());
    const size_t longer = std::max(wanted.size(), letters.size());
    if ((shorter <= 3 && letters.front() != wanted.front()) || longer > shorter + limit) {
      continue;
    }
    const unsigned distance = distanceOf(wanted, letters);
    const unsigned twice = 2 * distance - (llvm::StringRef(letters).starts_with(wanted) ? 1 : 0);
    if (distance <= limit && distance < shorter && twice < least) {
      nearest = name;
      least = twice;
    }
  }
  return nearest;
}

std::string didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::StringRef nearest = nearestName(given, names);
  return nearest.empty() ? std::string() : "did you mean `" + nearest.str() + "`?";
}

std::string listed(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef last) {
  std::string text;
  for (size_t i = 0; i != names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " " + last.str() + " " : std::string(", ");
    text += names[i];
  }
  return text;
}

} // namespace tilec
