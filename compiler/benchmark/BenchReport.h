// What `tilec bench` has measured, and the file that holds it (docs/benchmarks.md).
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// Microseconds of a launch; half of the launches took between `lower` and `upper`.
struct BenchTime {
  double median = 0, lower = 0, upper = 0;
};

/// What a case was measured beside.
struct BenchPeer {
  std::string name; ///< with its version
  std::string note; ///< why it has no time; else empty
  std::optional<BenchTime> time;
  double error = 0; ///< ||ours - its|| / ||its||
};

struct BenchRow {
  std::string kernel;                ///< symbol
  std::string call;                  ///< "M = 64, N = 128"
  std::vector<std::string> variants; ///< of the launches
  BenchTime time;
  unsigned launches = 0;
  std::optional<double> flops, bytes; ///< of the call
  std::string rate;                   ///< type of its products; empty if it has none
  std::optional<BenchPeer> peer;
  double megahertz = 0, watts = 0; ///< 0 if not known
  std::string sensorNote;          ///< why; else empty
};

struct BenchReport {
  std::string source, sourceHash, arch, compiler;
  std::string device, driver;
  int capability = 0; ///< of the device: 90
  unsigned multiprocessors = 0;
  std::vector<BenchRow> rows;
};

/// Fails, saying where, for what does not have the form of such a file.
llvm::Expected<BenchReport> parseBenchReport(llvm::StringRef text);
/// As text with a line for each row. What follows from the numbers, rates and limits, is in it for other programs, and is not read.
std::string printBenchReport(const BenchReport &report);

} // namespace tilec
