//===- LowerCopies.cpp - stores by TMA, and copies outside pipelines -----===//
//
// A store by TMA goes through staging buffers, one for each panel of columns (as wide as the swizzle).
// Of more than two panels two buffers take turns, so that a panel is written while the one before it is
// still being stored; up to two are written together, between two barriers. Warpgroups that hold rows of their own write and
// store these by themselves and do not wait for each other. Where warps that load leave the others free to run apart, small results are stored by the warps that have them, without a barrier. Copies that no pipelined
// loop will overlap become cp.async with its wait, or stay plain.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Compatibility.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/Registers.h"
#include "passes/RoleBarriers.h"
#include "passes/Shared.h"
#include "passes/TileFills.h"

namespace tilec {
#define GEN_PASS_DEF_LOWERCOPIES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::SharedLayout;
using tgpu::CopyPath;

namespace {

/// Staging of a store: panels of [rows, columns] of the fragment, `across` of them side by side; `buffers` of them in shared
/// memory.
struct Staging {
  int64_t rows, columns, across, panels, buffers;
  SharedLayout layout; // of one buffer
  int64_t groups = 1;  // of warps, each of which stores its rows of a panel
  int64_t rowOf(int64_t panel) const { return panel / across * rows; }
  int64_t columnOf(int64_t panel) const { return panel % across * columns; }
};

constexpr int64_t kPanelBytes = 128; // width of the widest swizzle
constexpr int64_t kLaneBytes = 16;   // of the widest access of a thread

/// Whether each panel of the fragment is read as the first one is, further on.
bool hasPanels(const layout::RegisterLayout &fragment, ArrayRef<int64_t> shape, int64_t rows,
               int64_t columns) {
  Answer<layout::LayoutPart> wide = layout::sliceTile(fragment, 1, 0, columns);
  Answer<layout::LayoutPart> first =
      wide && rows < shape[0] ? layout::sliceTile(wide->layout, 0, 0, rows) : wide;
  if (fragment.hasPadding() || !first || shape[0] % rows != 0) {
    return false;
  }
  for (int64_t row = 0; row < shape[0]; row += rows) {
    for (int64_t column = 0; column < shape[1]; column += columns) {
      if (!layout::partRegisters(fragment, first->layout, {row, column})) {
        return false;
      }
    }
  }
  return true;
}

/// Rows of a panel: of teams of warps, each of which has staging of its own and stores while another computes, as few as all
/// threads have a part of; else all.
int64_t rowsOfPanel(tgpu::StoreOp store, const layout::RegisterLayout &fragment, int64_t columns) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(store.getValue().getType()).getShape();
  auto slice = store.getDest().getDefiningOp<tile::SliceOp>();
  if (teamsWanted(store->getParentOfType<tgpu::KernelOp>()) == 1 || !slice ||
      llvm::is_contained(slice.getStaticSizes(), ShapedType::kDynamic) ||
      cast<tile::GlobalType>(slice.getResult().getType()).getShape() != shape) {
    return shape[0];
  }
  constexpr int64_t kLeastRows = 64; // of a product of a warpgroup
  int64_t rows = shape[0];
  while (rows / 2 >= kLeastRows && rows % 2 == 0 && hasPanels(fragment, shape, rows / 2, columns)) {
    rows /= 2;
  }
  return rows;
}

/// The registers of a panel, numbered from 0: the layout of the whole, read on fewer columns and rows.
layout::RegisterLayout layoutOfPanel(const layout::RegisterLayout &whole, int64_t rows,
                                     int64_t columns) {
  Answer<layout::LayoutPart> part = layout::sliceTile(whole, 1, 0, columns);
  if (rows < whole.shape()[0]) {
    part = layout::sliceTile(part->layout, 0, 0, rows);
  }
  return part->layout;
}

/// Warpgroups, or more of them together, that hold rows of a panel of their own, each a box of TMA. Of teams each has barriers of its own already;
/// and warps that have no next tile to go on with gain nothing (attention_backward lost 10 %: ptxas ordered its loop otherwise).
int64_t groupsOfPanel(tgpu::KernelOp kernel, const layout::RegisterLayout &panel,
                      const SharedLayout &layout) {
  constexpr int64_t kGroupThreads = 128;
  const int64_t threads = kernel.getThreads();
  if (!kernel.getPersistent() || teamsWanted(kernel) > 1 ||
      kernel.getWarpSpecialize() == "operations" || panel.numWarps() * 32 != threads) {
    return 1;
  }
  for (int64_t groups = kMostGroups; groups > 1; --groups) {
    Answer<layout::TmaBoxes> boxes = layout::tmaBoxes(layout, groups);
    if (threads % (groups * kGroupThreads) == 0 && panel.hasRowGroups(groups) && boxes &&
        int64_t(boxes->boxes.size()) == groups) {
      return groups;
    }
  }
  return 1;
}

/// A plan, or why the fragment cannot be cut into panels.
Answer<Staging> planStaging(tgpu::StoreOp store) {
  auto type = cast<RankedTensorType>(store.getValue().getType());
  const layout::RegisterLayout *fragment = tgpu::getLayout(type);
  int64_t columns = kPanelBytes * 8 / tile::getStorageBits(type.getElementType());
  const int64_t n = type.getShape()[1];
  if (!fragment || n % columns != 0) {
    return layout::Refusal{"its columns are not multiples of a panel of " +
                           std::to_string(columns)};
  }
  if (!hasPanels(*fragment, type.getShape(), type.getShape()[0], columns)) {
    return layout::Refusal{"a panel of columns is not the same registers in every thread"};
  }
  const int64_t rows = rowsOfPanel(store, *fragment, columns);
  Answer<SharedLayout> layout = SharedLayout::panels(
      {rows, columns}, tile::getStorageBits(type.getElementType()), kPanelBytes);
  if (!layout) {
    return layout::Refusal{layout.reason()};
  }
  if (Answer<layout::TmaBoxes> boxes = layout::tmaBoxes(*layout); !boxes || boxes->overhang) {
    return layout::Refusal{"a panel is no whole number of TMA boxes"};
  }
  // Buffers take turns from the first panel of each tile on, so their number divides that of the
  // panels.
  const int64_t across = n / columns, panels = type.getShape()[0] / rows * across;
  const int64_t groups = groupsOfPanel(store->getParentOfType<tgpu::KernelOp>(),
                                       layoutOfPanel(*fragment, rows, columns), *layout);
  return Staging{rows, columns, across, panels, panels % 2 == 0 ? 2 : 1, *layout, groups};
}

struct LowerCopies : tilec::impl::LowerCopiesBase<LowerCopies> {
  void runOnOperation() override {
    rings.clear(); // of another kernel
    SmallVector<tgpu::StoreOp> stores;
    SmallVector<tgpu::CopyOp> copies;
    getOperation().walk([&](tgpu::StoreOp store) { stores.push_back(store); });
    getOperation().walk([&](tgpu::CopyOp copy) { copies.push_back(copy); });
    storeByLanes(stores);
    for (tgpu::StoreOp store : stores) {
      if (store.getPath() != CopyPath::Tma) {
        continue;
      }
      Answer<Staging> staging = planStaging(store);
      if (!staging) {
        if (failed(checkRequired(store, "tma", staging.reason()))) {
          return signalPassFailure();
        }
        store.emitRemark("copy stores from registers, not by TMA: ") << staging.reason();
        store.setPathAttr(tgpu::CopyPathAttr::get(store.getContext(), CopyPath::Vector));
        continue;
      }
      if (failed(lowerStore(store, *staging))) {
        return signalPassFailure();
      }
    }
    for (tgpu::CopyOp copy : copies) {
      if (failed(lowerCopy(copy))) {
        return signalPassFailure();
      }
    }
    drainStores();
  }

