// What `tilec bench` is to measure: the cases of all kernels of a source.
#pragma once

#include "compiler/driver/Compilation.h"
#include "compiler/testing/BenchCases.h"

namespace tilec {

struct BenchRun {
  std::string kernel; ///< symbol
  std::string call;   ///< "M = 64, N = 128"
  BenchCase measured;
  std::string line; ///< of a case file of tile-run
};

struct BenchPlan {
  Options options; ///< of the compilation: with what cases need beside what the source compiles
  std::string sourceHash;
  std::string pack,
      results; ///< names of files, without folder: of this code, and of measurements of this kind
  std::vector<BenchRun> runs;
};

/// False after a diagnostic.
bool makePlan(const Options &options, Compilation &compilation, BenchPlan &plan);

} // namespace tilec
