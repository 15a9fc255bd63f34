//===- InferLayouts.cpp - a layout for each fragment ---------------------===//
//
// LayoutAssignment says who gets which layout when the first to arrive wins, chooseLayouts where
// another one makes conversions cheaper. Then types are rewritten; where an operand's layout is not
// the one its user needs, a conversion is inserted. What costs nothing in any layout is repeated.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Conversion.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Analysis.h"
#include "passes/GatheringAccess.h"
#include "passes/LayoutAssignment.h"
#include "passes/LayoutPrices.h"
#include "passes/LayoutTies.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_INFERLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::RegisterLayout;

namespace {

class Inference {
public:
  Inference(tgpu::KernelOp kernel, int64_t warps)
      : kernel(kernel), warps(warps), builder(kernel.getContext()) {}

  LogicalResult run();

private:
  void setTypes(const LayoutAssignment &layouts);
  void convertIndices(Operation *op);
  /// Replaces `operand` by a value of layout `wanted`, computed before `place` (null: its user).
  void demand(OpOperand &operand, const RegisterLayout &wanted, Operation *place = nullptr);

  tgpu::KernelOp kernel;
  int64_t warps;
  OpBuilder builder;
  bool refused = false; // a conversion that `@require` forbids
};

} // namespace

/// Tensor constants become splats of scalar ones, which take any layout.
static void replaceTensorConstants(tgpu::KernelOp kernel) {
  kernel.walk([&](arith::ConstantOp constant) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || !isFragment(constant.getResult())) {
      return;
    }
    OpBuilder at(constant);
    Value scalar = arith::ConstantOp::create(at, constant.getLoc(),
                                             cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    Value tile = tile::SplatOp::create(at, constant.getLoc(), constant.getType(), scalar);
    constant.getResult().replaceAllUsesWith(tile);
    constant.erase();
  });
}

void Inference::setTypes(const LayoutAssignment &layouts) {
  for (const auto &[entry, layout] : layouts.all()) {
    Value value = entry;
    value.setType(tgpu::withLayout(cast<RankedTensorType>(value.getType()), layout));
  }
}

void Inference::demand(OpOperand &operand, const RegisterLayout &wanted, Operation *place) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  RankedTensorType target = tgpu::withLayout(type, wanted);
  if (type == target) {
    return;
  }
  Operation *user = operand.getOwner();
  builder.setInsertionPoint(place ? place : user);
  if (isFree(operand.get())) {
    Operation *again = builder.clone(*operand.get().getDefiningOp());
    again->getResult(0).setType(target);
    operand.set(again->getResult(0));
    return;
  }
  Answer<layout::Conversion> plan =
      tgpu::planConversion(type.getContext(), *tgpu::getLayout(type), wanted,
                           std::max(8u, tile::getStorageBits(type.getElementType())));
  if (plan && plan->kind != layout::Conversion::Kind::Registers &&
      failed(checkRequired(user, "no_exchange",
                           "a fragment's producer and this use need different layouts: the "
                           "conversion goes " +
                               plan->describe()))) {
    refused = true;
    return;
  }
  auto conversion =
      tgpu::ConvertLayoutOp::create(builder, user->getLoc(), target, operand.get(), IntegerAttr());
  operand.set(conversion);
  if (!plan || plan->kind != layout::Conversion::Kind::Registers) {
    conversion.emitRemark(
        "layout conversion of a fragment: its producer and this use need different layouts" +
        describePrice(kernel, type, wanted));
  }
}

/// Slices of its own for an operation that moves a tile, whose index tiles each thread has of what it
/// moves. What the loops around do not compute is converted in front of them.
void Inference::convertIndices(Operation *op) {
  std::optional<GatheringAccess> access = GatheringAccess::of(op);
  if (!access) {
    return;
  }
  SmallVector<tile::SliceOp> slices;
  for (auto slice = access->view->get().getDefiningOp<tile::SliceOp>(); slice;
       slice = slice.getSource().getDefiningOp<tile::SliceOp>()) {
    slices.push_back(slice);
  }
  builder.setInsertionPoint(op);
  IRMapping mapping;
  for (tile::SliceOp slice : llvm::reverse(slices)) {
    builder.clone(*slice, mapping);
  }
  access->view->set(mapping.lookup(access->view->get()));
  for (auto [index, dim] : access->indices()) {
    const RegisterLayout tile = access->fragment ? *tgpu::getLayout(access->fragment.getType())
                                                 : *layoutOfCopy(cast<tgpu::CopyOp>(op), warps);
    Operation *place = op;
    for (auto loop = op->getParentOfType<LoopLikeOpInterface>();
         loop && loop.isDefinedOutsideOfLoop(index->get());
         loop = loop->getParentOfType<LoopLikeOpInterface>()) {
      place = loop;
    }
    demand(*index, tile.along(dim), place == op ? nullptr : place);
  }
  for (tile::SliceOp slice : slices) {
    if (slice.use_empty()) {
      slice.erase();
    }
  }
}

LogicalResult Inference::run() {
  replaceTensorConstants(kernel);
  LayoutAssignment layouts(kernel, warps);
  if (failed(chooseLayouts(kernel, layouts))) {
    return failure();
  }
  setTypes(layouts);
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (failed(layouts.forEachDemand(op, [&](OpOperand &operand, const RegisterLayout &wanted) {
          demand(operand, wanted);
        }))) {
      return failure();
    }
    convertIndices(op);
    if (refused) {
      return failure();
    }
  }
  // Those without users in their unencoded form are dead now.
  kernel.walk([](Operation *op) {
    if (isa<tile::SplatOp, tgpu::CoordinateOp>(op) && op->use_empty()) {
      op->erase();
    }
  });
  return success();
}

namespace {
struct InferLayouts : tilec::impl::InferLayoutsBase<InferLayouts> {
  void runOnOperation() override {
    Inference inference(getOperation(), getOperation().getNumWarps());
    if (failed(inference.run())) {
      signalPassFailure();
    }
  }
};
} // namespace
