// wgmma: products of every type and layout against sums in double, and what is reported about
// registers in flight.
#include "test/unit/emulator/MatrixKernel.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile_emu;
using namespace matrix_test;

namespace {

struct Case {
  std::string a = "f16", b = "f16", sum = "f32";
  unsigned n = 32;
  unsigned swizzle = 128;
  bool mnMajorA = false, mnMajorB = false, registersA = false;
  unsigned steps = 1; ///< instructions along K
  int scaleA = 1, scaleB = 1;
  bool clamp = false;
  unsigned depth() const { return 256 / typeOf(a).bits; }
};

/// An operand in shared memory: `count` rows or columns, `k` deep, in panels as wide as the
/// swizzle.
struct Tile {
  const Matrix &matrix; ///< count x k
  unsigned swizzle;
  bool mnMajor;
  uint32_t base; ///< shared address

  unsigned lineBytes() const { return swizzle ? swizzle : 16; }
  unsigned elementBytes() const { return matrix.type.bits / 8; }
  /// Panels of lines; lines below one another.
  uint32_t address(unsigned index, unsigned k) const {
    unsigned line = mnMajor ? k : index, across = (mnMajor ? index : k) * elementBytes();
    unsigned lines = mnMajor ? matrix.columns : matrix.rows;
    uint32_t at = base + across / lineBytes() * lines * lineBytes() + line * lineBytes() +
                  across % lineBytes();
    unsigned mask = swizzle ? swizzle / 16 - 1 : 0;
    return at ^ (at >> 7 & mask) << 4;
  }
  void write(Bytes &image) const {
    for (unsigned index = 0; index < matrix.rows; ++index) {
      for (unsigned k = 0; k < matrix.columns; ++k) {
        put(image, size_t(address(index, k) - kSharedBase) * 8, matrix.type.bits,
            matrix.at(index, k));
      }
    }
  }
  uint32_t bytes() const {
    unsigned contiguous = (mnMajor ? matrix.rows : matrix.columns) * elementBytes();
    unsigned lines = mnMajor ? matrix.columns : matrix.rows;
    return (contiguous + lineBytes() - 1) / lineBytes() * lineBytes() * lines;
  }
  /// For the `step`-th instruction along K.
  uint64_t descriptor(unsigned step) const {
    unsigned lines = mnMajor ? matrix.columns : matrix.rows;
    uint32_t panel = lines * lineBytes(), group = 8 * lineBytes(), start, leading, stride;
    if (mnMajor) {
      start = base + step * 16 * lineBytes();
      leading = swizzle ? panel : group;
      stride = swizzle ? group : panel;
    } else {
      start = base + step * 32 / lineBytes() * panel + step * 32 % lineBytes();
      leading = swizzle ? 16 : panel;
      stride = group;
    }
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return uint64_t(start >> 4) | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
           mode << 62;
  }
};

/// Register `i` of thread `t` of the warpgroup holds this element of D.
std::pair<unsigned, unsigned> placeD(unsigned thread, unsigned i) {
  unsigned lane = thread % 32;
  return {16 * (thread / 32) + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2};
}

/// Element `i` of thread `t` of A in registers.
std::pair<unsigned, unsigned> placeA(const Case &c, unsigned thread, unsigned i) {
  unsigned lane = thread % 32, per = 32 / typeOf(c.a).bits, r = i / per;
  return {16 * (thread / 32) + lane / 4 + 8 * (r % 2),
          per * (lane % 4) + i % per + 4 * per * (r / 2)};
}

Bytes packA(const Case &c, const Matrix &a) {
  unsigned width = a.type.bits, perStep = 128 / width;
  Bytes bytes(size_t(128) * c.steps * 16);
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned step = 0; step < c.steps; ++step) {
      for (unsigned i = 0; i < perStep; ++i) {
        auto [row, k] = placeA(c, thread, i);
        put(bytes, (size_t(thread) * c.steps + step) * 128 + i * width, width,
            a.at(row, step * c.depth() + k));
      }
    }
  }
  return bytes;
}

