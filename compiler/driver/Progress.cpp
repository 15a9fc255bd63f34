#include "compiler/driver/Progress.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <unistd.h>

using namespace llvm;

namespace tilec {

/// Back to the beginning of the line, and nothing in it.
static constexpr StringLiteral kClear = "\r\033[K";

std::string durationText(double seconds) {
  return seconds < 100 ? formatv("{0:f0} s", seconds).str()
                       : formatv("{0:f0} min", seconds / 60).str();
}

/// Whether lines can be written over: not in what only prints, an editor's shell say.
static bool isTerminalOfErrors() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && !(kind && StringRef(kind) == "dumb");
}

Progress::Progress(StringRef program, size_t total, StringRef what)
    : program(program), what(what), total(total), isTerminal(isTerminalOfErrors()) {}

void Progress::show(size_t left, StringRef label) {
  const size_t done = total - left;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  errs() << (isTerminal ? StringRef(kClear) : "") << program << ": " << done << " of " << total
         << " " << what;
  if (done != 0) {
    errs() << ", " << durationText(spent.count() / double(done) * double(left)) << " left";
  }
  errs() << (label.empty() ? "" : ": ") << label << (isTerminal ? "" : "\n");
  errs().flush();
  isShown = isTerminal;
}

void Progress::clear() {
  if (isShown) {
    errs() << kClear;
    errs().flush();
  }
  isShown = false;
}

} // namespace tilec
