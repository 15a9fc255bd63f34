// The picture: the same bytes for the same report, numbers in their place, nothing but numbers where there are none.
#include "compiler/benchmark/BenchPlot.h"

#include "test/unit/benchmark/Reports.h"

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

namespace tilec {
namespace {

size_t count(const std::string &text, llvm::StringRef what) {
  return llvm::StringRef(text).count(what);
}

TEST(BenchPlot, HasAPointForEachCaseAndASquareForItsBaseline) {
  BenchReport report =
      benchReport({benchRow("M = 1", 10, 0.01, 9), benchRow("M = 2 < \"3\" & 4", 20)});
  const std::string plot = printBenchPlot(report);
  EXPECT_EQ(plot, printBenchPlot(report));
  EXPECT_EQ(count(plot, "<circle"), 3u); // and the key
  EXPECT_EQ(count(plot, "stroke=\"#c0501f\" stroke-width=\"2\""), 2u);
  EXPECT_NE(plot.find("M = 2 &lt; &quot;3&quot; &amp; 4"), std::string::npos);
  EXPECT_NE(plot.find("f16 973 TFLOP/s"), std::string::npos);
  EXPECT_NE(plot.find("memory 4.69 TB/s"), std::string::npos);
  EXPECT_EQ(plot.find("nan"), std::string::npos);
  EXPECT_EQ(plot.find("inf"), std::string::npos);
}

TEST(BenchPlot, APointUnderTheRoofIsBelowIt) {
  // 200 FLOP for a byte, 200 TFLOP/s.
  BenchReport report = benchReport({benchRow("M = 1", 10)});
  const std::string plot = printBenchPlot(report);
  // log10(200) = 2.301 of 0 to 4 from 80 to 810 pixels, and of 2 to 3 from 480 to 60.
  EXPECT_NE(plot.find("<circle cx=\"499.9\" cy=\"353.6\""), std::string::npos) << plot;
}

TEST(BenchPlot, NumbersOfPointsThatLieTogetherDoNot) {
  const std::string plot =
      printBenchPlot(benchReport({benchRow("M = 1", 10), benchRow("M = 2", 10)}));
  EXPECT_NE(plot.find("<text x=\"507.9\" y=\"347.6\" font-weight=\"bold\">1<"), std::string::npos);
  EXPECT_NE(plot.find("<text x=\"507.9\" y=\"365.6\" font-weight=\"bold\">2<"), std::string::npos);
}

TEST(BenchPlot, BarsWhereOnlyBytesAreKnown) {
  BenchReport report = benchReport({benchRow("N = 1", 10)});
  report.rows[0].flops.reset();
  report.rows[0].bytes = 4.69e7 / 2; // half of what 10 us allow
  const std::string plot = printBenchPlot(report);
  EXPECT_NE(plot.find("50 % by memory"), std::string::npos);
  EXPECT_NE(plot.find("width=\"365.0\""), std::string::npos); // of 730
  EXPECT_EQ(plot.find("FLOP per byte"), std::string::npos);
}

TEST(BenchPlot, CasesWithoutWorkAreInTheLegendAlone) {
  BenchReport report = benchReport({benchRow("N = 1", 10)});
  report.rows[0].flops.reset();
  report.rows[0].bytes.reset();
  const std::string plot = printBenchPlot(report);
  EXPECT_NE(plot.find("1  gemm: N = 1: 10.0 us"), std::string::npos);
  EXPECT_EQ(plot.find("share of the limit"), std::string::npos);
}

TEST(BenchPlot, TypesOfOneRateShareALine) {
  BenchReport report = benchReport(
      {benchRow("M = 1", 10), benchRow("M = 2", 10), benchRow("M = 3", 10), benchRow("M = 4", 10)});
  report.rows[1].rate = "bf16";
  report.rows[2].rate = "e4m3";
  report.rows[3].flops = 1e3; // far to the left, and low
  const std::string plot = printBenchPlot(report);
  EXPECT_NE(plot.find("bf16, f16 973 TFLOP/s"), std::string::npos);
  EXPECT_NE(plot.find("e4m3 1946 TFLOP/s"), std::string::npos);
}

} // namespace
} // namespace tilec
