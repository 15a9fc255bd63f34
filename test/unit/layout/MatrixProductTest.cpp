// How warps share products: every layout that MatrixProduct gives is right by its own check, which
// is compared here with a simulation of the instructions element by element, and finds what is
// wrong.
#include "dialects/layout/MatrixProduct.h"

#include "LayoutTestUtils.h"

#include <map>

using namespace tilec::layout;

namespace {

using Instruction = MatrixProduct::Instruction;

std::vector<MatrixProduct::Spec> manySpecs() {
  std::vector<MatrixProduct::Spec> specs;
  for (MmaType type : {MmaType::F16, MmaType::TF32, MmaType::I8}) {
    for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{16, 8, 16},
                           {48, 40, 48},
                           {7, 100, 33},
                           {130, 24, 1}}) {
      for (auto [wm, wn] : {std::pair<int64_t, int64_t>{1, 1}, {2, 1}, {1, 3}, {2, 4}}) {
        specs.push_back({Instruction::MmaSync, type, m, n, k, 8, wm, wn});
      }
    }
    for (auto [m, n, columns] :
         {std::tuple<int64_t, int64_t, int64_t>{64, 16, 16}, {192, 96, 48}, {256, 80, 8}}) {
      for (auto [wm, wn] : {std::pair<int64_t, int64_t>{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
        specs.push_back({Instruction::Wgmma, type, m, n, 64, columns, wm, wn});
      }
    }
  }
  return specs;
}

/// The warps' products, element by element: how often each place of the accumulator gets each k.
class Simulation {
public:
  Simulation(const MatrixProduct &product, const MatrixProduct::Spec &spec,
             const RegisterLayout &acc, const RegisterLayout &a)
      : product(product), spec(spec), acc(acc), a(a) {}

