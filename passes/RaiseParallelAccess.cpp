//===- RaiseParallelAccess.cpp - elements of memory and tiles ------------===//
//
// An access of all iterations is one of a whole tile, or of a slice of global memory, where each
// dimension runs along an index of the loop of its own, in steps of one, or along none. These move
// in any layout and as wide as alignment admits. So do whole rows at computed places, a slice whose
// dimensions before the last one are gathered. All others gather and scatter element by element.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/FragmentSteps.h"
#include "passes/GlobalAccess.h"
#include "passes/RaiseParallel.h"

using namespace mlir;
using namespace tilec;
using tile::BufferType;
using tile::GlobalType;
using tile::Scope;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Sums wrap, while an index of a slice never does; where the two differ the program has an overflow.
std::optional<ParallelRaiser::Affine> ParallelRaiser::affineOf(Value old) {
  auto argument = dyn_cast<BlockArgument>(old);
  if (argument && argument.getOwner() == &loop.getBody().front()) {
    return Affine{axes[argument.getArgNumber()].start, int(argument.getArgNumber())};
  }
  Raised raised = lookup(old);
  if (raised.axes.empty()) {
    return Affine{raised.value, -1};
  }
  Operation *definition = old.getDefiningOp();
  if (auto sum = dyn_cast_or_null<arith::AddIOp>(definition)) {
    std::optional<Affine> x = affineOf(sum.getLhs()), y = affineOf(sum.getRhs());
    if (!x || !y || (x->axis >= 0 && y->axis >= 0)) {
      return std::nullopt;
    }
    Value base = x->base && y->base ? arith::AddIOp::create(b, loc, x->base, y->base).getResult()
                 : x->base          ? x->base
                                    : y->base;
    return Affine{base, std::max(x->axis, y->axis)};
  }
  if (auto difference = dyn_cast_or_null<arith::SubIOp>(definition)) {
    std::optional<Affine> x = affineOf(difference.getLhs()), y = affineOf(difference.getRhs());
    if (!x || !y || y->axis >= 0 || !y->base) {
      return std::nullopt;
    }
    Value from =
        x->base ? x->base : arith::ConstantOp::create(b, loc, b.getZeroAttr(y->base.getType()));
    return Affine{arith::SubIOp::create(b, loc, from, y->base), x->axis};
  }
  if (auto wider = dyn_cast_or_null<arith::ExtSIOp>(definition)) {
    std::optional<Affine> x = affineOf(wider.getIn());
    if (x && x->base) {
      x->base = arith::ExtSIOp::create(b, loc, wider.getType(), x->base);
    }
    return x;
  }
  return std::nullopt;
}

/// All of them, if no two run along the same index of the loop. Gathering is for what is contiguous
/// behind it: only then is it wider than single elements.
std::optional<SmallVector<ParallelRaiser::Affine>> ParallelRaiser::affineOf(ValueRange old) {
  SmallVector<Affine> result;
  Axes seen;
  for (Value index : old) {
    std::optional<Affine> affine = affineOf(index);
    Raised raised = lookup(index);
    Type type = getElementTypeOrSelf(raised.value);
    if (!affine && raised.axes.size() == 1 && (type.isInteger(32) || type.isInteger(64))) {
      affine = Affine{raised.value, int(raised.axes[0]), /*gathers=*/true};
    }
    if (!affine || (affine->axis >= 0 && llvm::is_contained(seen, unsigned(affine->axis)))) {
      return std::nullopt;
    }
    if (affine->axis >= 0) {
      seen.push_back(affine->axis);
    }
    result.push_back(*affine);
  }
  const bool gathers = llvm::any_of(result, [](const Affine &index) { return index.gathers; });
  const bool hasRows = !result.empty() && result.back().axis >= 0 && !result.back().gathers;
  return gathers && !hasRows ? std::nullopt : std::optional(result);
}

std::optional<SmallVector<unsigned>> ParallelRaiser::identityOf(ArrayRef<int64_t> shape,
                                                                ValueRange indices) {
  SmallVector<unsigned> order;
  for (auto [size, index] : llvm::zip_equal(shape, indices)) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (!argument || argument.getOwner() != &loop.getBody().front() ||
        llvm::is_contained(order, argument.getArgNumber())) {
      return std::nullopt;
    }
    const LoopAxis &axis = axes[argument.getArgNumber()];
    if (axis.size != size || axis.start) {
      return std::nullopt;
    }
    order.push_back(argument.getArgNumber());
  }
  return order;
}

