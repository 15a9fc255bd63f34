#include "compiler/parse/ParserImpl.h"

#include "llvm/Support/SaveAndRestore.h"

namespace tilec {

using ast::BinaryOp;
using ast::Expr;
using diag::Id;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

namespace {

/// A binary operator as a token. Precedence grows with how tightly it binds; 0: none.
struct Operator {
  unsigned precedence;
  BinaryOp op;
};

constexpr unsigned comparePrecedence = 3;
constexpr unsigned sumPrecedence = 8;

} // namespace

static Operator binaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::OrOr:
    return {1, BinaryOp::LogicalOr};
  case TokenKind::AndAnd:
    return {2, BinaryOp::LogicalAnd};
  case TokenKind::EqualEqual:
    return {comparePrecedence, BinaryOp::Equal};
  case TokenKind::NotEqual:
    return {comparePrecedence, BinaryOp::NotEqual};
  case TokenKind::Less:
    return {comparePrecedence, BinaryOp::Less};
  case TokenKind::LessEqual:
    return {comparePrecedence, BinaryOp::LessEqual};
  case TokenKind::Greater:
    return {comparePrecedence, BinaryOp::Greater};
  case TokenKind::GreaterEqual:
    return {comparePrecedence, BinaryOp::GreaterEqual};
  case TokenKind::Or:
    return {4, BinaryOp::Or};
  case TokenKind::Xor:
    return {5, BinaryOp::Xor};
  case TokenKind::And:
    return {6, BinaryOp::And};
  case TokenKind::ShiftLeft:
    return {7, BinaryOp::ShiftLeft};
  case TokenKind::ShiftRight:
    return {7, BinaryOp::ShiftRight};
  case TokenKind::Plus:
    return {sumPrecedence, BinaryOp::Add};
  case TokenKind::Minus:
    return {sumPrecedence, BinaryOp::Subtract};
  case TokenKind::Star:
    return {9, BinaryOp::Multiply};
  case TokenKind::Slash:
    return {9, BinaryOp::Divide};
  case TokenKind::Percent:
    return {9, BinaryOp::Remainder};
  default:
    return {0, BinaryOp::LogicalOr};
  }
}

static unsigned maxHeight(llvm::ArrayRef<const Expr *> exprs) {
  unsigned height = 0;
  for (const Expr *expr : exprs) {
    height = std::max<unsigned>(height, expr->height);
  }
  return height;
}

const Expr *Parser::parseExpr() {
  const Expr *condition = parseBinary(1);
  return condition && at(TokenKind::Question) ? parseConditional(condition) : condition;
}

const Expr *Parser::parseConditional(const Expr *condition) {
  take();
  Level deeper(*this);
  if (!deeper) {
    return nullptr;
  }
  const Expr *whenTrue = parseExpr();
  if (!whenTrue || !expect(TokenKind::Colon)) {
    return nullptr;
  }
  const Expr *whenFalse = parseExpr();
  if (!whenFalse) {
    return nullptr;
  }
  SMRange range = rangeFrom(condition->range.Start);
  unsigned height = 1 + maxHeight({condition, whenTrue, whenFalse});
  if (!checkDepth(height, range)) {
    return nullptr;
  }
  return context.make<ast::ConditionalExpr>(range, height, condition, whenTrue, whenFalse);
}

/// The type of `cast<f32>(x)`, of which `cast < f32` is read and `>` comes; or nothing.
static const ast::NameExpr *typeBetweenAngles(const Expr *left, TokenKind next) {
  const auto *less = llvm::dyn_cast<ast::BinaryExpr>(left);
  if (next != TokenKind::Greater || !less || less->op != ast::BinaryOp::Less) {
    return nullptr;
  }
  const auto *name = llvm::dyn_cast<ast::NameExpr>(less->right);
  llvm::StringRef bits = name ? name->name : "";
  const bool isKind = bits.consume_front("bf") || bits.consume_front("f") ||
                      bits.consume_front("i") || bits.consume_front("u");
  return isKind && (bits == "8" || bits == "16" || bits == "32" || bits == "64") ? name : nullptr;
}

/// Operators that bind at least as tightly as `minPrecedence`, by precedence climbing.
const Expr *Parser::parseBinary(unsigned minPrecedence) {
  const Expr *left = parseUnary();
  bool wasComparison = false;
  while (left) {
    Operator op = binaryOperator(token.kind);
    if (op.precedence == 0 || op.precedence < minPrecedence) {
      break;
    }
    bool isComparison = op.precedence == comparePrecedence;
    if (isComparison && wasComparison && isReportable()) {
      auto report = diagnostics.report(Id::ChainedComparison, token.range());
      if (const auto *type = typeBetweenAngles(left, token.kind)) {
        report.hint("a type converts as a function does: `" + type->name + "(x)`");
      }
    }
    wasComparison = isComparison;
    SMRange opRange = take().range();
    Level deeper(*this);
    const Expr *right = deeper ? parseBinary(op.precedence + 1) : nullptr;
    if (!right) {
      return nullptr;
    }
    unsigned height = 1 + maxHeight({left, right});
    if (!checkDepth(height, opRange)) {
      return nullptr;
    }
    left = context.make<ast::BinaryExpr>(rangeFrom(left->range.Start), height, op.op, opRange, left,
                                         right);
  }
  return left;
}

