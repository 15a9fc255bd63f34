// Operands of wgmma in shared memory: read through the asynchronous proxy, and checked.
#pragma once

#include "RegisterTiles.h"
#include "WgmmaDescriptor.h"

namespace tile_emu {

/// The part of an operand that a warp reads: `indices` rows of A or columns of B, from `first`, by
/// `k`.
struct SharedOperand {
  const char *name = "A"; ///< for reports
  Element element = Element::F16;
  bool mnMajor = false;
  unsigned first = 0, indices = 0, k = 0;
  unsigned mayRead = 0; ///< indices from 0 that the warp may read too, without needing them
};

/// Reads into `to.a` or `to.b` and marks the rows or columns that were never written. Faults:
/// OutOfBounds, Invalid (descriptor).
template <typename T>
void readSharedA(Step &step, const AsyncOp &async, uint64_t descriptor,
                 const SharedOperand &operand, Operands<T> &to);
template <typename T>
void readSharedB(Step &step, const AsyncOp &async, uint64_t descriptor,
                 const SharedOperand &operand, Operands<T> &to);

} // namespace tile_emu
