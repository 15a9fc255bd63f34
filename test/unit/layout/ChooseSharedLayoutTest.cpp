// The choice of a shared layout for what its users need.
#include "LayoutTestUtils.h"

using namespace tilec::layout;

namespace {

Demand wgmma(WgmmaOperand op) {
  Demand d;
  d.kind = Demand::Kind::Wgmma;
  d.wgmma = op;
  d.required = true;
  return d;
}
Demand tma(Demand::Kind kind = Demand::Kind::Tma) {
  Demand d;
  d.kind = kind;
  return d;
}
Demand with(Demand::Kind kind, const RegisterLayout &fragment, bool trans = false) {
  Demand d;
  d.kind = kind;
  d.fragment = fragment;
  d.trans = trans;
  return d;
}

TEST(ChooseSharedLayout, GemmOperands) {
  SharedChoice a = chooseSharedLayout({128, 64}, 16, 1, {wgmma({0, 1, 64, 16}), tma()});
  EXPECT_TRUE(a.allRequiredMet);
  EXPECT_TRUE(a.unmet.empty());
  EXPECT_EQ(a.layout, must(SharedLayout::panels({128, 64}, 16, 128)));
  // BK = 32: rows of 64 bytes need no wider swizzle.
  EXPECT_EQ(chooseSharedLayout({128, 32}, 16, 1, {wgmma({0, 1, 64, 16}), tma()}).layout.swizzle(),
            64u);
  // N contiguous, N = 256: four panels of 64. N = 96: three panels of 32 instead of two with a
  // third wasted.
  EXPECT_EQ(chooseSharedLayout({64, 256}, 16, 1, {wgmma({1, 0, 256, 16}), tma()}).layout.swizzle(),
            128u);
  EXPECT_EQ(chooseSharedLayout({64, 96}, 16, 1, {wgmma({1, 0, 96, 16}), tma()}).layout.swizzle(),
            64u);
}

TEST(ChooseSharedLayout, MmaSyncOperands) {
  RegisterLayout a = must(RegisterLayout::mmaA(128, 32, MmaType::F16, 2, 2));
  RegisterLayout copy = must(RegisterLayout::blocked({128, 32}, 8, 4));
  SharedChoice choice = chooseSharedLayout(
      {128, 32}, 16, 1, {with(Demand::Kind::Ldmatrix, a), with(Demand::Kind::Access, copy)});
  EXPECT_TRUE(choice.unmet.empty());
  EXPECT_EQ(choice.conflicts, 0);
  EXPECT_EQ(choice.layout.swizzle(), 64u);
}

// Rows padded by 4 bytes have the fewest conflicts for an operand whose warps' parts ldmatrix
// cannot read, but cp.async could not write them.
TEST(ChooseSharedLayout, CpAsyncNeedsAlignedRows) {
  RegisterLayout a = must(RegisterLayout::mmaA(48, 16, MmaType::F16, 2, 2)).transposed();
  RegisterLayout copy = must(RegisterLayout::blocked({16, 48}, 8, 4));
  Demand copies;
  copies.kind = Demand::Kind::CpAsync;
  copies.bytes = 16;
  copies.required = true;
  llvm::SmallVector<Demand, 3> reads = {with(Demand::Kind::Access, copy),
                                        with(Demand::Kind::Ldmatrix, a, true)};
  SharedLayout padded = chooseSharedLayout({16, 48}, 16, 1, reads).layout;
  EXPECT_NE(cpAsyncRefusal(padded, 16), "");
  reads.push_back(copies);
  SharedChoice choice = chooseSharedLayout({16, 48}, 16, 1, reads);
  EXPECT_TRUE(choice.allRequiredMet);
  EXPECT_EQ(cpAsyncRefusal(choice.layout, 16), "");
}

TEST(ChooseSharedLayout, Epilogue) {
  RegisterLayout d = must(RegisterLayout::wgmmaAccumulator(64, 64));
  SharedChoice choice = chooseSharedLayout(
      {64, 64}, 16, 1, {with(Demand::Kind::Stmatrix, d), tma(Demand::Kind::TmaStore)});
  EXPECT_TRUE(choice.unmet.empty());
  EXPECT_EQ(choice.conflicts, 0);
  EXPECT_EQ(choice.layout.swizzle(), 128u);
  // A store never takes a layout that reaches beyond the tile when there is another.
  SharedChoice narrow = chooseSharedLayout({64, 96}, 16, 1, {tma(Demand::Kind::TmaStore)});
  EXPECT_TRUE(narrow.unmet.empty());
}

TEST(ChooseSharedLayout, StoresForbidOverhang) {
  // 80 columns: three panels of 32 (16 wasted) for a load, five of 16 when it is stored, too.
  EXPECT_EQ(chooseSharedLayout({64, 80}, 16, 1, {wgmma({1, 0, 80, 16}), tma()}).layout.swizzle(),
            64u);
  SharedChoice stored = chooseSharedLayout(
      {64, 80}, 16, 1, {wgmma({1, 0, 80, 16}), tma(), tma(Demand::Kind::TmaStore)});
  EXPECT_EQ(stored.layout.swizzle(), 32u);
  EXPECT_TRUE(stored.unmet.empty());
}

TEST(ChooseSharedLayout, UnmetDemandsAreNamed) {
  SharedChoice choice = chooseSharedLayout({64, 128}, 8, 1, {wgmma({1, 0, 128, 32}), tma()});
  EXPECT_FALSE(choice.allRequiredMet);
  ASSERT_EQ(choice.unmet.size(), 1u);
  EXPECT_EQ(choice.unmet[0], "wgmma reads 8-bit operands only with K contiguous");
  SharedChoice odd = chooseSharedLayout({64, 7}, 16, 1, {tma()});
  EXPECT_TRUE(odd.allRequiredMet);
}

TEST(ChooseSharedLayout, TransposesWithoutConflicts) {
  // f32 written by rows, read by columns: a plain layout costs 32 cycles per access.
  RegisterLayout::BlockedOptions byColumns;
  byColumns.contiguousDim = 0;
  SharedChoice choice = chooseSharedLayout(
      {32, 32}, 32, 1,
      {with(Demand::Kind::Access, must(RegisterLayout::blocked({32, 32}, 1, 4))),
       with(Demand::Kind::Access, must(RegisterLayout::blocked({32, 32}, 1, 4, byColumns)))});
  EXPECT_EQ(choice.conflicts, 0);
}

} // namespace
