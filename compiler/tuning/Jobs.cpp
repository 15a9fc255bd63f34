#include "compiler/tuning/Jobs.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilec {

/// For a shell.
static std::string quoted(StringRef word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_-+=./,:@%") == StringRef::npos) {
    return word.str();
  }
  std::string text = "'";
  for (char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

std::string shellCommandOf(const TuneTask &task, unsigned seconds) {
  std::vector<std::string> command{"timeout",
                                   std::to_string(uint64_t(seconds) * task.cases.size())};
  append_range(command, task.command);
  command.push_back("--cases=" + task.casesFile);
  command.push_back("--results=" + task.resultsFile);
  std::string text;
  for (const std::string &word : command) {
    text += (text.empty() ? "" : " ") + quoted(word);
  }
  return text;
}

} // namespace tilec
