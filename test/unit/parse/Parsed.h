// A text with its tree and diagnostics, for tests.
#pragma once

#include "compiler/basic/Source.h"
#include "compiler/diag/DiagnosticPrinter.h"
#include "compiler/parse/AstPrinter.h"
#include "compiler/parse/Parser.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

struct Parsed {
  tilec::SourceManager sources;
  tilec::DiagnosticEngine diagnostics{sources.getMgr()};
  tilec::ast::Context context;
  const tilec::ast::File *file;

  explicit Parsed(llvm::StringRef text) {
    unsigned id = sources.addText("t.tile", text);
    file = tilec::parse(id, sources.getMgr(), context, diagnostics);
  }

  std::string print(bool allParens = false) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    tilec::printAst(*file, os, {allParens});
    return text;
  }

  /// All diagnostics as users see them.
  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const tilec::Diagnostic *diagnostic : diagnostics.sorted()) {
      tilec::printText(*diagnostic, sources.getMgr(), os, false);
    }
    return text;
  }

  /// `line:column name` of each diagnostic, separated by spaces and semicolons.
  std::string summary() const {
    std::string text;
    for (const tilec::Diagnostic *diagnostic : diagnostics.sorted()) {
      text += text.empty() ? "" : "; ";
      if (diagnostic->range.Start.isValid()) {
        auto [line, column] = sources.getMgr().getLineAndColumn(diagnostic->range.Start);
        text += std::to_string(line) + ":" + std::to_string(column) + " ";
      }
      text += tilec::diag::info(diagnostic->id).name;
    }
    return text;
  }
};