std::string instruction(const Case &c, const std::string &d, const std::string &a,
                        const std::string &b, const std::string &scaleD) {
  std::string text =
      matrix_test::format("wgmma.mma_async.sync.aligned.m64n{}k{}{}.{}.{}.{} {}, {}, {}, {}", c.n,
                          c.depth(), c.clamp ? ".satfinite" : "", c.sum, c.a, c.b, d, a, b, scaleD);
  if (typeOf(c.a).isFloat) {
    text += matrix_test::format(", {}, {}", c.scaleA, c.scaleB);
  }
  if (typeOf(c.a).bits == 16) {
    text += c.registersA ? matrix_test::format(", {}", int(c.mnMajorB))
                         : matrix_test::format(", {}, {}", int(c.mnMajorA), int(c.mnMajorB));
  }
  return text + ";";
}

double tolerance(const Case &c) {
  if (c.sum == "s32") {
    return 0;
  }
  return c.sum == "f16" ? 0x1p-10 : c.a[0] == 'e' ? 0x1p-11 : 0x1p-21;
}

/// Multiplies random matrices and compares.
void check(const Case &c, uint32_t seed = 7) {
  SCOPED_TRACE(instruction(c, "d", "a", "b", "p") + matrix_test::format(" swizzle {}", c.swizzle));
  std::mt19937 random(seed);
  unsigned k = c.depth() * c.steps;
  Matrix a = Matrix::random(c.a, 64, k, random), b = Matrix::random(c.b, c.n, k, random),
         sum = Matrix::random(c.sum, 64, c.n, random);
  if (c.clamp) {
    for (uint64_t &bits : sum.bits) {
      bits = random() % 2 ? 0x7ffffe00 : 0x80000200;
    }
  }
  Tile tileA{a, c.swizzle, c.mnMajorA, uint32_t(kSharedBase)};
  Tile tileB{b, c.swizzle, c.mnMajorB,
             uint32_t(kSharedBase + (tileA.bytes() + 1023) / 1024 * 1024)};
  Kernel kernel;
  kernel.threads = 128;
  kernel.sharedBytes = tileB.base - kSharedBase + tileB.bytes();
  Bytes image(kernel.sharedBytes);
  tileA.write(image);
  tileB.write(image);
  unsigned perThread = c.n / 2, registers = perThread * sum.type.bits / 32;
  Bytes sums(size_t(128) * registers * 4);
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < perThread; ++i) {
      auto [row, column] = placeD(thread, i);
      put(sums, (size_t(thread) * perThread + i) * sum.type.bits, sum.type.bits,
          sum.at(row, column));
    }
  }
  kernel.buffers = {image, sums, packA(c, a)};
  kernel.copyToShared(0);
  std::string d = kernel.loadRegisters(1, registers, 20);
  if (c.registersA) {
    kernel.loadRegisters(2, 4 * c.steps, 300);
  }
  kernel.line("setp.eq.u32 %p2, %r0, %r0;\nwgmma.fence.sync.aligned;");
  for (unsigned step = 0; step < c.steps; ++step) {
    kernel.line(matrix_test::format("mov.b64 %rd60, 0x{:x};\nmov.b64 %rd61, 0x{:x};",
                                    tileA.descriptor(step), tileB.descriptor(step)));
    kernel.line(instruction(c, d, c.registersA ? Kernel::list(4, 300 + 4 * step) : "%rd60", "%rd61",
                            "%p2"));
  }
  kernel.line("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
  kernel.storeRegisters(1, registers, 20);
  kernel.run();
  ASSERT_TRUE(kernel.finished) << kernel.described;
  EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
  for (unsigned thread = 0; thread < 128; ++thread) {
    for (unsigned i = 0; i < perThread; ++i) {
      auto [row, column] = placeD(thread, i);
      double want = sum.value(row, column), size = std::fabs(want);
      for (unsigned j = 0; j < k; ++j) {
        double product = a.value(row, j) * b.value(column, j);
        want += product * c.scaleA * c.scaleB;
        size += std::fabs(product);
      }
      if (c.clamp) {
        want = std::min(std::max(want, -2147483648.0), 2147483647.0);
      }
      double got = sum.type.value(
          get(kernel.buffers[1], (size_t(thread) * perThread + i) * sum.type.bits, sum.type.bits));
      ASSERT_NEAR(got, want, size * tolerance(c)) << row << ", " << column;
    }
  }
}

