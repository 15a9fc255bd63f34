// Free layouts, derived layouts, inversion, what code generation asks, text.
#include "LayoutTestUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace tilec::layout;
using llvm::ArrayRef;

namespace {

std::vector<RegisterLayout> samples() {
  std::vector<RegisterLayout> all = {
      RegisterLayout(),
      must(RegisterLayout::wgmmaAccumulator(128, 96, 2)),
      must(RegisterLayout::wgmmaAccumulator(16, 100, 1)),
      must(RegisterLayout::wgmmaAccumulator(64, 576, 1, 3)),
      must(RegisterLayout::wgmmaA(64, 96, MmaType::F8)),
      must(RegisterLayout::mmaA(48, 32, MmaType::F16, 1, 3)),
      must(RegisterLayout::mmaB(48, 40, MmaType::TF32, 2, 1)),
      must(RegisterLayout::blocked({7}, 1, 4)),
      must(RegisterLayout::blocked({1000}, 8, 4)),
      must(RegisterLayout::blocked({96, 176}, 8, 12)),
      must(RegisterLayout::blocked({3, 5, 72}, 8, 4)),
      must(RegisterLayout::replicated({3, 4}, 2)),
  };
  const size_t plain = all.size();
  for (size_t i = 0; i < plain; ++i) {
    if (all[i].rank() == 2) {
      all.push_back(all[i].sliceDim(0));
      all.push_back(all[i].sliceDim(1));
      all.push_back(all[i].sliceDim(1).sliceDim(0));
      all.push_back(all[i].transposed().onWarps(4));
      all.push_back(all[i].sliceDim(1).insertDim(1));
    }
  }
  return all;
}

TEST(RegisterLayout, OwnersInvertTheMap) {
  for (const RegisterLayout &layout : samples()) {
    std::map<Coords, llvm::SmallVector<Place, 8>> inverse;
    forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
      inverse[layout.coords(r, l, w)].push_back({r, l, w});
    });
    int64_t checked = 0;
    bool replicated = false;
    for (auto &[c, places] : inverse) {
      replicated |= layout.inBounds(c) && places.size() > 1;
      if (++checked % 7 == 0 || inverse.size() < 500) {
        llvm::sort(places);
        ASSERT_EQ(layout.owners(c), places) << layout.str();
      }
    }
    EXPECT_EQ(layout.isReplicated(), replicated) << layout.str();
    Coords beyond = layout.span();
    if (!beyond.empty()) {
      EXPECT_TRUE(layout.owners(beyond).empty());
    }
  }
}

TEST(RegisterLayout, OneThreadOwnsEachElement) {
  std::vector<RegisterLayout> all = samples();
  // Copies in warps whose number is no power of two, and between other digits.
  for (int64_t warps : {3, 5, 6, 12}) {
    all.push_back(must(RegisterLayout::blocked({24, 32}, 16, warps)));
    all.push_back(must(RegisterLayout::blocked({8, 8}, 1, warps)));
    all.push_back(must(RegisterLayout::mmaC(32, 8, 1, warps)));
    all.push_back(must(RegisterLayout::mmaB(32, 48, MmaType::F16, warps, 2)).sliceDim(0));
  }
  for (const RegisterLayout &layout : all) {
    auto digits = layout.replicaDigits();
    ASSERT_TRUE(bool(digits)) << layout.str() << ": " << digits.reason();
    std::map<Coords, std::set<std::pair<int64_t, int64_t>>> holders, owners;
    forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
      Coords at = layout.coords(r, l, w);
      if (!layout.inBounds(at)) {
        return;
      }
      const int64_t warp = w - layout.firstWarp();
      const bool owns = llvm::all_of(*digits, [&](const ThreadTerm &digit) {
        const int64_t rest = (digit.hw == HwDim::Lane ? l : warp) / digit.divisor;
        return (digit.modulus ? rest % digit.modulus : rest) == 0;
      });
      holders[at].insert({w, l});
      if (owns) {
        owners[at].insert({w, l});
      }
    });
    for (auto &[at, threads] : holders) {
      ASSERT_EQ(owners[at].size(), 1u) << layout.str();
    }
  }
  // Lanes 1 and 2 hold the same elements, which no digit of the lane number tells apart.
  EXPECT_FALSE(bool(
      must(RegisterLayout::parse("8x4 reg - lane 1,0:1,0:2,0:4,0:0,1 warp 0,2")).replicaDigits()));
}

