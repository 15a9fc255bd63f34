// Matrix products on the cpu target: types, operand layouts, sizes that are no multiple of a tile.
#include "CpuTest.h"

#include <chrono>

using namespace tilec::cpu;

namespace {

// C = A * B as the front end writes it; ABSIZE: As and Bs, AORIGIN: where a tile of A begins.
const char *kGemm = R"mlir(
tile.kernel @gemm(%A: !tile.global<?x?xTA> {tile.name = "A"}, %B: !tile.global<?x?xTA> {tile.name = "B"},
                  %C: !tile.global<?x?xTC> {tile.name = "C", tile.direction = "out"}) {
  %m = tile.dim "M" from %A[A_M] : !tile.global<?x?xTA> -> i32
  %k = tile.dim "K" from %A[A_K] : !tile.global<?x?xTA> -> i32
  %n = tile.dim "N" from %B[B_N] : !tile.global<?x?xTA> -> i32
  %kb = tile.extent %B[B_K] : !tile.global<?x?xTA> -> i32
  %same = arith.cmpi eq, %k, %kb : i32
  tile.check %same, "dim-mismatch", "K of `A` and `B` differ"
  %bm = arith.constant 32 : i32
  %bn = arith.constant 64 : i32
  %bk = arith.constant 16 : i32
  %gx = arith.ceildivsi %n, %bn : i32
  %gy = arith.ceildivsi %m, %bm : i32
  %group = arith.constant 8 : i32
  tile.launch grid(%gx, %gy : i32, i32) threads(128) rasterize(%group) attributes {persistent = "static"} {
  ^bb0(%bx: i32, %by: i32):
    %As = tile.alloc "As" : !tile.buffer<ASHAPExTA, shared>
    %Bs = tile.alloc "Bs" : !tile.buffer<BSHAPExTA, shared>
    %acc = tile.alloc "acc" : !tile.buffer<32x64xTACC, fragment>
    %zero = arith.constant dense<ZERO> : tensor<32x64xTACC>
    tile.write %zero, %acc : tensor<32x64xTACC>, !tile.buffer<32x64xTACC, fragment>
    %m0 = arith.muli %by, %bm : i32
    %n0 = arith.muli %bx, %bn : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %steps = arith.ceildivsi %k, %bk : i32
    scf.for %i = %c0 to %steps step %c1 : i32 {
      %k0 = arith.muli %i, %bk : i32
      %Av = tile.slice %A[AORIGIN] sizes [ASIZES] : !tile.global<?x?xTA>, i32, i32 -> !tile.global<ASHAPExTA>
      tile.copy %Av to %As : !tile.global<ASHAPExTA>, !tile.buffer<ASHAPExTA, shared>
      %Bv = tile.slice %B[BORIGIN] sizes [BSIZES] : !tile.global<?x?xTA>, i32, i32 -> !tile.global<BSHAPExTA>
      tile.copy %Bv to %Bs : !tile.global<BSHAPExTA>, !tile.buffer<BSHAPExTA, shared>
      tile.gemm %As, %Bs, %acc {FLAGS} : !tile.buffer<ASHAPExTA, shared>, !tile.buffer<BSHAPExTA, shared>, !tile.buffer<32x64xTACC, fragment>
    } {tile.stages = 3 : i32}
    %Cv = tile.slice %C[%m0, %n0] sizes [32, 64] : !tile.global<?x?xTC>, i32, i32 -> !tile.global<32x64xTC>
    tile.copy %acc to %Cv : !tile.buffer<32x64xTACC, fragment>, !tile.global<32x64xTC>
  }
  tile.return
}
)mlir";

struct GemmTypes {
  const char *input, *inputName;
  DType inputNum;
  const char *acc, *zero;
  const char *output, *outputName;
  DType outputNum;
  double tolerance;
};

std::string gemmText(const GemmTypes &types, bool transposeA, bool transposeB,
                     const std::string &flags = "") {
  std::string all = flags;
  all += transposeA ? std::string(all.empty() ? "" : ", ") + "transpose_a" : "";
  all += transposeB ? std::string(all.empty() ? "" : ", ") + "transpose_b" : "";
  return with(kGemm, {{"TACC", types.acc},
                      {"TA", types.input},
                      {"TC", types.output},
                      {"ZERO", types.zero},
                      {"FLAGS", all},
                      {"ASHAPE", transposeA ? "16x32" : "32x16"},
                      {"BSHAPE", transposeB ? "64x16" : "16x64"},
                      {"ASIZES", transposeA ? "16, 32" : "32, 16"},
                      {"BSIZES", transposeB ? "64, 16" : "16, 64"},
                      {"AORIGIN", transposeA ? "%k0, %m0" : "%m0, %k0"},
                      {"BORIGIN", transposeB ? "%n0, %k0" : "%k0, %n0"},
                      {"A_M", transposeA ? "1" : "0"},
                      {"A_K", transposeA ? "0" : "1"},
                      {"B_N", transposeB ? "0" : "1"},
                      {"B_K", transposeB ? "1" : "0"}});
}

