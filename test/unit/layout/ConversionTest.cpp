// Conversions, broadcasts and reductions, each carried out on simulated registers.
#include "dialects/layout/Conversion.h"

#include "LayoutTestUtils.h"

#include <map>
#include <set>

using namespace tilec::layout;
using llvm::ArrayRef;

namespace {

/// The values of all registers of a fragment, by place. Elements are numbered row-major; -1 beyond
/// the tile.
using Registers = std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t>; // warp, lane, slot

int64_t elementNumber(const RegisterLayout &layout, const Coords &c) {
  int64_t number = 0;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    number = number * layout.shape()[d] + c[d];
  }
  return number;
}

Registers fill(const RegisterLayout &layout) {
  Registers registers;
  forEachPlace(layout, [&](int64_t r, int64_t l, int64_t w) {
    Coords c = layout.coords(r, l, w);
    registers[{w, l, r}] = layout.inBounds(c) ? elementNumber(layout, c) : -1;
  });
  return registers;
}

Registers apply(const Conversion &conversion, const RegisterLayout &source,
                const RegisterLayout &target) {
  Registers from = fill(source), to;
  forEachPlace(target, [&](int64_t r, int64_t l, int64_t w) {
    if (conversion.kind == Conversion::Kind::None) {
      to[{w, l, r}] = from.at({w, l, r});
    } else if (conversion.kind == Conversion::Kind::Registers) {
      to[{w, l, r}] = from.at({w, l, conversion.registers[r]});
    }
  });
  for (const ShuffleStep &step : conversion.shuffles) {
    for (int64_t w = target.firstWarp(); w < target.firstWarp() + target.numWarps(); ++w) {
      for (int64_t l = 0; l < 32; ++l) {
        if (step.select < 0 || step.selector(l) == step.select) {
          to[{w, l, step.target}] = from.at({w, step.sourceLane(l), step.source});
        }
      }
    }
  }
  if (conversion.kind == Conversion::Kind::Shared) {
    std::map<int64_t, int64_t> memory;
    auto at = [&](Coords c) {
      c.resize(conversion.shared.rank(), 0);
      return 8 * conversion.shared.byteOffset(c) + conversion.shared.bitOffset(c);
    };
    forEachPlace(source, [&](int64_t r, int64_t l, int64_t w) {
      if (Coords c = source.coords(r, l, w); source.inBounds(c)) {
        memory[at(c)] = from.at({w, l, r});
      }
    });
    forEachPlace(target, [&](int64_t r, int64_t l, int64_t w) {
      if (Coords c = target.coords(r, l, w); target.inBounds(c)) {
        to[{w, l, r}] = memory.at(at(c));
      }
    });
  }
  return to;
}

void expectConverts(const RegisterLayout &source, const RegisterLayout &target,
                    Conversion::Kind kind, unsigned bits = 32) {
  Answer<Conversion> conversion = planConversion(source, target, bits);
  ASSERT_TRUE(bool(conversion)) << conversion.reason();
  EXPECT_EQ(int(conversion->kind), int(kind)) << source.str() << " -> " << target.str();
  EXPECT_FALSE(conversion->describe().empty());
  Registers got = apply(*conversion, source, target), want = fill(target);
  for (auto &[place, element] : want) {
    if (element >= 0) {
      ASSERT_EQ(got.at(place), element) << source.str() << " -> " << target.str();
    }
  }
  if (kind == Conversion::Kind::Shared) {
    EXPECT_EQ(conversion->sharedBytes, conversion->shared.sizeBytes());
  }
}

TEST(Conversion, NothingToDo) {
  RegisterLayout s = must(RegisterLayout::wgmmaAccumulator(128, 64, 2));
  expectConverts(s, must(RegisterLayout::wgmmaA(128, 64, MmaType::F16, 2)), Conversion::Kind::None);
  // More bounds-checked padding, the same map.
  expectConverts(must(RegisterLayout::wgmmaAccumulator(16, 64)),
                 must(RegisterLayout::wgmmaA(16, 64, MmaType::BF16)), Conversion::Kind::None);
}

TEST(Conversion, PermutationsOfRegisters) {
  // The same elements per thread in another slot order.
  RegisterLayout a =
      must(RegisterLayout::parse("64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0"));
  RegisterLayout b =
      must(RegisterLayout::parse("64x16 reg 0,8:8,0:0,1 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0"));
  expectConverts(a, b, Conversion::Kind::Registers);
  // Replicated values narrowed: each thread keeps its own.
  RegisterLayout all = must(RegisterLayout::replicated({16}, 2));
  expectConverts(all, must(RegisterLayout::blocked({16}, 1, 2)), Conversion::Kind::Shuffles);
  expectConverts(must(RegisterLayout::blocked({64}, 1, 1)),
                 must(RegisterLayout::blocked({64}, 2, 1)), Conversion::Kind::Shuffles);
}

TEST(Conversion, ShufflesInsideAWarp) {
  // P in 8 bits: the accumulator's pairs become four consecutive k of the A fragment.
  RegisterLayout s = must(RegisterLayout::wgmmaAccumulator(64, 64));
  RegisterLayout p = must(RegisterLayout::wgmmaA(64, 64, MmaType::F8));
  expectConverts(s, p, Conversion::Kind::Shuffles, 8);
  EXPECT_LE(must(planConversion(s, p, 8)).shuffles.size(), 64u);
  // Row statistics spread over the quad from one lane each.
  RegisterLayout rows = s.sliceDim(1);
  RegisterLayout spread = must(RegisterLayout::parse("64 reg - lane 8:0:1:2:4 warp 16:32"));
  expectConverts(spread, rows, Conversion::Kind::Shuffles);
  expectConverts(rows, spread, Conversion::Kind::Shuffles);
}

