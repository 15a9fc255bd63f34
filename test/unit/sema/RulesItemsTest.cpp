// Items, names, functions, instantiation, kernel parameters, host part: each rule broken once.
#include "test/unit/sema/Analyzed.h"

namespace {

/// A kernel without anything, to hold what is tested before it.
const char *const kernelAfter =
    "\nkernel k(X: tensor<f32>[N]) { launch b in grid(N) threads(32) { } }";

TEST(Rules, Names) {
  expectRules(
      {{"const a = b;", "1: `b` is not declared [undeclared]"},
       {"const a = a + 1;", "1: the value of constant `a` depends on itself [undeclared]"},
       {"const a = f(1);", "1: there is no function `f` [undeclared]"},
       {"const a: f17 = 1;", "1: there is no type `f17` [undeclared]"},
       {"instantiate z as z1;", "1: there is no kernel `z` [undeclared]"},
       {"const a = 1;\nconst a = 2;", "2: `a` is already declared [redeclared]"},
       {"const f32 = 1;", "1: `f32` is predefined and cannot be declared again [redeclared]"},
       {"const inf = 1;", "1: `inf` is predefined and cannot be declared again [redeclared]"},
       {"fn max(x: f32) -> f32 { return x; }",
        "1: `max` is predefined and cannot be declared again [redeclared]"},
       {"fn f16(x: f32) -> f32 { return x; }",
        "1: `f16` is predefined and cannot be declared again [redeclared]"},
       {"fn f(x: f32) -> f32 { return x; }\nfn f(x: f32) -> f32 { return x; }",
        "2: `f` is already declared [redeclared]"},
       {"fn f(x: f32) -> f32 { let y = x;\nlet y = x; return y; }",
        "2: `y` is already declared [redeclared]"},
       {"fn f(x: f32) -> f32 { if false { return\nz; } return x; }",
        "2: `z` is not declared [undeclared]"},
       {"fn f(x: f32) -> f32 { let y = y0;\nlet y0 = x; return y; }",
        "1: `y0` is not declared [undeclared]"},
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
      Analyzed a((llvm::Twine(before) + body + close + items).str());
      EXPECT_EQ(a.findings(), expected) << body << "\n" << items << "\n" << a.messages();
    }
  };
  rules({
      {"x = f(x);", "fn f(x: f32) -> f32 { return x; }", ""},
      {"x = f(x);", "fn f(x: f32) -> f32 { if x > 0.0 { return x; } }",
       "2: not every path of `f` returns a value [missing-return]"},
      {"x = f(x);", "fn f(x: f32) -> f32 { if x > 0.0 { return x; } else { return -x; } }", ""},
      {"x = f(x);", "const T: f32[3] = [1.0, 2.0];\nfn f(x: f32) -> f32 { return T[i32(x)]; }",
       "2: shapes [3] and [2] differ [shape-mismatch]"}, // and nothing of the return
      {"v = f(v);", "fn f(x: f32) -> f32 { return x; }",
       "1: `f32` is expected here, but this is `i32` [type-mismatch]"},
      {"x = f(x, 1.0);", "fn f(x: f32) -> f32 { return x; }",
       "1: `f` takes 1 argument, not 2 [arguments]"},
      {"x = f();", "fn f(x: f32) -> f32 { return x; }",
       "1: `f` is called without its argument `x` [arguments]"},
      {"x = f(y = x);", "fn f(x: f32) -> f32 { return x; }",
       "1: `f` has no parameter named `y` [arguments]"},
      {"x = f(x, x = x);", "fn f(x: f32) -> f32 { return x; }",
       "1: argument `x` of `f` is given twice [arguments]"},
      {"x = f(x = x, 1.0);", "fn f(x: f32, y: f32) -> f32 { return x + y; }",
       "1: an argument of `f` without name follows one with a name [arguments]"},
      {"x = max(x);", "", "1: `max` is called without its argument `y` [arguments]"},
      {"x = sqrt(x, x);", "", "1: `sqrt` takes 1 argument, not 2 [arguments]"},
      {"x = f32();", "", "1: `f32` takes 1 argument, not 0 [arguments]"},
      {"v = f(v);", "fn f<T: type>(x: T) -> T { return x + 1; }", ""},
      {"v = f(v);", "fn f<T: type, N: int>(x: T) -> T { return x; }",
       "1: compile-time parameter `N` of `f` does not follow from the arguments [cannot-infer]"},
      {"", "fn f(x: f32) -> f32 { return\ng(x); }\nfn g(x: f32) -> f32 { return f(x); }",
       "4: `f` calls itself: f -> g -> f [recursion]"},
      {"", "fn f(x: f32) -> f32 { return f(x); }", "2: `f` calls itself: f -> f [recursion]"},
      {"t(x);", "tile fn t(x: inout fragment f32[64]) { x = 1; }",
       "1: `64` is 64 from one argument, but 128 from another [shape-mismatch]"},
  });
  rules({
      {"t(x);", "tile fn t(x: inout fragment f32[D]) { x = 1; }", ""},
      {"t(x);", "tile fn t(x: fragment f32[D]) {\nx = 1; }",
       "3: `x` is written, but has no direction `out` or `inout` [write-to-in]"},
      {"t(x + 1);", "tile fn t(x: fragment f32[D]) { let y = x + 1; }", ""},
      {"t(x + 1);", "tile fn t(x: inout fragment f32[D]) { x = 1; }",
       "1: argument `x` of `t` must be a `fragment` buffer [arguments]"},
      {"t(x, x);", "tile fn t(x: inout fragment f32[D], y: fragment f32[D]) { x = y; }",
       "1: `x` is passed twice, and written as `x` [alias]"},
      {"t(x, x);", "tile fn t(x: fragment f32[D], y: fragment f32[D]) { let z = x + y; }", ""},
      {"fragment z: f32[64] = 0; t(x, z);",
       "tile fn t(x: fragment f32[D], y: fragment f32[D]) { let z = x + y; }",
       "1: `D` is 128 from one argument, but 64 from another [shape-mismatch]"},
      {"t(x);", "tile fn t(x: fragment f16[D]) { }",
       "1: `f16[128]` is expected here, but this is `f32[128]` [type-mismatch]"},
      {"let y = t(x);", "tile fn t(x: fragment f32[D]) -> f32[D] { }",
       "2: not every path of `t` returns a value [missing-return]"},
      {"let y = t(x);",
       "tile fn t(x: fragment f32[D]) -> f32[D] { if D > 3 {\nreturn x; } "
       "return x; }",
       "3: `return` cannot stand here: it is the last statement of a `tile fn` [return-place]"},
      {"t(x);", "tile fn t(x: fragment f32[D]) {\nreturn x; }",
       "3: `return` cannot stand here: `t` has 0 results [return-place]"},
      {"parallel i in x { t(i); }", "tile fn t(x: i32) { }",
       "1: `t` cannot be called from a `parallel` loop [call-place]"},
      {"let n = c(v);", "tile fn c(const n: int) { }",
       "1: argument `n` must be a constant [not-constant]"},
      {"let (a, c) = t(x);", "tile fn t(x: fragment f32[D]) -> (f32[D], f32) { return (x, 1.0); }",
       ""},
      {"let (a, c, d) = t(x);",
       "tile fn t(x: fragment f32[D]) -> (f32[D], f32) { return (x, 1.0); }",
       "1: 3 values is expected here, but this is 2 values [type-mismatch]"},
  });
}

TEST(Rules, Instantiate) {
  const std::string kernel = "kernel g<A: int = 1, T: type = f32>(X: tensor<T>[N]) where A < 9 { "
                             "launch b in grid(N) threads(32) { } }\n";
  expectRules(
      {{"instantiate g<B = 1> as g1;",
        "2: kernel `g` has no compile-time parameter or dimension `B` [unknown-parameter]"},
       {"instantiate g<A = 1> as g1; instantiate g<A = 2> as\ng1;",
        "3: symbol `g1` is already taken [duplicate-symbol]"},
       {"instantiate g<A = 9> as g1;", "1: `A < 9` does not hold for `g1` [where-failed]"},
       {"instantiate g<A = 9> as g1 where ARCH == 80;", ""},
       {"instantiate g<A = true> as g1;",
        "2: a value of kind `int` for `A` is expected here, but this is true [type-mismatch]"},
       {"instantiate g<A = 1, A = 2> as g1;", "2: argument `A` of `g` is given twice [arguments]"},
       {"instantiate g<auto> as g1;", "2: `auto` for kernel `g`, which has no `tune` [no-tune]"},
       {"tune g { A in [20]; } instantiate g<auto> as g1;",
        "2: no values that `tune g` lists satisfy its `where` [no-tune]"},
       {"tune g { A in [2]; keep A; } instantiate g<auto> as g1;",
        "2: what `keep` says must be a constant [not-constant]"},
       {"tune g { A in [2]; keep ALIGNMENT == 4 ? 65 : 2; } instantiate g<auto> as g1;",
        "2: `keep 65`: `auto` keeps 1 to 64 sets of parameters [no-tune]"},
       {"tune g { A in [2]; where ALIGNMEN; } instantiate g<auto> as g1;",
        "2: `ALIGNMEN` is not declared [undeclared]"},
       {"const TILE = ALIGNMENT;", "2: `ALIGNMENT` is not declared [undeclared]"},
       {"tune g { B in [20]; }", "2: `tune` lists `B`, which is no compile-time parameter of "
                                 "kernel `g` [unknown-parameter]"},
       {"instantiate g<N = 5> as g1;", ""},
       {"instantiate g<N = 3000000000> as g1;",
        "1: extent 3000000000 is not below 2^31 [extent-too-large]"}},
      kernel, "");
  expectRules({{"kernel g<A: int>(X: tensor<f32>[N]) { launch b in grid(N) threads(32) { } }",
                "1: compile-time parameter `A` of kernel `g` has no value [missing-parameter]"}},
              "", "");
  // Where a name is given that the kernel does not have, that is what is wrong.
  const std::string open = "kernel g<BLOCK: int>(X: tensor<f32>[N + 1, K]) { launch b in grid(N) "
                           "threads(32) { } }\n";
  expectRules(
      {{"instantiate g<BLOC = 64> as g1;",
        "2: kernel `g` has no compile-time parameter or dimension `BLOC` [unknown-parameter]"},
       {"instantiate g<N = 64> as g1;",
        "2: compile-time parameter `BLOCK` of kernel `g` has no value [missing-parameter]"},
       {"instantiate g<K = 64> as g1;",
        "2: compile-time parameter `BLOCK` of kernel `g` has no value [missing-parameter]"}},
      open, "");
}

TEST(Rules, Options) {
  using namespace tilec::sema;
  const std::string kernel = "kernel g<A: int = 1>(X: tensor<f32>[N]) { launch b in grid(A) "
                             "threads(32) { } }";
  for (auto [name, value, expected] :
       {std::array{"Q", "1",
                   "no kernel has a compile-time parameter or dimension `Q`, given by `-P` "
                   "[unknown-parameter]"},
        {"A", "x",
         "`-P A=x`: the value is neither an integer nor `true`, `false` or a type "
         "[unknown-parameter]"},
        {"A", "7", ""},
        {"N", "0x10", ""},
        {"A", "f32",
         "1: a value of kind `int` for `A` is expected here, but this is f32 [type-mismatch]"}}) {
    SemaOptions options;
    options.params = {{name, value}};
    Analyzed a(kernel, options);
    EXPECT_EQ(a.findings(), expected) << name << "=" << value << a.messages();
  }
  Analyzed a(kernel, {}, {"g<A = 3> as g3", "g<A = 4> as g4"});
  EXPECT_EQ(a.summary(), "");
  ASSERT_EQ(a.program->kernels.size(), 2u);
  EXPECT_EQ(a.program->kernels[1]->symbol, "g4");
  EXPECT_EQ(a.program->kernels[1]->bindings[0].value, "4");
}

TEST(Rules, Parameters) {
  const std::string after = " { launch b in grid(1) threads(32) { } }";
  expectRules(
      {{"(X: tensor<f32>[N], n: i32)", ""},
       {"(X: optional tensor<f32>[N])",
        "1: dimension `N` has no tensor that binds it [dim-unbound]"},
       {"(X: optional tensor<f32>[N], Y: tensor<f32>[N])", ""},
       {"(X: tensor<f32>[N + 1])", ""},
       {"(X: tensor<f32>[2 * N])", "1: `N` is not declared [undeclared]"},
       {"(X: tensor<f32>[3000000000])",
        "1: extent 3000000000 is not below 2^31 [extent-too-large]"},
       {"(X: tensor<f32>[n], n: i64)", ""},
       {"(X: tensor<f32>[N] align(24))", "1: `align(24)` is not a power of two [align]"},
       {"(X: tensor<f32>[N] may_alias(Z))", "1: `Z` is not declared [undeclared]"},
       {"(X: tensor<f32>[A, B, C, D, E, F, G, H, I])", "1: a tensor of rank 9 [rank]"},
       {"(X: tensor<f32>[N], s: e4m3)",
        "1: `e4m3` only stores: it cannot be a parameter by itself [storage-type]"},
       {"(X: tensor<u4>[N, 7])",
        "1: the last extent of a `u4` buffer is 7, which is odd [packed-extent]"},
       {"(X: tensor<f32>[N]) where N", "1: a condition is `bool`, but this is `i32` [not-bool]"},
       {"(X: tensor<f32>[N]) where ARCH == 1",
        "1: `ARCH == 1` does not hold for `k` [where-failed]"},
       {"(X: tensor<f32>[N], X: f32)", "1: `X` is already declared [redeclared]"}},
      "kernel k", after);
}

TEST(Rules, Host) {
  const std::string before =
      "kernel k(X: tensor<f32>[N], S: strided tensor<f32>[N, M], O: optional "
      "tensor<f32>[N], n: i32) {\n";
  const std::string after = "\nlaunch b in grid(N) threads(32) { }\n}";
  expectRules(
      {{"let a = ceildiv(N, 4) + n; let s = stride(S, 0); let c = sm_count();", ""},
       {"var a = 1;", "2: `var` cannot stand in the host part of a kernel [host-statement]"},
       {"shared a: f32[4];",
        "2: `shared` cannot stand in the host part of a kernel [host-statement]"},
       {"let a = X[0];", "2: the host part cannot use an element of `X` [host-statement]"},
       {"copy(X, X);", "2: a call cannot stand in the host part of a kernel [host-statement]"},
       {"for i in 0..3 { }", "2: `for` cannot stand in the host part of a kernel [host-statement]"},
       {"const a: i32 = 2147483647; let c = a + 1;",
        "2: 2147483648 does not fit `i32` [host-overflow]"},
       {"const a: i32 = 3; let c = a << 31;", "2: 6442450944 does not fit `i32` [host-overflow]"},
       {"const a: u8 = 200; let c = a + 100;", "2: 300 does not fit `u8` [host-overflow]"},
       {"const a: i8 = -128; let c = abs(a);", "2: 128 does not fit `i8` [host-overflow]"},
       {"const a: u8 = 200; let c = ~a;", ""},
       {"let a = f32(N) / 2.0; if a > 1.0 { workspace w: f32[N]; }", ""},
       {"let p = present(O); if p { } let s = stride(O, 0);",
        "2: optional tensor `O` may be null here [optional-unguarded]"},
       {"view v = O[:];", "2: optional tensor `O` may be null here [optional-unguarded]"},
       {"if present(O) { view v = O[:]; }", ""},
       {"view v = reshape(S, [N * M]);", "2: `reshape` needs `S` to be contiguous [reshape]"},
       {"view v = reshape(X, [4, N / 4]);", ""},
       {"launch b in grid(65536, 65536) threads(32) { }",
        "2: `grid` has rank 2, but the names before it are of rank 1 [rank]"},
       {"launch (b, c) in grid(65536, 65536) threads(32) { }",
        "2: the grid has 4294967296 points [grid-too-large]"},
       {"launch (a, b, c, d, e, f) in grid(1, 1, 1, 1, 1, 1) threads(32) { }",
        "2: the grid has 6 extents [grid-too-large]"},
       {"launch a in grid(1) threads(33) { }",
        "2: `threads(33)` is not a multiple of 32 from 32 to 1024 [threads-count]"},
       {"launch a in grid(1) threads(2048) { }",
        "2: `threads(2048)` is not a multiple of 32 from 32 to 1024 [threads-count]"},
       {"launch a in grid(1) threads(n) { }",
        "2: the number of threads must be a constant [not-constant]"},
       {"launch a in grid(1) threads(x: 8, y: 8) { }", ""},
       {"launch a in grid(1) threads(x: 8, y: 3) { }",
        "2: `threads(24)` is not a multiple of 32 from 32 to 1024 [threads-count]"},
       {"launch a in grid(1) threads(32) { workspace w: f32[4]; }",
        "2: `workspace` stands only in the host part of a kernel [host-statement]"},
       {"launch a in grid(1.0) threads(32) { }",
        "2: an integer as grid extent is expected here, but this is f32 [type-mismatch]"},
       {"workspace w: f32[N] = n;", "2: `f32` is expected here, but this is `i32` [type-mismatch]"},
       {"workspace w: i32[N] = n;",
        "2: the initial value of a workspace must be a constant [not-constant]"},
       {"launch a in grid(f(1)) threads(32) { } } fn f(x: i32) -> i32 { return x; } kernel "
        "k2(Y: tensor<f32>[N]) {",
        "2: `f` cannot be called from the host part [call-place]"}},
      before, after);
  expectRules(
      {{"kernel k(X: tensor<f32>[N]) { let a = N; }", "1: kernel `k` has no launch [no-launch]"}},
      "", "");
}

} // namespace
