// Programs that grow or nest without bound: an error, in little time.
#include "test/unit/sema/Analyzed.h"

#include "llvm/Support/FormatVariadic.h"

namespace {

const char *const before = "kernel k(A: inout tensor<f32>[M], n: i32) { launch i in grid(M) "
                           "threads(64) { var v: i32 = 0;\n";

TEST(Limits, Unrolling) {
  expectRules(
      {{"for a in unrolled(0..1000000000) { }",
        "2: more than 500000 statements and expressions after inlining and unrolling [expansion]"},
       {"for a in unrolled(0..100000) { for b in unrolled(0..100000) { v += 1; } }",
        "2: more than 500000 statements and expressions after inlining and unrolling [expansion]"},
       {"for a in unrolled(0..1000) { v += a; }", ""}},
      before, "} }");
}

// Sets of parameters are tried for each kernel anew, and many are too many for one.
TEST(Limits, Tuning) {
  const std::string kernel =
      "kernel t<B: int = 1, C: int = 1>(A: inout tensor<f32>[M]) { launch i in grid(M) threads(64) "
      "{ } }\ntune t { B in 1..101; C in 1..101; where ";
  const char *const more =
      "more than 500000 statements and expressions after inlining and unrolling [expansion]";
  std::string many = kernel + "B == C; }\n", heavy = kernel;
  for (int i = 0; i < 30; ++i) {
    many += llvm::formatv("instantiate t<auto> as t{0};\n", i);
    heavy += "B * C + B > 0, ";
  }
  EXPECT_EQ(Analyzed(many).messages(), "");
  EXPECT_NE(Analyzed(heavy + "B == C; }\ninstantiate t<auto> as t;").messages().find(more),
            std::string::npos);
}

// Each thread has 64 elements of the tile.
TEST(Limits, UnrollingOfTiles) {
  const char *const rule =
      "2: fully unrolled loops have more than 16000 operations for each thread "
      "of this launch [expansion]";
  const std::string tile = std::string(before) + "fragment x: f32[64, 64] = 0; shared s: f32[64]; ";
  expectRules(
      {{"for a in unrolled(0..50) { x = x * 2 + 1; }", ""},
       {"for a in unrolled(0..500) { x = x * 2 + 1; }", rule},
       {"for a in unrolled(0..500, factor = 500) { x = x * 2 + 1; }", ""},
       {"for a in 0..500 { x = x * 2 + 1; }", ""},
       {"for a in unrolled(0..20) { for b in unrolled(0..25) { x = x * 2 + 1; } }", rule},
       {"for a in unrolled(0..500) { parallel (p, q) in x { x[p, q] = x[p, q] * 2 + 1; } }", rule},
       {"parallel (p, q) in x { for a in unrolled(0..500) { x[p, q] = x[p, q] * 2 + 1; } }", rule},
       {"parallel (p, q) in x { for a in unrolled(0..20) { x[p, q] = x[p, q] * 2 + 1; } }", ""},
       {"for a in unrolled(0..500) { copy(A[a], s); }", ""},
       {"for a in unrolled(0..5000) { v += v * n + a; }", rule}},
      tile.c_str(), "} }");
}

TEST(Limits, Inlining) {
  // Each function calls the one before twice: 2^40 statements.
  std::string text = "fn g0(x: f32) -> f32 { return x; }\ntile fn t0(x: inout fragment f32[N]) { x "
                     "= 1; }\n";
  for (int i = 1; i <= 40; ++i) {
    text += llvm::formatv("fn g{0}(x: f32) -> f32 {{ return g{1}(x) + g{1}(x); }\n"
                          "tile fn t{0}(x: inout fragment f32[N]) {{ t{1}(x); t{1}(x); }\n",
                          i, i - 1)
                .str();
  }
  // Scalar functions are instances of their own here, but their calls are inlined, too.
  Analyzed few(text + before + "let a = g12(1.0); } }");
  EXPECT_EQ(few.summary(), "");
  EXPECT_EQ(few.program->functions.size(), 13u);
  Analyzed scalar(text + before + "let a = g40(1.0); } }");
  EXPECT_NE(scalar.summary().find("[expansion]"), std::string::npos);
  Analyzed tile(text + before + "fragment x: f32[64]; t40(x); } }");
  EXPECT_NE(tile.summary().find("[expansion]"), std::string::npos);
}

TEST(Limits, LongChainsOfFunctions) {
  std::string text = "fn g0(x: f32) -> f32 { return x; }\n";
  for (int i = 1; i <= 5000; ++i) {
    text += "fn g" + std::to_string(i) + "(x: f32) -> f32 { return g" + std::to_string(i - 1) +
            "(x); }\n";
  }
  Analyzed a(text + before + "let a = g5000(1.0); } }");
  EXPECT_NE(a.findings().find("code nests deeper than 4000 levels after inlining [expansion]"),
            std::string::npos);
}

TEST(Limits, DeepTrees) {
  std::string sum = "v";
  for (int i = 0; i < 900; ++i) {
    sum += " + v";
  }
  Analyzed a(std::string(before) + "let a = " + sum + "; } }");
  EXPECT_EQ(a.summary(), "");
}

} // namespace