  /// Warps that leave the fills to others each store their rows as soon as they have them, 16 bytes a lane, and none waits for
  /// others: the next tile of some runs beside the end of this one. For attention with 32 words a thread that was worth 7 %
  /// (docs/performance.md); of 64, a product's in 16 bits, the shuffles cost what the barriers do, but not where half as many make runs of
  /// 16 bytes, as of words of 32 bits.
  void storeByLanes(ArrayRef<tgpu::StoreOp> stores) {
    constexpr int64_t kMostWords = 32;
    if (!asksForRoles(getOperation())) {
      return;
    }
    SmallVector<std::pair<tgpu::StoreOp, layout::RegisterLayout>, 0> plan;
    int64_t words = 0;
    bool isShort = true; // the way to runs
    for (tgpu::StoreOp store : stores) {
      if (store.getPath() != CopyPath::Tma) {
        continue;
      }
      auto type = cast<RankedTensorType>(store.getValue().getType());
      const layout::RegisterLayout *now = tgpu::getLayout(type);
      const unsigned bits = tile::getStorageBits(type.getElementType());
      if (isRequired(store, "tma") || !now || bits < 8) {
        return;
      }
      Answer<layout::RegisterLayout> runs = layout::withRuns(*now, kLaneBytes * 8 / bits);
      if (!runs) {
        return;
      }
      Answer<layout::LaneSwaps> swaps = layout::planLaneSwaps(*now, *runs, bits);
      if (!swaps) {
        return;
      }
      isShort = isShort && swaps->steps.size() <= 1;
      words += registersOf(store.getValue());
      plan.emplace_back(store, *runs);
    }
    if (words > kMostWords && !isShort) {
      return;
    }
    for (auto &[store, runs] : plan) {
      OpBuilder builder(store);
      auto type = cast<RankedTensorType>(store.getValue().getType());
      Value value = tgpu::ConvertLayoutOp::create(
          builder, store.getLoc(), tgpu::withLayout(type, runs), store.getValue(), IntegerAttr());
      store.getValueMutable().assign(value);
      store.setPathAttr(tgpu::CopyPathAttr::get(store.getContext(), CopyPath::Vector));
      store.setBytes(kLaneBytes);
      store.emitRemark("each warp stores its rows from registers, ")
          << kLaneBytes << " bytes a lane: warps do not wait for each other";
    }
  }

