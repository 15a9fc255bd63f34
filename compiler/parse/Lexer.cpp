#include "compiler/parse/Lexer.h"

#include "compiler/diag/DiagnosticEngine.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace tilec {

using diag::Id;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

StringRef spelling(TokenKind kind) {
  switch (kind) {
#define PUNCTUATION(NAME, SPELLING)                                                                \
  case TokenKind::NAME:                                                                            \
    return SPELLING;
#include "compiler/parse/Tokens.def"
#define KEYWORD(NAME, SPELLING)                                                                    \
  case TokenKind::Kw##NAME:                                                                        \
    return SPELLING;
#include "compiler/parse/Tokens.def"
  default:
    return "";
  }
}

static bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isNameChar(char c) { return llvm::isAlnum(c) || c == '_'; }

Lexer::Lexer(StringRef text, ast::Context &context, DiagnosticEngine &diagnostics)
    : begin(text.begin()), position(text.begin()), end(text.end()), context(context),
      diagnostics(diagnostics) {
  if (text.starts_with("\xef\xbb\xbf")) { // a byte order mark
    begin = position += 3;
  }
}

template <typename... Args>
DiagnosticEngine::Builder Lexer::report(Id id, const char *from, const char *to, Args &&...args) {
  return diagnostics.report(id, SMRange(SMLoc::getFromPointer(from), SMLoc::getFromPointer(to)),
                            std::forward<Args>(args)...);
}

Token Lexer::make(TokenKind kind, const char *start) const {
  Token token;
  token.kind = kind;
  token.text = StringRef(start, position - start);
  return token;
}

Token Lexer::next() {
  bool hadError = std::exchange(sawError, false);
  Token token = lexToken();
  // What is wrong with a number is contained in it; not so for a string or a comment.
  token.isAfterError = hadError || (sawError && !token.is(TokenKind::String));
  return token;
}

Token Lexer::lexToken() {
  while (true) {
    skipSpace();
    if (position == end) {
      return make(TokenKind::End, position);
    }
    char c = *position;
    if (isNameStart(c)) {
      return lexWord();
    }
    if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(at(1)))) {
      return lexNumber();
    }
    if (c == '"') {
      return lexString();
    }
    Token token = lexPunctuation();
    if (!token.is(TokenKind::End)) {
      return token;
    }
    if (!skipBadText()) {
      position = end;
    }
  }
}

//===------------------------------------------------------------------------------------------===//
// Space, comments, characters that mean nothing
//===------------------------------------------------------------------------------------------===//

void Lexer::skipSpace() {
  while (position != end) {
    char c = *position;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position;
    } else if (c == '/' && at(1) == '/') {
      skipLineComment();
    } else if (c == '/' && at(1) == '*') {
      skipBlockComment();
    } else {
      return;
    }
  }
}

void Lexer::skipLineComment() {
  const char *start = position;
  size_t length = StringRef(start, end - start).find_first_of("\r\n");
  position = length == StringRef::npos ? end : start + length;
  checkUtf8(start, position);
  bool isFirstColumn = start == begin || start[-1] == '\n' || start[-1] == '\r';
  if (isFirstColumn && StringRef(start, position - start).starts_with("//!")) {
    headerLines.push_back({SMRange(SMLoc::getFromPointer(start), SMLoc::getFromPointer(position)),
                           StringRef(start + 3, position - start - 3)});
  }
}

void Lexer::skipBlockComment() {
  const char *start = position;
  size_t length = StringRef(start + 2, end - start - 2).find("*/");
  if (length == StringRef::npos) {
    report(Id::UnterminatedComment, start, start + 2);
    sawError = true;
    position = end;
    return;
  }
  position = start + 2 + length + 2;
  checkUtf8(start, position);
}

/// The bytes of the first character of `text`, 0 if it is not UTF-8.
static size_t characterLength(const char *from, const char *to) {
  const auto *data = reinterpret_cast<const llvm::UTF8 *>(from);
  size_t length = llvm::getNumBytesForUTF8(*data);
  bool isLegal = length <= size_t(to - from) && llvm::isLegalUTF8Sequence(data, data + length);
  return isLegal ? length : 0;
}

