//===- TgpuPackedOps.cpp - elements of less than a byte, and their bytes --===//
#include "dialects/tgpu/Tgpu.h"

using namespace mlir;
using namespace tilec::tgpu;
namespace layout = tilec::layout;

/// `elements`: two for each of `bytes` along the last dimension, held by the same threads.
static LogicalResult verifyPacking(Operation *op, Type bytes, Type elements) {
  auto from = cast<ShapedType>(bytes), to = cast<ShapedType>(elements);
  if (!from.getElementType().isInteger(8) ||
      tilec::tile::getStorageBits(to.getElementType()) != 4) {
    return op->emitOpError("packs elements of 4 bits in bytes, i8");
  }
  SmallVector<int64_t> shape(from.getShape());
  if (isa<VectorType>(bytes) != isa<VectorType>(elements) || shape.empty()) {
    return op->emitOpError("has a tile and a tile, or a vector and a vector");
  }
  shape.back() *= 2;
  if (ArrayRef<int64_t>(shape) != to.getShape()) {
    return op->emitOpError("has two elements for each byte along the last dimension");
  }
  const layout::RegisterLayout *packed = getLayout(bytes), *apart = getLayout(elements);
  if (packed || apart) {
    auto pairs = apart ? apart->pairs() : layout::Refusal{"no layout"};
    if (!packed || !pairs || !pairs->sameMap(*packed)) {
      return op->emitOpError("keeps both elements of a byte in its thread");
    }
  }
  return success();
}

LogicalResult UnpackOp::verify() {
  return verifyPacking(*this, getSource().getType(), getResult().getType());
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, getResult().getType(), getSource().getType());
}
