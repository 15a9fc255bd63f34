//===- TgpuStreamOps.cpp - element-wise work that waits interrupt --------===//
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilec::tgpu;

ResultRange StreamOp::getResultsOf(Operation *yield) {
  unsigned first = 0;
  for (Region &region : getOperation()->getRegions()) {
    if (&region == yield->getParentRegion()) {
      break;
    }
    first += region.front().getTerminator()->getNumOperands();
  }
  return getResults().slice(first, yield->getNumOperands());
}

bool tilec::tgpu::isSlotwise(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         (isa<tilec::tile::BroadcastOp, tilec::tile::SplatOp, tilec::tile::DivOp,
              tilec::tile::RemOp, tilec::tile::ShlOp, tilec::tile::ShrOp, arith::ConstantOp>(op) ||
          (op->hasTrait<OpTrait::Elementwise>() && (dialect == "arith" || dialect == "math")));
}

static bool isSynchronisation(Operation *op) {
  return isa<AcquireOp, PublishOp, WaitOp, ReleaseOp, BarrierOp, BarrierArriveOp, FenceAsyncOp,
             CpAsyncWaitOp, TmaStoreWaitOp, WgmmaWaitOp>(op);
}

static bool isScalar(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

static LogicalResult verifyBody(StreamOp stream) {
  RankedTensorType tile;
  for (Operation &op : stream.getBody().front().without_terminator()) {
    if (!isSlotwise(&op)) {
      return op.emitOpError("is not element-wise: a tgpu.stream cannot take it apart");
    }
    for (Type type : op.getResultTypes()) {
      auto fragment = dyn_cast<RankedTensorType>(type);
      if (!fragment) {
        return op.emitOpError("gives no fragment: scalars of a tgpu.stream come from outside");
      }
      if (tile && (fragment.getShape() != tile.getShape() ||
                   fragment.getEncoding() != tile.getEncoding())) {
        return op.emitOpError("has another shape or layout than the tgpu.stream around it");
      }
      tile = fragment;
    }
  }
  return success();
}

static LogicalResult verifyEvent(StreamOp stream, Region &event) {
  for (Operation &op : event.front().without_terminator()) {
    if (!isSynchronisation(&op) && !isScalar(&op)) {
      return op.emitOpError("is neither synchronisation nor a scalar for it, as events of a "
                            "tgpu.stream are");
    }
  }
  return success();
}

LogicalResult StreamOp::verifyRegions() {
  if (getPercents().size() != getEvents().size()) {
    return emitOpError("has a percentage for each event");
  }
  if (!llvm::is_sorted(getPercents()) ||
      llvm::any_of(getPercents(), [](int64_t percent) { return percent < 0 || percent > 100; })) {
    return emitOpError("has events in order, after 0 to 100 percent of its slots");
  }
  if (failed(verifyBody(*this))) {
    return failure();
  }
  for (Region &event : getEvents()) {
    if (failed(verifyEvent(*this, event))) {
      return failure();
    }
  }
  SmallVector<Type> types;
  for (Region &region : getOperation()->getRegions()) {
    llvm::append_range(types, region.front().getTerminator()->getOperandTypes());
  }
  return types == SmallVector<Type>(getResultTypes())
             ? success()
             : emitOpError("gives what its body yields, then what its events yield");
}

ParseResult tilec::tgpu::parseStreamEvents(OpAsmParser &parser, DenseI64ArrayAttr &percents,
                                           SmallVectorImpl<std::unique_ptr<Region>> &events) {
  SmallVector<int64_t> after;
  while (succeeded(parser.parseOptionalKeyword("at"))) {
    int64_t percent = 0;
    auto event = std::make_unique<Region>();
    if (parser.parseInteger(percent) || parser.parseRegion(*event)) {
      return failure();
    }
    StreamOp::ensureTerminator(*event, parser.getBuilder(), parser.getBuilder().getUnknownLoc());
    after.push_back(percent);
    events.push_back(std::move(event));
  }
  percents = parser.getBuilder().getDenseI64ArrayAttr(after);
  return success();
}

void tilec::tgpu::printStreamEvents(OpAsmPrinter &printer, StreamOp stream,
                                    DenseI64ArrayAttr percents, MutableArrayRef<Region> events) {
  for (auto [percent, event] : llvm::zip_equal(percents.asArrayRef(), events)) {
    const bool yields =
        !event.empty() && !event.front().empty() && event.front().back().getNumOperands() != 0;
    printer << " at " << percent << ' ';
    printer.printRegion(event, /*printEntryBlockArgs=*/true, /*printBlockTerminators=*/yields);
  }
}
