// Operations on whole tiles: element-wise code, reductions, scans, slices, gathers.
#include "CpuTest.h"

using namespace tilec::cpu;

namespace {

/// A kernel over one input and one output, the grid one block, BODY between reading %x and writing
/// %y.
const char *kTileKernel = R"mlir(
tile.kernel @k(%X: !tile.global<XSHAPExTX> {tile.name = "X"},
               %Y: !tile.global<YSHAPExTY> {tile.name = "Y", tile.direction = "out"}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%b: i32):
    %xb = tile.alloc "x" : !tile.buffer<XSHAPExTX, fragment>
    tile.copy %X to %xb : !tile.global<XSHAPExTX>, !tile.buffer<XSHAPExTX, fragment>
    %x = tile.read %xb : !tile.buffer<XSHAPExTX, fragment> -> tensor<XSHAPExTX>
    BODY
    tile.copy %y to %Y : tensor<YSHAPExTY>, !tile.global<YSHAPExTY>
  }
  tile.return
}
)mlir";

class CpuTiles : public CpuTest {
protected:
  void compileTile(const char *body, const char *xShape, const char *xType, const char *yShape,
                   const char *yType) {
    compile(with(
        kTileKernel,
        {{"BODY", body}, {"XSHAPE", xShape}, {"YSHAPE", yShape}, {"TX", xType}, {"TY", yType}}));
  }
};

TEST_F(CpuTiles, GeluInF16RoundsEachOperationOnce) {
  compileTile(R"(%s = arith.mulf %x, %x : tensor<64xf16>
    %t = arith.addf %s, %x : tensor<64xf16>
    %u = math.tanh %t : tensor<64xf16>
    %y = arith.divf %u, %s : tensor<64xf16>)",
              "64", "f16", "64", "f16");
  Tensor x("f16", DType::F16, {64}), y("f16", DType::F16, {64});
  x.randomize();
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  auto round = [](double v) {
    return tile_rt::decodeFloat(DType::F16, tile_rt::encodeFloat(DType::F16, v));
  };
  for (int i = 0; i < 64; ++i) {
    double s = round(x[i] * x[i]), t = round(s + x[i]);
    double u = round((float)std::tanh(t));
    EXPECT_EQ(y[i], round(u / s)) << i;
  }
}

TEST_F(CpuTiles, ReducesAlongEachAxis) {
  for (auto [axis, shape] : {std::pair(0, "30"), {1, "20"}}) {
    std::string body = "%y = tile.reduce <sum> %x axis " + std::to_string(axis) +
                       " : tensor<20x30xf32> -> tensor<" + shape + "xf32>";
    compileTile(body.c_str(), "20x30", "f32", shape, "f32");
    Tensor x("f32", DType::F32, {20, 30}), y("f32", DType::F32, {axis ? 20 : 30});
    x.randomize();
    ASSERT_EQ(run({x.argument(), y.argument()}), "");
    for (int64_t i = 0; i < y.count; ++i) {
      double want = 0;
      for (int64_t k = 0; k < (axis ? 30 : 20); ++k) {
        want += x[axis ? i * 30 + k : k * 30 + i];
      }
      EXPECT_NEAR(y[i], want, 1e-5);
    }
  }
}

TEST_F(CpuTiles, HalfSumsAreKeptInF32) {
  compileTile(R"(%s = tile.reduce <sum> %x : tensor<4096xf16> -> f16
    %y = tile.splat %s : f16 -> tensor<4xf16>)",
              "4096", "f16", "4", "f16");
  Tensor x("f16", DType::F16, {4096}), y("f16", DType::F16, {4});
  for (int i = 0; i < 4096; ++i) {
    x.set(i, 1); // in f16 the sum would stop at 2048
  }
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_EQ(y[3], 4096);
}

