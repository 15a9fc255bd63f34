#include "compiler/parse/ParserImpl.h"

namespace tilec {

using ast::Stmt;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

std::optional<ast::Block> Parser::parseBlock() {
  SMLoc open = token.start();
  if (!expect(TokenKind::LeftBrace)) {
    return std::nullopt;
  }
  Level deeper(*this);
  if (!deeper) {
    return std::nullopt;
  }
  llvm::SmallVector<const Stmt *, 16> statements;
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End) && !beginsItemOnly(token.kind)) {
    const char *start = token.text.begin();
    if (const Stmt *statement = parseStatement()) {
      statements.push_back(statement);
    } else {
      recoverStatement(start);
    }
  }
  expectClosing(TokenKind::RightBrace, open);
  if (stopped) {
    return std::nullopt;
  }
  return ast::Block{rangeFrom(open), context.copy(llvm::ArrayRef(statements))};
}

const Stmt *Parser::parseStatement() {
  llvm::SmallVector<ast::Annotation, 2> annotations;
  if (!parseAnnotations(annotations)) {
    return nullptr;
  }
  SMLoc start = token.start();
  Stmt *statement = parseStatementBody();
  if (statement) {
    statement->range = rangeFrom(start);
    statement->annotations = context.copy(llvm::ArrayRef(annotations));
  }
  return statement;
}

/// Returns a statement whose range the caller sets.
Stmt *Parser::parseStatementBody() {
  switch (token.kind) {
  case TokenKind::KwConst: {
    std::optional<ast::ConstDecl> decl = parseConst();
    return decl ? context.make<ast::ConstStmt>(SMRange(), *decl) : nullptr;
  }
  case TokenKind::KwShared:
  case TokenKind::KwFragment:
  case TokenKind::KwLocal:
  case TokenKind::KwWorkspace:
    return parseBuffer();
  case TokenKind::KwLet:
    return parseLet();
  case TokenKind::KwVar:
    return parseVar();
  case TokenKind::KwView:
    return parseView();
  case TokenKind::KwLaunch:
    return parseLaunch();
  case TokenKind::KwThreads:
    return parseThreads();
  case TokenKind::KwParallel:
    return parseParallel();
  case TokenKind::KwFor:
    return parseFor();
  case TokenKind::KwWhile:
    return parseWhile();
  case TokenKind::KwIf:
    return parseIf();
  case TokenKind::KwBreak:
  case TokenKind::KwContinue:
  case TokenKind::KwReturn:
    return parseJump();
  case TokenKind::Name:
  case TokenKind::LeftParen:
  case TokenKind::LeftBracket:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::String:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    return parseAction();
  default:
    syntaxError("a statement");
    return nullptr;
  }
}

bool Parser::parseAnnotations(llvm::SmallVectorImpl<ast::Annotation> &annotations) {
  while (at(TokenKind::At)) {
    SMLoc start = take().start();
    ast::Annotation annotation;
    std::optional<ast::Ident> name = expectName("the name of an annotation");
    if (!name) {
      return false;
    }
    annotation.name = *name;
    SMLoc open = token.start();
    annotation.hasParens = accept(TokenKind::LeftParen);
    if (annotation.hasParens &&
        !parseArgs(open, name->name, /*isAnnotation=*/true, annotation.args)) {
      return false;
    }
    annotation.range = rangeFrom(start);
    annotations.push_back(annotation);
  }
  return true;
}

//===------------------------------------------------------------------------------------------===//
// Declarations
//===------------------------------------------------------------------------------------------===//

bool Parser::parseNames(llvm::ArrayRef<ast::Ident> &names, StringRef what) {
  llvm::SmallVector<ast::Ident, 4> list;
  do {
    std::optional<ast::Ident> name = expectName(what);
    if (!name) {
      return false;
    }
    list.push_back(*name);
  } while (accept(TokenKind::Comma));
  names = context.copy(llvm::ArrayRef(list));
  return true;
}

bool Parser::parseBinder(llvm::ArrayRef<ast::Ident> &names, bool &isTuple) {
  SMLoc open = token.start();
  isTuple = accept(TokenKind::LeftParen);
  if (isTuple) {
    return parseNames(names, "a name") && expectClosing(TokenKind::RightParen, open);
  }
  std::optional<ast::Ident> name = expectName("a name, or names in `(...)`");
  if (name) {
    names = context.copy(llvm::ArrayRef(*name));
  }
  return name.has_value();
}

std::optional<ast::ConstDecl> Parser::parseConst() {
  take();
  std::optional<ast::Ident> name = expectName("the name of the constant");
  if (!name) {
    return std::nullopt;
  }
  ast::ConstDecl decl;
  decl.name = *name;
  if (accept(TokenKind::Colon)) {
    std::optional<ast::TileType> type = parseTileType();
    if (!type) {
      return std::nullopt;
    }
    decl.type = *type;
  }
  if (!expect(TokenKind::Assign)) {
    return std::nullopt;
  }
  decl.value = parseExprOr(TokenKind::LeftBracket);
  return decl.value && expectSemicolon() ? std::optional(decl) : std::nullopt;
}

