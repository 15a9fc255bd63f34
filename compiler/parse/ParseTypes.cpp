#include "compiler/parse/ParserImpl.h"

namespace tilec {

using llvm::SMLoc;

const ast::TypeExpr *Parser::parseType() {
  SMLoc start = token.start();
  if (accept(TokenKind::KwVec)) {
    Level deeper(*this);
    if (!deeper || !expect(TokenKind::Less)) {
      return nullptr;
    }
    const ast::TypeExpr *element = parseType();
    SMLoc open = token.end();
    if (!element || !expect(TokenKind::Greater)) {
      return nullptr;
    }
    open = token.start();
    if (!expect(TokenKind::LeftBracket)) {
      return nullptr;
    }
    const Expr *count = parseExpr();
    if (!count || !expectClosing(TokenKind::RightBracket, open)) {
      return nullptr;
    }
    return context.make<ast::TypeExpr>(rangeFrom(start), llvm::StringRef(), element, count);
  }
  std::optional<ast::Ident> name = expectName("a type");
  return name ? context.make<ast::TypeExpr>(name->range, name->name, nullptr, nullptr) : nullptr;
}

bool Parser::parseShape(llvm::ArrayRef<const Expr *> &shape) {
  SMLoc open = token.start();
  if (!expect(TokenKind::LeftBracket, "`[` and the extents")) {
    return false;
  }
  Level deeper(*this);
  llvm::SmallVector<const Expr *, 4> extents;
  if (!deeper || !parseList(TokenKind::RightBracket, open, /*mayBeEmpty=*/false, [&] {
        extents.push_back(parseExpr());
        return extents.back() != nullptr;
      })) {
    return false;
  }
  shape = context.copy(llvm::ArrayRef(extents));
  return true;
}

std::optional<ast::TileType> Parser::parseTileType() {
  SMLoc start = token.start();
  ast::TileType type;
  type.element = parseType();
  if (!type.element || (at(TokenKind::LeftBracket) && !parseShape(type.shape))) {
    return std::nullopt;
  }
  type.range = rangeFrom(start);
  return type;
}

std::optional<ast::TileType> Parser::parseTensor() {
  SMLoc start = token.start();
  ast::TileType type;
  if (!expect(TokenKind::KwTensor) || !expect(TokenKind::Less)) {
    return std::nullopt;
  }
  type.element = parseType();
  if (!type.element || !expect(TokenKind::Greater) || !parseShape(type.shape)) {
    return std::nullopt;
  }
  type.range = rangeFrom(start);
  return type;
}

} // namespace tilec