const Expr *Parser::parseSum() { return parseBinary(sumPrecedence); }

static std::optional<ast::UnaryOp> unaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Minus:
    return ast::UnaryOp::Negate;
  case TokenKind::Not:
    return ast::UnaryOp::Not;
  case TokenKind::Tilde:
    return ast::UnaryOp::Complement;
  default:
    return std::nullopt;
  }
}

const Expr *Parser::parseUnary() {
  llvm::SmallVector<Token, 1> operators;
  while (unaryOperator(token.kind) || at(TokenKind::Plus)) {
    if (at(TokenKind::Plus)) {
      if (isReportable()) {
        diagnostics.report(Id::SyntaxUnaryPlus, token.range());
      }
      take();
      continue;
    }
    operators.push_back(take());
    if (!checkDepth(operators.size(), token.range())) {
      return nullptr;
    }
  }
  level += operators.size();
  const Expr *operand = parsePostfix();
  level -= operators.size();
  while (operand && !operators.empty()) {
    Token op = operators.pop_back_val();
    operand = context.make<ast::UnaryExpr>(rangeFrom(op.start()), operand->height + 1,
                                           *unaryOperator(op.kind), operand);
  }
  return operand && checkDepth(operand->height, operand->range) ? operand : nullptr;
}

const Expr *Parser::parsePostfix() {
  const Expr *base = parsePrimary();
  while (base && at(TokenKind::LeftBracket)) {
    SMLoc open = take().start();
    llvm::SmallVector<ast::Subscript, 4> subscripts;
    Level deeper(*this);
    if (!deeper || !parseList(TokenKind::RightBracket, open, /*mayBeEmpty=*/false,
                              [&] { return parseSubscript(subscripts); })) {
      return nullptr;
    }
    unsigned height = base->height + 1;
    for (const ast::Subscript &subscript : subscripts) {
      for (const Expr *part : {subscript.first, subscript.second}) {
        height = part ? std::max(height, part->height + 1u) : height;
      }
    }
    SMRange range = rangeFrom(base->range.Start);
    if (!checkDepth(height, range)) {
      return nullptr;
    }
    base =
        context.make<ast::IndexExpr>(range, height, base, context.copy(llvm::ArrayRef(subscripts)));
  }
  return base;
}

bool Parser::parseSubscript(llvm::SmallVectorImpl<ast::Subscript> &subscripts) {
  ast::Subscript subscript;
  SMLoc start = token.start();
  if (accept(TokenKind::Colon)) {
    subscript.kind = ast::Subscript::All;
  } else if (accept(TokenKind::Underscore)) {
    subscript.kind = ast::Subscript::New;
  } else {
    subscript.first = parseExpr();
    if (!subscript.first) {
      return false;
    }
    bool isRange = at(TokenKind::DotDot);
    if (isRange || at(TokenKind::ColonPlus)) {
      take();
      subscript.kind = isRange ? ast::Subscript::Range : ast::Subscript::Count;
      subscript.second = parseExpr();
      if (!subscript.second) {
        return false;
      }
    } else {
      subscript.kind = ast::Subscript::Index;
    }
  }
  subscript.range = rangeFrom(start);
  subscripts.push_back(subscript);
  return true;
}

const Expr *Parser::parsePrimary() {
  switch (token.kind) {
  case TokenKind::Int: {
    Token literal = take();
    return context.make<ast::IntExpr>(literal.range(), literal.intValue, literal.text);
  }
  case TokenKind::Float: {
    Token literal = take();
    return context.make<ast::FloatExpr>(literal.range(), literal.floatValue, literal.text);
  }
  case TokenKind::String: {
    Token literal = take();
    return context.make<ast::StringExpr>(literal.range(), literal.string);
  }
  case TokenKind::KwTrue:
  case TokenKind::KwFalse: {
    Token literal = take();
    return context.make<ast::BoolExpr>(literal.range(), literal.is(TokenKind::KwTrue));
  }
  case TokenKind::Reserved:
    if (isReportable()) {
      diagnostics.report(Id::SyntaxReserved, token.range(), token.text);
    }
    return parseNameOrCall();
  case TokenKind::Name:
    return parseNameOrCall();
  case TokenKind::LeftParen:
    return parseParens();
  case TokenKind::LeftBracket:
    return parseBrackets();
  default:
    syntaxError("an expression");
    return nullptr;
  }
}

