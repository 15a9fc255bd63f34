//===- LowerReductions.cpp - reductions across warps, and to scalars -----===//
//
// What warps hold of the reduced dimension is put together as a tile whose dimension counts the
// warps, so that the exchange is a conversion of layouts like any other: its plan, scratch space and
// synchronisation are known to the passes that follow. All threads then combine the same parts in
// the same order, so that copies of a result agree in their bits. A user's function takes the same
// steps as a sum, with several values at a time.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Reduction.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Analysis.h"
#include "passes/FragmentSteps.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"
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

/// How a reduction gets from one layout to its results: within warps, and if they hold different
/// elements, by what they hold together.
struct Steps {
  layout::ReductionPlan plan;
  std::optional<layout::WarpParts> parts;
};

Answer<Steps> planSteps(const RegisterLayout &source, unsigned axis) {
  Answer<layout::ReductionPlan> plan = layout::planReduction(source, axis);
  if (!plan) {
    return layout::Refusal{plan.reason()};
  }
  Steps steps{*plan, std::nullopt};
  if (plan->warpOffsets != 1) {
    Answer<layout::WarpParts> parts = layout::planWarpParts(source, axis);
    if (!parts) {
      return layout::Refusal{parts.reason()};
    }
    steps.parts = *parts;
  }
  return steps;
}

class Reduction : FragmentSteps {
public:
  /// `op` is a tile.reduce or a tile.reduce_with.
  Reduction(Operation *op, int64_t warps)
      : FragmentSteps(op), kind(dyn_cast<tile::ReduceOp>(op)), warps(warps) {
    llvm::TypeSwitch<Operation *>(op).Case<tile::ReduceOp, tile::ReduceWithOp>(
        [&](auto reduction) { axis = reduction.getAxis(); });
  }

  LogicalResult run();

private:
  bool isNarrow();
  bool isLowered();
  /// `values` reduced along a dimension: fragments, or scalars if that was their last one.
  FailureOr<SmallVector<Value>> along(ValueRange values, unsigned dim);
  SmallVector<Value> inWarps(ValueRange values, unsigned dim, const layout::WarpParts &parts);
  SmallVector<Value> inThreads(ValueRange values, unsigned dim);

  tile::ReduceOp kind; // null: by a function
  std::optional<unsigned> axis;
  int64_t warps;
};

/// Sums and products of f16 and bf16 are in f32, and rounded once (docs/language.md section 10).
bool Reduction::isNarrow() {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  return kind && (element.isF16() || element.isBF16()) &&
         (kind.getKind() == tile::CombineKind::Sum || kind.getKind() == tile::CombineKind::Prod);
}

/// Already a step of one warp that gives the layout that follows from its input's.
bool Reduction::isLowered() {
  if (!axis || isNarrow()) {
    return false;
  }
  Answer<layout::ReductionPlan> plan = layout::planReduction(layoutOf(op->getOperand(0)), *axis);
  return plan && plan->warpOffsets == 1 && llvm::all_of(op->getResultTypes(), [&](Type type) {
           const RegisterLayout *result = tgpu::getLayout(type);
           return !result || result->sameMap(plan->result);
         });
}

/// Where the parts of all warps meet: in each thread those of the elements whose results it holds; or if these are many, in threads that
/// have few elements each, from where results go to those who need them.
static const RegisterLayout &placeOfParts(const layout::WarpParts &parts) {
  constexpr int64_t kMostParts = 64; // registers that a thread has in a block of 1024
  const bool isMany = parts.whole.registersPerThread() > kMostParts && parts.spread &&
                      parts.spread->registersPerThread() < parts.whole.registersPerThread();
  return isMany ? *parts.spread : parts.whole;
}

/// The parts of each warp, then those of all warps in each thread.
SmallVector<Value> Reduction::inWarps(ValueRange values, unsigned dim,
                                      const layout::WarpParts &parts) {
  SmallVector<Type> types;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    types.push_back(tgpu::withLayout(
        RankedTensorType::get(parts.parts.shape(), type.getElementType()), parts.parts));
  }
  auto step = tgpu::ReduceInWarpsOp::create(builder, op->getLoc(), types, values, dim,
                                            kind ? kind.getKindAttr() : tile::CombineKindAttr(),
                                            kind && kind.getIsUnsigned());
  if (!kind) {
    IRMapping mapping;
    cast<tile::ReduceWithOp>(op).getCombine().cloneInto(&step.getCombine(), mapping);
    tgpu::endCombine(step.getCombine());
  }
  return llvm::map_to_vector(step.getResults(),
                             [&](Value part) { return inLayout(part, placeOfParts(parts)); });
}

