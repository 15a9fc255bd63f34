// Shared layouts: swizzles against the XOR formula, panels, inversion, text; what TMA writes.
#include "LayoutTestUtils.h"

#include <set>

using namespace tilec::layout;

namespace {

/// Calls f(coords) for every element.
template <typename F>
void forEachElement(llvm::ArrayRef<int64_t> shape, F f) {
  Coords c(shape.size(), 0);
  while (true) {
    f(c);
    int d = int(shape.size()) - 1;
    while (d >= 0 && ++c[d] == shape[d]) {
      c[d--] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

std::vector<SharedLayout> samples() {
  std::vector<SharedLayout> all;
  for (const Coords &shape : std::initializer_list<Coords>{{1},
                                                           {7},
                                                           {576},
                                                           {64, 64},
                                                           {128, 32},
                                                           {16, 176},
                                                           {96, 7},
                                                           {7, 96},
                                                           {3, 24, 80},
                                                           {2, 1, 5, 48},
                                                           {2, 1, 2, 8, 16}}) {
    for (unsigned bits : {4u, 8u, 16u, 32u, 64u}) {
      for (int contiguous = shape.size() - 1; contiguous >= std::max(0, int(shape.size()) - 2);
           --contiguous) {
        for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
          if (auto layout = SharedLayout::panels(shape, bits, swizzle, contiguous);
              layout || shape.size() > 1) { // a row has no panels
            all.push_back(must(layout));
          }
        }
        for (int64_t pad : {0, 16}) {
          all.push_back(must(SharedLayout::rows(shape, bits, contiguous, pad)));
        }
      }
    }
  }
  all.push_back(
      must(SharedLayout::parse("64x32 b16 contig 1 panel 32 swizzle 128"))); // narrow panel
  for (size_t i = 0, end = all.size(); i < end; ++i) {
    if (auto ring = all[i].withLeading(3)) {
      all.push_back(*ring);
    }
  }
  return all;
}

TEST(SharedLayout, ElementsAreApartAndInside) {
  for (const SharedLayout &layout : samples()) {
    std::set<int64_t> used;
    forEachElement(layout.shape(), [&](const Coords &c) {
      const int64_t bit = 8 * layout.byteOffset(c) + layout.bitOffset(c);
      ASSERT_EQ(bit % layout.elementBits(), 0);
      ASSERT_GE(bit, 0);
      ASSERT_LE(bit + layout.elementBits(), 8 * layout.sizeBytes()) << layout.str();
      ASSERT_TRUE(used.insert(bit).second) << layout.str();
    });
    expectRoundTrip(layout);
  }
}

TEST(SharedLayout, SwizzleIsTheXorOfChunkAndRow) {
  // 16-byte chunk c of row r: c ^ (r % 8), c ^ (r / 2 % 4), c ^ (r / 4 % 2).
  for (auto [width, divisor, modulus] :
       {std::tuple<unsigned, int64_t, int64_t>{128, 1, 8}, {64, 2, 4}, {32, 4, 2}}) {
    for (unsigned bits : {8u, 16u, 32u}) {
      const int64_t perChunk = 128 / bits, perRow = 8 * width / bits, rows = 40;
      SharedLayout layout = must(SharedLayout::panels({rows, 3 * perRow}, bits, width));
      EXPECT_EQ(layout.rowPitch(), width);
      EXPECT_EQ(layout.panelStride(), rows * width);
      EXPECT_EQ(layout.alignment(), 8 * width);
      forEachElement(layout.shape(), [&](const Coords &c) {
        const int64_t panel = c[1] / perRow, chunk = c[1] % perRow / perChunk;
        const int64_t swizzled = chunk ^ (c[0] / divisor % modulus);
        ASSERT_EQ(layout.byteOffset(c),
                  panel * rows * width + c[0] * width + 16 * swizzled + c[1] % perChunk * bits / 8);
      });
    }
  }
}

TEST(SharedLayout, SwizzleActsOnAbsoluteAddressBits) {
  for (unsigned width : {32u, 64u, 128u}) {
    const int64_t mask = width / 16 - 1;
    for (int64_t a = 0; a < 4096; ++a) {
      ASSERT_EQ(swizzleAddress(a, width), a ^ ((a >> 7 & mask) << 4));
      ASSERT_EQ(swizzleAddress(swizzleAddress(a, width), width), a);
    }
  }
  EXPECT_EQ(swizzleAddress(12345, 0), 12345);
}

TEST(SharedLayout, RowsAndPadding) {
  SharedLayout padded = must(SharedLayout::rows({64, 72}, 16, 1, 16));
  EXPECT_EQ(padded.rowPitch(), 160);
  EXPECT_EQ(padded.byteOffset({3, 5}), 3 * 160 + 10);
  EXPECT_EQ(padded.sizeBytes(), 64 * 160);
  SharedLayout columns = must(SharedLayout::rows({64, 72}, 32, 0));
  EXPECT_EQ(columns.byteOffset({3, 5}), 4 * (3 + 64 * 5));
  SharedLayout nibbles = must(SharedLayout::rows({4, 7}, 4));
  EXPECT_EQ(nibbles.rowPitch(), 4);
  EXPECT_EQ(nibbles.byteOffset({1, 3}), 5);
  EXPECT_EQ(nibbles.bitOffset({1, 3}), 4u);
}

TEST(SharedLayout, RingsRepeatTheMatrix) {
  SharedLayout tile = must(SharedLayout::panels({96, 128}, 16, 128));
  SharedLayout ring = must(tile.withLeading(3));
  EXPECT_EQ(ring.dropLeading(), tile);
  EXPECT_EQ(ring.leadingStride(0), tile.sizeBytes());
  EXPECT_EQ(ring.sizeBytes(), 3 * tile.sizeBytes());
  forEachElement(tile.shape(), [&](const Coords &c) {
    ASSERT_EQ(ring.byteOffset({2, c[0], c[1]}), 2 * ring.leadingStride(0) + tile.byteOffset(c));
  });
  // A matrix that is no whole number of patterns is spaced to one, so that it still stands alone.
  SharedLayout odd = must(SharedLayout::panels({3, 64}, 16, 128));
  EXPECT_EQ(must(odd.withLeading(2)).leadingStride(0), 1024);
  forEachElement(odd.shape(), [&](const Coords &c) {
    ASSERT_EQ(must(odd.withLeading(2)).byteOffset({1, c[0], c[1]}), 1024 + odd.byteOffset(c));
  });
}

TEST(SharedLayout, SlotsOfRingsAreBuffersOfTheirOwn) {
  // Every slot is the buffer alone, a multiple of its alignment further on: rows, tiny tiles, odd
  // sizes, padding, three dimensions.
  int rings = 0;
  for (const SharedLayout &buffer : samples()) {
    Answer<SharedLayout> ring = buffer.withLeading(4);
    if (!ring) {
      EXPECT_TRUE(buffer.rank() == 5 || buffer.step()) << buffer.str() << ": " << ring.reason();
      continue;
    }
    ++rings;
    EXPECT_EQ(ring->dropLeading(), buffer);
    EXPECT_EQ(ring->slotStride() % buffer.alignment(), 0) << ring->str();
    EXPECT_GE(ring->slotStride(), buffer.sizeBytes());
    EXPECT_EQ(ring->sizeBytes(), 4 * ring->slotStride());
    expectRoundTrip(*ring);
    for (int64_t slot : {0, 1, 3}) {
      forEachElement(buffer.shape(), [&](const Coords &c) {
        Coords inRing = {slot};
        inRing.append(c.begin(), c.end());
        ASSERT_EQ(ring->byteOffset(inRing), slot * ring->slotStride() + buffer.byteOffset(c))
            << ring->str();
      });
    }
  }
  EXPECT_GT(rings, 100);
  // What the buffer alone does not need is not there: 64 bytes of f32 in steps of 128.
  EXPECT_EQ(must(must(SharedLayout::rows({16}, 32)).withLeading(3)).str(),
            "3x16 b32 contig 1 panel 16 step 128");
  EXPECT_EQ(must(must(SharedLayout::rows({32}, 32)).withLeading(3)).str(),
            "3x32 b32 contig 1 panel 32");
}

TEST(SharedLayout, ARowHasNoPanels) {
  EXPECT_FALSE(bool(SharedLayout::panels({64}, 32, 128)));
  EXPECT_FALSE(bool(SharedLayout::panels({64}, 32, 0)));
  EXPECT_TRUE(must(SharedLayout::rows({64}, 32, -1, 16)) == must(SharedLayout::rows({64}, 32)));
}

TEST(SharedLayout, MalformedTextIsRefused) {
  for (const char *text : {"",
                           "64x64",
                           "64x64 b16",
                           "64x64 b16 contig 1",
                           "64x64 b12 contig 1 panel 64",
                           "64x64 b16 contig 2 panel 64",
                           "2x64x64 b16 contig 0 panel 2",
                           "64x64 b16 contig 1 panel 0",
                           "64x64 b16 contig 1 panel 128 swizzle 128",
                           "64x64 b16 contig 1 panel 64 swizzle 48",
                           "64x64 b16 contig 1 panel 32 swizzle 64 pad 16",
                           "64x64 b16 contig 1 panel 64 pad -1",
                           "0x64 b16 contig 1 panel 64",
                           "64x64 b16 contig 1 panel 64 x",
                           "1x1x1x1x1x1 b16 contig 5 panel 1",
                           "scalar b16 contig 0 panel 1",
                           "9999999999 b16 contig 0 panel 1",
                           "1048576x1048576 b16 contig 1 panel 64",
                           "64x7 b4 contig 1 panel 3",
                           "64 b32 contig 0 panel 32 swizzle 128",
                           "64 b32 contig 0 panel 64 step 512",
                           "3x16 b32 contig 1 panel 16 step 63",
                           "3x16 b32 contig 0 panel 3 step 128",
                           "3x32 b32 contig 1 panel 32 swizzle 128 step 256"}) {
    Answer<SharedLayout> layout = SharedLayout::parse(text);
    EXPECT_FALSE(bool(layout)) << text;
    EXPECT_FALSE(layout.reason().empty());
  }
}

// ---- TMA

/// What a box does to shared memory: elements densely in box order (contiguous dimension fastest,
/// then rows, then the others from last to first), rows at the swizzle's pitch, XOR on address
/// bits.
void emulateBoxes(const SharedLayout &layout, const TmaBoxes &boxes) {
  const unsigned bits = layout.elementBits();
  std::vector<unsigned> order = {layout.contiguousDim()};
  if (layout.rowDim() >= 0) {
    order.push_back(layout.rowDim());
  }
  for (int d = int(layout.rank()) - 3; d >= 0; --d) {
    order.push_back(d);
  }
  const int64_t inner = boxes.extents[order[0]];
  const int64_t pitch = boxes.swizzle ? boxes.swizzle : inner * bits / 8;
  ASSERT_EQ(inner * bits % 128, 0);
  ASSERT_TRUE(!boxes.swizzle || inner * bits / 8 <= boxes.swizzle);
  std::set<Coords> written;
  int64_t total = 0;
  for (const TmaBoxes::Box &box : boxes.boxes) {
    ASSERT_EQ(box.offset % 128, 0);
    forEachElement(boxes.extents, [&](const Coords &inBox) {
      int64_t row = 0;
      for (size_t i = order.size() - 1; i >= 1; --i) {
        ASSERT_LE(boxes.extents[order[i]], 256);
        row = row * boxes.extents[order[i]] + inBox[order[i]];
      }
      const int64_t bit = inBox[order[0]] * bits;
      const int64_t address = swizzleAddress(box.offset + row * pitch + bit / 8, boxes.swizzle);
      ASSERT_LT(address, layout.sizeBytes()) << layout.str();
      ++total;
      Coords c = inBox;
      bool inside = true;
      for (unsigned d = 0; d < layout.rank(); ++d) {
        c[d] += box.origin[d];
        inside &= c[d] < layout.shape()[d];
      }
      ASSERT_TRUE(inside || boxes.overhang) << layout.str();
      if (inside) {
        ASSERT_EQ(address, layout.byteOffset(c)) << layout.str();
        ASSERT_EQ(bit % 8, int64_t(layout.bitOffset(c)));
        ASSERT_TRUE(written.insert(c).second);
      }
    });
  }
  int64_t elements = 1;
  for (int64_t extent : layout.shape()) {
    elements *= extent;
  }
  EXPECT_EQ(int64_t(written.size()), elements) << layout.str();
  EXPECT_EQ(total * bits, 8 * boxes.bytesPerBox * int64_t(boxes.boxes.size()));
}

TEST(TmaBoxes, EveryAnswerFillsTheLayout) {
  int answered = 0;
  std::vector<SharedLayout> all = samples();
  for (unsigned swizzle : {0u, 32u, 64u, 128u}) {
    all.push_back(must(SharedLayout::panels({576, 96}, 16, swizzle)));
    all.push_back(must(SharedLayout::panels({2, 64, 48}, 16, swizzle, 1)));
    all.push_back(must(SharedLayout::panels({300, 128}, 8, swizzle)));
  }
  all.push_back(must(SharedLayout::rows({4096}, 16)));
  all.push_back(must(SharedLayout::rows({6, 7, 8, 32}, 32)));
  for (const SharedLayout &layout : all) {
    Answer<TmaBoxes> boxes = tmaBoxes(layout);
    if (boxes) {
      ++answered;
      emulateBoxes(layout, *boxes);
    } else {
      EXPECT_FALSE(boxes.reason().empty());
    }
  }
  EXPECT_GT(answered, 200);
}

TEST(TmaBoxes, GemmTiles) {
  TmaBoxes a = must(tmaBoxes(must(SharedLayout::panels({128, 64}, 16, 128))));
  EXPECT_EQ(a.extents, (Coords{128, 64}));
  EXPECT_EQ(a.boxes.size(), 1u);
  EXPECT_EQ(a.bytesPerBox, 16384);
  TmaBoxes b = must(
      tmaBoxes(must(SharedLayout::panels({64, 256}, 16, 128)))); // [K, N], N contiguous: 4 panels
  EXPECT_EQ(b.extents, (Coords{64, 64}));
  ASSERT_EQ(b.boxes.size(), 4u);
  EXPECT_EQ(b.boxes[3].offset, 3 * 64 * 128);
  EXPECT_EQ(b.boxes[3].origin, (Coords{0, 192}));
  EXPECT_FALSE(b.overhang);
  EXPECT_TRUE(must(tmaBoxes(must(SharedLayout::panels({64, 96}, 16, 128)))).overhang);
  TmaBoxes cube = must(tmaBoxes(must(SharedLayout::rows({6, 7, 8, 32}, 32))));
  EXPECT_EQ(cube.boxes.size(), 1u);
  TmaBoxes tall = must(tmaBoxes(must(SharedLayout::panels({576, 64}, 16, 128))));
  EXPECT_EQ(tall.extents, (Coords{192, 64}));
  // 204 rows of 16 bytes would leave the next box unaligned, 136 do not.
  EXPECT_EQ(must(tmaBoxes(must(SharedLayout::panels({408, 8}, 16, 0)))).extents, (Coords{136, 8}));
}

TEST(TmaBoxes, AsManyForEachSharer) {
  // One box of 128 rows; with four sharers of 32 rows, whole patterns of the swizzle.
  const SharedLayout rows = must(SharedLayout::panels({128, 64}, 16, 128));
  TmaBoxes four = must(tmaBoxes(rows, 4));
  EXPECT_EQ(four.extents, (Coords{32, 64}));
  ASSERT_EQ(four.boxes.size(), 4u);
  EXPECT_EQ(four.boxes[3].origin, (Coords{96, 0}));
  EXPECT_EQ(four.boxes[3].offset, 96 * 128);
  EXPECT_EQ(four.bytesPerBox, 32 * 128);
  // Four panels serve two and four as they are; eight get half of the rows, three nothing smaller.
  const SharedLayout panels = must(SharedLayout::panels({64, 256}, 16, 128));
  EXPECT_EQ(must(tmaBoxes(panels, 2)).extents, (Coords{64, 64}));
  EXPECT_EQ(must(tmaBoxes(panels, 4)).extents, (Coords{64, 64}));
  EXPECT_EQ(must(tmaBoxes(panels, 8)).extents, (Coords{32, 64}));
  EXPECT_EQ(must(tmaBoxes(panels, 3)).extents, (Coords{64, 64}));
  // 12 rows for each of two would break a pattern.
  EXPECT_EQ(must(tmaBoxes(must(SharedLayout::panels({24, 64}, 16, 128)), 2)).extents,
            (Coords{24, 64}));
}

TEST(TmaBoxes, Refusals) {
  auto reason = [](const Answer<SharedLayout> &layout) { return tmaBoxes(must(layout)).reason(); };
  EXPECT_EQ(reason(SharedLayout::rows({64, 64}, 16, 1, 16)),
            "TMA writes rows without padding, the layout pads them by 16 bytes");
  EXPECT_EQ(reason(SharedLayout::rows({64, 7}, 16)),
            "a box row of 7 elements is not a multiple of 16 bytes");
  EXPECT_EQ(reason(SharedLayout::rows({64, 512}, 16)),
            "rows of 512 elements are wider than a box (256)");
  EXPECT_EQ(reason(SharedLayout::panels({257, 64}, 16, 128)),
            "the 257 rows cannot be cut into aligned boxes of at most 256 rows");
}

} // namespace
