//===- ViewBounds.cpp - bounds that views have inside their tensors -------===//
//
// A slice of a slice of a tensor: each slice but the last is a view with bounds, of which those that
// are the tensor's own are left out. Indices along a dimension only move by offsets from view to
// view, so each bound is one of the last slice's index, less the offsets behind that view.
//
//===----------------------------------------------------------------------===//
#include "passes/ViewBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilec;

/// The extent of dimension `axis` of a view that is known at run time; null where it is not at hand.
static Value dynamicExtent(Value global, unsigned axis) {
  if (auto view = global.getDefiningOp<tgpu::ViewOp>()) {
    return view.getExtents()[axis];
  }
  auto slice = global.getDefiningOp<tile::SliceOp>();
  if (!slice) {
    return {};
  }
  unsigned dim = 0;
  for (unsigned left = axis;; ++dim) {
    if (!slice.isDropped(dim) && left-- == 0) {
      return slice.getDynamicSize(dim);
    }
  }
}

bool tilec::coversSource(tile::SliceOp slice, unsigned axis) {
  if (takesWhole(slice, axis)) {
    return true;
  }
  Value size = slice.isGather(axis) ? Value() : slice.getDynamicSize(axis);
  return size && matchPattern(slice.getOffsets()[axis], m_Zero()) &&
         size == dynamicExtent(slice.getSource(), axis);
}

SmallVector<OwnBound> tilec::ownBounds(Value value) {
  SmallVector<tile::SliceOp> slices;
  for (auto slice = value.getDefiningOp<tile::SliceOp>(); slice;
       slice = slice.getSource().getDefiningOp<tile::SliceOp>()) {
    slices.push_back(slice);
  }
  SmallVector<OwnBound> bounds;
  if (slices.empty()) {
    return bounds;
  }
  const int64_t rank = cast<tile::GlobalType>(slices.back().getSource().getType()).getRank();
  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (tile::SliceOp slice : llvm::reverse(slices)) {
    for (auto [axis, dim] : llvm::enumerate(kept)) {
      Value offset = slice.getOffsets()[axis];
      for (OwnBound &bound : bounds) {
        if (bound.dim == dim && !matchPattern(offset, m_Zero())) {
          bound.begin.push_back(offset);
        }
      }
    }
    SmallVector<int64_t> next;
    for (auto [axis, dim] : llvm::enumerate(kept)) {
      if (slice.isDropped(axis)) {
        continue;
      }
      next.push_back(dim);
      if (slice != slices.front() && !coversSource(slice, axis)) {
        Value size = slice.getDynamicSize(axis);
        const int64_t constant = slice.getStaticSizes()[axis];
        bounds.push_back(
            {dim,
             {},
             size ? OpFoldResult(size) : Builder(slice.getContext()).getI64IntegerAttr(constant)});
      }
    }
    kept = next;
  }
  return bounds;
}

namespace {

/// Writes the arithmetic in 64 bits, where sums of indices do not wrap.
class BoxBuilder {
public:
  BoxBuilder(OpBuilder &b, Location loc, llvm::function_ref<Value(Value)> current)
      : b(b), loc(loc), current(current) {}

  Value number(int64_t value, unsigned width = 64) {
    return arith::ConstantIntOp::create(b, loc, value, width);
  }
  Value wide(Value value) {
    value = current(value);
    Type type = b.getI64Type();
    return value.getType().isIndex() ? b.createOrFold<arith::IndexCastOp>(loc, type, value)
           : value.getType() == type ? value
                                     : b.createOrFold<arith::ExtSIOp>(loc, type, value);
  }
  Value sizeOf(const OwnBound &bound) {
    if (auto value = dyn_cast<Value>(bound.size)) {
      return wide(value);
    }
    return number(cast<IntegerAttr>(cast<Attribute>(bound.size)).getInt());
  }
  Value beginOf(const OwnBound &bound) {
    Value sum;
    for (Value part : bound.begin) {
      sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, wide(part)) : wide(part);
    }
    return sum ? sum : number(0);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  }
  /// At least `low` and at most `high`, in 32 bits.
  Value clamped(Value value, int64_t low, int64_t high) {
    value = b.createOrFold<arith::MaxSIOp>(loc, value, number(low));
    value = b.createOrFold<arith::MinSIOp>(loc, value, number(high));
    return b.createOrFold<arith::TruncIOp>(loc, b.getI32Type(), value);
  }

  OpBuilder &b;
  Location loc;
  llvm::function_ref<Value(Value)> current;
};

} // namespace

InnerBox tilec::emitInnerBox(OpBuilder &builder, Location loc, const GlobalSlice &tile,
                             ArrayRef<OwnBound> bounds, llvm::function_ref<Value(Value)> current) {
  using enum arith::CmpIPredicate;
  BoxBuilder b(builder, loc, current);
  SmallVector<Value> low(tile.sizes.size()), high(tile.sizes.size());
  Value isPart, isInside; // of dimensions that are a single index: whether that is inside
  auto note = [&](Value condition) {
    isPart = isPart ? builder.createOrFold<arith::OrIOp>(loc, isPart, condition) : condition;
  };
  for (const OwnBound &bound : bounds) {
    Value begin = b.beginOf(bound), size = b.sizeOf(bound);
    if (!llvm::is_contained(tile.kept, bound.dim)) {
      for (Value holds : {b.compare(sge, begin, b.number(0)), b.compare(slt, begin, size)}) {
        isInside = isInside ? builder.createOrFold<arith::AndIOp>(loc, isInside, holds) : holds;
      }
      continue;
    }
    Value &first = low[bound.dim], &end = high[bound.dim];
    Value from = builder.createOrFold<arith::SubIOp>(loc, b.number(0), begin);
    Value to = builder.createOrFold<arith::SubIOp>(loc, size, begin);
    first = first ? builder.createOrFold<arith::MaxSIOp>(loc, first, from) : from;
    end = end ? builder.createOrFold<arith::MinSIOp>(loc, end, to) : to;
  }
  InnerBox box;
  for (int64_t dim : tile.kept) {
    const int64_t size = tile.sizes[dim];
    const bool isBounded = bool(low[dim]);
    box.low.push_back(isBounded ? b.clamped(low[dim], 0, size) : b.number(0, 32));
    box.high.push_back(isBounded ? b.clamped(high[dim], 0, size) : b.number(size, 32));
    if (isBounded) {
      note(b.compare(sgt, low[dim], b.number(0)));
      note(b.compare(slt, high[dim], b.number(size)));
    }
  }
  if (isInside) {
    box.high[0] =
        builder.createOrFold<arith::SelectOp>(loc, isInside, box.high[0], b.number(0, 32));
    note(builder.createOrFold<arith::XOrIOp>(loc, isInside, b.number(1, 1)));
  }
  box.isPart = isPart ? isPart : b.number(0, 1);
  return box;
}
