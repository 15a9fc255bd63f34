//===- BufferViews.cpp - elements behind slices, reshapes and bitcasts ----===//
//
// Part of convert-tile-to-tgpu. A view of a shared buffer has no memory and no layout of its own: each
// of its elements is found in the buffer, by indices that are numbers of one thread or tiles of them.
// An index that the view does not have must not reach another element when it is written to.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/PromotedBuffers.h"
#include "passes/ThreadStorage.h"

using namespace mlir;

namespace tilec {

using tile::BufferType;

//===----------------------------------------------------------------------===//
// Numbers, or tiles of them
//===----------------------------------------------------------------------===//

/// The index `offset` further; tiles of indices are, too.
static Value moved(OpBuilder &builder, Location loc, Value index, Value offset) {
  if (matchPattern(offset, m_Zero())) {
    return index;
  }
  Type i64 = builder.getI64Type();
  auto widened = [&](Value value) -> Value {
    Type element = getElementTypeOrSelf(value.getType());
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    Type wide = tile ? Type(tile.clone(i64)) : i64;
    if (element.isIndex()) {
      return arith::IndexCastOp::create(builder, loc, wide, value);
    }
    return element == i64 ? value : builder.createOrFold<arith::ExtSIOp>(loc, wide, value);
  };
  if (getElementTypeOrSelf(index.getType()) != offset.getType()) {
    index = widened(index);
    offset = widened(offset);
  }
  if (isa<RankedTensorType>(index.getType())) {
    offset = tile::SplatOp::create(builder, loc, index.getType(), offset);
  }
  return builder.createOrFold<arith::AddIOp>(loc, offset, index);
}

namespace {

/// `type` with other elements.
Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

/// Arithmetic on scalars as on tiles.
class Numbers {
public:
  Numbers(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(Type type, int64_t value) {
    Value scalar =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(getElementTypeOrSelf(type), value));
    return isa<ShapedType>(type) ? Value(tile::SplatOp::create(b, loc, type, scalar)) : scalar;
  }
  template <typename Op>
  Value with(Value x, int64_t y) {
    Value other = constant(x.getType(), y);
    return Op::create(b, loc, x, other);
  }
  template <typename Op>
  Value of(Value x, Value y) {
    if (isa<RankedTensorType>(x.getType()) && !isa<RankedTensorType>(y.getType())) {
      y = tile::SplatOp::create(b, loc, x.getType(), y);
    } else if (isa<RankedTensorType>(y.getType()) && !isa<RankedTensorType>(x.getType())) {
      x = tile::SplatOp::create(b, loc, y.getType(), x);
    }
    return Op::create(b, loc, x, y);
  }
  Value narrow(Value index) {
    Type element = getElementTypeOrSelf(index.getType());
    Type type = withElement(index.getType(), b.getI32Type());
    return element.isIndex()       ? Value(arith::IndexCastOp::create(b, loc, type, index))
           : element.isInteger(64) ? Value(arith::TruncIOp::create(b, loc, type, index))
                                   : index;
  }
  /// An integer of so many bits that holds those of `value`, or its low ones.
  Value bits(Value value, unsigned width) {
    Type element = getElementTypeOrSelf(value.getType());
    const unsigned from = element.getIntOrFloatBitWidth();
    value = bitcast(value, b.getIntegerType(from));
    Type type = withElement(value.getType(), b.getIntegerType(width));
    return width > from   ? Value(arith::ExtUIOp::create(b, loc, type, value))
           : width < from ? Value(arith::TruncIOp::create(b, loc, type, value))
                          : value;
  }
  Value bitcast(Value value, Type element) {
    Type type = withElement(value.getType(), element);
    return value.getType() == type ? value : Value(arith::BitcastOp::create(b, loc, type, value));
  }
  /// `index` where `holds`, else -1.
  Value orNone(Value holds, Value index) {
    if (isa<RankedTensorType>(holds.getType()) && !isa<RankedTensorType>(index.getType())) {
      Type type = withElement(holds.getType(), index.getType());
      index = tile::SplatOp::create(b, loc, type, index);
    } else if (isa<RankedTensorType>(index.getType()) && !isa<RankedTensorType>(holds.getType())) {
      Type type = withElement(index.getType(), b.getI1Type());
      holds = tile::SplatOp::create(b, loc, type, holds);
    }
    Value none = constant(index.getType(), -1);
    return arith::SelectOp::create(b, loc, holds, index, none);
  }
  Value isBelow(Value index, int64_t extent) {
    Value end = constant(index.getType(), extent);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, end);
  }

private:
  OpBuilder &b;
  Location loc;
};

Type elementOf(Value storage) { return cast<BufferType>(storage.getType()).getElementType(); }

} // namespace

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