TEST(Wgmma, Layouts) {
  for (const char *type : {"f16", "bf16"}) {
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (bool mnMajorA : {false, true}) {
        for (bool mnMajorB : {false, true}) {
          check({.a = type,
                 .b = type,
                 .n = 64,
                 .swizzle = swizzle,
                 .mnMajorA = mnMajorA,
                 .mnMajorB = mnMajorB,
                 .steps = 4});
        }
      }
    }
  }
}

TEST(Wgmma, KMajorTypes) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    check({.a = "tf32", .b = "tf32", .swizzle = swizzle, .steps = 2});
    for (const char *a : {"e4m3", "e5m2"}) {
      for (const char *b : {"e4m3", "e5m2"}) {
        for (const char *sum : {"f16", "f32"}) {
          check({.a = a, .b = b, .sum = sum, .swizzle = swizzle, .steps = 2});
        }
      }
    }
    for (const char *a : {"s8", "u8"}) {
      for (const char *b : {"s8", "u8"}) {
        check({.a = a, .b = b, .sum = "s32", .swizzle = swizzle, .steps = 2});
        check({.a = a, .b = b, .sum = "s32", .swizzle = swizzle, .clamp = true});
      }
    }
  }
}

TEST(Wgmma, HalfAccumulators) {
  for (bool mnMajorB : {false, true}) {
    check({.sum = "f16", .n = 64, .mnMajorB = mnMajorB, .steps = 2});
  }
}

TEST(Wgmma, Columns) {
  for (unsigned n = 8; n <= 256; n += 8) {
    check({.n = n});
    check({.n = n, .mnMajorB = true}); // the last panel is partly used
  }
}

TEST(Wgmma, AFromRegisters) {
  for (bool mnMajorB : {false, true}) {
    check({.mnMajorB = mnMajorB, .registersA = true, .steps = 2});
    check({.a = "bf16", .b = "bf16", .mnMajorB = mnMajorB, .registersA = true, .steps = 2});
  }
  check({.a = "tf32", .b = "tf32", .registersA = true, .steps = 2});
  check({.a = "e4m3", .b = "e5m2", .registersA = true, .steps = 2});
  check({.a = "s8", .b = "u8", .sum = "s32", .registersA = true, .steps = 2});
}

