//===- SlotReaders.h - who uses a buffer in a block, by role ----*- C++ -*-===//
#ifndef TILEC_PASSES_SLOTREADERS_H
#define TILEC_PASSES_SLOTREADERS_H

#include "dialects/tgpu/Tgpu.h"
#include "passes/RoleMap.h"

#include <tuple>

namespace tilec {

/// Operations of a block between which a role reads a buffer, null if nothing does.
struct Readers {
  int64_t role = 0;
  mlir::Operation *first = nullptr, *last = nullptr;

  bool operator==(const Readers &o) const {
    return std::tuple(role, first, last) == std::tuple(o.role, o.first, o.last);
  }
};

/// For each role the first and the last operation of `body` that use a buffer, but for its writer: the first reader's role
/// comes first. A product uses it until it is waited for.
llvm::SmallVector<Readers> findReaders(tgpu::AllocSharedOp buffer, mlir::Operation *writer,
                                       mlir::Block *body, const RoleMap &roles);

} // namespace tilec

#endif // TILEC_PASSES_SLOTREADERS_H
