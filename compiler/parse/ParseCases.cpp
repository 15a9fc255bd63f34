#include "compiler/parse/ParserImpl.h"

namespace tilec {

bool parseCaseClauses(llvm::StringRef text, const llvm::SourceMgr &sources, ast::Context &context,
                      DiagnosticEngine &diagnostics,
                      llvm::SmallVectorImpl<ast::CaseClause> &clauses) {
  return Parser(text, sources, context, diagnostics).parseOnlyClauses(clauses);
}

/// `NAME { "," NAME } ("in" | "=") (expression | "[" expression { "," expression } "]")`
bool Parser::parseCaseClause(ast::CaseClause &clause) {
  if (!parseNames(clause.names, "the name of a parameter, dimension or argument")) {
    return false;
  }
  clause.isIn = accept(TokenKind::KwIn);
  if (!clause.isIn && !expect(TokenKind::Assign, "`in` or `=`")) {
    return false;
  }
  clause.isList = clause.isIn && at(TokenKind::LeftBracket);
  if (clause.isList) {
    const ast::ListExpr *list = parseListExpr();
    clause.values = list ? list->elements : llvm::ArrayRef<const Expr *>();
    return list != nullptr;
  }
  const Expr *value = parseExpr();
  clause.values = value ? context.copy(llvm::ArrayRef(value)) : llvm::ArrayRef<const Expr *>();
  return value != nullptr;
}

bool Parser::parseOnlyClauses(llvm::SmallVectorImpl<ast::CaseClause> &clauses) {
  unsigned errors = diagnostics.numErrors();
  do {
    if (at(TokenKind::End) && !clauses.empty()) {
      break; // after a `;`
    }
    ast::CaseClause clause;
    if (!parseCaseClause(clause)) {
      return false;
    }
    clauses.push_back(clause);
  } while (accept(TokenKind::Semicolon) || accept(TokenKind::Comma));
  if (!at(TokenKind::End)) {
    syntaxError("`;`");
  }
  return diagnostics.numErrors() == errors;
}

} // namespace tilec
