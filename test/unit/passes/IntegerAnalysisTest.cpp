// Ranges and divisors, each rule by itself, and where arithmetic wraps.
#include "passes/IntegerAnalysis.h"

#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Divisibility.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace tilec;

namespace {

constexpr int64_t kLeast = INT32_MIN, kMost = INT32_MAX;

class IntegerAnalysisTest : public testing::Test {
protected:
  IntegerAnalysisTest() {
    context.loadDialect<tile::TileDialect, tgpu::TgpuDialect, mlir::arith::ArithDialect,
                        mlir::scf::SCFDialect>();
    context.allowUnregisteredDialects(); // whose attributes name values here
  }

  /// Analyses the kernel that `text` ends with.
  void analyse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(bool(module));
    mlir::Operation *root = &module->getBody()->back();
    integers.emplace(root);
  }
  /// A kernel with arguments %n (an extent), %m, %w of any value; %c0, %c1, %c3, %c8 are constants.
  void analyseBody(const std::string &body) {
    analyse(R"(
      tgpu.kernel @k(%x: !tile.global<?xf32>, %n: i32, %m: i32, %w: i64, %small: i32 {tgpu.range = array<i64: 0, 1000>},
                     %even: i32 {tgpu.divisible = 24 : i64}) attributes {threads = 32 : i32} {
        %v = tgpu.view %x extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %c3 = arith.constant 3 : i32
        %c8 = arith.constant 8 : i32
        %c2 = arith.constant 2 : i32
        )" + body +
            " tgpu.return }");
  }
  /// The result of the operation with `id = "name"`.
  mlir::Value value(llvm::StringRef name) {
    mlir::Value found;
    module->walk([&](mlir::Operation *op) {
      auto id = op->getAttrOfType<mlir::StringAttr>("test.id");
      found = id && id.getValue() == name ? mlir::Value(op->getResult(0)) : found;
    });
    EXPECT_TRUE(bool(found)) << name.str();
    return found;
  }
  void expectRange(llvm::StringRef name, int64_t low, int64_t high) {
    IntegerRange range = integers->range(value(name));
    EXPECT_EQ(range.low, low) << name.str();
    EXPECT_EQ(range.high, high) << name.str();
  }
  void expectDivisor(llvm::StringRef name, int64_t divisor) {
    EXPECT_EQ(integers->divisor(value(name)), divisor) << name.str();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<IntegerAnalysis> integers;
};

TEST_F(IntegerAnalysisTest, ArgumentsAndGrid) {
  analyseBody(R"(
    %n1 = arith.maxsi %n, %c0 {test.id = "n"} : i32
    %m1 = arith.addi %m, %c0 {test.id = "m"} : i32
    %s1 = arith.addi %small, %c0 {test.id = "small"} : i32
    %b = tgpu.block_id {test.id = "block"}
    %i:2 = tgpu.grid_point %b in(%c8, %m) : i32, i32
    %i0 = arith.addi %i#0, %c0 {test.id = "i0"} : i32
    %i1 = arith.addi %i#1, %c0 {test.id = "i1"} : i32)");
  expectRange("n", 0, kMost);
  expectRange("m", kLeast, kMost);
  expectRange("small", 0, 1000);
  expectRange("block", 0, kMost - 1);
  expectRange("i0", 0, 7);
  expectRange("i1", 0, kMost - 1);
  EXPECT_TRUE(integers->isNonNegative(value("i1")));
  EXPECT_FALSE(integers->isNonNegative(value("m")));
}

/// Points of a grid counted from its end: extents are at least 1, and points less than them.
TEST_F(IntegerAnalysisTest, PointsFromTheEnd) {
  analyseBody(R"(
    %minus1 = arith.constant -1 : i32
    %c7 = arith.constant 7 : i32
    %much = arith.constant 1073741824 : i32
    %b = tgpu.block_id
    %i:3 = tgpu.grid_point %b in(%n, %m, %c8) : i32, i32, i32
    %n1 = arith.subi %n, %c1 : i32
    %a = arith.subi %n1, %i#0 {test.id = "n-1-i"} : i32
    %n2 = arith.addi %n, %minus1 : i32
    %c = arith.subi %n2, %i#0 {test.id = "n+-1-i"} : i32
    %d = arith.subi %n, %i#0 {test.id = "n-i"} : i32
    %n3 = arith.subi %n, %c3 : i32
    %e = arith.subi %n3, %i#0 {test.id = "n-3-i"} : i32
    %m1 = arith.subi %m, %c1 : i32
    %f = arith.subi %m1, %i#1 {test.id = "m-1-j"} : i32
    %g = arith.subi %c8, %i#2 {test.id = "8-k"} : i32
    %h = arith.subi %c7, %i#2 {test.id = "7-k"} : i32
    %n5 = arith.subi %n, %much : i32
    %o = arith.subi %n5, %i#0 {test.id = "n-2^30-i"} : i32)");
  expectRange("n-1-i", 0, kMost - 1);
  expectRange("n+-1-i", 0, kMost - 1);
  expectRange("n-i", 1, kMost);
  expectRange("n-3-i", -2, kMost - 3);
  expectRange("m-1-j", 0, kMost); // m - 1 may be anything by itself
  expectRange("8-k", 1, 8);
  expectRange("7-k", 0, 7);
  expectRange("n-2^30-i", 1 - (1 << 30), kMost - (1 << 30));
  EXPECT_TRUE(integers->isNonNegative(value("n-1-i")));
}

/// What looks alike: the extent of another dimension, of another grid, sums that may wrap.
TEST_F(IntegerAnalysisTest, DifferencesOfOtherExtents) {
  analyseBody(R"(
    %more = arith.constant 1073741825 : i32
    %least = arith.constant -2147483648 : i32
    %b = tgpu.block_id
    %i:2 = tgpu.grid_point %b in(%n, %m) : i32, i32
    %n1 = arith.subi %n, %c1 : i32
    %a = arith.subi %n1, %i#1 {test.id = "n-1-j"} : i32
    %c = arith.subi %small, %i#0 {test.id = "small-i"} : i32
    %n2 = arith.addi %n, %c1 : i32
    %d = arith.subi %n2, %i#0 {test.id = "n+1-i"} : i32
    %n3 = arith.subi %n, %more : i32
    %e = arith.subi %n3, %i#0 {test.id = "n-more-i"} : i32
    %n4 = arith.subi %n, %least : i32
    %f = arith.subi %n4, %i#0 {test.id = "n-least-i"} : i32
    %n5 = arith.subi %n, %m : i32
    %g = arith.subi %n5, %i#0 {test.id = "n-m-i"} : i32
    %h = arith.subi %i#0, %n {test.id = "i-n"} : i32)");
  expectRange("n-1-j", -kMost, kMost - 1);
  expectRange("small-i", 1 - kMost, 1000);
  expectRange("n+1-i", kLeast, kMost);
  expectRange("n-more-i", kLeast, kMost);
  expectRange("n-least-i", kLeast, kMost);
  expectRange("n-m-i", kLeast, kMost);
  expectRange("i-n", -kMost, kMost - 1);
}

TEST_F(IntegerAnalysisTest, SumsThatMayWrapAreUnknown) {
  analyseBody(R"(
    %a = arith.addi %n, %c1 {test.id = "n+1"} : i32
    %b = arith.muli %n, %c8 {test.id = "n*8"} : i32
    %c = arith.muli %small, %c8 {test.id = "small*8"} : i32
    %d = arith.subi %c0, %n {test.id = "-n"} : i32
    %e = arith.shli %n, %c3 {test.id = "n<<3"} : i32)");
  expectRange("n+1", kLeast, kMost);
  expectRange("n*8", kLeast, kMost);
  expectRange("small*8", 0, 8000);
  expectRange("-n", -kMost, 0);
  expectRange("n<<3", kLeast, kMost);
}

TEST_F(IntegerAnalysisTest, OfADivisorTheTwosSurviveWrapping) {
  analyseBody(R"(
    %c24 = arith.constant 24 : i32
    %cbig = arith.constant 1073741824 : i32
    %a = arith.muli %m, %c24 {test.id = "m*24"} : i32
    %b = arith.muli %small, %c24 {test.id = "small*24"} : i32
    %c = arith.addi %a, %even {test.id = "sum"} : i32
    %d = arith.muli %m, %cbig {test.id = "m<<30"} : i32
    %e = arith.muli %d, %c8 {test.id = "m<<33"} : i32
    %f = arith.extsi %b : i32 to i64
    %g = arith.addi %f, %f {test.id = "wide"} : i64
    %h = arith.extui %even {test.id = "zero extended"} : i32 to i64)");
  expectDivisor("m*24", 8);
  expectDivisor("small*24", 24);
  expectDivisor("sum", 8);
  expectDivisor("m<<30", 1 << 30);
  expectDivisor("m<<33", int64_t(1) << 32); // it is 0
  expectDivisor("wide", 24);
  expectDivisor("zero extended", 8); // a negative multiple of 24 becomes one plus 2^32
}

TEST_F(IntegerAnalysisTest, DivisorsOfOtherOperations) {
  analyseBody(R"(
    %t = arith.cmpi slt, %m, %n : i32
    %a = arith.select %t, %even, %c8 {test.id = "select"} : i32
    %b = arith.minsi %even, %c8 {test.id = "min"} : i32
    %c = arith.divsi %even, %c8 {test.id = "even/8"} : i32
    %d = arith.remsi %m, %c8 {test.id = "m%8"} : i32
    %e = arith.remsi %even, %c8 {test.id = "even%8"} : i32
    %c248 = arith.constant 248 : i32
    %f = arith.andi %m, %c248 {test.id = "m&248"} : i32
    %g = arith.shrsi %even, %c3 {test.id = "even>>3"} : i32
    %h = tile.div %even, %m {test.id = "even/m"} : i32
    %i = tile.rem %even, %c0 {test.id = "even%0"} : i32
    %j = arith.trunci %w {test.id = "trunc"} : i64 to i32
    %z = arith.muli %c0, %m {test.id = "0"} : i32)");
  expectDivisor("select", 8);
  expectDivisor("min", 8);
  expectDivisor("even/8", 3);
  expectDivisor("m%8", 1);
  expectDivisor("even%8", 8);
  expectDivisor("m&248", 8);
  expectDivisor("even>>3", 3);
  expectDivisor("even/m", 1);
  expectDivisor("even%0", 24);
  expectDivisor("trunc", 1);
  expectDivisor("0", 0);
}

TEST_F(IntegerAnalysisTest, Divisions) {
  analyseBody(R"(
    %c100 = arith.constant 100 : i32
    %a = tile.div %small, %n {test.id = "small/n"} : i32
    %b = tile.div %small, %m {test.id = "small/m"} : i32
    %c = arith.ceildivsi %n, %c100 {test.id = "ceildiv"} : i32
    %d = tile.rem %n, %small {test.id = "n%small"} : i32
    %e = tile.rem %m, %c8 {test.id = "floormod", rounding = #tile.rounding<down>} : i32
    %f = tile.div %n, %n {test.id = "ceil n/n", rounding = #tile.rounding<up>} : i32
    %g = tile.shr %small, %m {test.id = "small>>m"} : i32
    %h = tile.shl %small, %m {test.id = "small<<m"} : i32)");
  expectRange("small/n", 0, 1000);
  EXPECT_LT(integers->range(value("small/m")).low, 0);
  expectRange("ceildiv", 0, (kMost + 99) / 100);
  expectRange("n%small", 0, 999);
  expectRange("floormod", 0, 7);
  EXPECT_GE(integers->range(value("ceil n/n")).low, 0);
  expectRange("small>>m", 0, 1000);
  expectRange("small<<m", kLeast, kMost);
}

TEST_F(IntegerAnalysisTest, Loops) {
  analyseBody(R"(
    %c64 = arith.constant 64 : i32
    %c256 = arith.constant 256 : i32
    %r:3 = scf.for %i = %c64 to %c256 step %c8 iter_args(%p = %c0, %q = %c64, %s = %even) -> (i32, i32, i32) : i32 {
      %i1 = arith.addi %i, %c0 {test.id = "i"} : i32
      %p1 = arith.addi %p, %c8 {test.id = "p"} : i32
      %q1 = arith.minsi %q, %c256 {test.id = "q"} : i32
      scf.yield %p1, %q1, %i1 : i32, i32, i32
    }
    %u = arith.addi %r#2, %c0 {test.id = "last"} : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %j = arith.addi %i, %c0 {test.id = "j"} : i32
      %k = arith.muli %i, %c8 {test.id = "j*8"} : i32
    })");
  expectRange("i", 64, 255);
  expectDivisor("i", 8);
  expectRange("p", kLeast, kMost); // it is carried, and no trip count is worked out
  expectDivisor("p", 8);
  expectDivisor("q", 64);
  expectDivisor("last", 8);
  expectRange("j", 0, kMost - 1);
  expectDivisor("j*8", 8);
  EXPECT_FALSE(integers->isNonNegative(value("j*8")));
}

TEST_F(IntegerAnalysisTest, Branches) {
  analyseBody(R"(
    %t = arith.cmpi slt, %m, %n : i32
    %r = scf.if %t -> (i32) {
      %a = arith.muli %small, %c8 : i32
      scf.yield %a : i32
    } else {
      scf.yield %c2 : i32
    }
    %u = arith.addi %r, %c0 {test.id = "joined"} : i32)");
  expectRange("joined", 0, 8000);
  expectDivisor("joined", 2);
}

TEST_F(IntegerAnalysisTest, RegionsWithoutControlFlow) {
  analyseBody(R"(
    tgpu.one_thread {
      %a = arith.muli %small, %c8 {test.id = "inside"} : i32
    })");
  expectRange("inside", 0, 8000);
  expectDivisor("inside", 8);
}

/// Host code: exact, and its checks are facts.
TEST_F(IntegerAnalysisTest, ChecksOfTheHost) {
  analyse(R"(
    tile.kernel @k(%x: !tile.global<?x?xf32> {tile.name = "X", tile.dtype = "f32", tile.direction = "in", tile.strided},
                   %o: !tile.global<?xf32> {tile.name = "O", tile.dtype = "f32", tile.direction = "in", tile.optional}) {
      %n = tile.dim "N" from %x[0] {test.id = "n"} : !tile.global<?x?xf32> -> i32
      %k = tile.dim "K" from %x[1] {test.id = "k"} : !tile.global<?x?xf32> -> i32
      %s = tile.stride %x[0] {test.id = "s"} : !tile.global<?x?xf32>
      %s2 = tile.stride %x[0] {test.id = "s again"} : !tile.global<?x?xf32>
      %e = tile.extent %o[0] {test.id = "e"} : !tile.global<?xf32> -> i32
      %c0 = arith.constant 0 : i32
      %c8 = arith.constant 8 : i32
      %c6 = arith.constant 6 : i32
      %c4096 = arith.constant 4096 : i32
      %w0 = arith.constant 0 : i64
      %w16 = arith.constant 16 : i64
      %r8 = arith.remsi %k, %c8 : i32
      %d8 = arith.cmpi eq, %r8, %c0 : i32
      %r6 = arith.remsi %k, %c6 : i32
      %d6 = arith.cmpi eq, %r6, %c0 : i32
      %both = arith.andi %d8, %d6 : i1
      tile.check %both, "where-failed", "K"
      %short = arith.cmpi slt, %k, %c4096 : i32
      tile.check %short, "where-failed", "K"
      %r16 = arith.remsi %s, %w16 : i64
      %d16 = arith.cmpi eq, %r16, %w0 : i64
      tile.check %d16, "where-failed", "stride"
      %re = arith.remsi %e, %c8 : i32
      %de = arith.cmpi eq, %re, %c0 : i32
      tile.check %de, "where-failed", "of what may be absent" if_present %o : !tile.global<?xf32>
      %some = arith.cmpi sgt, %n, %c8 : i32
      scf.if %some {
        %rn = arith.remsi %n, %c8 : i32
        %dn = arith.cmpi eq, %rn, %c0 : i32
        tile.check %dn, "where-failed", "on one path"
      }
      %twice = arith.muli %n, %c8 overflow<nsw> {test.id = "exact"} : i32
      %sms = tile.sm_count {test.id = "sms"}
      tile.return
    })");
  expectDivisor("k", 24);
  expectRange("k", 0, 4095);
  expectDivisor("s", 16);
  expectDivisor("s again", 16);
  expectDivisor("e", 1);
  expectDivisor("n", 1);
  expectRange("n", 0, kMost);
  EXPECT_TRUE(integers->isNonNegative(value("exact")));
  expectRange("sms", 1, kMost);
}

/// Each value twice as large as the one before: linear, where a walk of operands takes 2^n steps.
TEST_F(IntegerAnalysisTest, LongChains) {
  std::string body = "%a0 = arith.muli %m, %c8 : i32\n";
  const int length = 4000;
  for (int i = 1; i < length; ++i) {
    const char *id = i + 1 == length ? " {test.id = \"last\"}" : "";
    body += llvm::formatv("%a{0} = arith.addi %a{1}, %a{1}{2} : i32\n", i, i - 1, id).str();
  }
  auto start = std::chrono::steady_clock::now();
  analyseBody(body);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  expectDivisor("last", 8);
}

TEST_F(IntegerAnalysisTest, NewValuesAreUnknown) {
  analyseBody(R"(%a = arith.addi %small, %small {test.id = "a"} : i32)");
  mlir::Value a = value("a");
  mlir::OpBuilder builder(a.getDefiningOp());
  mlir::Value fresh = mlir::arith::AddIOp::create(
      builder, a.getLoc(), a.getDefiningOp()->getOperand(0), a.getDefiningOp()->getOperand(0));
  EXPECT_EQ(integers->range(fresh).low, kLeast);
  EXPECT_EQ(integers->divisor(fresh), 1);
}

TEST(Divisor, JoinIsTheGreatestCommonDivisor) {
  EXPECT_EQ(Divisor::join(Divisor(), Divisor(8)).get(), 8u);
  EXPECT_EQ(Divisor::join(Divisor(0), Divisor(8)).get(), 8u);
  EXPECT_EQ(Divisor::join(Divisor(12), Divisor(8)).get(), 4u);
  EXPECT_FALSE(Divisor::join(Divisor(), Divisor()).isKnown());
}

TEST(Divisor, Bounds) {
  EXPECT_EQ(powerOfTwoPart(24), 8u);
  EXPECT_EQ(powerOfTwoPart(0), uint64_t(1) << 62);
  EXPECT_EQ(boundedLcm(4, 6), 12u);
  EXPECT_EQ(boundedLcm(0, 6), 0u);
  EXPECT_EQ(boundedLcm((uint64_t(1) << 61) - 1, uint64_t(1) << 40), (uint64_t(1) << 61) - 1);
}

} // namespace
