//===- GlobalAccess.h - which part of global memory an access touches -*- C++ -*-===//
//
// A region of global memory is a kernel argument and, in each dimension of its tensor, a range of
// indices around a sum of SSA values. Two regions are apart when they belong to different memory,
// or when in some dimension the same sum stands under ranges that do not meet. What is not known is
// everything: a region may be larger than what is touched, never smaller.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_GLOBALACCESS_H
#define TILEC_PASSES_GLOBALACCESS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// True if the two arguments of a kernel may be the same memory; null is one that is not known.
bool mayOverlap(mlir::BlockArgument a, mlir::BlockArgument b);

/// The operand of `op` that is the global memory it writes; null if it writes none.
mlir::Value writtenGlobal(mlir::Operation *op);

/// True for an atomic that orders all that its block does with global memory: what comes before is
/// visible to other blocks, what comes behind sees theirs (docs/language.md section 10).
bool ordersGlobal(mlir::Operation *op);

/// True if `op` may write to `global` itself, or let another block's writes be seen.
bool mayChange(mlir::Operation *op, mlir::Value global);

/// True if anything in the kernel may.
bool mayChangeIn(tgpu::KernelOp kernel, mlir::Value global);

/// Indices: the sum of `terms` plus any number of [low, high).
struct IndexRange {
  static constexpr int64_t kLowest = INT64_MIN, kHighest = INT64_MAX; ///< no bound
  using Term = std::pair<mlir::Value, int64_t>;                       ///< value times factor

  llvm::SmallVector<Term, 2> terms; ///< in the order of mlir::Value's opaque pointers
  int64_t low = kLowest, high = kHighest;
  /// Not 0: they are the `block` indices from some multiple of it on, in each of the accesses that this stands for, whatever
  /// the terms were. Two such are the same or apart.
  int64_t block = 0;

  /// The one index `value`. Sums, differences and products with constants are taken apart; signed
  /// overflow is an error of the program (docs/language.md section 4).
  static IndexRange of(mlir::Value value);
  /// Every index from this one, a single one, to `size` - 1 more; kDynamic: from it on.
  void extend(int64_t size);
  void add(const IndexRange &other);
  /// Adds a number of [least, most] to every index.
  void shift(int64_t least, int64_t most);
  /// Forgets all that is known.
  void forget() { *this = IndexRange(); }
  /// Forgets which block of indices it is.
  void forgetPlace() {
    const int64_t kept = block;
    forget();
    block = kept;
  }

  bool isApart(const IndexRange &other) const;
  bool covers(const IndexRange &other) const;
  bool isBounded() const { return low != kLowest && high != kHighest; }
  bool operator==(const IndexRange &) const = default;
};

/// Part of a tensor or workspace.
struct GlobalRegion {
  mlir::BlockArgument base;        ///< null: any of the kernel's
  mlir::Operation *view = nullptr; ///< the tgpu.view that `indices` count in; null: all of it
  llvm::SmallVector<IndexRange, 2> indices; ///< for each dimension of the view
  llvm::SmallVector<int64_t, 2> kept;       ///< the dimensions that those of the tile run along

  /// The elements of a view or slice.
  static GlobalRegion of(mlir::Value global);
  /// One element of it.
  static GlobalRegion of(mlir::Value global, mlir::ValueRange element);

  bool overlaps(const GlobalRegion &other) const;
  /// True if what is in both tiles is element i of the one and element i of the other: they are the same, or tiles of one grid.
  bool isOfSameGrid(const GlobalRegion &other) const;
  /// True if all of `other` is known to be in here.
  bool covers(const GlobalRegion &other) const;
  /// What holds of `before` and of this one, found by going once more around a loop: bounds that
  /// still move are given up. False (and nothing changes) where the two say different sums.
  bool widen(const GlobalRegion &before);
  bool operator==(const GlobalRegion &) const = default;
};

} // namespace tilec

#endif // TILEC_PASSES_GLOBALACCESS_H
