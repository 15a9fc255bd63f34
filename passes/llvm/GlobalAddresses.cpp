//===- GlobalAddresses.cpp - addresses and conditions in global memory ---===//
#include "passes/llvm/Addresses.h"

using namespace mlir;

namespace tilec::lowering {

bool standsBesideLoops(Operation *op) {
  auto around = op->getParentOfType<LoopLikeOpInterface>();
  auto isAnother = [&](LoopLikeOpInterface loop) {
    return loop == around ? WalkResult::advance() : WalkResult::interrupt();
  };
  return around && around->walk(isAnother).wasInterrupted();
}

/// Without sign the product with a stride of 64 bits takes a multiplication less, and a register. One of
/// 32 bits, an extent, is multiplied with sign by one instruction.
Value offsetAlong(KernelLowering &lowering, const ViewDim &dim, Value coordinate,
                  bool neverNegative) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  Type i64 = b.getI64Type();
  if (!dim.stride) {
    return lowering.toInteger(coordinate, i64);
  }
  const bool widens = neverNegative && dim.stride.getType() == i64 && coordinate.getType() != i64;
  Value wide = widens ? b.createOrFold<arith::ExtUIOp>(loc, i64, coordinate)
                      : lowering.toInteger(coordinate, i64);
  return b.createOrFold<arith::MulIOp>(loc, wide, lowering.toInteger(dim.stride, i64));
}

Value globalPointer(KernelLowering &lowering, const View &view, ArrayRef<Value> coordinates,
                    ArrayRef<bool> neverNegative) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  Value offset;
  for (auto [dim, coordinate, positive] : llvm::zip_equal(view.dims, coordinates, neverNegative)) {
    offset = lowering.add(offset, offsetAlong(lowering, dim, coordinate, positive));
  }
  return offset ? Value(LLVM::GEPOp::create(b, loc, view.base.getType(), memoryType(view.element),
                                            view.base, ValueRange{offset}))
                : view.base;
}

GlobalAddresses::GlobalAddresses(KernelLowering &lowering, const View &view,
                                 const layout::RegisterLayout &registers, ArrayRef<bool> inBounds)
    : lowering(lowering), view(view), registers(registers) {
  for (auto [axis, dim] : llvm::enumerate(view.dims)) {
    Value coordinate = dim.offset, threadPart;
    const bool isTileDim = dim.tileDim >= 0;
    if (isTileDim) {
      threadPart = lowering.threadCoordinate(registers, dim.tileDim);
    }
    if (dim.gathered) { // each slot has a coordinate of its own
      const layout::RegisterLayout &indices = dim.gathered->layout;
      for (int64_t slot = 0; slot < indices.registersPerThread(); ++slot) {
        gatheredSlots[{axis, indices.registerOffset(slot)[0]}] = slot;
      }
      coordinate = lowering.constant(0, coordinate.getType());
    } else if (isTileDim) {
      coordinate = lowering.add(coordinate, lowering.toInteger(threadPart, coordinate.getType()));
    }
    coordinates.push_back(coordinate);
    threadParts.push_back(threadPart);
    checked.push_back(!isTileDim || size_t(dim.tileDim) >= inBounds.size() ||
                      !inBounds[dim.tileDim]);
  }
  // Slots count from the thread's first one, which may lie below the tensor: unless no slot does, or
  // all have the coordinate.
  SmallVector<bool, 4> neverNegative;
  for (auto [dim, isChecked] : llvm::zip_equal(view.dims, checked)) {
    neverNegative.push_back(dim.tileDim < 0 || !isChecked);
  }
  base = globalPointer(lowering, view, coordinates, neverNegative);
}

bool GlobalAddresses::lastIsContiguous() const {
  return !view.dims.empty() && registers.rank() > 0 &&
         view.dims.back().tileDim == int(registers.rank()) - 1 && !view.dims.back().gathered;
}

std::pair<Value, Value> GlobalAddresses::gathered(unsigned axis, int64_t offset) {
  auto &place = gatheredPlaces[{axis, offset}];
  if (!place.first) {
    place.first =
        lowering.gatheredCoordinate(view.dims[axis], gatheredSlots[{axis, offset}], place.second);
  }
  return place;
}

Value GlobalAddresses::stepAlong(unsigned axis, int64_t offset) {
  OpBuilder &b = lowering.builder();
  const ViewDim &dim = view.dims[axis];
  if (dim.gathered) {
    return offsetAlong(lowering, dim, gathered(axis, offset).first, /*neverNegative=*/true);
  }
  if (offset == 0) {
    return {};
  }
  Value stride = dim.stride ? lowering.toInteger(dim.stride, b.getI64Type()) : Value();
  return stride ? lowering.mul(stride, offset) : lowering.i64(offset);
}

