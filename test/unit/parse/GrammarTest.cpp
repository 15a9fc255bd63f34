// Each production of docs/language.md, section 2. A case is printed with brackets round every
// operator, which shows the structure, and its plain print must parse to the same again.
#include "test/unit/parse/Parsed.h"

#include <gtest/gtest.h>

using namespace tilec;

namespace {

void expectRoundTrip(const Parsed &parsed) {
  ASSERT_EQ(parsed.messages(), "");
  std::string plain = parsed.print();
  Parsed again(plain);
  EXPECT_EQ(again.messages(), "") << plain;
  EXPECT_EQ(again.print(/*allParens=*/true), parsed.print(/*allParens=*/true));
  EXPECT_EQ(again.print(), plain);
}

/// The structure of `source`, an expression.
std::string structure(llvm::StringRef source) {
  Parsed parsed(("const x = " + source + ";").str());
  expectRoundTrip(parsed);
  std::string text = parsed.print(/*allParens=*/true);
  llvm::StringRef trimmed = llvm::StringRef(text).trim();
  trimmed.consume_front("const x = ");
  trimmed.consume_back(";");
  return trimmed.str();
}

TEST(Grammar, Precedence) {
  EXPECT_EQ(structure("a + b * c"), "(a + (b * c))");
  EXPECT_EQ(structure("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(structure("a - (b - c)"), "(a - (b - c))");
  EXPECT_EQ(structure("a / b % c * d"), "(((a / b) % c) * d)");
  EXPECT_EQ(structure("a & m == 0"), "((a & m) == 0)");
  EXPECT_EQ(structure("a | b ^ c & d << e + f"), "(a | (b ^ (c & (d << (e + f)))))");
  EXPECT_EQ(structure("a << b >> c"), "((a << b) >> c)");
  EXPECT_EQ(structure("a || b && c || d"), "((a || (b && c)) || d)");
  EXPECT_EQ(structure("a < b && c >= d"), "((a < b) && (c >= d))");
  EXPECT_EQ(structure("(a < b) == (c < d)"), "((a < b) == (c < d))");
  EXPECT_EQ(structure("(a == b) != c"), "((a == b) != c)");
}

TEST(Grammar, Unary) {
  EXPECT_EQ(structure("- -a"), "(-(-a))");
  EXPECT_EQ(structure("!~-a[0]"), "(!(~(-a[0])))");
  EXPECT_EQ(structure("-a * b"), "((-a) * b)");
  EXPECT_EQ(structure("-(a * b)"), "(-(a * b))");
  EXPECT_EQ(structure("(-a)[0]"), "(-a)[0]");
  EXPECT_EQ(structure("a - -b"), "(a - (-b))");
}

TEST(Grammar, Conditional) {
  EXPECT_EQ(structure("a ? b : c ? d : e"), "(a ? b : (c ? d : e))");
  EXPECT_EQ(structure("a ? b ? c : d : e"), "(a ? (b ? c : d) : e)");
  EXPECT_EQ(structure("(a ? b : c) ? d : e"), "((a ? b : c) ? d : e)");
  EXPECT_EQ(structure("a || b ? c : d"), "((a || b) ? c : d)");
  EXPECT_EQ(structure("1 + (a ? b : c)"), "(1 + (a ? b : c))");
}

TEST(Grammar, Primary) {
  EXPECT_EQ(structure("0x1F"), "0x1F");
  EXPECT_EQ(structure("1.5e3"), "1.5e3");
  EXPECT_EQ(structure("\"a\\n\\\"\\\\\\t\""), "\"a\\n\\\"\\\\\\t\"");
  EXPECT_EQ(structure("true"), "true");
  EXPECT_EQ(structure("((a))"), "a");
  EXPECT_EQ(structure("f()"), "f()");
  EXPECT_EQ(structure("f(a, b = c == d, e)"), "f(a, b = (c == d), e)");
  EXPECT_EQ(structure("f32(x)"), "f32(x)");
  EXPECT_EQ(structure("[1, -2, 3]"), "[1, (-2), 3]");
}

TEST(Grammar, Subscripts) {
  EXPECT_EQ(structure("X[:, a, a..b + 1, i :+ n]"), "X[:, a, a..(b + 1), i :+ n]");
  EXPECT_EQ(structure("X[a ? b : c..d]"), "X[(a ? b : c)..d]");
  EXPECT_EQ(structure("X[1..2][0]"), "X[1..2][0]");
  EXPECT_EQ(structure("f(a)[0]"), "f(a)[0]");
  EXPECT_EQ(structure("X[Y[i], j]"), "X[Y[i], j]");
}

TEST(Grammar, RangesOfNodes) {
  Parsed parsed("const x = (a + b) * f(c)[1];");
  const auto &decl = llvm::cast<ast::ConstItem>(parsed.file->items[0])->decl;
  const auto *product = llvm::cast<ast::BinaryExpr>(decl.value);
  auto text = [](llvm::SMRange range) {
    return std::string(range.Start.getPointer(), range.End.getPointer());
  };
  EXPECT_EQ(text(parsed.file->items[0]->range), "const x = (a + b) * f(c)[1];");
  EXPECT_EQ(text(decl.name.range), "x");
  EXPECT_EQ(text(product->range), "(a + b) * f(c)[1]");
  EXPECT_EQ(text(product->opRange), "*");
  EXPECT_EQ(text(product->left->range), "(a + b)");
  EXPECT_EQ(text(product->right->range), "f(c)[1]");
  EXPECT_EQ(text(llvm::cast<ast::IndexExpr>(product->right)->subscripts[0].range), "1");
}

/// `source` as an expression on its own, or the diagnostics.
std::string parseAlone(llvm::StringRef source) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources.getMgr());
  ast::Context context;
  const ast::Expr *expr =
      parseExpression(sources.addText("-P", source), sources.getMgr(), context, diagnostics);
  EXPECT_EQ(expr != nullptr, !diagnostics.hasErrors());
  return expr ? printExpr(*expr) : diagnostics.sorted()[0]->message;
}

TEST(Grammar, ExpressionsAlone) {
  EXPECT_EQ(parseAlone("bf16"), "bf16");
  EXPECT_EQ(parseAlone("1 + (2 * 3)"), "1 + 2 * 3");
  EXPECT_EQ(parseAlone("1 2"), "expected the end of the expression, found `2`");
  EXPECT_EQ(parseAlone(""), "expected an expression, found the end of the file");
  EXPECT_EQ(parseAlone("(1, 2)"), "a tuple is allowed only after `return`");
}

class Item : public testing::TestWithParam<const char *> {};

TEST_P(Item, RoundTrips) {
  Parsed parsed(GetParam());
  EXPECT_EQ(parsed.file->items.size(), 1u);
  expectRoundTrip(parsed);
}

INSTANTIATE_TEST_SUITE_P(
    Items, Item,
    testing::Values(
        "import \"a/b.tile\";", //
        "const n = 3;", "const e: f32 = 1e-5;", "const lut: i32[4] = [1, 2, 3, 4];",
        "const v: vec<f32>[4] = x;", "const v: vec<vec<f16>[2]>[4][8, N + 1] = x;",
        "fn f() { return 1; }", "fn f(x: f32, y: vec<f32>[4]) -> f32 { return x; }",
        "fn f<T: type>(x: T) -> (T, i32) { return (x, 1); }",
        "fn f(const n: int, const b: bool, const T: type) -> f32[n] { return x; }",
        "tile fn g(a: shared f32[M, N], b: inout fragment f16[M], c: out local i32, d: "
        "tensor<f32>[N],"
        " e: out tensor<u4>[N, 2 * K], f: fragment f32) { a = b; }",
        "tile fn g() -> f32[BM] { return x; }", "kernel k() { }", "@fast_math kernel k(n: i32) { }",
        "@a @b(1, x = 2) @c() kernel k<T: type = f16, N: int = 2 * 3 + 1, B: bool = (1 < 2)>(n: "
        "i32) { }",
        "kernel k(A: tensor<f32>[N, M + 1], B: optional inout strided tensor<vec<f32>[2]>[N] "
        "align(32) "
        "may_alias(A) may_alias(C), C: out tensor<f16>[N] align(2 * 8)) where N > 0, M % 8 == 0 { "
        "}",
        "instantiate k as s;", "instantiate k<auto> as s;",
        "instantiate k<T = bf16, N = 2 + 3, B = (a < b), auto> as s where ARCH >= 90, N > 1;",
        "instantiate k<auto = 3> as s;", "tune k { }",
        "tune k { A in [1, 2]; B in 2..9; C in 0..64 step 8; where A * B <= 9, C > 1; }"));

class Statement : public testing::TestWithParam<const char *> {};

TEST_P(Statement, RoundTrips) {
  Parsed parsed("kernel k() { " + std::string(GetParam()) + " }");
  ASSERT_EQ(parsed.file->items.size(), 1u) << parsed.messages();
  EXPECT_EQ(llvm::cast<ast::KernelItem>(parsed.file->items[0])->body.statements.size(), 1u);
  expectRoundTrip(parsed);
}

INSTANTIATE_TEST_SUITE_P(
    Statements, Statement,
    testing::Values("const c: i32 = 1;", "shared a: f32[M, N];", "fragment a, b: f32[M] = 0;",
                    "local l: i32;", "workspace w: f32[N] = -inf;", "let x = 1;",
                    "let x: f32[M] = y;", "let (a, b) = f(x);", "let (a) = f(x);", "var v = 1;",
                    "var v: vec<f32>[4] = x;", "view w = X[1..2, :];",
                    "launch b in grid(4) threads(128) { }",
                    "@persistent launch (x, y) in grid(a, b) threads(2 * W) { x = 1; }",
                    "launch b in grid(4) threads(tx: 32, ty: 8) { }",
                    "threads(t: 256) { x[t] = 1; }", "parallel i in x { x[i] = 1; }",
                    "parallel (i, j) in [M, N] { x[i, j] = 1; }", "parallel i in x[0..4] { f(i); }",
                    "for k in 0..n { }", "for k in a..b step 2 * s { }",
                    "for k in pipelined(0..n, stages = 3) { }",
                    "for k in unrolled(0..n step 2, factor = 4) { }", "for k in unrolled(0..n) { }",
                    "while a < b { a += 1; }", "if a { }", "if a { x = 1; } else { x = 2; }",
                    "if a { } else if b { } else if c { } else { }", "if a { } else { if b { } }",
                    "break;", "continue;", "return;", "return x;", "return (a, b);", "f();",
                    "f(a)[0] = 1;", "(x) = 1;", "@cache(evict_first) copy(a, b);",
                    "@require(pipelined, stages, vector(16), from = 90) copy(a, b);", "x = y;",
                    "x += 1;", "x -= 1;", "x *= 1;", "x /= 1;", "x %= 1;", "x &= 1;", "x |= 1;",
                    "x ^= 1;", "x <<= 1;", "x[i, :] >>= 1;", "grid = step + align;",
                    "view v = reshape(X, [N * 2, C]);", "let type = int;"));

} // namespace
