// mma.sync of every type and shape, against sums in double; fragments by the formulas that the PTX
// ISA writes for each shape.
#include "test/unit/emulator/MatrixKernel.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile_emu;
using namespace matrix_test;

namespace {

struct Case {
  unsigned m, k;
  std::string a, b, sum;
  std::string bitOperation;
  bool clamp = false;
};

struct Place {
  unsigned row, column;
};

/// Element `i` of lane `lane` of A: PTX ISA, "Matrix Fragments for mma.m8n8k16", ...
Place placeA(const Case &c, unsigned lane, unsigned i) {
  unsigned group = lane >> 2, inGroup = lane % 4;
  unsigned bits = typeOf(c.a).bits;
  if (c.m == 8) { // one register
    unsigned perRegister = std::max(32 / bits, 1u);
    return {group, inGroup * perRegister + i};
  }
  if (bits == 64 || bits == 32) { // a0, a2, ... of the upper half
    return {i % 2 ? group + 8 : group, inGroup + 4 * (i / 2)};
  }
  if (bits == 16) {
    bool lower = c.k == 8 ? i >= 2 : !((i < 2) || (i >= 4 && i < 6));
    return {lower ? group + 8 : group, inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  }
  unsigned perRegister = 32 / bits; // 8 bits: 4, 4 bits: 8, 1 bit: 32
  bool lower = (i / perRegister) % 2 == 1;
  unsigned right = i >= 2 * perRegister ? 4 * perRegister : 0;
  return {lower ? group + 8 : group, inGroup * perRegister + i % perRegister + right};
}

Place placeB(const Case &c, unsigned lane, unsigned i) {
  unsigned group = lane >> 2, inGroup = lane % 4;
  unsigned perRegister = std::max(32 / typeOf(c.b).bits, 1u);
  return {inGroup * perRegister + i % perRegister + 4 * perRegister * (i / perRegister), group};
}

Place placeC(const Case &, unsigned lane, unsigned i) {
  return {(lane >> 2) + (i >= 2 ? 8 : 0), (lane % 4) * 2 + (i & 1)};
}

template <typename F>
Bytes pack(const Matrix &matrix, unsigned perLane, F place) {
  unsigned width = matrix.type.bits;
  Bytes bytes(size_t(32) * perLane * width / 8);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < perLane; ++i) {
      Place at = place(lane, i);
      put(bytes, (size_t(lane) * perLane + i) * width, width, matrix.at(at.row, at.column));
    }
  }
  return bytes;
}

std::string instruction(const Case &c) {
  std::string bits = c.bitOperation.empty() ? "" : "." + c.bitOperation + ".popc";
  return matrix_test::format("mma.sync.aligned.m{}n8k{}.row.col{}.{}.{}.{}.{}{}", c.m, c.k,
                             c.clamp ? ".satfinite" : "", c.sum, c.a, c.b, c.sum, bits);
}

double expected(const Case &c, const Matrix &a, const Matrix &b, const Matrix &sum, unsigned row,
                unsigned column, double &size) {
  double value = sum.value(row, column);
  size = std::fabs(value);
  for (unsigned k = 0; k < c.k; ++k) {
    double x = a.value(row, k), y = b.value(k, column);
    double product = c.bitOperation == "xor" ? double(x != y) : x * y;
    value += product;
    size += std::fabs(product);
  }
  if (c.clamp) {
    value = std::min(std::max(value, -2147483648.0), 2147483647.0);
  }
  return value;
}

double tolerance(const Case &c) {
  if (c.sum == "s32") {
    return 0;
  }
  if (c.sum == "f16") {
    return 0x1p-10;
  }
  return c.sum == "f64" ? 0x1p-50 : c.a[0] == 'e' ? 0x1p-12 : 0x1p-22;
}

void check(const Case &c, uint32_t seed = 1) {
  SCOPED_TRACE(instruction(c));
  std::mt19937 random(seed);
  Matrix a = Matrix::random(c.a, c.m, c.k, random), b = Matrix::random(c.b, c.k, 8, random),
         sum = Matrix::random(c.sum, c.m, 8, random);
  if (c.clamp) {
    for (uint64_t &bits : sum.bits) {
      bits = random() % 2 ? 0x7fffff00 : 0x80000100;
    }
  }
  bool wide = c.sum == "f64";
  unsigned registerBits = wide ? 64 : 32;
  unsigned perLaneA = c.m * c.k / 32, perLaneB = c.k * 8 / 32, perLaneC = c.m * 8 / 32;
  unsigned registersA = perLaneA * a.type.bits / registerBits,
           registersB = perLaneB * b.type.bits / registerBits,
           registersC = perLaneC * sum.type.bits / registerBits;
  Kernel kernel;
  kernel.buffers = {pack(a, perLaneA, [&](unsigned l, unsigned i) { return placeA(c, l, i); }),
                    pack(b, perLaneB, [&](unsigned l, unsigned i) { return placeB(c, l, i); }),
                    pack(sum, perLaneC, [&](unsigned l, unsigned i) { return placeC(c, l, i); })};
  std::string textA = kernel.loadRegisters(0, registersA, 10, wide),
              textB = kernel.loadRegisters(1, registersB, 20, wide),
              textC = kernel.loadRegisters(2, registersC, 30, wide);
  kernel.line(instruction(c) + " " + Kernel::list(registersC, 40, wide) + ", " + textA + ", " +
              textB + ", " + textC + ";");
  kernel.storeRegisters(2, registersC, 40, wide);
  kernel.run();
  ASSERT_TRUE(kernel.finished) << kernel.described;
  EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < perLaneC; ++i) {
      Place at = placeC(c, lane, i);
      unsigned width = sum.type.bits;
      double got =
          sum.type.value(get(kernel.buffers[2], (size_t(lane) * perLaneC + i) * width, width));
      double size;
      double want = expected(c, a, b, sum, at.row, at.column, size);
      ASSERT_NEAR(got, want, size * tolerance(c)) << at.row << ", " << at.column;
    }
  }
}

