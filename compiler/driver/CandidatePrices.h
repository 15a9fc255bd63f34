// Which of the parameter sets that `tune` lists are worth compiling, from what the cost model says of
// each.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// A call to price: values of dimensions and scalars, by name.
using CallSample = llvm::StringMap<double>;

/// Calls that cover the space of `names`, each from 8 to 16384, evenly on a logarithmic scale and in
/// multiples of 8. The same ones each time. One call without names if there are none.
std::vector<CallSample> sampleCalls(llvm::ArrayRef<std::string> names);

/// What one candidate costs.
struct CandidatePrice {
  std::string refused; ///< why it is not worth compiling; empty if it is
  /// Seconds, for each sample: of its code for aligned rows, and of that for any. Of a kernel without
  /// such variants both are the same.
  std::vector<double> aligned, any;
  bool hasVariants = false; ///< by alignment
};

/// The up to `limit` candidates that together cover the samples best: first the one with the least mean
/// of logarithms of cost, then those that bring the mean of each sample's cheapest down most, as long
/// as that is by a thousandth. Refused ones are left out; empty if all are. Those `chosen` are among them, and first.
std::vector<unsigned> coverSamples(llvm::ArrayRef<CandidatePrice> candidates,
                                   std::vector<double> CandidatePrice::*seconds, unsigned limit,
                                   std::vector<unsigned> chosen = {});

/// The mean over the samples of how much more the cheapest of `chosen` costs than the cheapest of all
/// candidates: 0.02 is 2 %.
double excessOf(llvm::ArrayRef<CandidatePrice> candidates,
                std::vector<double> CandidatePrice::*seconds, llvm::ArrayRef<unsigned> chosen);

} // namespace tilec
