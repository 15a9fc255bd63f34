//===- IntegerAnalysis.h - ranges and divisors of integers ----*- C++ -*-===//
//
// One forward analysis of the integers of a kernel, on the device or on the host, by MLIR's
// dataflow framework: the range of each value (mlir::dataflow::IntegerRangeAnalysis) and a number
// that divides it (Divisibility.h). Linear in the code, fixed points over loops included: a range
// that grows over a back edge becomes that of the type, a divisor has at most 64 proper divisors in
// a chain.
//
// What is assumed, and why that is sound. Guards of memory accesses are dropped on the strength of
// this analysis, so nothing here follows from the program being free of errors:
//
// - Arithmetic of device code wraps. Flags that promise no overflow are gone before any pass asks
//   (tile-wrap-integers), so a sum that may overflow has the range of its type, and keeps of its
//   divisor only the power of two, which survives reduction modulo 2^32.
// - Host code is exact: the runtime evaluates it in 128 bits for each call and launches nothing if
//   a result does not fit [host-overflow]. There `overflow<nsw>` is a fact.
// - Dimensions and extents of arguments are not negative and fit their type, a launch has fewer than 2^31
//   points, and runs only if each extent of its grid is positive: checked for each call.
// - Conditions of `tile.check` in a kernel's entry block (`where` clauses, dimensions that must
//   agree) hold in every launch: the runtime checks them first. Those about an optional tensor do
//   not count.
// - `tgpu.divisible` on arguments holds: it comes from such conditions, or from a variant's guard,
//   which the runtime evaluates before it takes the variant. `tgpu.range` comes from this analysis
//   of the host code.
// - The induction variable of an `scf.for` lies between its bounds and is the lower one plus a
//   multiple of the step: loops that could step past the end of their type are counted instead
//   (convert-tile-to-tgpu).
// - `assume` is no source: what it says may be wrong.
//
// A value that the analysis has not seen, since a pass made it, is unknown.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_INTEGERANALYSIS_H
#define TILEC_PASSES_INTEGERANALYSIS_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/Value.h"

#include <memory>
#include <optional>

namespace tilec {

/// Inclusive range of an integer, read with sign.
struct IntegerRange {
  int64_t low, high;
};

class IntegerAnalysis {
public:
  /// `root`: a `tgpu.kernel`, or a `tile.kernel` for its host code.
  explicit IntegerAnalysis(mlir::Operation *root);

  /// A number that divides `value`, read with sign, whenever it is computed: at least 1, or 0 for
  /// the constant 0, which everything divides.
  int64_t divisor(mlir::Value value) const;
  /// The values that an integer of at most 64 bits may have: those of its type if nothing else is
  /// known.
  IntegerRange range(mlir::Value value) const;
  bool isNonNegative(mlir::Value value) const { return range(value).low >= 0; }

private:
  std::unique_ptr<mlir::DataFlowSolver> solver;
};

} // namespace tilec

#endif // TILEC_PASSES_INTEGERANALYSIS_H