TEST(Mma, Halves) {
  for (unsigned k : {8u, 16u}) {
    for (const char *sum : {"f16", "f32"}) {
      check({16, k, "f16", "f16", sum, ""});
    }
    check({16, k, "bf16", "bf16", "f32", ""});
  }
}

TEST(Mma, Tf32) {
  check({16, 4, "tf32", "tf32", "f32", ""});
  check({16, 8, "tf32", "tf32", "f32", ""});
}

TEST(Mma, Doubles) {
  check({8, 4, "f64", "f64", "f64", ""});
  for (unsigned k : {4u, 8u, 16u}) {
    check({16, k, "f64", "f64", "f64", ""});
  }
}

TEST(Mma, Fp8) {
  for (unsigned k : {16u, 32u}) {
    for (const char *a : {"e4m3", "e5m2"}) {
      for (const char *b : {"e4m3", "e5m2"}) {
        check({16, k, a, b, "f32", ""});
        check({16, k, a, b, "f16", ""});
      }
    }
  }
}

TEST(Mma, Integers) {
  for (bool clamp : {false, true}) {
    for (const char *a : {"s8", "u8"}) {
      for (const char *b : {"s8", "u8"}) {
        check({8, 16, a, b, "s32", "", clamp});
        check({16, 16, a, b, "s32", "", clamp});
        check({16, 32, a, b, "s32", "", clamp});
      }
    }
    for (const char *a : {"s4", "u4"}) {
      for (const char *b : {"s4", "u4"}) {
        check({8, 32, a, b, "s32", "", clamp});
        check({16, 32, a, b, "s32", "", clamp});
        check({16, 64, a, b, "s32", "", clamp});
      }
    }
  }
}

TEST(Mma, Bits) {
  for (const char *operation : {"and", "xor"}) {
    check({8, 128, "b1", "b1", "s32", operation});
    check({16, 128, "b1", "b1", "s32", operation});
    check({16, 256, "b1", "b1", "s32", operation});
  }
}

/// Only results of the row of A, or column of B, that was never written are undefined.
TEST(Mma, UndefinedOperandsSpoilTheirRowAndColumn) {
  for (bool columns : {false, true}) {
    Kernel kernel;
    kernel.buffers = {Bytes(32 * 16, 0)};
    kernel.line("setp.ge.u32 %p1, %r0, 4;"); // lanes 0 to 3: row 0 of A, column 0 of B
    kernel.line("mov.b32 %r30, 0;");
    kernel.line("@%p1 mov.b32 %r31, 0;");
    const char *a = columns ? "{%r30, %r30, %r30, %r30}" : "{%r31, %r30, %r30, %r30}";
    const char *b = columns ? "{%r31, %r30}" : "{%r30, %r30}";
    kernel.line(
        matrix_test::format("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                            "{{%r40, %r41, %r42, %r43}}, {}, {}, {{%r30, %r30, %r30, %r30}};",
                            a, b));
    // Decides something: reported where the value is undefined.
    const char *good = columns ? "41" : "42", *bad = columns ? "42" : "41";
    kernel.line(matrix_test::format("setp.eq.b32 %p2, %r{}, 1;\n@%p2 bra DONE;\nDONE:", good));
    Kernel other = kernel;
    other.line(matrix_test::format("setp.eq.b32 %p3, %r{}, 1;\n@%p3 bra DONE2;\nDONE2:", bad));
    kernel.run();
    EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
    other.run();
    EXPECT_TRUE(has(other, Report::Kind::Uninitialised, "")) << other.described;
  }
}

TEST(Mma, RefusesWhatDoesNotExist) {
  for (const char *text : {
           "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
           "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
           "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
           "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
           "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
           "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
       }) {
    Kernel kernel;
    kernel.line(std::string(text) + " {%r40, %r41, %r42, %r43}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
                                    "{%r40, %r41, %r42, %r43};");
    try {
      kernel.run();
      EXPECT_TRUE(has(kernel, Report::Kind::Unsupported, "mma")) << text;
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.report.kind, Report::Kind::Unsupported) << text;
    }
  }
}

TEST(Mma, NeedsAllLanes) {
  Kernel kernel;
  kernel.threads = 16;
  kernel.line("mov.b32 %r30, 0;");
  kernel.line("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r40, %r41, %r42, %r43}, "
              "{%r30, %r30}, {%r30}, {%r30, %r30, %r30, %r30};");
  kernel.run();
  EXPECT_TRUE(has(kernel, Report::Kind::Invalid, "16 of a warp's 32 threads")) << kernel.described;
}

} // namespace
