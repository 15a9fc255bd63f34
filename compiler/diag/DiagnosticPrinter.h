// Turns a diagnostic into text for people or a line of JSON for programs.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

/// `file:line:column: error: text [name]`, the source line, a line that marks the range, the notes
/// likewise, and `help: hint`. A remark has its subject before the text, and no source line: it is one
/// line. Columns count bytes from 1. Lines longer than a terminal are shown
/// in part; bytes that are not printable UTF-8 are shown as `?`.
void printText(const Diagnostic &diagnostic, const llvm::SourceMgr &sources, llvm::raw_ostream &os,
               bool colour);

/// One JSON object on one line: severity, code, name, message, hint, notes; for what has a place
/// also file, line, column, endLine, endColumn (from 1, the end is exclusive); for a remark kernel, arch,
/// variant, launch, parameters and summary, as far as it has them.
void printJson(const Diagnostic &diagnostic, const llvm::SourceMgr &sources, llvm::raw_ostream &os);

/// "error", "warning" or "remark".
llvm::StringRef spelling(diag::Severity severity);

/// Puts what a remark is about into `object`, as fields.
void addSubject(llvm::json::Object &object, const Diagnostic &diagnostic);

} // namespace tilec