TEST(RegisterLayout, PartsAreFoundInTheWhole) {
  // k-steps of A whose rows are padded, whatever order the slots of the part have.
  RegisterLayout a = must(RegisterLayout::mmaA(48, 96, MmaType::F16, 2, 2));
  for (int64_t k = 0; k < 96; k += 16) {
    RegisterLayout part = must(RegisterLayout::mmaA(48, 16, MmaType::F16, 2, 2));
    auto slots = must(partRegisters(a, part, {0, k}));
    forEachPlace(part, [&](int64_t r, int64_t l, int64_t w) {
      Coords at = part.coords(r, l, w);
      if (part.inBounds(at)) {
        ASSERT_EQ(a.coords(slots[r], l, w), (Coords{at[0], at[1] + k}));
      }
    });
  }
  // Another split, another number of warps, an origin that is no step: refused.
  EXPECT_FALSE(
      bool(partRegisters(a, must(RegisterLayout::mmaA(48, 16, MmaType::F16, 1, 4)), {0, 16})));
  EXPECT_FALSE(
      bool(partRegisters(a, must(RegisterLayout::mmaA(48, 16, MmaType::F16, 2, 1)), {0, 16})));
  EXPECT_FALSE(
      bool(partRegisters(a, must(RegisterLayout::mmaA(48, 16, MmaType::F16, 2, 2)), {0, 4})));
}

TEST(RegisterLayout, SpanIsTheReach) {
  for (const RegisterLayout &layout : samples()) {
    Coords reach(layout.rank(), 1);
    bool padding = false;
    forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
      Coords c = layout.coords(r, l, w);
      padding |= !layout.inBounds(c);
      for (unsigned d = 0; d < layout.rank(); ++d) {
        reach[d] = std::max(reach[d], c[d] + 1);
      }
    });
    EXPECT_EQ(layout.span(), reach) << layout.str();
    EXPECT_EQ(layout.hasPadding(), padding) << layout.str();
  }
}

TEST(RegisterLayout, ThreadTermsAddUp) {
  for (const RegisterLayout &layout : samples()) {
    ASSERT_TRUE(layout.isSeparable());
    for (unsigned d = 0; d < layout.rank(); ++d) {
      auto terms = layout.threadTerms(d);
      EXPECT_LE(terms.size(), 5u);
      forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
        int64_t sum = layout.registerOffset(r)[d];
        for (const ThreadTerm &term : terms) {
          int64_t digit = (term.hw == HwDim::Lane ? l : w - layout.firstWarp()) / term.divisor;
          sum += (term.modulus ? digit % term.modulus : digit) * term.stride;
        }
        ASSERT_EQ(sum, layout.coords(r, l, w)[d]) << layout.str();
      });
    }
  }
}

TEST(RegisterLayout, AccumulatorTermsAreShort) {
  // row = 16 w + lane / 4, column = 2 (lane % 4)
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(64, 128));
  EXPECT_EQ(d.threadTerms(0),
            (llvm::SmallVector<ThreadTerm, 4>{{HwDim::Lane, 4, 0, 1}, {HwDim::Warp, 1, 0, 16}}));
  EXPECT_EQ(d.threadTerms(1), (llvm::SmallVector<ThreadTerm, 4>{{HwDim::Lane, 1, 4, 2}}));
}

