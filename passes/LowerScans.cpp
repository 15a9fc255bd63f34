//===- LowerScans.cpp - running results across warps ----------------------===//
//
// A warp scans what it holds of each row and says what all of that makes together. These totals meet
// as a tile whose dimension counts the warps, as the parts of a reduction do (LowerReductions.cpp),
// and each warp combines what those before it make with what it has. Where a layout deals out rows
// so that a warp's elements are no neighbours, the tile is converted to one in which they are.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Scan.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Analysis.h"
#include "passes/FragmentSteps.h"
#include "passes/LayoutPrices.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace tilec {
#define GEN_PASS_DEF_LOWERSCANS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::RegisterLayout;

namespace {

class Scan : FragmentSteps {
public:
  /// `op` is a tile.scan or a tile.scan_with.
  Scan(Operation *op, int64_t warps)
      : FragmentSteps(op), kind(dyn_cast<tile::ScanOp>(op)), warps(warps) {
    llvm::TypeSwitch<Operation *>(op).Case<tile::ScanOp, tile::ScanWithOp>([&](auto scan) {
      axis = scan.getAxis();
      reverse = scan.getReverse();
    });
  }

  LogicalResult run();

private:
  bool isNarrow();
  /// The layout in which to scan.
  FailureOr<RegisterLayout> chooseLayout();
  SmallVector<Value> inWarps(ValueRange inputs);
  FailureOr<SmallVector<Value>> acrossWarps(ValueRange inputs, const layout::WarpParts &parts);
  void takeCombine(Region &region);

  tile::ScanOp kind; // null: by a function
  int64_t warps;
  unsigned axis = 0;
  bool reverse = false;
};

/// Sums and products of f16 and bf16 run on in f32; each result is rounded.
bool Scan::isNarrow() {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  return kind && (element.isF16() || element.isBF16()) &&
         (kind.getKind() == tile::CombineKind::Sum || kind.getKind() == tile::CombineKind::Prod);
}

/// Short runs cost an exchange between lanes for each of them and each bit of the lane, which combines
/// twice, and parts of rows in other warps registers for all of them. Conversions to long runs, and back, cost a store and a load of each
/// slot.
FailureOr<RegisterLayout> Scan::chooseLayout() {
  const RegisterLayout &source = layoutOf(op->getOperand(0));
  Answer<int64_t> direct = layout::exchangesOfScan(source, axis);
  Answer<RegisterLayout> blocked = layout::blockedForScan(source.shape(), axis, warps);
  Answer<int64_t> runs = blocked ? layout::exchangesOfScan(*blocked, axis)
                                 : Answer<int64_t>(layout::Refusal{blocked.reason()});
  if (direct && (!runs || isRequired(op, "no_exchange") ||
                 *direct <= *runs + 2 * blocked->registersPerThread())) {
    return source;
  }
  if (!runs) {
    return unsupported("this scan: " + runs.reason());
  }
  const unsigned bits = tile::getStorageBits(getElementTypeOrSelf(op->getOperand(0).getType()));
  Answer<layout::Conversion> plan = tgpu::planConversion(op->getContext(), source, *blocked, bits);
  const std::string price = plan ? plan->describe() : std::string("an exchange");
  const bool inThreads = plan && plan->kind == layout::Conversion::Kind::Registers;
  if (!inThreads && failed(checkRequired(
                        op, "no_exchange",
                        "a scan needs rows in runs of neighbours: the conversion goes " + price))) {
    return failure();
  }
  const std::string why = direct
                              ? ("whose threads would exchange " + Twine(*direct) + " words").str()
                              : "which needs rows in runs of neighbours";
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  op->emitRemark("layout conversions for a scan, " + why + ": to and fro each " + price +
                 describePrice(op->getParentOfType<tgpu::KernelOp>(), type, *blocked));
  return *blocked;
}

void Scan::takeCombine(Region &region) {
  if (kind) {
    return;
  }
  IRMapping mapping;
  cast<tile::ScanWithOp>(op).getCombine().cloneInto(&region, mapping);
  if (!isa<tile::ScanWithOp>(region.getParentOp())) {
    tgpu::endCombine(region);
  }
}

/// A scan of what the lanes of a warp hold.
SmallVector<Value> Scan::inWarps(ValueRange inputs) {
  SmallVector<Type> types(inputs.getTypes());
  if (kind) {
    return {tile::ScanOp::create(builder, op->getLoc(), types.front(), kind.getKind(),
                                 inputs.front(), axis, reverse, kind.getExclusive(),
                                 kind.getIsUnsigned())};
  }
  auto step = tile::ScanWithOp::create(builder, op->getLoc(), types, inputs,
                                       builder.getI64IntegerAttr(axis),
                                       reverse ? builder.getUnitAttr() : UnitAttr());
  takeCombine(step.getCombine());
  return SmallVector<Value>(step.getResults());
}

FailureOr<SmallVector<Value>> Scan::acrossWarps(ValueRange inputs, const layout::WarpParts &parts) {
  if (failed(checkRequired(op, "no_exchange",
                           "a scan across " + Twine(parts.count) +
                               " warps goes through shared memory"))) {
    return failure();
  }
  op->emitRemark(llvm::formatv("scan across {0} warps, through shared memory", parts.count).str());
  SmallVector<Type> types(inputs.getTypes()), totals;
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    totals.push_back(tgpu::withLayout(
        RankedTensorType::get(parts.parts.shape(), type.getElementType()), parts.parts));
  }
  auto kindAttr = kind ? kind.getKindAttr() : tile::CombineKindAttr();
  const bool isUnsigned = kind && kind.getIsUnsigned();
  auto step =
      tgpu::ScanInWarpsOp::create(builder, op->getLoc(), types, totals, inputs, axis, kindAttr,
                                  reverse, kind && kind.getExclusive(), isUnsigned);
  takeCombine(step.getCombine());
  SmallVector<Value> whole = llvm::map_to_vector(
      step.getTotals(), [&](Value total) { return inLayout(total, parts.whole); });
  auto last = tgpu::ScanAcrossWarpsOp::create(builder, op->getLoc(), types, step.getScanned(),
                                              whole, axis, kindAttr, reverse, isUnsigned);
  takeCombine(last.getCombine());
  return SmallVector<Value>(last.getResults());
}

