//===- TgpuPartialOps.cpp - partial values: who may take them ------------===//
#include "dialects/layout/PartialReduction.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec::tgpu;
namespace layout = tilec::layout;
using layout::RegisterLayout;

/// The layout of partial values; null if `type` is another one.
static const RegisterLayout *partialLayout(Type type) {
  const RegisterLayout *layout = getLayout(type);
  return layout && layout->partial() ? layout : nullptr;
}

/// True if `complete` has the elements of `partial`, each in all threads that contribute to it.
static bool isCompleteOf(Type complete, Type partial) {
  auto type = cast<RankedTensorType>(partial);
  if (type.getRank() == 0) {
    return complete == type.getElementType();
  }
  const RegisterLayout *layout = getLayout(complete);
  return layout && !layout->partial() && getLayout(partial)->combined().sameMap(*layout) &&
         getElementTypeOrSelf(complete) == type.getElementType();
}

static bool risesWithin(ArrayRef<int64_t> axes, int64_t rank) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= rank || (i > 0 && axes[i - 1] >= axis)) {
      return false;
    }
  }
  return !axes.empty();
}

/// That the threads' own reductions of `source` along `axes` are values of the type `partial`.
static LogicalResult verifyParts(Operation *op, Type source, Type partial, ArrayRef<int64_t> axes) {
  const RegisterLayout *from = getLayout(source), *to = partialLayout(partial);
  if (!from || from->partial() || !to) {
    return op->emitOpError("relates a complete tile with a layout and partial values");
  }
  if (!risesWithin(axes, from->rank())) {
    return op->emitOpError("has axes of its tile, in rising order");
  }
  if (getElementTypeOrSelf(source) != getElementTypeOrSelf(partial)) {
    return op->emitOpError("keeps the type of the elements");
  }
  layout::Answer<layout::PartialReduction> plan =
      layout::planPartialReduction(*from, axes, to->partial()->combine);
  if (!plan) {
    return op->emitOpError("cannot be done in this layout: ") << plan.reason();
  }
  if (plan->result.partial() != to->partial() || !plan->result.combined().sameMap(to->combined())) {
    return op->emitOpError("has partial values of other threads than ") << plan->result.str();
  }
  return success();
}

LogicalResult BeginPartialOp::verify() {
  if (!partialLayout(getResult().getType())) {
    return emitOpError("gives partial values");
  }
  if (getStart() && !isCompleteOf(getStart().getType(), getResult().getType())) {
    return emitOpError("starts with complete values of the same layout");
  }
  return success();
}

LogicalResult AccumulatePartialOp::verify() {
  if (getPartial().getType() != getResult().getType()) {
    return emitOpError("keeps the type of the partial values");
  }
  return verifyParts(*this, getSource().getType(), getResult().getType(), getAxes());
}

LogicalResult ScalePartialOp::verify() {
  if (getPartial().getType() != getResult().getType()) {
    return emitOpError("keeps the type of the partial sums");
  }
  const RegisterLayout *partial = partialLayout(getPartial().getType());
  if (!partial || partial->partial()->combine != layout::Combine::Sum ||
      !isCompleteOf(getFactor().getType(), getPartial().getType())) {
    return emitOpError("scales partial sums by complete factors of the same layout");
  }
  return success();
}

LogicalResult PartialPartsOp::verify() {
  if (failed(verifyParts(*this, getResult().getType(), getPartial().getType(), getAxes()))) {
    return failure();
  }
  // A thread has one part of each element, and no part is padding.
  const RegisterLayout &parts = *getLayout(getResult().getType());
  const layout::Coords span = parts.span();
  if (parts.registersPerThread() != getLayout(getPartial().getType())->registersPerThread() ||
      llvm::any_of(getAxes(), [&](int64_t axis) { return span[axis] != parts.shape()[axis]; })) {
    return emitOpError("gives each thread that contributes a place of its own");
  }
  return success();
}

/// Operations that know what partial values are, or that only hand values on: a choice between two of them is
/// one for all threads.
static bool takesPartial(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    return select.getCondition().getType().isInteger(1);
  }
  return isa<BeginPartialOp, AccumulatePartialOp, ScalePartialOp, PartialPartsOp, scf::ForOp,
             scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(op);
}

LogicalResult tilec::tgpu::verifyPartialUses(KernelOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    const auto isPartial = [](Type type) { return partialLayout(type) != nullptr; };
    if (!takesPartial(op) && (llvm::any_of(op->getOperandTypes(), isPartial) ||
                              llvm::any_of(op->getResultTypes(), isPartial))) {
      op->emitOpError("takes complete values: partial ones have to be combined first");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
