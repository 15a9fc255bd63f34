// wgmma descriptors against an emulation of the hardware that decodes the 64 bits and reads the
// operand element by element (canonical layouts of PTX ISA 9.7.15.5, strides in elements there, in
// bytes here).
#include "LayoutTestUtils.h"

using namespace tilec::layout;

namespace {

/// The byte at which the tensor core finds element (mn, k) of an operand.
int64_t hardwareAddress(uint64_t descriptor, bool mnMajor, int64_t elementBytes, int64_t mn,
                        int64_t k) {
  const int64_t start = int64_t(descriptor & 0x3fff) << 4;
  const int64_t leading = int64_t(descriptor >> 16 & 0x3fff) << 4;
  const int64_t stride = int64_t(descriptor >> 32 & 0x3fff) << 4;
  EXPECT_EQ(descriptor >> 49 & 7, 0u); // base offset
  const unsigned width = std::array<unsigned, 4>{0, 128, 64, 32}[descriptor >> 62];
  int64_t linear;
  if (!mnMajor && width == 0) {
    // core matrices of 8 rows x 16 bytes: SBO to the next 8 rows, LBO to the other half of K
    linear =
        mn / 8 * stride + mn % 8 * 16 + k * elementBytes / 16 * leading + k * elementBytes % 16;
  } else if (!mnMajor) {
    linear = mn / 8 * stride + mn % 8 * width + k * elementBytes;
  } else if (width == 0) {
    // 8 columns of k x 16 bytes of mn: SBO to the next chunk of mn, LBO to the next 8 k
    const int64_t chunk = 16 / elementBytes;
    linear = mn / chunk * stride + mn % chunk * elementBytes + k / 8 * leading + k % 8 * 16;
  } else {
    const int64_t panel = width / elementBytes;
    linear = mn / panel * leading + mn % panel * elementBytes + k / 8 * stride + k % 8 * width;
  }
  return swizzleAddress(start + linear, width);
}

/// An MN-major operand that starts inside a panel: the pattern goes on from the start address
/// (measured on an H200).
void expectReadsTile(const SharedLayout &layout, const WgmmaOperand &op) {
  Answer<WgmmaDescriptor> d = wgmmaDescriptor(layout, op);
  ASSERT_TRUE(bool(d)) << layout.str() << ": " << d.reason();
  EXPECT_NE(uint32_t(d->bits()), 0u) << layout.str() << ": ptxas 13.0 crashes over such sums";
  const int64_t base = 0x400; // dynamic shared memory starts here
  const int64_t bytes = layout.elementBits() / 8;
  auto end = [&](unsigned dim) {
    return op.extents.empty() ? layout.shape()[dim] : op.begin(dim) + op.extents[dim];
  };
  for (int64_t mn0 = op.begin(op.mnDim); mn0 < end(op.mnDim); mn0 += op.mn) {
    for (int64_t k0 = op.begin(op.kDim); k0 < end(op.kDim); k0 += op.k) {
      const int64_t start = base + d->advanceBytes(mn0, k0);
      ASSERT_EQ(start % 16, 0);
      const uint64_t bits = d->bits() | uint64_t(start & 0x3ffff) >> 4;
      for (int64_t mn = 0; mn < op.mn; ++mn) {
        for (int64_t k = 0; k < op.k; ++k) {
          Coords c(2, 0);
          c[op.mnDim] = mn0 + mn;
          c[op.kDim] = k0 + k;
          ASSERT_EQ(hardwareAddress(bits, d->mnMajor, bytes, mn, k), base + layout.byteOffset(c))
              << layout.str() << " at " << mn0 << "," << k0 << " + " << mn << "," << k;
        }
      }
    }
  }
}

TEST(WgmmaDescriptor, KMajorOfEveryTypeAndSwizzle) {
  for (MmaType type : {MmaType::F16, MmaType::BF16, MmaType::TF32, MmaType::F8, MmaType::I8}) {
    const unsigned bits = bitWidth(type);
    const int64_t step = instructionK(type);
    for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
      for (int64_t steps : {1, 2, 3, 4, 8}) {
        for (int64_t rows : {64, 128, 192}) { // A: blocks of 64 rows, B stored [N, K]
          SharedLayout tile = must(SharedLayout::panels({rows, steps * step}, bits, swizzle));
          expectReadsTile(tile, {0, 1, 64, step});
          expectReadsTile(tile, {0, 1, rows, step});
        }
        for (int64_t n : {8, 96, 176, 256}) {
          expectReadsTile(must(SharedLayout::panels({n, steps * step}, bits, swizzle)),
                          {0, 1, n, step});
          // the same bytes declared [K, N] with K contiguous
          expectReadsTile(must(SharedLayout::panels({steps * step, n}, bits, swizzle, 0)),
                          {1, 0, n, step});
        }
      }
    }
  }
}

TEST(WgmmaDescriptor, MnMajorOfEverySwizzle) {
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    for (int64_t k : {16, 48, 64, 128}) {
      // B stored [K, N]; the last panel may be partly used (N = 96, 176, 8).
      for (int64_t n : {8, 32, 64, 96, 128, 176, 256}) {
        expectReadsTile(must(SharedLayout::panels({k, n}, 16, swizzle)), {1, 0, n, 16});
      }
      // A stored [K, M]
      expectReadsTile(must(SharedLayout::panels({k, 192}, 16, swizzle)), {1, 0, 64, 16});
      // starts inside a panel: N split among instructions of 32, 16, 8
      for (int64_t n : {8, 16, 32}) {
        if (swizzle == 0 || n * 2 <= int64_t(swizzle)) {
          expectReadsTile(must(SharedLayout::panels({k, 128}, 16, swizzle)), {1, 0, n, 16});
        }
      }
    }
  }
}

