// Which parameter sets are kept, by what they cost at sampled calls.
#include "compiler/driver/CandidatePrices.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

namespace tilec {
namespace {

CandidatePrice priced(std::vector<double> seconds) {
  CandidatePrice price;
  price.seconds[RowKind::Aligned] = std::move(seconds);
  return price;
}

std::vector<unsigned> cover(llvm::ArrayRef<CandidatePrice> candidates, unsigned limit) {
  return coverCalls(costsOf(candidates, RowKind::Aligned), limit);
}

TEST(SampleCalls, SpreadOnALogarithmicScale) {
  std::vector<CallSample> samples = sampleCalls({"M", "N", "K"}, 3);
  ASSERT_GT(samples.size(), 100u);
  for (const char *name : {"M", "N", "K"}) {
    size_t below = 0;
    for (const CallSample &sample : samples) {
      const double value = sample.lookup(name);
      EXPECT_GE(value, 8);
      EXPECT_LE(value, 16384);
      EXPECT_EQ(int64_t(value) % 8, 0);
      below += value < 362; // the middle, the root of 8 * 16384
    }
    EXPECT_NEAR(double(below) / double(samples.size()), 0.5, 0.03) << name;
  }
  EXPECT_EQ(samples.front().lookup("M"), sampleCalls({"M"}, 1).front().lookup("M"));
  // Of each dimension that is no less half are of whole lines, and the others are not but by chance.
  for (const char *name : {"M", "N", "K"}) {
    size_t wide = 0, lines = 0;
    for (const CallSample &sample : samples) {
      wide += sample.lookup(name) >= 128;
      lines += sample.lookup(name) >= 128 && int64_t(sample.lookup(name)) % 64 == 0;
    }
    EXPECT_NEAR(double(lines) / double(wide), 0.5 + 0.5 / 8, 0.1) << name;
  }
}

TEST(SampleCalls, MatricesOfManyShortAndOfFewLongRows) {
  const std::vector<std::string> names = {"M", "N", "n"};
  size_t tall = 0, flat = 0;
  for (const CallSample &sample : sampleCalls(names, 2)) {
    const double m = sample.lookup("M"), n = sample.lookup("N");
    EXPECT_GE(std::min(m, n), 8);
    EXPECT_LE(std::max(m, n), 64 * 16384);
    EXPECT_LE(sample.lookup("n"), 16384); // a scalar
    tall += m > 16384;
    flat += n > 16384;
  }
  // Of the quarter that is tall 0.55 have 256 rows before they are.
  EXPECT_NEAR(double(tall), 0.25 * 0.55 * 192, 4);
  EXPECT_NEAR(double(flat), 0.25 * 0.55 * 192, 4);
}

TEST(SampleCalls, OneWithoutDimensions) {
  ASSERT_EQ(sampleCalls({}, 0).size(), 1u);
  EXPECT_TRUE(sampleCalls({}, 0).front().empty());
}

TEST(CoverCalls, TheBestAloneThenWhatItMisses) {
  // The second is never the cheapest, but best alone; the others are at opposite ends.
  std::vector<CandidatePrice> candidates = {priced({1, 100}), priced({8, 8}), priced({100, 1})};
  EXPECT_EQ(cover(candidates, 1), (std::vector<unsigned>{1}));
  EXPECT_EQ(cover(candidates, 2), (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(cover(candidates, 6), (std::vector<unsigned>{1, 0, 2}));
}

TEST(CoverCalls, WhatGainsLittleIsLeftOut) {
  EXPECT_EQ(cover({priced({10, 10}), priced({9.99, 11})}, 6).size(), 1u);
  EXPECT_EQ(cover({priced({10, 10}), priced({9, 11})}, 6).size(), 2u);
  EXPECT_EQ(cover({priced({1}), priced({1})}, 6),
            (std::vector<unsigned>{0})); // the first of equals
  const CallCosts costs = {{1, 1}, {{10, 10}, {9.99, 11}, {10, 10}}};
  EXPECT_EQ(coverCalls(costs, 6, 1e-5), (std::vector<unsigned>{0, 1}));
  // Less than no gain is asked for: as many as there may be, each once, and none that is refused.
  const CallCosts all = {{1, 1}, {{10, 10}, {}, {9.99, 11}, {10, 10}}};
  constexpr double any = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(coverCalls(all, 6, any), (std::vector<unsigned>{0, 2, 3}));
  EXPECT_EQ(coverCalls(all, 2, any), (std::vector<unsigned>{0, 2}));
}

TEST(CoverCalls, HeavyCallsDecide) {
  CallCosts costs{{1, 1}, {{1, 4}, {3, 1}}};
  EXPECT_EQ(coverCalls(costs, 1), (std::vector<unsigned>{1}));
  costs.weights = {2, 1};
  EXPECT_EQ(coverCalls(costs, 1), (std::vector<unsigned>{0}));
  costs.weights = {1, 0}; // and what weighs nothing is not covered
  EXPECT_EQ(coverCalls(costs, 6), (std::vector<unsigned>{0}));
}

TEST(CoverCalls, CallsAreServedFirst) {
  // Slower everywhere, but the only one for the second call; what nobody takes is as if all did.
  std::vector<CandidatePrice> candidates = {priced({1, 1, 1}), priced({50, 50, 50})};
  candidates[0].served = {true, false, false};
  candidates[1].served = {true, true, false};
  EXPECT_EQ(cover(candidates, 1), (std::vector<unsigned>{1}));
  EXPECT_EQ(cover(candidates, 2), (std::vector<unsigned>{1, 0}));
  candidates[1].served[1] = false;
  EXPECT_EQ(cover(candidates, 6), (std::vector<unsigned>{0}));
}

TEST(CoverCalls, ProbesAskWhoTakesThem) {
  std::vector<CandidatePrice> candidates = {priced({1, 1}), priced({50, 50})};
  auto withProbes = [&] {
    CallCosts costs = costsOf(candidates, RowKind::Aligned);
    addProbes(costs, candidates);
    return coverCalls(costs, 6);
  };
  EXPECT_EQ(withProbes(), (std::vector<unsigned>{0}));
  candidates[0].probes = {true, true, false, false};
  candidates[1].probes = {true, true, true, false};
  EXPECT_EQ(withProbes(), (std::vector<unsigned>{0, 1}));
  candidates[1].probes[2] = false; // nobody: no reason to keep it
  EXPECT_EQ(withProbes(), (std::vector<unsigned>{0}));
}

TEST(ProbeCalls, AreOddAndLarge) {
  const std::vector<CallSample> probes = probeCalls({"N"}, 1);
  auto some = [&](auto holds) {
    return std::any_of(probes.begin(), probes.end(),
                       [&](const CallSample &call) { return holds(int64_t(call.lookup("N"))); });
  };
  for (int64_t rest : {0, 4, 2, 1}) {
    EXPECT_TRUE(some([&](int64_t n) { return n % 8 == rest && n < 20000; })) << rest;
    EXPECT_TRUE(some([&](int64_t n) { return n % 8 == rest && n > 500000; })) << rest;
  }
}

TEST(CoverCalls, CodeForSomeRowsMayBeRefused) {
  std::vector<CandidatePrice> candidates = {priced({1}), priced({2})};
  for (CandidatePrice &one : candidates) {
    one.seconds[RowKind::Any] = one.seconds[RowKind::Aligned];
  }
  candidates[0].refusedFor[RowKind::Any] = "it would spill";
  auto ofAny = [&] { return coverCalls(costsOf(candidates, RowKind::Any), 6); };
  EXPECT_EQ(cover(candidates, 1), (std::vector<unsigned>{0}));
  EXPECT_EQ(ofAny(), (std::vector<unsigned>{1}));
  candidates[1].refusedFor[RowKind::Any] = "so would it"; // some code has to take them
  EXPECT_EQ(ofAny(), (std::vector<unsigned>{0}));
}

TEST(CoverCalls, RefusedOnesAreNotTaken) {
  std::vector<CandidatePrice> candidates = {priced({1}), priced({2})};
  candidates[0].refused = "it would spill";
  EXPECT_EQ(cover(candidates, 6), (std::vector<unsigned>{1}));
  candidates[1].refused = "so would it";
  EXPECT_TRUE(cover(candidates, 6).empty());
}

} // namespace
} // namespace tilec