TEST_F(CpuTiles, MaximumIgnoresNan) {
  compileTile(R"(%m = tile.reduce <max> %x : tensor<8xf32> -> f32
    %n = tile.reduce <min> %x : tensor<8xf32> -> f32
    %a = tile.splat %m : f32 -> tensor<8xf32>
    %b2 = tile.splat %n : f32 -> tensor<8xf32>
    %y = arith.subf %a, %b2 : tensor<8xf32>)",
              "8", "f32", "8", "f32");
  Tensor x("f32", DType::F32, {8}), y("f32", DType::F32, {8});
  for (int i = 0; i < 8; ++i) {
    x.set(i, i % 3 == 0 ? NAN : i);
  }
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_EQ(y[0], 7 - 1);
}

TEST_F(CpuTiles, IntegerReductions) {
  for (auto [kind, flag, want] : {std::tuple("sum", "", 5.0 - 3 + 7 - 1),
                                  {"prod", "", 105.0},
                                  {"max", "", 7.0},
                                  {"min", "", -3.0},
                                  {"max", " {is_unsigned}", -1.0},
                                  {"and", "", 5.0 - 4 * 0 - 0},
                                  {"or", "", -1.0},
                                  {"xor", "", (double)(5 ^ -3 ^ 7 ^ -1)}}) {
    std::string body = std::string("%r = tile.reduce <") + kind + "> %x" + flag +
                       " : tensor<4xi32> -> i32\n%y = tile.splat %r : i32 -> tensor<4xi32>";
    compileTile(body.c_str(), "4", "i32", "4", "i32");
    Tensor x("i32", DType::I32, {4}), y("i32", DType::I32, {4});
    int32_t in[] = {5, -3, 7, -1};
    for (int i = 0; i < 4; ++i) {
      x.set(i, in[i]);
    }
    ASSERT_EQ(run({x.argument(), y.argument()}), "");
    EXPECT_EQ(y[0], std::string(kind) == "and" ? (5 & -3 & 7 & -1) : want) << kind << flag;
  }
}

TEST_F(CpuTiles, Scans) {
  for (bool reverse : {false, true}) {
    for (bool exclusive : {false, true}) {
      std::string flags = std::string(reverse ? "reverse" : "") +
                          (reverse && exclusive ? ", " : "") + (exclusive ? "exclusive" : "");
      std::string body = "%y = tile.scan <sum> %x axis 1 {" + flags + "} : tensor<3x7xi32>";
      compileTile(body.c_str(), "3x7", "i32", "3x7", "i32");
      Tensor x("i32", DType::I32, {3, 7}), y("i32", DType::I32, {3, 7});
      x.randomize(5);
      ASSERT_EQ(run({x.argument(), y.argument()}), "");
      for (int64_t row = 0; row < 3; ++row) {
        double sum = 0;
        for (int64_t step = 0; step < 7; ++step) {
          int64_t i = row * 7 + (reverse ? 6 - step : step);
          EXPECT_EQ(y[i], exclusive ? sum : sum + x[i]) << flags << ' ' << i;
          sum += x[i];
        }
      }
    }
  }
}

TEST_F(CpuTiles, ExclusiveMaximumBeginsWithItsIdentity) {
  compileTile("%y = tile.scan <max> %x axis 0 {exclusive} : tensor<5xf32>", "5", "f32", "5", "f32");
  Tensor x("f32", DType::F32, {5}), y("f32", DType::F32, {5});
  x.randomize();
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_EQ(y[0], -INFINITY);
  EXPECT_EQ(y[1], x[0]);
}

