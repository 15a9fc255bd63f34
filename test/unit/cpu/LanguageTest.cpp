// Programs of the language on the cpu target: what the kernels of kernels/ do not use.
#include "SourceTest.h"

using namespace tilec::cpu;

namespace {

class CpuLanguage : public SourceTest {
protected:
  CpuLanguage() : x("i32", DType::I32, {64}), y("i32", DType::I32, {64}) {
    for (int i = 0; i < 64; ++i) {
      x.set(i, i * 37 % 64);
    }
  }

  /// Block code of one block of 64 threads over X: i32[64] and Y: i32[64].
  std::string runBlock(const std::string &body) {
    compileText("kernel k(X: tensor<i32>[N], Y: out tensor<i32>[N]) {\n"
                "launch b in grid(1) threads(64) {\n" +
                body + "\n} }");
    return program ? run({x.argument(), y.argument()}) : "not compiled";
  }

  Tensor x, y;
};

TEST_F(CpuLanguage, SortByRankWithBarriers) {
  ASSERT_EQ(runBlock(R"(
    shared s: i32[64];
    local rank: i32 = 0;
    threads(t: 64) {
      s[t] = X[t];
      sync_threads();
      for i in 0..64 { if s[i] < s[t] { rank += 1; } }
      sync_threads();
      s[rank] = X[t];
    }
    parallel i in s { Y[i] = s[i] * 100 + rank[i]; })"),
            "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], i * 100 + x[i]);
  }
}

TEST_F(CpuLanguage, JumpsAndLoops) {
  ASSERT_EQ(runBlock(R"(
    var n: i32 = 0;
    for i in 0..64 step 3 {
      if i % 2 == 1 { continue; }
      if i > 40 { break; }
      n += i;
    }
    while true { n += 1000; if n > 5000 { break; } }
    threads(t: 64) {
      var steps: i32 = 0;
      var v: i32 = t + 1;
      while v != 1 { v = v % 2 == 0 ? v / 2 : 3 * v + 1; steps += 1; }
      Y[t] = steps + n;
    }
    if n > 0 { return; }
    parallel i in [64] { Y[i] = -1; })"),
            "");
  int n = 0;
  for (int i = 0; i <= 40; i += 6) {
    n += i;
  }
  while (n <= 5000) {
    n += 1000;
  }
  for (int t = 0; t < 64; ++t) {
    int steps = 0;
    for (int v = t + 1; v != 1; v = v % 2 == 0 ? v / 2 : 3 * v + 1) {
      ++steps;
    }
    EXPECT_EQ(y[t], steps + n) << t;
  }
}

TEST_F(CpuLanguage, UnsignedArithmeticWrapsAndSignedOverflowStops) {
  ASSERT_EQ(runBlock(R"(
    parallel i in [64] {
      let u = u32(i) - 1;
      Y[i] = i32(u / 2 >> 3) + i32(u8(i * 9)) + i32(i8(i * 5));
    })"),
            "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], (double)((uint32_t)(i - 1) / 2 >> 3) + (uint8_t)(i * 9) + (int8_t)(i * 5)) << i;
  }
  std::string error = runBlock("parallel i in [64] { Y[i] = X[i] + 2147483600; }");
  EXPECT_EQ(error, "test.tile:3:29: error: signed integer overflow");
  error = runBlock("parallel i in [64] { Y[i] = 7 / X[i]; }");
  EXPECT_EQ(error, "test.tile:3:29: error: integer division by zero");
  // The side of ?: that is not taken may divide by zero.
  EXPECT_EQ(runBlock("parallel i in [64] { Y[i] = X[i] != 0 ? 7 / X[i] : 5; }"), "");
  EXPECT_EQ(y[0], 5);
}

/// Elements of tiles divide by zero, as the tail of every tensor does; scalar code must not.
TEST_F(CpuLanguage, DivisionsAndShiftsOfTilesAreDefined) {
  ASSERT_EQ(runBlock(R"(
    fragment v: i32[64];
    copy(X[0], v);
    copy(100 / (v - v) + 100 % (v - v) + ceildiv(7, v * 0) + (1 << v + 32) + (-5 >> v - 64), Y[0]);)"),
            "");
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[63], -1);
  ASSERT_EQ(runBlock(R"(
    fragment v: i32[64] = min_value(i32);
    copy(v / (v / v * -1), Y[0]);)"),
            "");
  EXPECT_EQ(y[5], INT32_MIN);
  std::string error = runBlock("var z = X[0]; Y[0] = 5 % z;");
  EXPECT_EQ(error, "test.tile:3:22: error: integer division by zero");
  error = runBlock("var z = X[0]; Y[0] = min_value(i32) / (z - 1);");
  EXPECT_EQ(error, "test.tile:3:22: error: signed integer overflow in a division");
  error = runBlock("var z = X[0]; Y[0] = 5 << z - 1;");
  EXPECT_EQ(error, "test.tile:3:22: error: shift by the width of the type or more");
  error = runBlock("var z = X[0]; Y[0] = i32(u8(5) >> z + 256);");
  EXPECT_EQ(error, "test.tile:3:26: error: shift by the width of the type or more");
}

