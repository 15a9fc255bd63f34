// ldmatrix, stmatrix, movmatrix against the placement that the PTX ISA draws.
#include "test/unit/emulator/MatrixKernel.h"

#include <gtest/gtest.h>

using namespace tile_emu;
using namespace matrix_test;

namespace {

/// Rows of 16 bytes: element (row, column) of matrix j is 1000 j + 10 row + column.
uint16_t element(unsigned j, unsigned row, unsigned column) {
  return uint16_t(1000 * j + 10 * row + column);
}

/// Where row `row` of matrix `j` lies: scattered.
unsigned offsetOf(unsigned j, unsigned row) { return 16 * ((37 * (8 * j + row) + 5) % 64); }

constexpr unsigned kBytes = 1024;

Bytes image(unsigned matrices) {
  Bytes bytes(kBytes);
  for (unsigned j = 0; j < matrices; ++j) {
    for (unsigned row = 0; row < 8; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        put(bytes, 8 * (offsetOf(j, row) + 2 * column), 16, element(j, row, column));
      }
    }
  }
  return bytes;
}

/// Addresses of the rows by lane; those of lanes that give none are nonsense.
Bytes addresses(unsigned matrices) {
  Bytes bytes(32 * 4);
  for (unsigned lane = 0; lane < 32; ++lane) {
    put(bytes, 32 * lane, 32,
        lane < 8 * matrices ? kSharedBase + offsetOf(lane / 8, lane % 8) : 0xdeadbeef);
  }
  return bytes;
}

/// The register of a lane: two elements of row lane / 4 or, transposed, of that column.
uint32_t fragment(unsigned j, unsigned lane, bool transposed) {
  unsigned g = lane / 4, t = 2 * (lane % 4);
  return transposed ? element(j, t, g) | uint32_t(element(j, t + 1, g)) << 16
                    : element(j, g, t) | uint32_t(element(j, g, t + 1)) << 16;
}

class Forms : public testing::TestWithParam<std::tuple<unsigned, bool, bool>> {};

TEST_P(Forms, Load) {
  auto [matrices, transposed, generic] = GetParam();
  Kernel kernel;
  kernel.sharedBytes = kBytes;
  kernel.buffers = {image(matrices), addresses(matrices), Bytes(32 * 4 * matrices)};
  kernel.copyToShared(0);
  kernel.loadRegisters(1, 1, 20);
  if (generic) {
    kernel.line("cvt.u64.u32 %rd50, %r20;\ncvta.shared.u64 %rd50, %rd50;");
  }
  kernel.line(matrix_test::format("ldmatrix.sync.aligned.m8n8.x{}{}{}.b16 {}, [{}];", matrices,
                                  transposed ? ".trans" : "", generic ? "" : ".shared",
                                  Kernel::list(matrices, 30), generic ? "%rd50" : "%r20"));
  kernel.storeRegisters(2, matrices, 30);
  kernel.run();
  EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned j = 0; j < matrices; ++j) {
      EXPECT_EQ(get(kernel.buffers[2], 32 * (lane * matrices + j), 32),
                fragment(j, lane, transposed));
    }
  }
}

TEST_P(Forms, Store) {
  auto [matrices, transposed, generic] = GetParam();
  Kernel kernel;
  kernel.sharedBytes = kBytes;
  Bytes registers(32 * 4 * matrices);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned j = 0; j < matrices; ++j) {
      put(registers, 32 * (lane * matrices + j), 32, fragment(j, lane, transposed));
    }
  }
  kernel.buffers = {Bytes(kBytes, 0), addresses(matrices), registers, Bytes(kBytes)};
  kernel.copyToShared(0);
  kernel.loadRegisters(1, 1, 20);
  kernel.loadRegisters(2, matrices, 30);
  if (generic) {
    kernel.line("cvt.u64.u32 %rd50, %r20;\ncvta.shared.u64 %rd50, %rd50;");
  }
  kernel.line(matrix_test::format("stmatrix.sync.aligned.m8n8.x{}{}{}.b16 [{}], {};", matrices,
                                  transposed ? ".trans" : "", generic ? "" : ".shared::cta",
                                  generic ? "%rd50" : "%r20", Kernel::list(matrices, 30)));
  kernel.line("bar.sync 0;\nmul.lo.u32 %r21, %r0, 32;\nmov.u32 %r22, smem;\n"
              "add.u32 %r21, %r21, %r22;");
  for (unsigned i = 0; i < 8; ++i) {
    kernel.line(matrix_test::format("ld.shared.b32 %r{}, [%r21+{}];", 40 + i, 4 * i));
  }
  kernel.storeRegisters(3, 8, 40);
  kernel.run();
  EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
  EXPECT_EQ(kernel.buffers[3], image(matrices));
}

