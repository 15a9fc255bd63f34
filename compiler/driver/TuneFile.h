// What `tilec tune` measured, as a file beside the source: docs/tuning.md.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// Compile-time parameters as text: "BM" is "128", "T" is "f16".
using ParameterTexts = std::map<std::string, std::string>;
/// Dimensions and integer scalar arguments of a call.
using Shape = std::map<std::string, int64_t>;

/// The time of one set of parameters at one shape, in microseconds; half of the launches took between `lower`
/// and `upper`.
struct TuneRow {
  Shape shape;
  ParameterTexts params;             ///< those that differ between the candidates
  std::vector<std::string> variants; ///< of the launches
  double median = 0, lower = 0, upper = 0;
};

/// Rows that were measured under the same circumstances.
struct TuneGroup {
  std::string kernel; ///< its name in the source
  ParameterTexts params;
  std::string arch, device, driver, compiler, sourceHash;
  std::vector<TuneRow> rows;
};

struct TuneFile {
  std::vector<TuneGroup> groups;
};

/// Fails, saying where, for what does not have the form of a tune file.
llvm::Expected<TuneFile> parseTuneFile(llvm::StringRef text);

/// Reads it from a file; nothing after a diagnostic.
std::optional<TuneFile> readTuneFile(llvm::StringRef path, DiagnosticEngine &diags);

/// As text with a line for each row, in an order that depends on nothing but the content.
std::string printTuneFile(TuneFile file);

/// Puts `added` into `file`: rows for the same kernel, parameters, architecture, device and shape are replaced, and groups
/// of another version of the source are dropped.
void mergeTuneGroup(TuneFile &file, const TuneGroup &added);

} // namespace tilec
