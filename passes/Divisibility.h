//===- Divisibility.h - a number that divides an integer ------*- C++ -*-===//
#ifndef TILEC_PASSES_DIVISIBILITY_H
#define TILEC_PASSES_DIVISIBILITY_H

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"

#include "llvm/ADT/DenseMap.h"

namespace tilec {

/// What divides a value: nothing known yet (no path seen), or a divisor; 0 is divided by all.
/// Paths that meet leave the greatest common divisor.
class Divisor {
public:
  Divisor() = default;
  Divisor(uint64_t number) : number(number) {}

  bool isKnown() const { return number.has_value(); }
  uint64_t get() const { return *number; }
  bool operator==(const Divisor &o) const { return number == o.number; }
  static Divisor join(const Divisor &a, const Divisor &b);
  void print(llvm::raw_ostream &os) const;

private:
  std::optional<uint64_t> number;
};

using DivisorLattice = mlir::dataflow::Lattice<Divisor>;

/// Needs an integer range analysis in the same solver: it says where arithmetic may wrap.
class DivisibilityAnalysis : public mlir::dataflow::SparseForwardDataFlowAnalysis<DivisorLattice> {
public:
  /// `facts`: numbers that divide arguments and results of operations besides.
  DivisibilityAnalysis(mlir::DataFlowSolver &solver, llvm::DenseMap<mlir::Value, uint64_t> facts)
      : SparseForwardDataFlowAnalysis(solver), facts(std::move(facts)) {}

  void setToEntryState(DivisorLattice *lattice) override;
  mlir::LogicalResult visitOperation(mlir::Operation *op,
                                     llvm::ArrayRef<const DivisorLattice *> operands,
                                     llvm::ArrayRef<DivisorLattice *> results) override;
  void visitNonControlFlowArguments(mlir::Operation *op, const mlir::RegionSuccessor &successor,
                                    llvm::ArrayRef<DivisorLattice *> arguments,
                                    unsigned firstIndex) override;

private:
  void set(DivisorLattice *lattice, uint64_t divisor);
  /// The divisor of a result that `exact` divides before it is reduced to the result's width.
  uint64_t reduced(mlir::Operation *op, uint64_t exact);
  /// Whether the result of `op`, before reduction, surely fits its type.
  bool isExact(mlir::Operation *op);
  std::optional<mlir::ConstantIntRanges> rangeAt(mlir::Operation *op, mlir::Value value);
  uint64_t transfer(mlir::Operation *op, llvm::ArrayRef<uint64_t> in);

  llvm::DenseMap<mlir::Value, uint64_t> facts; // looked up only
};

/// The largest power of two, up to 2^62, that divides what `divisor` divides.
uint64_t powerOfTwoPart(uint64_t divisor);
/// Least common multiple; the larger one where it would pass 2^62.
uint64_t boundedLcm(uint64_t a, uint64_t b);

} // namespace tilec

#endif // TILEC_PASSES_DIVISIBILITY_H