TEST_F(CpuLanguage, OutOfRangeStopsOnlyForBuffers) {
  EXPECT_EQ(runBlock("parallel i in [64] { Y[i] = X[i - 3] + X[i + 3]; Y[i + 100] = 1; }"), "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], (i < 3 ? 0 : x[i - 3]) + (i > 60 ? 0 : x[i + 3]));
  }
  EXPECT_EQ(runBlock("shared s: i32[64] = 1; parallel i in [64] { Y[i] = s[X[i] + 1]; }"),
            "test.tile:3:52: error: index 64 of `s` is out of range: dimension 0 has extent 64 "
            "[out-of-range]");
}

TEST_F(CpuLanguage, FunctionsVectorsAndWarps) {
  ASSERT_EQ(runBlock(R"(
    threads(t: 64) {
      let v = X[t / 16 * 16 :+ 4];
      let w = v * 2 + 1;
      let all = warp_max(X[t]);
      let other = shuffle_xor(X[t], 1);
      let few = ballot(X[t] < 8);
      Y[t] = reduce_sum(w) + all + other + i32(popcount(few)) + lane();
    })"),
            "");
  for (int t = 0; t < 64; ++t) {
    double sum = 4, most = 0, few = 0;
    for (int i = 0; i < 4; ++i) {
      sum += 2 * x[t / 16 * 16 + i];
    }
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
      most = std::max(most, x[i]);
      few += x[i] < 8;
    }
    EXPECT_EQ(y[t], sum + most + x[t ^ 1] + few + t % 32) << t;
  }
}

TEST_F(CpuLanguage, PrintAndAssert) {
  ASSERT_EQ(runBlock(R"(
    fragment f: f16[2, 2] = 0.5;
    f[0, 1] = 3;
    print("f = {} and {}", f, u8(200));
    assert(f[0, 1] == 3.0, "f is {}", f);)"),
            "");
  EXPECT_EQ(printed, "f = [[0.5, 3], [0.5, 0.5]] and 200\n");
  std::string error = runBlock("let n = X[1];\nassert(n == 38, \"n is {}\", n);");
  EXPECT_EQ(error.substr(0, 12), "test.tile:4:");
  EXPECT_NE(error.find("n is 37"), std::string::npos) << error;
}

TEST_F(CpuLanguage, AtomicsAcrossBlocksAndTwoLaunches) {
  compileText(R"(
kernel k(X: tensor<i32>[N], Y: out tensor<i32>[N]) {
  workspace total: i32[1] = 0;
  workspace ticket: u32[1] = 0;
  launch b in grid(N / 8) threads(32) {
    fragment f: i32[8];
    copy(X[b * 8], f);
    let mine = reduce_sum(f);
    let before = atomic_add(total[0], mine);
    let last = atomic_add(ticket[0], 1, order = acq_rel);
    if last == u32(N / 8 - 1) { assert(before + mine == 2016); }
  }
  launch (i, j) in grid(8, N / 8) threads(32) { Y[j * 8 + i] = total[0] + X[j * 8 + i]; }
})");
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], 2016 + x[i]);
  }
}

