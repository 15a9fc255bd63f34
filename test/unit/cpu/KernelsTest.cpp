// The kernels of kernels/ but attention, at small awkward sizes, against f64 references.
#include "SourceTest.h"

using namespace tilec::cpu;

namespace {

Tensor half(std::vector<int64_t> shape, uint64_t seed) {
  return std::move(Tensor("f16", DType::F16, std::move(shape)).randomize(seed));
}

class CpuKernels : public SourceTest {};

Argument number(int32_t value) { return Argument::scalar((uint32_t)value, "i32"); }
Argument number(float value) {
  return Argument::scalar(tile_rt::encodeFloat(DType::F32, value), "f32");
}

/// A[m, k] * B[k, n] of row-major tensors.
std::vector<double> product(const Tensor &a, const Tensor &b, int64_t m, int64_t n, int64_t k) {
  std::vector<double> out(m * n, 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) {
        out[i * n + j] += a[i * k + l] * b[l * n + j];
      }
    }
  }
  return out;
}

TEST_F(CpuKernels, Gemm) {
  compileKernel("gemm/gemm.tile", "gemm<BM = 32, BN = 64, BK = 16, THREADS = 128> as k");
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{45, 70, 37}, {1, 1, 1}, {32, 64, 16}, {7, 129, 100}}) {
    Tensor a = half({m, k}, 1), b = half({k, n}, 2), c = half({m, n}, 3);
    ASSERT_EQ(run({a.argument(), b.argument(), c.argument()}), "");
    EXPECT_LE(relativeError(c, product(a, b, m, n, k)), 1e-3) << m << ' ' << n << ' ' << k;
  }
  Tensor a = half({4, 5}, 1), b = half({6, 7}, 2), c = half({4, 7}, 3);
  std::string error = run({a.argument(), b.argument(), c.argument()});
  EXPECT_NE(error.find("[dim-mismatch]"), std::string::npos) << error;
}

TEST_F(CpuKernels, GemmWithItsDefaults) {
  compileKernel("gemm/gemm.tile", "gemm<T = bf16, TC = f32> as k");
  Tensor a("bf16", DType::BF16, {130, 70}), b("bf16", DType::BF16, {70, 258}),
      c("f32", DType::F32, {130, 258});
  a.randomize(1);
  b.randomize(2);
  ASSERT_EQ(run({a.argument(), b.argument(), c.argument()}), "");
  EXPECT_LE(relativeError(c, product(a, b, 130, 258, 70)), 1e-6);
}

TEST_F(CpuKernels, SplitK) {
  compileKernel("splitk_gemm/splitk_gemm.tile", "splitk_gemm<BM = 32, BN = 32, BK = 16> as k");
  Tensor a = half({33, 101}, 1), b = half({101, 50}, 2), c = half({33, 50}, 3);
  for (int splits : {1, 3, 9}) {
    ASSERT_EQ(run({a.argument(), b.argument(), number(splits), c.argument()}), "");
    EXPECT_LE(relativeError(c, product(a, b, 33, 50, 101)), 1e-3) << splits;
  }
  std::string error = run({a.argument(), b.argument(), number(0), c.argument()});
  EXPECT_NE(error.find("[where-failed]"), std::string::npos) << error;
}

TEST_F(CpuKernels, GroupedGemm) {
  compileKernel("grouped_gemm/grouped_gemm.tile",
                "grouped_gemm<T = f16, BM = 16, BN = 32, BK = 16> as k");
  const int64_t groups = 4, rows = 60, k = 37, n = 45;
  Tensor a = half({rows, k}, 1), b = half({groups, k, n}, 2), c = half({rows, n}, 3);
  Tensor offsets("i32", DType::I32, {groups + 1});
  int64_t first[] = {0, 17, 17, 20, 55};
  for (int64_t g = 0; g <= groups; ++g) {
    offsets.set(g, (double)first[g]);
  }
  uint64_t untouched = c.bits(55 * n);
  ASSERT_EQ(run({a.argument(), b.argument(), offsets.argument(), c.argument()}), "");
  std::vector<double> want(rows * n, 0);
  for (int64_t i = 0; i < rows * n; ++i) {
    want[i] = c[i];
  }
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t i = first[g]; i < first[g + 1]; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += a[i * k + l] * b[(g * k + l) * n + j];
        }
        want[i * n + j] = sum;
      }
    }
  }
  EXPECT_LE(relativeError(c, want), 1e-3);
  EXPECT_EQ(c.bits(55 * n), untouched);
}

