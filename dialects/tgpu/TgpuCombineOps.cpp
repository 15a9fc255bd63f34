//===- TgpuCombineOps.cpp - operations that combine elements --------------===//
#include "dialects/layout/Scan.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec::tgpu;
using tilec::tile::CombineKind;
namespace layout = tilec::layout;

bool tilec::tgpu::hasElementBody(Operation *op) {
  return isa<tile::MapOp, tile::ReduceWithOp, tile::ScanWithOp, ReduceInWarpsOp, ScanInWarpsOp,
             ScanAcrossWarpsOp>(op);
}

void tilec::tgpu::endCombine(Region &region) {
  Operation *yield = region.front().getTerminator();
  OpBuilder builder(yield);
  YieldOp::create(builder, yield->getLoc(), yield->getOperands());
  yield->erase();
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

/// Parts of warps of one input, in the layout of all parts or in that of `whole` ones.
static LogicalResult verifyWarpParts(Operation *op, Type input, Type output, uint64_t axis,
                                     bool whole = false) {
  auto from = cast<RankedTensorType>(input), to = cast<RankedTensorType>(output);
  if (axis >= uint64_t(from.getRank()) || from.getElementType() != to.getElementType() ||
      from.getRank() != to.getRank()) {
    return op->emitOpError("keeps the dimensions of its input, and their number");
  }
  SmallVector<int64_t> shape(from.getShape());
  shape[axis] = to.getShape()[axis];
  if (ArrayRef<int64_t>(shape) != to.getShape()) {
    return op->emitOpError("changes the extent of dimension ") << axis << " only";
  }
  const layout::RegisterLayout *source = getLayout(from), *result = getLayout(to);
  if (!source || !result) {
    return op->emitOpError("needs layouts");
  }
  layout::Answer<layout::WarpParts> parts = layout::planWarpParts(*source, axis);
  if (!parts) {
    return op->emitOpError("cannot be done in this layout: ") << parts.reason();
  }
  const layout::RegisterLayout &wanted = whole ? parts->whole : parts->parts;
  if (!wanted.sameMap(*result)) {
    return op->emitOpError("has another layout than its parts: ") << wanted.str();
  }
  return success();
}

/// Tiles that are combined together: held alike.
static LogicalResult verifyInputs(Operation *op, TypeRange inputs) {
  if (inputs.empty()) {
    return op->emitOpError("has at least one input");
  }
  for (Type input : inputs) {
    if (getLayout(input) != getLayout(inputs.front())) {
      return op->emitOpError("has inputs of one layout");
    }
  }
  return success();
}

/// The layout is one in which warps scan rows by themselves.
static LogicalResult verifyScan(Operation *op, Type input, uint64_t axis) {
  layout::Answer<layout::ScanPlan> plan = layout::planScan(*getLayout(input), axis);
  return plan ? success()
              : LogicalResult(op->emitOpError("cannot be done in this layout: ") << plan.reason());
}

LogicalResult ReduceInWarpsOp::verifyRegions() {
  if (getInputs().size() != getNumResults()) {
    return emitOpError("has one result for each input");
  }
  for (auto [input, result] : llvm::zip_equal(getInputs().getTypes(), getResultTypes())) {
    if (failed(verifyWarpParts(*this, input, result, getAxis()))) {
      return failure();
    }
  }
  return failed(verifyInputs(*this, getInputs().getTypes()))
             ? failure()
             : verifyCombine(*this, getInputs().getTypes(), getKind(), getCombine());
}

LogicalResult ScanInWarpsOp::verifyRegions() {
  if (getInputs().getTypes() != getScanned().getTypes()) {
    return emitOpError("has one result for each input, of its type");
  }
  for (auto [input, total] : llvm::zip_equal(getInputs().getTypes(), getTotals().getTypes())) {
    if (failed(verifyWarpParts(*this, input, total, getAxis()))) {
      return failure();
    }
  }
  if (getExclusive() && !getKind()) {
    return emitOpError("needs a kind to be exclusive: a function has no identity");
  }
  return failed(verifyInputs(*this, getInputs().getTypes())) ||
                 failed(verifyScan(*this, getInputs().getTypes().front(), getAxis()))
             ? failure()
             : verifyCombine(*this, getInputs().getTypes(), getKind(), getCombine());
}

LogicalResult ScanAcrossWarpsOp::verifyRegions() {
  if (getInputs().getTypes() != getResultTypes()) {
    return emitOpError("has one result for each input, of its type");
  }
  for (auto [input, total] : llvm::zip_equal(getInputs().getTypes(), getTotals().getTypes())) {
    if (failed(verifyWarpParts(*this, input, total, getAxis(), /*whole=*/true))) {
      return failure();
    }
  }
  return failed(verifyInputs(*this, getInputs().getTypes())) ||
                 failed(verifyScan(*this, getInputs().getTypes().front(), getAxis()))
             ? failure()
             : verifyCombine(*this, getInputs().getTypes(), getKind(), getCombine());
}
