// From the syntax tree back to text.
#pragma once

#include "compiler/parse/Ast.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tilec {

struct AstPrintOptions {
  /// Put brackets round every operator, so that the text shows the structure.
  bool allParens = false;
};

/// Prints source that parses to the same tree; comments other than `//!` lines are lost.
void printAst(const ast::File &file, llvm::raw_ostream &os, AstPrintOptions options = {});

/// One expression, as in source: for messages that quote a condition.
std::string printExpr(const ast::Expr &expr);

} // namespace tilec
