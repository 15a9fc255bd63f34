// What counts as a change between two runs: noise of all kinds does not.
#include "compiler/benchmark/BenchCompare.h"

#include "runtime/harness/Generate.h"
#include "test/unit/benchmark/Reports.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tilec {
namespace {

BenchChange change(const BenchRow &before, const BenchRow &after) {
  static BenchReport old, now; // what is compared outlives the comparison
  old = benchReport({before});
  now = benchReport({after});
  BenchComparison comparison = compareReports(old, now);
  EXPECT_EQ(comparison.changes.size(), 1u);
  return comparison.changes.front();
}

TEST(BenchCompare, TellsSlowerFromFaster) {
  const BenchChange slower = change(benchRow("M = 1", 100), benchRow("M = 1", 110));
  EXPECT_TRUE(slower.isSignificant());
  EXPECT_NEAR(slower.change, 0.1, 1e-9);
  const BenchChange faster = change(benchRow("M = 1", 110), benchRow("M = 1", 100));
  EXPECT_TRUE(faster.isSignificant());
  EXPECT_NEAR(faster.change, -1 / 11.0, 1e-9);
}

TEST(BenchCompare, ALittleIsNoise) {
  EXPECT_FALSE(change(benchRow("M = 1", 100), benchRow("M = 1", 101.5)).isSignificant());
  EXPECT_TRUE(change(benchRow("M = 1", 100), benchRow("M = 1", 103)).isSignificant());
}

TEST(BenchCompare, WideSpreadsHideChanges) {
  EXPECT_FALSE(change(benchRow("M = 1", 100, 0.05), benchRow("M = 1", 110, 0.05)).isSignificant());
  EXPECT_TRUE(change(benchRow("M = 1", 100, 0.05), benchRow("M = 1", 120, 0.05)).isSignificant());
  EXPECT_FALSE(change(benchRow("M = 1", 100, 0.001), benchRow("M = 1", 110, 0.08)).isSignificant());
}

TEST(BenchCompare, ADeviceThatIsSlowerAsAWholeIsNoChange) {
  // The baseline became slower by as much.
  EXPECT_FALSE(
      change(benchRow("M = 1", 100, 0.002, 90), benchRow("M = 1", 110, 0.002, 99)).isSignificant());
  // It did not.
  const BenchChange alone =
      change(benchRow("M = 1", 100, 0.002, 90), benchRow("M = 1", 110, 0.002, 91));
  EXPECT_TRUE(alone.isSignificant());
  EXPECT_NEAR(alone.change, 1.1 * 90 / 91 - 1, 1e-9); // the less of the two
  // Beside the baseline it is slower, by the clock on the wall faster.
  EXPECT_FALSE(
      change(benchRow("M = 1", 100, 0.002, 90), benchRow("M = 1", 95, 0.002, 80)).isSignificant());
}

TEST(BenchCompare, ALowerClockIsNoChange) {
  BenchRow before = benchRow("M = 1", 100), after = benchRow("M = 1", 110);
  before.megahertz = 1760;
  after.megahertz = 1600;
  EXPECT_FALSE(change(before, after).isSignificant());
  after.megahertz = 1760;
  EXPECT_TRUE(change(before, after).isSignificant());
}

TEST(BenchCompare, CasesThatOneRunHasNot) {
  const BenchReport old = benchReport({benchRow("M = 1", 100), benchRow("M = 2", 100)});
  const BenchReport now = benchReport({benchRow("M = 1", 100), benchRow("M = 3", 100)});
  const BenchComparison comparison = compareReports(old, now);
  EXPECT_EQ(comparison.changes.size(), 1u);
  ASSERT_EQ(comparison.added.size(), 1u);
  EXPECT_EQ(comparison.added[0]->call, "M = 3");
  ASSERT_EQ(comparison.gone.size(), 1u);
  EXPECT_EQ(comparison.gone[0]->call, "M = 2");
  EXPECT_EQ(printComparison(comparison, "old.json"),
            "against `old.json`:\n  1 of 1 cases: no change\n  gemm: M = 3 is new\n"
            "  gemm: M = 2 is no longer there\n");
}

TEST(BenchCompare, OtherDevicesAreNotCompared) {
  BenchReport old = benchReport({benchRow("M = 1", 100)});
  const BenchReport now = old;
  old.device = "other";
  EXPECT_NE(compareReports(old, now).problem, "");
  EXPECT_EQ(compareReports(now, benchReport({benchRow("M = 2", 1)})).problem,
            "it has none of these cases");
}

/// Run number `n` of a kernel whose launches take 100 us, more or less, on a device that is as fast as `drift` says.
BenchRow measured(uint64_t n, double spread, double drift) {
  const tile_rt::Distribution normal{tile_rt::Distribution::Kind::Normal, 100 * drift,
                                     100 * spread};
  std::vector<double> times(50);
  for (size_t i = 0; i < times.size(); ++i) {
    times[i] = tile_rt::draw(normal, /*seed=*/1, n, i);
  }
  std::sort(times.begin(), times.end());
  BenchRow row = benchRow("M = 1", times[25]);
  row.time = {times[25], times[12], times[37]};
  return row;
}

TEST(BenchCompare, TwoRunsOfTheSameCodeShowNoChange) {
  const tile_rt::Distribution drift{tile_rt::Distribution::Kind::Uniform, 0.995, 1.005};
  uint64_t n = 0;
  for (double spread : {0.0005, 0.003, 0.02, 0.08}) {
    for (int i = 0; i < 5000; ++i) {
      const BenchRow one = measured(n, spread, tile_rt::draw(drift, 2, 0, n));
      const BenchRow other = measured(n + 1, spread, tile_rt::draw(drift, 2, 1, n));
      ASSERT_FALSE(change(one, other).isSignificant()) << spread << " " << i;
      n += 2;
    }
  }
}

TEST(BenchCompare, FivePercentAreSeenWhereLaunchesAgreeToOne) {
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(change(measured(2 * i, 0.01, 1), measured(2 * i + 1, 0.01, 1.05)).isSignificant());
  }
}

} // namespace
} // namespace tilec