  /// Before a kernel ends its stores must have read their staging buffers.
  void drainStores() {
    llvm::SmallSetVector<int64_t, 2> groups;
    for (auto &[key, ring] : rings) {
      groups.insert(key.second);
    }
    for (const int64_t each : groups) {
      OpBuilder builder(getOperation().getBody().back().getTerminator());
      auto one = tgpu::OneThreadOp::create(builder, getOperation().getLoc(), /*warp=*/0, each);
      builder.setInsertionPointToStart(&one.getBody().emplaceBlock());
      tgpu::TmaStoreWaitOp::create(builder, getOperation().getLoc(), 0, /*read=*/true);
    }
  }

  llvm::MapVector<std::pair<Type, int64_t>, Value> rings; ///< for staging, by who stores

  LogicalResult lowerStore(tgpu::StoreOp store, const Staging &staging) {
    Location loc = store.getLoc();
    OpBuilder builder(store);
    auto type = cast<RankedTensorType>(store.getValue().getType());
    auto slotType = tgpu::SmemType::get(store.getContext(), {staging.rows, staging.columns},
                                        type.getElementType(),
                                        tgpu::SharedAttr::get(store.getContext(), staging.layout));
    GlobalSlice slice = analyseSlice(store.getDest());
    FailureOr<int64_t> map =
        getTensorMap(getOperation(), store, slice, staging.layout, staging.groups);
    if (failed(map)) {
      return failure();
    }
    // The ring outlives the tile loop: the last panels of a tile are stored while the next tile
    // begins. Stores of equal panels share one: each goes through a whole number of its rounds, so that a panel's wait is for whatever had
    // its place before.
    Value &ring = rings[{ringType(slotType, staging.buffers), staging.groups}];
    if (!ring) {
      OpBuilder entry = OpBuilder::atBlockBegin(&getOperation().getBody().front());
      ring = tgpu::AllocSharedOp::create(entry, loc, ringType(slotType, staging.buffers),
                                         builder.getStringAttr("staging"), StringAttr(),
                                         IntegerAttr());
    }
    const int64_t together = staging.panels == staging.buffers ? staging.panels : 1;
    for (int64_t first = 0; first < staging.panels; first += together) {
      auto wait = tgpu::OneThreadOp::create(builder, loc, /*warp=*/0, staging.groups);
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(&wait.getBody().emplaceBlock());
        tgpu::TmaStoreWaitOp::create(builder, loc, staging.buffers - together, /*read=*/true);
      }
      meetInGroups(builder, loc, staging);
      SmallVector<std::pair<Value, Value>> moves;
      for (int64_t panel = first; panel < first + together; ++panel) {
        Value position = arith::ConstantIntOp::create(builder, loc, panel % staging.buffers, 32);
        Value slot = tgpu::SlotOp::create(builder, loc, slotType, ring, position);
        tgpu::LocalStoreOp::create(builder, loc, panelOf(builder, store.getValue(), panel, staging),
                                   slot, staging.groups);
        moves.emplace_back(slot, globalPanel(builder, store.getDest(), panel, staging));
      }
      if (staging.groups > 1) {
        tgpu::FenceAsyncOp::create(builder, loc);
      }
      meetInGroups(builder, loc, staging);
      auto issue = tgpu::OneThreadOp::create(builder, loc, /*warp=*/0, staging.groups);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
      for (auto [slot, dest] : moves) {
        tgpu::TmaStoreOp::create(builder, loc, slot, dest, *map, store.getCache());
      }
      tgpu::TmaStoreCommitOp::create(builder, loc);
    }
    store.erase();
    return success();
  }

  /// Barriers of groups stand here; those of all threads come where data flow wants them (tgpu-insert-sync).
  static void meetInGroups(OpBuilder &builder, Location loc, const Staging &staging) {
    if (staging.groups > 1) {
      tgpu::BarrierOp::create(builder, loc, /*id=*/0, /*threads=*/0, staging.groups);
    }
  }