INSTANTIATE_TEST_SUITE_P(All, Forms,
                         testing::Combine(testing::Values(1u, 2u, 4u), testing::Bool(),
                                          testing::Bool()));

TEST(MatrixLoad, Movmatrix) {
  Kernel kernel;
  Bytes registers(32 * 4);
  for (unsigned lane = 0; lane < 32; ++lane) {
    put(registers, 32 * lane, 32, fragment(0, lane, false));
  }
  kernel.buffers = {registers};
  kernel.loadRegisters(0, 1, 20);
  kernel.line("movmatrix.sync.aligned.m8n8.trans.b16 %r30, %r20;");
  kernel.storeRegisters(0, 1, 30);
  kernel.run();
  EXPECT_TRUE(kernel.reports.empty()) << kernel.described;
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(get(kernel.buffers[0], 32 * lane, 32), fragment(0, lane, true));
  }
}

Kernel loading(const std::string &address) {
  Kernel kernel;
  kernel.sharedBytes = kBytes;
  kernel.buffers = {Bytes(kBytes, 0), Bytes(128)};
  kernel.copyToShared(0);
  kernel.line("mov.u32 %r20, smem;\n" + address);
  kernel.line("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r20];");
  kernel.storeRegisters(1, 1, 30);
  kernel.run();
  return kernel;
}

TEST(MatrixLoad, BadAddresses) {
  EXPECT_TRUE(has(loading("add.u32 %r20, %r20, 8;"), Report::Kind::Misaligned, ""));
  EXPECT_TRUE(has(loading("add.u32 %r20, %r20, 1024;"), Report::Kind::OutOfBounds, ""));
  EXPECT_TRUE(loading("add.u32 %r20, %r20, 1008;").reports.empty());
}

TEST(MatrixLoad, UnwrittenElementsAreUndefined) {
  for (unsigned lane : {0u, 4u}) { // lane 0 gets elements 0 and 1 of row 0, lane 4 of row 1
    Kernel kernel;
    kernel.sharedBytes = kBytes;
    kernel.line("mov.u32 %r20, smem;\nmov.b32 %r1, 0;");
    kernel.line("setp.eq.u32 %p1, %r0, 0;\n@%p1 st.shared.b32 [%r20], %r1;\nbar.sync 0;");
    kernel.line("shl.b32 %r2, %r0, 4;\nadd.u32 %r20, %r20, %r2;");
    kernel.line("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r20];");
    kernel.line(matrix_test::format("setp.ne.u32 %p2, %r0, {};\n@%p2 bra END;", lane));
    kernel.line("setp.eq.b32 %p3, %r30, 0;\n@%p3 bra END;\nEND:");
    kernel.run();
    EXPECT_EQ(has(kernel, Report::Kind::Uninitialised, ""), lane != 0) << kernel.described;
  }
}

TEST(MatrixLoad, UnsupportedShapes) {
  for (const char *text : {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r30, %r31}, [%r20]",
                           "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r20], {%r30}",
                           "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r30, %r31, %r32}, [%r20]"}) {
    Kernel kernel;
    kernel.line(std::string(text) + ";");
    try {
      kernel.run();
      EXPECT_TRUE(has(kernel, Report::Kind::Unsupported, "matrix")) << text;
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.report.kind, Report::Kind::Unsupported) << text;
    }
  }
}

} // namespace
