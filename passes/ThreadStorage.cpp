//===- ThreadStorage.cpp -------------------------------------------------===//
#include "passes/ThreadStorage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

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

/// The buffer that `storage` is part of.
static Value wholeOf(Value storage) {
  while (auto slice = storage.getDefiningOp<tile::SliceOp>()) {
    storage = slice.getSource();
  }
  return storage;
}

bool ThreadStorage::holds(Value storage) const {
  Value whole = wholeOf(storage);
  auto type = dyn_cast<BufferType>(whole.getType());
  return type && whole.getDefiningOp<tile::AllocOp>() &&
         (type.getScope() == Scope::Shared ||
          (type.getScope() == Scope::Local && !isVariable(type, whole)));
}

bool ThreadStorage::isPartByIndices(tile::SliceOp slice) const {
  return !slice->use_empty() && holds(slice.getSource()) &&
         llvm::all_of(slice->getUsers(), [&](Operation *user) {
           auto part = dyn_cast<tile::SliceOp>(user);
           return isa<tile::LoadOp, tile::StoreOp>(user) || (part && isPartByIndices(part));
         });
}

ThreadStorage::Element ThreadStorage::find(Location loc, Value storage, ValueRange indices) {
  SmallVector<Value> at =
      llvm::map_to_vector(indices, [&](Value index) { return mapping.lookupOrDefault(index); });
  auto widened = [&](Value value) -> Value {
    Type i64 = builder.getI64Type();
    if (value.getType().isIndex()) {
      return arith::IndexCastOp::create(builder, loc, i64, value);
    }
    return value.getType() == i64 ? value : builder.createOrFold<arith::ExtSIOp>(loc, i64, value);
  };
  for (auto slice = storage.getDefiningOp<tile::SliceOp>(); slice;
       slice = storage.getDefiningOp<tile::SliceOp>()) {
    SmallVector<Value> outer;
    size_t next = 0;
    for (auto [axis, old] : llvm::enumerate(slice.getOffsets())) {
      Value offset = mapping.lookupOrDefault(old);
      if (slice.isDropped(axis)) {
        outer.push_back(offset);
        continue;
      }
      Value index = at[next++];
      if (index.getType() != offset.getType()) {
        index = widened(index);
        offset = widened(offset);
      }
      outer.push_back(builder.createOrFold<arith::AddIOp>(loc, offset, index));
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