TEST(RegisterLayout, OverlappingVectorsAreNotSeparable) {
  RegisterLayout skewed = must(
      RegisterLayout::parse("32x32 reg 0,1:0,2:0,4:0,8:0,16 lane 1,1:2,2:4,4:8,8:16,16 warp -"));
  EXPECT_FALSE(skewed.isSeparable());
  EXPECT_TRUE(skewed.complete());
  EXPECT_EQ(skewed.coords(3, 5, 0), (Coords{5, 6}));
  EXPECT_EQ(skewed.owners({5, 6}), (llvm::SmallVector<Place, 8>{{3, 5, 0}}));
}

// v consecutive slots are v consecutive elements, aligned.
int64_t widthByEnumeration(const RegisterLayout &layout, unsigned dim) {
  int64_t best = 1;
  for (int64_t v = 2; layout.registersPerThread() % v == 0; v *= 2) {
    bool good = true;
    forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
      Coords base = layout.coords(r / v * v, l, w);
      good &= base[dim] % v == 0;
      base[dim] += r % v;
      good &= layout.coords(r, l, w) == base;
    });
    if (good) {
      best = v;
    }
  }
  return best;
}

TEST(RegisterLayout, ContiguousElements) {
  for (const RegisterLayout &layout : samples()) {
    for (unsigned d = 0; d < layout.rank(); ++d) {
      EXPECT_EQ(layout.contiguousElements(d), widthByEnumeration(layout, d))
          << layout.str() << " dim " << d;
    }
  }
  EXPECT_EQ(must(RegisterLayout::blocked({64, 96}, 8, 4)).contiguousElements(1), 8);
  EXPECT_EQ(must(RegisterLayout::wgmmaAccumulator(64, 96)).contiguousElements(1), 2);
  EXPECT_EQ(must(RegisterLayout::wgmmaA(64, 96, MmaType::F8)).contiguousElements(1), 4);
}

TEST(RegisterLayout, RowGroups) {
  for (const RegisterLayout &layout : samples()) {
    for (int64_t groups : {1, 2, 3, 4, 8}) {
      if (layout.rank() == 0 || layout.numWarps() % groups != 0 ||
          layout.shape()[0] % groups != 0) {
        EXPECT_FALSE(layout.hasRowGroups(groups)) << layout.str();
        continue;
      }
      bool good = !layout.hasPadding() && layout.isSeparable();
      const int64_t rows = layout.shape()[0] / groups, warps = layout.numWarps() / groups;
      forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
        good &= layout.coords(r, l, w)[0] / rows == (w - layout.firstWarp()) / warps;
      });
      EXPECT_EQ(layout.hasRowGroups(groups), good) << layout.str() << " in " << groups;
    }
  }
  EXPECT_TRUE(must(RegisterLayout::wgmmaAccumulator(128, 96, 2)).hasRowGroups(2));
  EXPECT_TRUE(must(RegisterLayout::wgmmaAccumulator(192, 64, 3)).hasRowGroups(3));
  EXPECT_TRUE(must(RegisterLayout::wgmmaAccumulator(256, 64, 2)).hasRowGroups(2));
  EXPECT_FALSE(must(RegisterLayout::wgmmaAccumulator(128, 96, 1, 2)).hasRowGroups(2)); // columns
  EXPECT_FALSE(must(RegisterLayout::replicated({128, 8}, 8)).hasRowGroups(2));
}

TEST(RegisterLayout, PairsAreElementsOfTheirOwn) {
  for (const RegisterLayout &whole : {must(RegisterLayout::blocked({64, 96}, 8, 4)),
                                      must(RegisterLayout::wgmmaA(128, 64, MmaType::F16, 2)),
                                      must(RegisterLayout::mmaA(48, 32, MmaType::I8, 2, 2)),
                                      must(RegisterLayout::blocked({3, 40}, 2, 2))}) {
    auto pairs = must(whole.pairs());
    ASSERT_EQ(2 * pairs.registersPerThread(), whole.registersPerThread()) << whole.str();
    EXPECT_TRUE(must(pairs.unpaired()).sameMap(whole)) << whole.str();
    for (int64_t thread = 0; thread < 32 * whole.numWarps(); ++thread) {
      for (int64_t slot = 0; slot < whole.registersPerThread(); ++slot) {
        Coords element = whole.coords(slot, thread % 32, thread / 32);
        Coords pair = pairs.coords(slot / 2, thread % 32, thread / 32);
        EXPECT_EQ(element.back(), 2 * pair.back() + slot % 2);
        EXPECT_EQ(element.front(), pair.front());
      }
    }
  }
  EXPECT_FALSE(must(RegisterLayout::blocked({64, 96}, 1, 4)).pairs());
  EXPECT_FALSE(must(RegisterLayout::blocked({64, 95}, 2, 4)).pairs());
  EXPECT_FALSE(must(RegisterLayout::wgmmaA(64, 64, MmaType::F16)).transposed().pairs());
}