TEST_F(CpuTiles, ArgmaxByACombine) {
  compileTile(R"(%i = arith.constant dense<[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]> : tensor<2x5xi32>
    %v, %y = tile.reduce_with %x, %i axis 1 : tensor<2x5xf32>, tensor<2x5xi32> -> tensor<2xf32>, tensor<2xi32> {
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %gt = arith.cmpf ogt, %av, %bv : f32
      %eq = arith.cmpf oeq, %av, %bv : f32
      %lt = arith.cmpi slt, %ai, %bi : i32
      %tie = arith.andi %eq, %lt : i1
      %first = arith.ori %gt, %tie : i1
      %rv = arith.select %first, %av, %bv : f32
      %ri = arith.select %first, %ai, %bi : i32
      tile.yield %rv, %ri : f32, i32
    })",
              "2x5", "f32", "2", "i32");
  Tensor x("f32", DType::F32, {2, 5}), y("i32", DType::I32, {2});
  double in[] = {1, 9, 3, 9, 0, -5, -4, -3, -2, -2};
  for (int i = 0; i < 10; ++i) {
    x.set(i, in[i]);
  }
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 3);
}

TEST_F(CpuTiles, ScanWithACombineThatDoesNotCommute) {
  // (a, b) after (c, d): x -> c * (a x + b) + d.
  compileTile(R"(%o = arith.constant dense<1> : tensor<6xi32>
    %p, %y = tile.scan_with %x, %o axis 0 : tensor<6xi32>, tensor<6xi32> -> tensor<6xi32>, tensor<6xi32> {
    ^bb0(%a: i32, %b1: i32, %c: i32, %d: i32):
      %ca = arith.muli %c, %a : i32
      %cb = arith.muli %c, %b1 : i32
      %s = arith.addi %cb, %d : i32
      tile.yield %ca, %s : i32, i32
    })",
              "6", "i32", "6", "i32");
  Tensor x("i32", DType::I32, {6}), y("i32", DType::I32, {6});
  x.randomize(7);
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  double value = 1;
  EXPECT_EQ(y[0], 1);
  for (int i = 1; i < 6; ++i) {
    value = x[i] * value + 1;
    EXPECT_EQ(y[i], value) << i;
  }
}

TEST_F(CpuTiles, RepeatsAlongNewDimensions) {
  compileTile("%y = tile.broadcast %x along [0, 2] : tensor<3x5xi16> -> tensor<2x3x4x5xi16>", "3x5",
              "i16", "2x3x4x5", "i16");
  Tensor x("i16", DType::I16, {3, 5}), y("i16", DType::I16, {2, 3, 4, 5});
  x.randomize();
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  for (int i = 0; i < 120; ++i) {
    EXPECT_EQ(y[i], x[i / 20 % 3 * 5 + i % 5]) << i;
  }
}

TEST_F(CpuTiles, TransposeAndMap) {
  compileTile(R"(%t = tile.transpose %x : tensor<3x5xf32> -> tensor<5x3xf32>
    %y = tile.map %t : tensor<5x3xf32> -> tensor<5x3xf32> {
    ^bb0(%e: f32):
      %z = arith.constant 0.0 : f32
      %n = arith.cmpf olt, %e, %z : f32
      %r = scf.if %n -> f32 {
        scf.yield %z : f32
      } else {
        %d = arith.addf %e, %e : f32
        scf.yield %d : f32
      }
      tile.yield %r : f32
    })",
              "3x5", "f32", "5x3", "f32");
  Tensor x("f32", DType::F32, {3, 5}), y("f32", DType::F32, {5, 3});
  x.randomize();
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double e = x[j * 5 + i];
      EXPECT_EQ(y[i * 3 + j], e < 0 ? 0 : 2 * e);
    }
  }
}