std::optional<Raised> ParallelRaiser::sorted(Value tile, ArrayRef<unsigned> order) {
  Axes rising(order.begin(), order.end());
  llvm::sort(rising);
  if (llvm::equal(rising, order)) {
    return Raised{tile, rising};
  }
  if (order.size() != 2) {
    return std::nullopt;
  }
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return Raised{tile::TransposeOp::create(b, loc, tileType(rising, element), tile), rising};
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// True if the kernel writes to the tensor: then a masked iteration may read it before another block
/// has written, or while it does.
bool ParallelRaiser::isWritten(Value global) {
  return loop->getParentOfType<tgpu::KernelOp>()
      ->walk([&](Operation *op) {
        auto copy = dyn_cast<tile::CopyOp>(op);
        const bool copies = copy && isa<GlobalType>(copy.getDest().getType()) &&
                            mayOverlap(tgpu::getBase(copy.getDest()), tgpu::getBase(global));
        return copies || mayChange(op, global) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the integer is even, as far as the operations that make it say so.
static bool isEven(Value value) {
  APInt number;
  if (!value || matchPattern(value, m_ConstantInt(&number))) {
    return !value || !number[0];
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner)) {
      return argument == loop.getInductionVar() && isEven(loop.getLowerBound()) &&
             isEven(loop.getStep());
    }
    auto kernel = dyn_cast<tgpu::KernelOp>(owner);
    IntegerAttr divisor =
        kernel ? tgpu::kDivisible.get(kernel, argument.getArgNumber()) : IntegerAttr();
    return divisor && divisor.getInt() % 2 == 0;
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return isEven(op->getOperand(i)); };
  return isa<arith::AddIOp, arith::SubIOp>(op)                      ? operand(0) && operand(1)
         : isa<arith::MulIOp>(op)                                   ? operand(0) || operand(1)
         : isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op) ? operand(0)
                                                                    : false;
}

/// Slices of packed elements begin at even ones and end at whole bytes (of the tile: what the loop
/// cuts off is seen to later).
bool ParallelRaiser::isWholeBytes(Type memory, ArrayRef<Affine> indices) {
  const bool runs = !indices.empty() && indices.back().axis >= 0;
  auto global = dyn_cast<GlobalType>(memory);
  return !global || !tile::isPacked(global.getElementType()) || !runs ||
         (isEven(indices.back().base) && axes[indices.back().axis].size % 2 == 0);
}

/// The indices that gather, none of them in range where the loop's end cuts them off.
Value ParallelRaiser::placesOf(const Affine &index) {
  Value left = axes[index.axis].left;
  if (!left) {
    return index.base;
  }
  auto type = cast<RankedTensorType>(index.base.getType());
  auto line = RankedTensorType::get(type.getShape(), left.getType());
  Value at = tgpu::CoordinateOp::create(b, loc, line);
  Value end = tile::SplatOp::create(b, loc, line, left);
  Value isIteration = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, end);
  Value outside = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), -1)));
  return arith::SelectOp::create(b, loc, isIteration, index.base, outside);
}

