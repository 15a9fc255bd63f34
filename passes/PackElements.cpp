//===- PackElements.cpp - memory of elements of less than a byte ---------===//
//
// Two elements of 4 bits share a byte, the even one in its low half (docs/language.md section 4).
// Memory of such elements becomes memory of bytes, with half as many along the last dimension:
// views, slices, buffers and what accesses them. No later pass knows of it: copies, layouts, tensor
// maps and synchronisation are those of bytes. The elements are values, which `tgpu.unpack` takes
// out of bytes that were loaded and `tgpu.pack` puts into bytes that are stored; both keep the two
// of a byte in one thread, so that no two threads ever write to a byte.
//
// A slice begins at an even element, but may end inside a byte. Then the byte is in range, its high
// half is not: loads clear it, stores are refused.
//
//===----------------------------------------------------------------------===//
#include "passes/PackElements.h"

#include "dialects/support/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_PACKELEMENTS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tile::GlobalType;

namespace {

Type elementOf(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<GlobalType, tgpu::SmemType>([](auto shaped) { return shaped.getElementType(); })
      .Default([](Type other) { return getElementTypeOrSelf(other); });
}

/// True for memory of packed elements.
bool isPackedMemory(Type type) {
  return isa<GlobalType, tgpu::SmemType>(type) && tile::isPacked(elementOf(type));
}

} // namespace

SmallVector<int64_t> tilec::shapeOfBytes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  if (!result.empty() && !ShapedType::isDynamic(result.back())) {
    result.back() = llvm::divideCeil(result.back(), 2);
  }
  return result;
}

LogicalResult Packer::refuse(Operation *op, const Twine &what, StringRef wayOut) {
  InFlightDiagnostic error =
      emitError(op->getLoc(), diag::formatDiagnostic(diag::Id::NotSupportedTarget, what.str(),
                                                     kernel.getTarget().value_or("this target")));
  if (!wayOut.empty()) {
    error.attachNote(op->getLoc()) << wayOut;
  }
  return error;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value Packer::constant(Type type, int64_t value) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return tile::SplatOp::create(b, loc, tensor, constant(tensor.getElementType(), value));
  }
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// Sums and products that the analyses of regions and offsets look into stay such. An even number's
/// half may be taken before it wraps: where that differs, the program had an overflow.
Value Packer::half(Value index) {
  APInt number;
  auto isEven = [&](Value value) { return integers.divisor(value) % 2 == 0; };
  if (matchPattern(index, m_ConstantInt(&number))) {
    return constant(index.getType(), number.getSExtValue() >> 1);
  }
  if (auto sum = index.getDefiningOp<arith::AddIOp>();
      sum && isEven(sum.getLhs()) && isEven(sum.getRhs())) {
    return arith::AddIOp::create(b, loc, half(sum.getLhs()), half(sum.getRhs()));
  }
  if (auto product = index.getDefiningOp<arith::MulIOp>();
      product && matchPattern(product.getRhs(), m_ConstantInt(&number)) && !number[0]) {
    return arith::MulIOp::create(b, loc, product.getLhs(),
                                 constant(index.getType(), number.getSExtValue() / 2));
  }
  return arith::ShRSIOp::create(b, loc, index, constant(index.getType(), 1));
}

Value Packer::smaller(Value x, Value y) { return y ? arith::MinSIOp::create(b, loc, x, y) : x; }

Value Packer::wide(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isInteger(64)) {
    return value;
  }
  Type type = b.getI64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    type = tensor.clone(type);
  }
  return arith::ExtSIOp::create(b, loc, type, value);
}

Value Packer::elementIn(Value bytes, Value index, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(bytes.getType());
  auto like = [&](Type element) { return tensor ? Type(tensor.clone(element)) : element; };
  if (tensor && !isa<RankedTensorType>(index.getType())) {
    index = tile::SplatOp::create(b, loc, tensor.clone(index.getType()), index);
  }
  Value odd = arith::AndIOp::create(b, loc, index, constant(index.getType(), 1));
  Value shift = arith::ShLIOp::create(b, loc, odd, constant(index.getType(), 2));
  if (getElementTypeOrSelf(shift.getType()) != b.getI8Type()) {
    shift = arith::TruncIOp::create(b, loc, like(b.getI8Type()), shift);
  }
  Value low = arith::ShRUIOp::create(b, loc, bytes, shift);
  Value bits = arith::TruncIOp::create(b, loc, like(b.getIntegerType(4)), low);
  return bits.getType() == type ? bits : arith::BitcastOp::create(b, loc, type, bits);
}

Value Packer::beforeEnd(Value value, Value index, Value end) {
  if (!end) {
    return value;
  }
  Value at = wide(index);
  if (auto tensor = dyn_cast<RankedTensorType>(at.getType())) {
    end = tile::SplatOp::create(b, loc, tensor, end);
  }
  Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, end);
  Type element = getElementTypeOrSelf(value.getType());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    zero = tile::SplatOp::create(b, loc, tensor, zero);
  }
  return arith::SelectOp::create(b, loc, isBefore, value, zero);
}