static std::string hexByte(char c) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("0x%02X", static_cast<unsigned char>(c));
  return text;
}

/// Reports the first byte that is not UTF-8.
void Lexer::checkUtf8(const char *from, const char *to) {
  while (from != to) {
    size_t length = static_cast<unsigned char>(*from) < 0x80 ? 1 : characterLength(from, to);
    if (length == 0) {
      report(Id::BadUtf8, from, from + 1, hexByte(*from));
      return;
    }
    from += length;
  }
}

static std::string describeCharacter(StringRef character) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (character.size() == 1 && llvm::isPrint(character[0])) {
    os << '`' << character << '`';
    return text;
  }
  const auto *data = reinterpret_cast<const llvm::UTF8 *>(character.begin());
  llvm::UTF32 code = 0;
  llvm::UTF32 *target = &code;
  llvm::ConvertUTF8toUTF32(&data, data + character.size(), &target, target + 1,
                           llvm::strictConversion);
  if (code >= 0xa0) {
    os << '`' << character << "` (" << llvm::format("U+%04X", code) << ')';
  } else {
    os << llvm::format("U+%04X", code);
  }
  return text;
}

/// Reports and skips a run of characters that begin no token. False if there are too many errors.
bool Lexer::skipBadText() {
  sawError = true;
  const char *start = position;
  size_t length = characterLength(start, end);
  if (length == 0) {
    report(Id::BadUtf8, start, start + 1, hexByte(*start));
    length = 1;
  } else {
    auto error = report(Id::BadCharacter, start, start + length,
                        describeCharacter(StringRef(start, length)));
    if (*start == '.') {
      error.hint(
          "nothing has members: what a block is called stands in `launch`, threads are named by "
          "a `threads` region");
    }
  }
  position += length;
  auto isBad = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || !(llvm::isPrint(c) || llvm::isSpace(c));
  };
  while (position != end && isBad(*position)) {
    ++position;
  }
  return !diagnostics.limitExceeded();
}

//===------------------------------------------------------------------------------------------===//
// Tokens
//===------------------------------------------------------------------------------------------===//

static TokenKind wordKind(StringRef word) {
  return llvm::StringSwitch<TokenKind>(word)
#define KEYWORD(NAME, SPELLING) .Case(SPELLING, TokenKind::Kw##NAME)
#include "compiler/parse/Tokens.def"
#define RESERVED(SPELLING) .Case(SPELLING, TokenKind::Reserved)
#include "compiler/parse/Tokens.def"
      .Case("_", TokenKind::Underscore)
      .Default(TokenKind::Name);
}

Token Lexer::lexWord() {
  const char *start = position;
  while (isNameChar(at(0))) {
    ++position;
  }
  Token token = make(TokenKind::Name, start);
  token.kind = wordKind(token.text);
  return token;
}

