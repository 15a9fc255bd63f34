// What `tilec tune` is to measure: shapes, and at each the candidates that the model thinks best.
#pragma once

#include "compiler/driver/Compilation.h"

#include <set>

namespace tilec {

/// The shapes that the options ask for, each once, in their order. False after a diagnostic.
bool readShapes(const Options &options, const TunableKernel &kernel, DiagnosticEngine &diags,
                std::vector<Shape> &shapes);

/// A candidate at a shape.
struct PredictedTime {
  unsigned candidate = 0;
  double seconds = 0;
};

/// A process: a candidate with the shapes at which it is worth measuring.
struct TuneJob {
  unsigned candidate = 0;
  std::string name;           ///< of its files, without folder and extension
  std::vector<size_t> shapes; ///< by number
};

struct TunePlan {
  TunableKernel kernel;
  std::vector<Shape> shapes;
  std::vector<std::vector<PredictedTime>> ranking; ///< for each shape, the best first
  std::vector<TuneJob> jobs;                       ///< in the order of candidates
  size_t refused = 0;                              ///< candidates that are not worth compiling
};

/// False after a diagnostic.
bool makePlan(const Options &options, Compilation &compilation, TunePlan &plan);

/// "BM = 128, BN = 64" of what differs between the candidates.
std::string describeCandidate(const TunableKernel &kernel, unsigned candidate);
/// "M = 64, N = 128"
std::string describeShape(const Shape &shape);
/// The shape as a line of a case file of tile-run.
std::string caseOf(const TunableKernel &kernel, const Shape &shape);

} // namespace tilec
