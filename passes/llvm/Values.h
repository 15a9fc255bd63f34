//===- Values.h - what tgpu values become in the LLVM dialect -*- C++ -*-===//
//
// The lowering of a kernel maps each value of the tgpu level to one of these. Addresses stay
// symbolic (base, offset, stride) until an access needs them, so that constants reach the
// instructions as immediates.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_LLVM_VALUES_H
#define TILEC_PASSES_LLVM_VALUES_H

#include "dialects/layout/RegisterLayout.h"
#include "dialects/layout/SharedLayout.h"
#include "dialects/tile/Tile.h"
#include "mlir/IR/Value.h"
#include "passes/IntegerAnalysis.h"

namespace tilec::lowering {

/// One scalar for each slot of a thread, or for each element of a `vec`.
using Fragment = llvm::SmallVector<mlir::Value, 8>;

/// The indices that a tile gives a dimension of a view, one for each slot of the tile's layout.
struct GatheredIndices {
  layout::RegisterLayout layout;
  Fragment indices;
  IntegerRange range;     // of any of them
  int64_t sourceSize = 0; // what they count in: as ViewDim::size
};

/// One dimension of the tensor behind a view. Coordinates count elements of the whole tensor, in
/// i32 where extents and offsets are, else in i64.
struct ViewDim {
  mlir::Value offset; // coordinate of index 0, or the nearest number of its type
  mlir::Value lower;  // coordinates below are out of range; null: 0
  mlir::Value upper;  // coordinates from here on are out of range; never negative
  mlir::Value stride; // elements, i32 or i64; null: 1
  mlir::Value extent; // of the view, when it is not static
  int64_t size = 0;   // of the view, or ShapedType::kDynamic
  int64_t step = 0;   // divides offset, lower and upper, where these are in range; 0: they are 0
  IntegerRange reach = {0, 0};                                       // of offset
  llvm::SmallVector<std::pair<mlir::Value, IntegerRange>, 1> begins; // of slices; offset: their sum
  bool saturated = false; // offset may be another number, where the sum does not fit
  bool whole = true;      // all of the tensor's dimension: no slice was taken
  int tileDim = -1;       // which dimension of the view this is; -1: fixed by a single index
  /// Then offset and bounds are those of what the indices count in.
  std::optional<GatheredIndices> gathered;
};

/// A bounded view of global memory.
struct View {
  mlir::Value base; // !llvm.ptr<1>
  unsigned argument = 0;
  mlir::Type element;
  llvm::SmallVector<ViewDim, 4> dims;

  /// The tensor's dimension that is dimension `tileDim` of the view.
  unsigned axisOf(unsigned tileDim) const {
    for (unsigned axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis].tileDim == int(tileDim)) {
        return axis;
      }
    }
    return 0;
  }
  bool isGathered() const {
    return llvm::any_of(dims, [](const ViewDim &dim) { return dim.gathered.has_value(); });
  }
};

/// An index of an element of a view, and what is known of it.
struct ElementIndex {
  mlir::Value value;
  IntegerRange range;
  int64_t divisor = 1; // 0: it is 0
};

/// A buffer, one slot of a ring, or a part of one: bytes + sum(index * stride) from the start of
/// shared memory is the start of `layout`; `origin` is the element at which the part begins.
struct Shared {
  int64_t bytes = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 1>
      steps; // (i32 index, bytes), uniform over the block
  layout::SharedLayout layout;
  layout::Coords origin;
  llvm::SmallVector<int64_t, 4> shape;
  mlir::Type element;
};

/// The warps that run the code being lowered: all of the language's, or those of a role.
struct WarpRange {
  int64_t first = 0;
  int64_t count = 1;
  int64_t barrier = 0; ///< their named barrier: 0 is the block's
};

/// An array of each thread's own, row-major. Of rank 0 it has one element.
struct Local {
  mlir::Value pointer;
  llvm::SmallVector<int64_t, 4> shape;
  mlir::Type element;
};

/// The barriers of a ring: `slots` full ones at `bytes`, then as many empty ones; where blocks of a cluster fill each other's
/// slots (`across` these dimensions of it) as many again, by which the blocks say that theirs are free.
struct Channel {
  int64_t bytes = 0;
  int64_t slots = 1;
  llvm::ArrayRef<int32_t> across;
  bool isGivenBackToAll = false; ///< slots, by each warp to all blocks that fill them (Clusters.h)

  enum class Barrier { Full, Empty, Peers };
};

/// Slot of a ring and parity of the round, i32 both.
struct RingPlace {
  mlir::Value index, parity;
};

/// A loop-carried place: of position `induction` + sum of `invariants` (values of the old code).
struct RingCounter {
  mlir::Value induction;
  llvm::SmallVector<mlir::Value, 2> invariants;
  int64_t slots = 1;
  RingPlace place; // in the current trip

  bool same(const RingCounter &o) const {
    return induction == o.induction && invariants == o.invariants && slots == o.slots;
  }
};

/// How accesses of global memory go that are no plain loads and stores (GlobalAssembly.cpp).
struct GlobalUse {
  tile::CacheHint hint = tile::CacheHint::None;
  mlir::Value policy;    // of L2, i64; null: none
  bool readOnly = false; // nothing writes the memory during the call
  // i1; where it does not hold nothing is accessed, and loads give 0; null: it holds
  mlir::Value condition;

  bool isPlain() const { return hint == tile::CacheHint::None && !condition; }
  GlobalUse under(mlir::Value holds) const {
    GlobalUse use = *this;
    use.condition = holds;
    return use;
  }
};

/// What an atomic operation does, and where.
struct AtomicUse {
  tile::AtomicKind kind;
  bool isUnsigned = false;
  tile::MemoryOrder order = tile::MemoryOrder::Relaxed;
  bool isShared = false;
  mlir::Value policy = {}; ///< of L2, i64; null: none
};

/// What the host passes for a divisor (dialects/tgpu/Reciprocal.h).
struct Reciprocal {
  mlir::Value factor, addend, shift;
  bool isUnsigned;    // the divisor is read without sign
  IntegerRange range; // of the divisor, read with sign
};

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_VALUES_H
