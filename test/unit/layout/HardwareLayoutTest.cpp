// The fragments of wgmma and mma.sync against the formulas of the PTX ISA (9.7.14.5, 9.7.15.5), g =
// lane/4, t = lane%4.
#include "LayoutTestUtils.h"

using namespace tilec::layout;

namespace {

using Pair = std::pair<int64_t, int64_t>;

Pair pair(const Coords &c) { return {c[0], c[1]}; }

// D[64,N]: register i: row 16w + g + 8((i/2)%2), column 8(i/4) + 2t + i%2.
Pair accumulator(int64_t i, int64_t lane, int64_t warp) {
  const int64_t g = lane / 4, t = lane % 4;
  return {16 * warp + g + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * t + i % 2};
}

TEST(HardwareLayout, WgmmaAccumulatorOfOneWarpgroup) {
  for (int64_t n = 8; n <= 256; n += 8) {
    RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(64, n));
    EXPECT_EQ(d.registersPerThread(), n / 2);
    EXPECT_EQ(d.numWarps(), 4);
    EXPECT_FALSE(d.hasPadding());
    forEachPlace(d, [&](int64_t r, int64_t l, int64_t w) {
      ASSERT_EQ(pair(d.coords(r, l, w)), accumulator(r, l, w)) << n;
    });
    expectRoundTrip(d);
  }
}

TEST(HardwareLayout, WgmmaAccumulatorSplitByRows) {
  for (int64_t groups : {1, 2, 3}) {
    for (int64_t blocks : {1, 2, 3}) {
      for (int64_t n : {16, 96, 176}) {
        const int64_t m = 64 * groups * blocks;
        RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(m, n, groups));
        EXPECT_TRUE(d.complete());
        EXPECT_FALSE(d.isReplicated());
        forEachPlace(d, [&](int64_t r, int64_t l, int64_t w) {
          Pair want = accumulator(r % (n / 2), l, w % 4);
          want.first += 64 * (r / (n / 2)) + 64 * blocks * (w / 4);
          ASSERT_EQ(pair(d.coords(r, l, w)), want);
        });
        expectRoundTrip(d);
      }
    }
  }
}

TEST(HardwareLayout, WgmmaAccumulatorSplitByColumns) {
  // MLA: O [64, 512] and [64, 576], two column halves; 176 columns are padded to 88 + 88.
  for (auto [n, groups, each] : {std::tuple<int64_t, int64_t, int64_t>{512, 2, 256},
                                 {576, 3, 192},
                                 {176, 2, 88},
                                 {100, 3, 40}}) {
    RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(128, n, 1, groups));
    EXPECT_TRUE(d.complete());
    EXPECT_EQ(d.hasPadding(), each * groups != n);
    forEachPlace(d, [&](int64_t r, int64_t l, int64_t w) {
      Pair want = accumulator(r % (each / 2), l, w % 4);
      want.first += 64 * (r / (each / 2));
      want.second += each * (w / 4);
      ASSERT_EQ(pair(d.coords(r, l, w)), want);
    });
    expectRoundTrip(d);
  }
}

TEST(HardwareLayout, ShortTilesArePadded) {
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(16, 7));
  EXPECT_TRUE(d.hasPadding());
  EXPECT_TRUE(d.complete());
  EXPECT_EQ(d.span(), (Coords{64, 8}));
  EXPECT_FALSE(d.inBounds(d.coords(0, 0, 1)));  // row 16
  EXPECT_TRUE(d.inBounds(d.coords(0, 31, 0)));  // row 7, column 6
  EXPECT_FALSE(d.inBounds(d.coords(1, 31, 0))); // column 7
}

