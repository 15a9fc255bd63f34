//===- ThreadStorage.cpp -------------------------------------------------===//
#include "passes/ThreadStorage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/PromotedBuffers.h"

#include "llvm/ADT/TypeSwitch.h"

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

/// What finds the elements of a slice, or of another view of a buffer, in the buffer itself.
static bool takesTile(Operation *user) {
  return isa<tile::ReadOp, tile::WriteOp, tile::CopyOp, tile::GemmOp, tgpu::GatherOp,
             tgpu::ScatterOp, tgpu::AtomicOp, tile::ReshapeOp, tile::BitcastViewOp>(user);
}

static bool takesElements(Operation *user) {
  return isa<tile::LoadOp, tile::StoreOp, tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp>(
      user);
}

bool ThreadStorage::isPartByIndices(tile::SliceOp slice, bool asTile) const {
  return !slice->use_empty() && holds(slice.getSource()) &&
         llvm::all_of(slice->getUsers(), [&](Operation *user) {
           auto part = dyn_cast<tile::SliceOp>(user);
           return takesElements(user) || (asTile && takesTile(user)) ||
                  (part && isPartByIndices(part, asTile));
         });
}

ThreadStorage::Element ThreadStorage::find(Location loc, Value storage, ValueRange indices) {
  SmallVector<Value> at =
      llvm::map_to_vector(indices, [&](Value index) { return mapping.lookupOrDefault(index); });
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
  return {mapping.lookupOrDefault(storage), at};
}

Value ThreadStorage::load(Location loc, Type type, Value storage, ValueRange indices) {
  SmallVector<Value> at =
      llvm::map_to_vector(indices, [&](Value index) { return mapping.lookupOrDefault(index); });
  return readView(loc, type, storage, at, /*mask=*/Value());
}

void ThreadStorage::store(Location loc, Value value, Value storage, ValueRange indices) {
  SmallVector<Value> at =
      llvm::map_to_vector(indices, [&](Value index) { return mapping.lookupOrDefault(index); });
  writeView(loc, value, storage, at, /*mask=*/Value());
}

//===----------------------------------------------------------------------===//
// Parts of shared buffers
//===----------------------------------------------------------------------===//

bool ThreadStorage::isPart(Value storage) const {
  Operation *view = storage.getDefiningOp();
  return isa_and_nonnull<tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp>(view) &&
         holds(view->getOperand(0)) && !mapping.contains(storage) &&
         cast<BufferType>(wholeOf(storage).getType()).getScope() == Scope::Shared;
}

SmallVector<Value> ThreadStorage::coordinatesOf(Location loc, ArrayRef<int64_t> shape) {
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
  return indices;
}

ThreadStorage::Element ThreadStorage::findTile(Location loc, Value storage,
                                               ArrayRef<int64_t> shape) {
  return find(loc, storage, coordinatesOf(loc, shape));
}

Value ThreadStorage::readPart(Location loc, Value part) {
  auto type = cast<BufferType>(part.getType());
  return readView(loc, RankedTensorType::get(type.getShape(), type.getElementType()), part,
                  coordinatesOf(loc, type.getShape()), /*mask=*/Value());
}

void ThreadStorage::writePart(Location loc, Value tile, Value part) {
  writeView(loc, tile, part, coordinatesOf(loc, cast<BufferType>(part.getType()).getShape()),
            /*mask=*/Value());
}

bool ThreadStorage::convertInPart(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tgpu::GatherOp op) { return isPart(op.getSource()) && (gather(op), true); })
      .Case([&](tgpu::ScatterOp op) { return isPart(op.getDest()) && (scatter(op), true); })
      .Case([&](tgpu::AtomicOp op) { return isPart(op.getDest()) && (atomic(op), true); })
      .Default(false);
}

void ThreadStorage::gather(tgpu::GatherOp op) {
  SmallVector<Value> at = llvm::map_to_vector(
      op.getIndices(), [&](Value index) { return mapping.lookupOrDefault(index); });
  Value mask = op.getMask() ? mapping.lookupOrDefault(op.getMask()) : Value();
  mapping.map(op.getResult(),
              readView(op.getLoc(), op.getResult().getType(), op.getSource(), at, mask));
}

void ThreadStorage::scatter(tgpu::ScatterOp op) {
  SmallVector<Value> at = llvm::map_to_vector(
      op.getIndices(), [&](Value index) { return mapping.lookupOrDefault(index); });
  Value mask = op.getMask() ? mapping.lookupOrDefault(op.getMask()) : Value();
  writeView(op.getLoc(), mapping.lookupOrDefault(op.getValue()), op.getDest(), at, mask);
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
  tile::copyCacheHint(op, atomic);
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

void ThreadStorage::atomic(tgpu::AtomicOp op) {
  Element element = find(op.getLoc(), op.getDest(), op.getIndices());
  auto optional = [&](Value value) { return value ? mapping.lookupOrDefault(value) : Value(); };
  tgpu::AtomicOp::create(builder, op.getLoc(), Type(), op.getKind(),
                         mapping.lookupOrDefault(op.getValue()), optional(op.getExpected()),
                         element.buffer, element.indices, optional(op.getMask()),
                         optional(op.getOld()), op.getOrder(), op.getIsUnsigned());
}

void ThreadStorage::atomic(tile::AtomicTileOp op) {
  Location loc = op.getLoc();
  Value value = mapping.lookupOrDefault(op.getValue());
  if (!isa<BufferType>(op.getPlace().getType())) {
    auto whole = tgpu::AtomicTileOp::create(builder, loc, op.getKind(), value,
                                            mapping.lookupOrDefault(op.getPlace()), IntegerAttr(),
                                            op.getOrder(), op.getIsUnsigned());
    tile::copyCacheHint(op, whole);
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