TEST_F(CpuKernels, FourBitWeights) {
  compileKernel("w4a16_gemm/w4a16_gemm.tile",
                "w4a16_gemm<GROUP = 32, BM = 16, BN = 32, BK = 16> as k");
  const int64_t m = 21, n = 45, k = 64;
  Tensor a = half({m, k}, 1), scales = half({n, k / 32}, 2), zeros = half({n, k / 32}, 3);
  Tensor w("u4", DType::I4, {n, k}), c = half({m, n}, 4);
  for (int64_t i = 0; i < w.count; ++i) {
    w.setBits(i, (i * 7 + i / 13) % 16);
  }
  for (int64_t i = 0; i < zeros.count; ++i) {
    zeros.set(i, (double)(i % 16));
  }
  ASSERT_EQ(run({a.argument(), w.argument(), scales.argument(), zeros.argument(), c.argument()}),
            "");
  std::vector<double> want(m * n, 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t l = 0; l < k; ++l) {
        int64_t group = j * (k / 32) + l / 32;
        double weight = tile_rt::decodeFloat(
            DType::F16,
            tile_rt::encodeFloat(DType::F16,
                                 ((double)w.bits(j * k + l) - zeros[group]) * scales[group]));
        want[i * n + j] += a[i * k + l] * weight;
      }
    }
  }
  EXPECT_LE(relativeError(c, want), 1e-3);
}

TEST_F(CpuKernels, Conv2d) {
  for (auto [stride, pad, dilation] : {std::array<int64_t, 3>{1, 1, 1}, {2, 3, 2}}) {
    compileKernel("conv/conv2d.tile",
                  "conv2d<STRIDE = " + std::to_string(stride) + ", PAD = " + std::to_string(pad) +
                      ", DIL = " + std::to_string(dilation) + ", BM = 32, BN = 16, BK = 16> as k");
    const int64_t n = 2, h = 7, w = 9, c = 5, kh = 3, kw = 2, oc = 11;
    const int64_t oh = (h + 2 * pad - dilation * (kh - 1) - 1) / stride + 1;
    const int64_t ow = (w + 2 * pad - dilation * (kw - 1) - 1) / stride + 1;
    Tensor x = half({n, h, w, c}, 1), f = half({kh, kw, c, oc}, 2), bias = half({oc}, 3);
    Tensor y = half({n, oh, ow, oc}, 4);
    for (bool hasBias : {true, false}) {
      Argument b = Argument::tensor(hasBias ? bias.data : nullptr, {oc}, "f16");
      ASSERT_EQ(run({x.argument(), f.argument(), b, y.argument()}), "");
      std::vector<double> want(y.count, 0);
      for (int64_t i = 0; i < y.count; ++i) {
        int64_t o = i % oc, q = i / oc % ow, p = i / oc / ow % oh, image = i / oc / ow / oh;
        want[i] = hasBias ? bias[o] : 0;
        for (int64_t tap = 0; tap < kh * kw * c; ++tap) {
          int64_t channel = tap % c, column = q * stride - pad + tap / c % kw * dilation;
          int64_t row = p * stride - pad + tap / c / kw * dilation;
          if (row >= 0 && row < h && column >= 0 && column < w) {
            want[i] += x[((image * h + row) * w + column) * c + channel] * f[tap * oc + o];
          }
        }
      }
      EXPECT_LE(relativeError(y, want), 1e-3);
    }
  }
}

TEST_F(CpuKernels, Gemv) {
  compileKernel("gemv/gemv.tile", "gemv as k");
  const int64_t n = 13, k = 1000;
  Tensor a = half({k}, 1), b = half({n, k}, 2), c = half({n}, 3);
  ASSERT_EQ(run({a.argument(), b.argument(), c.argument()}), "");
  EXPECT_LE(relativeError(c, product(b, a, n, 1, k)), 1e-3);
}

TEST_F(CpuKernels, ElementwiseAlsoInPlace) {
  compileKernel("elementwise/elementwise.tile", "map_gelu<BLOCK = 256> as k");
  Tensor x = half({1000}, 1), y = half({1000}, 2);
  std::vector<double> want;
  for (int64_t i = 0; i < x.count; ++i) {
    double v = x[i];
    want.push_back(0.5 * v * (1 + std::tanh(0.797885 * (v + 0.044715 * v * v * v))));
  }
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_LE(relativeError(y, want), 1e-3);
  ASSERT_EQ(run({x.argument(), x.argument()}), "");
  EXPECT_LE(relativeError(x, want), 1e-3);
  compileKernel("elementwise/elementwise.tile", "map_relu<BLOCK = 256> as k");
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  for (int64_t i = 0; i < x.count; ++i) {
    EXPECT_EQ(y[i], x[i] > 0 ? x[i] : 0);
  }
}

//===----------------------------------------------------------------------===//
// Norms and row-wise kernels
//===----------------------------------------------------------------------===//

