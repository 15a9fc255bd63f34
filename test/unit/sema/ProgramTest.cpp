// What the typed program says: choices made, names resolved, types adapted.
#include "test/unit/sema/Analyzed.h"

using namespace tilec::sema;

namespace {

/// A kernel whose block goes on with `rest`.
std::string kernelWith(const char *rest) {
  return std::string("kernel k(A: tensor<f32>[M, K], n: i32) { launch i in grid(M) "
                     "threads(64) { fragment f: f32[64] = 0; var x: f32 = 0;\n") +
         rest;
}

Block bodyOf(const Analyzed &a) {
  const KernelInstance *k = a.kernel("k");
  return k ? k->launches[0]->body.drop_front(2) : Block();
}

TEST(Program, ConstantConditionsAreChosen) {
  Analyzed a(kernelWith("if 1 > 2 { x = 1; } else { x = 2; } if 1 > 2 { x = 3; } } }"));
  Block body = bodyOf(a);
  ASSERT_EQ(body.size(), 1u) << a.messages();
  EXPECT_TRUE(llvm::isa<ScopeStmt>(body[0]));
}

TEST(Program, LiteralsAdapt) {
  Analyzed a(kernelWith("f = n > 0 ? 1 : 2; x = 2 * x; } }"));
  Block body = bodyOf(a);
  ASSERT_EQ(body.size(), 2u) << a.messages();
  auto *assign = llvm::cast<AssignStmt>(body[0]);
  EXPECT_EQ(assign->value->type.str(), "f32[64]");
  ASSERT_TRUE(llvm::isa<BroadcastExpr>(assign->value));
  auto *select = llvm::dyn_cast<SelectExpr>(llvm::cast<BroadcastExpr>(assign->value)->operand);
  ASSERT_TRUE(select);
  EXPECT_EQ(llvm::cast<ConstantExpr>(select->ifTrue)->floatValue, 1.0);
}

TEST(Program, TileFunctionsAreInlined) {
  Analyzed a(kernelWith("x = sum(f); } }\ntile fn sum(v: inout fragment f32[N]) -> f32 { v = N; "
                        "return reduce_sum(v); }"));
  Block body = bodyOf(a);
  ASSERT_EQ(body.size(), 1u) << a.messages();
  auto *block = llvm::dyn_cast<BlockExpr>(llvm::cast<AssignStmt>(body[0])->value);
  ASSERT_TRUE(block);
  ASSERT_EQ(block->body.size(), 1u);
  auto *target = llvm::cast<RefExpr>(llvm::cast<AssignStmt>(block->body[0])->target);
  EXPECT_EQ(target->decl->name, "f");
}

TEST(Program, FunctionsAreInstancesByType) {
  Analyzed a(kernelWith("let p = id(1.0); let q = id(n); let r = id(f); } }\n"
                        "fn id<T: type>(v: T) -> T { return v; }"));
  EXPECT_EQ(a.messages(), "");
  EXPECT_EQ(a.program->functions.size(), 2u);
  Block body = bodyOf(a);
  EXPECT_EQ(llvm::cast<LetStmt>(body[2])->init->type.str(), "f32[64]");
}

TEST(Program, DimensionsFromShiftedExtents) {
  Analyzed a(
      "kernel k(X: tensor<f32>[N + 1], Y: tensor<f32>[N, 4], Z: tensor<f32>[G - 2]) { launch i "
      "in grid(N + G) threads(32) { } }");
  const KernelInstance *k = a.kernel("k");
  ASSERT_TRUE(k) << a.messages();
  ASSERT_EQ(k->dims.size(), 2u);
  EXPECT_EQ(k->dims[0]->source->name, "Y");
  EXPECT_EQ(k->dims[0]->offset, 0);
  EXPECT_EQ(k->dims[1]->source->name, "Z");
  EXPECT_EQ(k->dims[1]->offset, -2);
  ASSERT_EQ(k->dimChecks.size(), 2u); // X against Y, and the 4
  EXPECT_EQ(k->dimChecks[0].text, "N + 1");
}

TEST(Program, ConditionsThatStayAreChecks) {
  Analyzed a("kernel k(X: tensor<f32>[N]) where ARCH > 1, N % 8 == 0 { launch i in grid(N) "
             "threads(32) { } }");
  const KernelInstance *k = a.kernel("k");
  ASSERT_TRUE(k) << a.messages();
  ASSERT_EQ(k->whereChecks.size(), 1u);
  EXPECT_EQ(k->whereChecks[0].text, "N % 8 == 0");
}

TEST(Program, OnlyTheNamedKernel) {
  SemaOptions options;
  options.kernel = "b";
  Analyzed a("kernel a(X: tensor<f32>[N]) { launch i in grid(N) threads(32) { } } kernel b(X: "
             "tensor<f32>[N]) { launch i in grid(N) threads(32) { } }",
             options);
  ASSERT_EQ(a.program->kernels.size(), 1u) << a.messages();
  EXPECT_EQ(a.program->kernels[0]->symbol, "b");
}

} // namespace
