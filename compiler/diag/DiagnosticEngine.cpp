#include "compiler/diag/DiagnosticEngine.h"

#include "compiler/basic/Spelling.h"

#include <algorithm>

namespace tilec {

using diag::Severity;

std::string Subject::str() const {
  std::string inside;
  auto add = [&](const llvm::Twine &text) { inside += (inside.empty() ? "" : ", ") + text.str(); };
  if (!arch.empty()) {
    add(arch);
  }
  if (!variant.empty()) {
    add("variant " + variant);
  }
  if (launch) {
    add("launch " + llvm::Twine(*launch));
  }
  if (!parameters.empty()) {
    add(parameters);
  }
  return inside.empty() ? kernel : kernel + (kernel.empty() ? "(" : " (") + inside + ")";
}

std::string Diagnostic::fullMessage() const {
  const std::string about = subject.str();
  return about.empty() ? message : about + ": " + message;
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::operator<<(Note note) {
  if (diagnostic) {
    // Notes of the contexts stay behind those of the diagnostic itself.
    diagnostic->notes.push_back(std::move(note));
  }
  return *this;
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::hint(const llvm::Twine &text) {
  if (diagnostic) {
    diagnostic->hint = text.str();
  }
  return *this;
}

DiagnosticEngine::Builder &DiagnosticEngine::Builder::meant(llvm::StringRef given,
                                                            llvm::ArrayRef<llvm::StringRef> names) {
  std::string text = diagnostic ? didYouMean(given, names) : std::string();
  return text.empty() ? *this : hint(text);
}

DiagnosticEngine::Builder DiagnosticEngine::add(diag::Id id, llvm::SMRange range,
                                                llvm::ArrayRef<std::string> args) {
  const diag::Info &entry = diag::info(id);
  return add({id, entry.severity, range, diag::substitute(entry.text, args),
              diag::substitute(entry.hint, args)});
}

DiagnosticEngine::Builder DiagnosticEngine::reportText(diag::Id id, Severity severity,
                                                       llvm::SMRange range,
                                                       const llvm::Twine &message) {
  llvm::StringRef hint = diag::info(id).hint;
  return add({id, severity, range, message.str(), hint.contains('{') ? "" : hint.str()});
}

DiagnosticEngine::Builder DiagnosticEngine::remark(Subject subject, llvm::SMRange range,
                                                   const llvm::Twine &text,
                                                   llvm::json::Object facts) {
  return add({diag::Id::Remark,
              Severity::Remark,
              range,
              text.str(),
              "",
              {},
              std::move(subject),
              std::move(facts)});
}

DiagnosticEngine::Builder DiagnosticEngine::add(Diagnostic diagnostic) {
  if (inputIsIr && diagnostic.id == diag::Id::InternalError) {
    const diag::Info &entry = diag::info(diag::Id::MalformedIr);
    llvm::StringRef text = diagnostic.message;
    text.consume_front("internal error: ");
    diagnostic.id = diag::Id::MalformedIr;
    diagnostic.message = diag::substitute(entry.text, {text.str()});
    diagnostic.hint = entry.hint;
  }
  if (diagnostic.severity == Severity::Warning) {
    const WarningPolicy::Fate fate = warningPolicy.of(diag::info(diagnostic.id).name);
    if (fate == WarningPolicy::Fate::Ignored) {
      return Builder(nullptr);
    }
    diagnostic.severity = fate == WarningPolicy::Fate::Error ? Severity::Error : Severity::Warning;
  }
  auto key = std::make_tuple(diagnostic.range.Start.getPointer(),
                             static_cast<unsigned>(diagnostic.id), diagnostic.fullMessage());
  if (!seen.insert(std::move(key)).second) {
    return Builder(nullptr);
  }
  if (diagnostic.severity == Severity::Error) {
    if (limitReached()) {
      if (errors++ == errorLimit) { // once
        std::string text = diag::substitute(diag::info(diag::Id::TooManyErrors).text,
                                            {std::to_string(errorLimit)});
        all.push_back(std::make_unique<Diagnostic>(
            Diagnostic{diag::Id::TooManyErrors, Severity::Error, {}, std::move(text), ""}));
      }
      return Builder(nullptr);
    }
    ++errors;
  }
  for (auto context = contexts.rbegin(); context != contexts.rend(); ++context) {
    diagnostic.notes.push_back(*context);
  }
  all.push_back(std::make_unique<Diagnostic>(std::move(diagnostic)));
  return Builder(all.back().get());
}

std::vector<const Diagnostic *> DiagnosticEngine::sorted() const {
  struct Entry {
    unsigned buffer;
    const char *place; // places of one buffer are ordered by address, which is their offset
    size_t index;
    bool operator<(const Entry &other) const {
      return std::tie(buffer, place, index) < std::tie(other.buffer, other.place, other.index);
    }
  };
  std::vector<Entry> entries;
  for (size_t i = 0; i != all.size(); ++i) {
    llvm::SMLoc loc = all[i]->range.Start;
    entries.push_back(
        {loc.isValid() ? sources.FindBufferContainingLoc(loc) : ~0u, loc.getPointer(), i});
  }
  std::sort(entries.begin(), entries.end());
  std::vector<const Diagnostic *> result;
  result.reserve(entries.size());
  for (const Entry &entry : entries) {
    result.push_back(all[entry.index].get());
  }
  return result;
}

llvm::SMLoc DiagnosticEngine::locate(llvm::StringRef file, unsigned line, unsigned column) const {
  for (unsigned id = 1; id <= sources.getNumBuffers(); ++id) {
    if (sources.getMemoryBuffer(id)->getBufferIdentifier() == file) {
      // FindLocForLineAndColumn is not const only for its cache of line starts.
      return const_cast<llvm::SourceMgr &>(sources).FindLocForLineAndColumn(id, line, column);
    }
  }
  return {};
}

} // namespace tilec