static ast::BufferKind bufferKind(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwShared:
    return ast::BufferKind::Shared;
  case TokenKind::KwFragment:
    return ast::BufferKind::Fragment;
  case TokenKind::KwLocal:
    return ast::BufferKind::Local;
  default:
    return ast::BufferKind::Workspace;
  }
}

Stmt *Parser::parseBuffer() {
  ast::BufferKind kind = bufferKind(take().kind);
  llvm::ArrayRef<ast::Ident> names;
  if (!parseNames(names, "the name of the buffer") || !expect(TokenKind::Colon)) {
    return nullptr;
  }
  std::optional<ast::TileType> type = parseTileType();
  const Expr *init = nullptr;
  if (!type || (accept(TokenKind::Assign) && !(init = parseExpr())) || !expectSemicolon()) {
    return nullptr;
  }
  return context.make<ast::BufferStmt>(SMRange(), kind, names, *type, init);
}

Stmt *Parser::parseLet() {
  take();
  llvm::ArrayRef<ast::Ident> names;
  bool isTuple;
  if (!parseBinder(names, isTuple)) {
    return nullptr;
  }
  ast::TileType type;
  if (!isTuple && accept(TokenKind::Colon)) {
    std::optional<ast::TileType> parsed = parseTileType();
    if (!parsed) {
      return nullptr;
    }
    type = *parsed;
  }
  if (!expect(TokenKind::Assign)) {
    return nullptr;
  }
  const Expr *value = parseExpr();
  if (!value || !expectSemicolon()) {
    return nullptr;
  }
  return context.make<ast::LetStmt>(SMRange(), names, isTuple, type, value);
}

Stmt *Parser::parseVar() {
  take();
  std::optional<ast::Ident> name = expectName("the name of the variable");
  const ast::TypeExpr *type = nullptr;
  if (!name || (accept(TokenKind::Colon) && !(type = parseType())) || !expect(TokenKind::Assign)) {
    return nullptr;
  }
  const Expr *value = parseExpr();
  if (!value || !expectSemicolon()) {
    return nullptr;
  }
  return context.make<ast::VarStmt>(SMRange(), *name, type, value);
}

Stmt *Parser::parseView() {
  take();
  std::optional<ast::Ident> name = expectName("the name of the view");
  if (!name || !expect(TokenKind::Assign)) {
    return nullptr;
  }
  const Expr *value = parseExpr();
  if (!value || !expectSemicolon()) {
    return nullptr;
  }
  return context.make<ast::ViewStmt>(SMRange(), *name, value);
}

//===------------------------------------------------------------------------------------------===//
// Launches, regions, loops
//===------------------------------------------------------------------------------------------===//

/// `NAME: extent, ...)`; the `(` is taken.
bool Parser::parseAxes(SMLoc open, llvm::ArrayRef<ast::Axis> &axes) {
  llvm::SmallVector<ast::Axis, 3> list;
  if (!parseList(TokenKind::RightParen, open, /*mayBeEmpty=*/false, [&] {
        std::optional<ast::Ident> name = expectName("the name of an axis");
        if (!name || !expect(TokenKind::Colon)) {
          return false;
        }
        list.push_back({*name, parseExpr()});
        return list.back().extent != nullptr;
      })) {
    return false;
  }
  axes = context.copy(llvm::ArrayRef(list));
  return true;
}

Stmt *Parser::parseLaunch() {
  take();
  llvm::ArrayRef<ast::Ident> binder;
  bool isTuple;
  if (!parseBinder(binder, isTuple) || !expect(TokenKind::KwIn) || !expectWord("grid")) {
    return nullptr;
  }
  SMLoc open = token.start();
  llvm::SmallVector<const Expr *, 3> grid;
  if (!expect(TokenKind::LeftParen) ||
      !parseList(TokenKind::RightParen, open, /*mayBeEmpty=*/false,
                 [&] {
                   grid.push_back(parseExpr());
                   return grid.back() != nullptr;
                 }) ||
      !expect(TokenKind::KwThreads)) {
    return nullptr;
  }
  open = token.start();
  if (!expect(TokenKind::LeftParen)) {
    return nullptr;
  }
  const Expr *count = nullptr;
  llvm::ArrayRef<ast::Axis> axes;
  if (at(TokenKind::Name) && following.is(TokenKind::Colon)) {
    if (!parseAxes(open, axes)) {
      return nullptr;
    }
  } else if (!(count = parseExpr()) || !expectClosing(TokenKind::RightParen, open)) {
    return nullptr;
  }
  std::optional<ast::Block> body = parseBlock();
  return body
             ? context.make<ast::LaunchStmt>(SMRange(), binder, isTuple,
                                             context.copy(llvm::ArrayRef(grid)), count, axes, *body)
             : nullptr;
}

