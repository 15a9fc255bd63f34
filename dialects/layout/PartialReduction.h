// Reductions that stop within a thread: what all threads' parts make together is left for later.
#pragma once

#include "dialects/layout/Reduction.h"

namespace tilec::layout {

/// A reduction along some dimensions of which each thread does what it holds itself. Threads that
/// hold the same elements have the same part; what pads the layout counts as neutral.
struct PartialReduction {
  /// Along one dimension, of what the steps before have left; nothing moves between threads.
  struct Step {
    RegisterLayout source;
    unsigned dim = 0;
    ReductionPlan plan;
  };
  llvm::SmallVector<Step, 2> steps; // the last dimension first
  /// What a thread has then: partial values, unless threads hold all of the dimensions themselves.
  RegisterLayout result;
  /// The same values, of the same slots, as a complete tile, whose reduced dimensions count the
  /// threads that contribute: reducing it along them gives the complete values.
  RegisterLayout parts;

  /// Some of the values are still to be combined between threads.
  bool isPartial() const { return result.partial().has_value(); }
};

/// `dims` rise. Refused where planReduction is, along one of them.
Answer<PartialReduction> planPartialReduction(const RegisterLayout &source,
                                              llvm::ArrayRef<int64_t> dims, Combine combine);

} // namespace tilec::layout