TEST(WgmmaDescriptor, NarrowPanelsKeepTheSwizzlePitch) {
  // 64-byte rows in a 128-byte swizzle, as TMA writes a narrow box.
  expectReadsTile(must(SharedLayout::parse("64x32 b16 contig 1 panel 32 swizzle 128")),
                  {0, 1, 64, 16});
  expectReadsTile(must(SharedLayout::parse("32x32 b16 contig 1 panel 32 swizzle 128")),
                  {1, 0, 32, 16});
}

TEST(WgmmaDescriptor, PartsOfATile) {
  for (unsigned swizzle : {32u, 64u, 128u}) {
    // K-major: rows from a multiple of 8 on, k from a multiple of a step on.
    SharedLayout rows = must(SharedLayout::panels({200, 144}, 16, swizzle));
    for (int64_t row : {0, 8, 72}) {
      for (int64_t k : {0, 16, 48}) {
        expectReadsTile(rows, {0, 1, 64, 16, {row, k}, {128, 96}});
      }
    }
    // MN-major: 512 of 576 columns, as values of MLA; a part that starts inside a panel.
    SharedLayout columns = must(SharedLayout::panels({64, 576}, 16, swizzle));
    expectReadsTile(columns, {1, 0, 256, 16, {0, 0}, {64, 512}});
    expectReadsTile(columns, {1, 0, 64, 16, {8, 64}, {32, 512}});
    expectReadsTile(columns, {1, 0, 8, 16, {0, 8}, {64, 64}});
  }
  SharedLayout tile = must(SharedLayout::panels({192, 128}, 16, 128));
  EXPECT_EQ(wgmmaDescriptor(tile, {0, 1, 64, 16, {4, 0}, {64, 64}}).reason(),
            "the part starts at row 4 and k 0, not at multiples of 8 and 16");
  EXPECT_EQ(wgmmaDescriptor(tile, {0, 1, 64, 16, {0, 8}, {64, 64}}).reason(),
            "the part starts at row 0 and k 8, not at multiples of 8 and 16");
  EXPECT_EQ(wgmmaDescriptor(tile, {0, 1, 64, 16, {0, 0}, {96, 64}}).reason(),
            "the tile has 96 rows in shared memory, not a multiple of the 64 that wgmma reads");
}

TEST(WgmmaDescriptor, KnownEncodings) {
  WgmmaDescriptor a =
      must(wgmmaDescriptor(must(SharedLayout::panels({128, 64}, 16, 128)), {0, 1, 64, 16}));
  EXPECT_EQ(a.bits(), uint64_t(1) << 62 | uint64_t(1024 >> 4) << 32 | uint64_t(16 >> 4) << 16);
  EXPECT_EQ(a.advanceBytes(0, 16), 32);
  EXPECT_EQ(a.advanceBytes(64, 48), 64 * 128 + 96);
  WgmmaDescriptor b =
      must(wgmmaDescriptor(must(SharedLayout::panels({64, 256}, 16, 128)), {1, 0, 256, 16}));
  EXPECT_TRUE(b.mnMajor);
  EXPECT_EQ(b.leadingBytes, 64 * 128);
  EXPECT_EQ(b.strideBytes, 1024);
  EXPECT_EQ(b.advanceBytes(0, 16), 2048);
  EXPECT_EQ(b.alignment, 1024);
}

TEST(WgmmaDescriptor, Refusals) {
  auto reason = [](const Answer<SharedLayout> &layout, WgmmaOperand op) {
    Answer<WgmmaDescriptor> d = wgmmaDescriptor(must(layout), op);
    EXPECT_FALSE(bool(d));
    return d.reason();
  };
  EXPECT_EQ(reason(SharedLayout::panels({64, 128}, 8, 128), {1, 0, 128, 32}),
            "wgmma reads 8-bit operands only with K contiguous");
  EXPECT_EQ(reason(SharedLayout::panels({64, 128}, 32, 128), {1, 0, 128, 8}),
            "wgmma reads 32-bit operands only with K contiguous");
  EXPECT_EQ(reason(SharedLayout::rows({64, 64}, 16), {0, 1, 64, 16}),
            "without a swizzle wgmma reads rows of 16 bytes stored one after the other, here they "
            "are 128 bytes apart");
  EXPECT_EQ(reason(SharedLayout::panels({16, 64}, 16, 128), {0, 1, 64, 16}),
            "the tile has 16 rows in shared memory, not a multiple of the 64 that wgmma reads");
  EXPECT_EQ(reason(SharedLayout::panels({64, 40}, 16, 128), {0, 1, 64, 16}),
            "the K extent 40 is not a multiple of the 16 that wgmma takes at a time");
  EXPECT_EQ(reason(SharedLayout::panels({64, 192}, 16, 128), {1, 0, 96, 16}),
            "the instruction at 96 starts inside a panel of 64 elements and ends in another");
  EXPECT_EQ(reason(SharedLayout::parse("64x64 b16 contig 1 panel 32 swizzle 128"), {1, 0, 64, 16}),
            "panels of 32 elements leave gaps in rows of 128 bytes");
  EXPECT_FALSE(reason(SharedLayout::panels({64, 64}, 64, 128), {0, 1, 64, 4}).empty());
  EXPECT_FALSE(reason(SharedLayout::panels({2, 64, 64}, 16, 128), {0, 1, 64, 16}).empty());
  EXPECT_FALSE(reason(SharedLayout::panels({64, 64}, 16, 128), {0, 1, 64, 32}).empty());
  EXPECT_FALSE(reason(SharedLayout::panels({60, 64}, 16, 128), {0, 1, 60, 16}).empty());
}

} // namespace