Stmt *Parser::parseThreads() {
  take();
  SMLoc open = token.start();
  llvm::ArrayRef<ast::Axis> axes;
  if (!expect(TokenKind::LeftParen) || !parseAxes(open, axes)) {
    return nullptr;
  }
  std::optional<ast::Block> body = parseBlock();
  return body ? context.make<ast::ThreadsStmt>(SMRange(), axes, *body) : nullptr;
}

Stmt *Parser::parseParallel() {
  take();
  llvm::ArrayRef<ast::Ident> binder;
  bool isTuple;
  if (!parseBinder(binder, isTuple) || !expect(TokenKind::KwIn)) {
    return nullptr;
  }
  const Expr *domain = parseExprOr(TokenKind::LeftBracket);
  if (!domain) {
    return nullptr;
  }
  std::optional<ast::Block> body = parseBlock();
  return body ? context.make<ast::ParallelStmt>(SMRange(), binder, isTuple, domain, *body)
              : nullptr;
}

std::optional<ast::Range> Parser::parseRange() {
  SMLoc start = token.start();
  ast::Range range;
  range.first = parseExpr();
  if (!range.first) {
    return std::nullopt;
  }
  if (!accept(TokenKind::DotDot)) {
    syntaxError("`..`").hint("a range is written `first..end`, without its end");
    return std::nullopt;
  }
  range.last = parseExpr();
  if (!range.last || (acceptWord("step") && !(range.step = parseExpr()))) {
    return std::nullopt;
  }
  range.range = rangeFrom(start);
  return range;
}

Stmt *Parser::parseFor() {
  take();
  if (at(TokenKind::LeftParen)) {
    syntaxError("the loop's variable").hint("a loop is written `for i in 0..n { ... }`");
    return nullptr;
  }
  std::optional<ast::Ident> variable = expectName("the loop's variable");
  if (!variable || !expect(TokenKind::KwIn)) {
    return nullptr;
  }
  ast::ForKind kind = at(TokenKind::KwPipelined)  ? ast::ForKind::Pipelined
                      : at(TokenKind::KwUnrolled) ? ast::ForKind::Unrolled
                                                  : ast::ForKind::Serial;
  SMRange kindRange;
  std::optional<ast::Range> bounds;
  llvm::SmallVector<ast::Arg, 2> options;
  if (kind == ast::ForKind::Serial) {
    bounds = parseRange();
  } else {
    kindRange = take().range();
    SMLoc open = token.start();
    if (!expect(TokenKind::LeftParen) || !(bounds = parseRange())) {
      return nullptr;
    }
    while (accept(TokenKind::Comma)) {
      std::optional<ast::Ident> name = expectName("the name of an option");
      const Expr *value = name && expect(TokenKind::Assign) ? parseExpr() : nullptr;
      if (!value) {
        return nullptr;
      }
      options.push_back({*name, value});
    }
    if (!expectClosing(TokenKind::RightParen, open)) {
      return nullptr;
    }
  }
  std::optional<ast::Block> body = bounds ? parseBlock() : std::nullopt;
  return body ? context.make<ast::ForStmt>(SMRange(), kind, kindRange, *variable, *bounds,
                                           context.copy(llvm::ArrayRef(options)), *body)
              : nullptr;
}

Stmt *Parser::parseWhile() {
  take();
  const Expr *condition = parseExpr();
  std::optional<ast::Block> body = condition ? parseBlock() : std::nullopt;
  return body ? context.make<ast::WhileStmt>(SMRange(), condition, *body) : nullptr;
}

Stmt *Parser::parseIf() {
  take();
  const Expr *condition = parseExpr();
  std::optional<ast::Block> thenBlock = condition ? parseBlock() : std::nullopt;
  if (!thenBlock) {
    return nullptr;
  }
  if (!accept(TokenKind::KwElse)) {
    return context.make<ast::IfStmt>(SMRange(), condition, *thenBlock, nullptr, false);
  }
  auto *elseBlock = context.make<ast::Block>();
  bool elseIf = at(TokenKind::KwIf);
  if (elseIf) {
    Level deeper(*this);
    SMLoc start = token.start();
    Stmt *inner = deeper ? parseIf() : nullptr;
    if (!inner) {
      return nullptr;
    }
    inner->range = rangeFrom(start);
    *elseBlock = {inner->range, context.copy(llvm::ArrayRef<const Stmt *>(inner))};
  } else {
    std::optional<ast::Block> block = parseBlock();
    if (!block) {
      return nullptr;
    }
    *elseBlock = *block;
  }
  return context.make<ast::IfStmt>(SMRange(), condition, *thenBlock, elseBlock, elseIf);
}

} // namespace tilec