TEST(RegisterLayout, OverlappingWindows) {
  // Windows of 4 elements that advance by 2: only pairs are aligned, and digits add, they do not
  // XOR.
  RegisterLayout windows =
      must(RegisterLayout::parse("8 reg 1:2 lane 0:0:0:0:0 warp - rep reg*3@0+2"));
  EXPECT_EQ(windows.contiguousElements(0), 2);
  EXPECT_EQ(widthByEnumeration(windows, 0), 2);
  EXPECT_EQ(windows.owners({4}).size(), 2u * 32);
  RegisterLayout sums = must(RegisterLayout::parse("3 reg 1 lane 0:0:0:0:0 warp - rep reg*2@0+1"));
  EXPECT_EQ(sums.coords(3, 0, 0), (Coords{2}));
  EXPECT_TRUE(sums.complete());
  expectRoundTrip(sums);
  // Slots that walk 0, 1, 3, 2 are no digits.
  EXPECT_FALSE(
      bool(sliceTile(must(RegisterLayout::parse("4 reg 1:3 lane 0:0:0:0:0 warp -")), 0, 0, 4)));
}

TEST(RegisterLayout, BlockedCoversEveryShape) {
  for (const Coords &shape : std::initializer_list<Coords>{{1},
                                                           {7},
                                                           {4096},
                                                           {1000},
                                                           {1, 4096},
                                                           {128, 64},
                                                           {64, 72},
                                                           {96, 176},
                                                           {16, 576},
                                                           {7, 7},
                                                           {200, 1},
                                                           {3, 5, 7},
                                                           {2, 3, 4, 40}}) {
    for (int64_t warps : {1, 4, 8, 12}) {
      for (int64_t vec : {1, 2, 8}) {
        for (bool warpsTakeRows : {false, true}) {
          RegisterLayout::BlockedOptions options;
          options.warpsTakeRows = warpsTakeRows;
          RegisterLayout layout = must(RegisterLayout::blocked(shape, vec, warps, options));
          ASSERT_EQ(layout.numWarps(), warps);
          ASSERT_TRUE(layout.complete()) << layout.str();
          ASSERT_GE(layout.contiguousElements(shape.size() - 1), vec);
          expectRoundTrip(layout);
        }
      }
    }
  }
}

TEST(RegisterLayout, BlocksRunAlongBothDimensions) {
  // 64x64 halves on two warps: a thread has 8x8, eight lanes go down the columns, four along the rows.
  RegisterLayout tile = must(RegisterLayout::inBlocks({64, 64}, 8, 8, 2));
  EXPECT_EQ(tile.registersPerThread(), 64);
  EXPECT_FALSE(tile.isReplicated());
  forEachPlace(tile, [&](int64_t r, int64_t l, int64_t w) {
    ASSERT_EQ(tile.coords(r, l, w), (Coords{8 * (l % 8) + r / 8, 32 * w + 8 * (l / 8) + r % 8}));
  });
  for (const Coords &shape :
       std::vector<Coords>{{1, 1}, {8, 8}, {5, 300}, {300, 5}, {64, 72}, {96, 176}}) {
    for (int64_t warps : {1, 3, 4, 8, 12}) {
      for (auto [rows, columns] : {std::pair{8, 8}, {2, 4}, {4, 1}}) {
        RegisterLayout layout = must(RegisterLayout::inBlocks(shape, rows, columns, warps));
        ASSERT_EQ(layout.numWarps(), warps);
        ASSERT_TRUE(layout.complete()) << layout.str();
        ASSERT_TRUE(layout.replicaDigits()) << layout.str();
        ASSERT_GE(layout.contiguousElements(1), columns);
        expectRoundTrip(layout);
      }
    }
  }
  EXPECT_FALSE(RegisterLayout::inBlocks({64, 64}, 3, 8, 2));
  EXPECT_FALSE(RegisterLayout::inBlocks({64}, 1, 8, 2));
}

