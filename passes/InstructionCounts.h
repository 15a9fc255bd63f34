//===- InstructionCounts.h - instructions of scalar code --------*- C++ -*-===//
#ifndef TILEC_PASSES_INSTRUCTIONCOUNTS_H
#define TILEC_PASSES_INSTRUCTIONCOUNTS_H

#include "mlir/IR/Operation.h"

namespace tilec {

/// What an operation costs for one element: slots of the schedulers, and of those how many go to the unit of special
/// functions (ex2, lg2, rcp, rsqrt, sin, cos).
struct Instructions {
  double slots = 0, special = 0;
  void add(Instructions other, double times = 1) {
    slots += times * other.slots;
    special += times * other.special;
  }
};

/// Of an operation on a scalar, or on each element of a tile, that computes; 0 for those that only say where data is.
Instructions instructionsOf(mlir::Operation *op);
/// Of all operations of a region without loops, such as the body of a map.
Instructions instructionsOf(mlir::Region &region);

} // namespace tilec

#endif // TILEC_PASSES_INSTRUCTIONCOUNTS_H
