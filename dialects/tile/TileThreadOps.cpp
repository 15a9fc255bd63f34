//===- TileThreadOps.cpp - atomics, warps, output: verifiers --------------===//
#include "dialects/tile/TileShapes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Checks the place of an atomic: global memory or shared memory.
static LogicalResult verifyAtomicPlace(Operation *op, Type place) {
  auto buffer = dyn_cast<BufferType>(place);
  return !buffer || buffer.getScope() == Scope::Shared
             ? success()
             : op->emitOpError("acts on global and shared memory");
}

static LogicalResult verifyElementAtomic(Operation *op, Type place, size_t numIndices, Type value) {
  if (numIndices != shapeOf(place).size()) {
    return op->emitOpError("has ") << numIndices << " indices for rank " << shapeOf(place).size();
  }
  if (elementOf(place) != value) {
    return op->emitOpError("value type is not the element type");
  }
  return verifyAtomicPlace(op, place);
}

LogicalResult AtomicOp::verify() {
  if (getResult().getType() != getValue().getType()) {
    return emitOpError("returns the old value");
  }
  return verifyElementAtomic(*this, getPlace().getType(), getIndices().size(),
                             getValue().getType());
}

LogicalResult AtomicCasOp::verify() {
  Type type = getValue().getType();
  if (getResult().getType() != type || getExpected().getType() != type) {
    return emitOpError("has values of one type");
  }
  return verifyElementAtomic(*this, getPlace().getType(), getIndices().size(), type);
}

LogicalResult AtomicTileOp::verify() {
  Type place = getPlace().getType(), value = getValue().getType();
  if (shapeOf(place) != shapeOf(value) || elementOf(place) != elementOf(value)) {
    return emitOpError("value and place differ in shape or element type");
  }
  if (getKind() == AtomicKind::Exchange) {
    return emitOpError("exchanges single elements only");
  }
  return verifyAtomicPlace(*this, place);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

static LogicalResult verifyWidth(Operation *op, uint32_t width) {
  return llvm::isPowerOf2_32(width) && width <= 32
             ? success()
             : op->emitOpError("has a width that is a power of two up to 32");
}

LogicalResult WarpOp::verify() {
  if (getKind() > WarpOpKind::All) {
    return emitOpError("is a reduction; exchanges are `tile.shuffle`");
  }
  bool isLogical = getKind() == WarpOpKind::Any || getKind() == WarpOpKind::All;
  if (isLogical && !getValue().getType().isInteger(1)) {
    return emitOpError("of this kind takes an i1");
  }
  return verifyWidth(*this, getWidth());
}

LogicalResult WarpScanOp::verify() {
  const CombineKind kind = getKind();
  if (kind != CombineKind::Sum && kind != CombineKind::Prod && kind != CombineKind::Max &&
      kind != CombineKind::Min) {
    return emitOpError("is a sum, a product, a maximum or a minimum");
  }
  return verifyWidth(*this, getWidth());
}

LogicalResult ShuffleOp::verify() {
  if (getKind() < WarpOpKind::Shuffle) {
    return emitOpError("is an exchange; reductions are `tile.warp`");
  }
  if (getResult().getType() != getValue().getType()) {
    return emitOpError("returns a value of the type that it takes");
  }
  return verifyWidth(*this, getWidth());
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// Checks that `format` has one `{}` for each value.
static LogicalResult verifyFormat(Operation *op, StringRef format, size_t numValues) {
  size_t places = format.count("{}");
  return places == numValues ? success()
                             : op->emitOpError("has ") << numValues << " values for " << places
                                                       << " places in its text";
}

/// A number of elements as a message holds it: each in its bytes, what is less than a byte in one.
static int64_t messageBytes(Type type) {
  int64_t count = 1;
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    count = shaped.getNumElements();
    type = shaped.getElementType();
  }
  return count * std::max<int64_t>(1, type.isIndex() ? 8 : type.getIntOrFloatBitWidth() / 8);
}

tilec::tile::MessageShape tilec::tile::messageShape(TypeRange values) {
  constexpr int64_t kWord = 8; // the message's head, and what values begin at multiples of
  MessageShape shape{{}, kWord};
  for (Type type : values) {
    shape.offsets.push_back(shape.bytes);
    shape.bytes += llvm::alignTo(messageBytes(type), kWord);
  }
  return shape;
}

LogicalResult PrintOp::verify() { return verifyFormat(*this, getFormat(), getValues().size()); }
LogicalResult AssertOp::verify() { return verifyFormat(*this, getFormat(), getValues().size()); }

LogicalResult VerifyOp::verify() {
  if (getValues().size() > FailureRecord::kMaxValues) {
    return emitOpError("shows ") << getValues().size() << " values, the record of a failure has "
                                 << FailureRecord::kMaxValues;
  }
  return verifyFormat(*this, getText(), getValues().size());
}

LogicalResult VerifyOp::canonicalize(VerifyOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One())) {
    return failure();
  }
  rewriter.eraseOp(op);
  return success();
}
