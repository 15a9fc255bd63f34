//===- Addresses.h - addresses of the slots of a fragment -----*- C++ -*-===//
//
// Both classes split an address into what depends on the thread (computed once), and a constant
// that becomes the immediate of the access.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_LLVM_ADDRESSES_H
#define TILEC_PASSES_LLVM_ADDRESSES_H

#include "passes/llvm/KernelLowering.h"

namespace tilec::lowering {

/// The byte in a buffer of the element with these coordinates (i32), which count from the layout's
/// first element.
mlir::Value sharedOffset(KernelLowering &lowering, const layout::SharedLayout &shared,
                         llvm::function_ref<mlir::Value(unsigned)> coordinate);

/// Whether a loop around `op` has others inside, before or behind it. What does not depend on the loop
/// LLVM computes in front of it, and the rows and places of a tile would take registers from the loops
/// beside the operation: it had better start from numbers that are not known before
/// (KernelLowering::fromHere).
bool standsBesideLoops(mlir::Operation *op);

/// Bytes of the widest access of neighbours along a buffer's contiguous dimension that may begin at any
/// multiple of them, whatever the other indices.
int64_t alignedRun(const Shared &buffer);
/// Bytes, up to 16, of which the address of the first element is a multiple; with `along` also that of any other one
/// that differs from it in this dimension alone, unless its elements lie side by side.
int64_t alignedStart(const Shared &buffer, std::optional<unsigned> along = std::nullopt);
/// The plan with accesses of as many bytes as divide `most`, at least an element.
layout::AccessPlan withAccesses(layout::AccessPlan plan, int64_t most, int64_t elementBytes);

/// Addresses in a shared buffer of the elements that a register layout gives the calling thread.
class SharedAddresses {
public:
  /// `registers` may be the row addresses of a matrix plan. Needs registers.isSeparable().
  SharedAddresses(KernelLowering &lowering, const Shared &buffer,
                  const layout::RegisterLayout &registers);
  /// What is added to the coordinate along a dimension: 0, step, ... (trips - 1) * step.
  struct Shift {
    mlir::Value value; // i32; null: nothing
    unsigned dim = 0;
    int64_t step = 0, trips = 1;
  };
  /// The same `shift`ed, where slots beyond the tile get the address of an element at its edge: any
  /// slot may be read, and with it its neighbours along `runDim`, of which there are `run` in the
  /// tile from each multiple of `run` on.
  static SharedAddresses insideTile(KernelLowering &lowering, const Shared &buffer,
                                    const layout::RegisterLayout &registers, Shift shift,
                                    unsigned runDim = 0, int64_t run = 1);

  /// Pointer to the first byte of slot `reg`.
  mlir::Value pointer(int64_t reg);

private:
  SharedAddresses(KernelLowering &lowering, const Shared &buffer,
                  const layout::RegisterLayout &registers, Shift shift);
  /// Byte in the buffer, origin included.
  int64_t offset(int64_t reg, int64_t lane, int64_t warp) const;
  bool isLinear();
  /// From bit log2(swizzle) on the parts of slot, thread and shift add up; the bits below are XORed.
  /// `swizzle`: 0 or a power of two.
  bool isAdditive(int64_t swizzle);
  mlir::Value linearPart() const;
  /// Some thread's slot `reg` lies beyond the tile along `dim`.
  bool mayLeave(int64_t reg, unsigned dim) const;
  /// The offset computed from coordinates; `reg` adds a slot's part.
  mlir::Value computed(std::optional<int64_t> reg);