// A in registers, one k-step; see PTX figures of the wgmma A fragment.
Pair wgmmaA(MmaType type, int64_t i, int64_t lane, int64_t warp) {
  const int64_t g = lane / 4, t = lane % 4, row = 16 * warp + g;
  switch (bitWidth(type)) {
  case 16:
    return {row + 8 * (i / 2 % 2), 2 * t + i % 2 + 8 * (i / 4)};
  case 32:
    return std::array<Pair, 4>{{{row, t}, {row + 8, t}, {row, t + 4}, {row + 8, t + 4}}}[i];
  default: // register i / 4, byte i % 4
    return {row + 8 * (i / 4 % 2), 4 * t + i % 4 + 16 * (i / 8)};
  }
}

constexpr MmaType allTypes[] = {MmaType::F16, MmaType::BF16, MmaType::TF32, MmaType::F8,
                                MmaType::I8};

TEST(HardwareLayout, WgmmaOperandA) {
  for (MmaType type : allTypes) {
    const int64_t step = 256 / bitWidth(type), slots = 128 / bitWidth(type);
    EXPECT_EQ(instructionK(type), step);
    for (int64_t steps : {1, 3, 4}) {
      for (int64_t groups : {1, 2}) {
        RegisterLayout a = must(RegisterLayout::wgmmaA(192 * groups, steps * step, type, groups));
        EXPECT_TRUE(a.complete());
        EXPECT_FALSE(a.isReplicated());
        ASSERT_EQ(a.registersPerThread(), slots * steps * 3);
        forEachPlace(a, [&](int64_t r, int64_t l, int64_t w) {
          Pair want = wgmmaA(type, r % slots, l, w % 4);
          want.second += step * (r / slots % steps);
          want.first += 64 * (r / slots / steps) + 192 * (w / 4);
          ASSERT_EQ(pair(a.coords(r, l, w)), want);
        });
        expectRoundTrip(a);
      }
    }
  }
}

// mma.sync operands of one instruction: 32-bit register and element in it.
Pair mmaA(MmaType type, int64_t i, int64_t lane) {
  const int64_t g = lane / 4, t = lane % 4;
  switch (bitWidth(type)) {
  case 16: { // a0 (g, 2t..), a1 (g+8, 2t..), a2 (g, 2t+8..), a3 (g+8, 2t+8..)
    const Pair start[] = {{g, 2 * t}, {g + 8, 2 * t}, {g, 2 * t + 8}, {g + 8, 2 * t + 8}};
    return {start[i / 2].first, start[i / 2].second + i % 2};
  }
  case 32: {
    const Pair start[] = {{g, t}, {g + 8, t}, {g, t + 4}, {g + 8, t + 4}};
    return start[i];
  }
  default: {
    const Pair start[] = {{g, 4 * t}, {g + 8, 4 * t}, {g, 4 * t + 16}, {g + 8, 4 * t + 16}};
    return {start[i / 4].first, start[i / 4].second + i % 4};
  }
  }
}

Pair mmaB(MmaType type, int64_t i, int64_t lane) { // (k, n)
  const int64_t g = lane / 4, t = lane % 4;
  switch (bitWidth(type)) {
  case 16:
    return {(i < 2 ? 2 * t : 2 * t + 8) + i % 2, g};
  case 32:
    return {i == 0 ? t : t + 4, g};
  default:
    return {(i < 4 ? 4 * t : 4 * t + 16) + i % 4, g};
  }
}

