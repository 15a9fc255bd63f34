//===- Reshape.cpp - `reshape` and `bitcast` of tensors make views --------===//
#include "passes/Reshape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Analysis.h"
#include "passes/FragmentSteps.h"

using namespace mlir;
using namespace tilec;

static Value widen(OpBuilder &builder, Location loc, Value value) {
  return value.getType().isInteger(64)
             ? value
             : builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), value);
}

static Value multiplyWide(OpBuilder &builder, Location loc, Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, widen(builder, loc, a), widen(builder, loc, b));
}

SmallVector<Value> tilec::extentsOf(tile::ReshapeOp op, ValueRange dynamic, OpBuilder &builder) {
  SmallVector<Value> extents;
  auto next = dynamic.begin();
  for (int64_t size : cast<tile::GlobalType>(op.getResult().getType()).getShape()) {
    if (ShapedType::isDynamic(size)) {
      extents.push_back(*next++);
      continue;
    }
    Type type = size <= INT32_MAX ? builder.getI32Type() : builder.getI64Type();
    extents.push_back(
        arith::ConstantOp::create(builder, op.getLoc(), builder.getIntegerAttr(type, size)));
  }
  return extents;
}

SmallVector<Value> tilec::rowMajorStrides(OpBuilder &builder, Location loc,
                                          ArrayRef<Value> extents) {
  SmallVector<Value> strides(extents.empty() ? 0 : extents.size() - 1);
  for (size_t axis = strides.size(); axis-- > 0;) {
    strides[axis] = axis + 1 == strides.size()
                        ? extents[axis + 1]
                        : multiplyWide(builder, loc, strides[axis + 1], extents[axis + 1]);
  }
  return strides;
}

LogicalResult tilec::convertReshape(tile::ReshapeOp op, IRMapping &mapping, OpBuilder &builder) {
  Location loc = op.getLoc();
  auto view = mapping.lookupOrDefault(op.getSource()).getDefiningOp<tgpu::ViewOp>();
  if (!view) {
    return emitUnsupported(op, "`reshape` of a part of a tensor");
  }
  SmallVector<Value> dynamic = llvm::map_to_vector(
      op.getExtents(), [&](Value extent) { return mapping.lookupOrDefault(extent); });
  SmallVector<Value> extents = extentsOf(op, dynamic, builder);
  auto count = [&](ValueRange sizes) {
    Value all = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
    for (Value size : sizes) {
      all = multiplyWide(builder, loc, all, size);
    }
    return all;
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  };
  auto zeroOf = [&](Value value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
  };
  Value fits = compare(arith::CmpIPredicate::eq, count(view.getExtents()), count(extents));
  for (Value extent : dynamic) {
    Value isSize = compare(arith::CmpIPredicate::sge, extent, zeroOf(extent));
    fits = builder.createOrFold<arith::AndIOp>(loc, fits, isSize);
  }
  Value &first = extents.front();
  first = builder.createOrFold<arith::SelectOp>(loc, fits, first, zeroOf(first));
  Value result = tgpu::ViewOp::create(
      builder, loc, cast<tile::GlobalType>(op.getResult().getType()), view.getBase(), extents,
      rowMajorStrides(builder, loc, extents), /*reshaped=*/true);
  mapping.map(op.getResult(), result);
  return success();
}

//===----------------------------------------------------------------------===//
// bitcast
//===----------------------------------------------------------------------===//

Value tilec::bitcastView(tgpu::ViewOp view, tile::GlobalType type, OpBuilder &builder,
                         ScaleElements scale) {
  Location loc = view.getLoc();
  const int64_t from = tile::getStorageBits(view.getResult().getType().getElementType());
  const int64_t to = tile::getStorageBits(type.getElementType());
  if (to > from && baseAlignment(view) * 8 % to != 0) {
    return {};
  }
  const int64_t times = std::max<int64_t>(1, from / to), by = std::max<int64_t>(1, to / from);
  SmallVector<Value> extents(view.getExtents()), strides(view.getStrides());
  const int64_t last = type.getShape().back();
  if (!ShapedType::isDynamic(last)) {
    Type integer = last <= INT32_MAX ? builder.getI32Type() : builder.getI64Type();
    extents.back() = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(integer, last));
  } else if (from != to) {
    extents.back() = scale(extents.back(), times, by);
  }
  for (Value &stride : strides) {
    stride = from == to ? stride : scale(stride, times, by);
  }
  return tgpu::ViewOp::create(builder, loc, type, view.getBase(), extents, strides,
                              /*reshaped=*/true);
}