/// The part of a view that the iterations access: a dimension for each that runs along an index.
Value ParallelRaiser::sliceOf(Value view, ArrayRef<Affine> indices) {
  auto slice = [&](Value source, ArrayRef<Value> offsets, ArrayRef<int64_t> sizes,
                   ValueRange dynamic) -> Value {
    SmallVector<int64_t> kept;
    for (int64_t size : sizes) {
      if (size != tile::SliceOp::kDropped) {
        kept.push_back(size);
      }
    }
    auto type =
        GlobalType::get(b.getContext(), kept, cast<GlobalType>(source.getType()).getElementType());
    return tile::SliceOp::create(b, loc, type, source, offsets, dynamic, sizes);
  };
  SmallVector<Value> offsets, dynamic, zeros;
  SmallVector<int64_t> sizes, whole;
  for (const Affine &index : indices) {
    Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    if (index.axis < 0) {
      offsets.push_back(index.base ? index.base : zero);
      sizes.push_back(tile::SliceOp::kDropped);
      continue;
    }
    const LoopAxis &axis = axes[index.axis];
    offsets.push_back(index.gathers ? placesOf(index) : index.base ? index.base : zero);
    APInt known;
    if (index.gathers) {
      sizes.push_back(axis.size);
    } else if (axis.left && matchPattern(axis.left, m_ConstantInt(&known))) {
      sizes.push_back(known.getSExtValue());
    } else {
      sizes.push_back(axis.left ? ShapedType::kDynamic : axis.size);
      if (axis.left) {
        dynamic.push_back(axis.left);
      }
    }
    whole.push_back(axis.size);
    zeros.push_back(zero);
  }
  Value part = slice(view, offsets, sizes, dynamic);
  // What the loop's end cuts off is out of range of the part.
  ArrayRef<int64_t> shape = cast<GlobalType>(part.getType()).getShape();
  return shape == ArrayRef<int64_t>(whole) ? part : slice(part, zeros, whole, {});
}

static SmallVector<unsigned> orderOf(ArrayRef<int> axes) {
  SmallVector<unsigned> order;
  for (int axis : axes) {
    if (axis >= 0) {
      order.push_back(axis);
    }
  }
  return order;
}

std::optional<Raised> ParallelRaiser::loadSlice(tile::LoadOp op) {
  Raised source = lookup(op.getSource());
  std::optional<SmallVector<Affine>> indices = affineOf(op.getIndices());
  if (!indices || (mask.value && isWritten(source.value)) ||
      !isWholeBytes(op.getSource().getType(), *indices)) {
    return std::nullopt;
  }
  SmallVector<unsigned> order =
      orderOf(llvm::map_to_vector(*indices, [](const Affine &index) { return index.axis; }));
  if (order.size() > 2 && !llvm::is_sorted(order)) {
    return std::nullopt;
  }
  Value part = sliceOf(source.value, *indices);
  auto type =
      RankedTensorType::get(cast<GlobalType>(part.getType()).getShape(), op.getResult().getType());
  Value tile = tgpu::LoadOp::create(b, loc, type, part, IntegerAttr(), tile::getCacheHint(op));
  return sorted(tile, order);
}

std::optional<Raised> ParallelRaiser::readIdentity(tile::LoadOp op) {
  Value source = lookup(op.getSource()).value;
  auto buffer = dyn_cast<BufferType>(source.getType());
  ArrayRef<int64_t> shape =
      buffer ? buffer.getShape() : cast<RankedTensorType>(source.getType()).getShape();
  std::optional<SmallVector<unsigned>> order = identityOf(shape, op.getIndices());
  if (!order || (order->size() > 2 && !llvm::is_sorted(*order))) {
    return std::nullopt;
  }
  Value tile = source;
  if (buffer) {
    auto type = RankedTensorType::get(shape, buffer.getElementType());
    tile = tile::ReadOp::create(b, loc, type, source);
  }
  return sorted(tile, *order);
}

Value ParallelRaiser::inShared(Operation *op, Value storage) {
  auto buffer = dyn_cast<BufferType>(storage.getType());
  if (buffer && buffer.getScope() == Scope::Shared) {
    return storage;
  }
  auto tensor = buffer ? RankedTensorType::get(buffer.getShape(), buffer.getElementType())
                       : cast<RankedTensorType>(storage.getType());
  auto type =
      BufferType::get(b.getContext(), tensor.getShape(), tensor.getElementType(), Scope::Shared);
  Value shared = tile::AllocOp::create(b, loc, type, b.getStringAttr("exchange"), StringAttr());
  Value tile = buffer ? tile::ReadOp::create(b, loc, tensor, storage).getResult() : storage;
  tile::WriteOp::create(b, loc, tile, shared);
  const int64_t bytes =
      tensor.getNumElements() * std::max(8u, tile::getStorageBits(tensor.getElementType())) / 8;
  remarks[op] = "exchange between threads: elements of a fragment at other than the loop's own "
                "indices go through " +
                std::to_string(bytes) + " bytes of shared memory";
  return shared;
}

