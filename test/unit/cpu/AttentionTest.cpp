// Attention kernels of kernels/ on the cpu target, against f64 references.
#include "SourceTest.h"

using namespace tilec::cpu;

namespace {

class CpuAttention : public SourceTest {};

Argument number(int32_t value) { return Argument::scalar((uint32_t)value, "i32"); }
Argument number(float value) {
  return Argument::scalar(tile_rt::encodeFloat(DType::F32, value), "f32");
}

TEST_F(CpuAttention, FlashAttention) {
  const int64_t b = 2, h = 4, hkv = 2, s = 19, d = 32;
  const float scale = 0.3f;
  for (bool causal : {false, true}) {
    compileKernel("attention/flash_attention.tile",
                  std::string("flash_attention<D = 32, BM = 16, BN = 16, CAUSAL = ") +
                      (causal ? "true" : "false") + "> as k");
    // With fewer keys than rows the first causal rows see none.
    for (int64_t sk : {37, 11}) {
      Tensor q("f16", DType::F16, {b, h, s, d}), k("f16", DType::F16, {b, hkv, sk, d});
      Tensor v("f16", DType::F16, {b, hkv, sk, d}), o("f16", DType::F16, {b, h, s, d});
      Tensor lse("f32", DType::F32, {b, h, s});
      q.randomize(1);
      k.randomize(2);
      v.randomize(3);
      ASSERT_EQ(run({q.argument(), k.argument(), v.argument(), number(scale), o.argument(),
                     lse.argument()}),
                "");
      std::vector<double> want(o.count, 0), wantLse(lse.count);
      for (int64_t row = 0; row < b * h * s; ++row) {
        int64_t i = row % s, head = row / s % h, batch = row / s / h;
        int64_t base = (batch * hkv + head / (h / hkv)) * sk;
        std::vector<double> weights;
        double top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < sk && (!causal || j <= i + sk - s); ++j) {
          double score = 0;
          for (int64_t e = 0; e < d; ++e) {
            score += q[row * d + e] * k[(base + j) * d + e] * scale;
          }
          weights.push_back(score);
          top = std::max(top, score);
        }
        for (double &weight : weights) {
          weight = std::exp(weight - top);
          sum += weight;
        }
        for (size_t j = 0; j < weights.size(); ++j) {
          for (int64_t e = 0; e < d; ++e) {
            want[row * d + e] += weights[j] / sum * v[(base + j) * d + e];
          }
        }
        wantLse[row] = weights.empty() ? -INFINITY : top + std::log(sum);
      }
      EXPECT_LE(relativeError(o, want), 1e-3) << causal << ' ' << sk;
      for (int64_t row = 0; row < lse.count; ++row) {
        if (std::isinf(wantLse[row])) {
          EXPECT_EQ(lse[row], -INFINITY) << row;
        } else {
          EXPECT_NEAR(lse[row], wantLse[row], 1e-4) << row;
        }
      }
    }
  }
}

TEST_F(CpuAttention, MlaDecode) {
  compileKernel("attention/mla_decode.tile",
                "mla_decode<T = f16, DV = 32, DR = 16, BH = 16, BN = 16> as k");
  const int64_t b = 3, h = 20, sk = 70, dv = 32, width = 48;
  const float scale = 0.2f;
  Tensor q("f16", DType::F16, {b, h, width}), kv("f16", DType::F16, {b, sk, width});
  Tensor seqlens("i32", DType::I32, {b}), o("f16", DType::F16, {b, h, dv});
  q.randomize(1);
  kv.randomize(2);
  int64_t lengths[] = {70, 0, 33};
  std::vector<double> want(o.count, 0);
  for (int64_t row = 0; row < b * h; ++row) {
    int64_t batch = row / h;
    seqlens.set(batch, (double)lengths[batch]);
    double sum = 0;
    std::vector<double> weights;
    for (int64_t j = 0; j < lengths[batch]; ++j) {
      double score = 0;
      for (int64_t e = 0; e < width; ++e) {
        score += q[row * width + e] * kv[(batch * sk + j) * width + e] * scale;
      }
      weights.push_back(std::exp(score));
      sum += weights.back();
    }
    for (size_t j = 0; j < weights.size(); ++j) {
      for (int64_t e = 0; e < dv; ++e) {
        want[row * dv + e] += weights[j] / sum * kv[(batch * sk + j) * width + e];
      }
    }
  }
  for (int splits : {1, 3, 8}) {
    ASSERT_EQ(run({q.argument(), kv.argument(), seqlens.argument(), number(scale), number(splits),
                   o.argument()}),
              "");
    EXPECT_LE(relativeError(o, want), 1e-3) << splits;
  }
}

/// One token of linear attention: the state takes k times v, the result is q times the state.
void addToken(const Tensor &q, const Tensor &k, const Tensor &v, int64_t row, int64_t dk,
              int64_t dv, float scale, double *state, double *result) {
  for (int64_t e = 0; e < dk; ++e) {
    for (int64_t f = 0; f < dv; ++f) {
      state[e * dv + f] += k[row * dk + e] * v[row * dv + f];
      result[row * dv + f] += scale * q[row * dk + e] * state[e * dv + f];
    }
  }
}

TEST_F(CpuAttention, LinearAttention) {
  compileKernel("linear_attention/linear_attention.tile",
                "linear_attention<T = f16, DK = 16, BV = 16, CHUNK = 16> as k");
  const int64_t b = 2, s = 37, h = 3, dk = 16, dv = 20;
  const float scale = 0.25f;
  Tensor q("f16", DType::F16, {b, s, h, dk}), k("f16", DType::F16, {b, s, h, dk});
  Tensor v("f16", DType::F16, {b, s, h, dv}), o("f16", DType::F16, {b, s, h, dv});
  Tensor initial("f32", DType::F32, {b, h, dk, dv}), final("f32", DType::F32, {b, h, dk, dv});
  q.randomize(1);
  k.randomize(2);
  v.randomize(3);
  initial.randomize(4);
  for (bool hasState : {true, false}) {
    std::vector<double> want(o.count, 0), state(initial.count, 0);
    for (int64_t i = 0; i < initial.count && hasState; ++i) {
      state[i] = initial[i];
    }
    for (int64_t batch = 0; batch < b; ++batch) {
      for (int64_t head = 0; head < h; ++head) {
        double *matrix = &state[(batch * h + head) * dk * dv];
        for (int64_t t = 0; t < s; ++t) {
          int64_t row = (batch * s + t) * h + head;
          addToken(q, k, v, row, dk, dv, scale, matrix, want.data());
        }
      }
    }
    Argument in = Argument::tensor(hasState ? initial.data : nullptr, {b, h, dk, dv}, "f32");
    Argument out = Argument::tensor(hasState ? final.data : nullptr, {b, h, dk, dv}, "f32");
    ASSERT_EQ(run({q.argument(), k.argument(), v.argument(), number(scale), in, o.argument(), out}),
              "");
    // The state and the scores pass through f16 tiles.
    EXPECT_LE(relativeError(o, want), 3e-3) << hasState;
    if (hasState) {
      EXPECT_LE(relativeError(final, state), 1e-3);
    }
  }
}

} // namespace
