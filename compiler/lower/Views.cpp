// Places: views of global memory, buffers and their parts, elements.
#include "compiler/lower/Lowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value Lowering::lowerPlace(const sema::Expr &expr) {
  At at(*this, expr.range);
  switch (expr.kind) {
  case sema::Expr::Kind::Ref:
    return lowerPlaceRef(llvm::cast<sema::RefExpr>(expr));
  case sema::Expr::Kind::Slice:
    return lowerSlice(llvm::cast<sema::SliceExpr>(expr));
  case sema::Expr::Kind::Origin:
    return lowerOrigin(llvm::cast<sema::OriginExpr>(expr));
  case sema::Expr::Kind::Reshape:
    return lowerReshape(llvm::cast<sema::ReshapeExpr>(expr));
  case sema::Expr::Kind::BitcastView:
    return lowerBitcastView(llvm::cast<sema::BitcastViewExpr>(expr));
  default:
    return lowerValue(expr); // a tile value
  }
}

Value Lowering::lowerPlaceRef(const sema::RefExpr &expr) {
  if (auto *array = llvm::dyn_cast<sema::ConstArrayDecl>(expr.decl)) {
    return constantArray(*array);
  }
  Value place = values.lookup(expr.decl);
  if (!place) {
    diagnostics.report(diag::Id::InternalError, expr.range,
                       "`" + expr.decl->name + "` is not lowered yet");
    bool isBuffer = expr.space == sema::Space::Shared || expr.space == sema::Space::Fragment ||
                    expr.space == sema::Space::Local;
    place = placeholder(isBuffer         ? Type(bufferType(expr.type, tile::Scope::Shared))
                        : expr.isPlace() ? Type(globalType(expr.type))
                                         : valueType(expr.type));
    values[expr.decl] = place;
  }
  return place;
}

Value Lowering::constantArray(const sema::ConstArrayDecl &decl) {
  SmallVector<Attribute> elements;
  for (const sema::Expr *value : decl.values) {
    elements.push_back(constantAttr(*llvm::cast<sema::ConstantExpr>(value)));
  }
  auto type = RankedTensorType::get({(int64_t)elements.size()}, elementType(decl.type.elem));
  auto array = tile::ConstantArrayOp::create(b, type, DenseElementsAttr::get(type, elements));
  tile::kName.set(array, b.getStringAttr(decl.name));
  return array;
}

/// The part of `base` with one offset and one size for each dimension. `dynamicSizes` are those of
/// the dimensions whose size is dynamic, in order.
Value Lowering::makeSlice(Value base, ArrayRef<Value> offsets, ArrayRef<int64_t> sizes,
                          ArrayRef<Value> dynamicSizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> list;
  size_t nextDynamic = 0;
  for (int64_t size : sizes) {
    if (size == tile::SliceOp::kDropped) {
      continue;
    }
    shape.push_back(size);
    list.push_back(ShapedType::isDynamic(size) ? dynamicSizes[nextDynamic++] : Value());
  }
  Type type = llvm::TypeSwitch<Type, Type>(base.getType())
                  .Case([&](tile::GlobalType global) {
                    return tile::GlobalType::get(b.getContext(), shape, global.getElementType());
                  })
                  .Case([&](tile::BufferType buffer) {
                    return tile::BufferType::get(b.getContext(), shape, buffer.getElementType(),
                                                 buffer.getScope());
                  })
                  .Default([&](Type tensor) {
                    return RankedTensorType::get(shape, getElementTypeOrSelf(tensor));
                  });
  Value slice = tile::SliceOp::create(b, type, base, offsets, dynamicSizes, sizes);
  if (isa<tile::GlobalType>(type)) {
    extents[slice] = list;
  }
  return slice;
}

/// The extent of a slice `begin..end`, negative perhaps if it is empty, at most the largest value of
/// the wider of the two types.
Value Lowering::distance(Value begin, Value end) {
  bool wide = begin.getType().isInteger(64) || end.getType().isInteger(64);
  Type type = wide ? b.getI64Type() : b.getI32Type();
  begin = resizeInteger(begin, sema::Scalar::I32, type);
  end = resizeInteger(end, sema::Scalar::I32, type);
  if (matchPattern(begin, m_Zero())) {
    return end;
  }
  if (threads == 0) { // the host part is exact: what does not fit is an error at launch
    return arith::SubIOp::create(b, end, begin, arith::IntegerOverflowFlags::nsw);
  }
  // Where end is above begin, their difference fits the unsigned type of that width.
  Value difference = arith::SubIOp::create(b, end, begin);
  Value most = intConstant(type, wide ? INT64_MAX : INT32_MAX), none = intConstant(type, 0);
  Value isAny = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, end, begin);
  Value count = arith::MinUIOp::create(b, difference, most);
  return arith::SelectOp::create(b, isAny, count, none);
}