Raised ParallelRaiser::gather(tile::LoadOp op, Value source) {
  SmallVector<Raised> parts = lookup(op.getIndices());
  // Everything but memory with bounds is accessed only where the program does.
  const bool isMasked = mask.value && (!isa<GlobalType>(source.getType()) || isWritten(source));
  if (isMasked) {
    parts.push_back(mask);
  }
  Axes united = unite(parts);
  SmallVector<Value> operands = over(parts, united);
  Value condition = isMasked ? operands.pop_back_val() : Value();
  Type element = op.getResult().getType();
  Type type = united.empty() ? element : Type(tileType(united, element));
  auto gather = tgpu::GatherOp::create(b, loc, type, source, operands, condition);
  tile::copyCacheHint(op, gather);
  return {gather.getResult(), united};
}

LogicalResult ParallelRaiser::raiseLoad(tile::LoadOp op) {
  if (isa<VectorType>(op.getResult().getType())) {
    return emitUnsupported(op, "a `vec` in a `parallel` loop");
  }
  Value source = lookup(op.getSource()).value; // what the threads have is read in the loop
  if (auto array = source.getDefiningOp<tile::ConstantArrayOp>()) {
    Raised index = lookup(op.getIndices()[0]);
    Type element = op.getResult().getType();
    Type type = index.axes.empty() ? element : Type(tileType(index.axes, element));
    define(op.getResult(),
           {tgpu::LookupOp::create(b, loc, type, array.getValue(), index.value), index.axes});
    return success();
  }
  if (auto buffer = dyn_cast<BufferType>(source.getType())) {
    if (buffer.getScope() == Scope::Local) {
      return emitUnsupported(op, "a `local` buffer");
    }
    if (buffer.getScope() == Scope::Uniform) { // a `vec` of the block
      const SmallVector<Raised> indices = lookup(op.getIndices());
      if (!unite(indices).empty()) {
        return emitUnsupported(op, kChosenElement);
      }
      auto load = tile::LoadOp::create(
          b, loc, op.getResult().getType(), source,
          llvm::map_to_vector(indices, [](const Raised &index) { return index.value; }));
      define(op.getResult(), {load.getResult(), {}});
      return success();
    }
  }
  if (isa<GlobalType>(source.getType())) {
    std::optional<Raised> raised;
    if (unite(lookup(op.getIndices())).empty() && !(mask.value && isWritten(source))) {
      auto load = tile::LoadOp::create(
          b, loc, op.getResult().getType(), lookup(source).value,
          llvm::map_to_vector(lookup(op.getIndices()),
                              [](const Raised &index) { return index.value; }));
      tile::copyCacheHint(op, load);
      raised = Raised{load.getResult(), {}};
    } else {
      raised = loadSlice(op);
    }
    define(op.getResult(), raised ? *raised : gather(op, lookup(source).value));
    return success();
  }
  std::optional<Raised> raised = readIdentity(op);
  define(op.getResult(), raised ? *raised : gather(op, inShared(op, source)));
  return success();
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

std::optional<ParallelRaiser::SliceStore> ParallelRaiser::asSlice(Value view, ValueRange subscripts,
                                                                  Value value) {
  std::optional<SmallVector<Affine>> indices = affineOf(subscripts);
  if (!indices || mask.value != padding.value || !isWholeBytes(view.getType(), *indices)) {
    return std::nullopt; // what is cut off is out of range of the slice
  }
  SmallVector<unsigned> order =
      orderOf(llvm::map_to_vector(*indices, [](const Affine &index) { return index.axis; }));
  Axes rising(order.begin(), order.end());
  llvm::sort(rising);
  // All indices of the loop, else iterations would write to one place.
  if (order.empty() || rising.size() != axes.size() ||
      (order.size() > 2 && !llvm::is_sorted(order))) {
    return std::nullopt;
  }
  Value tile = over(lookup(value), rising);
  if (!llvm::is_sorted(order)) {
    SmallVector<int64_t> shape = {axes[order[0]].size, axes[order[1]].size};
    tile = tile::TransposeOp::create(b, loc, RankedTensorType::get(shape, value.getType()), tile);
  }
  return SliceStore{tile, sliceOf(lookup(view).value, *indices)};
}

bool ParallelRaiser::storeSlice(tile::StoreOp op) {
  std::optional<SliceStore> slice = asSlice(op.getDest(), op.getIndices(), op.getValue());
  if (slice) {
    tgpu::StoreOp::create(b, loc, slice->tile, slice->part, tgpu::CopyPathAttr(), IntegerAttr(),
                          /*no_tma=*/false, tile::getCacheHint(op), ArrayAttr());
  }
  return slice.has_value();
}

/// All of a shared buffer. Under a mask packed elements keep what the others of their bytes are: all
/// are written again.
bool ParallelRaiser::storeIdentity(tile::StoreOp op) {
  auto type = cast<BufferType>(op.getDest().getType());
  std::optional<SmallVector<unsigned>> order = identityOf(type.getShape(), op.getIndices());
  if (!order || (mask.value && !tile::isPacked(type.getElementType())) ||
      order->size() != axes.size() || (order->size() > 2 && !llvm::is_sorted(*order))) {
    return false;
  }
  Axes rising(order->begin(), order->end());
  llvm::sort(rising);
  auto inShape = [&](const Raised &raised) -> Value {
    Value tile = over(raised, rising);
    if (llvm::is_sorted(*order)) {
      return tile;
    }
    Type element = getElementTypeOrSelf(tile.getType());
    return tile::TransposeOp::create(b, loc, RankedTensorType::get(type.getShape(), element), tile);
  };
  Value tile = inShape(lookup(op.getValue()));
  if (mask.value) {
    Value old = tile::ReadOp::create(b, loc, tile.getType(), op.getDest());
    tile = arith::SelectOp::create(b, loc, inShape(mask), tile, old);
  }
  tile::WriteOp::create(b, loc, tile, op.getDest());
  return true;
}

/// What a fragment holds, with new elements where its indices and the mask say so: each dimension
/// is indexed by an index of the loop, of which there are none besides, or by one number.
bool ParallelRaiser::storeFragment(tile::StoreOp op) {
  auto type = cast<BufferType>(op.getDest().getType());
  SmallVector<unsigned> order;
  SmallVector<std::pair<int64_t, Value>> fixed; // dimension, index
  SmallVector<int64_t> running;                 // dimensions
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    auto argument = dyn_cast<BlockArgument>(index);
    Raised raised = lookup(index);
    if (raised.axes.empty()) {
      fixed.push_back({int64_t(dim), raised.value});
    } else if (argument && argument.getOwner() == &loop.getBody().front() &&
               axes[argument.getArgNumber()].size == type.getShape()[dim] &&
               !axes[argument.getArgNumber()].start &&
               !llvm::is_contained(order, argument.getArgNumber())) {
      order.push_back(argument.getArgNumber());
      running.push_back(dim);
    } else {
      return false;
    }
  }
  if (order.size() != axes.size() || (order.size() > 2 && !llvm::is_sorted(order))) {
    return false;
  }
  Axes rising(order.begin(), order.end());
  llvm::sort(rising);
  // A tile over the loop's indices as one of the fragment's shape.
  auto inShape = [&](const Raised &raised) {
    Value tile = over(raised, rising);
    auto tileShape = llvm::map_to_vector(order, [&](unsigned axis) { return axes[axis].size; });
    Type element = getElementTypeOrSelf(tile.getType());
    if (!llvm::is_sorted(order)) {
      tile = tile::TransposeOp::create(b, loc, RankedTensorType::get(tileShape, element), tile);
    }
    if (fixed.empty()) {
      return tile;
    }
    auto whole = RankedTensorType::get(type.getShape(), element);
    SmallVector<int64_t> missing =
        llvm::map_to_vector(fixed, [](const auto &pair) { return pair.first; });
    return order.empty() ? Value(tile::SplatOp::create(b, loc, whole, tile))
                         : Value(tile::BroadcastOp::create(b, loc, whole, tile, missing));
  };
  Value tile = inShape(lookup(op.getValue()));
  Value changes = mask.value ? inShape(mask) : Value();
  for (auto [dim, index] : fixed) {
    auto line = RankedTensorType::get({type.getShape()[dim]}, index.getType());
    auto whole = RankedTensorType::get(type.getShape(), b.getI1Type());
    Value at = tgpu::CoordinateOp::create(b, loc, line);
    Value wanted = tile::SplatOp::create(b, loc, line, index);
    Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at, wanted);
    SmallVector<int64_t> missing;
    for (int64_t other = 0; other < type.getRank(); ++other) {
      if (other != dim) {
        missing.push_back(other);
      }
    }
    if (!missing.empty()) {
      here = tile::BroadcastOp::create(b, loc, whole, here, missing);
    }
    changes = changes ? arith::AndIOp::create(b, loc, changes, here).getResult() : here;
  }
  if (changes) {
    auto whole = RankedTensorType::get(type.getShape(), type.getElementType());
    Value old = tile::ReadOp::create(b, loc, whole, op.getDest());
    tile = arith::SelectOp::create(b, loc, changes, tile, old);
  }
  tile::WriteOp::create(b, loc, tile, op.getDest());
  return true;
}