TEST(Conversion, ThroughSharedMemory) {
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(128, 96, 2));
  RegisterLayout tile = must(RegisterLayout::blocked({128, 96}, 8, 8));
  for (unsigned bits : {8u, 16u, 32u}) {
    expectConverts(acc, tile, Conversion::Kind::Shared, bits);
    expectConverts(tile, acc, Conversion::Kind::Shared, bits);
  }
  // What warp 0 finds at home, warps 1 and 2 do not.
  expectConverts(must(RegisterLayout::parse("128 reg - lane 1:2:4:8:16 warp 32:64")),
                 must(RegisterLayout::parse("128 reg - lane 1:2:4:8:16 warp 64:32")),
                 Conversion::Kind::Shared);
  // Other warps.
  expectConverts(acc, acc.onWarps(8), Conversion::Kind::Shared);
  expectConverts(must(RegisterLayout::wgmmaAccumulator(64, 576, 1, 3)),
                 must(RegisterLayout::wgmmaAccumulator(64, 576)), Conversion::Kind::Shared);
  // Odd shapes, a vector, three dimensions, a scalar.
  expectConverts(must(RegisterLayout::blocked({7, 9}, 1, 4)),
                 must(RegisterLayout::wgmmaAccumulator(7, 9)), Conversion::Kind::Shared);
  expectConverts(must(RegisterLayout::blocked({1000}, 4, 4)),
                 must(RegisterLayout::blocked({1000}, 1, 4)), Conversion::Kind::Shared);
  expectConverts(must(RegisterLayout::blocked({3, 16, 24}, 2, 4)),
                 must(RegisterLayout::blocked({3, 16, 24}, 8, 4)), Conversion::Kind::Shared);
  expectConverts(RegisterLayout(), RegisterLayout().onWarps(1), Conversion::Kind::Shared);
}

TEST(Conversion, EpilogueExchangeIsCheap) {
  RegisterLayout acc = must(RegisterLayout::mmaC(128, 128, 2, 2));
  RegisterLayout tile = must(RegisterLayout::blocked({128, 128}, 4, 4));
  Conversion c = must(planConversion(acc, tile, 32));
  EXPECT_EQ(c.conflicts, 0) << c.shared.str();
}

TEST(Conversion, Refusals) {
  RegisterLayout rows = must(RegisterLayout::wgmmaAccumulator(64, 64)).sliceDim(1);
  RegisterLayout sums = rows.withPartial({Combine::Sum, 3, 1});
  EXPECT_EQ(planConversion(sums, rows, 32).reason(),
            "partial values have to be combined before they are converted");
  EXPECT_EQ(planConversion(rows, must(RegisterLayout::blocked({65}, 1, 4)), 32).reason(),
            "a conversion keeps the shape of the tile");
  EXPECT_FALSE(bool(planConversion(sums, sums.onWarps(4), 32)));
  EXPECT_TRUE(bool(planConversion(sums, sums, 32)));
}

TEST(LaneFunction, IsAffine) {
  LaneFunction f{5, {1, 0, 4, 0, 16}};
  EXPECT_EQ(f(0), 5);
  EXPECT_EQ(f(1), 4);
  EXPECT_EQ(f(21), 5 ^ 1 ^ 4 ^ 16);
}

// ---- broadcasts

TEST(Broadcast, RowStatisticsToTheScores) {
  for (const RegisterLayout &s :
       {must(RegisterLayout::wgmmaAccumulator(128, 176, 2)),
        must(RegisterLayout::wgmmaAccumulator(16, 64)), must(RegisterLayout::mmaC(64, 64, 2, 2)),
        must(RegisterLayout::blocked({64, 96}, 8, 4)),
        must(RegisterLayout::wgmmaAccumulator(64, 512, 1, 2))}) {
    for (unsigned dim : {0u, 1u}) {
      RegisterLayout narrow = s.sliceDim(dim);
      auto slots = must(broadcastRegisters(narrow, s, {int(1 - dim)}));
      forEachPlace(s, [&](int64_t r, int64_t l, int64_t w) {
        Coords c = s.coords(r, l, w);
        if (s.inBounds(c)) {
          ASSERT_EQ(narrow.coords(slots[r], l, w)[0], c[1 - dim]);
        }
      });
      // The same with the dimension kept as extent 1.
      RegisterLayout kept = narrow.insertDim(dim).withShape(
          dim == 0 ? ArrayRef<int64_t>{1, s.shape()[1]} : ArrayRef<int64_t>{s.shape()[0], 1});
      EXPECT_EQ(
          must(broadcastRegisters(kept, s, dim == 0 ? ArrayRef<int>{-1, 1} : ArrayRef<int>{0, -1})),
          slots);
    }
  }
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 64));
  EXPECT_FALSE(bool(broadcastRegisters(must(RegisterLayout::blocked({64}, 1, 4)), acc, {0})));
  EXPECT_FALSE(bool(broadcastRegisters(acc.sliceDim(1).onWarps(4), acc, {0})));
}

} // namespace
