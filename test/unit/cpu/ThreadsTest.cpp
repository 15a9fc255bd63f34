// Thread regions, warps, atomics, text, and the errors of a program that are seen at run time.
#include "CpuTest.h"

using namespace tilec::cpu;

namespace {

/// A kernel of one block of 64 threads; BODY is block code that sees X and Y.
const char *kBlock = R"mlir(
tile.kernel @k(%X: !tile.global<?xi32> {tile.name = "X"},
               %Y: !tile.global<?xi32> {tile.name = "Y", tile.direction = "out"}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(64) {
  ^bb0(%b: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    BODY
  }
  tile.return
}
)mlir";

class CpuThreads : public CpuTest {
protected:
  CpuThreads() : x("i32", DType::I32, {64}), y("i32", DType::I32, {64}) { x.randomize(); }

  std::string runBlock(const char *body) {
    compile(with(kBlock, {{"BODY", body}}));
    return program ? run({x.argument(), y.argument()}) : "not compiled";
  }

  Tensor x, y;
};

TEST_F(CpuThreads, HistogramInSharedMemoryWithBarriers) {
  ASSERT_EQ(runBlock(R"(
    %count = tile.alloc "count" : !tile.buffer<8xi32, shared>
    %seen = tile.alloc "seen" : !tile.buffer<i32, local>
    tile.threads [64] {
    ^bb0(%t: i32):
      %first = arith.cmpi slt, %t, %c8 : i32
      scf.if %first {
        tile.store %c0, %count[%t : i32] : i32, !tile.buffer<8xi32, shared>
      }
      tile.sync_threads
      %v = tile.load %X[%t : i32] : !tile.global<?xi32> -> i32
      %c7 = arith.constant 7 : i32
      %bin = arith.andi %v, %c7 : i32
      %old = tile.atomic <add> %c1, %count[%bin : i32] : i32, !tile.buffer<8xi32, shared> -> i32
      tile.write %t, %seen : i32, !tile.buffer<i32, local>
      tile.sync_threads
      // What the neighbour's bin holds is final now.
      %next = arith.addi %t, %c1 : i32
      %nb = arith.andi %next, %c7 : i32
      %n = tile.load %count[%nb : i32] : !tile.buffer<8xi32, shared> -> i32
      tile.store %n, %Y[%t : i32] : i32, !tile.global<?xi32>
    }
    %all = tile.read %seen : !tile.buffer<i32, local> -> tensor<64xi32>
    %sum = tile.reduce <sum> %all : tensor<64xi32> -> i32
    tile.print "sum {}", %sum : i32)"),
            "");
  int count[8] = {};
  for (int i = 0; i < 64; ++i) {
    ++count[x.bits(i) & 7];
  }
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], count[(i + 1) & 7]);
  }
  EXPECT_EQ(printed, "sum 2016\n");
}

TEST_F(CpuThreads, WarpOperations) {
  ASSERT_EQ(runBlock(R"(
    tile.threads [16, 4] {
    ^bb0(%i: i32, %j: i32):
      %c16 = arith.constant 16 : i32
      %c3 = arith.constant 3 : i32
      %row = arith.muli %j, %c16 : i32
      %t = arith.addi %i, %row : i32
      %v = tile.load %X[%t : i32] : !tile.global<?xi32> -> i32
      %sum = tile.warp <sum> %v {width = 8 : i32} : i32
      %max = tile.warp <max> %v : i32
      %lane = tile.lane
      %xor = tile.shuffle <shuffle_xor> %v, %c3 : i32, i32 -> i32
      %up = tile.shuffle <shuffle_up> %v, %c1 {width = 16 : i32} : i32, i32 -> i32
      %odd = arith.andi %v, %c1 : i32
      %is = arith.cmpi ne, %odd, %c0 : i32
      %mask = tile.ballot %is
      %a = arith.addi %sum, %max : i32
      %b1 = arith.xori %a, %mask : i32
      %d = arith.muli %xor, %c16 : i32
      %e = arith.addi %b1, %d : i32
      %f = arith.addi %e, %up : i32
      %g = arith.addi %f, %lane : i32
      tile.store %g, %Y[%t : i32] : i32, !tile.global<?xi32>
    })"),
            "");
  auto value = [&](int t) { return (int32_t)x.bits(t); };
  for (int t = 0; t < 64; ++t) {
    int lane = t % 32, warp = t - lane, sum = 0, max = value(warp);
    uint32_t mask = 0;
    for (int k = 0; k < 8; ++k) {
      sum += value(t / 8 * 8 + k);
    }
    for (int k = 0; k < 32; ++k) {
      max = std::max(max, value(warp + k));
      mask |= (uint32_t)(value(warp + k) & 1) << k;
    }
    int up = t % 16 == 0 ? value(t) : value(t - 1);
    int want = (int)((uint32_t)(sum + max) ^ mask) + value(t ^ 3) * 16 + up + lane;
    EXPECT_EQ((int32_t)y.bits(t), want) << t;
  }
}