const GemmTypes kTypes[] = {
    {"f16", "f16", DType::F16, "f32", "0.0", "f16", "f16", DType::F16, 5e-4},
    {"bf16", "bf16", DType::BF16, "f32", "0.0", "bf16", "bf16", DType::BF16, 4e-3},
    {"f16", "f16", DType::F16, "f32", "0.0", "f32", "f32", DType::F32, 1e-6},
    {"f16", "f16", DType::F16, "f16", "0.0", "f16", "f16", DType::F16, 3e-3},
    {"f8E4M3FN", "e4m3", DType::E4M3, "f32", "0.0", "f32", "f32", DType::F32, 1e-6},
    {"f8E5M2", "e5m2", DType::E5M2, "f32", "0.0", "bf16", "bf16", DType::BF16, 4e-3},
    {"i8", "i8", DType::I8, "i32", "0", "i32", "i32", DType::I32, 0},
    {"f32", "f32", DType::F32, "f32", "0.0", "f32", "f32", DType::F32, 1e-6},
    {"f64", "f64", DType::F64, "f64", "0.0", "f64", "f64", DType::F64, 1e-14}};

class CpuGemm : public CpuTest {
protected:
  double check(const GemmTypes &types, bool transposeA, bool transposeB, int64_t m, int64_t n,
               int64_t k) {
    Tensor a(types.inputName, types.inputNum, transposeA ? std::vector{k, m} : std::vector{m, k});
    Tensor b(types.inputName, types.inputNum, transposeB ? std::vector{n, k} : std::vector{k, n});
    Tensor c(types.outputName, types.outputNum, {m, n});
    a.randomize(1);
    b.randomize(2);
    std::vector<double> want(m * n, 0);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t l = 0; l < k; ++l) {
        double x = a[transposeA ? l * m + i : i * k + l];
        for (int64_t j = 0; j < n; ++j) {
          want[i * n + j] += x * b[transposeB ? j * k + l : l * n + j];
        }
      }
    }
    std::string error = run({a.argument(), b.argument(), c.argument()});
    EXPECT_EQ(error, "");
    return relativeError(c, want);
  }
};

TEST_F(CpuGemm, AllTypes) {
  for (const GemmTypes &types : kTypes) {
    compile(gemmText(types, false, false));
    EXPECT_LE(check(types, false, false, 45, 70, 37), types.tolerance) << types.inputName;
    EXPECT_LE(check(types, false, false, 1, 1, 1), types.tolerance) << types.inputName;
  }
}

TEST_F(CpuGemm, AllOperandLayoutsAndAwkwardSizes) {
  for (bool transposeA : {false, true}) {
    for (bool transposeB : {false, true}) {
      compile(gemmText(kTypes[0], transposeA, transposeB));
      for (auto [m, n, k] :
           {std::array<int64_t, 3>{1, 7, 16}, {127, 3, 129}, {33, 65, 1}, {32, 64, 48}}) {
        EXPECT_LE(check(kTypes[0], transposeA, transposeB, m, n, k), kTypes[0].tolerance)
            << m << ' ' << n << ' ' << k << ' ' << transposeA << transposeB;
      }
    }
  }
}

TEST_F(CpuGemm, Tf32RoundsItsOperands) {
  compile(gemmText(kTypes[7], false, false, "precision = #tile.precision<tf32>"));
  double error = check(kTypes[7], false, false, 40, 40, 40);
  EXPECT_LE(error, 1e-3);
  EXPECT_GE(error, 1e-5); // not what `full` gives
}

TEST_F(CpuGemm, WritesNothingOutside) {
  compile(gemmText(kTypes[2], false, false));
  Tensor a("f16", DType::F16, {5, 3}), b("f16", DType::F16, {3, 7}), c("f32", DType::F32, {64, 64});
  a.randomize(3);
  b.randomize(4);
  // The 5x7 result lies inside a larger tensor, which must keep the rest.
  Argument out = Argument::tensor(c.data, {5, 7}, "f32");
  EXPECT_EQ(run({a.argument(), b.argument(), out}), "");
  for (int64_t i = 35; i < c.count; ++i) {
    ASSERT_EQ(c.bits(i), 0x5A5A5A5Au);
  }
}

TEST_F(CpuGemm, MismatchedDimensions) {
  compile(gemmText(kTypes[2], false, false));
  Tensor a("f16", DType::F16, {5, 3}), b("f16", DType::F16, {4, 7}), c("f32", DType::F32, {5, 7});
  EXPECT_EQ(run({a.argument(), b.argument(), c.argument()}),
            "test.mlir:9:3: error: K of `A` and `B` differ [dim-mismatch]");
}

TEST_F(CpuGemm, Is512CubedInSeconds) {
  compile(gemmText(kTypes[0], false, false));
  auto start = std::chrono::steady_clock::now();
  Tensor a("f16", DType::F16, {512, 512}), b("f16", DType::F16, {512, 512}),
      c("f16", DType::F16, {512, 512});
  a.randomize(1);
  b.randomize(2);
  EXPECT_EQ(run({a.argument(), b.argument(), c.argument()}), "");
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 5.0);
  RecordProperty("seconds", std::to_string(seconds.count()));
}

} // namespace
