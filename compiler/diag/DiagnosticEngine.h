// Collects diagnostics of one compilation; printing is apart (DiagnosticPrinter.h).
//
// Ranges are SMLocs into the buffers of one llvm::SourceMgr, which must outlive the engine. A range
// without start means "no place in a source". Nothing here ever ends the process: callers ask
// hasErrors() between phases.
#pragma once

#include "dialects/support/Diagnostics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tilec {

/// Further text about a diagnostic, with its own place.
struct Note {
  llvm::SMRange range;
  std::string text;
};

/// `report(...) << note(range, "declared here")`
inline Note note(llvm::SMRange range, const llvm::Twine &text) { return {range, text.str()}; }

/// The code that a remark is about. Any of it may be empty: not every remark is about all.
struct Subject {
  std::string kernel = {}; // the symbol that is called
  std::string arch = {};
  std::string variant = {};
  std::optional<unsigned> launch = {}; // its number, from 0, if the kernel has several
  std::string parameters = {};         // "BM = 128, BN = 64": those that `auto` chose

  /// "gemm (sm_90a, variant aligned, launch 1, BM = 128)"
  std::string str() const;
};

struct Diagnostic {
  diag::Id id;
  diag::Severity severity; // after -Werror
  llvm::SMRange range;
  std::string message; // arguments filled in, without [name]
  std::string hint;    // may be empty
  std::vector<Note> notes = {};
  Subject subject = {};          // of a remark
  llvm::json::Object facts = {}; // what the message says, for programs

  /// With the subject in front.
  std::string fullMessage() const;
};

/// What becomes of warnings.
struct WarningPolicy {
  enum class Fate { Ignored, Warning, Error };
  bool areErrors = false;            ///< those of which nothing else is said
  std::map<std::string, Fate> named; ///< by the name in brackets

  Fate of(llvm::StringRef name) const {
    auto found = named.find(name.str());
    return found != named.end() ? found->second : areErrors ? Fate::Error : Fate::Warning;
  }
};

class DiagnosticEngine {
public:
  /// What report() returns: adds notes or another hint to the diagnostic just reported, or does
  /// nothing if that was dropped. Not to be kept beyond the statement.
  class Builder {
  public:
    Builder() = default;
    Builder &operator<<(Note note);
    Builder &hint(const llvm::Twine &text);
    /// Hints at the name that may have been meant, if one is near.
    Builder &meant(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names);

  private:
    friend class DiagnosticEngine;
    explicit Builder(Diagnostic *diagnostic) : diagnostic(diagnostic) {}
    Diagnostic *diagnostic = nullptr;
  };

  /// While it lives, a note is added to every diagnostic: where a function was called, say.
  class Context {
  public:
    Context(DiagnosticEngine &engine, llvm::SMRange range, const llvm::Twine &text)
        : engine(engine) {
      engine.contexts.push_back(note(range, text));
    }
    ~Context() { engine.contexts.pop_back(); }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

  private:
    DiagnosticEngine &engine;
  };

  explicit DiagnosticEngine(const llvm::SourceMgr &sources) : sources(sources) {}

  void setWarnings(WarningPolicy policy) { warningPolicy = std::move(policy); }
  /// Errors beyond this number are dropped; 0 for no limit.
  void setErrorLimit(unsigned limit) { errorLimit = limit; }

  /// The input is IR, which no semantic analysis has checked: what would be an error of the compiler is one of the
  /// input.
  void setInputIsIr() { inputIsIr = true; }

  /// Reports entry `id` of the table. A diagnostic with the text and place of an earlier one is
  /// dropped (a function instantiated twice complains once).
  template <typename... Args>
  Builder report(diag::Id id, llvm::SMRange range, Args &&...args) {
    std::string list[sizeof...(Args) + 1] = {diag::toArg(std::forward<Args>(args))...};
    return add(id, range, llvm::ArrayRef(list, sizeof...(Args)));
  }
  template <typename... Args>
  Builder report(diag::Id id, llvm::SMLoc loc, Args &&...args) {
    return report(id, llvm::SMRange(loc, loc), std::forward<Args>(args)...);
  }

  /// Reports a decision about a kernel.
  Builder remark(Subject subject, llvm::SMRange range, const llvm::Twine &text,
                 llvm::json::Object facts = {});

  /// Takes over what another engine has collected, its places translated to the sources of this one.
  Builder adopt(Diagnostic diagnostic) { return add(std::move(diagnostic)); }

  /// Reports a text that was made elsewhere (by formatDiagnostic, through MLIR) as `id`, with the
  /// hint of `id` only if that has no arguments.
  Builder reportText(diag::Id id, diag::Severity severity, llvm::SMRange range,
                     const llvm::Twine &message);

  bool hasErrors() const { return errors != 0; }
  unsigned numErrors() const { return errors; }
  /// True when a further error would be dropped: time to stop looking for them.
  bool limitReached() const { return errorLimit != 0 && errors >= errorLimit; }

  /// True when an error was dropped, and "too many errors" is said.
  bool limitExceeded() const { return errorLimit != 0 && errors > errorLimit; }

  /// In the order of the sources: by buffer, offset, time of report; what has no place comes last.
  std::vector<const Diagnostic *> sorted() const;

  /// In the order of report.
  llvm::ArrayRef<std::unique_ptr<Diagnostic>> diagnostics() const { return all; }

  const llvm::SourceMgr &getSources() const { return sources; }
  /// The place of a line and column (from 1) of a file of the SourceMgr, or none.
  llvm::SMLoc locate(llvm::StringRef file, unsigned line, unsigned column) const;

private:
  Builder add(diag::Id id, llvm::SMRange range, llvm::ArrayRef<std::string> args);
  Builder add(Diagnostic diagnostic);

  const llvm::SourceMgr &sources;
  std::vector<std::unique_ptr<Diagnostic>> all; // builders point to elements
  std::vector<Note> contexts;
  std::set<std::tuple<const char *, unsigned, std::string>> seen; // looked up, never iterated
  unsigned errors = 0;
  unsigned errorLimit = 20;
  WarningPolicy warningPolicy;
  bool inputIsIr = false;
};

} // namespace tilec