/// What subscripts apply to: of a `local` buffer in block code, the tile of what all threads hold.
Value Lowering::lowerSubscripted(const sema::Expr &base) {
  Value place = lowerPlace(base);
  auto buffer = dyn_cast<tile::BufferType>(place.getType());
  const bool isOfThreads = buffer && buffer.getScope() == tile::Scope::Local && !inRegion;
  return isOfThreads ? readPlace(place) : place;
}

Value Lowering::lowerSlice(const sema::SliceExpr &expr) {
  Value base = lowerSubscripted(*expr.base);
  SmallVector<Value> offsets, dynamicSizes;
  SmallVector<int64_t> sizes;
  for (auto [axis, subscript] : llvm::enumerate(expr.subscripts)) {
    using Kind = sema::Subscript::Kind;
    switch (subscript.kind) {
    case Kind::Index:
      offsets.push_back(lowerIndex(*subscript.begin));
      sizes.push_back(tile::SliceOp::kDropped);
      break;
    case Kind::Gather:
      offsets.push_back(lowerValue(*subscript.begin));
      sizes.push_back(subscript.size);
      break;
    case Kind::All:
      offsets.push_back(intConstant(b.getI32Type(), 0));
      sizes.push_back(subscript.size);
      if (subscript.size == sema::kDynamic) {
        dynamicSizes.push_back(extentOf(base, axis));
      }
      break;
    case Kind::Range: {
      Value begin = lowerIndex(*subscript.begin);
      offsets.push_back(begin);
      sizes.push_back(subscript.size);
      if (subscript.size == sema::kDynamic) {
        dynamicSizes.push_back(distance(begin, lowerIndex(*subscript.end)));
      }
      break;
    }
    }
  }
  return makeSlice(base, offsets, sizes, dynamicSizes);
}

Value Lowering::lowerOrigin(const sema::OriginExpr &expr) {
  Value base = lowerSubscripted(*expr.base);
  SmallVector<Value> offsets;
  SmallVector<int64_t> sizes;
  size_t fixed = expr.subscripts.size() - expr.type.rank();
  for (auto [axis, subscript] : llvm::enumerate(expr.subscripts)) {
    bool isGather = subscript.kind == sema::Subscript::Kind::Gather;
    offsets.push_back(isGather ? lowerValue(*subscript.begin) : lowerIndex(*subscript.begin));
    sizes.push_back(axis < fixed ? tile::SliceOp::kDropped : expr.type.shape[axis - fixed]);
  }
  return makeSlice(base, offsets, sizes, {});
}

//===----------------------------------------------------------------------===//
// Other shapes and types of the same memory
//===----------------------------------------------------------------------===//

Value Lowering::lowerReshape(const sema::ReshapeExpr &expr) {
  Value base = lowerPlace(*expr.base);
  SmallVector<Value> list, operands;
  for (auto [axis, size] : llvm::enumerate(expr.type.shape)) {
    bool isStatic = size != sema::kDynamic;
    list.push_back(isStatic ? Value() : extentValue(expr.extents[axis]));
    if (!isStatic) {
      operands.push_back(list.back());
    }
  }
  if (auto buffer = dyn_cast<tile::BufferType>(base.getType())) {
    return tile::ReshapeOp::create(b, bufferType(expr.type, buffer.getScope()), base, operands);
  }
  checkReshape(expr, base, list);
  Value result = tile::ReshapeOp::create(b, globalType(expr.type), base, operands);
  extents[result] = list;
  return result;
}

/// The number of elements, in i64.
static Value numElements(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes) {
  Value product;
  for (Value size : sizes) {
    if (size.getType().isInteger(32)) {
      size = arith::ExtSIOp::create(b, b.getI64Type(), size);
    }
    product = product ? arith::MulIOp::create(b, product, size).getResult() : size;
  }
  return product;
}

