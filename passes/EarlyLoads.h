//===- EarlyLoads.h - loads that a pipelined loop makes ahead, in registers -*- C++ -*-===//
#ifndef TILEC_PASSES_EARLYLOADS_H
#define TILEC_PASSES_EARLYLOADS_H

#include "dialects/support/Target.h"
#include "passes/Pipeline.h"

namespace tilec {

/// Loads of global memory into fragments that a loop makes `ahead` iterations ahead; 0: none.
struct EarlyLoads {
  llvm::SmallVector<mlir::Operation *> loads;
  int64_t ahead = 0;
  /// Why some loads, or all, stay in their place; empty where none does.
  std::string missed;
};

/// Those of `loop`, which has rings or not, at most `wanted` iterations ahead. What stays in its place,
/// or is less far ahead, is a remark with its reason.
EarlyLoads planEarlyLoads(mlir::scf::ForOp loop, bool hasRings, int64_t wanted,
                          const Target &target);

/// True if the loop is to be repeated as often as its early loads are ahead, and once more, so that the
/// values of each iteration have registers of their own. Where they have not, they move on at the end
/// of an iteration and have to be there by then: more than one iteration ahead would only take
/// registers.
bool isRepeated(mlir::scf::ForOp loop, bool hasRings, int64_t ahead);

} // namespace tilec

#endif // TILEC_PASSES_EARLYLOADS_H
