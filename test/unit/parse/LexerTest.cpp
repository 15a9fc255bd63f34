#include "compiler/parse/Lexer.h"

#include "test/unit/parse/Parsed.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

/// The texts of all tokens, separated by spaces.
std::string tokens(llvm::StringRef text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources.getMgr());
  ast::Context context;
  Lexer lexer(sources.text(sources.addText("t.tile", text)), context, diagnostics);
  std::string result;
  for (Token token = lexer.next(); !token.is(TokenKind::End); token = lexer.next()) {
    result += result.empty() ? "" : " ";
    result += token.text;
  }
  EXPECT_FALSE(diagnostics.hasErrors()) << text.str();
  return result;
}

struct Lexed {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources.getMgr()};
  ast::Context context;
  Token token;
  explicit Lexed(llvm::StringRef text) {
    token = Lexer(sources.text(sources.addText("t.tile", text)), context, diagnostics).next();
  }
  std::string error() const {
    return diagnostics.diagnostics().empty()
               ? ""
               : diag::info(diagnostics.diagnostics()[0]->id).name.str();
  }
};

TEST(Lexer, LongestTokenWins) {
  EXPECT_EQ(tokens("a<<=b>>=c"), "a <<= b >>= c");
  EXPECT_EQ(tokens("a:+b..c->d"), "a :+ b .. c -> d");
  EXPECT_EQ(tokens("<<<"), "<< <");
  EXPECT_EQ(tokens("&&&"), "&& &");
  EXPECT_EQ(tokens("===!=="), "== = != =");
  EXPECT_EQ(tokens("a--b"), "a - - b");
  EXPECT_EQ(tokens("x: +1"), "x : + 1");
  EXPECT_EQ(tokens("|=||^=%=&="), "|= || ^= %= &=");
}

TEST(Lexer, RangesAreNotFloats) {
  EXPECT_EQ(tokens("0..n"), "0 .. n");
  EXPECT_EQ(tokens("1..2"), "1 .. 2");
  EXPECT_EQ(tokens("1.5..2.5"), "1.5 .. 2.5");
  EXPECT_EQ(tokens("1e5..2"), "1e5 .. 2");
}

TEST(Lexer, CommentsSeparate) {
  EXPECT_EQ(tokens("a// b\nc/* d\n * e */f/**/g"), "a c f g");
  EXPECT_EQ(tokens("/* /* */ a"), "a"); // not nested
  EXPECT_EQ(tokens("// \xc3\xa9\na"), "a");
  EXPECT_EQ(tokens("\xef\xbb\xbf"
                   "a\r\nb\tc"),
            "a b c"); // byte order mark, CRLF, tab
}

TEST(Lexer, IntegerValues) {
  EXPECT_EQ(Lexed("128").token.intValue, 128u);
  EXPECT_EQ(Lexed("0x80").token.intValue, 128u);
  EXPECT_EQ(Lexed("0XfF").token.intValue, 255u);
  EXPECT_EQ(Lexed("0b101").token.intValue, 5u);
  EXPECT_EQ(Lexed("1_000").token.intValue, 1000u);
  EXPECT_EQ(Lexed("18446744073709551615").token.intValue, UINT64_MAX);
  EXPECT_EQ(Lexed("0xFFFF_FFFF_FFFF_FFFF").token.intValue, UINT64_MAX);
  EXPECT_EQ(Lexed("007").token.intValue, 7u);
}

TEST(Lexer, FloatValues) {
  EXPECT_EQ(Lexed("1.0").token.floatValue, 1.0);
  EXPECT_EQ(Lexed("1e-5").token.floatValue, 1e-5);
  EXPECT_EQ(Lexed("2.5E+3").token.floatValue, 2500.0);
  EXPECT_EQ(Lexed("0.1").token.floatValue, 0.1); // correctly rounded
  EXPECT_EQ(Lexed("1_0.2_5").token.floatValue, 10.25);
  EXPECT_EQ(Lexed("1e-999").token.floatValue, 0.0);
}

