//===- FragmentParts.cpp --------------------------------------------------===//
#include "passes/FragmentParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilec {

//===----------------------------------------------------------------------===//
// Which part
//===----------------------------------------------------------------------===//

bool FragmentPart::isWhole() const {
  return llvm::all_of(dims, [](const Dim &dim) { return dim.isWhole() && dim.kept >= 0; });
}

bool FragmentPart::keepsWholeDims() const {
  return llvm::all_of(dims, [](const Dim &dim) { return dim.isWhole() || dim.kept < 0; });
}

SmallVector<int64_t> FragmentPart::shape() const {
  SmallVector<int64_t> result;
  for (const Dim &dim : dims) {
    if (dim.kept >= 0) {
      result.push_back(dim.size);
    }
  }
  return result;
}

std::optional<FragmentPart> fragmentPartOf(Value storage) {
  SmallVector<tile::SliceOp> slices; // innermost first
  while (auto slice = storage.getDefiningOp<tile::SliceOp>()) {
    slices.push_back(slice);
    storage = slice.getSource();
  }
  auto buffer = dyn_cast<tile::BufferType>(storage.getType());
  auto tensor = dyn_cast<RankedTensorType>(storage.getType());
  if (!tensor && (!buffer || buffer.getScope() != tile::Scope::Fragment)) {
    return std::nullopt;
  }
  FragmentPart part = {storage, {}};
  for (int64_t extent : tensor ? tensor.getShape() : buffer.getShape()) {
    part.dims.push_back({extent, 0, extent, int64_t(part.dims.size())});
  }
  for (tile::SliceOp slice : llvm::reverse(slices)) {
    int64_t axis = 0, next = 0;
    for (FragmentPart::Dim &dim : part.dims) {
      if (dim.kept < 0) {
        continue;
      }
      APInt offset;
      if (!matchPattern(slice.getOffsets()[axis], m_ConstantInt(&offset))) {
        return std::nullopt;
      }
      dim.offset += offset.getSExtValue();
      const bool isDropped = slice.isDropped(axis);
      dim.size = isDropped ? 1 : slice.getStaticSizes()[axis];
      dim.kept = isDropped ? -1 : next++;
      ++axis;
    }
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static RankedTensorType typeOfWhole(const FragmentPart &part, Type element) {
  return RankedTensorType::get(
      llvm::map_to_vector(part.dims, [](const FragmentPart::Dim &dim) { return dim.extent; }),
      element);
}

/// The index of each element in one dimension, as a line along it.
Value FragmentParts::coordinate(const FragmentPart &part, unsigned dim) {
  return tgpu::CoordinateOp::create(b, loc,
                                    RankedTensorType::get({part.dims[dim].extent}, b.getI32Type()));
}

/// A line along `dim` for all of the whole.
Value FragmentParts::repeated(const FragmentPart &part, unsigned dim, Value line) {
  SmallVector<int64_t> missing;
  for (int64_t other = 0; other < int64_t(part.dims.size()); ++other) {
    if (other != int64_t(dim)) {
      missing.push_back(other);
    }
  }
  Type element = getElementTypeOrSelf(line.getType());
  return missing.empty()
             ? line
             : Value(tile::BroadcastOp::create(b, loc, typeOfWhole(part, element), line, missing));
}

Value FragmentParts::both(Value x, Value y) {
  return x && y ? arith::AndIOp::create(b, loc, x, y).getResult() : x ? x : y;
}

/// Where the elements' indices are `place`; null: everywhere.
Value FragmentParts::isAt(const FragmentPart &part, ArrayRef<Value> place) {
  Value result;
  for (auto [dim, index] : llvm::enumerate(place)) {
    Value at = coordinate(part, dim);
    if (index.getType() != b.getI32Type()) {
      at = arith::ExtSIOp::create(b, loc,
                                  cast<RankedTensorType>(at.getType()).clone(index.getType()), at);
    }
    Value wanted = tile::SplatOp::create(b, loc, at.getType(), index);
    Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at, wanted);
    result = both(result, repeated(part, dim, isHere));
  }
  return result;
}

/// Indices of the whole (i32 or i64) for indices of the part.
SmallVector<Value> FragmentParts::placeOf(const FragmentPart &part, ValueRange indices) {
  SmallVector<Value> place;
  for (const FragmentPart::Dim &dim : part.dims) {
    Value index = dim.kept < 0 ? arith::ConstantIntOp::create(b, loc, dim.offset, 32)
                               : Value(indices[dim.kept]);
    if (index.getType().isIndex()) {
      index = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    }
    if (dim.kept >= 0 && dim.offset != 0) {
      Value offset =
          arith::ConstantOp::create(b, loc, b.getIntegerAttr(index.getType(), dim.offset));
      index = b.createOrFold<arith::AddIOp>(loc, index, offset);
    }
    place.push_back(index);
  }
  return place;
}

/// The index in the part of each element of the whole, in the dimensions that the part has. Elements
/// outside of it have indices that it has not.
SmallVector<Value> FragmentParts::indicesIn(const FragmentPart &part) {
  SmallVector<Value> indices;
  for (auto [number, dim] : llvm::enumerate(part.dims)) {
    if (dim.kept < 0) {
      continue;
    }
    Value line = coordinate(part, number);
    if (dim.offset != 0) {
      Value offset = arith::ConstantIntOp::create(b, loc, dim.offset, 32);
      line = arith::SubIOp::create(b, loc, line,
                                   tile::SplatOp::create(b, loc, line.getType(), offset));
    }
    indices.push_back(repeated(part, number, line));
  }
  return indices;
}

/// Which elements of the whole are in the part; null: all.
Value FragmentParts::isInside(const FragmentPart &part) {
  Value result;
  for (auto [number, dim] : llvm::enumerate(part.dims)) {
    if (dim.isWhole()) {
      continue;
    }
    Value line = coordinate(part, number);
    auto splat = [&](int64_t value) -> Value {
      Value scalar = arith::ConstantIntOp::create(b, loc, value, 32);
      return tile::SplatOp::create(b, loc, line.getType(), scalar);
    };
    Value from = dim.offset == 0 ? line : arith::SubIOp::create(b, loc, line, splat(dim.offset));
    Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, from, splat(dim.size));
    result = both(result, repeated(part, number, isHere));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Packed elements are not written one by one: they go as numbers that hold each of their values.
static Type carrierOf(Type element) {
  if (!tile::isPacked(element)) {
    return element;
  }
  return isa<FloatType>(element) ? Type(Float32Type::get(element.getContext()))
                                 : Type(IntegerType::get(element.getContext(), 8));
}

Value FragmentParts::convert(Value value, Type element) {
  Type type = element;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    type = tensor.clone(element);
  }
  return type == value.getType() ? value
                                 : Value(tile::ConvertOp::create(b, loc, type, value,
                                                                 /*src_unsigned=*/false,
                                                                 /*dst_unsigned=*/false));
}

Value FragmentParts::shared(StringRef what, ArrayRef<int64_t> shape, Type element) {
  const int64_t bits = std::max(8u, tile::getStorageBits(element));
  user->emitRemark("exchange between threads: " + what + " goes through " +
                   std::to_string(ShapedType::getNumElements(shape) * bits / 8) +
                   " bytes of shared memory");
  auto type = tgpu::SmemType::get(b.getContext(), shape, element, {});
  return tgpu::AllocSharedOp::create(b, loc, type, b.getStringAttr("part"), StringAttr(),
                                     IntegerAttr());
}

Value FragmentParts::element(Value whole, const FragmentPart &part, ValueRange indices) {
  Type element = getElementTypeOrSelf(whole.getType());
  Value numbers = convert(whole, carrierOf(element));
  Type carrier = getElementTypeOrSelf(numbers.getType());
  SmallVector<Value> place = placeOf(part, indices);
  for (auto [dim, index] : llvm::zip_equal(part.dims, place)) {
    Value last =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(index.getType(), dim.extent - 1));
    index = b.createOrFold<arith::MinUIOp>(loc, index, last);
  }
  Value word = shared("one element of a tile", {1}, carrier);
  Value first = arith::ConstantIntOp::create(b, loc, 0, 32);
  tgpu::ScatterOp::create(b, loc, numbers, word, first, isAt(part, place));
  Value result = tgpu::LoadElementOp::create(b, loc, carrier, word, first);
  return convert(result, element);
}

