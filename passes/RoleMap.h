//===- RoleMap.h - which role does what ------------------------*- C++ -*-===//
//
// tgpu-plan-roles gives the operations on tiles of a kernel to roles, so that no tile passes from one role to another but
// through shared memory. From then on tiles that are connected by operations, loops and branches belong to one role, which
// the operations that were marked tell; passes in between may add operations without a mark. What is computed of scalars and
// places alone belongs to no role: each computes it for itself.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_ROLEMAP_H
#define TILEC_PASSES_ROLEMAP_H

#include "dialects/tgpu/Tgpu.h"

#include "llvm/ADT/IntEqClasses.h"

namespace tilec {

/// A tile that takes no other: a constant, a scalar repeated, positions, and what is computed of such.
bool isMadeAnew(mlir::Value tile);

/// A fragment, or the sum of a product in flight.
inline bool isTile(mlir::Value value) {
  return mlir::isa<mlir::RankedTensorType, tgpu::PendingType>(value.getType());
}

class RoleMap {
public:
  /// Of a kernel as it stands; it is not changed, and changes of it are not seen.
  explicit RoleMap(tgpu::KernelOp kernel);

  /// Roles of the kernel, from 0; 1 if its work is not shared out.
  int64_t count() const { return roles; }
  /// The role of a tile; nothing if it is of none.
  std::optional<int64_t> roleOf(mlir::Value tile) const;
  /// The role that does an operation: marked so, or that of its tiles. Nothing if it is of none.
  std::optional<int64_t> roleOf(mlir::Operation *op) const;
  /// An operation whose tiles belong to different roles; null if there is none.
  mlir::Operation *conflict() const { return conflicting; }

private:
  void join(mlir::Value a, mlir::Value b);
  void joinCarried(mlir::Operation *op);
  unsigned number(mlir::Value value);

  llvm::DenseMap<mlir::Value, unsigned> numbers; ///< looked up only
  llvm::IntEqClasses classes;
  llvm::DenseMap<unsigned, int64_t> labels; ///< of classes; looked up only
  mlir::Operation *conflicting = nullptr;
  int64_t roles = 1;
};

/// The tiles of an operation: operands, what its regions use of those around it, and results; none that is made anew.
/// Not of loops and branches, whose tiles are those of the operations inside.
llvm::SmallVector<mlir::Value> tilesOf(mlir::Operation *op);

} // namespace tilec

#endif // TILEC_PASSES_ROLEMAP_H
