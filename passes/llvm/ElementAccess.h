//===- ElementAccess.h - accesses of elements at computed indices -*- C++ -*-===//
#ifndef TILEC_PASSES_LLVM_ELEMENTACCESS_H
#define TILEC_PASSES_LLVM_ELEMENTACCESS_H

#include "passes/llvm/Addresses.h"

namespace tilec::lowering {

/// What gathers, scatters and atomic operations have in common, in the values of the new code: for
/// each slot one index for each dimension of the place, and a condition.
struct KernelLowering::ElementAccess {
  mlir::Operation *op;
  mlir::Value place;
  mlir::ValueRange indices;
  mlir::Value mask; ///< null: always
  mlir::Type tile;  ///< of the elements: a tile, or a scalar

  const View *view = nullptr;
  const Shared *buffer = nullptr;
  mlir::Type element = {};
  const layout::RegisterLayout *layout = nullptr; ///< null: a scalar
  size_t slots = 1;
  llvm::SmallVector<Fragment> at = {}; ///< by dimension
  llvm::SmallVector<IntegerRange> ranges = {};
  Fragment holds = {}; ///< empty: always
};

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_ELEMENTACCESS_H
