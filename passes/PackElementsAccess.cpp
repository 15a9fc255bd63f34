//===- PackElementsAccess.cpp - accesses of packed elements as of bytes --===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Analysis.h"
#include "passes/PackElements.h"

using namespace mlir;
using namespace tilec;
using tile::GlobalType;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Bytes of the elements of a tile of this shape.
FailureOr<Value> Packer::loadBytes(Operation *op, const Packed &source, ArrayRef<int64_t> shape,
                                   tile::CacheHint cache) {
  if (!source.column && shape.back() % 2 != 0) {
    return refuse(op, "a tile of packed elements that ends inside a byte");
  }
  auto type = RankedTensorType::get(
      source.column ? SmallVector<int64_t>(shape) : shapeOfBytes(shape), b.getI8Type());
  auto load = tgpu::LoadOp::create(b, loc, type, source.bytes, IntegerAttr(), cache);
  load->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Value bytes = load.getResult();
  return source.column ? bytes : clearTail(bytes, source.end);
}

LogicalResult Packer::convertLoad(tgpu::LoadOp op) {
  const Packed source = lookup(op.getSource());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  FailureOr<Value> bytes = loadBytes(op, source, type.getShape(), op.getCache());
  if (failed(bytes)) {
    return failure();
  }
  Value elements = source.column ? elementIn(*bytes, source.column, type) : unpacked(*bytes, type);
  if (source.column && source.end) {
    Value column =
        tile::SplatOp::create(b, loc, type.clone(source.column.getType()), source.column);
    elements = beforeEnd(elements, column, source.end);
  }
  replace(op, elements);
  return success();
}

LogicalResult Packer::refuseWrite(Operation *op, const Packed &dest) {
  if (dest.column) {
    return refuse(op, "writing a single column of packed elements",
                  "two columns share their bytes: write pairs of them, from an even one on");
  }
  if (dest.end) {
    return refuse(op, "writing to a view of packed elements that may end inside a byte",
                  "give the view an even end");
  }
  return success();
}

LogicalResult Packer::convertStore(tgpu::StoreOp op) {
  const Packed dest = lookup(op.getDest());
  auto type = cast<RankedTensorType>(op.getValue().getType());
  if (failed(refuseWrite(op, dest))) {
    return failure();
  }
  if (type.getShape().back() % 2 != 0) {
    return refuse(op, "a tile of packed elements that ends inside a byte");
  }
  auto store =
      tgpu::StoreOp::create(b, loc, packed(op.getValue()), dest.bytes, op.getPathAttr(),
                            op.getBytesAttr(), op.getNoTma(), op.getCache(), op.getRequireAttr());
  store->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  dead.push_back(op);
  return success();
}

LogicalResult Packer::convertCopy(tgpu::CopyOp op) {
  const bool loads = isa<GlobalType>(op.getSource().getType());
  const Packed global = lookup(loads ? op.getSource() : op.getDest());
  const Packed shared = lookup(loads ? op.getDest() : op.getSource());
  dead.push_back(op);
  if (!global.column && !global.end) {
    auto copy = tgpu::CopyOp::create(
        b, loc, loads ? global.bytes : shared.bytes, loads ? shared.bytes : global.bytes,
        op.getPathAttr(), op.getBytesAttr(), op.getNoTma(), op.getCache(), op.getRequireAttr());
    copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return success();
  }
  if (!loads) {
    return refuseWrite(op, global);
  }
  constexpr StringRef reason = "a row of packed elements may end inside a byte";
  for (StringRef wanted : {"tma", "cp_async"}) {
    if (failed(checkRequired(op, wanted, reason))) {
      return failure();
    }
  }
  op.emitRemark("copy goes through registers: ") << reason;
  ArrayRef<int64_t> shape = cast<tgpu::SmemType>(op.getDest().getType()).getShape();
  FailureOr<Value> bytes = loadBytes(op, global, shape, op.getCache());
  if (failed(bytes)) {
    return failure();
  }
  if (global.column) {
    auto type =
        RankedTensorType::get(shape, cast<tgpu::SmemType>(op.getDest().getType()).getElementType());
    Value elements = elementIn(*bytes, global.column, type);
    Value column =
        tile::SplatOp::create(b, loc, type.clone(global.column.getType()), global.column);
    bytes = packed(beforeEnd(elements, column, global.end));
  }
  tgpu::LocalStoreOp::create(b, loc, *bytes, shared.bytes);
  return success();
}

