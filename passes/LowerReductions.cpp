//===- LowerReductions.cpp - reductions across warps, and to scalars -----===//
//
// What warps hold of the reduced dimension is put together as a tile whose dimension counts the
// warps, so that the exchange is a conversion of layouts like any other: its plan, scratch space and
// synchronisation are known to the passes that follow. All threads then combine the same parts in
// the same order, so that copies of a result agree in their bits.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Conversion.h"
#include "dialects/support/Diagnostics.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"

#include "llvm/Support/FormatVariadic.h"

namespace tilec {
#define GEN_PASS_DEF_LOWERREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::RegisterLayout;

namespace {

class Reduction {
public:
  Reduction(tile::ReduceOp op, int64_t warps) : op(op), warps(warps), builder(op) {}

  LogicalResult run();

private:
  bool isLowered();
  /// `value` reduced along `axis`: a fragment, or a scalar if that was its last dimension.
  FailureOr<Value> along(Value value, unsigned axis);
  LogicalResult unsupported(StringRef what);
  Value converted(Value value, Type element);
  Value inLayout(Value value, const RegisterLayout &layout);

  tile::ReduceOp op;
  int64_t warps;
  OpBuilder builder;
};

const RegisterLayout &layoutOf(Value value) { return *tgpu::getLayout(value.getType()); }

LogicalResult Reduction::unsupported(StringRef what) {
  auto kernel = op->getParentOfType<tgpu::KernelOp>();
  return op.emitError(diag::formatDiagnostic(diag::Id::NotSupportedTarget, what,
                                             kernel.getTarget().value_or("this target")));
}

/// Already a step of one warp that gives the layout that follows from its input's.
bool Reduction::isLowered() {
  if (!op.getAxis()) {
    return false;
  }
  Answer<layout::ReductionPlan> plan =
      layout::planReduction(layoutOf(op.getInput()), unsigned(*op.getAxis()));
  const RegisterLayout *result = tgpu::getLayout(op.getResult().getType());
  return plan && plan->warpOffsets == 1 && (!result || result->sameMap(plan->result));
}

Value Reduction::converted(Value value, Type element) {
  Type type = element;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    type = tensor.clone(element);
  }
  return value.getType() == type ? value
                                 : Value(tile::ConvertOp::create(builder, op.getLoc(), type, value,
                                                                 /*src_unsigned=*/false,
                                                                 /*dst_unsigned=*/false));
}

Value Reduction::inLayout(Value value, const RegisterLayout &layout) {
  RankedTensorType type = tgpu::withLayout(cast<RankedTensorType>(value.getType()), layout);
  return value.getType() == type ? value
                                 : Value(tgpu::ConvertLayoutOp::create(builder, op.getLoc(), type,
                                                                       value, IntegerAttr()));
}

FailureOr<Value> Reduction::along(Value value, unsigned axis) {
  Answer<layout::ReductionPlan> plan = layout::planReduction(layoutOf(value), axis);
  auto type = cast<RankedTensorType>(value.getType());
  if (!plan) {
    // A layout in which lanes and warps step along one dimension at a time.
    RegisterLayout::BlockedOptions options;
    options.contiguousDim = int(axis);
    options.warpsTakeRows = true;
    Answer<RegisterLayout> plain = RegisterLayout::blocked(type.getShape(), 1, warps, options);
    Answer<layout::ReductionPlan> again =
        plain ? layout::planReduction(*plain, axis) : layout::Refusal{plain.reason()};
    if (!again) {
      return unsupported("this reduction: " + plan.reason());
    }
    value = inLayout(value, *plain);
    plan = again;
  }
  SmallVector<int64_t> shape(type.getShape());
  if (plan->warpOffsets != 1) {
    Answer<layout::WarpParts> parts = layout::planWarpParts(layoutOf(value), axis);
    if (!parts) {
      return unsupported("this reduction across warps: " + parts.reason());
    }
    if (failed(checkRequired(op, "no_exchange",
                             "a reduction across " + Twine(parts->count) +
                                 " warps goes through shared memory"))) {
      return failure();
    }
    shape[axis] = parts->count;
    RankedTensorType partial =
        tgpu::withLayout(RankedTensorType::get(shape, type.getElementType()), parts->parts);
    value = tgpu::ReduceInWarpsOp::create(builder, op.getLoc(), partial, op.getKind(), value, axis,
                                          op.getIsUnsigned());
    value = inLayout(value, parts->whole);
    op.emitRemark(
        llvm::formatv("reduction across {0} warps, through shared memory", parts->count).str());
  }
  shape.erase(shape.begin() + axis);
  Type result = type.getElementType();
  if (!shape.empty()) {
    result = tgpu::withLayout(RankedTensorType::get(shape, result), layoutOf(value).sliceDim(axis));
  }
  return Value(tile::ReduceOp::create(builder, op.getLoc(), result, op.getKind(), value,
                                      builder.getI64IntegerAttr(axis), op.getIsUnsigned()));
}

LogicalResult Reduction::run() {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type || !tgpu::getLayout(type)) {
    return unsupported("a reduction of a vector");
  }
  if (isLowered()) {
    return success();
  }
  Type element = type.getElementType();
  const bool narrow = element.isF16() || element.isBF16();
  Value value = narrow ? converted(op.getInput(), builder.getF32Type()) : op.getInput();
  SmallVector<unsigned> axes;
  if (op.getAxis()) {
    axes.push_back(*op.getAxis());
  } else {
    for (unsigned axis = type.getRank(); axis-- > 0;) {
      axes.push_back(axis);
    }
  }
  for (unsigned axis : axes) {
    FailureOr<Value> reduced = along(value, axis);
    if (failed(reduced)) {
      return failure();
    }
    value = *reduced;
  }
  value = converted(value, element);
  if (const RegisterLayout *wanted = tgpu::getLayout(op.getResult().getType())) {
    value = inLayout(value, *wanted);
  }
  op.getResult().replaceAllUsesWith(value);
  op.erase();
  return success();
}

struct LowerReductions : tilec::impl::LowerReductionsBase<LowerReductions> {
  void runOnOperation() override {
    SmallVector<tile::ReduceOp> reductions;
    getOperation().walk([&](tile::ReduceOp op) { reductions.push_back(op); });
    for (tile::ReduceOp op : reductions) {
      if (failed(Reduction(op, getOperation().getNumWarps()).run())) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
