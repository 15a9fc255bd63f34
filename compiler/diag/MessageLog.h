// Where the diagnostics of a run of the program go.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/diag/Sarif.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace tilec {

enum class DiagnosticsFormat { Text, Json, Sarif };
/// Auto: on a terminal that shows them, unless the environment has NO_COLOR (https://no-color.org).
enum class ColorMode { Auto, Always, Never };

/// Text and JSON are printed as they come, to standard error; a log in SARIF is one document, which
/// finish() prints. With a file all of it goes there, when finish() is called.
class MessageLog {
public:
  explicit MessageLog(DiagnosticsFormat format = DiagnosticsFormat::Text,
                      ColorMode color = ColorMode::Auto, std::string file = {});

  /// All diagnostics of the engine, sorted.
  void add(const DiagnosticEngine &engine);
  /// A diagnostic that has no place in a source. Without `hint` it has that of the table, if there is one.
  void report(diag::Id id, const llvm::Twine &text,
              std::optional<llvm::StringRef> hint = std::nullopt);
  /// What is no diagnostic but belongs to one.
  void note(const llvm::Twine &text);
  /// Whether the file can be written. If not that is reported, and all goes to standard error.
  bool checkFile();
  const std::string &getFile() const { return file; }
  void useStandardError() { file.clear(); }
  bool isFinished() const { return finished; }
  /// To be called when there is no more, with the status that the program ends with. The status that it should end with.
  int finish(int exitCode);
  /// The same for a program that only prints something, without a log where there is nothing to say.
  int finishPrinting() { return checkStandardOutput() ? 0 : finish(1); }

private:
  llvm::raw_ostream &out();
  /// Whether all that was printed on standard output is there. If not that is reported: what a program behind a pipe or a
  /// full disk did not get must not look like success.
  bool checkStandardOutput();

  DiagnosticsFormat format;
  ColorMode color;
  std::string file;                ///< empty: standard error
  std::string kept;                ///< what goes to the file
  llvm::raw_string_ostream keeper; ///< writes to it
  std::unique_ptr<SarifLog> sarif;
  bool finished = false;
};

} // namespace tilec
