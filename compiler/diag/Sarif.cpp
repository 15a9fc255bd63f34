#include "compiler/diag/Sarif.h"

#include "compiler/basic/Printable.h"
#include "compiler/basic/Version.h"
#include "compiler/diag/DiagnosticPrinter.h"
#include "compiler/diag/Place.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace tilec {

using diag::Severity;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// What stands for arguments is for every call another: `{0}` becomes `...`.
static std::string general(StringRef text) {
  return diag::substitute(text, std::vector<std::string>(8, "..."));
}

/// SARIF's words. A remark is no failure, so it has no level.
static StringRef levelOf(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "none";
}

static json::Object text(const Twine &content) {
  return json::Object{{"text", json::fixUTF8(content.str())}};
}

/// The rule of a code, of which the table may have several texts.
static json::Object ruleOf(StringRef code) {
  std::vector<std::string> texts, help;
  const diag::Info *first = nullptr;
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    const diag::Info &entry = diag::info(diag::Id(i));
    if (entry.code != code) {
      continue;
    }
    first = first ? first : &entry;
    if (any_of(general(entry.text), isAlpha) && !is_contained(texts, general(entry.text))) {
      texts.push_back(general(entry.text));
    }
    if (!entry.hint.empty() && !is_contained(help, general(entry.hint))) {
      help.push_back(general(entry.hint));
    }
  }
  const std::string name = first->name.str();
  if (texts.empty()) { // it is made where it is reported
    texts.push_back(name);
  }
  help.push_back("See docs/errors.md#" + name + ", or `tilec --explain=" + name + "`.");
  return json::Object{{"id", code},
                      {"name", name},
                      {"shortDescription", text(texts.front())},
                      {"fullDescription", text(join(texts, "\n"))},
                      {"help", text(join(help, "\n"))},
                      {"defaultConfiguration", json::Object{{"level", levelOf(first->severity)}}}};
}

SarifLog::SarifLog() {
  for (unsigned i = 0; i != diag::numDiagnostics(); ++i) {
    StringRef code = diag::info(diag::Id(i)).code;
    if (ruleIndices.try_emplace(code.str(), unsigned(rules.size())).second) {
      rules.push_back(ruleOf(code));
    }
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// A file's name as a reference of RFC 3986: an absolute path with its scheme, others as they are.
static std::string uriOf(StringRef file) {
  std::string uri = sys::path::is_absolute(file) ? "file://" : "";
  for (unsigned char c : file) {
    if (isAlnum(c) || StringRef("-._~/").contains(c)) {
      uri += char(c);
    } else {
      uri += "%" + utohexstr(c, /*LowerCase=*/false, /*Width=*/2);
    }
  }
  return uri;
}

json::Object SarifLog::artifactOf(StringRef file) {
  std::string uri = uriOf(file);
  auto [found, isNew] = artifactIndices.try_emplace(uri, unsigned(artifacts.size()));
  if (isNew) {
    artifacts.push_back(json::Object{{"location", json::Object{{"uri", uri}}}});
  }
  return json::Object{{"uri", std::move(uri)}, {"index", found->second}};
}

/// A column of bytes as one of UTF-16, of the line that `loc` is in. A mark of byte order counts for nothing.
static unsigned utf16Column(const char *loc, unsigned column) {
  StringRef before(loc - (column - 1), column - 1);
  before.consume_front("\xef\xbb\xbf");
  return countUtf16(before) + 1;
}

/// The length of the character at the start of a range, which marks it where the range is empty.
static unsigned firstLength(const Place &place) {
  StringRef rest = place.text.drop_front(place.start);
  return rest.empty() ? 0 : countUtf16(rest.take_front(characterLength(rest)));
}

json::Object SarifLog::locationOf(SMRange range, const SourceMgr &sources) {
  std::optional<Place> place = placeOf(range, sources);
  if (!place) {
    return {};
  }
  const char *start = range.Start.getPointer();
  const bool isEmpty =
      std::tie(place->line, place->column) == std::tie(place->endLine, place->endColumn);
  const unsigned column = utf16Column(start, place->column);
  const unsigned endColumn = isEmpty ? column + firstLength(*place)
                                     : utf16Column(range.End.getPointer(), place->endColumn);
  json::Object region{{"startLine", place->line},
                      {"startColumn", column},
                      {"endLine", place->endLine},
                      {"endColumn", endColumn}};
  return json::Object{
      {"physicalLocation",
       json::Object{{"artifactLocation", artifactOf(place->file)}, {"region", std::move(region)}}}};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A message without the meaning that SARIF gives to braces (arguments) and to brackets before
/// parentheses (links).
static json::Object message(StringRef plain) {
  const bool hasLink = plain.contains("](");
  std::string escaped;
  for (char c : plain) {
    if (c == '{' || c == '}') {
      escaped += c;
    } else if (hasLink && StringRef("[]\\").contains(c)) {
      escaped += '\\';
    }
    escaped += c;
  }
  return text(escaped);
}

void SarifLog::add(const Diagnostic &diagnostic, const SourceMgr &sources) {
  const diag::Info &entry = diag::info(diagnostic.id);
  std::string said = diagnostic.fullMessage();
  json::Object properties;
  addSubject(properties, diagnostic);
  if (!diagnostic.hint.empty()) {
    said += "\nhelp: " + diagnostic.hint;
    properties["hint"] = json::fixUTF8(diagnostic.hint);
  }
  json::Object result{{"ruleId", StringRef(entry.code)},
                      {"ruleIndex", ruleIndices.at(entry.code.str())},
                      {"level", levelOf(diagnostic.severity)},
                      {"message", message(said)}};
  if (diagnostic.severity == Severity::Remark) {
    result["kind"] = "informational";
  }
  if (json::Object place = locationOf(diagnostic.range, sources); !place.empty()) {
    result["locations"] = json::Array{std::move(place)};
  }
  json::Array related;
  for (const Note &note : diagnostic.notes) {
    json::Object place = locationOf(note.range, sources);
    place["id"] = int64_t(related.size());
    place["message"] = message(note.text);
    related.push_back(std::move(place));
  }
  if (!related.empty()) {
    result["relatedLocations"] = std::move(related);
  }
  if (!properties.empty()) {
    result["properties"] = std::move(properties);
  }
  results.push_back(std::move(result));
}

void SarifLog::addNotification(StringRef plain) {
  notifications.push_back(json::Object{{"level", "note"}, {"message", message(plain)}});
}

json::Value SarifLog::take(int exitCode) {
  json::Object invocation{{"executionSuccessful", exitCode == 0}, {"exitCode", exitCode}};
  if (!notifications.empty()) {
    invocation["toolExecutionNotifications"] = std::move(notifications);
  }
  json::Object driver{{"name", "tilec"},
                      {"version", StringRef(kVersion)},
                      {"semanticVersion", StringRef(kVersion)},
                      {"rules", std::move(rules)}};
  json::Object run{{"tool", json::Object{{"driver", std::move(driver)}}},
                   {"invocations", json::Array{std::move(invocation)}},
                   {"artifacts", std::move(artifacts)},
                   {"columnKind", "utf16CodeUnits"},
                   {"defaultEncoding", "utf-8"},
                   {"results", std::move(results)}};
  return json::Object{{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
                                  "schemas/sarif-schema-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", json::Array{std::move(run)}}};
}

} // namespace tilec
