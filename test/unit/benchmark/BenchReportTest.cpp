// The file of results: its form, what is refused, rates and limits.
#include "compiler/benchmark/BenchLimits.h"
#include "compiler/benchmark/BenchTable.h"
#include "test/unit/benchmark/Reports.h"

#include <gtest/gtest.h>

namespace tilec {
namespace {

BenchReport full() {
  BenchReport report = benchReport({benchRow("M = 1", 12.3456, 0.01, 11), benchRow("M = 2", 7)});
  report.rows[0].megahertz = 1755;
  report.rows[0].watts = 512.25;
  report.rows[1].flops.reset();
  report.rows[1].rate = "";
  report.rows[1].sensorNote = "cannot \"open\"";
  report.rows[1].peer = BenchPeer{"cublas", "none here", std::nullopt, 0};
  return report;
}

TEST(BenchReport, ReadsWhatItPrints) {
  const std::string text = printBenchReport(full());
  llvm::Expected<BenchReport> read = parseBenchReport(text);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(printBenchReport(*read), text);
  EXPECT_EQ(read->device, "NVIDIA \"H\"");
  EXPECT_EQ(read->capability, 90);
  ASSERT_EQ(read->rows.size(), 2u);
  const BenchRow &one = read->rows[0], &other = read->rows[1];
  EXPECT_EQ(one.time.median, 12.3456);
  EXPECT_EQ(one.flops, 2e9);
  EXPECT_EQ(one.rate, "f16");
  ASSERT_TRUE(one.peer && one.peer->time);
  EXPECT_EQ(one.peer->time->median, 11);
  EXPECT_EQ(one.peer->error, 1e-4);
  EXPECT_EQ(one.watts, 512.25);
  EXPECT_FALSE(other.flops);
  EXPECT_EQ(other.bytes, 1e7);
  EXPECT_EQ(other.sensorNote, "cannot \"open\"");
  ASSERT_TRUE(other.peer && !other.peer->time);
  EXPECT_EQ(other.peer->note, "none here");
}

TEST(BenchReport, RefusesWhatHasNotItsForm) {
  const std::string good = printBenchReport(full());
  for (auto [from, to, said] :
       {std::tuple("\"format\": 1", "\"format\": 2", "expected 1"),
        std::tuple("\"rows\": [", "\"rows\": 3, \"other\": [", "expected a list"),
        std::tuple("\"kernel\": \"gemm\"", "\"kernel\": 7", "expected string"),
        std::tuple("\"median_us\": 12.3456", "\"median_us\": -1", "expected a number above 0"),
        std::tuple("\"median_us\": 12.3456", "\"median_us\": 13",
                   "expected the median between them"),
        std::tuple("\"half_us\": [", "\"half_us\": [1,", "expected two numbers"),
        std::tuple("\"device\"", "\"gadget\"", "expected a string"),
        std::tuple("\"capability\": 90", "\"capability\": \"x\"", "expected number"),
        std::tuple("\"variants\": [\"aligned\"]", "\"variants\": [1]", "expected string"),
        std::tuple("\"baseline\": {", "\"baseline\": 1, \"b\": {", "expected an object"),
        std::tuple("{\n", "[", "")}) {
    std::string text = good;
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, std::string(from).size(), to);
    llvm::Expected<BenchReport> read = parseBenchReport(text);
    ASSERT_FALSE(bool(read)) << to;
    EXPECT_NE(llvm::toString(read.takeError()).find(said), std::string::npos) << to;
  }
}

TEST(BenchLimits, AreThoseOfTheScarcestResource) {
  BenchReport report = full();
  BenchRow row = report.rows[0];
  auto limit = [&](std::optional<double> flops, std::optional<double> bytes, const char *rate) {
    row.flops = flops;
    row.bytes = bytes;
    row.rate = rate;
    return limitOf(report, row);
  };
  EXPECT_FALSE(limit(std::nullopt, std::nullopt, ""));
  EXPECT_EQ(limit(1e12, 1e6, "f16")->bound, "tensor cores");
  EXPECT_NEAR(limit(1e12, 1e6, "f16")->microseconds, 1e18 / (4096 * 132 * 1.80e9), 1);
  EXPECT_NEAR(limit(1e12, 1e6, "e4m3")->microseconds * 2, limit(1e12, 1e6, "bf16")->microseconds,
              1);
  EXPECT_NEAR(limit(1e12, 1e6, "tf32")->microseconds, limit(2e12, 1e6, "f16")->microseconds, 1);
  EXPECT_EQ(limit(1e12, 1e6, "f32")->bound, "arithmetic");
  EXPECT_EQ(limit(1e9, 4.69e9, "f16")->bound, "memory");
  EXPECT_NEAR(limit(std::nullopt, 4.69e9, "")->microseconds, 1000, 1e-6);
  EXPECT_EQ(limit(1, 1, "f16")->bound, "launch");
}

TEST(BenchTable, LeavesOutColumnsThatHaveNothing) {
  BenchReport report = benchReport({benchRow("M = 1", 12.3456), benchRow("M = 1000", 1234.8)});
  EXPECT_EQ(printBenchTable(report),
            "kernel  case         us    half of them  TFLOP/s   GB/s  of limit  by\n"
            "gemm    M = 1     12.35  12.32 to 12.37    162.0  810.0      27 %  launch\n"
            "gemm    M = 1000   1235    1232 to 1237     1.62   8.10       0 %  launch\n");
}

TEST(BenchTable, SaysTheMeanSpeed) {
  BenchReport report = benchReport(
      {benchRow("M = 1", 10, 0.01, 20), benchRow("M = 2", 10), benchRow("M = 3", 10, 0.01, 5)});
  EXPECT_EQ(printBenchSummary(report), "speed of 2 cases: 1.000 in the geometric mean, 0.500 at "
                                       "least (gemm: M = 3)\n");
  report.rows.pop_back();
  EXPECT_EQ(printBenchSummary(report), "");
}

} // namespace
} // namespace tilec