  bool exactlyOnce() {
    for (int64_t warp = 0; warp < product.numWarps(); ++warp) {
      for (int64_t row = 0; row < product.rowBlocks(); ++row) {
        for (int64_t column = 0; column < product.columnBlocks(); ++column) {
          if (!block(warp, row, column)) {
            return false;
          }
        }
      }
    }
    return true;
  }

private:
  /// The rows of A that the instruction's 16 rows of this warp are, and its elements of k.
  bool block(int64_t warp, int64_t row, int64_t column) {
    const int64_t packed = 32 / int64_t(bitWidth(spec.type));
    std::map<std::pair<int64_t, int64_t>, Coords> byRowAndK; // of all steps
    for (int64_t step = 0; step < product.steps(); ++step) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        for (int64_t i = 0; i < 4 * packed; ++i) {
          const int64_t word = i / packed;
          const int64_t k =
              packed * (lane % 4) + i % packed + 4 * packed * (word / 2) + step * 8 * packed;
          byRowAndK[{lane / 4 + 8 * (word % 2), k}] =
              a.coords(product.aSlot(row, step) + i, lane, a.firstWarp() + warp);
        }
      }
    }
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (int64_t i = 0; i < product.accSlotsPerInstruction(); ++i) {
        Coords at = acc.coords(product.accSlot(row, column) + i, lane, acc.firstWarp() + warp);
        if (!acc.inBounds(at)) {
          continue;
        }
        std::map<int64_t, int> times;
        for (auto &[place, element] : byRowAndK) {
          if (place.first == lane / 4 + 8 * (i / 2 % 2)) {
            if (element[0] != at[0]) {
              return false;
            }
            ++times[element[1]];
          }
        }
        for (int64_t k = 0; k < spec.k; ++k) {
          if (times[k] != 1) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const MatrixProduct &product;
  const MatrixProduct::Spec &spec;
  const RegisterLayout &acc, &a;
};

TEST(MatrixProduct, ItsOwnLayoutsComputeTheProduct) {
  for (const MatrixProduct::Spec &spec : manySpecs()) {
    MatrixProduct product = *MatrixProduct::get(spec);
    RegisterLayout acc = must(product.accumulator()), a = must(product.a());
    SCOPED_TRACE(acc.str());
    EXPECT_TRUE(acc.complete());
    EXPECT_EQ(acc.registersPerThread(),
              product.rowBlocks() * product.columnBlocks() * product.accSlotsPerInstruction());
    EXPECT_TRUE(Simulation(product, spec, acc, a).exactlyOnce());
    if (spec.instruction == Instruction::MmaSync) {
      RegisterLayout b = must(product.b());
      EXPECT_EQ(product.check(acc, &a, &b), "");
    } else {
      EXPECT_FALSE(bool(product.b()));
      EXPECT_EQ(product.check(acc, &a, nullptr), "");
      EXPECT_EQ(product.check(acc, nullptr, nullptr), "");
    }
  }
}

TEST(MatrixProduct, AMustHaveTheRowsOfEachWarpgroup) {
  // Two warpgroups share the columns; A split by rows gives half of the result to nobody.
  MatrixProduct::Spec spec{Instruction::Wgmma, MmaType::F16, 128, 128, 64, 64, 1, 2};
  MatrixProduct product = *MatrixProduct::get(spec);
  RegisterLayout acc = must(product.accumulator());
  RegisterLayout byRows = must(RegisterLayout::wgmmaA(128, 64, MmaType::F16, 2, 1));
  EXPECT_NE(product.check(acc, &byRows, nullptr), "");
  RegisterLayout oneBlock = must(RegisterLayout::wgmmaA(64, 64, MmaType::F16, 2, 1));
  EXPECT_NE(product.check(acc, &oneBlock, nullptr), "");
}

TEST(MatrixProduct, AnyOtherLayoutOfAIsFoundOut) {
  // Permutations of the slots of A: the check agrees with the simulation on each.
  MatrixProduct::Spec spec{Instruction::MmaSync, MmaType::F16, 32, 16, 32, 8, 1, 2};
  MatrixProduct product = *MatrixProduct::get(spec);
  RegisterLayout acc = must(product.accumulator()), right = must(product.a());
  RegisterLayout b = must(product.b());
  int wrong = 0;
  for (unsigned i = 0; i < right.bases(HwDim::Register).size(); ++i) {
    for (unsigned j = 0; j < 5; ++j) {
      RegisterLayout::Spec changed;
      changed.shape = {32, 32};
      for (HwDim hw : {HwDim::Register, HwDim::Lane, HwDim::Warp}) {
        changed.bases[unsigned(hw)] = right.bases(hw);
      }
      changed.repeats.assign(right.repeats().begin(), right.repeats().end());
      std::swap(changed.bases[0][i], changed.bases[1][j]);
      RegisterLayout a = must(RegisterLayout::get(changed));
      // With B in the order of the instruction only the right A will do.
      EXPECT_NE(product.check(acc, &a, &b), "") << a.str();
      wrong += !Simulation(product, spec, acc, a).exactlyOnce();
    }
  }
  EXPECT_GT(wrong, 0);
}

TEST(MatrixProduct, AnotherOrderOfKIsRightWhereBHasItToo) {
  // Elements 0..15 and 16..31 of k exchanged in A: wrong against B in shared memory or in order.
  MatrixProduct::Spec spec{Instruction::MmaSync, MmaType::F16, 16, 8, 32, 8, 1, 1};
  MatrixProduct product = *MatrixProduct::get(spec);
  RegisterLayout acc = must(product.accumulator()), a = must(product.a()), b = must(product.b());
  auto exchanged = [](const RegisterLayout &layout) {
    RegisterLayout::Spec spec;
    spec.shape.assign(layout.shape().begin(), layout.shape().end());
    for (HwDim hw : {HwDim::Register, HwDim::Lane, HwDim::Warp}) {
      spec.bases[unsigned(hw)] = layout.bases(hw);
    }
    auto &slots = spec.bases[0];
    std::swap(slots[0], slots.back()); // k 1 and k 16
    return must(RegisterLayout::get(spec));
  };
  RegisterLayout aExchanged = exchanged(a), bExchanged = exchanged(b);
  EXPECT_EQ(product.check(acc, &a, &b), "");
  EXPECT_NE(product.check(acc, &aExchanged, &b), "");
  EXPECT_NE(product.check(acc, &a, &bExchanged), "");
  EXPECT_EQ(product.check(acc, &aExchanged, &bExchanged), "");
}

TEST(MatrixProduct, WhatIsNoProductIsRefused) {
  EXPECT_FALSE(bool(MatrixProduct::get({Instruction::MmaSync, MmaType::F16, 0, 8, 16, 8, 1, 1})));
  EXPECT_FALSE(bool(MatrixProduct::get({Instruction::MmaSync, MmaType::F16, 16, 8, 16, 16, 1, 1})));
  EXPECT_FALSE(bool(MatrixProduct::get({Instruction::Wgmma, MmaType::F16, 64, 8, 16, 12, 1, 1})));
  EXPECT_FALSE(bool(MatrixProduct::get({Instruction::Wgmma, MmaType::F16, 64, 8, 16, 8, 0, 1})));
  // Fewer warps than the product, partial sums, an element without owner.
  MatrixProduct product =
      *MatrixProduct::get({Instruction::MmaSync, MmaType::F16, 32, 16, 16, 8, 2, 2});
  RegisterLayout acc = must(product.accumulator());
  EXPECT_NE(product.check(must(RegisterLayout::mmaC(32, 16, 2, 1)), nullptr, nullptr), "");
  EXPECT_NE(product.check(acc.withPartial({Combine::Sum, 1, 1}), nullptr, nullptr), "");
  EXPECT_NE(
      product.check(must(RegisterLayout::mmaC(16, 8, 1, 1)).withShape({32, 16}), nullptr, nullptr),
      "");
}

} // namespace
