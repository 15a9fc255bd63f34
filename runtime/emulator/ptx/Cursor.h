// A place in a list of tokens, and the errors there.
#pragma once

#include "Lexer.h"

namespace tile_emu::ptx {

class Cursor {
public:
  /// The tokens end with Token::Kind::End, which is never passed.
  explicit Cursor(std::vector<Token> tokens) : tokens(std::move(tokens)) {}

  const Token &peek(size_t ahead = 0) const;
  const Token &take();
  uint32_t line() const { return peek().line; }

  bool is(Token::Kind kind) const { return peek().kind == kind; }
  /// Is the next token this mark, this name, this name with a dot?
  bool isMark(std::string_view text, size_t ahead = 0) const;
  bool isDot(std::string_view text) const;
  bool acceptMark(std::string_view text);
  bool acceptDot(std::string_view text);
  void expectMark(std::string_view text, const char *where);
  std::string_view expectName(const char *what);
  std::string_view expectDot(const char *what);
  std::string_view expectString(const char *what);
  /// An unsigned number that fits 32 bits.
  uint32_t expectNumber(const char *what);

  /// Skips `open ... close` with what is nested in it; the next token is `open`.
  void skipNested(std::string_view open, std::string_view close);
  /// Skips to the next `;` and over it.
  void skipStatement();

  /// Error in what was taken last.
  [[noreturn]] void fail(const std::string &what) const;
  /// Error: something else was expected as next token.
  [[noreturn]] void failExpected(const std::string &what) const;

private:
  std::vector<Token> tokens;
  size_t position = 0;
};

} // namespace tile_emu::ptx
