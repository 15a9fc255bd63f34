#include "compiler/parse/ParserImpl.h"

namespace tilec {

using ast::Item;
using diag::Id;
using llvm::SMLoc;
using llvm::StringRef;

const Item *Parser::parseItem() {
  llvm::SmallVector<ast::Annotation, 2> annotations;
  if (!parseAnnotations(annotations)) {
    return nullptr;
  }
  switch (token.kind) {
  case TokenKind::KwImport:
    return checkAnnotationPlace(annotations, "`import`") ? parseImport() : nullptr;
  case TokenKind::KwConst:
    return checkAnnotationPlace(annotations, "a constant") ? parseConstItem() : nullptr;
  case TokenKind::KwFn:
  case TokenKind::KwTile:
    return checkAnnotationPlace(annotations, "a function") ? parseFunction() : nullptr;
  case TokenKind::KwKernel:
    return parseKernel(annotations);
  case TokenKind::KwInstantiate:
    return checkAnnotationPlace(annotations, "`instantiate`") ? parseInstantiate() : nullptr;
  case TokenKind::KwTune:
    return checkAnnotationPlace(annotations, "`tune`") ? parseTune() : nullptr;
  default:
    if (auto error =
            syntaxError(annotations.empty() ? "`kernel`, `fn` or another item" : "`kernel`");
        at(TokenKind::Name)) {
      error.hint(
          "a kernel is written `kernel name(X: tensor<f32>[N], Y: out tensor<f32>[N]) { ... }`");
    }
    return nullptr;
  }
}

/// Always true: the item is parsed all the same.
bool Parser::checkAnnotationPlace(llvm::ArrayRef<ast::Annotation> annotations, StringRef place) {
  for (const ast::Annotation &annotation : annotations) {
    diagnostics.report(Id::AnnotationPlace, annotation.range, annotation.name.name, place);
  }
  return true;
}

const Item *Parser::parseImport() {
  SMLoc start = take().start();
  if (!at(TokenKind::String)) {
    syntaxError("the path of a file as a string");
    return nullptr;
  }
  Token path = take();
  return expectSemicolon()
             ? context.make<ast::ImportItem>(rangeFrom(start), path.string, path.range())
             : nullptr;
}

const Item *Parser::parseConstItem() {
  SMLoc start = token.start();
  std::optional<ast::ConstDecl> decl = parseConst();
  return decl ? context.make<ast::ConstItem>(rangeFrom(start), *decl) : nullptr;
}

//===------------------------------------------------------------------------------------------===//
// Parameters
//===------------------------------------------------------------------------------------------===//

std::optional<ast::ParamKind> Parser::parseKind() {
  if (acceptWord("int")) {
    return ast::ParamKind::Int;
  }
  if (acceptWord("bool")) {
    return ast::ParamKind::Bool;
  }
  if (acceptWord("type")) {
    return ast::ParamKind::Type;
  }
  syntaxError("`int`, `bool` or `type`")
      .hint("what a call gives stands in the parentheses behind, among the tensors");
  return std::nullopt;
}

/// The `<...>` behind a name, if there is one.
bool Parser::parseGenerics(llvm::ArrayRef<ast::GenericParam> &generics) {
  SMLoc open = token.start();
  if (!accept(TokenKind::Less)) {
    return true;
  }
  llvm::SmallVector<ast::GenericParam, 8> list;
  if (!parseList(TokenKind::Greater, open, /*mayBeEmpty=*/false, [&] {
        std::optional<ast::Ident> name = expectName("the name of a compile-time parameter");
        if (!name || !expect(TokenKind::Colon)) {
          return false;
        }
        std::optional<ast::ParamKind> kind = parseKind();
        if (!kind) {
          return false;
        }
        list.push_back({*name, *kind});
        return !accept(TokenKind::Assign) || (list.back().defaultValue = parseSum()) != nullptr;
      })) {
    return false;
  }
  generics = context.copy(llvm::ArrayRef(list));
  return true;
}

ast::Direction Parser::parseDirection() {
  return accept(TokenKind::KwOut)     ? ast::Direction::Out
         : accept(TokenKind::KwInOut) ? ast::Direction::InOut
                                      : ast::Direction::In;
}

bool Parser::parseFunctionParam(llvm::SmallVectorImpl<ast::FunctionParam> &params) {
  ast::FunctionParam param;
  SMLoc start = token.start();
  bool isConst = accept(TokenKind::KwConst);
  std::optional<ast::Ident> name = expectName("the name of a parameter");
  if (!name || !expect(TokenKind::Colon)) {
    return false;
  }
  param.name = *name;
  std::optional<ast::TileType> type = ast::TileType();
  if (isConst) {
    std::optional<ast::ParamKind> kind = parseKind();
    if (!kind) {
      return false;
    }
    param.form = ast::FunctionParam::Constant;
    param.kind = *kind;
  } else {
    param.direction = parseDirection();
    bool isScope = at(TokenKind::KwShared) || at(TokenKind::KwFragment) || at(TokenKind::KwLocal);
    if (isScope) {
      param.form = ast::FunctionParam::Buffer;
      TokenKind scope = take().kind;
      param.scope = scope == TokenKind::KwShared     ? ast::Scope::Shared
                    : scope == TokenKind::KwFragment ? ast::Scope::Fragment
                                                     : ast::Scope::Local;
      type = parseTileType();
    } else if (at(TokenKind::KwTensor)) {
      param.form = ast::FunctionParam::Tensor;
      type = parseTensor();
    } else if (param.direction != ast::Direction::In) {
      syntaxError("`shared`, `fragment`, `local` or `tensor`");
      return false;
    } else {
      SMLoc typeStart = token.start();
      type->element = parseType();
      type->range = rangeFrom(typeStart);
    }
    if (!type || !type->element) {
      return false;
    }
  }
  param.type = *type;
  param.range = rangeFrom(start);
  params.push_back(param);
  return true;
}

bool Parser::parseKernelParam(llvm::SmallVectorImpl<ast::KernelParam> &params) {
  ast::KernelParam param;
  SMLoc start = token.start();
  std::optional<ast::Ident> name = expectName("the name of a parameter");
  if (!name || !expect(TokenKind::Colon)) {
    return false;
  }
  param.name = *name;
  param.isOptional = accept(TokenKind::KwOptional);
  param.direction = parseDirection();
  param.isStrided = accept(TokenKind::KwStrided);
  param.isTensor = at(TokenKind::KwTensor) || param.isOptional || param.isStrided ||
                   param.direction != ast::Direction::In;
  if (param.isTensor) {
    std::optional<ast::TileType> type = parseTensor();
    if (!type) {
      return false;
    }
    param.type = *type;
    if (!parseAttributes(param)) {
      return false;
    }
  } else {
    SMLoc typeStart = token.start();
    param.type.element = parseType();
    param.type.range = rangeFrom(typeStart);
    if (!param.type.element) {
      return false;
    }
  }
  param.range = rangeFrom(start);
  params.push_back(param);
  return true;
}

bool Parser::parseAttributes(ast::KernelParam &param) {
  llvm::SmallVector<ast::Ident, 2> mayAlias;
  while (atWord("align") || atWord("may_alias")) {
    bool isAlign = take().text == "align";
    SMLoc open = token.start();
    if (!expect(TokenKind::LeftParen)) {
      return false;
    }
    if (isAlign) {
      param.align = parseExpr();
    } else if (std::optional<ast::Ident> name = expectName("the name of a parameter")) {
      mayAlias.push_back(*name);
    } else {
      return false;
    }
    if ((isAlign && !param.align) || !expectClosing(TokenKind::RightParen, open)) {
      return false;
    }
  }
  param.mayAlias = context.copy(llvm::ArrayRef(mayAlias));
  return true;
}

//===------------------------------------------------------------------------------------------===//
// Functions and kernels
//===------------------------------------------------------------------------------------------===//

const Item *Parser::parseFunction() {
  SMLoc start = token.start();
  bool isTile = accept(TokenKind::KwTile);
  if (!expect(TokenKind::KwFn)) {
    return nullptr;
  }
  std::optional<ast::Ident> name = expectName("the name of the function");
  llvm::ArrayRef<ast::GenericParam> generics;
  if (!name || !parseGenerics(generics)) {
    return nullptr;
  }
  SMLoc open = token.start();
  llvm::SmallVector<ast::FunctionParam, 8> params;
  if (!expect(TokenKind::LeftParen) || !parseList(TokenKind::RightParen, open, /*mayBeEmpty=*/true,
                                                  [&] { return parseFunctionParam(params); })) {
    return nullptr;
  }
  llvm::SmallVector<ast::TileType, 2> results;
  bool isTuple = false;
  if (accept(TokenKind::Arrow)) {
    auto parseResult = [&] {
      std::optional<ast::TileType> type = parseTileType();
      results.push_back(type.value_or(ast::TileType()));
      return type.has_value();
    };
    open = token.start();
    isTuple = accept(TokenKind::LeftParen);
    bool isGood = isTuple
                      ? parseList(TokenKind::RightParen, open, /*mayBeEmpty=*/false, parseResult)
                      : parseResult();
    if (!isGood) {
      return nullptr;
    }
  }
  std::optional<ast::Block> body = parseBlock();
  return body ? context.make<ast::FunctionItem>(
                    rangeFrom(start), *name, isTile, generics, context.copy(llvm::ArrayRef(params)),
                    context.copy(llvm::ArrayRef(results)), isTuple, *body)
              : nullptr;
}

/// The conditions behind `where`, if it stands here.
bool Parser::parseWhere(llvm::SmallVectorImpl<const Expr *> &where) {
  if (!accept(TokenKind::KwWhere)) {
    return true;
  }
  do {
    const Expr *condition = parseExpr();
    if (!condition) {
      return false;
    }
    where.push_back(condition);
  } while (accept(TokenKind::Comma));
  return true;
}

const Item *Parser::parseKernel(llvm::ArrayRef<ast::Annotation> annotations) {
  SMLoc start = take().start();
  std::optional<ast::Ident> name = expectName("the name of the kernel");
  llvm::ArrayRef<ast::GenericParam> generics;
  if (!name || !parseGenerics(generics)) {
    return nullptr;
  }
  SMLoc open = token.start();
  llvm::SmallVector<ast::KernelParam, 8> params;
  llvm::SmallVector<const Expr *, 4> where;
  if (!expect(TokenKind::LeftParen) ||
      !parseList(TokenKind::RightParen, open, /*mayBeEmpty=*/true,
                 [&] { return parseKernelParam(params); }) ||
      !parseWhere(where)) {
    return nullptr;
  }
  std::optional<ast::Block> body = parseBlock();
  return body ? context.make<ast::KernelItem>(rangeFrom(start), context.copy(annotations), *name,
                                              generics, context.copy(llvm::ArrayRef(params)),
                                              context.copy(llvm::ArrayRef(where)), *body)
              : nullptr;
}

//===------------------------------------------------------------------------------------------===//
// Instantiate and tune
//===------------------------------------------------------------------------------------------===//

bool Parser::parseGiven(llvm::SmallVectorImpl<ast::Given> &given) {
  ast::Given item;
  SMLoc start = token.start();
  bool isAuto = atWord("auto") && !following.is(TokenKind::Assign);
  if (isAuto) {
    take();
  } else {
    std::optional<ast::Ident> name = expectName("a parameter, or `auto`");
    if (!name) {
      return false;
    }
    if (!accept(TokenKind::Assign)) {
      syntaxError("`=`").hint("parameters are named: `T = f32`");
      return false;
    }
    if (atWord("auto")) {
      syntaxError("a value").hint(
          "`auto` stands alone, for all parameters that are not given: `k<auto>`");
      return false;
    }
    if (!(item.value = parseSum())) {
      return false;
    }
    item.name = *name;
  }
  item.range = rangeFrom(start);
  given.push_back(item);
  return true;
}

const Item *Parser::parseInstantiate() {
  SMLoc start = take().start();
  std::optional<ast::Ident> kernel = expectName("the name of a kernel");
  if (!kernel) {
    return nullptr;
  }
  llvm::SmallVector<ast::Given, 8> given;
  SMLoc open = token.start();
  if (accept(TokenKind::Less) && !parseList(TokenKind::Greater, open, /*mayBeEmpty=*/false,
                                            [&] { return parseGiven(given); })) {
    return nullptr;
  }
  if (!expect(TokenKind::KwAs)) {
    return nullptr;
  }
  std::optional<ast::Ident> symbol = expectName("the symbol's name");
  llvm::SmallVector<const Expr *, 4> where;
  if (!symbol || !parseWhere(where) || !expectSemicolon()) {
    return nullptr;
  }
  return context.make<ast::InstantiateItem>(rangeFrom(start), *kernel,
                                            context.copy(llvm::ArrayRef(given)), *symbol,
                                            context.copy(llvm::ArrayRef(where)));
}

bool Parser::parseTuneEntry(llvm::SmallVectorImpl<ast::TuneParam> &params, const Expr *&keep) {
  ast::TuneParam param;
  SMLoc start = token.start();
  const bool mayKeep = atWord("keep");
  std::optional<ast::Ident> name = expectName("the name of a compile-time parameter");
  if (name && mayKeep && !at(TokenKind::KwIn)) {
    keep = parseExpr();
    return keep && expectSemicolon();
  }
  if (!name || !expect(TokenKind::KwIn)) {
    return false;
  }
  param.name = *name;
  if (at(TokenKind::LeftBracket)) {
    param.list = parseListExpr();
    if (!param.list) {
      return false;
    }
  } else {
    std::optional<ast::Range> bounds = parseRange();
    if (!bounds) {
      return false;
    }
    param.bounds = *bounds;
  }
  if (!expectSemicolon()) {
    return false;
  }
  param.range = rangeFrom(start);
  params.push_back(param);
  return true;
}

const Item *Parser::parseTune() {
  SMLoc start = take().start();
  std::optional<ast::Ident> kernel = expectName("the name of a kernel");
  SMLoc open = token.start();
  if (!kernel || !expect(TokenKind::LeftBrace)) {
    return nullptr;
  }
  llvm::SmallVector<ast::TuneParam, 8> params;
  llvm::SmallVector<const Expr *, 4> where;
  const Expr *keep = nullptr;
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End) && !beginsItemOnly(token.kind)) {
    const char *start = token.text.begin();
    bool isGood = at(TokenKind::KwWhere) ? parseWhere(where) && expectSemicolon()
                                         : parseTuneEntry(params, keep);
    if (!isGood) {
      recoverStatement(start);
    }
  }
  return expectClosing(TokenKind::RightBrace, open)
             ? context.make<ast::TuneItem>(rangeFrom(start), *kernel,
                                           context.copy(llvm::ArrayRef(params)),
                                           context.copy(llvm::ArrayRef(where)), keep)
             : nullptr;
}

} // namespace tilec
