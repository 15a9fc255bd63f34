//===- ThreadStorage.cpp -------------------------------------------------===//
#include "passes/ThreadStorage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/PromotedBuffers.h"

using namespace mlir;

namespace tilec {

using tile::BufferType;
using tile::Scope;

bool ThreadStorage::isVariable(BufferType type, Value buffer) {
  return type.getScope() == Scope::Local && type.getRank() == 0 &&
         buffer.getParentRegion()->getParentOp() &&
         (isa<tile::ThreadsOp>(buffer.getParentRegion()->getParentOp()) ||
          buffer.getParentRegion()->getParentOp()->getParentOfType<tile::ThreadsOp>());
}

bool ThreadStorage::holds(Value storage) const {
  Value whole = wholeOf(storage);
  auto type = dyn_cast<BufferType>(whole.getType());
  return type && whole.getDefiningOp<tile::AllocOp>() &&
         (type.getScope() == Scope::Shared ||
          (type.getScope() == Scope::Local && !isVariable(type, whole)));
}

bool ThreadStorage::isPartByIndices(tile::SliceOp slice, bool asTile) const {
  return !slice->use_empty() && holds(slice.getSource()) &&
         llvm::all_of(slice->getUsers(), [&](Operation *user) {
           auto part = dyn_cast<tile::SliceOp>(user);
           return isa<tile::LoadOp, tile::StoreOp, tile::AtomicOp, tile::AtomicCasOp,
                      tile::AtomicTileOp>(user) ||
                  (asTile && isa<tile::ReadOp, tile::WriteOp, tile::CopyOp, tile::GemmOp>(user)) ||
                  (part && isPartByIndices(part, asTile));
         });
}

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

ThreadStorage::Element ThreadStorage::find(Location loc, Value storage, ValueRange indices) {
  SmallVector<Value> at =
      llvm::map_to_vector(indices, [&](Value index) { return mapping.lookupOrDefault(index); });
  for (auto slice = storage.getDefiningOp<tile::SliceOp>(); slice;
       slice = storage.getDefiningOp<tile::SliceOp>()) {
    SmallVector<Value> outer;
    size_t next = 0;
    for (auto [axis, old] : llvm::enumerate(slice.getOffsets())) {
      Value offset = mapping.lookupOrDefault(old);
      outer.push_back(slice.isDropped(axis) ? offset : moved(builder, loc, at[next++], offset));
    }
    at = outer;
    storage = slice.getSource();
  }
  return {mapping.lookupOrDefault(storage), at};
}

Value ThreadStorage::load(Location loc, Type type, Value storage, ValueRange indices) {
  Element element = find(loc, storage, indices);
  if (isa<tgpu::SmemType>(element.buffer.getType())) {
    return tgpu::LoadElementOp::create(builder, loc, type, element.buffer, element.indices);
  }
  return tile::LoadOp::create(builder, loc, type, element.buffer, element.indices);
}

void ThreadStorage::store(Location loc, Value value, Value storage, ValueRange indices) {
  Element element = find(loc, storage, indices);
  if (isa<tgpu::SmemType>(element.buffer.getType())) {
    tgpu::StoreElementOp::create(builder, loc, value, element.buffer, element.indices);
  } else {
    tile::StoreOp::create(builder, loc, value, element.buffer, element.indices);
  }
}

//===----------------------------------------------------------------------===//
// Parts of shared buffers
//===----------------------------------------------------------------------===//

bool ThreadStorage::isPart(Value storage) const {
  auto slice = storage.getDefiningOp<tile::SliceOp>();
  return slice && holds(slice.getSource()) && !mapping.contains(storage) &&
         cast<BufferType>(wholeOf(storage).getType()).getScope() == Scope::Shared;
}

ThreadStorage::Element ThreadStorage::findTile(Location loc, Value storage,
                                               ArrayRef<int64_t> shape) {
  auto tile = RankedTensorType::get(shape, builder.getI32Type());
  SmallVector<Value> indices;
  for (int64_t dim = 0; dim < tile.getRank(); ++dim) {
    auto line = RankedTensorType::get({shape[dim]}, builder.getI32Type());
    Value index = tgpu::CoordinateOp::create(builder, loc, line);
    SmallVector<int64_t> missing = llvm::to_vector(llvm::seq<int64_t>(0, tile.getRank()));
    missing.erase(missing.begin() + dim);
    indices.push_back(missing.empty()
                          ? index
                          : Value(tile::BroadcastOp::create(builder, loc, tile, index, missing)));
  }
  return find(loc, storage, indices);
}

Value ThreadStorage::readPart(Location loc, Value part) {
  auto type = cast<BufferType>(part.getType());
  Element element = findTile(loc, part, type.getShape());
  return tgpu::GatherOp::create(builder, loc,
                                RankedTensorType::get(type.getShape(), type.getElementType()),
                                element.buffer, element.indices, /*mask=*/Value());
}

void ThreadStorage::writePart(Location loc, Value tile, Value part) {
  Element element = findTile(loc, part, cast<BufferType>(part.getType()).getShape());
  tgpu::ScatterOp::create(builder, loc, tile, element.buffer, element.indices, /*mask=*/Value());
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

void ThreadStorage::atomic(tile::AtomicOp op) {
  atomicElement(op, op.getKind(), op.getValue(), Value(), op.getPlace(), op.getIndices(),
                op.getOrder(), op.getIsUnsigned());
}

void ThreadStorage::atomic(tile::AtomicCasOp op) {
  atomicElement(op, tile::AtomicKind::Exchange, op.getValue(), op.getExpected(), op.getPlace(),
                op.getIndices(), op.getOrder(), /*isUnsigned=*/false);
}

void ThreadStorage::atomicElement(Operation *op, tile::AtomicKind kind, Value value, Value expected,
                                  Value place, ValueRange indices, tile::MemoryOrder order,
                                  bool isUnsigned) {
  Location loc = op->getLoc();
  Value operand = mapping.lookupOrDefault(value);
  Value compared = expected ? mapping.lookupOrDefault(expected) : Value();
  Element element;
  if (isa<BufferType>(place.getType())) {
    element = find(loc, place, indices);
  } else {
    element = {mapping.lookupOrDefault(place), llvm::map_to_vector(indices, [&](Value index) {
                 return mapping.lookupOrDefault(index);
               })};
  }
  const bool isUsed = !op->use_empty(), inRegion = bool(op->getParentOfType<tile::ThreadsOp>());
  Type type = operand.getType();
  Value old;
  if (isUsed && !inRegion) {
    auto smem = tgpu::SmemType::get(op->getContext(), 1, type, {});
    old = tgpu::AllocSharedOp::create(builder, loc, smem, builder.getStringAttr("old"),
                                      StringAttr(), IntegerAttr());
  }
  auto atomic = tgpu::AtomicOp::create(builder, loc, isUsed && inRegion ? type : Type(), kind,
                                       operand, compared, element.buffer, element.indices,
                                       /*mask=*/Value(), old, order, isUnsigned);
  if (!isUsed) {
    return;
  }
  Value result = atomic.getResult();
  if (old) {
    Value first = arith::ConstantIntOp::create(builder, loc, 0, 32);
    result = tgpu::LoadElementOp::create(builder, loc, type, old, first);
  }
  mapping.map(op->getResult(0), result);
}

void ThreadStorage::atomic(tile::AtomicTileOp op) {
  Location loc = op.getLoc();
  Value value = mapping.lookupOrDefault(op.getValue());
  if (!isa<BufferType>(op.getPlace().getType())) {
    tgpu::AtomicTileOp::create(builder, loc, op.getKind(), value,
                               mapping.lookupOrDefault(op.getPlace()), IntegerAttr(), op.getOrder(),
                               op.getIsUnsigned());
    return;
  }
  Element element = findTile(loc, op.getPlace(), op.getValue().getType().getShape());
  tgpu::AtomicOp::create(builder, loc, Type(), op.getKind(), value, Value(), element.buffer,
                         element.indices, /*mask=*/Value(), /*old=*/Value(), op.getOrder(),
                         op.getIsUnsigned());
}

Value ThreadStorage::declareShared(tile::AllocOp op, tgpu::SmemType type) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto region = dyn_cast<tile::ThreadsOp>(parent);
  region = region ? region : parent->getParentOfType<tile::ThreadsOp>();
  if (region) {
    builder.setInsertionPoint(region);
  }
  return tgpu::AllocSharedOp::create(builder, op.getLoc(), type, op.getNameAttr(),
                                     op.getLayoutAttr(), IntegerAttr());
}

void ThreadStorage::forEachIndex(Location loc, ArrayRef<int64_t> shape,
                                 llvm::function_ref<void(ValueRange)> body) {
  OpBuilder::InsertionGuard guard(builder);
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  SmallVector<Value> indices;
  for (int64_t extent : shape) {
    Value zero = constant(0), end = constant(extent), one = constant(1);
    auto loop = scf::ForOp::create(builder, loc, zero, end, one);
    indices.push_back(loop.getInductionVar());
    builder.setInsertionPointToStart(loop.getBody());
  }
  body(indices);
}

bool ThreadStorage::isLocal(Value storage) const {
  return cast<BufferType>(storage.getType()).getScope() == Scope::Local && holds(storage);
}

/// The scalar that `value` repeats or is; null for a tile of different elements.
static Value scalarOf(OpBuilder &builder, Value value) {
  SplatElementsAttr constant;
  if (!isa<RankedTensorType>(value.getType())) {
    return value;
  }
  if (matchPattern(value, m_Constant(&constant))) {
    return arith::ConstantOp::create(builder, value.getLoc(),
                                     cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  }
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat ? splat.getInput() : Value();
}

bool ThreadStorage::fillLocal(tile::WriteOp write) {
  Location loc = write.getLoc();
  Value scalar = scalarOf(builder, mapping.lookupOrDefault(write.getValue()));
  if (!scalar) {
    return false;
  }
  Value memory = mapping.lookupOrDefault(write.getDest());
  forEachIndex(loc, write.getDest().getType().getShape(), [&](ValueRange indices) {
    tile::StoreOp::create(builder, loc, scalar, memory, indices);
  });
  return true;
}

Value ThreadStorage::readLocal(tile::ReadOp read) {
  if (!isLocal(read.getSource())) {
    return {};
  }
  Type type = read.getResult().getType();
  return isa<RankedTensorType>(type) ? readAll(read)
                                     : load(read.getLoc(), type, read.getSource(), {});
}

Value ThreadStorage::readAll(tile::ReadOp read) {
  Location loc = read.getLoc();
  auto type = cast<RankedTensorType>(read.getResult().getType());
  auto alloc = read.getSource().getDefiningOp<tile::AllocOp>();
  auto smem = tgpu::SmemType::get(builder.getContext(), type.getShape(), type.getElementType(), {});
  Value buffer = tgpu::AllocSharedOp::create(builder, loc, smem, alloc.getNameAttr(), StringAttr(),
                                             IntegerAttr());
  {
    auto region =
        tile::ThreadsOp::create(builder, loc, builder.getDenseI32ArrayAttr({int32_t(threads)}));
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&region.getBody(), {}, builder.getI32Type(), loc);
    Value memory = mapping.lookupOrDefault(read.getSource());
    forEachIndex(loc, type.getShape().drop_front(), [&](ValueRange indices) {
      Value value = tile::LoadOp::create(builder, loc, type.getElementType(), memory, indices);
      SmallVector<Value> at = {body->getArgument(0)};
      llvm::append_range(at, indices);
      tgpu::StoreElementOp::create(builder, loc, value, buffer, at);
    });
    tile::YieldOp::create(builder, loc);
  }
  read.emitRemark("what the threads have in `" + alloc.getName().value_or("local").str() +
                  "` becomes a tile through shared memory");
  return tgpu::LocalLoadOp::create(builder, loc, type, buffer);
}

} // namespace tilec