Value GlobalAddresses::pointer(int64_t reg) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  layout::Coords slot = registers.registerOffset(reg);
  layout::Coords key = slot;
  int64_t immediate = 0;
  if (lastIsContiguous()) {
    immediate = slot.back();
    key.back() = 0;
  }
  Value &row = rows[key];
  if (!row) {
    Value offset;
    for (auto [axis, dim] : llvm::enumerate(view.dims)) {
      Value step = dim.tileDim < 0 ? Value() : stepAlong(axis, key[dim.tileDim]);
      offset = step ? lowering.add(offset, step) : offset;
    }
    row = offset ? Value(LLVM::GEPOp::create(b, loc, base.getType(), memoryType(view.element), base,
                                             ValueRange{offset}))
                 : base;
  }
  if (immediate == 0) {
    return row;
  }
  return LLVM::GEPOp::create(b, loc, row.getType(), memoryType(view.element), row,
                             ArrayRef<LLVM::GEPArg>{int32_t(immediate)});
}

Value GlobalAddresses::dimInRange(unsigned axis, int64_t offset, int64_t count) {
  const ViewDim &dim = view.dims[axis];
  if (dim.gathered) {
    return gathered(axis, offset).second;
  }
  Value &condition = conditions[{axis, offset, count}];
  if (condition) {
    return condition;
  }
  if (checked[axis]) {
    Value first = lowering.add(coordinates[axis], offset);
    Value last = lowering.add(coordinates[axis], offset + count - 1);
    condition = lowering.compare(arith::CmpIPredicate::ult, last, dim.upper);
    // A negative first with a last that is not: the vector straddles the lower bound.
    if (dim.lower || (count > 1 && mayStraddle(count))) {
      Value lower = dim.lower ? dim.lower : lowering.constant(0, first.getType());
      condition =
          lowering.both(condition, lowering.compare(arith::CmpIPredicate::sge, first, lower));
    }
  }
  return condition;
}

Value GlobalAddresses::inRange(int64_t reg, int64_t count) {
  layout::Coords slot = registers.registerOffset(reg);
  Value all;
  for (unsigned axis = 0; axis < view.dims.size(); ++axis) {
    const int tileDim = view.dims[axis].tileDim;
    const bool isLast = tileDim >= 0 && tileDim + 1 == int(registers.rank());
    all = lowering.both(all, dimInRange(axis, tileDim < 0 ? 0 : slot[tileDim], isLast ? count : 1));
  }
  return all;
}

Value GlobalAddresses::inTile(int64_t reg, int64_t count) {
  layout::Coords slot = registers.registerOffset(reg);
  Value all;
  for (unsigned axis = 0; axis < view.dims.size(); ++axis) {
    const int d = view.dims[axis].tileDim;
    if (d < 0 || registers.span()[d] <= registers.shape()[d]) {
      continue;
    }
    const bool isLast = d + 1 == int(registers.rank());
    Value last = lowering.add(threadParts[axis], slot[d] + (isLast ? count - 1 : 0));
    all = lowering.both(
        all, lowering.compare(arith::CmpIPredicate::ult, last, lowering.i32(registers.shape()[d])));
  }
  return all;
}

Value GlobalAddresses::bytesInRange(int64_t reg, int64_t count) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  const int64_t bytes = memoryBytes(view.element);
  Value size = lowering.i32(count * bytes);
  const bool partly = mayStraddle(count);
  if (partly) {
    const ViewDim &dim = view.dims.back();
    Value first = lowering.add(coordinates.back(), registers.registerOffset(reg).back());
    Value left = b.createOrFold<arith::SubIOp>(loc, dim.upper, first);
    Type type = left.getType();
    left = b.createOrFold<arith::MinSIOp>(loc, left, lowering.constant(count, type));
    size = lowering.toInteger(lowering.mul(left, bytes), b.getI32Type());
  }
  if (Value condition = inRange(reg, partly ? 1 : count)) {
    size = b.createOrFold<arith::SelectOp>(loc, condition, size, lowering.i32(0));
  }
  return size;
}

bool GlobalAddresses::mayStraddle(int64_t count) {
  if (count == 1 || view.dims.empty() || !checked.back()) {
    return false;
  }
  const ViewDim &dim = view.dims.back();
  return registers.shape().back() % count != 0 || dim.step % count != 0;
}

} // namespace tilec::lowering
