#include "dialects/support/Diagnostics.h"

#include <iterator>

namespace tilec::diag {

static constexpr Info table[] = {
#define TILE_DIAG(ENUM, NAME, CODE, SEVERITY, TEXT, HINT)                                          \
  {NAME, CODE, Severity::SEVERITY, TEXT, HINT},
#include "dialects/support/Diagnostics.def"
};

const Info &info(Id id) { return table[static_cast<unsigned>(id)]; }

unsigned numDiagnostics() { return std::size(table); }

std::optional<Id> lookupByName(llvm::StringRef name) {
  for (unsigned i = 0; i != std::size(table); ++i) {
    if (table[i].name == name) {
      return static_cast<Id>(i);
    }
  }
  return std::nullopt;
}

std::optional<Id> splitName(llvm::StringRef &message) {
  llvm::StringRef text = message.rtrim();
  if (!text.consume_back("]")) {
    return std::nullopt;
  }
  size_t open = text.rfind(" [");
  if (open == llvm::StringRef::npos) {
    return std::nullopt;
  }
  std::optional<Id> id = lookupByName(text.substr(open + 2));
  if (id) {
    message = text.substr(0, open);
  }
  return id;
}

std::string substitute(llvm::StringRef pattern, llvm::ArrayRef<std::string> args) {
  std::string out;
  while (!pattern.empty()) {
    size_t open = pattern.find('{');
    out += pattern.substr(0, open);
    if (open == llvm::StringRef::npos) {
      break;
    }
    pattern = pattern.substr(open);
    bool isIndex = pattern.size() > 2 && llvm::isDigit(pattern[1]) && pattern[2] == '}';
    if (isIndex && size_t(pattern[1] - '0') < args.size()) {
      out += args[pattern[1] - '0'];
      pattern = pattern.drop_front(3);
    } else {
      out += '{';
      pattern = pattern.drop_front(1);
    }
  }
  return out;
}

} // namespace tilec::diag
