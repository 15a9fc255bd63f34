#include "compiler/diag/DiagnosticPrinter.h"

#include "compiler/basic/Printable.h"
#include "compiler/diag/Place.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace tilec {

using diag::Severity;
using llvm::raw_ostream;
using llvm::StringRef;

/// How much of a source line is shown.
static constexpr size_t shownWidth = 120;

/// Prints the line of `place` and the line of marks below it.
static void printSnippet(const Place &place, raw_ostream &os) {
  size_t from = place.start > shownWidth / 2 && place.text.size() > shownWidth
                    ? place.start - shownWidth / 2
                    : 0;
  std::string marks;
  for (size_t i = from; i < place.text.size() && marks.size() < shownWidth;) {
    size_t length = printableLength(place.text.substr(i));
    bool isTab = place.text[i] == '\t';
    if (length == 0) {
      os << (isTab ? ' ' : '?');
    } else {
      os << place.text.substr(i, length);
    }
    bool isMarked = i >= place.start && i < place.start + place.length;
    marks += i == place.start ? '^' : isMarked ? '~' : ' ';
    i += std::max<size_t>(length, 1);
  }
  if (marks.find('^') == std::string::npos) {
    marks += '^'; // behind the end of the line
  }
  os << '\n' << StringRef(marks).rtrim(' ') << '\n';
}

/// `os` shows colours if `useColour`; the source line is left out if `isOneLine`.
static void printMessage(llvm::SMRange range, StringRef label, raw_ostream::Colors colour,
                         StringRef message, const llvm::SourceMgr &sources, raw_ostream &os,
                         bool useColour, bool isOneLine) {
  std::optional<Place> place = placeOf(range, sources);
  if (place) {
    os << place->file << ':' << place->line << ':' << place->column << ": ";
  } else {
    os << "tilec: ";
  }
  if (useColour) {
    os.changeColor(colour, /*Bold=*/true);
  }
  os << label << ": ";
  if (useColour) {
    os.resetColor();
  }
  std::string text = llvm::json::fixUTF8(message);
  if (isOneLine) {
    std::replace(text.begin(), text.end(), '\n', ' ');
  }
  os << text << '\n';
  if (place && !isOneLine) {
    printSnippet(*place, os);
  }
}

StringRef spelling(Severity severity) {
  switch (severity) {
  case Severity::Remark:
    return "remark";
  case Severity::Warning:
    return "warning";
  case Severity::Error:
    return "error";
  }
  llvm_unreachable("all severities are handled");
}

static raw_ostream::Colors colourOf(Severity severity) {
  switch (severity) {
  case Severity::Remark:
    return raw_ostream::BLUE;
  case Severity::Warning:
    return raw_ostream::MAGENTA;
  case Severity::Error:
    return raw_ostream::RED;
  }
  llvm_unreachable("all severities are handled");
}

void printText(const Diagnostic &diagnostic, const llvm::SourceMgr &sources, raw_ostream &os,
               bool colour) {
  std::string message =
      diagnostic.fullMessage() + " [" + diag::info(diagnostic.id).name.str() + "]";
  const bool isOneLine = diagnostic.severity == Severity::Remark; // many, for grep
  printMessage(diagnostic.range, spelling(diagnostic.severity), colourOf(diagnostic.severity),
               message, sources, os, colour, isOneLine);
  for (const Note &note : diagnostic.notes) {
    printMessage(note.range, "note", raw_ostream::CYAN, note.text, sources, os, colour, isOneLine);
  }
  if (!diagnostic.hint.empty()) {
    os << "help: " << diagnostic.hint << '\n';
  }
}

static void addPlace(llvm::json::Object &object, llvm::SMRange range,
                     const llvm::SourceMgr &sources) {
  std::optional<Place> place = placeOf(range, sources);
  if (!place) {
    return;
  }
  object["file"] = llvm::json::fixUTF8(place->file);
  object["line"] = place->line;
  object["column"] = place->column;
  object["endLine"] = place->endLine;
  object["endColumn"] = place->endColumn;
}

void addSubject(llvm::json::Object &object, const Diagnostic &diagnostic) {
  const Subject &subject = diagnostic.subject;
  std::pair<StringRef, const std::string &> texts[] = {{"kernel", subject.kernel},
                                                       {"arch", subject.arch},
                                                       {"variant", subject.variant},
                                                       {"parameters", subject.parameters}};
  for (const auto &[name, text] : texts) {
    if (!text.empty()) {
      object[name] = llvm::json::fixUTF8(text);
    }
  }
  if (subject.launch) {
    object["launch"] = *subject.launch;
  }
  if (!diagnostic.facts.empty()) {
    object["summary"] = llvm::json::Object(diagnostic.facts);
  }
}

void printJson(const Diagnostic &diagnostic, const llvm::SourceMgr &sources, raw_ostream &os) {
  const diag::Info &entry = diag::info(diagnostic.id);
  llvm::json::Object object{
      {"severity", spelling(diagnostic.severity)},
      {"code", StringRef(entry.code)},
      {"name", StringRef(entry.name)},
      {"message", llvm::json::fixUTF8(diagnostic.message)},
  };
  addPlace(object, diagnostic.range, sources);
  addSubject(object, diagnostic);
  if (!diagnostic.hint.empty()) {
    object["hint"] = llvm::json::fixUTF8(diagnostic.hint);
  }
  llvm::json::Array notes;
  for (const Note &note : diagnostic.notes) {
    llvm::json::Object entry{{"message", llvm::json::fixUTF8(note.text)}};
    addPlace(entry, note.range, sources);
    notes.push_back(std::move(entry));
  }
  object["notes"] = std::move(notes);
  os << llvm::json::Value(std::move(object)) << '\n';
}

} // namespace tilec