TEST(Lexer, LiteralRange) {
  for (const char *text : {"18446744073709551616", "99999999999999999999",
                           "0x1_0000_0000_0000_0000", "1e999", "1e309"}) {
    EXPECT_EQ(Lexed(text).error(), "literal-range") << text;
  }
  EXPECT_EQ(Lexed("0b" + std::string(65, '1')).error(), "literal-range");
  EXPECT_EQ(Lexed("0b" + std::string(64, '1')).error(), "");
}

TEST(Lexer, MalformedNumbersAreOneError) {
  for (const char *text : {"1.", "1.f", ".5", "10u", "1.0f", "1e", "1e+", "0x", "0b2", "0xg",
                           "1.2.3", "0b", "12abc", "1._5"}) {
    Lexed lexed(text);
    EXPECT_EQ(lexed.error(), "syntax") << text;
    EXPECT_EQ(lexed.diagnostics.numErrors(), 1u) << text;
    EXPECT_EQ(lexed.token.text, text);
  }
}

TEST(Lexer, Strings) {
  EXPECT_EQ(Lexed(R"("a\n\t\"\\b // c")").token.string, "a\n\t\"\\b // c");
  EXPECT_EQ(Lexed("\"\"").token.string, "");
  EXPECT_EQ(Lexed("\"\xe2\x82\xac\"").token.string, "\xe2\x82\xac");
  EXPECT_EQ(Lexed(R"("\q")").error(), "syntax");
}

TEST(Lexer, Unterminated) {
  for (const char *text : {"\"abc", "\"abc\ndef\"", "\"abc\\", "\"abc\\\n", "/* abc", "/*/"}) {
    Lexed lexed(text);
    EXPECT_EQ(lexed.error(), "unterminated") << text;
    EXPECT_EQ(lexed.diagnostics.numErrors(), 1u) << text;
  }
}

TEST(Lexer, BadCharacters) {
  for (const char *text : {"\xc3\xa9", "#", "$", "'", "`", ".", "\\", "\x01", "\x7f", "\xff",
                           "\xc3", "\xed\xa0\x80", "/* \xff */", "// \xff", "\"\xff\""}) {
    Lexed lexed(text);
    EXPECT_EQ(lexed.error(), "bad-character") << text;
    EXPECT_EQ(lexed.diagnostics.numErrors(), 1u) << text;
  }
  EXPECT_EQ(Lexed(llvm::StringRef("\0", 1)).error(), "bad-character");
  EXPECT_EQ(Lexed("\xc3\xa9").diagnostics.diagnostics()[0]->message,
            "character `\xc3\xa9` (U+00E9) may stand only in comments and strings");
}

TEST(Lexer, Keywords) {
  EXPECT_EQ(Lexed("pipelined").token.kind, TokenKind::KwPipelined);
  EXPECT_EQ(Lexed("barrier").token.kind, TokenKind::Reserved);
  for (const char *word :
       {"grid", "step", "align", "may_alias", "int", "type", "auto", "Kernel", "__", "_1"}) {
    EXPECT_EQ(Lexed(word).token.kind, TokenKind::Name) << word;
  }
  EXPECT_EQ(Lexed("_").token.kind, TokenKind::Underscore);
}

TEST(Lexer, CaseLinesBeginInTheFirstColumn) {
  Parsed parsed("\xef\xbb\xbf//! tolerance: exact\n// licence\n//! test: M = 1\r\n /* x */ //! "
                "bench\nconst a = 1; //! "
                "behind\n//! late\r//! last");
  std::vector<std::string> texts;
  for (const ast::HeaderLine &line : parsed.file->header) {
    texts.push_back(line.text.str());
  }
  EXPECT_EQ(texts,
            (std::vector<std::string>{" tolerance: exact", " test: M = 1", " late", " last"}));
}

} // namespace
