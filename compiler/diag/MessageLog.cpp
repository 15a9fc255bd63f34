#include "compiler/diag/MessageLog.h"

#include "compiler/basic/Files.h"
#include "compiler/diag/DiagnosticPrinter.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>

using namespace llvm;

namespace tilec {

MessageLog::MessageLog(DiagnosticsFormat format, ColorMode color, std::string file)
    : format(format), color(color), file(std::move(file)), keeper(kept) {
  if (format == DiagnosticsFormat::Sarif) {
    sarif = std::make_unique<SarifLog>();
  }
}

raw_ostream &MessageLog::out() {
  return file.empty() ? errs() : file == "-" ? outs() : static_cast<raw_ostream &>(keeper);
}

static bool showsColors(ColorMode mode, raw_ostream &os) {
  const char *refused = std::getenv("NO_COLOR");
  return mode == ColorMode::Always ||
         (mode == ColorMode::Auto && !(refused && *refused) && os.has_colors());
}

void MessageLog::add(const DiagnosticEngine &engine) {
  const bool hasColors = showsColors(color, out());
  for (const Diagnostic *diagnostic : engine.sorted()) {
    switch (format) {
    case DiagnosticsFormat::Text:
      printText(*diagnostic, engine.getSources(), out(), hasColors);
      break;
    case DiagnosticsFormat::Json:
      printJson(*diagnostic, engine.getSources(), out());
      break;
    case DiagnosticsFormat::Sarif:
      sarif->add(*diagnostic, engine.getSources());
      break;
    }
  }
}

void MessageLog::report(diag::Id id, const Twine &text, std::optional<StringRef> hint) {
  SourceMgr none;
  DiagnosticEngine engine(none);
  auto diagnostic = engine.reportText(id, diag::info(id).severity, SMRange(), text);
  if (hint) {
    diagnostic.hint(*hint);
  }
  add(engine);
}

void MessageLog::note(const Twine &text) {
  switch (format) {
  case DiagnosticsFormat::Text:
    out() << "note: " << text << "\n";
    break;
  case DiagnosticsFormat::Json:
    out() << json::Value(json::Object{{"severity", "note"}, {"message", json::fixUTF8(text.str())}})
          << "\n";
    break;
  case DiagnosticsFormat::Sarif:
    sarif->addNotification(text.str());
    break;
  }
}

static std::string cannotWrite(const std::string &file, std::error_code error) {
  return diag::substitute(diag::info(diag::Id::FileWrite).text, {file, error.message()});
}

bool MessageLog::checkFile() {
  std::error_code error = checkWritable(file);
  if (sys::fs::is_directory(file)) {
    error = std::make_error_code(std::errc::is_a_directory);
  }
  if (!error) {
    return true;
  }
  const std::string text = cannotWrite(file, error);
  file.clear();
  report(diag::Id::FileWrite, text, "`--diagnostics-file` takes the name of a file");
  return false;
}

bool MessageLog::checkStandardOutput() {
  const std::error_code error = flushStandardOutput();
  if (error) {
    report(diag::Id::FileWrite, cannotWrite("<stdout>", error));
  }
  return !error;
}

int MessageLog::finish(int exitCode) {
  if (finished) {
    return exitCode;
  }
  finished = true;
  if (!checkStandardOutput()) {
    exitCode = std::max(exitCode, 1);
  }
  if (sarif) {
    out() << formatv("{0:2}\n", sarif->take(exitCode));
  }
  if (file.empty()) {
    errs().flush();
    return exitCode;
  }
  if (file == "-") {
    return MessageLog().checkStandardOutput() ? exitCode : std::max(exitCode, 1);
  }
  if (std::error_code error = writeOutput(file, kept)) {
    // The messages themselves are said all the same.
    errs() << kept;
    MessageLog().report(diag::Id::FileWrite, cannotWrite(file, error));
    return std::max(exitCode, 1);
  }
  return exitCode;
}

} // namespace tilec