Value FragmentParts::inShared(Value whole) {
  auto tile = cast<RankedTensorType>(whole.getType());
  Value buffer =
      shared("a tile whose elements threads read", tile.getShape(), tile.getElementType());
  tgpu::LocalStoreOp::create(b, loc, whole, buffer);
  return buffer;
}

Value FragmentParts::elementOfThread(Type type, Value buffer, const FragmentPart &part,
                                     ValueRange indices) {
  return tgpu::LoadElementOp::create(b, loc, type, buffer, placeOf(part, indices));
}

Value FragmentParts::withElement(Value whole, const FragmentPart &part, ValueRange indices,
                                 Value element) {
  SmallVector<Value> place = placeOf(part, indices);
  for (auto [dim, index] : llvm::zip_equal(part.dims, place)) {
    if (dim.kept < 0 || dim.isWhole()) {
      continue;
    }
    auto constant = [&](int64_t value) {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(index.getType(), value));
    };
    Value offset = constant(dim.offset), size = constant(dim.size), none = constant(-1);
    Value inPart = b.createOrFold<arith::SubIOp>(loc, index, offset);
    Value isInside = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, inPart, size);
    index = b.createOrFold<arith::SelectOp>(loc, isInside, index, none);
  }
  Value isHere = isAt(part, place);
  Value all = tile::SplatOp::create(b, loc, whole.getType(), element);
  return arith::SelectOp::create(b, loc, isHere, all, whole);
}