/// In a kernel: wide enough for any product.
static Value scaleInKernel(OpBuilder &builder, Location loc, Value value, int64_t times,
                           int64_t by) {
  auto constant = [&](Type type, int64_t number) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, number));
  };
  if (by != 1) {
    return builder.createOrFold<arith::DivSIOp>(loc, value, constant(value.getType(), by));
  }
  return multiplyWide(builder, loc, value, constant(builder.getI64Type(), times));
}

/// The slice of `source`, a view of other elements, that takes the same bytes.
static Value sliceOfBitcast(OpBuilder &builder, tile::SliceOp slice, Value source, Type element,
                            int64_t times) {
  Location loc = slice.getLoc();
  const unsigned last = slice.getStaticSizes().size() - 1;
  SmallVector<Value> offsets(slice.getOffsets()), sizes(slice.getSizes());
  SmallVector<int64_t> staticSizes(slice.getStaticSizes());
  SmallVector<int64_t> shape(cast<tile::GlobalType>(slice.getResult().getType()).getShape());
  if (times != 1) {
    offsets.back() = scaleInKernel(builder, loc, offsets.back(), times, 1);
    if (slice.getDynamicSize(last)) {
      sizes.back() = scaleInKernel(builder, loc, sizes.back(), times, 1);
    } else {
      staticSizes.back() *= times;
      shape.back() *= times;
    }
  }
  auto type = tile::GlobalType::get(builder.getContext(), shape, element);
  return tile::SliceOp::create(builder, loc, type, source, offsets, sizes, staticSizes);
}

LogicalResult tilec::convertBitcast(tile::BitcastViewOp op, IRMapping &mapping,
                                    OpBuilder &builder) {
  auto isPacked = [](Value value) {
    return tile::isPacked(cast<tile::GlobalType>(value.getType()).getElementType());
  };
  if (isPacked(op.getSource()) || isPacked(op.getResult())) {
    builder.clone(*op, mapping);
    return success();
  }
  Location loc = op.getLoc();
  Value source = mapping.lookupOrDefault(op.getSource());
  auto type = cast<tile::GlobalType>(op.getResult().getType());
  const int64_t from =
      tile::getStorageBits(cast<tile::GlobalType>(source.getType()).getElementType());
  const int64_t to = tile::getStorageBits(type.getElementType());
  SmallVector<tile::SliceOp> slices;
  while (auto slice = source.getDefiningOp<tile::SliceOp>()) {
    const unsigned last = slice.getStaticSizes().size() - 1;
    if (to > from || (to < from && (slice.isDropped(last) || slice.isGather(last)))) {
      return emitUnsupported(op, "a `bitcast` of part of a tensor to elements of this size");
    }
    slices.push_back(slice);
    source = slice.getSource();
  }
  auto view = source.getDefiningOp<tgpu::ViewOp>();
  if (!view) {
    return emitUnsupported(op, "a `bitcast` of such a view");
  }
  auto scale = [&](Value value, int64_t times, int64_t by) {
    return scaleInKernel(builder, loc, value, times, by);
  };
  SmallVector<int64_t> shape(view.getResult().getType().getShape());
  if (!ShapedType::isDynamic(shape.back())) {
    shape.back() = shape.back() * from / to;
  }
  Value result = bitcastView(
      view, tile::GlobalType::get(op.getContext(), shape, type.getElementType()), builder, scale);
  if (!result) {
    return emitUnsupported(op, "a `bitcast` to elements that are larger than the tensor's `align`");
  }
  for (tile::SliceOp slice : llvm::reverse(slices)) {
    result = sliceOfBitcast(builder, slice, result, type.getElementType(), from / to);
  }
  mapping.map(op.getResult(), result);
  return success();
}
