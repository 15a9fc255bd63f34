//===- Views.cpp - bounded views of global memory ------------------------===//
#include "passes/Analysis.h"
#include "passes/llvm/KernelLowering.h"

#include <numeric>

using namespace mlir;

namespace tilec::lowering {

LogicalResult KernelLowering::lowerView(tgpu::ViewOp op) {
  auto base = views.find(op.getBase());
  const unsigned rank = op.getResult().getType().getRank();
  if (base == views.end() || op.getExtents().size() != rank ||
      op.getStrides().size() + 1 != std::max(rank, 1u)) {
    return unsupported(op, "a view that is not one of a kernel argument");
  }
  View view = base->second;
  view.element = op.getResult().getType().getElementType();
  for (unsigned d = 0; d < rank; ++d) {
    ViewDim dim;
    dim.tileDim = d;
    dim.size = op.getResult().getType().getShape()[d];
    dim.extent = dim.upper = scalars[op.getExtents()[d]][0];
    dim.offset = constant(0, dim.upper.getType());
    dim.step = integers.divisor(op.getExtents()[d]);
    if (d + 1 < rank) {
      dim.stride = scalars[op.getStrides()[d]][0];
    }
    view.dims.push_back(dim);
  }
  views[op.getResult()] = view;
  return success();
}

LogicalResult KernelLowering::lowerSlice(tile::SliceOp op) {
  auto source = views.find(op.getSource());
  if (source == views.end()) {
    return unsupported(op, "a slice that is not one of global memory");
  }
  View view = source->second;
  int nextTileDim = 0;
  for (unsigned axis = 0; axis < op.getStaticSizes().size(); ++axis) {
    ViewDim &dim = view.dims[source->second.axisOf(axis)];
    if (dim.gathered) {
      if (!takesWhole(op, axis)) {
        return unsupported(op, "part of a gathered dimension");
      }
      dim.tileDim = nextTileDim++;
      continue;
    }
    if (op.isGather(axis)) {
      FailureOr<GatheredIndices> gathered = gatherDim(op, dim, op.getOffsets()[axis]);
      if (failed(gathered)) {
        return failure();
      }
      dim.gathered = *gathered;
      dim.size = op.getStaticSizes()[axis];
      dim.tileDim = nextTileDim++;
      continue;
    }
    sliceDim(dim, op.getOffsets()[axis]);
    dim.extent = Value();
    dim.size = op.getStaticSizes()[axis];
    if (op.isDropped(axis)) {
      dim.tileDim = -1;
      dim.size = 1;
      continue;
    }
    dim.tileDim = nextTileDim++;
    if (Value size = op.getDynamicSize(axis)) {
      IntegerRange range = integers.range(size);
      bool saturates = false;
      dim.extent = scalars[size][0];
      Value end = coordinateOf(dim, dim.extent, range, saturates);
      end = b.createOrFold<arith::MaxSIOp>(loc, end, constant(0, end.getType()));
      dim.upper = b.createOrFold<arith::MinSIOp>(loc, dim.upper, end);
      dim.step = std::gcd(dim.step, integers.divisor(size));
    }
  }
  views[op.getResult()] = view;
  return success();
}

FailureOr<GatheredIndices> KernelLowering::gatherDim(Operation *op, const ViewDim &dim,
                                                     Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  const layout::RegisterLayout *registers = tgpu::getLayout(type);
  if (!registers || !registers->isSeparable() || registers->partial()) {
    return unsupported(op, "indices in such a layout");
  }
  const unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  const IntegerRange any = {APInt::getSignedMinValue(bits).getSExtValue(),
                            APInt::getSignedMaxValue(bits).getSExtValue()};
  return GatheredIndices{*registers, scalars[tile], any, dim.size};
}

Value KernelLowering::gatheredCoordinate(const ViewDim &dim, int64_t slot, Value &inRange) {
  ViewDim source = dim;
  source.size = dim.gathered->sourceSize;
  const Value index = dim.gathered->indices[slot];
  IntegerRange reach = dim.gathered->range;
  bool saturates = false;
  Value coordinate = coordinateOf(source, index, reach, saturates);
  inRange = indexInRange(source, {index, dim.gathered->range}, coordinate);
  return coordinate;
}

LogicalResult KernelLowering::checkGathered(Operation *op, const View &view,
                                            const layout::RegisterLayout &registers) {
  for (const ViewDim &dim : view.dims) {
    if (dim.gathered && dim.gathered->layout != registers.along(dim.tileDim)) {
      return unsupported(op, "indices in another layout than the tile that they gather");
    }
  }
  return success();
}

/// Bounds and offset of a part of `dim` that begins at `index` (a value of the old code).
void KernelLowering::sliceDim(ViewDim &dim, Value index) {
  Type type = dim.offset.getType();
  const bool whole = dim.whole, mayBeNegative = !integers.isNonNegative(index);
  dim.whole = false;
  // Indices of this slice are not negative, so that only a negative offset can leave the source
  // on its lower side. At the first slice of a tensor the unsigned comparison sees that.
  if (!whole && mayBeNegative) {
    dim.lower = dim.lower ? b.createOrFold<arith::MaxSIOp>(loc, dim.lower, dim.offset) : dim.offset;
  }
  // What the source's own size excludes is only excluded by the tensor's bound when the source is
  // the tensor.
  if (!whole && dim.size != ShapedType::kDynamic) {
    IntegerRange range = {dim.size, dim.size};
    bool saturates = false;
    Value end = coordinateOf(dim, constant(dim.size, type), range, saturates);
    end = b.createOrFold<arith::MaxSIOp>(loc, end, constant(0, type));
    dim.upper = b.createOrFold<arith::MinSIOp>(loc, dim.upper, end);
    dim.step = std::gcd(dim.step, dim.size);
  }
  const IntegerRange range = integers.range(index);
  IntegerRange reach = range;
  bool saturates = false;
  dim.offset = coordinateOf(dim, scalars[index][0], reach, saturates);
  dim.reach = reach;
  dim.saturated = saturates;
  dim.begins.push_back({scalars[index][0], range});
  dim.step = std::gcd(dim.step, integers.divisor(index));
}

LogicalResult KernelLowering::lowerExtent(tile::ExtentOp op) {
  auto source = views.find(op.getSource());
  if (source == views.end()) {
    return unsupported(op, "the extent of something that is no view");
  }
  const ViewDim &dim = source->second.dims[source->second.axisOf(op.getAxis())];
  Value extent = dim.size == ShapedType::kDynamic ? dim.extent : i64(dim.size);
  scalars[op.getResult()] = {toInteger(extent, op.getResult().getType())};
  return success();
}

} // namespace tilec::lowering