TEST(RegisterLayout, OuterProductsAreSquare) {
  // 128x128 floats on eight warps: 8x8 a thread. Four neighbouring columns are one access of B; a
  // phase of eight lanes runs along a row.
  RegisterLayout::OuterProduct options;
  options.columnRun = 4;
  RegisterLayout tile = must(RegisterLayout::outerProduct(128, 128, 8, options));
  EXPECT_EQ(tile.registersPerThread(), 64);
  EXPECT_EQ(tile.sliceDim(0).registersPerThread(), 8);
  EXPECT_EQ(tile.contiguousElements(1), 4);
  EXPECT_EQ(tile.coords(0, 7, 0), (Coords{0, 28}));
  EXPECT_EQ(tile.coords(0, 8, 0), (Coords{1, 0}));
  // 96x32 on one warp: 12x8 a thread, where a row of lanes would have to read 96 + 1 for 96.
  RegisterLayout narrow = must(RegisterLayout::outerProduct(96, 32, 1, {8, 8, 1, 2}));
  EXPECT_EQ(narrow.registersPerThread(), 96);
  EXPECT_EQ(narrow.sliceDim(1).registersPerThread(), 12);
  // 35 rows do not divide, 2 columns shorten a run; 3 columns have none.
  EXPECT_TRUE(must(RegisterLayout::outerProduct(35, 32, 2, options)).hasPadding());
  EXPECT_EQ(must(RegisterLayout::outerProduct(64, 2, 1, options)).contiguousElements(1), 2);
  EXPECT_EQ(must(RegisterLayout::outerProduct(64, 3, 1, options)).contiguousElements(1), 1);
  // What finds nothing left replicates.
  EXPECT_TRUE(must(RegisterLayout::outerProduct(2, 2, 4, options)).isReplicated());
  EXPECT_FALSE(must(RegisterLayout::outerProduct(2, 2, 4, options)).hasPadding());
  for (const Coords &shape : std::vector<Coords>{
           {1, 1}, {1, 300}, {300, 1}, {8, 8}, {5, 7}, {64, 72}, {96, 176}, {33, 65}}) {
    for (int64_t warps : {1, 3, 4, 8, 12}) {
      for (auto [rowRun, columnRun] : {std::pair{1, 1}, {1, 4}, {4, 1}, {2, 8}}) {
        RegisterLayout layout = must(
            RegisterLayout::outerProduct(shape[0], shape[1], warps, {4, 4, rowRun, columnRun}));
        ASSERT_EQ(layout.numWarps(), warps);
        ASSERT_TRUE(layout.complete()) << layout.str();
        ASSERT_TRUE(layout.replicaDigits()) << layout.str();
        ASSERT_TRUE(layout.isSeparable()) << layout.str();
        expectRoundTrip(layout);
      }
    }
  }
  EXPECT_FALSE(RegisterLayout::outerProduct(64, 64, 2, {4, 4, 3, 1}));
  EXPECT_FALSE(RegisterLayout::outerProduct(0, 64, 2, options));
}