TEST_F(CpuLanguage, NarrowTypes) {
  compileText(R"(
kernel k(X: tensor<f32>[N], A: out tensor<e4m3>[N], B: out tensor<e2m1>[N], C: out tensor<u4>[N], S: tensor<e8m0>[N],
         Y: out tensor<f32>[N]) {
  launch b in grid(1) threads(32) {
    fragment x, s: f32[32];
    copy(X[0], x);
    copy(S[0], s);
    copy(x * 100.0, A[0]);
    copy(x, B[0]);
    copy(x * 8.0, C[0]);
    copy(f32(e4m3(x)) * s + f32(e5m2(x)), Y[0]);
  }
})");
  const int n = 30;
  Tensor in("f32", DType::F32, {n}), a("e4m3", DType::E4M3, {n}), b("e2m1", DType::E2M1, {n});
  Tensor c("u4", DType::I4, {n}), s("e8m0", DType::E8M0, {n}), out("f32", DType::F32, {n});
  in.randomize();
  for (int i = 0; i < n; ++i) {
    s.setBits(i, 120 + i % 10);
  }
  ASSERT_EQ(
      run({in.argument(), a.argument(), b.argument(), c.argument(), s.argument(), out.argument()}),
      "");
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(a.bits(i), tile_rt::encodeFloat(DType::E4M3, (float)in[i] * 100.0f)) << i;
    EXPECT_EQ(b.bits(i), tile_rt::encodeFloat(DType::E2M1, in[i])) << i;
    EXPECT_EQ(c.bits(i), tile_rt::convertBits(DType::F64, DType::U4,
                                              tile_rt::encodeFloat(DType::F64, in[i] * 8)))
        << i;
    double e4m3 = tile_rt::decodeFloat(DType::E4M3, tile_rt::encodeFloat(DType::E4M3, in[i]));
    double e5m2 = tile_rt::decodeFloat(DType::E5M2, tile_rt::encodeFloat(DType::E5M2, in[i]));
    EXPECT_EQ(out[i], (float)(e4m3 * std::pow(2.0, 120 + i % 10 - 127) + e5m2)) << i;
  }
}

TEST_F(CpuLanguage, HostPartIsExact) {
  compileText(R"(
kernel k(n: i32, X: tensor<i32>[N], Y: out tensor<i32>[N]) where n * 3 > 0 {
  let blocks = n * 1000;
  launch b in grid(blocks / 1000) threads(32) { Y[b] = X[b] + blocks; }
})");
  ASSERT_EQ(run({Argument::scalar(64, "i32"), x.argument(), y.argument()}), "");
  EXPECT_EQ(y[63], x[63] + 64000);
  std::string error = run({Argument::scalar(3000000, "i32"), x.argument(), y.argument()});
  EXPECT_NE(error.find("[host-overflow]"), std::string::npos) << error;
  error = run({Argument::scalar(0, "i32"), x.argument(), y.argument()});
  EXPECT_NE(error.find("[where-failed]"), std::string::npos) << error;
}

TEST_F(CpuLanguage, UnwrittenBuffersHoldNoNumbers) {
  compileText(R"(
kernel k(n: i32, Y: out tensor<f32>[N]) {
  launch b in grid(1) threads(32) {
    fragment f: f32[8];
    if n > 0 { f = 1; }
    copy(f, Y[0]);
  }
})");
  Tensor out("f32", DType::F32, {8});
  ASSERT_EQ(run({Argument::scalar(1, "i32"), out.argument()}), "");
  EXPECT_EQ(out[0], 1);
  ASSERT_EQ(run({Argument::scalar(0, "i32"), out.argument()}), "");
  EXPECT_TRUE(std::isnan(out[0]));
}

} // namespace
