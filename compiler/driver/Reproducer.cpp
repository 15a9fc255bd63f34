#include "compiler/driver/Reproducer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// Quotes a word for the shell.
static std::string shellQuoted(StringRef word) {
  std::string quoted = "'";
  for (char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

static bool writeFile(const Twine &path, StringRef text) {
  std::error_code error;
  raw_fd_ostream os(path.str(), error);
  if (error) {
    return false;
  }
  os << text;
  return true;
}

/// Name under which a source is saved: imports are found beside the file that imports them.
static std::string savedName(StringRef name) {
  return name == "<stdin>" || name == "-" ? "stdin.tile" : sys::path::filename(name).str();
}

std::string writeReproducer(const Options &options, const SourceManager &sources) {
  SmallString<128> folder;
  if (sys::fs::createUniqueDirectory("tilec-bug", folder)) {
    return {};
  }
  for (unsigned id = 1; id <= sources.numFiles(); ++id) {
    if (!writeFile(folder + "/" + savedName(sources.name(id)), sources.text(id))) {
      return {};
    }
  }
  std::string script = "cd \"$(dirname \"$0\")\" && tilec";
  for (const std::string &argument : options.arguments) {
    bool isInput = is_contained(options.inputs, argument);
    script += " " + shellQuoted(isInput ? savedName(argument) : argument);
  }
  std::string path = (folder + "/run.sh").str();
  return writeFile(path, script + "\n") ? path : std::string();
}

} // namespace tilec
