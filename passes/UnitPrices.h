//===- UnitPrices.h - clocks that units of a loop take ---------*- C++ -*-===//
//
// Of one warpgroup, on sm_90a; the rates are those of the tensor cores and of the unit for special
// functions, as measured. They say where units stand, not how long a loop takes (CostModel.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_UNITPRICES_H
#define TILEC_PASSES_UNITPRICES_H

#include "passes/LoopGraph.h"

namespace tilec {

/// Instructions of a warp that a unit of values takes, each a clock of its scheduler; 0 for others.
int64_t issueClocks(const Unit &unit);

/// Clocks of the special functions of a stream: 16 lanes a clock.
int64_t specialClocks(const Unit &unit);

/// Clocks of the tensor cores for a product: m64nN takes N / 2 clocks for 32 bytes of k, or what reading
/// its operands from shared memory takes.
int64_t tensorClocks(const Unit &unit);

} // namespace tilec

#endif // TILEC_PASSES_UNITPRICES_H