TEST_F(CpuKernels, LayerNorm) {
  compileKernel("norm/layernorm.tile", "layernorm<BN = 128> as k");
  const int64_t m = 5, n = 100;
  Tensor x = half({m, n}, 1), gamma = half({n}, 2), beta = half({n}, 3), y = half({m, n}, 4);
  ASSERT_EQ(run({x.argument(), gamma.argument(), beta.argument(), number(1e-5f), y.argument()}),
            "");
  std::vector<double> want(m * n);
  for (int64_t i = 0; i < m; ++i) {
    double mean = 0, variance = 0;
    for (int64_t j = 0; j < n; ++j) {
      mean += x[i * n + j] / n;
    }
    for (int64_t j = 0; j < n; ++j) {
      variance += (x[i * n + j] - mean) * (x[i * n + j] - mean) / n;
    }
    for (int64_t j = 0; j < n; ++j) {
      want[i * n + j] = (x[i * n + j] - mean) / std::sqrt(variance + 1e-5) * gamma[j] + beta[j];
    }
  }
  EXPECT_LE(relativeError(y, want), 1e-3);
  Tensor wide = half({1, 129}, 1), g = half({129}, 1), out = half({1, 129}, 2);
  std::string error =
      run({wide.argument(), g.argument(), g.argument(), number(1e-5f), out.argument()});
  EXPECT_NE(error.find("[where-failed]"), std::string::npos) << error;
}

std::vector<double> softmaxOf(const Tensor &x, int64_t m, int64_t n) {
  std::vector<double> want(m * n);
  for (int64_t i = 0; i < m; ++i) {
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      top = std::max(top, x[i * n + j]);
    }
    for (int64_t j = 0; j < n; ++j) {
      sum += std::exp(x[i * n + j] - top);
    }
    for (int64_t j = 0; j < n; ++j) {
      want[i * n + j] = std::exp(x[i * n + j] - top) / sum;
    }
  }
  return want;
}

TEST_F(CpuKernels, SoftmaxOfShortAndLongRows) {
  const int64_t m = 3, n = 101;
  Tensor x = half({m, n}, 1), y = half({m, n}, 2);
  x.set(7, -INFINITY);
  compileKernel("norm/softmax_rmsnorm.tile", "softmax<BN = 128> as k");
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_LE(relativeError(y, softmaxOf(x, m, n)), 1e-3);
  for (int64_t j = 0; j < 40; ++j) {
    x.set(j, -INFINITY); // the first tiles of row 0 see nothing
  }
  compileKernel("norm/softmax_rmsnorm.tile", "softmax_long<BN = 32> as k");
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_LE(relativeError(y, softmaxOf(x, m, n)), 1e-3);
}

TEST_F(CpuKernels, RmsNormWithAndWithoutResidual) {
  compileKernel("norm/softmax_rmsnorm.tile", "rmsnorm<T = f16, BN = 128> as k");
  const int64_t m = 4, n = 99;
  for (bool hasResidual : {false, true}) {
    Tensor x = half({m, n}, 1), weight = half({n}, 2), residual = half({m, n}, 3),
           y = half({m, n}, 4);
    std::vector<double> sum(m * n), want(m * n);
    for (int64_t i = 0; i < m; ++i) {
      double squares = 0;
      for (int64_t j = i * n; j < i * n + n; ++j) {
        sum[j] = x[j] + (hasResidual ? residual[j] : 0);
        squares += sum[j] * sum[j];
      }
      for (int64_t j = i * n; j < i * n + n; ++j) {
        want[j] = sum[j] / std::sqrt(squares / n + 1e-6) * weight[j - i * n];
      }
    }
    Argument r = Argument::tensor(hasResidual ? residual.data : nullptr, {m, n}, "f16");
    ASSERT_EQ(run({x.argument(), weight.argument(), number(1e-6f), r, y.argument()}), "");
    EXPECT_LE(relativeError(y, want), 1e-3);
    EXPECT_EQ(relativeError(residual, sum) <= 1e-3, hasResidual);
  }
}

TEST_F(CpuKernels, Argmax) {
  compileKernel("norm/softmax_rmsnorm.tile", "argmax<BM = 4, BN = 64> as k");
  const int64_t m = 10, n = 61;
  Tensor x = half({m, n}, 1), values = half({m}, 2), indices("i32", DType::I32, {m});
  for (int64_t i = 0; i < m; ++i) {
    x.set(i * n + (i * 17) % n, 5);
    x.set(i * n + n - 1, 5); // the first one among equals counts
  }
  ASSERT_EQ(run({x.argument(), values.argument(), indices.argument()}), "");
  for (int64_t i = 0; i < m; ++i) {
    EXPECT_EQ(values[i], 5);
    EXPECT_EQ(indices[i], (double)((i * 17) % n));
  }
}

} // namespace