TEST_F(CpuThreads, ScansOfLanes) {
  ASSERT_EQ(runBlock(R"(
    tile.threads [64] {
    ^bb0(%t: i32):
      %v = tile.load %X[%t : i32] : !tile.global<?xi32> -> i32
      %c3 = arith.constant 3 : i32
      %small = arith.andi %v, %c3 : i32
      %sum = tile.warp_scan <sum> %v : i32
      %prod = tile.warp_scan <prod> %small {exclusive, width = 4 : i32} : i32
      %min = tile.warp_scan <min> %small {reverse, width = 8 : i32} : i32
      %max = tile.warp_scan <max> %small {exclusive, is_unsigned, reverse, width = 8 : i32} : i32
      %c100 = arith.constant 100 : i32
      %a = arith.muli %sum, %c100 : i32
      %p = arith.addi %a, %prod : i32
      %q = arith.muli %p, %c100 : i32
      %r = arith.addi %q, %min : i32
      %s = arith.muli %r, %c100 : i32
      %u = arith.addi %s, %max : i32
      tile.store %u, %Y[%t : i32] : i32, !tile.global<?xi32>
    })"),
            "");
  auto value = [&](int t) { return (uint32_t)x.bits(t); };
  for (int t = 0; t < 64; ++t) {
    uint32_t sum = 0, prod = 1, min = value(t) & 3, max = 0;
    for (int k = t / 32 * 32; k <= t; ++k) {
      sum += value(k);
    }
    for (int k = t / 4 * 4; k < t; ++k) {
      prod *= value(k) & 3;
    }
    for (int k = t + 1; k < t / 8 * 8 + 8; ++k) {
      min = std::min(min, value(k) & 3);
      max = std::max(max, value(k) & 3);
    }
    EXPECT_EQ((uint32_t)y.bits(t), ((sum * 100 + prod) * 100 + min) * 100 + max) << t;
  }
}

TEST_F(CpuThreads, VectorsAndLoops) {
  ASSERT_EQ(runBlock(R"(
    tile.threads [64] {
    ^bb0(%t: i32):
      %c4 = arith.constant 4 : i32
      %idx = arith.constant 2 : index
      %zero = arith.constant 0 : i32
      %total = scf.for %k = %c0 to %c64 step %c4 iter_args(%acc = %zero) -> i32 : i32 {
        %v = tile.load %X[%k : i32] : !tile.global<?xi32> -> vector<4xi32>
        %w = arith.addi %v, %v : vector<4xi32>
        %s = tile.reduce <sum> %w : vector<4xi32> -> i32
        %e = vector.extract %v[%idx] : i32 from vector<4xi32>
        %p = arith.subi %s, %e : i32
        %n = arith.addi %acc, %p : i32
        scf.yield %n : i32
      }
      tile.store %total, %Y[%t : i32] : i32, !tile.global<?xi32>
    })"),
            "");
  int want = 0;
  for (int i = 0; i < 64; ++i) {
    want += 2 * (int32_t)x.bits(i) - (i % 4 == 2 ? (int32_t)x.bits(i) : 0);
  }
  for (int t = 0; t < 64; ++t) {
    ASSERT_EQ((int32_t)y.bits(t), want);
  }
}