const Expr *Parser::parseNameOrCall() {
  Token name = take();
  if (!at(TokenKind::LeftParen)) {
    return context.make<ast::NameExpr>(name.range(), name.text);
  }
  SMLoc open = take().start();
  llvm::ArrayRef<ast::Arg> args;
  if (!parseArgs(open, name.text, /*isAnnotation=*/false, args)) {
    return nullptr;
  }
  unsigned height = 0;
  for (const ast::Arg &arg : args) {
    height = std::max(height, arg.value->height + 1u);
  }
  ast::Ident callee{name.text, name.range()};
  return context.make<ast::CallExpr>(rangeFrom(name.start()), height, callee, args);
}

/// Arguments and the `)` behind them; the `(` is taken.
bool Parser::parseArgs(SMLoc open, StringRef callee, bool isAnnotation,
                       llvm::ArrayRef<ast::Arg> &args) {
  llvm::SmallVector<ast::Arg, 4> list;
  Level deeper(*this);
  if (!deeper || !parseList(TokenKind::RightParen, open, /*mayBeEmpty=*/true, [&] {
        std::optional<ast::Arg> arg = parseArg(callee, isAnnotation);
        if (arg) {
          list.push_back(*arg);
        }
        return arg.has_value();
      })) {
    return false;
  }
  args = context.copy(llvm::ArrayRef(list));
  return true;
}

std::optional<ast::Arg> Parser::parseArg(StringRef callee, bool isAnnotation) {
  ast::Arg arg{};
  if (at(TokenKind::Name) && following.is(TokenKind::Assign)) {
    Token name = take();
    take();
    arg.name = {name.text, name.range()};
  }
  if (isAnnotation && at(TokenKind::KwPipelined)) { // an option word of @require
    Token word = take();
    arg.value = context.make<ast::NameExpr>(word.range(), word.text);
    return arg;
  }
  arg.value = callee == "reshape" ? parseExprOr(TokenKind::LeftBracket) : parseExpr();
  return arg.value ? std::optional(arg) : std::nullopt;
}

/// An expression in brackets, or a tuple.
const Expr *Parser::parseParens() {
  Token open = take();
  llvm::SmallVector<const Expr *, 2> elements;
  {
    Level deeper(*this);
    if (!deeper || !parseList(TokenKind::RightParen, open.start(), /*mayBeEmpty=*/false, [&] {
          elements.push_back(parseExpr());
          return elements.back() != nullptr;
        })) {
      return nullptr;
    }
  }
  SMRange range = rangeFrom(open.start());
  if (elements.size() == 1) {
    // The node is new and nobody else knows it yet.
    const_cast<Expr *>(elements[0])->range = range;
    return elements[0];
  }
  if (open.text.begin() != aggregatePlace && isReportable()) {
    diagnostics.report(Id::TuplePlace, range);
  }
  return context.make<ast::TupleExpr>(range, 1 + maxHeight(elements),
                                      context.copy(llvm::ArrayRef(elements)));
}

const Expr *Parser::parseBrackets() {
  bool isAllowed = token.text.begin() == aggregatePlace;
  const ast::ListExpr *list = parseListExpr();
  if (list && !isAllowed && isReportable()) {
    diagnostics.report(Id::ListPlace, list->range);
  }
  return list;
}

const ast::ListExpr *Parser::parseListExpr() {
  SMLoc open = token.start();
  if (!expect(TokenKind::LeftBracket)) {
    return nullptr;
  }
  llvm::SmallVector<const Expr *, 8> elements;
  Level deeper(*this);
  if (!deeper || !parseList(TokenKind::RightBracket, open, /*mayBeEmpty=*/false, [&] {
        elements.push_back(parseExpr());
        return elements.back() != nullptr;
      })) {
    return nullptr;
  }
  return context.make<ast::ListExpr>(rangeFrom(open), 1 + maxHeight(elements),
                                     context.copy(llvm::ArrayRef(elements)));
}

const Expr *Parser::parseExprOr(TokenKind open) {
  const char *start = token.text.begin();
  llvm::SaveAndRestore restore(aggregatePlace, at(open) ? start : nullptr);
  const Expr *expr = parseExpr();
  if (!expr || !aggregatePlace || expr->range.Start.getPointer() != start) {
    return expr;
  }
  // The list or tuple may have become the beginning of something else: `[a][0]`, `(a, b) + c`.
  const Expr *first = expr;
  while (true) {
    if (const auto *binary = llvm::dyn_cast<ast::BinaryExpr>(first)) {
      first = binary->left;
    } else if (const auto *index = llvm::dyn_cast<ast::IndexExpr>(first)) {
      first = index->base;
    } else if (const auto *conditional = llvm::dyn_cast<ast::ConditionalExpr>(first)) {
      first = conditional->condition;
    } else {
      break;
    }
  }
  if (first != expr && first->range.Start.getPointer() == start && isReportable()) {
    if (llvm::isa<ast::TupleExpr>(first)) {
      diagnostics.report(Id::TuplePlace, first->range);
    } else if (llvm::isa<ast::ListExpr>(first)) {
      diagnostics.report(Id::ListPlace, first->range);
    }
  }
  return expr;
}

} // namespace tilec