void ParallelRaiser::scatter(tile::StoreOp op, Value dest) {
  SmallVector<Raised> parts = lookup(op.getIndices());
  parts.push_back(lookup(op.getValue()));
  if (mask.value) {
    parts.push_back(mask);
  }
  Axes united = unite(parts);
  SmallVector<Value> operands = over(parts, united);
  Value condition = mask.value ? operands.pop_back_val() : Value();
  Value value = operands.pop_back_val();
  tile::copyCacheHint(op, tgpu::ScatterOp::create(b, loc, value, dest, operands, condition));
}

LogicalResult ParallelRaiser::raiseStore(tile::StoreOp op) {
  if (isa<VectorType>(op.getValue().getType())) {
    return emitUnsupported(op, "a `vec` in a `parallel` loop");
  }
  Value dest = op.getDest();
  auto buffer = dyn_cast<BufferType>(dest.getType());
  if (!buffer) {
    if (!storeSlice(op)) {
      scatter(op, lookup(dest).value);
    }
    return success();
  }
  switch (buffer.getScope()) {
  case Scope::Shared:
    if (!storeIdentity(op)) {
      scatter(op, dest);
    }
    return success();
  case Scope::Fragment:
    if (!storeFragment(op)) {
      Value shared = inShared(op, dest);
      scatter(op, shared);
      auto whole = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
      Value all = tile::ReadOp::create(b, loc, whole, shared);
      tile::WriteOp::create(b, loc, all, dest);
    }
    return success();
  default:
    return emitUnsupported(op, "a write to such a buffer in a `parallel` loop");
  }
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// One for each iteration, whatever its operands depend on.
void ParallelRaiser::raiseAtomic(Operation *op, tile::AtomicKind kind, Value value, Value expected,
                                 Value place, ValueRange indices, tile::MemoryOrder order,
                                 bool isUnsigned) {
  const bool isUsed = !op->use_empty();
  if (isa<GlobalType>(place.getType()) && !isUsed && !expected &&
      kind != tile::AtomicKind::Exchange) {
    if (std::optional<SliceStore> slice = asSlice(place, indices, value)) {
      auto whole = tgpu::AtomicTileOp::create(b, loc, kind, slice->tile, slice->part, IntegerAttr(),
                                              order, isUnsigned);
      tile::copyCacheHint(op, whole);
      return;
    }
  }
  const Axes all = allAxes();
  Type element = value.getType();
  RankedTensorType tile = tileType(all, element);
  SmallVector<Value> at = over(lookup(indices), all);
  Value operand = over(lookup(value), all);
  Value compared = expected ? over(lookup(expected), all) : Value();
  Value condition = mask.value ? over(mask, all) : Value();
  Value old;
  if (isUsed) {
    auto type = BufferType::get(b.getContext(), tile.getShape(), element, Scope::Shared);
    old = tile::AllocOp::create(b, loc, type, b.getStringAttr("old"), StringAttr());
    remarks[op] = "exchange between threads: what an atomic operation returns goes through " +
                  std::to_string(tile.getNumElements() * tile::getStorageBits(element) / 8) +
                  " bytes of shared memory";
  }
  auto atomic = tgpu::AtomicOp::create(b, loc, Type(), kind, operand, compared, lookup(place).value,
                                       at, condition, old, order, isUnsigned);
  tile::copyCacheHint(op, atomic);
  if (isUsed) {
    define(op->getResult(0), {tile::ReadOp::create(b, loc, tile, old), all});
  }
}