TEST_F(CpuTiles, PackedFourBitTypes) {
  compileTile(R"(%y = tile.convert %x {src_unsigned} : tensor<2x6xi4> to tensor<2x6xf32>)", "2x6",
              "i4", "2x6", "f32");
  Tensor x("i4", DType::I4, {2, 6}), y("f32", DType::F32, {2, 6});
  for (int i = 0; i < 12; ++i) {
    x.setBits(i, (i * 5 + 3) % 16);
  }
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(y[i], (i * 5 + 3) % 16);
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TEST_F(CpuTiles, SlicesHaveBoundsOfTheirOwnAndThoseOfTheirSource) {
  compile(R"mlir(
tile.kernel @k(%X: !tile.global<?xf32> {tile.name = "X"}, %lo: i32 {tile.name = "lo"}, %n: i32 {tile.name = "n"},
               %Y: !tile.global<8xf32> {tile.name = "Y", tile.direction = "out"}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%b: i32):
    %c2 = arith.constant -2 : i32
    %v = tile.slice %X[%lo] sizes [-9223372036854775808] (%n : i32) : !tile.global<?xf32>, i32 -> !tile.global<?xf32>
    %w = tile.slice %v[%c2] sizes [8] : !tile.global<?xf32>, i32 -> !tile.global<8xf32>
    %f = tile.alloc "f" : !tile.buffer<8xf32, fragment>
    tile.copy %w to %f : !tile.global<8xf32>, !tile.buffer<8xf32, fragment>
    tile.copy %f to %Y : !tile.buffer<8xf32, fragment>, !tile.global<8xf32>
  }
  tile.return
})mlir");
  Tensor x("f32", DType::F32, {10}), y("f32", DType::F32, {8});
  for (int i = 0; i < 10; ++i) {
    x.set(i, 100 + i);
  }
  for (auto [lo, n] : {std::pair(3, 4), {7, 100}, {-1, 5}, {0, 0}, {4, -3}, {20, 2}}) {
    ASSERT_EQ(run({x.argument(), Argument::scalar((uint32_t)lo, "i32"),
                   Argument::scalar((uint32_t)n, "i32"), y.argument()}),
              "");
    for (int i = 0; i < 8; ++i) {
      int inView = i - 2, inX = lo + inView;
      bool inside = inView >= 0 && inView < n && inX >= 0 && inX < 10;
      EXPECT_EQ(y[i], inside ? 100 + inX : 0) << lo << ' ' << n << ' ' << i;
    }
  }
}

TEST_F(CpuTiles, GathersScattersAndGathersOfGathers) {
  compile(R"mlir(
tile.kernel @k(%X: !tile.global<?x4xf32> {tile.name = "X"}, %Y: !tile.global<?x4xf32> {tile.name = "Y", tile.direction = "out"}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%b: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rows = arith.constant dense<[4, -1, 0, 2, 9]> : tensor<5xi32>
    %again = arith.constant dense<[3, 0, 1, 7]> : tensor<4xi64>
    %to = arith.constant dense<[2, 5, 0, 1]> : tensor<4xi32>
    %g = tile.slice %X[%rows, %c0] sizes [5, 4] : !tile.global<?x4xf32>, tensor<5xi32>, i32 -> !tile.global<5x4xf32>
    %h = tile.slice %g[%again, %c1] sizes [4, 2] : !tile.global<5x4xf32>, tensor<4xi64>, i32 -> !tile.global<4x2xf32>
    %s = tile.alloc "s" : !tile.buffer<4x2xf32, shared>
    tile.copy %h to %s : !tile.global<4x2xf32>, !tile.buffer<4x2xf32, shared>
    %d = tile.slice %Y[%to, %c0] sizes [4, 2] : !tile.global<?x4xf32>, tensor<4xi32>, i32 -> !tile.global<4x2xf32>
    tile.copy %s to %d : !tile.buffer<4x2xf32, shared>, !tile.global<4x2xf32>
  }
  tile.return
})mlir");
  Tensor x("f32", DType::F32, {6, 4}), y("f32", DType::F32, {4, 4});
  for (int i = 0; i < 24; ++i) {
    x.set(i, i);
  }
  for (int i = 0; i < 16; ++i) {
    y.set(i, -7);
  }
  ASSERT_EQ(run({x.argument(), y.argument()}), "");
  // Rows of h: 3 -> X[2], 0 -> X[4], 1 -> row -1, 7 -> outside of g. They go to 2, 5 (outside),
  // 0, 1.
  double want[4][2] = {{0, 0}, {0, 0}, {2 * 4 + 1, 2 * 4 + 2}, {-7, -7}};
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(y[i], i % 4 < 2 ? want[i / 4][i % 4] : -7) << i;
  }
}

