// The kernels of the tree, and what analysis makes of gemm.
#include "test/unit/sema/Analyzed.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>

using namespace tilec::sema;
using tilec::RowKind;

namespace {

std::vector<std::string> allKernels() {
  std::vector<std::string> paths;
  std::error_code ec;
  llvm::sys::fs::recursive_directory_iterator it(std::string(TILEC_SOURCE_DIR) + "/kernels", ec),
      end;
  for (; it != end && !ec; it.increment(ec)) {
    if (llvm::sys::path::extension(it->path()) == ".tile") {
      paths.push_back(it->path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(Kernels, AllElaborate) {
  auto paths = allKernels();
  EXPECT_GE(paths.size(), 12u);
  for (const std::string &path : paths) {
    for (int arch : {80, 90}) {
      SemaOptions options;
      options.arch = arch;
      auto a = Analyzed::file(path, options);
      EXPECT_EQ(a->messages(), "") << path;
      if (arch == 90) { // kernels may need more than sm_80 and are then skipped there
        EXPECT_FALSE(a->program->kernels.empty()) << path;
      }
    }
  }
}

TEST(Kernels, Gemm) {
  auto a = Analyzed::file(std::string(TILEC_SOURCE_DIR) + "/kernels/gemm/gemm.tile");
  const KernelInstance *k = a->kernel("gemm");
  ASSERT_TRUE(k) << a->messages();
  ASSERT_EQ(k->dims.size(), 3u);
  EXPECT_EQ(k->dims[0]->name, "M");
  EXPECT_EQ(k->dims[1]->name, "K");
  EXPECT_EQ(k->dims[2]->name, "N");
  // B's first extent, and both of C's, are checked against what A and B bound.
  ASSERT_EQ(k->dimChecks.size(), 3u);
  EXPECT_EQ(k->dimChecks[0].tensor->name, "B");
  EXPECT_EQ(k->dimChecks[0].other->name, "A");
  ASSERT_EQ(k->launches.size(), 2u); // the second adds up parts of K
  const LaunchStmt *launch = k->launches[0];
  EXPECT_TRUE(launch->launch.persistent);
  EXPECT_EQ(launch->threads, 256);
  ASSERT_EQ(launch->body.size(), 9u);
  auto *tiles = llvm::dyn_cast<ForStmt>(launch->body[8]);
  ASSERT_TRUE(tiles);
  ASSERT_EQ(tiles->body.size(), 9u);
  auto *loop = llvm::dyn_cast<ForStmt>(tiles->body[6]);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->mode, ForStmt::Mode::Pipelined);
  EXPECT_EQ(loop->stages, 4);
  auto *copy = llvm::dyn_cast<CopyStmt>(loop->body[0]);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->source->type.str(), "f16[128, 64]");
  EXPECT_TRUE(llvm::isa<OriginExpr>(copy->source));
  auto *chosen = llvm::dyn_cast<ScopeStmt>(loop->body[2]); // operands are not swapped
  ASSERT_TRUE(chosen);
  auto *gemm = llvm::dyn_cast<GemmStmt>(chosen->body[0]);
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->m, 128);
  EXPECT_EQ(gemm->n, 256);
  EXPECT_EQ(gemm->k, 64);
}

TEST(Kernels, DefaultsWhereTuneListsNothingBesideWhatIsGiven) {
  SemaOptions options;
  options.params = {{"BM", "256"}, {"BN", "64"}, {"BK", "64"}};
  auto a = Analyzed::file(std::string(TILEC_SOURCE_DIR) + "/kernels/gemm/gemm.tile", options);
  const KernelInstance *k = a->kernel("gemm");
  ASSERT_TRUE(k) << a->messages();
  ASSERT_EQ(k->candidates.size(), 1u);
  EXPECT_EQ(k->bindings[2].value, "256");
  EXPECT_EQ(k->bindings[5].value, "4"); // STAGES
}

TEST(Kernels, GemmByTune) {
  SemaOptions options;
  options.autoParams = true;
  options.params = {{"T", "bf16"}, {"M", "4096"}};
  auto a = Analyzed::file(std::string(TILEC_SOURCE_DIR) + "/kernels/gemm/gemm.tile", options);
  const KernelInstance *k = a->kernel("gemm");
  ASSERT_TRUE(k) << a->messages();
  EXPECT_GT(k->candidates.size(), 6u); // more than `auto` keeps: there is something to choose
  EXPECT_LT(k->candidates.size(), 2u * 5 * 3 * 2 * 2 * 3);
  EXPECT_EQ(k->bindings[0].value, "bf16");
  EXPECT_EQ(k->bindings[2].value, "128"); // BM: the defaults are admissible
  EXPECT_EQ(k->dims[0]->constant, 4096);
  EXPECT_EQ(k->params[0].tensor->type.shape[0], 4096);
}

TEST(Kernels, ChoicesAmongCandidates) {
  const char *text = R"(
kernel g<A: int = 2>(X: tensor<f32>[N], Y: out tensor<f32>[N]) { launch b in grid(A) threads(32) { } }
tune g { A in [1, 2, 3]; }
instantiate g<auto> as a;
instantiate g<auto> as b;
instantiate g as c;
)";
  SemaOptions options;
  EXPECT_EQ(Analyzed(text, options).kernel("a")->bindings[0].value, "2"); // the default
  options.choices = {{"a", 2}};
  Analyzed chosen(text, options);
  EXPECT_EQ(chosen.kernel("a")->bindings[0].value, "3");
  EXPECT_EQ(chosen.kernel("b")->bindings[0].value, "2");
  options.select = SemaOptions::Select::Chosen;
  EXPECT_TRUE(Analyzed(text, options).kernel("a"));
  EXPECT_FALSE(Analyzed(text, options).kernel("b"));
  options.select = SemaOptions::Select::NotTuned;
  EXPECT_FALSE(Analyzed(text, options).kernel("a"));
  EXPECT_TRUE(Analyzed(text, options).kernel("c"));
}

// Sets are passed over where a clause has failed for all that decides about it: those that are left are the same, and a clause that would
// be an error is not looked at behind one that keeps it from being looked at.
TEST(Kernels, ClausesOfTuneThatFailForManySets) {
  Analyzed analyzed(R"(
kernel g<A: int = 2, B: int = 1, C: int = 1, D: int = A * C>(X: tensor<f32>[N], Y: out tensor<f32>[N]) where N > A {
    launch b in grid(A + B + C + D) threads(32) { }
}
tune g { A in [0, 1, 2, 3]; B in [1, 2]; C in [1, 2, 4]; where A != 1, 12 / (A - 1) > 0, D != 6, N < 100 * C, B * C != 4; }
instantiate g<auto> as a;
)");
  ASSERT_TRUE(analyzed.kernel("a")) << analyzed.messages();
  std::string sets;
  for (const auto &set : analyzed.kernel("a")->candidates) {
    const std::vector<Binding> &values = set.bindings;
    sets += values[0].value + values[1].value + values[2].value + " ";
  }
  EXPECT_EQ(sets, "211 212 221 224 311 321 324 ");
}

TEST(Kernels, SetsOfTuneForKindsOfRows) {
  const std::string text = R"(
kernel g<A: int = 2, B: int = 1>(X: tensor<f32>[N], Y: out tensor<f32>[N]) { launch b in grid(A + B) threads(32) { } }
tune g { A in [0, 1, 2, 3]; B in [1, 2]; where A > 0, ALIGNMENT == 16 ? A < 3 : A > 1, A != 1 || B == 2, ALIGNMENT != 4 || A == B; keep ALIGNMENT - 3 > 0 ? ALIGNMENT - 3 : 7; }
instantiate g<auto> as a;
)";
  Analyzed analyzed(text);
  const KernelInstance *kernel = analyzed.kernel("a");
  ASSERT_TRUE(kernel) << analyzed.messages();
  std::string sets;
  for (const Candidate &set : kernel->candidates) {
    sets += set.bindings[0].value + set.bindings[1].value +
            (set.isFor[RowKind::Aligned] ? "+" : "") + (set.isFor[RowKind::Words] ? "w" : "") +
            (set.isFor[RowKind::Any] ? "- " : " ");
  }
  EXPECT_EQ(sets, "12+ 21+- 22+w- 31- 32- ");
  EXPECT_EQ(kernel->keep.of, (std::array<std::optional<unsigned>, 3>{13u, 1u, 7u}));
  // A program's own name goes before; where nothing tells the two apart a set is for both.
  Analyzed own("const ALIGNMENT = 1;" + text);
  ASSERT_TRUE(own.kernel("a")) << own.messages();
  EXPECT_EQ(own.kernel("a")->candidates.size(), 4u);
  EXPECT_TRUE(own.kernel("a")->candidates[0].isFor[RowKind::Aligned]);
  EXPECT_EQ(own.kernel("a")->keep[RowKind::Aligned], 7u);
  // So does a dimension, which only a launch knows: `tune` knows none.
  Analyzed dimension(R"(
kernel g<A: int = 2>(X: tensor<f32>[ALIGNMENT], Y: out tensor<f32>[ALIGNMENT]) { launch b in grid(A) threads(32) { } }
tune g { A in [1, 2]; where ALIGNMENT > 1; }
instantiate g<auto> as a;
)");
  EXPECT_NE(dimension.messages().find("`ALIGNMENT` is not declared [undeclared]"),
            std::string::npos)
      << dimension.messages();
}

TEST(Kernels, TunedParametersNeedNoDefaults) {
  const char *text = R"(
kernel g<A: int, B: int = 5, C: int>(X: tensor<f32>[N], Y: out tensor<f32>[N]) { launch b in grid(A + B + C) threads(32) { } }
tune g { A in [3, 1]; C in [2, 4]; where C > 2; }
instantiate g<auto> as a;
instantiate g<auto, A = 7> as b;
)";
  Analyzed analyzed(text);
  ASSERT_TRUE(analyzed.kernel("a")) << analyzed.messages();
  EXPECT_EQ(analyzed.kernel("a")->candidates.size(), 2u);
  EXPECT_EQ(analyzed.kernel("a")->bindings[0].value, "3"); // the first that is admissible
  EXPECT_EQ(analyzed.kernel("a")->bindings[1].value, "5");
  EXPECT_EQ(analyzed.kernel("a")->bindings[2].value, "4");
  EXPECT_EQ(analyzed.kernel("b")->bindings[0].value, "7");
  EXPECT_NE(Analyzed(std::string(text) + "tune g { B in [6]; }\ninstantiate g<B = 1> as c;")
                .messages()
                .find("has no value [missing-parameter]"),
            std::string::npos);
}

} // namespace