TEST_F(CpuThreads, AtomicsOnTensorsAndTiles) {
  ASSERT_EQ(runBlock(R"(
    %init = arith.constant dense<3> : tensor<64xi32>
    tile.copy %init to %Y : tensor<64xi32>, !tile.global<?xi32>
    %x = tile.slice %X[%c0] sizes [70] : !tile.global<?xi32>, i32 -> !tile.global<70xi32>
    %f = tile.alloc "f" : !tile.buffer<70xi32, fragment>
    tile.copy %x to %f : !tile.global<70xi32>, !tile.buffer<70xi32, fragment>
    %v = tile.read %f : !tile.buffer<70xi32, fragment> -> tensor<70xi32>
    %y = tile.slice %Y[%c0] sizes [70] : !tile.global<?xi32>, i32 -> !tile.global<70xi32>
    tile.atomic_tile <add> %v, %y : tensor<70xi32>, !tile.global<70xi32>
    %old = tile.atomic <max> %c64, %Y[%c1 : i32] : i32, !tile.global<?xi32> -> i32
    %out = tile.atomic <add> %c64, %Y[%c64 : i32] : i32, !tile.global<?xi32> -> i32
    %cas = tile.atomic_cas %c64, %c8, %Y[%c1 : i32] : i32, i32, !tile.global<?xi32> -> i32
    tile.print "{} {} {}", %old, %out, %cas : i32, i32, i32)"),
            "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], i == 1 ? 8 : x[i] + 3) << i;
  }
  EXPECT_EQ(printed, std::to_string((int)x[1] + 3) + " 0 64\n");
}

TEST_F(CpuThreads, PrintsScalarsAndTiles) {
  ASSERT_EQ(runBlock(R"(
    %t = arith.constant dense<[[0.1, 2.0], [-3.5, 0x7F800000]]> : tensor<2x2xf32>
    %h = arith.constant 0.1 : f16
    %m = arith.constant -1 : i32
    %yes = arith.constant true
    tile.print "t = {}, h = {}, {} or {}, {{}}", %t, %h, %m, %m, %yes : tensor<2x2xf32>, f16, i32, i32, i1 {unsigned_values = array<i32: 3>})"),
            "");
  EXPECT_EQ(printed, "t = [[0.1, 2], [-3.5, inf]], h = 0.099975586, -1 or 4294967295, {true}\n");
}

//===----------------------------------------------------------------------===//
// Errors of the program
//===----------------------------------------------------------------------===//

TEST_F(CpuThreads, OutOfRangeOfABuffer) {
  EXPECT_EQ(runBlock(R"(
    %s = tile.alloc "s" : !tile.buffer<64xi32, shared>
    %v = tile.load %s[%c64 : i32] : !tile.buffer<64xi32, shared> -> i32)"),
            "test.mlir:13:10: error: index 64 of `s` is out of range: dimension 0 has extent 64 "
            "[out-of-range]");
  EXPECT_NE(runBlock(R"(
    %s = tile.alloc "s" : !tile.buffer<64xi32, shared>
    %v = tile.slice %s[%c1] sizes [64] : !tile.buffer<64xi32, shared>, i32 -> !tile.buffer<64xi32, shared>)")
                .find("index 64 of `s` is out of range"),
            std::string::npos);
}

TEST_F(CpuThreads, IntegerErrors) {
  auto message = [&](const char *code) { return runBlock(code); };
  EXPECT_NE(message("%d = arith.divsi %c8, %c0 : i32").find("division by zero"), std::string::npos);
  EXPECT_NE(message("%big = arith.constant 2147483647 : i32\n"
                    "%d = arith.addi %big, %c1 overflow<nsw> : i32")
                .find("signed integer overflow"),
            std::string::npos);
  EXPECT_EQ(message("%big = arith.constant 2147483647 : i32\n"
                    "%d = arith.addi %big, %c1 : i32"),
            "");
  EXPECT_NE(message("%d = arith.shli %c8, %c64 : i32").find("shift by the width"),
            std::string::npos);
}

