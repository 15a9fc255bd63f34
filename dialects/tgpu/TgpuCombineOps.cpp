//===- TgpuCombineOps.cpp - operations that combine elements --------------===//
#include "dialects/layout/Reduction.h"
#include "dialects/tgpu/Tgpu.h"

using namespace mlir;
using namespace tilec::tgpu;
using tilec::tile::CombineKind;
namespace layout = tilec::layout;

bool tilec::tgpu::hasElementBody(Operation *op) {
  return isa<tile::MapOp, tile::ReduceWithOp, tile::ScanWithOp, ReduceInWarpsOp>(op);
}

/// Either a kind of one value or a region that takes the elements of two parts and yields those of one.
static LogicalResult verifyCombine(Operation *op, TypeRange tiles, std::optional<CombineKind> kind,
                                   Region &region) {
  if (kind.has_value() != region.empty() || (kind && tiles.size() != 1)) {
    return op->emitOpError("combines one value by a kind, or any number by a region");
  }
  if (kind) {
    return success();
  }
  SmallVector<Type> elements;
  for (Type tile : tiles) {
    elements.push_back(cast<RankedTensorType>(tile).getElementType());
  }
  SmallVector<Type> twice = elements;
  llvm::append_range(twice, elements);
  if (region.getArgumentTypes() != TypeRange(twice) ||
      region.front().getTerminator()->getOperandTypes() != TypeRange(elements)) {
    return op->emitOpError("body takes the elements of two parts and yields those of one");
  }
  return success();
}

/// One result of a reduction in warps, from one input.
static LogicalResult verifyWarpParts(ReduceInWarpsOp op, Type input, Type output) {
  auto from = cast<RankedTensorType>(input), to = cast<RankedTensorType>(output);
  const uint64_t axis = op.getAxis();
  if (axis >= uint64_t(from.getRank()) || from.getElementType() != to.getElementType() ||
      from.getRank() != to.getRank()) {
    return op.emitOpError("keeps the dimensions of its input, and their number");
  }
  SmallVector<int64_t> shape(from.getShape());
  shape[axis] = to.getShape()[axis];
  if (ArrayRef<int64_t>(shape) != to.getShape()) {
    return op.emitOpError("changes the extent of dimension ") << axis << " only";
  }
  const layout::RegisterLayout *source = getLayout(from), *result = getLayout(to);
  if (!source || !result) {
    return op.emitOpError("needs layouts");
  }
  layout::Answer<layout::WarpParts> wanted = layout::planWarpParts(*source, axis);
  if (!wanted) {
    return op.emitOpError("cannot be done in this layout: ") << wanted.reason();
  }
  if (!wanted->parts.sameMap(*result)) {
    return op.emitOpError("has another layout than its parts: ") << wanted->parts.str();
  }
  return success();
}

LogicalResult ReduceInWarpsOp::verifyRegions() {
  if (getInputs().empty() || getInputs().size() != getNumResults()) {
    return emitOpError("has one result for each input, and at least one");
  }
  for (auto [input, result] : llvm::zip_equal(getInputs().getTypes(), getResultTypes())) {
    if (getLayout(input) != getLayout(getInputs().getTypes().front())) {
      return emitOpError("has inputs of one layout");
    }
    if (failed(verifyWarpParts(*this, input, result))) {
      return failure();
    }
  }
  return verifyCombine(*this, getInputs().getTypes(), getKind(), getCombine());
}
