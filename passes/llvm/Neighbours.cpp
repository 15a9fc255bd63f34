//===- Neighbours.cpp - elements of global memory, and those beside them -===//
#include "passes/llvm/Addresses.h"

#include <numeric>

using namespace mlir;

namespace tilec::lowering {

//===----------------------------------------------------------------------===//
// Addresses and conditions
//===----------------------------------------------------------------------===//

Neighbours::Neighbours(KernelLowering &lowering, const View &view, ArrayRef<ElementIndex> indices,
                       int64_t count)
    : lowering(lowering), view(view), count(count) {
  SmallVector<Value> coordinates;
  SmallVector<bool> neverNegative;
  for (const ViewDim &dim : view.dims) {
    Value at = dim.offset;
    IntegerRange reach = dim.reach;
    const bool isRun = count > 1 && dim.tileDim + 1 == int64_t(indices.size());
    if (dim.tileDim >= 0) {
      const ElementIndex &given = indices[dim.tileDim];
      bool saturates = false;
      reach = given.range;
      at = lowering.coordinateOf(dim, given.value, reach, saturates);
      if (isRun) {
        run = &dim;
        index = given.value;
        indexMayBeNegative = given.range.low < 0;
        step = std::gcd(dim.step, given.divisor);
        step = isBounded() ? std::gcd(step, dim.size) : step;
        coordinate = at;
        coordinateMayBeNegative = reach.low < 0;
      } else {
        require(lowering.indexInRange(dim, given, at));
      }
    } else {
      require(lowering.coordinateInRange(dim, at));
    }
    coordinates.push_back(at);
    neverNegative.push_back(!isRun || !coordinateMayBeNegative);
  }
  base = globalPointer(lowering, view, coordinates, neverNegative);
}

void Neighbours::require(Value condition) { others = lowering.both(others, condition); }

bool Neighbours::isBounded() const { return !run->whole && run->size != ShapedType::kDynamic; }

Value Neighbours::pointer(int64_t i) {
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  if (i == 0) {
    return base;
  }
  Type memory = memoryType(view.element);
  if (!run->stride) {
    return LLVM::GEPOp::create(b, loc, base.getType(), memory, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(i)});
  }
  Value offset = lowering.mul(lowering.toInteger(run->stride, b.getI64Type()), i);
  return LLVM::GEPOp::create(b, loc, base.getType(), memory, base, ValueRange{offset});
}

