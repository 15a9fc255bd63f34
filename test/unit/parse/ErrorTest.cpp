// What is reported where: `line:column name` of each diagnostic. One mistake is one diagnostic, and
// independent mistakes are all found.
#include "test/unit/parse/Parsed.h"

#include <gtest/gtest.h>

namespace {

std::string errors(llvm::StringRef text) { return Parsed(text).summary(); }
std::string inKernel(llvm::StringRef text) {
  return errors(("kernel k() {\n" + text + "\n}").str());
}

TEST(Errors, Expressions) {
  EXPECT_EQ(errors("const a = ;"), "1:11 syntax");
  EXPECT_EQ(errors("const a = 1 + ;"), "1:15 syntax");
  EXPECT_EQ(errors("const a = +1;"), "1:11 syntax");
  EXPECT_EQ(errors("const a = 1 + + 2;"), "1:15 syntax");
  EXPECT_EQ(errors("const a = f(1, );"), "1:16 syntax");
  EXPECT_EQ(errors("const a = f(1 2);"), "1:15 syntax");
  EXPECT_EQ(errors("const a = ();"), "1:12 syntax");
  EXPECT_EQ(errors("const a = x[];"), "1:13 syntax");
  EXPECT_EQ(errors("const a = x[1..];"), "1:16 syntax");
  EXPECT_EQ(errors("const a = x ? 1;"), "1:16 syntax");
  EXPECT_EQ(errors("const a = x.y;"), "1:12 bad-character");
  EXPECT_EQ(errors("const a = match;"), "1:11 syntax");
}

TEST(Errors, ChainedComparison) {
  EXPECT_EQ(errors("const a = a < b < c;"), "1:17 chained-comparison");
  EXPECT_EQ(errors("const a = a == b == c;"), "1:18 chained-comparison");
  EXPECT_EQ(errors("const a = (a < b) < c;"), "");
  EXPECT_EQ(errors("const a = a < b && b < c;"), "");
  EXPECT_EQ(errors("const a = f(a < b < c) + (d > e >= f);"),
            "1:19 chained-comparison; 1:33 chained-comparison");
}

TEST(Errors, TuplePlace) {
  EXPECT_EQ(errors("const a = (1, 2);"), "1:11 tuple-place");
  EXPECT_EQ(inKernel("return (1, 2);"), "");
  EXPECT_EQ(inKernel("return (1, 2) + 3;"), "2:8 tuple-place");
  EXPECT_EQ(inKernel("return (1, 2)[0];"), "2:8 tuple-place");
  EXPECT_EQ(inKernel("return ((1, 2));"), "2:9 tuple-place");
  EXPECT_EQ(inKernel("return 1 + (1, 2);"), "2:12 tuple-place");
  EXPECT_EQ(inKernel("return (1, (2, 3));"), "2:12 tuple-place");
  EXPECT_EQ(inKernel("return (1);"), "");
  EXPECT_EQ(inKernel("f((1, 2));"), "2:3 tuple-place");
}

TEST(Errors, ListPlace) {
  EXPECT_EQ(errors("const a: i32[2] = [1, 2];"), "");
  EXPECT_EQ(errors("const a = [1, 2] + 1;"), "1:11 list-place");
  EXPECT_EQ(errors("const a = [1, [2]];"), "1:15 list-place");
  EXPECT_EQ(inKernel("let a = [1, 2];"), "2:9 list-place");
  EXPECT_EQ(inKernel("view v = reshape(X, [1, 2]);"), "");
  EXPECT_EQ(inKernel("view v = other(X, [1, 2]);"), "2:19 list-place");
  EXPECT_EQ(inKernel("parallel i in [4] { }"), "");
  EXPECT_EQ(inKernel("parallel i in f([4]) { }"), "2:17 list-place");
  EXPECT_EQ(errors("tune k { A in [1, [2]]; }"), "1:19 list-place");
}

TEST(Errors, Items) {
  EXPECT_EQ(errors("x"), "1:1 syntax");
  EXPECT_EQ(errors("}"), "1:1 syntax");
  EXPECT_EQ(errors("kernel"), "1:7 syntax");
  EXPECT_EQ(errors("kernel k"), "1:9 syntax");
  EXPECT_EQ(errors("kernel k() { let x = 1;"), "1:24 syntax");
  EXPECT_EQ(errors("kernel for() { }"), "1:8 syntax");
  EXPECT_EQ(errors("tile kernel k() { }"), "1:6 syntax");
  EXPECT_EQ(errors("import a;"), "1:8 syntax");
  EXPECT_EQ(errors("@x const a = 1;"), "1:1 annotation");
  EXPECT_EQ(errors("fn f(x: out f32) { }"), "1:13 syntax");
  EXPECT_EQ(errors("kernel k(x: out f32) { }"), "1:17 syntax");
  EXPECT_EQ(errors("kernel k(x: f32[3]) { }"), "1:16 syntax");
  EXPECT_EQ(errors("kernel k<T: kind>() { }"), "1:13 syntax");
  EXPECT_EQ(errors("kernel k<B: bool = a < b>() { }"), "1:22 syntax");
  EXPECT_EQ(errors("instantiate k<1> as s;"), "1:15 syntax");
  EXPECT_EQ(errors("instantiate k;"), "1:14 syntax");
  EXPECT_EQ(errors("tune k { A in 3; }"), "1:16 syntax");
}

TEST(Errors, Statements) {
  EXPECT_EQ(inKernel("let x = 1"), "2:10 syntax");
  EXPECT_EQ(inKernel("x;"), "2:1 syntax");
  EXPECT_EQ(inKernel("x + 1;"), "2:1 syntax");
  EXPECT_EQ(inKernel("x++;"), "2:1 syntax");
  EXPECT_EQ(inKernel("int x = 1;"), "2:5 syntax");
  EXPECT_EQ(inKernel("if x = 1 { }"), "2:6 syntax");
  EXPECT_EQ(inKernel("if x f();"), "2:6 syntax");
  EXPECT_EQ(inKernel("for i in n { }"), "2:12 syntax");
  EXPECT_EQ(inKernel("for i in pipelined(0..n, 3) { }"), "2:26 syntax");
  EXPECT_EQ(inKernel("launch b in gird(1) threads(32) { }"), "2:13 syntax");
  EXPECT_EQ(inKernel("threads(32) { }"), "2:9 syntax");
  EXPECT_EQ(inKernel("else { }"), "2:1 syntax");
  EXPECT_EQ(inKernel("let async = 1;"), "2:5 syntax");
  EXPECT_EQ(inKernel("let let = 1;"), "2:5 syntax");
  EXPECT_EQ(inKernel("parallel in x { }"), "2:10 syntax");
  EXPECT_EQ(inKernel("var x: f32[4] = 1;"), "2:11 syntax");
  EXPECT_EQ(inKernel("shared x f32;"), "2:10 syntax");
  EXPECT_EQ(inKernel("break 1;"), "2:6 syntax");
}

TEST(Errors, IndependentOnesAreAllFound) {
  EXPECT_EQ(inKernel("let a = ;\nlet b = 1;\nlet c = 2 2;\nf(;\nif a { x = ; } else { y = ; }"),
            "2:9 syntax; 4:10 syntax; 5:3 syntax; 6:12 syntax; 6:27 syntax");
  EXPECT_EQ(errors("fn f( { }\nconst a = ;\nkernel k( { let a = 1; }\nconst b = 1 1;"),
            "1:7 syntax; 2:11 syntax; 3:11 syntax; 4:12 syntax");
  EXPECT_EQ(inKernel("for i in 0 { x = ; }\nlet a = ;"), "2:12 syntax; 3:9 syntax");
}

TEST(Errors, AMissingBraceIsOneError) {
  EXPECT_EQ(errors("kernel a() { if x { f();\nkernel b() { }\nkernel c() { }"), "2:1 syntax");
  EXPECT_EQ(errors("kernel a() { } }\nkernel b() { let x = ; }"), "1:16 syntax; 2:22 syntax");
}

TEST(Errors, MalformedTokensDoNotCascade) {
  EXPECT_EQ(inKernel("let a = 1 # 2;"), "2:11 bad-character");
  EXPECT_EQ(inKernel("print(\"abc);\nlet b = ;"), "2:7 unterminated; 3:9 syntax");
  EXPECT_EQ(inKernel("let a = 1.f + 99999999999999999999;"), "2:9 syntax; 2:15 literal-range");
  EXPECT_EQ(errors("kernel k() { /* "), "1:14 unterminated");
}

TEST(Errors, TheLimitStops) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "const a = ;\n";
  }
  Parsed parsed(text);
  EXPECT_EQ(parsed.diagnostics.diagnostics().size(), 21u);
  EXPECT_TRUE(llvm::StringRef(parsed.summary()).ends_with("20:11 syntax; too-many-errors"));
}

TEST(Errors, FollowTheFormat) {
  EXPECT_EQ(Parsed("const a =\n\tf(1, 2;\n").messages(),
            "t.tile:2:8: error: expected `,` or `)`, found `;` [syntax]\n"
            " f(1, 2;\n"
            "       ^\n"
            "t.tile:2:3: note: opened here\n"
            " f(1, 2;\n"
            "  ^\n");
}

} // namespace
