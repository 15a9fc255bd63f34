//===- LayoutTies.h - which fragments share a layout ----------*- C++ -*-===//
#ifndef TILEC_PASSES_LAYOUTTIES_H
#define TILEC_PASSES_LAYOUTTIES_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

inline bool isFragment(mlir::Value value) { return isa<mlir::RankedTensorType>(value.getType()); }

/// Operations whose tiles are all of one layout: each element is computed from, or accessed with,
/// the operands' elements at the same place, or is a running result along the operands' rows.
bool sharesLayout(mlir::Operation *op);

/// Ties of control flow: (value that flows, place that it flows to). Each pair should share a layout.
llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> flowTies(mlir::Operation *op);

/// Values whose types are one by the rules of their operation: what a loop carries and its result,
/// the results of one element-wise operation. No conversion can stand between them.
llvm::SmallVector<mlir::Value> sameAs(mlir::Value value);

/// Calls `see` with each fragment that flows through `op`: the operand through which it flows, and
/// where to.
void forEachFlow(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &, mlir::Value)> see);

/// Computed, element by element, from a tile of global memory: one that is better loaded by wide
/// accesses, in another layout than that of its user.
bool isLoaded(mlir::Value value);

} // namespace tilec

#endif // TILEC_PASSES_LAYOUTTIES_H
