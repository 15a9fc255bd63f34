// Splits text into tokens: docs/language.md, section 1.
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/parse/Ast.h"
#include "dialects/support/Diagnostics.h"

#include <vector>

namespace tilec {

enum class TokenKind : uint8_t {
  End, // of the file
  Name,
  Int,
  Float,
  String,
  Reserved, // a word kept for later
#define PUNCTUATION(NAME, SPELLING) NAME,
#include "compiler/parse/Tokens.def"
#define KEYWORD(NAME, SPELLING) Kw##NAME,
#include "compiler/parse/Tokens.def"
};

/// The text of a kind that has only one, else empty.
llvm::StringRef spelling(TokenKind kind);
inline bool isKeyword(TokenKind kind) { return kind >= TokenKind::KwImport; }

struct Token {
  TokenKind kind = TokenKind::End;
  llvm::StringRef text; // as written
  union {
    uint64_t intValue = 0; // of an Int
    double floatValue;     // of a Float
  };
  llvm::StringRef string;    // of a String: escapes resolved
  bool isAfterError = false; // malformed text lies before it: the parser may not understand it

  bool is(TokenKind other) const { return kind == other; }
  llvm::SMLoc start() const { return llvm::SMLoc::getFromPointer(text.begin()); }
  llvm::SMLoc end() const { return llvm::SMLoc::getFromPointer(text.end()); }
  llvm::SMRange range() const { return {start(), end()}; }
};

/// Malformed text is reported once and yields a token all the same, or none for characters that
/// mean nothing; so the parser has nothing to say about it.
class Lexer {
public:
  /// `text` lies in a buffer of the engine's SourceMgr; decoded strings live in `context`.
  Lexer(llvm::StringRef text, ast::Context &context, DiagnosticEngine &diagnostics);

  /// The next token; at the end of the text End, for ever.
  Token next();

  /// The `//!` lines that begin in the first column, as far as the text was read.
  llvm::ArrayRef<ast::HeaderLine> header() const { return headerLines; }
  bool atEnd() const { return position == end; }

private:
  void skipSpace();
  void skipLineComment();
  void skipBlockComment();
  bool skipBadText();
  void checkUtf8(const char *from, const char *to);
  Token lexToken();
  Token lexWord();
  Token lexNumber();
  Token lexString();
  Token lexPunctuation();
  Token make(TokenKind kind, const char *start) const;
  void setInt(Token &token, unsigned radix, llvm::StringRef digits);
  void setFloat(Token &token);
  char at(size_t offset) const { return position + offset < end ? position[offset] : '\0'; }
  template <typename... Args>
  DiagnosticEngine::Builder report(diag::Id id, const char *from, const char *to, Args &&...args);

  const char *begin; // behind a byte order mark
  const char *position;
  const char *end;
  ast::Context &context;
  DiagnosticEngine &diagnostics;
  std::vector<ast::HeaderLine> headerLines;
  bool sawError = false; // since the last token
};

} // namespace tilec
