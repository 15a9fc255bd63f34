// Programs that grow or nest without bound: an error, in little time.
#include "test/unit/sema/Analyzed.h"

namespace {

const std::string before = "kernel k(A: inout tensor<f32>[M], n: i32) { launch i in grid(M) "
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

TEST(Limits, Inlining) {
  // Each function calls the one before twice: 2^40 statements.
  std::string text = "fn g0(x: f32) -> f32 { return x; }\ntile fn t0(x: inout fragment f32[N]) { x "
                     "= 1; }\n";
  for (int i = 1; i <= 40; ++i) {
    std::string n = std::to_string(i), p = std::to_string(i - 1);
    text += "fn g" + n + "(x: f32) -> f32 { return g" + p + "(x) + g" + p + "(x); }\n";
    text += "tile fn t" + n + "(x: inout fragment f32[N]) { t" + p + "(x); t" + p + "(x); }\n";
  }
  // Scalar functions are instances of their own: nothing grows.
  Analyzed scalar(text + before + "let a = g40(1.0); } }");
  EXPECT_EQ(scalar.summary(), "");
  EXPECT_EQ(scalar.program->functions.size(), 41u);
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
  Analyzed a(before + "let a = " + sum + "; } }");
  EXPECT_EQ(a.summary(), "");
}

} // namespace
