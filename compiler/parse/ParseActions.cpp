// Statements that do not declare or hold others: jumps, calls, assignments.
#include "compiler/parse/ParserImpl.h"

namespace tilec {

using ast::BinaryOp;
using ast::Stmt;
using diag::Id;
using llvm::SMRange;

Stmt *Parser::parseJump() {
  TokenKind kind = take().kind;
  const Expr *value = nullptr;
  if (kind == TokenKind::KwReturn && !at(TokenKind::Semicolon) && !at(TokenKind::RightBrace)) {
    value = parseExprOr(TokenKind::LeftParen);
    if (!value) {
      return nullptr;
    }
  }
  if (!expectSemicolon()) {
    return nullptr;
  }
  switch (kind) {
  case TokenKind::KwBreak:
    return context.make<ast::BreakStmt>(SMRange());
  case TokenKind::KwContinue:
    return context.make<ast::ContinueStmt>(SMRange());
  default:
    return context.make<ast::ReturnStmt>(SMRange(), value);
  }
}

/// The operator of `op=`, and whether it is one.
static std::optional<BinaryOp> assignOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusAssign:
    return BinaryOp::Add;
  case TokenKind::MinusAssign:
    return BinaryOp::Subtract;
  case TokenKind::StarAssign:
    return BinaryOp::Multiply;
  case TokenKind::SlashAssign:
    return BinaryOp::Divide;
  case TokenKind::PercentAssign:
    return BinaryOp::Remainder;
  case TokenKind::AndAssign:
    return BinaryOp::And;
  case TokenKind::OrAssign:
    return BinaryOp::Or;
  case TokenKind::XorAssign:
    return BinaryOp::Xor;
  case TokenKind::ShiftLeftAssign:
    return BinaryOp::ShiftLeft;
  case TokenKind::ShiftRightAssign:
    return BinaryOp::ShiftRight;
  default:
    return std::nullopt;
  }
}

Stmt *Parser::parseAction() {
  const Expr *target = parsePostfix();
  if (!target) {
    return nullptr;
  }
  std::optional<BinaryOp> op = assignOperator(token.kind);
  if (op || at(TokenKind::Assign)) {
    SMRange opRange = take().range();
    const Expr *value = parseExpr();
    if (!value || !expectSemicolon()) {
      return nullptr;
    }
    return context.make<ast::AssignStmt>(SMRange(), target, op.has_value(),
                                         op.value_or(BinaryOp::Add), opRange, value);
  }
  const auto *call = llvm::dyn_cast<ast::CallExpr>(target);
  if (!call) {
    if (at(TokenKind::Name) || isKeyword(token.kind) || at(TokenKind::Colon)) {
      syntaxError("`=` or another assignment");
    } else if (isReportable()) {
      diagnostics.report(Id::SyntaxNoEffect, target->range);
    }
    return nullptr;
  }
  return expectSemicolon() ? context.make<ast::CallStmt>(SMRange(), call) : nullptr;
}

} // namespace tilec