TEST(RegisterLayout, BlockedIsCoalesced) {
  // 128x64 halves: 8 lanes x 8 elements make a row of 128 bytes, 4 rows a warp.
  RegisterLayout tile = must(RegisterLayout::blocked({128, 64}, 8, 4));
  EXPECT_FALSE(tile.isReplicated());
  EXPECT_EQ(tile.registersPerThread(), 64);
  forEachPlace(tile, [&](int64_t r, int64_t l, int64_t w) {
    ASSERT_EQ(tile.coords(r, l, w), (Coords{l / 8 + 4 * w + 16 * (r / 8), 8 * (l % 8) + r % 8}));
  });
  // Columns contiguous.
  RegisterLayout::BlockedOptions columns;
  columns.contiguousDim = 0;
  EXPECT_TRUE(must(RegisterLayout::blocked({64, 128}, 8, 4, columns)) == tile.transposed());
  // A vector: lanes, then warps, then registers.
  RegisterLayout vector = must(RegisterLayout::blocked({3072}, 4, 4));
  forEachPlace(vector, [&](int64_t r, int64_t l, int64_t w) {
    ASSERT_EQ(vector.coords(r, l, w)[0], r % 4 + 4 * l + 128 * w + 512 * (r / 4));
  });
  // Rows stay inside a warp on request.
  RegisterLayout::BlockedOptions rows;
  rows.warpsTakeRows = true;
  RegisterLayout norm = must(RegisterLayout::blocked({4, 4096}, 8, 4, rows));
  forEachPlace(norm,
               [&](int64_t r, int64_t l, int64_t w) { ASSERT_EQ(norm.coords(r, l, w)[0], w); });
  // Leftover threads replicate.
  RegisterLayout small = must(RegisterLayout::blocked({8}, 1, 2));
  EXPECT_TRUE(small.isReplicated());
  EXPECT_EQ(small.replicatedLaneMask(), 0x18u);
}

TEST(RegisterLayout, SliceKeepsTheParentsRows) {
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(128, 96, 2));
  RegisterLayout rows = d.sliceDim(1);
  EXPECT_EQ(rows.shape(), ArrayRef<int64_t>({128}));
  EXPECT_EQ(rows.registersPerThread(), 2);
  EXPECT_EQ(rows.replicatedLaneMask(), 3u);
  forEachPlace(rows, [&](int64_t r, int64_t l, int64_t w) {
    ASSERT_EQ(rows.coords(r, l, w)[0], 16 * (w % 4) + 64 * (w / 4) + l / 4 + 8 * r);
  });
  RegisterLayout columns = d.sliceDim(0);
  EXPECT_EQ(columns.registersPerThread(), 24);
  EXPECT_EQ(columns.replicatedLaneMask(), 0x1cu);
  EXPECT_EQ(columns.owners({9}).size(), 64u);
  // Column halves: the rows are replicated over the two warpgroups.
  RegisterLayout halves = must(RegisterLayout::wgmmaAccumulator(64, 512, 1, 2)).sliceDim(1);
  EXPECT_EQ(halves.owners({9}).size(), 8u);
}

TEST(RegisterLayout, RegistersOfASlice) {
  RegisterLayout a = must(RegisterLayout::wgmmaA(128, 64, MmaType::F16, 2));
  for (int64_t step = 0; step < 4; ++step) {
    auto slots = a.registersOf(1, 16 * step, 16);
    ASSERT_TRUE(slots.has_value());
    ASSERT_EQ(slots->size(), 8u);
    for (int64_t i = 0; i < 8; ++i) {
      EXPECT_EQ((*slots)[i], 8 * step + i);
    }
  }
  EXPECT_FALSE(a.registersOf(1, 0, 4).has_value());  // some lanes hold k < 4, others not
  EXPECT_FALSE(a.registersOf(0, 0, 64).has_value()); // the other warpgroup holds none of it
}

void expectPart(const RegisterLayout &whole, const LayoutPart &part) {
  ASSERT_EQ(int64_t(part.registers.size()), part.layout.registersPerThread());
  EXPECT_TRUE(part.layout.complete());
  forEachPlace(part.layout, [&](int64_t r, int64_t l, int64_t w) {
    Coords c = part.layout.coords(r, l, w);
    for (unsigned d = 0; d < c.size(); ++d) {
      c[d] += part.origin[d];
    }
    ASSERT_EQ(c, whole.coords(part.registers[r], l, w));
  });
}

