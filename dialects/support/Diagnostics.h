// The identities of all diagnostics: what Diagnostics.def declares, as an enum and as queries.
//
// Compiler code reports through diag::Id (compiler/diag/DiagnosticEngine.h). Code that only has an
// MLIR operation emits `formatDiagnostic(id, ...)` through it: the text ends in ` [name]`, by which
// the driver finds the entry again (splitName, lookupByName).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <optional>
#include <string>
#include <type_traits>

namespace tilec::diag {

enum class Severity { Remark, Warning, Error };

/// One enumerator for each text. Several texts may share a bracketed name (and then its code).
enum class Id : unsigned {
#define TILE_DIAG(ENUM, NAME, CODE, SEVERITY, TEXT, HINT) ENUM,
#include "dialects/support/Diagnostics.def"
};

/// An entry of the table. All strings are literals; `text` and `hint` hold `{0}`, `{1}`, ...
struct Info {
  llvm::StringLiteral name; // as in docs/language.md, without brackets
  llvm::StringLiteral code; // T and four digits; one per name
  Severity severity;
  llvm::StringLiteral text;
  llvm::StringLiteral hint; // what to do; may be empty
};

const Info &info(Id id);
unsigned numDiagnostics();

/// The first entry with this bracketed name (given without brackets), if there is one.
std::optional<Id> lookupByName(llvm::StringRef name);

/// Takes ` [name]` off the end of a message and returns the entry of that name; leaves the message
/// alone and returns nothing if it does not end in a known name.
std::optional<Id> splitName(llvm::StringRef &message);

/// Replaces `{i}` in `pattern` by `args[i]`; an index without argument stays as it is written.
std::string substitute(llvm::StringRef pattern, llvm::ArrayRef<std::string> args);

/// An argument of a diagnostic: text or an integer.
inline std::string toArg(const char *text) { return text; }
inline std::string toArg(llvm::StringRef text) { return text.str(); }
inline std::string toArg(std::string text) { return text; }
inline std::string toArg(const llvm::Twine &text) { return text.str(); }
inline std::string toArg(char c) { return std::string(1, c); }
template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, char>)
std::string toArg(T value) {
  return std::to_string(value);
}

/// The text of `id` with its arguments, followed by ` [name]`.
template <typename... Args>
std::string formatDiagnostic(Id id, Args &&...args) {
  std::string list[sizeof...(Args) + 1] = {toArg(std::forward<Args>(args))...};
  return substitute(info(id).text, llvm::ArrayRef(list, sizeof...(Args))) + " [" +
         info(id).name.str() + "]";
}

} // namespace tilec::diag
