#include "compiler/basic/Spelling.h"

namespace tilec {

llvm::StringRef nearestName(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names) {
  llvm::StringRef nearest;
  unsigned most = (given.size() + 2) / 3; // of one letter up to three, of two up to six, ...
  bool found = false;
  for (llvm::StringRef name : names) {
    if (name == given || name.empty()) {
      continue;
    }
    if (name.equals_insensitive(given)) {
      return name;
    }
    // A name of which nothing is left is none that was meant.
    const unsigned limit = std::min<size_t>(found ? most - 1 : most, name.size() - 1);
    const unsigned distance = given.edit_distance(name, /*AllowReplacements=*/true, limit);
    if (limit != 0 && distance <= limit && distance < given.size()) {
      nearest = name;
      most = distance;
      found = true;
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
