#include "compiler/basic/Spelling.h"

#include "runtime/support/Nearest.h"

namespace tilec {

llvm::StringRef nearestName(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names) {
  return tile_rt::nearestName(given, {names.begin(), names.end()});
}

std::string didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names) {
  return tile_rt::didYouMean(given, {names.begin(), names.end()});
}

std::string listed(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef last) {
  std::string text;
  for (size_t i = 0; i != names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " " + last.str() + " " : std::string(", ");
    text += names[i];
  }
  return text;
}

std::string counted(size_t count, llvm::StringRef noun) {
  return (count == 0 ? "no" : std::to_string(count)) + " " + noun.str() + (count == 1 ? "" : "s");
}

} // namespace tilec
