#include "compiler/parse/ParserImpl.h"

#include "llvm/Support/SourceMgr.h"

namespace tilec {

using diag::Id;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

const ast::File *parse(unsigned bufferId, const llvm::SourceMgr &sources, ast::Context &context,
                       DiagnosticEngine &diagnostics) {
  return Parser(bufferId, sources, context, diagnostics).parseFile();
}

const ast::Expr *parseExpression(unsigned bufferId, const llvm::SourceMgr &sources,
                                 ast::Context &context, DiagnosticEngine &diagnostics) {
  return Parser(bufferId, sources, context, diagnostics).parseOnlyExpr();
}

Parser::Parser(unsigned bufferId, const llvm::SourceMgr &sources, ast::Context &context,
               DiagnosticEngine &diagnostics)
    : Parser(sources.getMemoryBuffer(bufferId)->getBuffer(), sources, context, diagnostics) {
  this->bufferId = bufferId;
}

Parser::Parser(StringRef text, const llvm::SourceMgr &sources, ast::Context &context,
               DiagnosticEngine &diagnostics)
    : sources(sources), context(context), diagnostics(diagnostics),
      lexer(text, context, diagnostics) {
  token = lexer.next();
  following = lexer.next();
  previousEnd = token.start();
}

const ast::File *Parser::parseFile() {
  llvm::SmallVector<const ast::Item *, 16> items;
  while (!at(TokenKind::End)) {
    const char *start = token.text.begin();
    if (const ast::Item *item = parseItem()) {
      items.push_back(item);
    } else {
      recoverItem(start);
    }
  }
  auto *file = context.make<ast::File>();
  file->name = sources.getMemoryBuffer(bufferId)->getBufferIdentifier();
  file->bufferId = bufferId;
  file->header = context.copy(lexer.header());
  file->items = context.copy(llvm::ArrayRef(items));
  return file;
}

const ast::Expr *Parser::parseOnlyExpr() {
  unsigned errors = diagnostics.numErrors();
  const ast::Expr *expr = parseExpr();
  if (expr && !at(TokenKind::End)) {
    syntaxError("the end of the expression");
  }
  return diagnostics.numErrors() == errors ? expr : nullptr;
}

//===------------------------------------------------------------------------------------------===//
// Tokens
//===------------------------------------------------------------------------------------------===//

Token Parser::take() {
  Token taken = token;
  previousEnd = taken.end();
  token = following;
  following = stopped ? token : lexer.next();
  return taken;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) {
    return false;
  }
  take();
  return true;
}

bool Parser::acceptWord(StringRef word) {
  if (!atWord(word)) {
    return false;
  }
  take();
  return true;
}

bool Parser::expect(TokenKind kind, StringRef what) {
  if (accept(kind)) {
    return true;
  }
  std::string quoted = "`" + spelling(kind).str() + "`";
  DiagnosticEngine::Builder error = syntaxError(what.empty() ? StringRef(quoted) : what);
  if (kind == TokenKind::LeftBrace && at(TokenKind::Assign)) {
    error.hint("equality is written `==`");
  }
  return false;
}

bool Parser::expectWord(StringRef word) {
  if (acceptWord(word)) {
    return true;
  }
  syntaxError("`" + word.str() + "`");
  return false;
}

/// A reserved word in the place of a name is an error, but taken as the name, so that nothing
/// follows from it.
std::optional<ast::Ident> Parser::expectName(StringRef what) {
  bool isSeparator = at(TokenKind::KwIn) || at(TokenKind::KwAs) || at(TokenKind::KwWhere);
  if (at(TokenKind::Name) || at(TokenKind::Reserved) || (isKeyword(token.kind) && !isSeparator)) {
    if (!at(TokenKind::Name) && isReportable()) {
      diagnostics.report(Id::SyntaxReserved, token.range(), token.text);
    }
    Token name = take();
    return ast::Ident{name.text, name.range()};
  }
  syntaxError(what);
  return std::nullopt;
}

bool Parser::expectClosing(TokenKind kind, SMLoc open) {
  if (accept(kind)) {
    return true;
  }
  std::string expected = "`" + spelling(kind).str() + "`";
  if (kind != TokenKind::RightBrace) {
    expected = "`,` or " + expected;
  }
  DiagnosticEngine::Builder error = syntaxError(expected);
  error << note({open, SMLoc::getFromPointer(open.getPointer() + 1)}, "opened here");
  if (kind == TokenKind::RightBracket && at(TokenKind::Colon)) {
    error.hint("a slice is written `first..end`");
  }
  return false;
}

/// Words that can only begin an item: inside a block they mean that a `}` is missing.
bool Parser::beginsItemOnly(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwImport:
  case TokenKind::KwFn:
  case TokenKind::KwTile:
  case TokenKind::KwKernel:
  case TokenKind::KwInstantiate:
  case TokenKind::KwTune:
    return true;
  default:
    return false;
  }
}

