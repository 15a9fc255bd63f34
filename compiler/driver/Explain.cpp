#include "compiler/driver/Explain.h"

#include "compiler/basic/Spelling.h"
#include "compiler/driver/OptionReader.h"
#include "dialects/support/Diagnostics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

namespace {
/// A mistake that test/mistakes has, and what is said of it.
struct Example {
  StringLiteral name, title, text;
};

/// Why no mistake shows a diagnostic.
struct Unshown {
  StringLiteral name, reason;
};
} // namespace

static constexpr Unshown unshown[] = {
    {"remark", "it is what `--report` prints: nothing is wrong."},
    {"internal", "no source is known that causes it; its reproducer is one for us."},
    {"stride", "the runtime says it of a call that a program makes, with strides that the "
               "declaration of a tensor does not allow."},
    {"serialised-wgmma", "it is what ptxas says of some of the code that tilec writes; no kernel "
                         "of the tests causes it."},
    {"ignored-setmaxnreg", "it is what ptxas says of some of the code that tilec writes; no kernel "
                           "of the tests causes it."},
    {"tool-warning", "it is what ptxas says of some of the code that tilec writes; no kernel of "
                     "the tests causes it."},
    {"tune-stale", "it needs a file that `tilec tune` has written on a GPU: the source has changed "
                   "since, or the file is "
                   "for another architecture."},
    {"not-measured",
     "it needs a GPU: there a candidate of `tilec tune` failed, or a case of `tilec bench` did."},
    {"no-baseline", "it needs a GPU, without cuBLAS: `tilec bench --baseline=cublas`."},
    {"slower", "it needs a GPU: `tilec bench --compare OLD.json --fail-on 3%`, after a change that "
               "made a kernel slower."},
};

static constexpr Example examples[] = {
#define TILE_EXAMPLE(NAME, TITLE, TEXT) {NAME, TITLE, TEXT},
#include "compiler/driver/Examples.inc"
#undef TILE_EXAMPLE
};

/// What stands for the arguments of a text is for every call another: `{0}` becomes `...`.
static std::string general(StringRef text) {
  return diag::substitute(text, std::vector<std::string>(8, "..."));
}

/// The names of all diagnostics, each once, in the order of the table.
static SmallVector<StringRef> allNames() {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    StringRef name = diag::info(diag::Id(i)).name;
    if (!is_contained(names, name)) {
      names.push_back(name);
    }
  }
  return names;
}

void printExplanation(raw_ostream &os, StringRef nameOrCode) {
  StringRef wanted = nameOrCode.trim("[]");
  std::string name;
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    const diag::Info &entry = diag::info(diag::Id(i));
    if (entry.name != wanted && !entry.code.equals_insensitive(wanted)) {
      continue;
    }
    if (name.empty()) {
      name = entry.name.str();
      os << entry.code << " [" << name << "]\n";
    }
    static constexpr StringLiteral severities[] = {"remark", "warning", "error"};
    os << "\n" << severities[unsigned(entry.severity)] << ": " << general(entry.text) << "\n";
    if (!entry.hint.empty()) {
      os << "help: " << general(entry.hint) << "\n";
    }
  }
  if (name.empty()) {
    const std::string meant = didYouMean(wanted, allNames());
    throw UsageError{"there is no diagnostic `" + wanted.str() + "`",
                     meant.empty() ? "a message ends in its name: [syntax]" : meant};
  }
  for (const Example &example : examples) {
    if (example.name == name) {
      os << "\nExample, " << example.title << ":\n\n" << example.text;
    }
  }
  for (const Unshown &entry : unshown) {
    if (entry.name == name) {
      os << "\nWithout an example: " << entry.reason << "\n";
    }
  }
  os << "\nThe rule stands in docs/language.md where it says [" << name
     << "], if it is one of the language.\n";
}

} // namespace tilec