LogicalResult Packer::convertLocalLoad(tgpu::LocalLoadOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto bytes = RankedTensorType::get(shapeOfBytes(type.getShape()), b.getI8Type());
  Value loaded = tgpu::LocalLoadOp::create(b, loc, bytes, lookup(op.getSource()).bytes);
  replace(op, unpacked(loaded, type));
  return success();
}

LogicalResult Packer::convertLocalStore(tgpu::LocalStoreOp op) {
  tgpu::LocalStoreOp::create(b, loc, packed(op.getValue()), lookup(op.getDest()).bytes);
  dead.push_back(op);
  return success();
}

LogicalResult Packer::convertGather(tgpu::GatherOp op) {
  const Packed source = lookup(op.getSource());
  SmallVector<Value> indices(op.getIndices());
  Value element = source.column;
  if (!element) {
    element = indices.back();
    indices.back() = half(element);
  }
  auto tensor = dyn_cast<RankedTensorType>(op.getResult().getType());
  Type bytes = tensor ? Type(tensor.clone(b.getI8Type())) : b.getI8Type();
  auto gather = tgpu::GatherOp::create(b, loc, bytes, source.bytes, indices, op.getMask());
  tile::copyCacheHint(op, gather);
  Value gathered = gather.getResult();
  if (tensor && !isa<RankedTensorType>(element.getType())) {
    element = tile::SplatOp::create(b, loc, tensor.clone(element.getType()), element);
  }
  replace(op,
          beforeEnd(elementIn(gathered, element, op.getResult().getType()), element, source.end));
  return success();
}

//===----------------------------------------------------------------------===//
// Elements of single threads
//===----------------------------------------------------------------------===//

template <typename Op>
LogicalResult Packer::convertElementLoad(Op op) {
  const Packed source = lookup(op.getSource());
  SmallVector<Value> indices(op.getIndices());
  Type type = op.getResult().getType();
  auto vector = dyn_cast<VectorType>(type);
  Value element = source.column;
  if (vector && (element || source.end || vector.getNumElements() % 2 != 0)) {
    return refuse(op, "neighbours that are no pairs of packed elements");
  }
  if (!element) {
    element = indices.back();
    indices.back() = half(element);
  }
  Type bytes =
      vector ? Type(VectorType::get({vector.getNumElements() / 2}, b.getI8Type())) : b.getI8Type();
  auto load = Op::create(b, loc, bytes, source.bytes, indices);
  load->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  replace(op, vector ? unpacked(load.getResult(), type)
                     : beforeEnd(elementIn(load.getResult(), element, type), element, source.end));
  return success();
}

template <typename Op>
LogicalResult Packer::convertElementStore(Op op) {
  const Packed dest = lookup(op.getDest());
  auto vector = dyn_cast<VectorType>(op.getValue().getType());
  if (failed(refuseWrite(op, dest))) {
    return failure();
  }
  if (!vector || vector.getNumElements() % 2 != 0) {
    return refuse(op, "writing part of a byte of packed elements");
  }
  SmallVector<Value> indices(op.getIndices());
  indices.back() = half(indices.back());
  auto store = Op::create(b, loc, packed(op.getValue()), dest.bytes, indices);
  store->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  dead.push_back(op);
  return success();
}

template LogicalResult Packer::convertElementLoad(tile::LoadOp);
template LogicalResult Packer::convertElementLoad(tgpu::LoadElementOp);
template LogicalResult Packer::convertElementStore(tile::StoreOp);
template LogicalResult Packer::convertElementStore(tgpu::StoreElementOp);