  KernelLowering &lowering;
  const Shared &buffer;
  const layout::RegisterLayout &registers;
  Shift shift;
  unsigned runDim = 0;
  int64_t run = 1;
  mlir::Value steps;
  enum class Form { Linear, Additive, General } form = Form::General;
  mlir::Value threadPart; // i32
  int64_t threadMask = 0; // bits that a slot's part may not be added to, but is XORed with
  llvm::SmallVector<int64_t, 5> laneMasks, warpMasks;
  llvm::SmallVector<int64_t, 4> reach;    // largest coordinate of slot 0 in any thread; empty: keep
  std::map<int64_t, mlir::Value> dynamic; // by the constant that is XORed
  std::map<int64_t, mlir::Value> general; // by slot
};

/// What a coordinate along a dimension adds to the number of an element (i64). `neverNegative`: where it
/// is below 0 nothing is accessed, so that what it adds there may be anything.
mlir::Value offsetAlong(KernelLowering &lowering, const ViewDim &dim, mlir::Value coordinate,
                        bool neverNegative);
/// Pointer to the element of a view's tensor with these coordinates, one for each dimension.
mlir::Value globalPointer(KernelLowering &lowering, const View &view,
                          llvm::ArrayRef<mlir::Value> coordinates,
                          llvm::ArrayRef<bool> neverNegative);

/// Addresses and conditions in global memory for the slots of a layout over a view.
class GlobalAddresses {
public:
  /// `inBounds[d]`: dimension d of the view needs no check.
  GlobalAddresses(KernelLowering &lowering, const View &view,
                  const layout::RegisterLayout &registers, llvm::ArrayRef<bool> inBounds);

  mlir::Value pointer(int64_t reg);
  /// Whether `count` neighbours from slot `reg` on are in range (null: they are).
  mlir::Value inRange(int64_t reg, int64_t count);
  /// Whether they are elements of the tile, not padding of the layout (null: they are).
  mlir::Value inTile(int64_t reg, int64_t count);
  /// How many bytes of `count` neighbours are in range, from the first on (i32).
  mlir::Value bytesInRange(int64_t reg, int64_t count);
  /// `count` neighbours may lie partly in range: the bound or the offset is no multiple of count.
  bool mayStraddle(int64_t count);
  /// Whether the tile's last dimension is the tensor's contiguous one.
  bool lastIsContiguous() const;

private:
  mlir::Value dimInRange(unsigned axis, int64_t offset, int64_t count);
  /// What a slot adds to the base's offset along an axis, in elements (i64); null: nothing.
  mlir::Value stepAlong(unsigned axis, int64_t offset);
  /// Coordinate along a gathered axis of slots of the tile at `offset`, and whether it is in range.
  std::pair<mlir::Value, mlir::Value> gathered(unsigned axis, int64_t offset);

  KernelLowering &lowering;
  const View &view;
  const layout::RegisterLayout &registers;
  llvm::SmallVector<bool, 4> checked; // by axis of the tensor
  llvm::SmallVector<mlir::Value, 4> coordinates, threadParts;
  mlir::Value base;                           // of the thread's slot at offset 0
  std::map<layout::Coords, mlir::Value> rows; // by all but the contiguous offset
  // By axis and offset: the slot of the index tile, and what it gives.
  std::map<std::pair<unsigned, int64_t>, int64_t> gatheredSlots;
  std::map<std::pair<unsigned, int64_t>, std::pair<mlir::Value, mlir::Value>> gatheredPlaces;
  std::map<std::tuple<unsigned, int64_t, int64_t>, mlir::Value> conditions;
};

/// Neighbours along the last dimension of a view, from the element at `indices` on.
class Neighbours {
public:
  Neighbours(KernelLowering &lowering, const View &view, llvm::ArrayRef<ElementIndex> indices,
             int64_t count);

  int64_t size() const { return count; }
  mlir::Type element() const { return view.element; }
  /// They are neighbours in memory too.
  bool areContiguous() const { return !run || !run->stride; }
  /// Of each `n`, counted from the first, all are in range or none.
  bool areInRangeTogether(int64_t n) const { return n == 1 || step % n == 0; }
  mlir::Value pointer(int64_t i);
  /// Whether the `n` from `first` on are in range.
  mlir::Value inRange(int64_t first, int64_t n);

private:
  void require(mlir::Value condition);
  /// The view is a slice with a constant bound of its own along the neighbours.
  bool isBounded() const;

  KernelLowering &lowering;
  const View &view;
  int64_t count;
  mlir::Value base;
  mlir::Value others; // what the other dimensions ask
  // Of the dimension of several neighbours.
  const ViewDim *run = nullptr;
  mlir::Value index, coordinate;
  bool indexMayBeNegative = true, coordinateMayBeNegative = true;
  int64_t step = 1; // divides the coordinate and the bounds; 0: they are 0
};

} // namespace tilec::lowering

#endif // TILEC_PASSES_LLVM_ADDRESSES_H