TEST(RegisterLayout, SlicesAreLayouts) {
  RegisterLayout a = must(RegisterLayout::wgmmaA(128, 96, MmaType::BF16, 2));
  for (int64_t step = 0; step < 6; ++step) {
    LayoutPart part = must(sliceTile(a, 1, 16 * step, 16));
    EXPECT_TRUE(part.layout == must(RegisterLayout::wgmmaA(128, 16, MmaType::BF16, 2)));
    expectPart(a, part);
  }
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(256, 176, 2));
  for (auto [offset, extent] :
       {std::pair<int64_t, int64_t>{0, 64}, {64, 64}, {128, 48}, {8, 24}, {0, 176}}) {
    LayoutPart part = must(sliceTile(d, 1, offset, extent));
    EXPECT_TRUE(part.layout == must(RegisterLayout::wgmmaAccumulator(256, extent, 2)));
    expectPart(d, part);
  }
  RegisterLayout padded = must(RegisterLayout::wgmmaAccumulator(64, 100));
  EXPECT_TRUE(must(sliceTile(padded, 1, 64, 36)).layout ==
              must(RegisterLayout::wgmmaAccumulator(64, 36)));
  EXPECT_FALSE(bool(sliceTile(d, 1, 4, 8)));   // inside an 8-column tile
  EXPECT_FALSE(bool(sliceTile(d, 1, 172, 8))); // beyond the tile
  EXPECT_FALSE(bool(sliceTile(d, 0, 0, 64)));  // the other warpgroup has none of it
  expectPart(d.transposed(), must(sliceTile(d.transposed(), 0, 16, 32)));
}

TEST(RegisterLayout, SpreadIsAnInverseOfSlices) {
  for (const RegisterLayout &layout : samples()) {
    for (unsigned dim = 0; dim <= layout.rank() && layout.rank() < 3; ++dim) {
      for (int64_t extent : {1, 3, 8, 100}) {
        RegisterLayout wide = must(layout.spreadDim(dim, extent));
        EXPECT_EQ(wide.shape()[dim], extent);
        EXPECT_TRUE(wide.sliceDim(dim).sameMap(layout)) << layout.str();
        EXPECT_EQ(wide.complete(), layout.complete()) << wide.str();
        const int64_t lanes = int64_t(1) << llvm::popcount(layout.replicatedLaneMask());
        EXPECT_LE(wide.registersPerThread(),
                  layout.registersPerThread() *
                      std::max<int64_t>(1, int64_t(llvm::PowerOf2Ceil(extent)) / lanes));
      }
    }
  }
  // 2^17 slots for each thread.
  EXPECT_FALSE(must(RegisterLayout::replicated({1024}, 1)).spreadDim(0, 4096));
  EXPECT_EQ(
      must(must(RegisterLayout::parse("4 reg 2 lane 0:0:0:0:0 warp 1")).spreadDim(1, 8)).str(),
      "4x8 reg 2,0 lane 0,1:0,2:0,4:0,0:0,0 warp 1,0");
}

TEST(RegisterLayout, OwnedByLaterWarps) {
  RegisterLayout one = must(RegisterLayout::wgmmaAccumulator(64, 48));
  RegisterLayout second = one.onWarps(4);
  EXPECT_NE(second, one);
  EXPECT_EQ(second.coords(3, 5, 6), one.coords(3, 5, 2));
  EXPECT_EQ(second.owners({0, 0}), (llvm::SmallVector<Place, 8>{{0, 0, 4}}));
}