/// Numbers: digits with `_` between them, `0x`, `0b`, a fraction, an exponent. Takes with it all
/// that could belong to a number, so that a malformed one is one error.
Token Lexer::lexNumber() {
  const char *start = position;
  auto skipDigits = [&](auto isDigit) {
    const char *from = position;
    while (isDigit(at(0)) || at(0) == '_') {
      ++position;
    }
    return StringRef(from, position - from);
  };
  auto isDecimal = [](char c) { return llvm::isDigit(c); };
  bool isFloat = false;
  StringRef problem;
  unsigned radix = 10;
  StringRef digits;
  if (at(0) == '0' && (at(1) == 'x' || at(1) == 'X' || at(1) == 'b' || at(1) == 'B')) {
    radix = llvm::toLower(at(1)) == 'x' ? 16 : 2;
    position += 2;
    digits = skipDigits([&](char c) { return radix == 16 ? llvm::isHexDigit(c) : isDecimal(c); });
    if (digits.find_first_not_of('_') == StringRef::npos) {
      problem = "digits are missing";
    } else if (radix == 2 && digits.find_first_of("23456789") != StringRef::npos) {
      problem = "the digits of `0b` are 0 and 1";
    }
  } else {
    digits = skipDigits(isDecimal);
    if (at(0) == '.' && at(1) != '.') {
      isFloat = true;
      ++position;
      if (digits.empty() || !llvm::isDigit(at(0))) {
        problem = "a float has digits on both sides of the dot";
      }
      skipDigits(isDecimal);
    }
    if (at(0) == 'e' || at(0) == 'E') {
      isFloat = true;
      ++position;
      if (at(0) == '+' || at(0) == '-') {
        ++position;
      }
      if (!llvm::isDigit(at(0))) {
        problem = "digits are missing after the exponent sign";
      }
      skipDigits(isDecimal);
    }
  }
  if (isNameChar(at(0)) || (at(0) == '.' && at(1) != '.')) {
    problem = problem.empty() ? "numbers have no suffixes" : problem;
    while (isNameChar(at(0)) || (at(0) == '.' && at(1) != '.')) {
      ++position;
    }
  }
  Token token = make(isFloat ? TokenKind::Float : TokenKind::Int, start);
  if (!problem.empty()) {
    report(Id::SyntaxNumber, start, position, token.text.take_front(60), problem);
  } else if (isFloat) {
    setFloat(token);
  } else {
    setInt(token, radix, digits);
  }
  return token;
}

void Lexer::setInt(Token &token, unsigned radix, StringRef digits) {
  for (char c : digits) {
    if (c == '_') {
      continue;
    }
    uint64_t digit = llvm::hexDigitValue(c);
    if (token.intValue > (UINT64_MAX - digit) / radix) {
      report(Id::LiteralRange, token.text.begin(), token.text.end(), token.text.take_front(60));
      token.intValue = 0;
      return;
    }
    token.intValue = token.intValue * radix + digit;
  }
}

void Lexer::setFloat(Token &token) {
  llvm::SmallString<32> digits;
  for (char c : token.text) {
    if (c != '_') {
      digits += c;
    }
  }
  // Correctly rounded, and linear in the length, which APFloat is not.
  token.floatValue = std::strtod(digits.c_str(), nullptr);
  if (std::isinf(token.floatValue)) {
    report(Id::FloatRange, token.text.begin(), token.text.end(), token.text.take_front(60));
    token.floatValue = 0;
  }
}

Token Lexer::lexString() {
  const char *start = position++;
  llvm::SmallString<64> value;
  while (true) {
    char c = at(0);
    if (position == end || c == '\n' || c == '\r') {
      report(Id::UnterminatedString, start, position);
      sawError = true;
      break;
    }
    ++position;
    if (c == '"') {
      break;
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    char escaped = at(0);
    if (position == end || escaped == '\n' || escaped == '\r') {
      continue; // unterminated
    }
    constexpr StringRef from = "nt\"\\", to = "\n\t\"\\";
    size_t which = from.find(escaped);
    if (which == StringRef::npos) {
      size_t length = std::max<size_t>(characterLength(position, end), 1);
      report(Id::SyntaxEscape, position - 1, position + length, StringRef(position, length));
      position += length;
      continue;
    }
    value += to[which];
    ++position;
  }
  checkUtf8(start, position);
  Token token = make(TokenKind::String, start);
  token.string = context.copy(value.str());
  return token;
}

Token Lexer::lexPunctuation() {
  StringRef rest(position, end - position);
#define PUNCTUATION(NAME, SPELLING)                                                                \
  if (rest.starts_with(SPELLING)) {                                                                \
    position += StringRef(SPELLING).size();                                                        \
    return make(TokenKind::NAME, rest.begin());                                                    \
  }
#include "compiler/parse/Tokens.def"
  return make(TokenKind::End, position);
}

} // namespace tilec
