#include "compiler/driver/Reproducer.h"

#include "compiler/basic/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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
    if (writeThrough((folder + "/" + savedName(sources.name(id))).str(), sources.text(id))) {
      return {};
    }
  }
  std::string script = "cd \"$(dirname \"$0\")\" && tilec";
  for (const std::string &argument : options.arguments) {
    bool isInput = is_contained(options.inputs, argument);
    script += " " + shellQuoted(isInput ? savedName(argument) : argument);
  }
  std::string path = (folder + "/run.sh").str();
  return writeThrough(path, script + "\n") ? std::string() : path;
}

} // namespace tilec
