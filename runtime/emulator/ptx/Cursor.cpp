#include "Cursor.h"

#include <algorithm>

namespace tile_emu::ptx {

const Token &Cursor::peek(size_t ahead) const {
  return tokens[std::min(position + ahead, tokens.size() - 1)];
}

const Token &Cursor::take() {
  const Token &token = peek();
  position = std::min(position + 1, tokens.size() - 1);
  return token;
}

bool Cursor::isMark(std::string_view text, size_t ahead) const {
  return peek(ahead).kind == Token::Kind::Punctuation && peek(ahead).text == text;
}

bool Cursor::isDot(std::string_view text) const {
  return is(Token::Kind::DotName) && peek().text == text;
}

bool Cursor::acceptMark(std::string_view text) {
  bool found = isMark(text);
  position += found;
  return found;
}

bool Cursor::acceptDot(std::string_view text) {
  bool found = isDot(text);
  position += found;
  return found;
}

void Cursor::expectMark(std::string_view text, const char *where) {
  if (!acceptMark(text)) {
    failExpected("'" + std::string(text) + "' " + where);
  }
}

std::string_view Cursor::expectName(const char *what) {
  if (!is(Token::Kind::Name)) {
    failExpected(what);
  }
  return take().text;
}

std::string_view Cursor::expectDot(const char *what) {
  if (!is(Token::Kind::DotName)) {
    failExpected(what);
  }
  return take().text;
}

std::string_view Cursor::expectString(const char *what) {
  if (!is(Token::Kind::String)) {
    failExpected(what);
  }
  return take().text;
}

uint32_t Cursor::expectNumber(const char *what) {
  if (!is(Token::Kind::Integer) || peek().bits > UINT32_MAX) {
    failExpected(what);
  }
  return uint32_t(take().bits);
}

void Cursor::skipNested(std::string_view open, std::string_view close) {
  size_t depth = 0;
  do {
    if (is(Token::Kind::End)) {
      fail("'" + std::string(open) + "' without '" + std::string(close) + "'");
    }
    depth += isMark(open);
    depth -= isMark(close);
    take();
  } while (depth);
}

void Cursor::skipStatement() {
  while (!isMark(";")) {
    if (is(Token::Kind::End)) {
      failExpected("';'");
    }
    take();
  }
  take();
}

void Cursor::fail(const std::string &what) const {
  throw SyntaxError(tokens[position == 0 ? 0 : position - 1].line, what);
}

void Cursor::failExpected(const std::string &what) const {
  std::string found = is(Token::Kind::End)       ? "the end of the text"
                      : is(Token::Kind::DotName) ? "'." + std::string(peek().text) + "'"
                                                 : "'" + std::string(peek().text) + "'";
  throw SyntaxError(line(), "expected " + what + ", found " + found);
}

} // namespace tile_emu::ptx