TEST(HardwareLayout, MmaSyncOperands) {
  for (MmaType type : allTypes) {
    const int64_t step = 256 / bitWidth(type), aSlots = 128 / bitWidth(type),
                  bSlots = 64 / bitWidth(type);
    for (auto [wm, wn] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {4, 2}, {1, 3}}) {
      const int64_t mTiles = 3, nTiles = 6, kTiles = 2;
      RegisterLayout a = must(RegisterLayout::mmaA(16 * mTiles * wm, step * kTiles, type, wm, wn));
      forEachPlace(a, [&](int64_t r, int64_t l, int64_t w) {
        Pair want = mmaA(type, r % aSlots, l);
        want.second += step * (r / aSlots % kTiles);
        want.first += 16 * (r / aSlots / kTiles) + 16 * mTiles * (w % wm);
        ASSERT_EQ(pair(a.coords(r, l, w)), want);
      });
      RegisterLayout b = must(RegisterLayout::mmaB(step * kTiles, 8 * nTiles * wn, type, wm, wn));
      forEachPlace(b, [&](int64_t r, int64_t l, int64_t w) {
        Pair want = mmaB(type, r % bSlots, l);
        want.first += step * (r / bSlots % kTiles);
        want.second += 8 * (r / bSlots / kTiles) + 8 * nTiles * (w / wm);
        ASSERT_EQ(pair(b.coords(r, l, w)), want);
      });
      EXPECT_TRUE(a.complete());
      EXPECT_TRUE(b.complete());
      EXPECT_EQ(a.isReplicated(), wn > 1);
      EXPECT_EQ(b.isReplicated(), wm > 1);
      expectRoundTrip(a);
      expectRoundTrip(b);
      expectRoundTrip(b.transposed());
    }
  }
}

TEST(HardwareLayout, MmaSyncAccumulator) {
  for (auto [wm, wn] : {std::pair<int64_t, int64_t>{1, 1}, {2, 2}, {4, 2}, {3, 1}}) {
    for (int64_t nTiles : {1, 4, 6, 11}) {
      const int64_t mTiles = 2;
      RegisterLayout c = must(RegisterLayout::mmaC(16 * mTiles * wm, 8 * nTiles * wn, wm, wn));
      EXPECT_TRUE(c.complete());
      EXPECT_FALSE(c.isReplicated());
      forEachPlace(c, [&](int64_t r, int64_t l, int64_t w) {
        const int64_t g = l / 4, t = l % 4, i = r % 4; // c0, c1: row g; c2, c3: row g + 8
        Pair want = {i < 2 ? g : g + 8, 2 * t + i % 2};
        want.second += 8 * (r / 4 % nTiles) + 8 * nTiles * (w / wm);
        want.first += 16 * (r / 4 / nTiles) + 16 * mTiles * (w % wm);
        ASSERT_EQ(pair(c.coords(r, l, w)), want);
      });
      expectRoundTrip(c);
    }
  }
}

TEST(HardwareLayout, ProbabilitiesAreOperandsAsTheyAre) {
  // Attention: the accumulator S [m, n] in 16 bits is the A operand P [m, k = n], slot by slot.
  for (int64_t n : {16, 64, 80, 96, 128, 176}) {
    EXPECT_TRUE(must(RegisterLayout::wgmmaAccumulator(128, n, 2)) ==
                must(RegisterLayout::wgmmaA(128, n, MmaType::BF16, 2)));
    EXPECT_TRUE(must(RegisterLayout::mmaC(64, n, 4, 1)) ==
                must(RegisterLayout::mmaA(64, n, MmaType::F16, 4, 1)));
    EXPECT_FALSE(must(RegisterLayout::wgmmaAccumulator(128, n, 2)) ==
                 must(RegisterLayout::wgmmaA(128, n, MmaType::F8, 2)));
  }
}

TEST(HardwareLayout, ImpossibleSplitsAreRefused) {
  EXPECT_FALSE(bool(RegisterLayout::wgmmaAccumulator(0, 8)));
  EXPECT_FALSE(bool(RegisterLayout::wgmmaAccumulator(64, 8, 0)));
  EXPECT_FALSE(bool(RegisterLayout::wgmmaAccumulator(64, 8, 17)));
  EXPECT_FALSE(bool(RegisterLayout::wgmmaA(64, -1, MmaType::F16)));
  EXPECT_FALSE(bool(RegisterLayout::mmaC(64, 64, 0, 1)));
  EXPECT_FALSE(bool(RegisterLayout::mmaB(64, 64, MmaType::F16, 16, 16)));
  EXPECT_FALSE(bool(RegisterLayout::wgmmaAccumulator(64, int64_t(1) << 40)));
  EXPECT_FALSE(RegisterLayout::mmaC(64, 64, 0, 1).reason().empty());
}

} // namespace
