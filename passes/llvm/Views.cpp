//===- Views.cpp - bounded views of global memory ------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

LogicalResult KernelLowering::lowerView(tgpu::ViewOp op) {
  auto base = views.find(op.getBase());
  const unsigned rank = op.getResult().getType().getRank();
  if (base == views.end() || op.getExtents().size() != rank ||
      op.getStrides().size() + 1 != std::max(rank, 1u)) {
    return unsupported(op, "a view that is not one of a kernel argument");
  }
  if (memoryBytes(op.getResult().getType().getElementType()) == 0) {
    return unsupported(op, "elements of less than a byte");
  }
  View view = base->second;
  view.element = op.getResult().getType().getElementType();
  for (unsigned d = 0; d < rank; ++d) {
    ViewDim dim;
    dim.tileDim = d;
    dim.size = op.getResult().getType().getShape()[d];
    dim.extent = dim.upper = scalars[op.getExtents()[d]][0];
    dim.offset = constant(0, dim.upper.getType());
    if (d + 1 < rank) {
      dim.stride = scalars[op.getStrides()[d]][0];
    }
    view.dims.push_back(dim);
  }
  views[op.getResult()] = view;
  return success();
}

/// Whether an integer is a constant that is not negative.
static bool isNonNegative(Value value) {
  APInt known;
  return matchPattern(value, m_ConstantInt(&known)) && !known.isNegative();
}

LogicalResult KernelLowering::lowerSlice(tile::SliceOp op) {
  auto source = views.find(op.getSource());
  if (source == views.end()) {
    return unsupported(op, "a slice that is not one of global memory");
  }
  View view = source->second;
  int nextTileDim = 0;
  for (unsigned axis = 0; axis < op.getStaticSizes().size(); ++axis) {
    if (op.isGather(axis)) {
      return unsupported(op, "a gather");
    }
    ViewDim &dim = view.dims[source->second.axisOf(axis)];
    Value index = scalars[op.getOffsets()[axis]][0];
    Type type = index.getType().isInteger(32) || isNonNegative(index) ? dim.offset.getType()
                                                                      : Type(b.getI64Type());
    auto widen = [&](Value value) { return value ? toInteger(value, type) : value; };
    // Indices of this slice are not negative, so that only a negative offset can leave the source
    // on its lower side. At the first slice of a tensor the unsigned comparison sees that.
    const bool whole = dim.whole;
    dim.whole = false;
    Value lower = widen(dim.lower), offset = widen(dim.offset);
    if (!whole && !isNonNegative(index)) {
      lower = lower ? b.createOrFold<arith::MaxSIOp>(loc, lower, offset) : offset;
    }
    // What the source's own size excludes is only excluded by the tensor's bound when the source is
    // the tensor.
    Value upper = widen(dim.upper);
    if (!whole && dim.size != ShapedType::kDynamic) {
      Value end = b.createOrFold<arith::MaxSIOp>(loc, add(offset, dim.size), constant(0, type));
      upper = b.createOrFold<arith::MinSIOp>(loc, upper, end);
    }
    dim.offset = add(offset, widen(index));
    dim.lower = lower;
    dim.upper = upper;
    dim.extent = Value();
    dim.size = op.getStaticSizes()[axis];
    if (op.isDropped(axis)) {
      dim.tileDim = -1;
      dim.size = 1;
      continue;
    }
    dim.tileDim = nextTileDim++;
    if (Value size = op.getDynamicSize(axis)) {
      dim.extent = toInteger(scalars[size][0], type);
      Value end = add(dim.offset, dim.extent);
      end = b.createOrFold<arith::MaxSIOp>(loc, end, constant(0, type));
      dim.upper = b.createOrFold<arith::MinSIOp>(loc, dim.upper, end);
    }
  }
  views[op.getResult()] = view;
  return success();
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

Value KernelLowering::elementPointer(const View &view, ValueRange indices, Value &inRange) {
  Value offset; // elements, i64
  inRange = Value();
  for (const ViewDim &dim : view.dims) {
    Value coordinate = dim.offset;
    if (dim.tileDim >= 0) {
      Value index = indices[dim.tileDim];
      Type type = index.getType().isInteger(32) ? coordinate.getType() : Type(b.getI64Type());
      coordinate = add(toInteger(coordinate, type), toInteger(index, type));
    }
    Value upper = toInteger(dim.upper, coordinate.getType());
    inRange = both(inRange, compare(arith::CmpIPredicate::ult, coordinate, upper));
    if (dim.lower) {
      Value lower = toInteger(dim.lower, coordinate.getType());
      inRange = both(inRange, compare(arith::CmpIPredicate::sge, coordinate, lower));
    }
    Value part = toInteger(coordinate, b.getI64Type());
    if (dim.stride) {
      part = b.createOrFold<arith::MulIOp>(loc, part, toInteger(dim.stride, b.getI64Type()));
    }
    offset = add(offset, part);
  }
  if (!offset) {
    return view.base;
  }
  return LLVM::GEPOp::create(b, loc, view.base.getType(), memoryType(view.element), view.base,
                             ValueRange{offset});
}

LogicalResult KernelLowering::lowerElementLoad(tile::LoadOp op) {
  auto source = views.find(op.getSource());
  if (source == views.end() || isa<VectorType>(op.getResult().getType())) {
    return unsupported(op, "a load of such an element");
  }
  FailureOr<Fragment> indices = flatten(op, op.getIndices());
  if (failed(indices)) {
    return failure();
  }
  Value inRange;
  Value pointer = elementPointer(source->second, *indices, inRange);
  Type type = slotType(op.getResult().getType());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto branch = scf::IfOp::create(b, loc, TypeRange{type}, inRange, true, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  const int64_t bytes = memoryBytes(op.getResult().getType());
  scf::YieldOp::create(b, loc, loadElements(pointer, op.getResult().getType(), 1, bytes));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, zero);
  scalars[op.getResult()] = {branch.getResult(0)};
  return success();
}

LogicalResult KernelLowering::lowerElementStore(tile::StoreOp op) {
  auto dest = views.find(op.getDest());
  if (dest == views.end() || isa<VectorType>(op.getValue().getType())) {
    return unsupported(op, "a store of such an element");
  }
  FailureOr<Fragment> indices = flatten(op, op.getIndices());
  if (failed(indices)) {
    return failure();
  }
  Value inRange;
  Value pointer = elementPointer(dest->second, *indices, inRange);
  // All threads run the statement; the first one of its warps writes.
  Value first = compare(arith::CmpIPredicate::eq, threadId, i32(warps.first * 32));
  guarded(both(first, inRange), [&] {
    storeElements(pointer, op.getValue().getType(), scalars[op.getValue()],
                  memoryBytes(op.getValue().getType()));
  });
  return success();
}

} // namespace tilec::lowering