TEST(RegisterLayout, AlongADimensionEachThreadHasWhatItsSlotsName) {
  RegisterLayout whole = must(RegisterLayout::blocked({40, 6, 24}, 4, 4));
  for (unsigned dim = 0; dim < 3; ++dim) {
    RegisterLayout line = whole.along(dim);
    ASSERT_EQ(line.shape(), ArrayRef<int64_t>({whole.shape()[dim]}));
    std::map<int64_t, int64_t> slotOf;
    for (int64_t slot = 0; slot < line.registersPerThread(); ++slot) {
      slotOf[line.registerOffset(slot)[0]] = slot;
    }
    forEachPlace(whole, [&](int64_t reg, int64_t lane, int64_t warp) {
      auto slot = slotOf.find(whole.registerOffset(reg)[dim]);
      ASSERT_NE(slot, slotOf.end());
      ASSERT_EQ(line.coords(slot->second, lane, warp)[0], whole.coords(reg, lane, warp)[dim]);
    });
  }
}

TEST(RegisterLayout, PartialValuesAreAnotherType) {
  RegisterLayout rows = must(RegisterLayout::wgmmaAccumulator(64, 64)).sliceDim(1);
  RegisterLayout sums = rows.withPartial({Combine::Sum, 3, 1});
  EXPECT_NE(sums, rows);
  EXPECT_NE(sums, rows.withPartial({Combine::Max, 3, 1}));
  EXPECT_EQ(sums.combined(), rows);
  expectRoundTrip(sums);
  expectRoundTrip(rows.withPartial({Combine::Max, 28, 0x1001}).onWarps(8));
}

TEST(RegisterLayout, EqualMapsAreWrittenEqually) {
  RegisterLayout a =
      must(RegisterLayout::parse("64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0"));
  RegisterLayout b = must(RegisterLayout::parse(
      "64x16 reg - lane 0,2:0,4:1,0:2,0:4,0 warp - rep reg*2@1+1:reg*2@0+8:reg*2@1+8:warp*4@0+16"));
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(a.sameMap(b));
  EXPECT_TRUE(a == must(RegisterLayout::wgmmaAccumulator(64, 16)));
  EXPECT_FALSE(a.sameMap(must(RegisterLayout::wgmmaA(64, 16, MmaType::TF32))));
}

TEST(RegisterLayout, TextRoundTrips) {
  for (const RegisterLayout &layout : samples()) {
    expectRoundTrip(layout);
  }
  EXPECT_EQ(must(RegisterLayout::wgmmaAccumulator(64, 96)).str(),
            "64x96 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 rep reg*3@1+32");
  EXPECT_EQ(RegisterLayout().str(), "scalar reg - lane .:.:.:.:. warp -");
}

TEST(RegisterLayout, MalformedTextIsRefused) {
  const char *lane = "lane 0:0:0:0:0";
  for (const std::string &text : std::initializer_list<std::string>{
           std::string(), std::string("8"), std::string("x reg -"), "8 reg 1:2 warp -",
           "8 reg 1:2,3 " + std::string(lane) + " warp -",
           "0 reg - " + std::string(lane) + " warp -", "8 reg -1 " + std::string(lane) + " warp -",
           std::string("8 reg 1 lane 0:0 warp -"),
           "8 reg - " + std::string(lane) + " warp - rep foo*2@0+1",
           "8 reg - " + std::string(lane) + " warp - rep reg*2@1+1",
           "8 reg - " + std::string(lane) + " warp - rep reg*0@0+1",
           "8 reg - " + std::string(lane) + " warp - rep reg*99999999@0+1",
           "8 reg - " + std::string(lane) + " warp - rep warp*65",
           "8 reg - " + std::string(lane) + " warp - from -1",
           "8 reg - " + std::string(lane) + " warp - partial sum lanes 32 warps 1",
           "8 reg - " + std::string(lane) + " warp - partial sum lanes 3 warps 2",
           "8 reg - " + std::string(lane) + " warp - partial mean lanes 3 warps 1",
           "8 reg - " + std::string(lane) + " warp - junk",
           "1x1x1x1x1x1x1x1x1 reg - lane 0 warp -"}) {
    Answer<RegisterLayout> layout = RegisterLayout::parse(text);
    EXPECT_FALSE(bool(layout)) << text;
    EXPECT_FALSE(layout.reason().empty());
  }
  EXPECT_TRUE(bool(RegisterLayout::parse("8 reg - " + std::string(lane) + " warp -")));
}

} // namespace