/// Words that begin a statement and nothing inside one.
static bool beginsStatement(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwConst:
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwView:
  case TokenKind::KwWorkspace:
  case TokenKind::KwLaunch:
  case TokenKind::KwShared:
  case TokenKind::KwFragment:
  case TokenKind::KwLocal:
  case TokenKind::KwParallel:
  case TokenKind::KwFor:
  case TokenKind::KwWhile:
  case TokenKind::KwIf:
  case TokenKind::KwBreak:
  case TokenKind::KwContinue:
  case TokenKind::KwReturn:
  case TokenKind::At:
    return true;
  default:
    return false;
  }
}

/// A missing `;` is reported where it belongs. If the next statement begins after it, parsing goes
/// on as if it were there.
bool Parser::expectSemicolon() {
  if (accept(TokenKind::Semicolon)) {
    return true;
  }
  if (isReportable()) {
    diagnostics.report(Id::Syntax, previousEnd, "`;`", describeToken());
  }
  return at(TokenKind::RightBrace) || at(TokenKind::End) || beginsStatement(token.kind) ||
         beginsItemOnly(token.kind) || (at(TokenKind::Name) && isFirstOnLine());
}

bool Parser::parseList(TokenKind close, SMLoc open, bool mayBeEmpty,
                       llvm::function_ref<bool()> element) {
  if (mayBeEmpty && accept(close)) {
    return true;
  }
  do {
    if (!element()) {
      return false;
    }
  } while (accept(TokenKind::Comma));
  return expectClosing(close, open);
}

//===------------------------------------------------------------------------------------------===//
// Errors
//===------------------------------------------------------------------------------------------===//

std::string Parser::describeToken() const {
  switch (token.kind) {
  case TokenKind::End:
    return "the end of the file";
  case TokenKind::String:
    return "a string";
  default:
    return "`" + token.text.take_front(60).str() + "`";
  }
}

/// Whether a syntax error at this token would be news. Counts it as reported if so.
bool Parser::isReportable() {
  bool isNew = !stopped && !token.isAfterError && token.text.begin() != lastError;
  lastError = token.text.begin();
  return isNew;
}

DiagnosticEngine::Builder Parser::syntaxError(StringRef expected) {
  if (!isReportable()) {
    return DiagnosticEngine::Builder();
  }
  return diagnostics.report(Id::Syntax, token.range(), expected, describeToken());
}

/// Makes the rest of the text End.
void Parser::stop() {
  stopped = true;
  token.kind = TokenKind::End;
  token.text = StringRef(token.text.begin(), 0);
  following = token;
}

bool Parser::checkDepth(unsigned height, SMRange range) {
  if (stopped) {
    return false;
  }
  if (level + height <= ast::maxDepth) {
    return true;
  }
  diagnostics.report(Id::Nesting, SMRange(range.Start, range.Start), ast::maxDepth);
  stop();
  return false;
}

bool Parser::isFirstOnLine() const {
  const char *end = previousEnd.getPointer();
  return StringRef(end, token.text.begin() - end).contains('\n');
}

/// Skips a token, or all from an opening brace to its closing one.
void Parser::skipBalanced() {
  unsigned depth = 0;
  do {
    if (at(TokenKind::LeftBrace)) {
      ++depth;
    } else if (at(TokenKind::RightBrace)) {
      --depth;
    } else if (depth != 0 && beginsItemOnly(token.kind)) {
      return; // a brace is missing
    }
    take();
  } while (depth != 0 && !at(TokenKind::End));
}

/// Skips the rest of the statement that begins at `start`: behind its `;` or its block, before what
/// begins another statement on a line of its own or ends the block round it.
void Parser::recoverStatement(const char *start) {
  if (diagnostics.limitExceeded()) {
    stop();
  }
  while (!at(TokenKind::End) && !at(TokenKind::RightBrace) && !beginsItemOnly(token.kind)) {
    bool isNext = beginsStatement(token.kind) && isFirstOnLine() && token.text.begin() != start;
    if (isNext || accept(TokenKind::Semicolon)) {
      return;
    }
    bool isBlock = at(TokenKind::LeftBrace);
    skipBalanced();
    if (isBlock && !at(TokenKind::KwElse)) {
      return;
    }
  }
}

/// Skips the rest of the item that begins at `itemStart`.
void Parser::recoverItem(const char *itemStart) {
  if (diagnostics.limitExceeded()) {
    stop();
  }
  while (!at(TokenKind::End)) {
    bool isNew = token.text.begin() != itemStart;
    if (isNew && (beginsItemOnly(token.kind) || at(TokenKind::At))) {
      return;
    }
    if (accept(TokenKind::Semicolon)) {
      return;
    }
    bool isBlock = at(TokenKind::LeftBrace);
    if (at(TokenKind::RightBrace)) {
      take();
      return;
    }
    skipBalanced();
    if (isBlock) {
      return;
    }
  }
}

} // namespace tilec