LogicalResult Scan::run() {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || !tgpu::getLayout(type)) {
    return unsupported("a scan of a fragment without a layout");
  }
  FailureOr<RegisterLayout> layout = chooseLayout();
  if (failed(layout)) {
    return failure();
  }
  layout::ReductionPlan rows = layout::planScan(*layout, axis)->rows;
  if (!isNarrow() && rows.warpOffsets == 1 && *layout == layoutOf(op->getOperand(0))) {
    return success();
  }
  Type inner = isNarrow() ? builder.getF32Type() : type.getElementType();
  SmallVector<Value> values;
  for (Value input : op->getOperands()) {
    Value value = inLayout(input, *layout);
    values.push_back(isNarrow() ? converted(value, inner) : value);
  }
  if (rows.warpOffsets == 1) {
    values = inWarps(values);
  } else {
    FailureOr<SmallVector<Value>> scanned =
        acrossWarps(values, *layout::planWarpParts(*layout, axis));
    if (failed(scanned)) {
      return failure();
    }
    values = *scanned;
  }
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    Value narrowed = isNarrow() ? converted(value, type.getElementType()) : value;
    result.replaceAllUsesWith(inLayout(narrowed, layoutOf(result)));
  }
  op->erase();
  return success();
}

struct LowerScans : tilec::impl::LowerScansBase<LowerScans> {
  void runOnOperation() override {
    SmallVector<Operation *> scans;
    getOperation().walk([&](Operation *op) {
      if (isa<tile::ScanOp, tile::ScanWithOp>(op)) {
        scans.push_back(op);
      }
    });
    for (Operation *op : scans) {
      if (failed(Scan(op, getOperation().getNumWarps()).run())) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