/// A reduction of what the threads of a warp hold.
SmallVector<Value> Reduction::inThreads(ValueRange values, unsigned dim) {
  const RegisterLayout result = layoutOf(values.front()).sliceDim(dim);
  SmallVector<Type> types;
  for (Value value : values) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    types.push_back(result.rank() == 0
                        ? element
                        : tgpu::withLayout(RankedTensorType::get(result.shape(), element), result));
  }
  IntegerAttr number = builder.getI64IntegerAttr(dim);
  if (kind) {
    return {tile::ReduceOp::create(builder, op->getLoc(), types.front(), kind.getKind(),
                                   values.front(), number, kind.getIsUnsigned())};
  }
  auto step = tile::ReduceWithOp::create(builder, op->getLoc(), types, values, number);
  IRMapping mapping;
  cast<tile::ReduceWithOp>(op).getCombine().cloneInto(&step.getCombine(), mapping);
  return SmallVector<Value>(step.getResults());
}

FailureOr<SmallVector<Value>> Reduction::along(ValueRange values, unsigned dim) {
  SmallVector<Value> inputs(values);
  Answer<Steps> steps = planSteps(layoutOf(inputs.front()), dim);
  if (!steps) {
    // A layout in which lanes and warps step along one dimension at a time.
    RegisterLayout::BlockedOptions options;
    options.contiguousDim = int(dim);
    options.warpsTakeRows = true;
    Answer<RegisterLayout> plain =
        RegisterLayout::blocked(layoutOf(inputs.front()).shape(), 1, warps, options);
    Answer<Steps> again =
        plain ? planSteps(*plain, dim) : Answer<Steps>(layout::Refusal{plain.reason()});
    if (!again) {
      return unsupported("this reduction: " + steps.reason());
    }
    for (Value &input : inputs) {
      input = inLayout(input, *plain);
    }
    steps = again;
  }
  if (steps->parts) {
    const int64_t count = llvm::popcount(steps->plan.warpOffsets);
    if (failed(checkRequired(op, "no_exchange",
                             "a reduction across " + Twine(count) +
                                 " warps goes through shared memory"))) {
      return failure();
    }
    inputs = inWarps(inputs, dim, *steps->parts);
    op->emitRemark(llvm::formatv("reduction across {0} warps, through shared memory", count).str());
  }
  return inThreads(inputs, dim);
}

LogicalResult Reduction::run() {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type) {
    return success(); // a vector, of one thread
  }
  if (!tgpu::getLayout(type)) {
    return unsupported("a reduction of a fragment without a layout");
  }
  if (isLowered()) {
    return success();
  }
  Type element = type.getElementType();
  SmallVector<Value> values(op->getOperands());
  const bool narrow = isNarrow();
  if (narrow) {
    values.front() = converted(values.front(), builder.getF32Type());
  }
  SmallVector<unsigned> axes;
  if (axis) {
    axes.push_back(*axis);
  } else {
    for (unsigned dim = type.getRank(); dim-- > 0;) {
      axes.push_back(dim);
    }
  }
  for (unsigned dim : axes) {
    FailureOr<SmallVector<Value>> reduced = along(values, dim);
    if (failed(reduced)) {
      return failure();
    }
    values = *reduced;
  }
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    value = narrow ? converted(value, element) : value;
    if (const RegisterLayout *wanted = tgpu::getLayout(result.getType())) {
      value = inLayout(value, *wanted);
    }
    result.replaceAllUsesWith(value);
  }
  op->erase();
  return success();
}

struct LowerReductions : tilec::impl::LowerReductionsBase<LowerReductions> {
  void runOnOperation() override {
    SmallVector<Operation *> reductions;
    getOperation().walk([&](Operation *op) {
      if (isa<tile::ReduceOp, tile::ReduceWithOp>(op)) {
        reductions.push_back(op);
      }
    });
    for (Operation *op : reductions) {
      if (failed(Reduction(op, getOperation().getNumWarps()).run())) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