Value Packer::clearTail(Value bytes, Value end) {
  if (!end) {
    return bytes;
  }
  auto type = cast<RankedTensorType>(bytes.getType());
  auto line = RankedTensorType::get({type.getShape().back()}, b.getI64Type());
  Value at = tgpu::CoordinateOp::create(b, loc, line);
  Value high =
      arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, at, at), constant(line, 1));
  Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, high,
                                         tile::SplatOp::create(b, loc, line, end));
  if (type.getRank() > 1) {
    isBefore =
        tile::BroadcastOp::create(b, loc, type.clone(b.getI1Type()), isBefore,
                                  llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1)));
  }
  Value low = arith::AndIOp::create(b, loc, bytes, constant(type, 15));
  return arith::SelectOp::create(b, loc, isBefore, bytes, low);
}

Value Packer::unpacked(Value bytes, Type type) {
  return tgpu::UnpackOp::create(b, loc, type, bytes);
}

Value Packer::packed(Value elements) {
  auto type = cast<ShapedType>(elements.getType());
  return tgpu::PackOp::create(b, loc, type.clone(shapeOfBytes(type.getShape()), b.getI8Type()),
                              elements);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult Packer::convertBitcast(tile::BitcastViewOp op) {
  if (!isa<GlobalType>(op.getSource().getType())) {
    return success();
  }
  auto result = cast<GlobalType>(op.getResult().getType());
  auto asBytes = [&](Value source, Type element, ArrayRef<int64_t> shape) -> Value {
    auto type = GlobalType::get(b.getContext(), shape, element);
    return source.getType() == type ? source : tile::BitcastViewOp::create(b, loc, type, source);
  };
  if (tile::isPacked(result.getElementType())) {
    Packed source = lookup(op.getSource());
    if (!source.bytes) {
      source.bytes = asBytes(op.getSource(), b.getI8Type(), shapeOfBytes(result.getShape()));
    }
    regions[op.getResult()] = source;
    dead.push_back(op);
  } else if (isPackedMemory(op.getSource().getType())) {
    const Packed source = lookup(op.getSource());
    if (source.column || source.end) {
      return refuse(op, "a `bitcast` of part of a row of packed elements");
    }
    replace(op, asBytes(source.bytes, result.getElementType(), result.getShape()));
  }
  return success();
}

/// True where a slice of this size cannot end inside a byte. A size that was cut to the largest number
/// of its type, as those of `a..b` are, reaches beyond every extent from any index on.
bool Packer::endsAtByte(Value size, Value offset) {
  if (integers.divisor(size) % 2 == 0) {
    return true;
  }
  if (auto choice = size.getDefiningOp<arith::SelectOp>()) {
    return endsAtByte(choice.getTrueValue(), offset) && endsAtByte(choice.getFalseValue(), offset);
  }
  APInt most;
  auto cut = size.getDefiningOp<arith::MinUIOp>();
  return cut && matchPattern(cut.getRhs(), m_ConstantInt(&most)) && most.isMaxSignedValue() &&
         integers.isNonNegative(offset) && endsAtByte(cut.getLhs(), offset);
}

/// What the slice takes of the last dimension; `sizes` are those of the new slice.
void Packer::takeColumns(tile::SliceOp op, const Packed &source, Packed &result,
                         SmallVectorImpl<Value> &sizes) {
  const unsigned last = op.getStaticSizes().size() - 1;
  Value offset = op.getOffsets()[last];
  if (source.end) {
    result.end = arith::SubIOp::create(b, loc, source.end, wide(offset));
  }
  if (op.isDropped(last)) {
    result.column = offset;
    result.end = source.end;
    return;
  }
  const int64_t size = op.getStaticSizes()[last];
  if (Value dynamic = op.getDynamicSize(last)) {
    if (integers.divisor(dynamic) % 2 == 0) {
      sizes.back() = half(dynamic);
      return;
    }
    sizes.back() = arith::SubIOp::create(b, loc, dynamic, half(dynamic));
    if (!endsAtByte(dynamic, offset)) {
      result.end = smaller(wide(dynamic), result.end);
    }
  } else if (size % 2 != 0) {
    result.end = smaller(constant(b.getI64Type(), size), result.end);
  }
}

LogicalResult Packer::convertSlice(tile::SliceOp op) {
  auto type = cast<GlobalType>(op.getResult().getType());
  const Packed source = lookup(op.getSource());
  const unsigned last = op.getStaticSizes().size() - 1;
  SmallVector<Value> offsets(op.getOffsets()), sizes(op.getSizes());
  SmallVector<int64_t> staticSizes(op.getStaticSizes()), shape(type.getShape());
  Packed result = {Value(), source.column, source.end};
  if (!source.column) {
    if (op.isGather(last)) {
      return refuse(op, "a gather of packed elements along their last dimension");
    }
    takeColumns(op, source, result, sizes);
    offsets.back() = half(offsets.back());
    if (!op.isDropped(last)) {
      staticSizes = shapeOfBytes(staticSizes);
      shape = shapeOfBytes(shape);
    }
  }
  auto bytes = GlobalType::get(b.getContext(), shape, b.getI8Type());
  result.bytes = tile::SliceOp::create(b, loc, bytes, source.bytes, offsets, sizes, staticSizes);
  regions[op.getResult()] = result;
  dead.push_back(op);
  return success();
}

LogicalResult Packer::convertExtent(tile::ExtentOp op) {
  const Packed source = lookup(op.getSource());
  auto type = cast<GlobalType>(op.getSource().getType());
  const bool isLast = !source.column && int64_t(op.getAxis()) + 1 == type.getRank();
  Value extent =
      tile::ExtentOp::create(b, loc, op.getResult().getType(), source.bytes, op.getAxis());
  if (isLast && source.end) {
    Value end = arith::MaxSIOp::create(b, loc, source.end, constant(b.getI64Type(), 0));
    extent = op.getResult().getType().isInteger(64)
                 ? end
                 : Value(arith::TruncIOp::create(b, loc, op.getResult().getType(), end));
  } else if (isLast) {
    extent = arith::AddIOp::create(b, loc, extent, extent);
  }
  replace(op, extent);
  return success();
}

LogicalResult Packer::convertAlloc(tgpu::AllocSharedOp op) {
  tgpu::SmemType type = op.getResult().getType();
  if (type.getShape().empty() || type.getShape().back() % 2 != 0) {
    return refuse(op, "a shared buffer of packed elements that ends inside a byte");
  }
  auto bytes = tgpu::SmemType::get(b.getContext(), shapeOfBytes(type.getShape()), b.getI8Type(),
                                   type.getLayout());
  regions[op.getResult()] = {tgpu::AllocSharedOp::create(b, loc, bytes, op.getNameAttr(),
                                                         op.getLayoutHintAttr(),
                                                         op.getOffsetAttr()),
                             Value(), Value()};
  dead.push_back(op);
  return success();
}

LogicalResult Packer::convertSubview(tgpu::SubviewOp op) {
  tgpu::SmemType type = op.getResult().getType();
  SmallVector<int64_t> offsets(op.getOffsets());
  if (offsets.back() % 2 != 0 || type.getShape().back() % 2 != 0) {
    return refuse(op, "a part of a shared buffer that begins or ends inside a byte");
  }
  offsets.back() /= 2;
  auto bytes = tgpu::SmemType::get(b.getContext(), shapeOfBytes(type.getShape()), b.getI8Type(),
                                   type.getLayout());
  regions[op.getResult()] = {
      tgpu::SubviewOp::create(b, loc, bytes, lookup(op.getSource()).bytes, offsets), Value(),
      Value()};
  dead.push_back(op);
  return success();
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult Packer::convert(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  if (auto bitcast = dyn_cast<tile::BitcastViewOp>(op)) {
    return convertBitcast(bitcast);
  }
  const bool isPacked = llvm::any_of(op->getOperandTypes(), isPackedMemory) ||
                        llvm::any_of(op->getResultTypes(), isPackedMemory);
  if (!isPacked || isa<tgpu::ViewOp>(op)) {
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::SliceOp o) { return convertSlice(o); })
      .Case([&](tile::ExtentOp o) { return convertExtent(o); })
      .Case([&](tgpu::AllocSharedOp o) { return convertAlloc(o); })
      .Case([&](tgpu::SubviewOp o) { return convertSubview(o); })
      .Case([&](tgpu::LoadOp o) { return convertLoad(o); })
      .Case([&](tgpu::StoreOp o) { return convertStore(o); })
      .Case([&](tgpu::CopyOp o) { return convertCopy(o); })
      .Case([&](tgpu::LocalLoadOp o) { return convertLocalLoad(o); })
      .Case([&](tgpu::LocalStoreOp o) { return convertLocalStore(o); })
      .Case([&](tgpu::GatherOp o) { return convertGather(o); })
      .Case<tile::LoadOp, tgpu::LoadElementOp>([&](auto o) { return convertElementLoad(o); })
      .Case<tile::StoreOp, tgpu::StoreElementOp>([&](auto o) { return convertElementStore(o); })
      .Case([&](tgpu::ScatterOp o) {
        return refuse(o, "writing packed elements at computed indices or under a condition",
                      "write them to a fragment or a shared buffer, and copy that");
      })
      .Default([&](Operation *other) {
        return refuse(other,
                      ("`" + other->getName().getStringRef() + "` of packed elements").str());
      });
}

LogicalResult Packer::run() {
  SmallVector<Operation *> ops;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (failed(convert(op))) {
      return failure();
    }
  }
  for (Operation *op : llvm::reverse(dead)) {
    op->erase();
  }
  return success();
}

namespace {
struct PackElements : tilec::impl::PackElementsBase<PackElements> {
  void runOnOperation() override {
    if (failed(Packer(getOperation()).run())) {
      signalPassFailure();
    }
  }
};
} // namespace
