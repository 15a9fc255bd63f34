// Items, names, functions, instantiation, kernel parameters, host part: each rule broken once.
#include "test/unit/sema/Analyzed.h"

namespace {

/// A kernel without anything, to hold what is tested before it.
const std::string kernelAfter =
    "\nkernel k(X: tensor<f32>[N]) { launch b in grid(N) threads(32) { } }";

TEST(Rules, Names) {
  expectRules(
      {{"const a = b;", "1 [undeclared]"},
       {"const a = a + 1;", "1 [undeclared]"},
       {"const a = f(1);", "1 [undeclared]"},
       {"const a: f17 = 1;", "1 [undeclared]"},
       {"instantiate z as z1;", "1 [undeclared]"},
       {"const a = 1;\nconst a = 2;", "2 [redeclared]"},
       {"const f32 = 1;", "1 [redeclared]"},
       {"const inf = 1;", "1 [redeclared]"},
       {"fn max(x: f32) -> f32 { return x; }", "1 [redeclared]"},
       {"fn f16(x: f32) -> f32 { return x; }", "1 [redeclared]"},
       {"fn f(x: f32) -> f32 { return x; }\nfn f(x: f32) -> f32 { return x; }", "2 [redeclared]"},
       {"fn f(x: f32) -> f32 { let y = x;\nlet y = x; return y; }", "2 [redeclared]"},
       {"fn f(x: f32) -> f32 { if false { return\nz; } return x; }", "2 [undeclared]"},
       {"fn f(x: f32) -> f32 { let y = y0;\nlet y0 = x; return y; }", "1 [undeclared]"},
       {"const N = 3; fn f(x: f32) -> f32 { return\nx + N; }", ""}},
      "", "\nkernel k(X: tensor<f32>[M]) { launch b in grid(M) threads(32) { } }");
  expectRules({{"fn k(x: f32) -> f32 { return x; }", ""}}, "", kernelAfter);
}

TEST(Rules, Functions) {
  const std::string before = "kernel k(X: tensor<f32>[N], Y: out tensor<f32>[N]) { launch b in "
                             "grid(N) threads(128) { fragment x: f32[128] = 0; var v: i32 = 0; ";
  const std::string close = " } }\n";
  auto rules = [&](std::initializer_list<std::array<const char *, 3>> list) {
    for (auto [body, items, expected] : list) {
      Analyzed a(before + body + close + items);
      EXPECT_EQ(a.summary(), expected) << body << "\n" << items << "\n" << a.messages();
    }
  };
  rules({
      {"x = f(x);", "fn f(x: f32) -> f32 { return x; }", ""},
      {"x = f(x);", "fn f(x: f32) -> f32 { if x > 0.0 { return x; } }", "2 [missing-return]"},
      {"x = f(x);", "fn f(x: f32) -> f32 { if x > 0.0 { return x; } else { return -x; } }", ""},
      {"v = f(v);", "fn f(x: f32) -> f32 { return x; }", "1 [type-mismatch]"},
      {"x = f(x, 1.0);", "fn f(x: f32) -> f32 { return x; }", "1 [arguments]"},
      {"x = f();", "fn f(x: f32) -> f32 { return x; }", "1 [arguments]"},
      {"x = f(y = x);", "fn f(x: f32) -> f32 { return x; }", "1 [arguments]"},
      {"x = f(x, x = x);", "fn f(x: f32) -> f32 { return x; }", "1 [arguments]"},
      {"x = f(x = x, 1.0);", "fn f(x: f32, y: f32) -> f32 { return x + y; }", "1 [arguments]"},
      {"x = max(x);", "", "1 [arguments]"},
      {"x = sqrt(x, x);", "", "1 [arguments]"},
      {"x = f32();", "", "1 [arguments]"},
      {"v = f(v);", "fn f<T: type>(x: T) -> T { return x + 1; }", ""},
      {"v = f(v);", "fn f<T: type, N: int>(x: T) -> T { return x; }", "1 [cannot-infer]"},
      {"", "fn f(x: f32) -> f32 { return\ng(x); }\nfn g(x: f32) -> f32 { return f(x); }",
       "4 [recursion]"},
      {"", "fn f(x: f32) -> f32 { return f(x); }", "2 [recursion]"},
      {"t(x);", "tile fn t(x: inout fragment f32[64]) { x = 1; }", "1 [shape-mismatch]"},
  });
  rules({
      {"t(x);", "tile fn t(x: inout fragment f32[D]) { x = 1; }", ""},
      {"t(x);", "tile fn t(x: fragment f32[D]) {\nx = 1; }", "3 [write-to-in]"},
      {"t(x + 1);", "tile fn t(x: fragment f32[D]) { let y = x + 1; }", ""},
      {"t(x + 1);", "tile fn t(x: inout fragment f32[D]) { x = 1; }", "1 [arguments]"},
      {"t(x, x);", "tile fn t(x: inout fragment f32[D], y: fragment f32[D]) { x = y; }",
       "1 [alias]"},
      {"t(x, x);", "tile fn t(x: fragment f32[D], y: fragment f32[D]) { let z = x + y; }", ""},
      {"fragment z: f32[64] = 0; t(x, z);",
       "tile fn t(x: fragment f32[D], y: fragment f32[D]) { let z = x + y; }",
       "1 [shape-mismatch]"},
      {"t(x);", "tile fn t(x: fragment f16[D]) { }", "1 [type-mismatch]"},
      {"let y = t(x);", "tile fn t(x: fragment f32[D]) -> f32[D] { }", "2 [missing-return]"},
      {"let y = t(x);",
       "tile fn t(x: fragment f32[D]) -> f32[D] { if D > 3 {\nreturn x; } "
       "return x; }",
       "3 [return-place]"},
      {"t(x);", "tile fn t(x: fragment f32[D]) {\nreturn x; }", "3 [return-place]"},
      {"parallel i in x { t(i); }", "tile fn t(x: i32) { }", "1 [call-place]"},
      {"let n = c(v);", "tile fn c(const n: int) { }", "1 [not-constant]"},
      {"let (a, c) = t(x);", "tile fn t(x: fragment f32[D]) -> (f32[D], f32) { return (x, 1.0); }",
       ""},
      {"let (a, c, d) = t(x);",
       "tile fn t(x: fragment f32[D]) -> (f32[D], f32) { return (x, 1.0); }", "1 [type-mismatch]"},
  });
}

TEST(Rules, Instantiate) {
  const std::string kernel = "kernel g<A: int = 1, T: type = f32>(X: tensor<T>[N]) where A < 9 { "
                             "launch b in grid(N) threads(32) { } }\n";
  expectRules({{"instantiate g<B = 1> as g1;", "2 [unknown-parameter]"},
               {"instantiate g<A = 1> as g1; instantiate g<A = 2> as\ng1;", "3 [duplicate-symbol]"},
               {"instantiate g<A = 9> as g1;", "1 [where-failed]"},
               {"instantiate g<A = 9> as g1 where ARCH == 80;", ""},
               {"instantiate g<A = true> as g1;", "2 [type-mismatch]"},
               {"instantiate g<A = 1, A = 2> as g1;", "2 [arguments]"},
               {"instantiate g<auto> as g1;", "2 [no-tune]"},
               {"tune g { A in [20]; } instantiate g<auto> as g1;", "2 [no-tune]"},
               {"tune g { B in [20]; }", "2 [unknown-parameter]"},
               {"instantiate g<N = 5> as g1;", ""},
               {"instantiate g<N = 3000000000> as g1;", "1 [extent-too-large]"}},
              kernel, "");
  expectRules({{"kernel g<A: int>(X: tensor<f32>[N]) { launch b in grid(N) threads(32) { } }",
                "1 [missing-parameter]"}},
              "", "");
}

TEST(Rules, Options) {
  using namespace tilec::sema;
  const std::string kernel = "kernel g<A: int = 1>(X: tensor<f32>[N]) { launch b in grid(A) "
                             "threads(32) { } }";
  for (auto [name, value, expected] : {std::array{"Q", "1", "[unknown-parameter]"},
                                       {"A", "x", "[unknown-parameter]"},
                                       {"A", "7", ""},
                                       {"N", "0x10", ""},
                                       {"A", "f32", "1 [type-mismatch]"}}) {
    SemaOptions options;
    options.params = {{name, value}};
    Analyzed a(kernel, options);
    EXPECT_EQ(a.summary(), expected) << name << "=" << value << a.messages();
  }
  Analyzed a(kernel, {}, {"g<A = 3> as g3", "g<A = 4> as g4"});
  EXPECT_EQ(a.summary(), "");
  ASSERT_EQ(a.program->kernels.size(), 2u);
  EXPECT_EQ(a.program->kernels[1]->symbol, "g4");
  EXPECT_EQ(a.program->kernels[1]->bindings[0].value, "4");
}

TEST(Rules, Parameters) {
  const std::string after = " { launch b in grid(1) threads(32) { } }";
  expectRules({{"(X: tensor<f32>[N], n: i32)", ""},
               {"(X: optional tensor<f32>[N])", "1 [dim-unbound]"},
               {"(X: optional tensor<f32>[N], Y: tensor<f32>[N])", ""},
               {"(X: tensor<f32>[N + 1])", ""},
               {"(X: tensor<f32>[2 * N])", "1 [undeclared]"},
               {"(X: tensor<f32>[3000000000])", "1 [extent-too-large]"},
               {"(X: tensor<f32>[n], n: i64)", ""},
               {"(X: tensor<f32>[N] align(24))", "1 [align]"},
               {"(X: tensor<f32>[N] may_alias(Z))", "1 [undeclared]"},
               {"(X: tensor<f32>[A, B, C, D, E, F, G, H, I])", "1 [rank]"},
               {"(X: tensor<f32>[N], s: e4m3)", "1 [storage-type]"},
               {"(X: tensor<u4>[N, 7])", "1 [packed-extent]"},
               {"(X: tensor<f32>[N]) where N", "1 [not-bool]"},
               {"(X: tensor<f32>[N]) where ARCH == 1", "1 [where-failed]"},
               {"(X: tensor<f32>[N], X: f32)", "1 [redeclared]"}},
              "kernel k", after);
}

TEST(Rules, Host) {
  const std::string before =
      "kernel k(X: tensor<f32>[N], S: strided tensor<f32>[N, M], O: optional "
      "tensor<f32>[N], n: i32) {\n";
  const std::string after = "\nlaunch b in grid(N) threads(32) { }\n}";
  expectRules({{"let a = ceildiv(N, 4) + n; let s = stride(S, 0); let c = sm_count();", ""},
               {"var a = 1;", "2 [host-statement]"},
               {"shared a: f32[4];", "2 [host-statement]"},
               {"let a = X[0];", "2 [host-statement]"},
               {"copy(X, X);", "2 [host-statement]"},
               {"for i in 0..3 { }", "2 [host-statement]"},
               {"const a: i32 = 2147483647; let c = a + 1;", "2 [host-overflow]"},
               {"let a = f32(N) / 2.0; if a > 1.0 { workspace w: f32[N]; }", ""},
               {"let p = present(O); if p { } let s = stride(O, 0);", "2 [optional-unguarded]"},
               {"view v = O[:];", "2 [optional-unguarded]"},
               {"if present(O) { view v = O[:]; }", ""},
               {"view v = reshape(S, [N * M]);", "2 [reshape]"},
               {"view v = reshape(X, [4, N / 4]);", ""},
               {"launch b in grid(65536, 65536) threads(32) { }", "2 [rank]"},
               {"launch (b, c) in grid(65536, 65536) threads(32) { }", "2 [grid-too-large]"},
               {"launch (a, b, c, d, e, f) in grid(1, 1, 1, 1, 1, 1) threads(32) { }",
                "2 [grid-too-large]"},
               {"launch a in grid(1) threads(33) { }", "2 [threads-count]"},
               {"launch a in grid(1) threads(2048) { }", "2 [threads-count]"},
               {"launch a in grid(1) threads(n) { }", "2 [not-constant]"},
               {"launch a in grid(1) threads(x: 8, y: 8) { }", ""},
               {"launch a in grid(1) threads(x: 8, y: 3) { }", "2 [threads-count]"},
               {"launch a in grid(1) threads(32) { workspace w: f32[4]; }", "2 [host-statement]"},
               {"launch a in grid(1.0) threads(32) { }", "2 [type-mismatch]"},
               {"workspace w: f32[N] = n;", "2 [type-mismatch]"},
               {"workspace w: i32[N] = n;", "2 [not-constant]"},
               {"launch a in grid(f(1)) threads(32) { } } fn f(x: i32) -> i32 { return x; } kernel "
                "k2(Y: tensor<f32>[N]) {",
                "2 [call-place]"}},
              before, after);
  expectRules({{"kernel k(X: tensor<f32>[N]) { let a = N; }", "1 [no-launch]"}}, "", "");
}

} // namespace
