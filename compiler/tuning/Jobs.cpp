#include "compiler/tuning/Jobs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace tilec {

size_t countDevices(const std::string &programDir, std::string &problem) {
  const std::string program = programDir + "/tile-run";
  SmallString<128> log;
  int status = -1;
  if (!sys::fs::createTemporaryFile("tilec-devices", "txt", log)) {
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
    status = sys::ExecuteAndWait(program, {program, "--devices"}, std::nullopt, redirects);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> said = MemoryBuffer::getFile(log);
  const std::string text = said ? (*said)->getBuffer().rtrim().str() : "";
  (void)sys::fs::remove(log);
  if (status != 0) {
    problem = text.empty() ? "`" + program + "` does not run" : text;
    return 0;
  }
  return size_t(StringRef(text).count('\n')) + 1;
}

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

std::string durationText(double seconds) {
  return seconds < 100 ? formatv("{0:f0} s", seconds).str()
                       : formatv("{0:f0} min", seconds / 60).str();
}

} // namespace tilec
