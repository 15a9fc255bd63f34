//===- TgpuElementOps.cpp - elements at computed indices, and atomics -----===//
#include "dialects/tgpu/Tgpu.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec::tgpu;
using tilec::tile::GlobalType;

//===----------------------------------------------------------------------===//
// Elements at computed indices
//===----------------------------------------------------------------------===//

/// Indices, mask and value: scalars, or tiles of one shape and, once they have layouts, of one.
static LogicalResult verifyElements(Operation *op, Type place, Type element, ValueRange indices,
                                    Value mask) {
  ArrayRef<int64_t> shape;
  Type held;
  llvm::TypeSwitch<Type>(place).Case<GlobalType, tilec::tile::BufferType, SmemType>([&](auto type) {
    shape = type.getShape();
    held = type.getElementType();
  });
  auto buffer = dyn_cast<tilec::tile::BufferType>(place);
  if (buffer && buffer.getScope() != tilec::tile::Scope::Shared) {
    return op->emitOpError("accesses views and shared buffers");
  }
  if (indices.size() != shape.size() || getElementTypeOrSelf(element) != held) {
    return op->emitOpError("takes one index for each dimension, and elements of the type there");
  }
  auto tile = dyn_cast<RankedTensorType>(element);
  SmallVector<Value> others(indices);
  if (mask) {
    others.push_back(mask);
  }
  for (Value other : others) {
    auto type = dyn_cast<RankedTensorType>(other.getType());
    if (type &&
        (!tile || type.getShape() != tile.getShape() || type.getEncoding() != tile.getEncoding())) {
      return op->emitOpError("takes scalars, and tiles of the shape and layout of its elements");
    }
  }
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyElements(*this, getSource().getType(), getResult().getType(), getIndices(),
                        getMask());
}

LogicalResult ScatterOp::verify() {
  return verifyElements(*this, getDest().getType(), getValue().getType(), getIndices(), getMask());
}

LogicalResult LookupOp::verify() {
  ShapedType table = getTable().getShapedType();
  if (table.getRank() != 1 || table.getNumElements() == 0) {
    return emitOpError("reads an array of rank 1 that has elements");
  }
  return table.getElementType() == getElementTypeOrSelf(getResult().getType())
             ? success()
             : emitOpError("gives elements of the array's type");
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

LogicalResult AtomicOp::verify() {
  Type type = getValue().getType();
  if (getExpected() &&
      (getExpected().getType() != type || getKind() != tilec::tile::AtomicKind::Exchange)) {
    return emitOpError("exchanges where the place holds a value of the type that it puts there");
  }
  if (getOld() && getResult()) {
    return emitOpError("has its old value in a buffer or as a result");
  }
  const bool isOfThreads =
      (*this)->getParentOfType<tilec::tile::ThreadsOp>() || (*this)->getParentOfType<OneThreadOp>();
  if (getResult() && (getResult().getType() != type || !isOfThreads)) {
    return emitOpError("returns the old value in code of single threads");
  }
  if (getOld()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> shape =
        tile ? SmallVector<int64_t>(tile.getShape()) : SmallVector<int64_t>{1};
    Type place = getOld().getType();
    auto held = dyn_cast<SmemType>(place);
    auto buffer = dyn_cast<tilec::tile::BufferType>(place);
    ArrayRef<int64_t> extents = held ? held.getShape() : buffer.getShape();
    if (extents != ArrayRef<int64_t>(shape) ||
        (held ? held.getElementType() : buffer.getElementType()) != getElementTypeOrSelf(type)) {
      return emitOpError("puts the old values into a buffer of their shape and type");
    }
  }
  return verifyElements(*this, getDest().getType(), type, getIndices(), getMask());
}

LogicalResult AtomicTileOp::verify() {
  if (getKind() == tilec::tile::AtomicKind::Exchange) {
    return emitOpError("exchanges single elements only");
  }
  return getValue().getType().getElementType() == getDest().getType().getElementType() &&
                 getValue().getType().getShape() == getDest().getType().getShape()
             ? success()
             : emitOpError("value and place differ in shape or element type");
}
