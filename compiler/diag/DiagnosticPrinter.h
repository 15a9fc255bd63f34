// Turns diagnostics into text for people or JSON for programs.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tilec {

enum class DiagnosticsFormat { Text, Json };
/// Auto: on a terminal that shows them, unless the environment has NO_COLOR (https://no-color.org).
enum class ColorMode { Auto, Always, Never };

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

/// All diagnostics of the engine, sorted.
void printDiagnostics(const DiagnosticEngine &engine, DiagnosticsFormat format,
                      llvm::raw_ostream &os, ColorMode color = ColorMode::Auto);

} // namespace tilec
