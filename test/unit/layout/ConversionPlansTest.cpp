// Plans that are kept are those that planConversion makes.
#include "dialects/layout/ConversionPlans.h"

#include "LayoutTestUtils.h"

#include <array>
#include <thread>

using namespace tilec::layout;

namespace {

/// Sources and targets of one shape: permutations of registers, shuffles, exchanges and a refusal.
std::vector<RegisterLayout> fragments() {
  RegisterLayout acc = must(RegisterLayout::wgmmaAccumulator(64, 64));
  return {acc, must(RegisterLayout::wgmmaA(64, 64, MmaType::F16)),
          must(RegisterLayout::blocked({64, 64}, 8, 4)), must(RegisterLayout::mmaC(64, 64, 2, 2)),
          acc.withPartial({Combine::Sum, 3, 1})};
}

void expectSame(const Answer<Conversion> &got, const Answer<Conversion> &want) {
  ASSERT_EQ(bool(got), bool(want));
  EXPECT_EQ(got.reason(), want.reason());
  if (want) {
    EXPECT_EQ(got->describe(), want->describe());
    EXPECT_EQ(got->registers, want->registers);
    EXPECT_EQ(got->shuffles.size(), want->shuffles.size());
    EXPECT_EQ(got->shared, want->shared);
  }
}

void askAll(ConversionPlans &plans) {
  for (const RegisterLayout &source : fragments()) {
    for (const RegisterLayout &target : fragments()) {
      for (unsigned bits : {16u, 32u}) {
        expectSame(plans.get(source, target, bits), planConversion(source, target, bits));
      }
    }
  }
}

} // namespace

TEST(ConversionPlans, AreThoseOfPlanConversion) {
  ConversionPlans plans;
  askAll(plans); // made
  askAll(plans); // kept
}

TEST(ConversionPlans, ThreadsMayAskTogether) {
  ConversionPlans plans;
  std::array<std::thread, 4> threads;
  for (std::thread &thread : threads) {
    thread = std::thread([&] { askAll(plans); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}
