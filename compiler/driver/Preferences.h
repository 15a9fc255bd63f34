// From measured times to the candidates that are kept, and to the calls that take them.
#pragma once

#include "compiler/driver/TuneFile.h"
#include "dialects/support/RowKind.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace tilec {

/// What is no chance (logarithm): two times of a short launch differ by 3 %.
inline const double kNoticeableGain = std::log(1.05);

/// The candidates of a kernel at one shape, by number: the logarithm of how much longer each takes than the best one there, its
/// mean over the devices that have measured it.
struct MeasuredShape {
  Shape shape;
  RowKind rows = RowKind::Aligned; ///< the code that ran was for such
  std::map<unsigned, double> excess;
};

/// The shapes of `groups`, which are of one kernel and architecture; rows of other candidates, or that name other extents
/// than `names`, are left out.
std::vector<MeasuredShape> measuredShapes(llvm::ArrayRef<const TuneGroup *> groups,
                                          llvm::ArrayRef<ParameterTexts> candidates,
                                          const std::set<std::string> &names);

/// Those that say something of calls with these extents `fixed`: the exact ones, or, if there are none, those of the bucket; of
/// each kind of rows apart.
std::vector<MeasuredShape> relevantShapes(llvm::ArrayRef<MeasuredShape> shapes, const Shape &fixed);

/// What calls of the shape cost, by candidate, from their `prices` (seconds; not positive: the candidate is refused). What was measured
/// counts in place of what was predicted, on the model's scale: with the same mean of logarithms. What was not measured costs no less than
/// the best that was, and a little.
std::vector<double> correctedPrices(const MeasuredShape &shape, llvm::ArrayRef<double> prices);

/// Calls whose extents lie in all of the ranges, both ends included.
using Ranges = std::map<std::string, std::pair<int64_t, int64_t>>;

/// All extents that round to the same power of two: from 2^(k - 1/2) to 2^(k + 1/2). Of what is not positive, itself.
std::pair<int64_t, int64_t> bucketOf(int64_t extent);

struct PreferredCandidate {
  Ranges ranges;
  unsigned candidate = 0;
  RowKind rows =
      RowKind::Aligned; ///< of calls for which there is such code and none that relies on more
};

/// For each shape and then for each bucket with shapes the best of the `kept` candidates that were measured there. The shapes are of one
/// kind of rows. `predicted`: seconds at each of them, by candidate (not positive: refused). A bucket whose shapes the model serves
/// nearly as well, by the mean over those where what it takes of `kept` was measured, is left to it: it tells the other calls there apart.
std::vector<PreferredCandidate> preferencesOf(llvm::ArrayRef<MeasuredShape> shapes,
                                              llvm::ArrayRef<unsigned> kept,
                                              llvm::ArrayRef<std::vector<double>> predicted);

} // namespace tilec