TEST(Wgmma, Signs) {
  for (int scaleA : {1, -1}) {
    for (int scaleB : {1, -1}) {
      check({.scaleA = scaleA, .scaleB = scaleB});
    }
  }
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

constexpr const char *kFence = "wgmma.fence.sync.aligned;",
                     *kCommit = "wgmma.commit_group.sync.aligned;",
                     *kWait = "wgmma.wait_group.sync.aligned 0;";

std::string product(unsigned d, const std::string &a = "%rd60", unsigned n = 8,
                    const std::string &scaleD = "1", const std::string &b = "%rd60") {
  return matrix_test::format(
      "wgmma.mma_async.sync.aligned.m64n{}k16.f32.f16.f16 {}, {}, {}, {}, 1, 1{};", n,
      Kernel::list(n / 2, d), a, b, scaleD, a[0] == '{' ? ", 0" : ", 0, 0");
}

Kernel prepared() {
  Kernel kernel;
  kernel.threads = 128;
  kernel.sharedBytes = 4096;
  kernel.buffers = {Bytes(4096)};
  kernel.copyToShared(0);
  // Rows of 16 bytes, groups of 128.
  kernel.line(matrix_test::format("mov.b64 %rd60, 0x{:x};", uint64_t(kSharedBase >> 4) |
                                                                uint64_t(1024 >> 4) << 16 |
                                                                uint64_t(128 >> 4) << 32));
  for (unsigned i = 20; i < 60; ++i) {
    kernel.line(matrix_test::format("add.u32 %r{}, %r0, 0;", i));
  }
  return kernel;
}

Kernel running(std::initializer_list<std::string> lines) {
  Kernel kernel = prepared();
  for (const std::string &line : lines) {
    kernel.line(line);
  }
  kernel.run();
  return kernel;
}

TEST(WgmmaReports, NoneWhenWaitedFor) {
  for (const Kernel &kernel :
       {running({kFence, product(20), kCommit, kWait, "add.u32 %r1, %r20, 1;"}),
        // The same accumulator again needs no wait.
        running({kFence, product(20), product(20), kCommit, product(20), kCommit, kWait,
                 "add.u32 %r20, %r20, 1;"}),
        // Other registers may be used meanwhile.
        running({kFence, product(20), kCommit, "add.u32 %r40, %r41, 1;", kWait}),
        // Only the older of two groups is needed.
        running({kFence, product(20), kCommit, product(30), kCommit,
                 "wgmma.wait_group.sync.aligned 1;", "add.u32 %r20, %r20, 1;", kWait}),
        running({kFence, product(20, "{%r40, %r41, %r42, %r43}"), kCommit, "add.u32 %r1, %r40, 1;",
                 kWait, "add.u32 %r40, %r40, 1;"}),
        // Written before the fence, though another product comes first.
        running({"mov.b32 %r30, 0;", kFence, product(20), product(30), kCommit, kWait}),
        // Of one shape, after a wait too.
        running({kFence, product(20), kCommit, kWait, product(20), kCommit, kWait})}) {
    EXPECT_TRUE(kernel.finished);
    EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
  }
}

void expectInFlight(const Kernel &kernel, const std::string &message, size_t parties = 2) {
  EXPECT_TRUE(has(kernel, Report::Kind::InFlight, message)) << kernel.described;
  for (const Report &report : kernel.reports) {
    if (report.kind == Report::Kind::InFlight) {
      EXPECT_EQ(report.parties.size(), parties) << kernel.described;
    }
  }
}

TEST(WgmmaReports, AccumulatorTouchedInFlight) {
  expectInFlight(running({kFence, product(20), kCommit, "add.u32 %r1, %r20, 1;", kWait}),
                 "%r20 is read while a wgmma accumulates into it");
  expectInFlight(running({kFence, product(20), kCommit, "add.u32 %r23, %r1, 1;", kWait}),
                 "%r23 is written while a wgmma accumulates into it");
  // A copy is no better.
  expectInFlight(running({kFence, product(20), kCommit, "mov.b32 %r1, %r20;", kWait}),
                 "%r20 is read");
  // Not committed, so not waited for.
  expectInFlight(running({kFence, product(20), kWait, "add.u32 %r1, %r20, 1;", kCommit, kWait}),
                 "%r20 is read");
  // The newer of two groups.
  expectInFlight(running({kFence, product(20), kCommit, product(30), kCommit,
                          "wgmma.wait_group.sync.aligned 1;", "add.u32 %r1, %r30, 1;", kWait}),
                 "%r30 is read");
}

TEST(WgmmaReports, OperandTouchedInFlight) {
  std::string a = "{%r40, %r41, %r42, %r43}";
  expectInFlight(running({kFence, product(20, a), kCommit, "add.u32 %r42, %r1, 1;", kWait}),
                 "%r42 is written while a wgmma reads it");
  // By another wgmma.
  expectInFlight(running({kFence, product(20, a), kCommit, product(40), kCommit, kWait}),
                 "%r40 is used by a wgmma while another");
  expectInFlight(running({kFence, product(20), kCommit, product(20, "%rd60", 16), kCommit, kWait}),
                 "of another shape");
}

TEST(WgmmaReports, MissingFence) {
  expectInFlight(running({product(20), kCommit, kWait}), "there is no wgmma.fence", 1);
  expectInFlight(running({kFence, "add.u32 %r20, %r1, 1;", product(20), kCommit, kWait}),
                 "%r20 has been written since the last wgmma.fence");
  expectInFlight(running({kFence, product(20), kCommit, kWait, "add.u32 %r1, %r20, 1;",
                          product(20, "%rd60", 8, "0"), kCommit, kWait}),
                 "%r20 has been read since the last wgmma.fence");
  expectInFlight(running({kFence, "add.u32 %r41, %r1, 1;", product(20, "{%r40, %r41, %r42, %r43}"),
                          kCommit, kWait}),
                 "%r41 has been written since the last wgmma.fence");
  // A copy is no better, nor a product between.
  expectInFlight(running({kFence, "mov.b32 %r20, 0;", product(20), kCommit, kWait}),
                 "%r20 has been written since the last wgmma.fence");
  expectInFlight(running({kFence, "mov.b32 %r1, %r20;", product(20), kCommit, kWait}),
                 "%r20 has been read since the last wgmma.fence");
  expectInFlight(running({kFence, product(20), "mov.b32 %r30, 0;", product(30), kCommit, kWait}),
                 "%r30 has been written since the last wgmma.fence");
  // By products of other shapes.
  expectInFlight(
      running({kFence, product(20), kCommit, kWait, product(20, "%rd60", 16), kCommit, kWait}),
      "%r20 has been used by a wgmma of another shape, which accumulates into it, since the last "
      "wgmma.fence, and another accumulates into it");
  expectInFlight(running({kFence, product(40), kCommit, kWait,
                          product(20, "{%r40, %r41, %r42, %r43}"), kCommit, kWait}),
                 "since the last wgmma.fence, and another reads it as A");
}

TEST(WgmmaReports, EndInFlight) {
  for (const Kernel &kernel :
       {running({kFence, product(20), kCommit}), running({kFence, product(20)})}) {
    EXPECT_TRUE(has(kernel, Report::Kind::Exit, "wgmma are under way")) << kernel.described;
  }
}

TEST(WgmmaReports, WarpsDiffer) {
  std::string divided = "shr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p3, %r1, 2;\n@%p3 bra OTHER;\n" +
                        product(20) + "\nbra.uni BOTH;\nOTHER:\n";
  Kernel kernel = running({kFence, divided + product(30) + "\nBOTH:", kCommit, kWait});
  EXPECT_TRUE(has(kernel, Report::Kind::Invalid, "different wgmma")) << kernel.described;
  kernel = running({kFence, divided + "BOTH:", kCommit, kWait});
  EXPECT_TRUE(has(kernel, Report::Kind::Invalid, "warp")) << kernel.described;
  const std::string otherDescriptor = "shr.u32 %r1, %r0, 5;\nadd.u32 %r1, %r1, 64;\n"
                                      "cvt.u64.u32 %rd61, %r1;\nadd.u64 %rd61, %rd60, %rd61;";
  kernel =
      running({otherDescriptor, kFence, product(20, "%rd60", 8, "1", "%rd61"), kCommit, kWait});
  EXPECT_TRUE(has(kernel, Report::Kind::Invalid, "different descriptors")) << kernel.described;
}

TEST(WgmmaReports, NotAWarpgroup) {
  Kernel kernel = prepared();
  kernel.threads = 96;
  kernel.line(kFence + ("\n" + product(20)) + "\n" + kCommit + "\n" + kWait);
  kernel.run();
  EXPECT_TRUE(has(kernel, Report::Kind::Invalid, "four warps")) << kernel.described;
}

TEST(WgmmaReports, BadDescriptors) {
  Kernel kernel =
      running({"mov.b64 %rd60, 0x4000004000013ff0;", kFence, product(20), kCommit, kWait});
  EXPECT_TRUE(has(kernel, Report::Kind::OutOfBounds, "operand A")) << kernel.described;
  kernel = running({"or.b64 %rd60, %rd60, 0x8000;", kFence, product(20), kCommit, kWait});
  EXPECT_TRUE(has(kernel, Report::Kind::Invalid, "mean nothing")) << kernel.described;
}

TEST(WgmmaReports, SharedMemoryThroughTheAsynchronousProxy) {
  Kernel kernel = prepared();
  kernel.line("mov.u32 %r2, smem;\nsetp.eq.u32 %p4, %r0, 5;\n@%p4 st.shared.b32 [%r2+64], %r0;\n"
              "bar.sync 0;");
  kernel.line(std::string(kFence) + "\n" + product(20) + "\n" + kCommit + "\n" + kWait);
  kernel.run();
  EXPECT_TRUE(has(kernel, Report::Kind::MissingFence, "")) << kernel.described;
  // Overwritten before the wait.
  kernel = prepared();
  kernel.line(std::string(kFence) + "\n" + product(20) + "\n" + kCommit);
  kernel.line("bar.sync 0;\nmov.u32 %r2, smem;\nst.shared.b32 [%r2+64], %r1;");
  kernel.line(kWait);
  kernel.run();
  EXPECT_TRUE(has(kernel, Report::Kind::Race, "")) << kernel.described;
}

TEST(WgmmaReports, UnwrittenOperandsSpoilTheirColumns) {
  for (unsigned lanes : {2u, 3u}) { // of each four; lane t has columns 2 t and 2 t + 1
    Kernel kernel = prepared();
    kernel.sharedBytes = 8192; // 4096 are written
    // B: 8 columns of 16 bytes, the last four unwritten; both halves of K are the same bytes.
    kernel.line(
        matrix_test::format("mov.b64 %rd61, 0x{:x};", uint64_t((kSharedBase + 4096 - 64) >> 4)));
    kernel.line(std::string(kFence) + "\n" + product(20, "%rd60", 8, "0", "%rd61") + "\n" +
                kCommit + "\n" + kWait);
    kernel.line(matrix_test::format(
        "and.b32 %r1, %r0, 3;\nsetp.ge.u32 %p4, %r1, {};\n@%p4 bra END;", lanes));
    kernel.line("setp.eq.b32 %p5, %r20, 0;\n@%p5 bra END;\nEND:");
    kernel.run();
    EXPECT_EQ(has(kernel, Report::Kind::Uninitialised, ""), lanes == 3) << kernel.described;
  }
}

/// A product is the work of four warps, so its end comes after what each did before its part.
TEST(WgmmaReports, AWaitOrdersTheWarpsOfAWarpgroup) {
  for (bool multiplies : {true, false}) {
    Kernel kernel = prepared();
    kernel.line("mov.u32 %r2, smem;\nshr.u32 %r3, %r0, 5;\nsetp.eq.u32 %p4, %r3, 1;");
    kernel.line("@%p4 ld.shared.b32 %r1, [%r2+3072];");
    kernel.line(kFence);
    kernel.line(multiplies ? product(20) : "");
    kernel.line(std::string(kCommit) + "\n" + kWait);
    kernel.line("setp.eq.u32 %p5, %r0, 0;\n@%p5 st.shared.b32 [%r2+3072], %r0;");
    kernel.run();
    EXPECT_EQ(has(kernel, Report::Kind::Race, ""), !multiplies) << kernel.described;
  }
}

TEST(WgmmaReports, WaitsForAllWarps) {
  Kernel kernel = running({"shr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p3, %r1, 2;\n@%p3 bar.sync 1, 64;",
                           kFence, product(20), kCommit, kWait});
  EXPECT_TRUE(has(kernel, Report::Kind::Deadlock, "")) << kernel.described;
}

TEST(WgmmaReports, UnsupportedForms) {
  for (const char *text :
       {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r20, %r21, %r22, %r23}, %rd60, "
        "%rd60, %r1, 0, 1, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r20, %r21, %r22, %r23, %r24, %r25}, "
        "%rd60, %rd60, 1, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%r20, %r21, %r22, %r23}, %rd60, "
        "%rd60, 1, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k268435472.f32.f16.f16 {%r20, %r21, %r22, %r23}, %rd60, "
        "%rd60, 1, 1, 1, 0, 0;",
        "tcgen05.fence::before_thread_sync;"}) {
    Kernel kernel = prepared();
    kernel.line(text);
    try {
      kernel.run();
      EXPECT_TRUE(has(kernel, Report::Kind::Unsupported, "")) << text;
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.report.kind, Report::Kind::Unsupported) << text;
    }
  }
}

} // namespace
