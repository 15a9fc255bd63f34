//===- Reshape.cpp - `reshape` of tensors makes views of their arguments -===//
#include "passes/Reshape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
  if (!isa<tile::GlobalType>(op.getResult().getType())) {
    return emitUnsupported(op, "`reshape` of a buffer");
  }
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