void Lowering::checkReshape(const sema::ReshapeExpr &expr, Value base, ArrayRef<Value> list) {
  auto baseType = cast<tile::GlobalType>(base.getType());
  bool isStatic = expr.type.hasStaticShape() && expr.base->type.hasStaticShape();
  if (isStatic) {
    return; // compared by analysis
  }
  SmallVector<Value> before, after;
  for (unsigned axis = 0; axis != baseType.getRank(); ++axis) {
    before.push_back(extentOf(base, axis));
  }
  for (auto [value, size] : llvm::zip_equal(list, expr.type.shape)) {
    after.push_back(value ? value : intConstant(b.getI64Type(), size));
  }
  Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, numElements(b, before),
                                      numElements(b, after));
  if (threads == 0) {
    for (Value extent : list) {
      if (extent) {
        Value isSize = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, extent,
                                             intConstant(extent.getType(), 0));
        tile::CheckOp::create(b, isSize, "reshape", "extents of `reshape` are not negative",
                              Value());
      }
    }
    tile::CheckOp::create(b, equal, "reshape", "`reshape` keeps the number of elements", Value());
  } else {
    tile::AssertOp::create(b, equal, "`reshape` keeps the number of elements", ValueRange(),
                           DenseI32ArrayAttr());
  }
}

/// Larger elements: a whole number of them, which analysis compares where the extent is constant.
void Lowering::checkBitcast(const sema::BitcastViewExpr &expr, Value base) {
  const int64_t from = sema::scalarBits(expr.base->type.elem),
                to = sema::scalarBits(expr.type.elem);
  if (to <= from || expr.type.shape.back() != sema::kDynamic) {
    return;
  }
  Value extent = extentOf(base, expr.type.shape.size() - 1);
  Value rest = arith::RemSIOp::create(b, extent, intConstant(extent.getType(), to / from));
  Value isWhole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, intConstant(extent.getType(), 0));
  constexpr StringRef text = "the last extent of `bitcast` is a whole number of elements";
  if (threads == 0) {
    tile::CheckOp::create(b, isWhole, "bitcast-extent", text, Value());
  } else {
    tile::AssertOp::create(b, isWhole, text, ValueRange(), DenseI32ArrayAttr());
  }
}

Value Lowering::lowerBitcastView(const sema::BitcastViewExpr &expr) {
  Value base = lowerPlace(*expr.base);
  Type type;
  if (auto buffer = dyn_cast<tile::BufferType>(base.getType())) {
    type = bufferType(expr.type, buffer.getScope());
  } else {
    type = globalType(expr.type);
  }
  checkBitcast(expr, base);
  Value result = tile::BitcastViewOp::create(b, type, base);
  // The extent of the last dimension is asked of the view itself.
  auto known = extents.find(base);
  if (known != extents.end()) {
    SmallVector<Value> list = known->second;
    list.back() = {};
    extents[result] = list;
  }
  return result;
}

Value Lowering::extentOf(Value place, unsigned axis) {
  ArrayRef<int64_t> shape =
      llvm::TypeSwitch<Type, ArrayRef<int64_t>>(place.getType())
          .Case<tile::GlobalType, tile::BufferType>([](auto type) { return type.getShape(); })
          .Default([](Type type) { return cast<ShapedType>(type).getShape(); });
  if (!ShapedType::isDynamic(shape[axis])) {
    bool narrow = llvm::isInt<32>(shape[axis]);
    return intConstant(narrow ? b.getI32Type() : b.getI64Type(), shape[axis]);
  }
  auto known = extents.find(place);
  if (known != extents.end() && known->second[axis]) {
    return known->second[axis];
  }
  return tile::ExtentOp::create(b, b.getI32Type(), place, axis);
}

