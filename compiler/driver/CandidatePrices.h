// Which of the parameter sets that `tune` lists are worth compiling, from what the cost model says of
// each.
#pragma once

#include "dialects/support/RowKind.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// A call to price: values of dimensions and scalars, by name.
using CallSample = llvm::StringMap<double>;

/// Calls that cover the space of `names`, each from 8 to 16384, evenly on a logarithmic scale and in
/// multiples of 8, of half of the calls of 64 where they are no less. The first `numDimensions` are dimensions, the others scalars. Where
/// there are two dimensions, half of the calls have 64 times as much of one and a 64th of the other: many short rows, or few long ones.
/// The same ones each time. One call without names if there are none.
std::vector<CallSample> sampleCalls(llvm::ArrayRef<std::string> names, size_t numDimensions);

/// Calls that a `where` of the kernel may tell from those: as large, or 64 times, at multiples of 1, 2, 4 and 8. They ask who takes
/// them, not what that costs.
std::vector<CallSample> probeCalls(llvm::ArrayRef<std::string> names, size_t numDimensions);

/// What one candidate costs.
struct CandidatePrice {
  std::string refused; ///< why it is not worth compiling; empty if it is
  ByRowKind<std::string>
      refusedFor; ///< why its code for such rows is not, where that for aligned ones is
  /// Seconds, for each sample: of what takes calls with such rows. Of a kernel without variants all are the same.
  ByRowKind<std::vector<double>> seconds;
  ByRowKind<bool> hasCode; ///< variants for these
  /// Whether `where` of the kernel holds for it, for each sample and each probe; empty: for all.
  std::vector<bool> served, probes;
};

/// What candidates are to be good at.
struct CallCosts {
  std::vector<double> weights; ///< of each call
  std::vector<std::vector<double>>
      seconds; ///< by candidate, of each call; none of one that is refused
};

/// The samples, each as heavy as the others, all with such rows. Candidates whose code for them is refused count where there are no
/// others. A call that some candidate takes costs those that do not infinity.
CallCosts costsOf(llvm::ArrayRef<CandidatePrice> candidates, RowKind rows);

/// Adds the probes that some of these take and others do not, of little weight: a candidate that takes calls which no other one does is
/// worth more than speed.
void addProbes(CallCosts &costs, llvm::ArrayRef<CandidatePrice> candidates);

/// The up to `limit` candidates that together cover the calls best: first the one with the least mean
/// of logarithms of cost, then those that bring the mean of each call's cheapest down most, as long
/// as that is by more than `leastGain`, which may be negative. Refused ones are left out; empty if all are.
std::vector<unsigned> coverCalls(const CallCosts &costs, unsigned limit, double leastGain = 0.001);

} // namespace tilec