SmallVector<Value> ThreadStorage::indicesInSource(Location loc, tile::SliceOp slice,
                                                  ValueRange at) {
  SmallVector<Value> outer;
  size_t next = 0;
  for (auto [axis, old] : llvm::enumerate(slice.getOffsets())) {
    Value offset = mapping.lookupOrDefault(old);
    outer.push_back(slice.isDropped(axis) ? offset : moved(builder, loc, at[next++], offset));
  }
  return outer;
}

/// By the number of the element in row-major order; -1 of indices that the view does not have.
SmallVector<Value> ThreadStorage::indicesInSource(Location loc, tile::ReshapeOp reshape,
                                                  ValueRange at) {
  Numbers numbers(builder, loc);
  Value number, isInside;
  for (auto [index, extent] :
       llvm::zip_equal(at, cast<BufferType>(reshape.getResult().getType()).getShape())) {
    Value inside = numbers.isBelow(index, extent);
    Value narrow = numbers.narrow(index);
    isInside = isInside ? numbers.of<arith::AndIOp>(isInside, inside) : inside;
    number = number ? numbers.of<arith::AddIOp>(numbers.with<arith::MulIOp>(number, extent), narrow)
                    : narrow;
  }
  number = numbers.orNone(isInside, number);
  ArrayRef<int64_t> shape = cast<BufferType>(reshape.getSource().getType()).getShape();
  SmallVector<Value> indices(shape.size());
  for (size_t dim = shape.size(); dim-- > 1;) {
    indices[dim] = numbers.with<arith::RemUIOp>(number, shape[dim]);
    number = numbers.with<arith::DivUIOp>(number, shape[dim]);
  }
  indices.front() = number;
  return indices;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Value ThreadStorage::behindIndices(Location loc, Value storage, SmallVector<Value> &at) {
  while (Operation *view = storage.getDefiningOp()) {
    if (auto slice = dyn_cast<tile::SliceOp>(view)) {
      at = indicesInSource(loc, slice, at);
    } else if (auto reshape = dyn_cast<tile::ReshapeOp>(view)) {
      at = indicesInSource(loc, reshape, at);
    } else {
      break;
    }
    storage = view->getOperand(0);
  }
  return storage;
}

Value ThreadStorage::readView(Location loc, Type type, Value storage, SmallVector<Value> at,
                              Value mask) {
  storage = behindIndices(loc, storage, at);
  if (auto bitcast = storage.getDefiningOp<tile::BitcastViewOp>()) {
    return readBitcast(loc, type, bitcast, at, mask);
  }
  Value buffer = mapping.lookupOrDefault(storage);
  if (!isa<tgpu::SmemType>(buffer.getType())) {
    return tile::LoadOp::create(builder, loc, type, buffer, at);
  }
  if (isa<RankedTensorType>(type) || mask) {
    return tgpu::GatherOp::create(builder, loc, type, buffer, at, mask);
  }
  return tgpu::LoadElementOp::create(builder, loc, type, buffer, at);
}

/// Several smaller elements make one, the first its lowest bits; one of several is taken out.
Value ThreadStorage::readBitcast(Location loc, Type type, tile::BitcastViewOp view,
                                 SmallVector<Value> at, Value mask) {
  Numbers numbers(builder, loc);
  Value source = view.getSource();
  Type element = getElementTypeOrSelf(type), stored = elementOf(source);
  const int64_t to = element.getIntOrFloatBitWidth(), from = stored.getIntOrFloatBitWidth();
  Type storedType = withElement(type, stored);
  if (to == from) {
    return numbers.bitcast(readView(loc, storedType, source, at, mask), element);
  }
  Value last = numbers.narrow(at.back());
  if (to < from) {
    const int64_t count = from / to;
    at.back() = numbers.with<arith::DivUIOp>(last, count);
    Value whole = numbers.bits(readView(loc, storedType, source, at, mask), from);
    Value shift = numbers.with<arith::MulIOp>(numbers.with<arith::RemUIOp>(last, count), to);
    shift = numbers.bits(shift, from);
    Value low = numbers.of<arith::ShRUIOp>(whole, shift);
    return numbers.bitcast(numbers.bits(low, to), element);
  }
  Value result;
  for (int64_t i = 0; i < to / from; ++i) {
    at.back() = numbers.with<arith::AddIOp>(numbers.with<arith::MulIOp>(last, to / from), i);
    Value part = numbers.bits(readView(loc, storedType, source, at, mask), to);
    part = numbers.with<arith::ShLIOp>(part, i * from);
    result = result ? arith::OrIOp::create(builder, loc, result, part).getResult() : part;
  }
  return numbers.bitcast(result, element);
}

void ThreadStorage::writeView(Location loc, Value value, Value storage, SmallVector<Value> at,
                              Value mask) {
  storage = behindIndices(loc, storage, at);
  if (auto bitcast = storage.getDefiningOp<tile::BitcastViewOp>()) {
    return writeBitcast(loc, value, bitcast, at, mask);
  }
  Value buffer = mapping.lookupOrDefault(storage);
  if (!isa<tgpu::SmemType>(buffer.getType())) {
    tile::StoreOp::create(builder, loc, value, buffer, at);
  } else if (mask || isa<RankedTensorType>(value.getType()) ||
             llvm::any_of(at, [](Value i) { return isa<RankedTensorType>(i.getType()); })) {
    tgpu::ScatterOp::create(builder, loc, value, buffer, at, mask);
  } else {
    tgpu::StoreElementOp::create(builder, loc, value, buffer, at);
  }
}

/// Never of smaller elements than the buffer's (isRenumbered): other threads write to the rest of one.
void ThreadStorage::writeBitcast(Location loc, Value value, tile::BitcastViewOp view,
                                 SmallVector<Value> at, Value mask) {
  Numbers numbers(builder, loc);
  Value source = view.getSource();
  Type stored = elementOf(source);
  const int64_t to = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  const int64_t from = stored.getIntOrFloatBitWidth();
  if (to == from) {
    return writeView(loc, numbers.bitcast(value, stored), source, at, mask);
  }
  Value whole = numbers.bits(value, to), index = at.back();
  Value isInside =
      numbers.isBelow(index, cast<BufferType>(view.getResult().getType()).getShape().back());
  Value last = numbers.with<arith::MulIOp>(numbers.narrow(index), to / from);
  for (int64_t i = 0; i < to / from; ++i) {
    at.back() = numbers.orNone(isInside, numbers.with<arith::AddIOp>(last, i));
    Value part = numbers.bits(numbers.with<arith::ShRUIOp>(whole, i * from), from);
    writeView(loc, numbers.bitcast(part, stored), source, at, mask);
  }
}

//===----------------------------------------------------------------------===//
// What is found so
//===----------------------------------------------------------------------===//

static int64_t bitsOf(Value storage) { return tile::getStorageBits(elementOf(storage)); }

bool ThreadStorage::isRenumbered(Operation *view, std::string &reason) const {
  auto isBool = [](Value storage) { return elementOf(storage).isInteger(1); };
  const bool isBitcast = isa<tile::BitcastViewOp>(view);
  const std::string name = isBitcast ? "`bitcast`" : "`reshape`";
  Value result = view->getResult(0), source = view->getOperand(0);
  if (!holds(source) || (isBitcast && isBool(result) != isBool(source))) {
    reason = name + " of such a buffer";
    return false;
  }
  SmallVector<Operation *> users(result.getUsers());
  for (size_t i = 0; i < users.size(); ++i) { // of slices, too
    if (isa<tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp>(users[i])) {
      llvm::append_range(users, users[i]->getResult(0).getUsers());
    }
    auto isVector = [&](Type type) { return isa<VectorType>(type); };
    const bool isAlike = isBitcast && bitsOf(result) == bitsOf(source);
    if (!isAlike && (llvm::any_of(users[i]->getResultTypes(), isVector) ||
                     llvm::any_of(users[i]->getOperandTypes(), isVector))) {
      reason = "neighbours in a " + name + " of a buffer";
      return false;
    }
    const bool isAtomic =
        isa<tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp, tgpu::AtomicOp>(users[i]);
    const bool isWrite =
        isa<tile::StoreOp, tile::WriteOp, tgpu::ScatterOp>(users[i]) ||
        (isa<tile::CopyOp>(users[i]) && wholeOf(users[i]->getOperand(1)) == wholeOf(source));
    if (isBitcast && (isAtomic || (isWrite && bitsOf(result) < bitsOf(source)))) {
      reason = isAtomic ? "an atomic operation on a `bitcast` of a buffer"
                        : "writing to a `bitcast` of a buffer to smaller elements";
      return false;
    }
  }
  view->emitRemark(name + " of a shared buffer: its elements are accessed one by one");
  return true;
}

} // namespace tilec
