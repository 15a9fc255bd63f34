//===- SelectCopies.cpp - how data moves to and from global memory -------===//
//
// TMA wants a slice of a kernel argument with static extents and rows at multiples of 16 bytes, for stores rows that end there, too. It
// knows no bounds but the tensor's: what a load brings from beyond a view of part of it is zeroed once it has landed (ExpandPipeline.cpp);
// a store must not go there. cp.async wants whole aligned accesses of 4 to 16 bytes. Everything else moves by loads and stores, as wide as
// alignment allows. Sources: PTX ISA 5.5 (tensors), 9.7.9.25 (cp.async); that stores write whole chunks of 16 bytes, an H200.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Compatibility.h"
#include "dialects/support/Diagnostics.h"
#include "passes/BlockFootprint.h"
#include "passes/GlobalAccess.h"
#include "passes/Passes.h"
#include "passes/ViewBounds.h"

#include <cstdint>

namespace tilec {
#define GEN_PASS_DEF_SELECTCOPIES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;

namespace {

/// Why no tensor map describes the tensor that `slice` is part of; empty when one does.
std::string refuseTensor(GlobalSlice slice, unsigned bits, const IntegerAnalysis &integers) {
  if (slice.offset.size() > 5) {
    return "the tensor has more than 5 dimensions";
  }
  if (bits < 8 || bits > 64) {
    return "elements of " + std::to_string(bits) + " bits";
  }
  if (baseAlignment(slice.view) % 16 != 0) {
    return "the tensor is not known to start at a multiple of 16 bytes";
  }
  // Coordinates of TMA have 32 bits: in a dimension of 2^31 and more an index could be cut.
  if (llvm::any_of(slice.view.getExtents(),
                   [&](Value extent) { return integers.range(extent).high > INT32_MAX; })) {
    return "an extent of the tensor may be 2^31 or more";
  }
  if (!llvm::all_of(slice.view.getExtents(), isHostKnown) ||
      !llvm::all_of(slice.view.getStrides(), isHostKnown)) {
    return "extents or strides of the tensor are computed in the kernel";
  }
  // No tensor map describes a tensor without elements.
  if (llvm::any_of(slice.view.getExtents(),
                   [&](Value extent) { return integers.range(extent).high < 1; })) {
    return "the tensor has no elements";
  }
  // A guarded variant has another one beside it.
  if (mayBeEmpty(slice.view) && !slice.view->getParentOfType<tgpu::KernelOp>().getGuard()) {
    return "the workspace may be empty";
  }
  for (Value stride : slice.view.getStrides()) {
    if (!fitsAccess(integers.divisor(stride), bits, 16)) {
      return "rows of the tensor are not known to start at multiples of 16 bytes";
    }
  }
  return "";
}

/// Why a store by TMA would go beyond the tensor's rows; empty when it would not. It writes whole chunks of 16 bytes: seen on an H200, where the last of
/// 31 bytes in a row took the byte behind them along.
std::string refuseRowEnds(GlobalSlice slice, unsigned bits, const IntegerAnalysis &integers) {
  return fitsAccess(integers.divisor(slice.view.getExtents().back()), bits, 16)
             ? ""
             : "rows of the tensor are not known to end at multiples of 16 bytes";
}

/// Why boxes do not move the region of such a tensor; empty when they do.
std::string refuseRegion(GlobalSlice slice, unsigned bits, bool isStore,
                         const IntegerAnalysis &integers) {
  if (slice.sizes[slice.kept.back()] * bits % 128 != 0) {
    return "rows of the tile are not multiples of 16 bytes";
  }
  // Measured on an H200: UTMALDG and UTMASTG with another first coordinate, and UTMASTG with a
  // negative one, are illegal instructions.
  if (!fitsAccess(divisorOfSum(slice.offset.back(), integers), bits, 16)) {
    return "the region is not known to begin at a multiple of 16 bytes of a row";
  }
  // A matrix can always be cut into panels that boxes fill, a single row cannot.
  if (slice.kept.size() == 1) {
    auto row = layout::SharedLayout::rows({slice.sizes[slice.kept.back()]}, bits);
    auto boxes = row ? layout::tmaBoxes(*row) : layout::Refusal{row.reason()};
    if (!boxes) {
      return boxes.reason();
    }
  }
  // A coordinate of more than 32 bits is cut to the nearest number. What a load finds there is outside
  // the tensor as well, but along a row the number would not be aligned.
  ArrayRef<SmallVector<Value, 1>> exact = slice.offset;
  exact = isStore ? exact : exact.take_back();
  if (llvm::any_of(exact, [&](ArrayRef<Value> offset) {
        const IntegerRange range = rangeOfSum(offset, integers);
        return range.low < INT32_MIN || range.high > INT32_MAX;
      })) {
    return "a subscript of the region may exceed 32 bits";
  }
  auto mayBeNegative = [&](ArrayRef<Value> offset) { return rangeOfSum(offset, integers).low < 0; };
  if (isStore && llvm::any_of(slice.offset, mayBeNegative)) {
    return "the region may begin before the tensor";
  }
  return "";
}

/// Why a load by TMA cannot go beyond the bounds that views have of their own; empty when it can.
std::string refuseBounds(Value global, const IntegerAnalysis &integers) {
  auto kernel = global.getDefiningOp()->getParentOfType<tgpu::KernelOp>();
  WalkResult writes = kernel.walk([&](Operation *op) {
    return mayChange(op, global) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (writes.wasInterrupted()) {
    return "the view has bounds of its own, and another block may be writing to the tensor beyond "
           "them";
  }
  constexpr int64_t most = int64_t(1) << 56; // sums of a few of them have 64 bits
  auto isLarge = [&](Value value) {
    const IntegerRange range = integers.range(value);
    return range.low < -most || range.high > most;
  };
  for (const OwnBound &bound : ownBounds(global)) {
    auto size = dyn_cast<Value>(bound.size);
    if ((size && isLarge(size)) || llvm::any_of(bound.begin, isLarge)) {
      return "the view has bounds of its own, whose place may exceed 64 bits";
    }
  }
  return "";
}

/// Why TMA cannot move `global`; empty when it can.
std::string refuseTma(Value global, const Target &target, bool forbidden, bool isStore,
                      const IntegerAnalysis &integers) {
  GlobalSlice slice = analyseSlice(global);
  Type element = cast<tile::GlobalType>(global.getType()).getElementType();
  const unsigned bits = tile::getStorageBits(element);
  if (!target.hasTma) {
    return ("`" + target.name + "` has no TMA").str();
  }
  if (forbidden) {
    return "@no_tma";
  }
  if (isGather(global)) {
    return "an index tile says which part of the tensor it is";
  }
  if (!slice.view) {
    return "the region is not a plain slice of one tensor";
  }
  Type own = cast<tile::GlobalType>(slice.view.getBase().getType()).getElementType();
  if (std::max(8u, bits) != std::max(8u, tile::getStorageBits(own))) { // packed ones are bytes
    return "the view has elements of another size than the tensor";
  }
  if (slice.hasInnerBounds && isStore) {
    return "the view has bounds of its own, TMA stops only at the tensor's end";
  }
  if (slice.kept.empty() || slice.kept.back() + 1 != (int64_t)slice.offset.size()) {
    return "the contiguous dimension of the tensor is not part of the tile";
  }
  for (int64_t dim : slice.kept) {
    if (ShapedType::isDynamic(slice.sizes[dim])) {
      return "the extent of the region is known at run time only";
    }
  }
  std::string refusal = refuseTensor(slice, bits, integers);
  if (refusal.empty() && isStore) {
    refusal = refuseRowEnds(slice, bits, integers);
  }
  if (refusal.empty() && slice.hasInnerBounds) {
    refusal = refuseBounds(global, integers);
  }
  return refusal.empty() ? refuseRegion(slice, bits, isStore, integers) : refusal;
}

/// Why TMA cannot move between global memory and `buffer`, whose layout the program asks for.
std::string refuseHint(Value buffer) {
  tgpu::AllocSharedOp alloc = getAllocation(buffer);
  std::optional<StringRef> hint = alloc ? alloc.getLayoutHint() : std::nullopt;
  if (!hint || !hint->starts_with("padded")) {
    return "";
  }
  return ("`@layout(" + *hint + ")`, but TMA writes and reads rows without padding").str();
}

/// Why no layout of `buffer` is filled, or stored, by boxes of TMA, as of more than 256 rows that no number divides; empty if some is.
std::string refuseRows(Value buffer, bool isStore) {
  tgpu::AllocSharedOp alloc = getAllocation(buffer);
  constexpr int64_t kMostRows = 256; // of a box: any number of them
  if (!alloc || alloc.getLayoutHint() ||
      llvm::all_of(alloc.getResult().getType().getShape(),
                   [](int64_t extent) { return extent <= kMostRows; })) {
    return "";
  }
  tgpu::SmemType type = alloc.getResult().getType();
  layout::Demand demand;
  demand.kind = isStore ? layout::Demand::Kind::TmaStore : layout::Demand::Kind::Tma;
  demand.required = true;
  layout::SharedChoice choice = layout::chooseSharedLayout(
      type.getShape(), tile::getStorageBits(type.getElementType()), -1, demand);
  return choice.allRequiredMet || choice.unmet.empty() ? "" : choice.unmet.front();
}

/// How much of the tile one instruction takes at most: red with vectors of f32, pairs of f16 and
/// bf16 (PTX ISA 9.7.13.7: `.f16x2` from sm_60 on, `.bf16x2` and vectors from sm_90 on).
int64_t reductionBytes(tgpu::AtomicTileOp atomic, const Target &target) {
  Type element = atomic.getDest().getType().getElementType();
  const int64_t one = tile::getStorageBits(element) / 8;
  if (atomic.getKind() != tile::AtomicKind::Add ||
      atomic.getOrder() != tile::MemoryOrder::Relaxed) {
    return one;
  }
  if (target.arch >= 90) {
    return element.isF32() || element.isF16() || element.isBF16() ? 16 : one;
  }
  return element.isF16() ? 4 : one;
}

struct SelectCopies : tilec::impl::SelectCopiesBase<SelectCopies> {
  void runOnOperation() override {
    const Target *target = getTarget(getOperation());
    if (!target) {
      return signalPassFailure();
    }
    integers = &getAnalysis<IntegerAnalysis>();
    WalkResult result = getOperation().walk([&](Operation *op) {
      LogicalResult done = success();
      if (auto copy = dyn_cast<tgpu::CopyOp>(op)) {
        done = select(copy, *target);
      } else if (auto store = dyn_cast<tgpu::StoreOp>(op)) {
        done = select(store, *target);
      } else if (auto load = dyn_cast<tgpu::LoadOp>(op)) {
        done = select(load);
      } else if (auto atomic = dyn_cast<tgpu::AtomicTileOp>(op)) {
        atomic.setBytes(std::min(accessBytes(atomic.getDest()), reductionBytes(atomic, *target)));
      } else if (auto access = NeighbourAccess::of(op)) {
        done = select(op, *access);
      }
      return failed(done) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      return signalPassFailure();
    }
    aimAtBlocks(getOperation(), *target);
  }

  /// Left to itself ptxas aims at more blocks of a multiprocessor than sums and loads in flight leave room for: it then waits for
  /// each load of an operand before it begins the next (a tile of 128 x 128 by 128 threads: 2.9 times the time on an H200). More than
  /// two blocks are left to it all the same: nothing is gained by fewer registers.
  static void aimAtBlocks(tgpu::KernelOp kernel, const Target &target) {
    bool multiplies = false, copiesByThreads = false;
    kernel.walk([&](Operation *op) {
      auto copy = dyn_cast<tgpu::CopyOp>(op);
      multiplies |= isa<tgpu::DotOp>(op);
      // Narrow cp.async are as many as loads would be, and each has its address.
      const bool byThreads =
          copy && (copy.getPath() == CopyPath::Vector ||
                   (copy.getPath() == CopyPath::CpAsync && copy.getBytes().value_or(16) < 16));
      copiesByThreads |= byThreads && isa<tgpu::SmemType>(copy.getDest().getType());
    });
    if (multiplies && copiesByThreads && !kernel.getMinBlocks()) {
      kernel.setAimedBlocks(uint32_t(std::min<int64_t>(estimateResident(kernel, target), 2)));
    }
  }

  /// Bytes that one access of the slice may move: at least one element.
  int64_t accessBytes(Value global) {
    unsigned bits = tile::getStorageBits(cast<tile::GlobalType>(global.getType()).getElementType());
    return std::max<int64_t>(alignedAccessBytes(analyseSliceOrGather(global), bits, *integers),
                             (bits + 7) / 8);
  }

  /// A copy into registers: loads, as wide as alignment admits.
  LogicalResult select(tgpu::LoadOp load) {
    int64_t bytes = accessBytes(load.getSource());
    load.setBytes(bytes);
    constexpr StringRef reason = "the tile goes into registers";
    return success(succeeded(checkRequired(load, "tma", reason)) &&
                   succeeded(checkRequired(load, "cp_async", reason)) &&
                   succeeded(checkRequiredVector(load, bytes)));
  }

  /// Neighbours that a thread reads or writes: as wide as alignment admits.
  LogicalResult select(Operation *op, const NeighbourAccess &access) {
    const int64_t bytes = access.alignedBytes(*integers), all = access.count * access.elementBytes;
    if (bytes < access.wantedBytes()) {
      op->emitRemark() << access.count << " neighbours move by " << all / bytes << " accesses of "
                       << bytes << (bytes == 1 ? " byte" : " bytes")
                       << ": the first is not known to be at a multiple of " << access.wantedBytes()
                       << " bytes";
    }
    tgpu::kAccessBytes.set(op, Builder(op->getContext()).getI32IntegerAttr(bytes));
    return checkRequiredVector(op, bytes);
  }

  LogicalResult select(tgpu::CopyOp copy, const Target &target) {
    bool load = isa<tile::GlobalType>(copy.getSource().getType());
    Value global = load ? copy.getSource() : copy.getDest();
    std::string refusal = refuseTma(global, target, copy.getNoTma(), !load, *integers);
    if (refusal.empty()) {
      refusal = refuseHint(load ? copy.getDest() : copy.getSource());
    }
    if (refusal.empty()) {
      refusal = refuseRows(load ? copy.getDest() : copy.getSource(), !load);
    }
    if (refusal.empty()) {
      setPath(copy, CopyPath::Tma, accessBytes(global));
      return success();
    }
    if (failed(checkRequired(copy, "tma", refusal))) {
      return failure();
    }
    int64_t bytes = accessBytes(global);
    CopyPath path = load && bytes >= 4 ? CopyPath::CpAsync : CopyPath::Vector;
    constexpr StringRef narrow = "rows are not known to start and end at multiples of 4 bytes";
    if (path == CopyPath::Vector && load && failed(checkRequired(copy, "cp_async", narrow))) {
      return failure();
    }
    if (failed(checkRequiredVector(copy, bytes))) {
      return failure();
    }
    const bool isNarrow = load && !target.hasTma;
    if (target.hasTma || path == CopyPath::Vector) {
      copy.emitRemark("copy moves by ")
          << (path == CopyPath::CpAsync ? "cp.async" : "loads and stores") << " of " << bytes
          << (bytes == 1 ? " byte" : " bytes") << (isNarrow ? ", not cp.async: " : ", not TMA: ")
          << (isNarrow ? narrow : StringRef(refusal));
    }
    setPath(copy, path, bytes);
    return success();
  }

  LogicalResult select(tgpu::StoreOp store, const Target &target) {
    std::string refusal = refuseTma(store.getDest(), target, store.getNoTma(), true, *integers);
    if (refusal.empty() && cast<RankedTensorType>(store.getValue().getType()).getRank() != 2) {
      refusal = "the tile is not a matrix";
    }
    CopyPath path = refusal.empty() ? CopyPath::Tma : CopyPath::Vector;
    if (path != CopyPath::Tma) {
      if (failed(checkRequired(store, "tma", refusal)) ||
          failed(checkRequiredVector(store, accessBytes(store.getDest())))) {
        return failure();
      }
      if (target.hasTma) {
        store.emitRemark("copy stores from registers, not by TMA: ") << refusal;
      }
    }
    store.setPathAttr(tgpu::CopyPathAttr::get(store.getContext(), path));
    store.setBytes(accessBytes(store.getDest()));
    return success();
  }

  static void setPath(tgpu::CopyOp copy, CopyPath path, int64_t bytes) {
    copy.setPathAttr(tgpu::CopyPathAttr::get(copy.getContext(), path));
    copy.setBytes(bytes);
  }

  const IntegerAnalysis *integers = nullptr;
};

} // namespace