TEST_F(CpuTiles, ReshapeAndBitcastViews) {
  compile(R"mlir(
tile.kernel @k(%X: !tile.global<?x?xf32> {tile.name = "X"}, %rows: i32 {tile.name = "rows"},
               %Y: !tile.global<?x?xi8> {tile.name = "Y", tile.direction = "out"}) {
  %c2 = arith.constant 2 : i32
  %r = tile.reshape %X (%rows, %c2 : i32, i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %v = tile.bitcast_view %r : !tile.global<?x?xf32> -> !tile.global<?x?xi8>
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%b: i32):
    %c0 = arith.constant 0 : i32
    %p = tile.slice %v[%c0, %c0] sizes [4, 10] : !tile.global<?x?xi8>, i32, i32 -> !tile.global<4x10xi8>
    %s = tile.alloc "s" : !tile.buffer<4x10xi8, shared>
    tile.copy %p to %s : !tile.global<4x10xi8>, !tile.buffer<4x10xi8, shared>
    %q = tile.slice %Y[%c0, %c0] sizes [4, 10] : !tile.global<?x?xi8>, i32, i32 -> !tile.global<4x10xi8>
    tile.copy %s to %q : !tile.buffer<4x10xi8, shared>, !tile.global<4x10xi8>
  }
  tile.return
})mlir");
  Tensor x("f32", DType::F32, {2, 3}), y("i8", DType::I8, {4, 10});
  x.randomize();
  ASSERT_EQ(run({x.argument(), Argument::scalar(3, "i32"), y.argument()}), "");
  for (int i = 0; i < 40; ++i) {
    int row = i / 10, column = i % 10;
    bool inside = row < 3 && column < 8;
    EXPECT_EQ((uint8_t)y.bits(i), inside ? (uint8_t)x.data[row * 8 + column] : 0) << i;
  }
  EXPECT_NE(run({x.argument(), Argument::scalar(4, "i32"), y.argument()}).find("[reshape]"),
            std::string::npos);
}

TEST_F(CpuTiles, StridedAndOptionalArguments) {
  compile(R"mlir(
tile.kernel @k(%X: !tile.global<?x?xf32> {tile.name = "X", tile.strided},
               %B: !tile.global<?xf32> {tile.name = "B", tile.optional},
               %Y: !tile.global<3x4xf32> {tile.name = "Y", tile.direction = "out"}) {
  %one = arith.constant 1 : i32
  %has = tile.present %B : !tile.global<?xf32>
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%b: i32):
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    tile.parallel (%c3, %c4 : i32, i32) {
    ^bb0(%i: i32, %j: i32):
      %x = tile.load %X[%i, %j : i32, i32] : !tile.global<?x?xf32> -> f32
      %y = scf.if %has -> f32 {
        %e = tile.load %B[%j : i32] : !tile.global<?xf32> -> f32
        %s = arith.addf %x, %e : f32
        scf.yield %s : f32
      } else {
        scf.yield %x : f32
      }
      tile.store %y, %Y[%i, %j : i32, i32] : f32, !tile.global<3x4xf32>
    }
  }
  tile.return
})mlir");
  Tensor x("f32", DType::F32, {3, 8}), bias("f32", DType::F32, {4}), y("f32", DType::F32, {3, 4});
  x.randomize(1);
  bias.randomize(2);
  Argument strided = Argument::tensor(x.data, {3, 3}, {8, 1}, "f32");
  for (bool with : {true, false}) {
    Argument b = Argument::tensor(with ? bias.data : nullptr, {4}, "f32");
    ASSERT_EQ(run({strided, b, y.argument()}), "");
    for (int i = 0; i < 12; ++i) {
      double want = (i % 4 < 3 ? x[i / 4 * 8 + i % 4] : 0);
      EXPECT_EQ(y[i], with ? (float)(want + bias[i % 4]) : want);
    }
  }
}

} // namespace
