//===- CountedLoops.h - loops that count their trips ------------*- C++ -*-===//
//
// Later passes step ahead in loops and compare with sign. A loop whose induction variable could pass
// the end of its type, or is compared without sign, becomes one that counts its trips from 0, and
// computes the variable from the trip.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/IntegerAnalysis.h"

namespace tilec {

class CountedLoops {
public:
  /// `integers` is of the code that is converted, `mapping` leads from it to what `builder` makes.
  CountedLoops(const IntegerAnalysis &integers, const mlir::IRMapping &mapping,
               mlir::OpBuilder &builder)
      : integers(integers), mapping(mapping), builder(builder) {}

  bool isNeeded(mlir::scf::ForOp op) const;

  /// A loop from 0 to the number of trips of `op`, in i64 unless that surely fits the type of `op`'s
  /// bounds.
  mlir::scf::ForOp create(mlir::scf::ForOp op, mlir::ValueRange inits) const;

  /// The induction variable of `op` in `counted`.
  mlir::Value inductionOf(mlir::scf::ForOp op, mlir::scf::ForOp counted) const;

private:
  const IntegerAnalysis &integers;
  const mlir::IRMapping &mapping;
  mlir::OpBuilder &builder;
};

} // namespace tilec
