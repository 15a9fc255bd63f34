#include "Lexer.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>

namespace tile_emu::ptx {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// A character within an identifier.
bool isFollowing(char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '$'; }

int digitValue(char c) {
  if (isDigit(c)) {
    return c - '0';
  }
  c = char(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skipBlanks();
      tokens.push_back(next());
    } while (tokens.back().kind != Token::Kind::End);
    return tokens;
  }

private:
  [[noreturn]] void fail(const std::string &what) const { throw SyntaxError(line, what); }

  char at(size_t offset = 0) const {
    return position + offset < text.size() ? text[position + offset] : '\0';
  }

  void skipBlanks() {
    while (position < text.size()) {
      char c = at();
      if (c == '\n') {
        ++line;
        ++position;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++position;
      } else if (c == '/' && at(1) == '/') {
        position = std::min(text.find('\n', position), text.size());
      } else if (c == '/' && at(1) == '*') {
        size_t end = text.find("*/", position + 2);
        if (end == std::string_view::npos) {
          fail("comment without end");
        }
        line += uint32_t(std::count(text.begin() + position, text.begin() + end, '\n'));
        position = end + 2;
      } else {
        return;
      }
    }
  }

  Token token(Token::Kind kind, size_t length) {
    Token result;
    result.kind = kind;
    result.line = line;
    result.text = text.substr(position, length);
    position += length;
    return result;
  }

  size_t lengthOfName(size_t from) const {
    size_t length = 0;
    while (isFollowing(at(from + length))) {
      ++length;
    }
    return length;
  }

  Token next() {
    if (position == text.size()) {
      return token(Token::Kind::End, 0);
    }
    char c = at();
    if (isDigit(c)) {
      return number();
    }
    if (isLetter(c) || c == '_' || c == '$') {
      return token(Token::Kind::Name, lengthOfName(0));
    }
    if (c == '%' && (isLetter(at(1)) || at(1) == '_' || at(1) == '$')) {
      return token(Token::Kind::Name, 1 + lengthOfName(1));
    }
    if (c == '.' && isFollowing(at(1))) {
      return dotName();
    }
    if (c == '"') {
      return string();
    }
    return punctuation();
  }

  Token dotName() {
    ++position;
    size_t length = lengthOfName(0);
    while (at(length) == ':' && at(length + 1) == ':' && isFollowing(at(length + 2))) {
      length += 2 + lengthOfName(length + 2);
    }
    return token(Token::Kind::DotName, length);
  }

  Token string() {
    size_t end = position + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n') {
      end += text[end] == '\\' && end + 1 < text.size() && text[end + 1] != '\n' ? 2 : 1;
    }
    if (end >= text.size() || text[end] != '"') {
      fail("string without end");
    }
    ++position;
    Token result = token(Token::Kind::String, end - position);
    ++position;
    return result;
  }

  Token punctuation() {
    static constexpr std::string_view kLong[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    for (std::string_view mark : kLong) {
      if (text.substr(position, 2) == mark) {
        return token(Token::Kind::Punctuation, 2);
      }
    }
    if (std::string_view("{}[]()<>,;:@!|+-*/%~&^?=.").find(at()) == std::string_view::npos) {
      char c = at();
      fail(c >= ' ' && c <= '~' ? std::string("unexpected character '") + c + "'"
                                : "unexpected byte " + std::to_string(uint8_t(c)));
    }
    return token(Token::Kind::Punctuation, 1);
  }

  /// Digits of `base` from position + offset; sets `bits`.
  size_t digits(size_t offset, unsigned base, uint64_t &bits) const {
    size_t length = 0;
    bits = 0;
    for (; unsigned(digitValue(at(offset + length))) < base; ++length) {
      if (bits > (UINT64_MAX - digitValue(at(offset + length))) / base) {
        fail("number of more than 64 bits");
      }
      bits = bits * base + digitValue(at(offset + length));
    }
    return length;
  }

  Token number() {
    char kind = char(at() == '0' ? at(1) | 0x20 : 0);
    if (kind == 'f' || kind == 'd') {
      return hexFloat(kind == 'f' ? Type::F32 : Type::F64);
    }
    uint64_t bits = 0;
    size_t start = kind == 'x' || kind == 'b' ? 2 : 0;
    size_t length = start;
    if (start) {
      length += digits(start, kind == 'x' ? 16 : 2, bits);
      if (length == start) {
        fail("number without digits");
      }
    } else {
      while (isDigit(at(length))) {
        ++length;
      }
      char after = char(at(length) | 0x20);
      bool isExponent = after == 'e' &&
                        (isDigit(at(length + 1)) || at(length + 1) == '+' || at(length + 1) == '-');
      if ((at(length) == '.' && isDigit(at(length + 1))) || isExponent) {
        return decimalFloat();
      }
      length = digits(0, at() == '0' ? 8 : 10, bits);
    }
    bool isUnsigned = at(length) == 'U' || bits > uint64_t(INT64_MAX);
    length += at(length) == 'U';
    if (isFollowing(at(length))) {
      fail("malformed number");
    }
    Token result = token(Token::Kind::Integer, length);
    result.bits = bits;
    result.isUnsigned = isUnsigned;
    return result;
  }

  Token hexFloat(Type type) {
    uint64_t bits = 0;
    size_t expected = bitsOf(type) / 4, length = 0;
    while (digitValue(at(2 + length)) < 16) {
      ++length;
    }
    if (length != expected || isFollowing(at(2 + length))) {
      fail("a floating-point number of this kind has " + std::to_string(expected) + " digits");
    }
    digits(2, 16, bits);
    Token result = token(Token::Kind::Float, 2 + length);
    result.type = type;
    result.bits = bits;
    return result;
  }

  Token decimalFloat() {
    double value = 0;
    auto [end, error] = std::from_chars(text.data() + position, text.data() + text.size(), value);
    if (error != std::errc()) {
      fail("malformed number");
    }
    size_t length = size_t(end - (text.data() + position));
    if (isFollowing(at(length))) {
      fail("malformed number");
    }
    Token result = token(Token::Kind::Float, length);
    result.type = Type::F64;
    result.bits = std::bit_cast<uint64_t>(value);
    return result;
  }

  std::string_view text;
  size_t position = 0;
  uint32_t line = 1;
};

} // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

} // namespace tile_emu::ptx