/// Bounds are never negative, so that what is taken off them does not wrap.
Value Neighbours::inRange(int64_t first, int64_t n) {
  if (!run) {
    return others;
  }
  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();
  Value all = others;
  auto atLeast = [&](Value value, Value bound) {
    all = lowering.both(all, lowering.compare(arith::CmpIPredicate::sge, value, bound));
  };
  if (!run->whole && indexMayBeNegative) {
    atLeast(index, lowering.constant(-first, index.getType()));
  }
  if (isBounded()) {
    Value last = lowering.constant(run->size - first - n, index.getType());
    all = lowering.both(all, lowering.compare(arith::CmpIPredicate::sle, index, last));
  }
  Type type = coordinate.getType();
  Value end = lowering.add(run->upper, -(first + n - 1));
  all = lowering.both(all, lowering.compare(arith::CmpIPredicate::slt, coordinate, end));
  if (run->lower) {
    Value lower = b.createOrFold<arith::MaxSIOp>(loc, run->lower, lowering.constant(0, type));
    atLeast(coordinate, lowering.add(lower, -first));
  } else if (coordinateMayBeNegative) {
    atLeast(coordinate, lowering.constant(-first, type));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Neighbours in one access.
static int64_t accessLength(const Neighbours &elements, int64_t accessBytes) {
  const int64_t wanted = accessBytes / memoryBytes(elements.element());
  return elements.areContiguous() ? std::clamp<int64_t>(wanted, 1, elements.size()) : 1;
}

/// Neighbours that are in range together, of those in one access.
static int64_t partLength(const Neighbours &elements, int64_t access) {
  while (!elements.areInRangeTogether(access)) {
    access /= 2;
  }
  return access;
}

/// Loads are words, and become elements behind their conditions.
Fragment KernelLowering::loadNeighbours(Neighbours &elements, int64_t accessBytes,
                                        const GlobalUse &use) {
  const int64_t count = elements.size(), bits = memoryBytes(elements.element()) * 8;
  const int64_t access = accessLength(elements, accessBytes);
  const int64_t word = std::min<int64_t>(access * bits, std::max<int64_t>(bits, 32));
  auto widthOf = [&](int64_t n) { return unsigned(std::min(word, n * bits)); };
  auto load = [&](int64_t first, int64_t n, Value condition) {
    const int64_t length = std::min(access, n);
    const unsigned width = widthOf(length);
    Fragment loaded;
    for (int64_t i = first; i < first + n; i += length) {
      loaded.append(loadElements(elements.pointer(i), b.getIntegerType(width),
                                 length * bits / width, length * bits / 8, use.under(condition)));
    }
    return packBits(loaded, widthOf(n));
  };
  Value whole = elements.inRange(0, count);
  const int64_t part = partLength(elements, access);
  auto loadParts = [&] {
    Fragment parts;
    for (int64_t i = 0; i < count; i += part) {
      parts.append(load(i, part, elements.inRange(i, part)));
    }
    return packBits(parts, widthOf(count));
  };
  Fragment words;
  if (!whole || elements.areInRangeTogether(count)) {
    words = load(0, count, whole);
  } else if (part == access) { // a whole one would go by the same accesses
    words = loadParts();
  } else {
    SmallVector<Type> types(count * bits / widthOf(count), b.getIntegerType(widthOf(count)));
    auto branch = scf::IfOp::create(b, loc, types, whole, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, load(0, count, Value()));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, loadParts());
    words.assign(branch.getResults().begin(), branch.getResults().end());
  }
  Fragment values;
  for (Value bitsOfWord : words) {
    unpackBits(bitsOfWord, memoryType(elements.element()), values);
  }
  if (elements.element().isInteger(1)) {
    for (Value &value : values) {
      value = compare(arith::CmpIPredicate::ne, value, constant(0, value.getType()));
    }
  }
  return values;
}

void KernelLowering::storeNeighbours(Neighbours &elements, ArrayRef<Value> values,
                                     int64_t accessBytes, const GlobalUse &use) {
  const int64_t count = elements.size(), bytes = memoryBytes(elements.element());
  const int64_t access = accessLength(elements, accessBytes);
  auto store = [&](int64_t first, int64_t n, Value condition) {
    const int64_t length = std::min(access, n);
    for (int64_t i = first; i < first + n; i += length) {
      storeElements(elements.pointer(i), elements.element(), values.slice(i, length),
                    length * bytes, use.under(condition));
    }
  };
  if (elements.areInRangeTogether(count)) {
    return store(0, count, elements.inRange(0, count));
  }
  auto branch = scf::IfOp::create(b, loc, elements.inRange(0, count), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  store(0, count, Value());
  b.setInsertionPointToStart(branch.elseBlock());
  const int64_t part = partLength(elements, access);
  for (int64_t i = 0; i < count; i += part) {
    store(i, part, elements.inRange(i, part));
  }
}

static int64_t lengthOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static int64_t accessBytesOf(Operation *op) {
  IntegerAttr bytes = tgpu::kAccessBytes.get(op);
  return bytes ? bytes.getInt() : 1;
}

Value KernelLowering::writes(Operation *op) {
  return op->getParentOfType<tile::ThreadsOp>() || op->getParentOfType<tgpu::OneThreadOp>()
             ? Value()
             : compare(arith::CmpIPredicate::eq, threadId, i32(warps.first * 32));
}

FailureOr<SmallVector<ElementIndex>> KernelLowering::elementIndices(Operation *op,
                                                                    ValueRange indices) {
  FailureOr<Fragment> flat = flatten(op, indices);
  if (failed(flat) || flat->size() != indices.size()) {
    return failure();
  }
  SmallVector<ElementIndex> result;
  for (auto [old, value] : llvm::zip_equal(indices, *flat)) {
    result.push_back({value, integers.range(old), integers.divisor(old)});
  }
  return result;
}

LogicalResult KernelLowering::lowerElementLoad(tile::LoadOp op) {
  auto source = views.find(op.getSource());
  if (source == views.end() || source->second.isGathered()) {
    return unsupported(op, source == views.end() ? "a load of such an element"
                                                 : "an element at gathered indices");
  }
  FailureOr<SmallVector<ElementIndex>> indices = elementIndices(op, op.getIndices());
  if (failed(indices)) {
    return failure();
  }
  Neighbours elements(*this, source->second, *indices, lengthOf(op.getResult().getType()));
  scalars[op.getResult()] = loadNeighbours(elements, accessBytesOf(op),
                                           globalUse(source->second, tile::getCacheHint(op)));
  return success();
}

LogicalResult KernelLowering::lowerElementStore(tile::StoreOp op) {
  auto dest = views.find(op.getDest());
  if (dest == views.end() || dest->second.isGathered()) {
    return unsupported(op, dest == views.end() ? "a store of such an element"
                                               : "an element at gathered indices");
  }
  FailureOr<Fragment> values = flatten(op, op.getValue());
  FailureOr<SmallVector<ElementIndex>> indices = elementIndices(op, op.getIndices());
  if (failed(values) || failed(indices)) {
    return failure();
  }
  // In block code all threads run the statement, and one of them writes.
  guarded(writes(op), [&] {
    Neighbours elements(*this, dest->second, *indices, lengthOf(op.getValue().getType()));
    storeNeighbours(elements, *values, accessBytesOf(op),
                    globalUse(dest->second, tile::getCacheHint(op)));
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Indices of buffers
//===----------------------------------------------------------------------===//

Value KernelLowering::indicesInside(ArrayRef<int64_t> shape, ValueRange indices, int64_t count) {
  Value all;
  for (auto [axis, old] : llvm::enumerate(indices)) {
    const int64_t last = shape[axis] - (axis + 1 == indices.size() ? count : 1);
    const IntegerRange range = integers.range(old);
    if (range.low < 0 || range.high > last) {
      Value index = scalars[old][0];
      all = both(all, compare(arith::CmpIPredicate::ule, index, constant(last, index.getType())));
    }
  }
  return all;
}

SmallVector<Value> KernelLowering::clampedIndices(ArrayRef<int64_t> shape, ValueRange indices,
                                                  int64_t count, int64_t unit) {
  SmallVector<Value> clamped;
  for (auto [axis, old] : llvm::enumerate(indices)) {
    const bool isLast = axis + 1 == indices.size();
    const int64_t last = shape[axis] - (isLast ? count : 1);
    const IntegerRange range = integers.range(old);
    Value index = scalars[old][0];
    if (range.low < 0 || range.high > last) {
      const int64_t limit = isLast ? last / unit * unit : last;
      index = b.createOrFold<arith::MinUIOp>(loc, index, constant(limit, index.getType()));
    }
    clamped.push_back(toInteger(index, b.getI32Type()));
  }
  return clamped;
}

} // namespace tilec::lowering
