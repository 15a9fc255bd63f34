// The results of tile-run as rows of a report.
#pragma once

#include "compiler/benchmark/BenchReport.h"

#include <map>

namespace tilec {

/// How a case ended.
struct BenchRecord {
  bool ok = false;
  std::string text; ///< why it is not, for people
  std::string device, driver;
  int capability = 0;
  unsigned multiprocessors = 0;
  BenchRow row; ///< what was measured of it
};

/// By case; of several the last. Lines that are cut short count for nothing, and no file is no record.
std::map<std::string, BenchRecord> readBenchRecords(llvm::StringRef path);

} // namespace tilec
