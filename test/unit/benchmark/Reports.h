// A report as tests begin with it.
#pragma once

#include "compiler/benchmark/BenchReport.h"

namespace tilec {

/// A row that took so many microseconds, half of the launches within `spread` of it, beside a baseline that took `peer` if that is
/// more than 0.
inline BenchRow benchRow(const std::string &call, double median, double spread = 0.002,
                         double peer = 0) {
  BenchRow row;
  row.kernel = "gemm";
  row.call = call;
  row.variants = {"aligned"};
  row.time = {median, median * (1 - spread), median * (1 + spread)};
  row.launches = 50;
  row.flops = 2e9;
  row.bytes = 1e7;
  row.rate = "f16";
  if (peer > 0) {
    row.peer = {"cublas 13.0.2", "", BenchTime{peer, peer * (1 - spread), peer * (1 + spread)},
                1e-4};
  }
  return row;
}

inline BenchReport benchReport(std::vector<BenchRow> rows) {
  BenchReport report;
  report.source = "k.tile";
  report.sourceHash = "abc";
  report.arch = "sm_90a";
  report.compiler = "0.1.0";
  report.device = "NVIDIA \"H\"";
  report.driver = "13.0";
  report.capability = 90;
  report.multiprocessors = 132;
  report.rows = std::move(rows);
  return report;
}

} // namespace tilec
