#include "ConstantExpression.h"

namespace tile_emu::ptx {

namespace {

constexpr unsigned kMaxNesting = 64;

struct BinaryOperator {
  std::string_view text;
  unsigned precedence; ///< higher binds more tightly
};
constexpr BinaryOperator kBinaryOperators[] = {
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};
constexpr unsigned kMultiplicative = 10;

class ExpressionParser {
public:
  explicit ExpressionParser(Cursor &cursor) : cursor(cursor) {}

  Constant conditional() {
    Constant condition = binary(1);
    if (!cursor.acceptMark("?")) {
      return condition;
    }
    requireInteger(condition);
    Deeper deeper(*this);
    Constant ifTrue = conditional();
    cursor.expectMark(":", "of a conditional");
    Constant ifFalse = conditional();
    return condition.bits ? ifTrue : ifFalse;
  }

  Constant binary(unsigned precedence) {
    Deeper deeper(*this);
    Constant left = unary();
    while (const BinaryOperator *op = operatorHere(precedence)) {
      requireInteger(left);
      cursor.take();
      Constant right = binary(op->precedence + 1);
      requireInteger(right);
      left = apply(op->text, left, right);
    }
    return left;
  }

private:
  struct Deeper {
    explicit Deeper(ExpressionParser &parser) : parser(parser) {
      if (++parser.depth > kMaxNesting) {
        parser.cursor.fail("expression nested too deeply");
      }
    }
    ~Deeper() { --parser.depth; }
    ExpressionParser &parser;
  };

  void requireInteger(const Constant &value) const {
    if (value.isFloat()) {
      cursor.fail("an expression over floating-point numbers is not supported");
    }
  }

  const BinaryOperator *operatorHere(unsigned precedence) const {
    for (const BinaryOperator &op : kBinaryOperators) {
      if (op.precedence >= precedence && cursor.isMark(op.text)) {
        return &op;
      }
    }
    return nullptr;
  }

  Constant unary() {
    Deeper deeper(*this);
    if (cursor.acceptMark("+")) {
      return unary();
    }
    if (cursor.acceptMark("-")) {
      Constant value = unary();
      if (value.isFloat()) {
        value.bits ^= uint64_t(1) << (bitsOf(value.type) - 1);
      } else {
        value.bits = -value.bits;
      }
      return value;
    }
    bool isNot = cursor.isMark("!");
    if (isNot || cursor.isMark("~")) {
      cursor.take();
      Constant value = unary();
      requireInteger(value);
      value.bits = isNot ? !value.bits : ~value.bits;
      return value;
    }
    return primary();
  }

  Constant primary() {
    if (cursor.is(Token::Kind::Integer)) {
      const Token &token = cursor.take();
      return {token.isUnsigned ? Type::U64 : Type::S64, token.bits};
    }
    if (cursor.is(Token::Kind::Float)) {
      const Token &token = cursor.take();
      return {token.type, token.bits};
    }
    if (cursor.is(Token::Kind::Name) && cursor.peek().text == "WARP_SZ") {
      cursor.take();
      return {Type::S64, 32};
    }
    cursor.expectMark("(", "or a constant");
    if (cursor.is(Token::Kind::DotName)) { // a cast: (.s64) or (.u64)
      std::string_view type = cursor.take().text;
      if (type != "s64" && type != "u64") {
        cursor.fail("a constant is cast to .s64 or .u64 only");
      }
      cursor.expectMark(")", "after the type of a cast");
      Constant value = unary();
      requireInteger(value);
      value.type = type == "s64" ? Type::S64 : Type::U64;
      return value;
    }
    Constant value = conditional();
    cursor.expectMark(")", "after an expression");
    return value;
  }

  /// Signed unless a side is unsigned, as in C; shifts have the type of the left side, comparisons
  /// and logic are signed.
  Constant apply(std::string_view op, const Constant &left, const Constant &right) const {
    bool isUnsigned = left.type == Type::U64 || right.type == Type::U64;
    uint64_t a = left.bits, b = right.bits;
    auto arithmetic = [&](uint64_t bits) {
      return Constant{isUnsigned ? Type::U64 : Type::S64, bits};
    };
    auto truth = [](bool value) { return Constant{Type::S64, value}; };
    bool less = isUnsigned ? a < b : int64_t(a) < int64_t(b);
    if (op == "||" || op == "&&") {
      return truth(op == "||" ? a || b : a && b);
    }
    if (op == "==" || op == "!=") {
      return truth((a == b) == (op == "=="));
    }
    if (op == "<" || op == ">=") {
      return truth(less == (op == "<"));
    }
    if (op == ">" || op == "<=") {
      return truth((!less && a != b) == (op == ">"));
    }
    if (op == "<<" || op == ">>") {
      return shift(op == "<<", left, b);
    }
    switch (op.front()) {
    case '|':
      return arithmetic(a | b);
    case '^':
      return arithmetic(a ^ b);
    case '&':
      return arithmetic(a & b);
    case '+':
      return arithmetic(a + b);
    case '-':
      return arithmetic(a - b);
    case '*':
      return arithmetic(a * b);
    default:
      return arithmetic(divide(op == "/", isUnsigned, a, b));
    }
  }

  static Constant shift(bool isLeft, const Constant &value, uint64_t by) {
    bool negative = value.type == Type::S64 && int64_t(value.bits) < 0;
    if (by > 63) {
      return {value.type, !isLeft && negative ? ~uint64_t(0) : 0};
    }
    if (isLeft) {
      return {value.type, value.bits << by};
    }
    return {value.type, negative ? uint64_t(int64_t(value.bits) >> by) : value.bits >> by};
  }

  uint64_t divide(bool wantsQuotient, bool isUnsigned, uint64_t a, uint64_t b) const {
    if (b == 0) {
      cursor.fail("division by zero in a constant expression");
    }
    if (isUnsigned) {
      return wantsQuotient ? a / b : a % b;
    }
    if (b == ~uint64_t(0)) { // the quotient of INT64_MIN and -1 does not fit
      return wantsQuotient ? -a : 0;
    }
    return uint64_t(wantsQuotient ? int64_t(a) / int64_t(b) : int64_t(a) % int64_t(b));
  }

  Cursor &cursor;
  unsigned depth = 0;
};

} // namespace

bool startsConstant(const Cursor &cursor) {
  const Token &token = cursor.peek();
  switch (token.kind) {
  case Token::Kind::Integer:
  case Token::Kind::Float:
    return true;
  case Token::Kind::Name:
    return token.text == "WARP_SZ";
  case Token::Kind::Punctuation:
    return std::string_view("+-~!(").find(token.text) != std::string_view::npos;
  default:
    return false;
  }
}

Constant parseConstant(Cursor &cursor) { return ExpressionParser(cursor).conditional(); }

int64_t parseInteger(Cursor &cursor) {
  Constant value = parseConstant(cursor);
  if (value.isFloat()) {
    cursor.fail("an integer is needed here");
  }
  return int64_t(value.bits);
}

int64_t parseOffset(Cursor &cursor) {
  uint64_t sum = 0;
  while (cursor.isMark("+") || cursor.isMark("-")) {
    bool isPlus = cursor.take().text == "+";
    Constant term = ExpressionParser(cursor).binary(kMultiplicative);
    if (term.isFloat()) {
      cursor.fail("an offset is an integer");
    }
    sum += isPlus ? term.bits : -term.bits;
  }
  return int64_t(sum);
}

} // namespace tile_emu::ptx