Value FragmentParts::read(Value whole, const FragmentPart &part) {
  if (part.isWhole()) {
    return whole;
  }
  Type element = getElementTypeOrSelf(whole.getType());
  Value numbers = convert(whole, carrierOf(element));
  Type carrier = getElementTypeOrSelf(numbers.getType());
  SmallVector<int64_t> shape = part.shape();
  Value buffer = shared("a slice of a fragment", shape, carrier);
  tgpu::ScatterOp::create(b, loc, numbers, buffer, indicesIn(part), isInside(part));
  Value tile =
      tgpu::LocalLoadOp::create(b, loc, RankedTensorType::get(shape, carrier), buffer).getResult();
  return convert(tile, element);
}

Value FragmentParts::with(Value whole, const FragmentPart &part, Value tile) {
  if (part.isWhole()) {
    return tile;
  }
  auto type = cast<RankedTensorType>(whole.getType());
  Value isNew = isInside(part), elements;
  SplatElementsAttr constant;
  auto splat = tile.getDefiningOp<tile::SplatOp>();
  if (matchPattern(tile, m_Constant(&constant))) {
    Value scalar =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
    elements = tile::SplatOp::create(b, loc, type, scalar);
  } else if (splat) {
    elements = tile::SplatOp::create(b, loc, type, splat.getInput());
  } else if (part.keepsWholeDims()) {
    SmallVector<int64_t> missing;
    for (auto [number, dim] : llvm::enumerate(part.dims)) {
      if (dim.kept < 0) {
        missing.push_back(number);
      }
    }
    elements = tile::BroadcastOp::create(b, loc, type, tile, missing);
  } else {
    Value numbers = convert(tile, carrierOf(type.getElementType()));
    Type carrier = getElementTypeOrSelf(numbers.getType());
    Value buffer = shared("a slice of a fragment", part.shape(), carrier);
    tgpu::LocalStoreOp::create(b, loc, numbers, buffer);
    Value spread =
        tgpu::GatherOp::create(b, loc, type.clone(carrier), buffer, indicesIn(part), isNew);
    elements = convert(spread, type.getElementType());
  }
  return isNew ? arith::SelectOp::create(b, loc, isNew, elements, whole).getResult() : elements;
}

} // namespace tilec