/// What a program sees of an extent: a slice `a..b` with b < a has none.
Value Lowering::lowerExtentOf(const sema::ExtentOfExpr &expr) {
  Value place = lowerPlace(*expr.place);
  Value extent = resizeInteger(extentOf(place, expr.axis), sema::Scalar::I64, valueType(expr.type));
  if (!place.getDefiningOp<tile::SliceOp>()) {
    return extent;
  }
  return arith::MaxSIOp::create(b, extent, constantLike(extent.getType(), 0));
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

/// The whole of a buffer. In block code a `local` buffer reads as one slice for each thread.
Value Lowering::readPlace(Value place) {
  auto buffer = dyn_cast<tile::BufferType>(place.getType());
  if (!buffer) {
    return place;
  }
  SmallVector<int64_t> shape(buffer.getShape());
  if (buffer.getScope() == tile::Scope::Local && !inRegion) {
    shape.insert(shape.begin(), threads);
  }
  Type type = buffer.getElementType();
  if (!shape.empty()) {
    type = RankedTensorType::get(shape, type);
  }
  return tile::ReadOp::create(b, type, place);
}

/// An index as i32 or i64; u32 does not fit i32.
Value Lowering::lowerIndex(const sema::Expr &expr) {
  Value index = lowerValue(expr);
  sema::Scalar elem = expr.type.elem;
  return elem == sema::Scalar::U32 ? resizeInteger(index, elem, b.getI64Type()) : index;
}

/// An element of a view that is gathered: of the row that its index tile names, -1 beyond its ends. (`parallel` loops have tiles of such
/// elements, tile-raise-parallel, and neighbours along the last dimension have none where that one is gathered.)
void Lowering::atGatheredElement(Access &access, bool isVector) {
  auto slice = access.place.getDefiningOp<tile::SliceOp>();
  if (!slice || b.getInsertionBlock()->getParentOp()->getParentOfType<tile::ParallelOp>() ||
      isa<tile::ParallelOp>(b.getInsertionBlock()->getParentOp()) ||
      llvm::none_of(slice.getOffsets(),
                    [](Value offset) { return isa<RankedTensorType>(offset.getType()); })) {
    return;
  }
  SmallVector<Value> offsets(slice.getOffsets());
  SmallVector<int64_t> sizes(slice.getStaticSizes());
  auto last = llvm::find_if(llvm::reverse(llvm::zip_equal(offsets, sizes)),
                            [](auto dim) { return std::get<1>(dim) != tile::SliceOp::kDropped; });
  if (isVector && isa<RankedTensorType>(std::get<0>(*last).getType())) {
    return;
  }
  size_t kept = 0;
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes)) {
    if (size == tile::SliceOp::kDropped) {
      continue;
    }
    Value &index = access.indices[kept++];
    auto rows = dyn_cast<RankedTensorType>(offset.getType());
    if (!rows) {
      continue;
    }
    Value none = intConstant(index.getType(), 0);
    Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                                           intConstant(index.getType(), rows.getShape().front()));
    Value within = arith::SelectOp::create(b, isInside, index, none);
    Value row = tile::LoadOp::create(b, rows.getElementType(), offset, within);
    offset = arith::SelectOp::create(b, isInside, row, intConstant(row.getType(), -1));
    size = 1;
    index = none;
  }
  access.place = makeSlice(slice.getSource(), offsets, sizes, SmallVector<Value>(slice.getSizes()));
}

Lowering::Access Lowering::lowerAccess(const sema::Expr &base, ArrayRef<const sema::Expr *> indices,
                                       const sema::Type &type) {
  Access access{lowerSubscripted(base), {}};
  for (const sema::Expr *index : indices) {
    access.indices.push_back(lowerIndex(*index));
  }
  auto buffer = dyn_cast<tile::BufferType>(access.place.getType());
  if (!buffer) {
    atGatheredElement(access, type.isVec());
    return access;
  }
  if (access.indices.size() + 1 == (size_t)buffer.getRank() && type.isVec()) {
    access.indices.push_back(intConstant(b.getI32Type(), 0)); // an array of vectors
  }
  return access;
}

Value Lowering::load(const Access &access, const sema::Type &type) {
  auto load = tile::LoadOp::create(b, valueType(type), access.place, access.indices);
  hint(load, access.place);
  return load;
}

void Lowering::store(const Access &access, Value value, sema::SourceRange range) {
  if (isa<RankedTensorType>(access.place.getType())) {
    return unsupported(range, "writing an element of a `local` buffer outside `threads`");
  }
  hint(tile::StoreOp::create(b, value, access.place, access.indices), access.place);
}

void Lowering::hint(Operation *access, Value place) {
  if (cache != tile::CacheHint::None && isa<tile::GlobalType>(place.getType())) {
    tile::kCache.set(access, tile::CacheHintAttr::get(b.getContext(), cache));
    ++hintedAccesses;
  }
}