TEST_F(CpuThreads, AssertAndAssume) {
  EXPECT_EQ(runBlock(R"(
    %no = arith.cmpi sgt, %c1, %c8 : i32
    tile.assert %no, "one is {}", %c1 : i32)"),
            "test.mlir:13:5: error: assertion failed: one is 1 [assert]");
  EXPECT_NE(runBlock("%no = arith.cmpi sgt, %c1, %c8 : i32\n tile.assume %no").find("[assume]"),
            std::string::npos);
}

TEST_F(CpuThreads, DivergentBarriersAndExchanges) {
  EXPECT_NE(runBlock(R"(
    tile.threads [64] {
    ^bb0(%t: i32):
      %some = arith.cmpi slt, %t, %c8 : i32
      scf.if %some { tile.sync_threads }
    })")
                .find("thread 8 does not [divergent-sync]"),
            std::string::npos);
  EXPECT_NE(runBlock(R"(
    tile.threads [64] {
    ^bb0(%t: i32):
      %some = arith.cmpi slt, %t, %c8 : i32
      scf.if %some { %s = tile.warp <sum> %t : i32 }
    })")
                .find("thread 8 does not [divergent-warp]"),
            std::string::npos);
}

TEST_F(CpuThreads, AnErrorInsideAThreadEndsTheProgramAndTheNextRunWorks) {
  const char *code = R"(
    tile.threads [64] {
    ^bb0(%t: i32):
      %v = tile.load %X[%t : i32] : !tile.global<?xi32> -> i32
      tile.sync_threads
      %q = arith.divsi %c8, %v : i32
      tile.store %q, %Y[%t : i32] : i32, !tile.global<?xi32>
    })";
  for (int i = 0; i < 64; ++i) {
    x.set(i, i == 40 ? 0 : 2);
  }
  EXPECT_NE(runBlock(code).find("division by zero"), std::string::npos);
  x.set(40, 4);
  EXPECT_EQ(run({x.argument(), y.argument()}), "");
  EXPECT_EQ(y[40], 2);
  EXPECT_EQ(y[63], 4);
}

TEST_F(CpuThreads, SeveralLaunchesAndAWorkspace) {
  compile(R"mlir(
tile.kernel @k(%n: i32 {tile.name = "n"}, %Y: !tile.global<?xi32> {tile.name = "Y", tile.direction = "out"}) {
  %w = tile.workspace "w", "i32" (%n : i32) init 5 : i32 : !tile.global<?xi32>
  tile.launch grid(%n : i32) threads(32) {
  ^bb0(%b: i32):
    %old = tile.atomic <add> %b, %w[%b : i32] : i32, !tile.global<?xi32> -> i32
  }
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %some = arith.cmpi sgt, %n, %zero : i32
  scf.if %some {
    tile.launch grid(%n, %two : i32, i32) threads(32) {
    ^bb0(%i: i32, %j: i32):
      %v = tile.load %w[%i : i32] : !tile.global<?xi32> -> i32
      %p = arith.muli %i, %two : i32
      %at = arith.addi %p, %j : i32
      %s = arith.addi %v, %j : i32
      tile.store %s, %Y[%at : i32] : i32, !tile.global<?xi32>
    }
  }
  tile.return
})mlir");
  ASSERT_EQ(run({Argument::scalar(10, "i32"), y.argument()}), "");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(y[i], 5 + i / 2 + i % 2);
  }
  EXPECT_EQ(run({Argument::scalar(0, "i32"), y.argument()}), "");
  EXPECT_EQ(run({Argument::scalar((uint32_t)-4, "i32"), y.argument()}), ""); // counts as 0
}

TEST_F(CpuThreads, GridTooLarge) {
  compile(R"mlir(
tile.kernel @k(%n: i32 {tile.name = "n"}) {
  tile.launch grid(%n, %n : i32, i32) threads(32) {
  ^bb0(%i: i32, %j: i32):
    tile.yield
  }
  tile.return
})mlir");
  EXPECT_EQ(run({Argument::scalar(100, "i32")}), "");
  EXPECT_EQ(run({Argument::scalar((uint32_t)-100, "i32")}), "");
  EXPECT_EQ(run({Argument::scalar(1 << 16, "i32")}),
            "test.mlir:3:3: error: the grid has 2^31 points or more [grid-too-large]");
}

} // namespace