  /// A buffer that the program itself fills is stored from where it lies.
  LogicalResult storeBuffer(tgpu::CopyOp copy) {
    tgpu::SmemType type = cast<tgpu::SmemType>(copy.getSource().getType());
    FailureOr<int64_t> map = getTensorMap(getOperation(), copy, analyseSlice(copy.getDest()),
                                          type.getLayout().getLayout());
    if (failed(map)) {
      return failure();
    }
    Location loc = copy.getLoc();
    OpBuilder builder(copy);
    auto issue = tgpu::OneThreadOp::create(builder, loc);
    builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
    tgpu::TmaStoreOp::create(builder, loc, copy.getSource(), copy.getDest(), *map, copy.getCache());
    tgpu::TmaStoreCommitOp::create(builder, loc);
    tgpu::TmaStoreWaitOp::create(builder, loc, 0, /*read=*/true);
    copy.erase();
    return success();
  }

  static Value panelOf(OpBuilder &builder, Value fragment, int64_t panel, const Staging &staging) {
    if (staging.panels == 1) {
      return fragment;
    }
    auto type = cast<RankedTensorType>(fragment.getType());
    const layout::RegisterLayout part =
        layoutOfPanel(*tgpu::getLayout(type), staging.rows, staging.columns);
    auto partType = RankedTensorType::get({staging.rows, staging.columns}, type.getElementType());
    return tgpu::FragmentSliceOp::create(
        builder, fragment.getLoc(), tgpu::withLayout(partType, part), fragment,
        ArrayRef<int64_t>{staging.rowOf(panel), staging.columnOf(panel)});
  }

  /// Where a panel of a slice of global memory goes, as a slice of the slice's own source (or of the whole tensor).
  static Value globalPanel(OpBuilder &builder, Value global, int64_t panel,
                           const Staging &staging) {
    auto slice = global.getDefiningOp<tile::SliceOp>();
    Location loc = global.getLoc();
    auto whole = cast<tile::GlobalType>(global.getType());
    SmallVector<Value> offsets, dynamicSizes;
    SmallVector<int64_t> sizes;
    if (slice) {
      offsets.assign(slice.getOffsets().begin(), slice.getOffsets().end());
      dynamicSizes.assign(slice.getSizes().begin(), slice.getSizes().end());
      sizes.assign(slice.getStaticSizes().begin(), slice.getStaticSizes().end());
    } else { // a whole tensor of static extents
      offsets.assign(whole.getRank(), arith::ConstantIntOp::create(builder, loc, 0, 32));
      sizes.assign(whole.getShape().begin(), whole.getShape().end());
    }
    auto move = [&](Value &offset, int64_t by) {
      Value step =
          arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(offset.getType(), by));
      offset = arith::AddIOp::create(builder, loc, offset, step);
    };
    move(offsets.back(), staging.columnOf(panel));
    sizes.back() = staging.columns;
    SmallVector<int64_t> shape(whole.getShape());
    shape.back() = staging.columns;
    if (staging.panels > staging.across) { // rows are those of the first dimension that is kept
      unsigned row = 0;
      while (slice.isDropped(row)) {
        ++row;
      }
      move(offsets[row], staging.rowOf(panel));
      sizes[row] = staging.rows;
      shape.front() = staging.rows;
    }
    auto type = tile::GlobalType::get(builder.getContext(), shape, whole.getElementType());
    return tile::SliceOp::create(builder, loc, type, slice ? slice.getSource() : global, offsets,
                                 dynamicSizes, sizes);
  }

  /// Loads in loops that may be pipelined wait for their plan, those that warps of their own may make for
  /// these.
  LogicalResult lowerCopy(tgpu::CopyOp copy) {
    auto loop = dyn_cast<scf::ForOp>(copy->getParentOp());
    bool load = isa<tile::GlobalType>(copy.getSource().getType());
    if (load && loop && tile::kStages.has(loop)) {
      return success();
    }
    if (copy.getPath() == CopyPath::Tma) {
      std::string reason = load ? refuseTileFill(copy) : refuseTileStore(copy);
      if (reason.empty()) {
        reason = load ? avoidTileFill(copy) : avoidTileStore(copy);
      }
      if (reason.empty()) {
        return load ? success() : storeBuffer(copy); // loads: tgpu-make-channels
      }
      if (failed(checkRequired(copy, "tma", reason))) {
        return failure();
      }
      copy.emitRemark("copy uses no TMA: ") << reason;
    }
    return makeSynchronous(copy);
  }
};

} // namespace
