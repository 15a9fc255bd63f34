//===- CoalesceStores.cpp - whole sectors for stores from registers ------===//
//
// A fragment as a product leaves it has eight rows in the lanes of a warp: stored element by element, each access touches eight
// sectors of memory and fills a quarter of none. There are two ways to better ones, and the cheaper is taken. Where the tensor admits
// wide accesses, lanes exchange registers until each has as much of one row as an access moves: that concerns no other warp. Or the
// fragment goes through shared memory to a layout whose lanes are neighbours in a row. Rings have their slots by now, so what that
// takes in shared memory is known.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/LaneSwaps.h"
#include "passes/Analysis.h"
#include "passes/GatheringAccess.h"
#include "passes/LayoutPrices.h"
#include "passes/LayoutTies.h"
#include "passes/Passes.h"
#include "passes/Registers.h"
#include "passes/SharedPieces.h"

namespace tilec {
#define GEN_PASS_DEF_COALESCESTORES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::RegisterLayout;

namespace {

constexpr int64_t kSectorBytes =
    32; // what memory is written in (CUDA C++ Best Practices Guide, "Coalesced Access")
constexpr int64_t kSectorsPerClock = 2; // that a multiprocessor sends to L2
constexpr int64_t kSectorsOfLine = 4;   // of which an access takes one in each clock
constexpr int64_t kLaneBytes = 16;      // of the widest access of a thread
constexpr int64_t kOtherRegisters = 32; // of a thread, beside its largest fragment
constexpr int64_t kPanelElements = 32;  // of a panel, in a thread
constexpr int64_t kLeastColumns = 32;   // of a panel

/// The accesses of a block that stores a tile once, where rows start at lines.
struct Accesses {
  int64_t sectors = 0; // that each instruction of a warp touches, all together
  int64_t clocks = 0;  // of the multiprocessor
};

Accesses storeAccessesOf(const RegisterLayout &layout, int64_t elementBytes, int64_t accessBytes) {
  const int64_t last = layout.rank() - 1;
  const int64_t width =
      std::max<int64_t>(1, std::min(accessBytes / elementBytes, layout.contiguousElements(last)));
  const int64_t sectorsOfRow = llvm::alignTo(
      llvm::divideCeil(layout.shape()[last] * elementBytes, kSectorBytes), kSectorsOfLine);
  Accesses accesses;
  SmallVector<int64_t, 32> touched; // sectors, by number
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp) {
    for (int64_t reg = 0; reg < layout.registersPerThread(); reg += width) {
      touched.clear();
      for (int64_t lane = 0; lane < 32; ++lane) {
        layout::Coords coords = layout.coords(reg, lane, layout.firstWarp() + warp);
        if (layout.inBounds(coords)) {
          int64_t row = 0;
          for (int64_t dim = 0; dim < last; ++dim) {
            row = row * layout.shape()[dim] + coords[dim];
          }
          touched.push_back(row * sectorsOfRow + coords[last] * elementBytes / kSectorBytes);
        }
      }
      llvm::sort(touched);
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      const auto sectors = int64_t(touched.size());
      int64_t lines = 0;
      for (auto [i, sector] : llvm::enumerate(touched)) {
        lines += i == 0 || touched[i - 1] / kSectorsOfLine != sector / kSectorsOfLine;
      }
      accesses.sectors += sectors;
      accesses.clocks += std::max<int64_t>(lines, llvm::divideCeil(sectors, kSectorsPerClock));
    }
  }
  return accesses;
}

enum class Way { Lanes, Shared };

/// Columns [0, columns), [columns, 2 * columns), ... of a fragment, each with its layout and the one that it is stored from.
struct Panels {
  Way way;
  int64_t columns;
  RegisterLayout now, stored;
  layout::ConversionPrice price; // of all
  Accesses before, after;        // of all

  int64_t clocks() const { return after.clocks + price.cost(now.numWarps()); }
};

struct CoalesceStores : tilec::impl::CoalesceStoresBase<CoalesceStores> {
  void runOnOperation() override {
    SmallVector<tgpu::StoreOp> stores;
    getOperation().walk([&](tgpu::StoreOp store) { stores.push_back(store); });
    for (tgpu::StoreOp store : stores) {
      coalesce(store);
    }
  }

  /// A plan for panels of so many columns, if there is one that is worth it.
  std::optional<Panels> planPanels(tgpu::StoreOp store, int64_t columns, Way way) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    const RegisterLayout &whole = *tgpu::getLayout(type);
    const int64_t last = type.getRank() - 1, count = type.getShape()[last] / columns;
    const int64_t bytes = tile::getStorageBits(type.getElementType()) / 8;
    const int64_t accessBytes = store.getBytes().value_or(uint32_t(bytes));
    RegisterLayout now = whole;
    if (count > 1) {
      Answer<layout::LayoutPart> first = layout::sliceTile(whole, last, 0, columns);
      layout::Coords origin(type.getRank(), 0);
      for (; origin[last] < type.getShape()[last]; origin[last] += columns) {
        if (!first || !layout::partRegisters(whole, first->layout, origin)) {
          return std::nullopt; // not the same registers in every thread
        }
      }
      now = first->layout;
    }
    const int64_t elements =
        std::max<int64_t>(1, std::min<int64_t>(accessBytes, kLaneBytes) / bytes);
    if (way == Way::Lanes && now.contiguousElements(last) >= elements) {
      return std::nullopt;
    }
    Answer<RegisterLayout> stored =
        way == Way::Lanes ? layout::withRuns(now, elements)
                          : RegisterLayout::blocked(now.shape(), elements, now.numWarps());
    if (!stored) {
      return std::nullopt;
    }
    Answer<layout::ConversionPrice> price =
        priceOfConversion(getOperation(), panelType(type, now), now, *stored);
    if (!price || (way == Way::Lanes && price->sharedBytes != 0)) {
      return std::nullopt;
    }
    Panels panels{way,
                  columns,
                  now,
                  *stored,
                  *price,
                  storeAccessesOf(now, bytes, accessBytes),
                  storeAccessesOf(*stored, bytes, accessBytes)};
    for (int64_t *part : {&panels.price.instructions, &panels.price.shuffles,
                          &panels.price.accesses, &panels.price.sharedBytes, &panels.price.barriers,
                          &panels.price.conflicts, &panels.before.sectors, &panels.before.clocks,
                          &panels.after.sectors, &panels.after.clocks}) {
      *part *= count;
    }
    return 4 * panels.clocks() <= 3 * panels.before.clocks ? std::optional(panels) : std::nullopt;
  }

  static RankedTensorType panelType(RankedTensorType type, const RegisterLayout &layout) {
    return tgpu::withLayout(RankedTensorType::get(layout.shape(), type.getElementType()), layout);
  }

  /// The cheaper way, in panels that leave no more elements in a thread's registers than it can store at once.
  std::optional<Panels> plan(tgpu::StoreOp store) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    const RegisterLayout &now = *tgpu::getLayout(type);
    int64_t columns = type.getShape().back();
    const bool canCut =
        !ShapedType::isDynamicShape(cast<tile::GlobalType>(store.getDest().getType()).getShape());
    // Each panel starts where an access as wide as the whole tile's may.
    const int64_t bytes = tile::getStorageBits(type.getElementType()) / 8;
    const int64_t wide = std::max<int64_t>(1, store.getBytes().value_or(1) / bytes);
    while (canCut && columns % (2 * wide) == 0 && columns > kLeastColumns &&
           type.getNumElements() / type.getShape().back() * columns >
               kPanelElements * 32 * now.numWarps()) {
      columns /= 2;
    }
    std::optional<Panels> best;
    for (Way way : {Way::Lanes, Way::Shared}) {
      if (way == Way::Shared && now.firstWarp() != 0) {
        continue; // a role's, beside others
      }
      std::optional<Panels> panels = planPanels(store, columns, way);
      if (!panels && columns != type.getShape().back()) {
        panels = planPanels(store, type.getShape().back(), way);
      }
      if (panels && (!best || panels->clocks() < best->clocks())) {
        best = panels;
      }
    }
    return best;
  }

  void coalesce(tgpu::StoreOp store) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    const RegisterLayout *now = tgpu::getLayout(type);
    if (store.getPath() == tgpu::CopyPath::Tma || !now || now->partial() || now->rank() == 0 ||
        tile::getStorageBits(type.getElementType()) < 8 || GatheringAccess::of(store) ||
        isRequired(store, "no_exchange") || store->getParentOfType<tgpu::OneThreadOp>()) {
      return;
    }
    std::optional<Panels> panels = plan(store);
    if (!panels) {
      return;
    }
    const int64_t registers = registersOfThread(), blocks = residentBlocks(registers);
    Operation *const before = store->getPrevNode();
    storePanels(store, *panels);
    if (panels->way == Way::Shared && residentBlocks(registers) < blocks) {
      while (store->getPrevNode() != before) {
        store->getPrevNode()->erase();
      }
      return;
    }
    InFlightDiagnostic remark = store.emitRemark();
    if (panels->way == Way::Lanes) {
      remark << "lanes exchange what a product leaves in them, so that each stores "
             << panels->stored.contiguousElements(now->rank() - 1)
             << " neighbours of a row: " << panels->after.clocks << " clocks of accesses, not "
             << panels->before.clocks << "; ";
    } else {
      remark << "stores neighbours of a row together instead of what a product leaves in a warp's "
                "lanes: "
             << panels->after.sectors << " pieces of 32 bytes, not " << panels->before.sectors
             << "; ";
    }
    remark << panels->price.str();
    remark.report();
    store.erase();
  }

  /// In front of the store.
  static void storePanels(tgpu::StoreOp store, const Panels &panels) {
    OpBuilder builder(store);
    Location loc = store.getLoc();
    auto type = cast<RankedTensorType>(store.getValue().getType());
    auto global = cast<tile::GlobalType>(store.getDest().getType());
    SmallVector<int64_t> origin(type.getRank(), 0), shape(global.getShape());
    for (; origin.back() < type.getShape().back(); origin.back() += panels.columns) {
      Value fragment = store.getValue(), dest = store.getDest();
      if (panels.columns != type.getShape().back()) {
        fragment = tgpu::FragmentSliceOp::create(builder, loc, panelType(type, panels.now),
                                                 fragment, origin);
        SmallVector<Value> offsets(origin.size());
        llvm::transform(origin, offsets.begin(), [&](int64_t offset) {
          return arith::ConstantIntOp::create(builder, loc, offset, 32);
        });
        shape.back() = panels.columns;
        dest = tile::SliceOp::create(
            builder, loc,
            tile::GlobalType::get(builder.getContext(), shape, global.getElementType()), dest,
            offsets, ValueRange(), shape);
      }
      Value stored = tgpu::ConvertLayoutOp::create(builder, loc, panelType(type, panels.stored),
                                                   fragment, IntegerAttr());
      auto part = cast<tgpu::StoreOp>(builder.clone(*store));
      part.getValueMutable().assign(stored);
      part.getDestMutable().assign(dest);
    }
  }

  /// Blocks on a multiprocessor whose threads have this many registers, 0 if one has not enough shared memory.
  int64_t residentBlocks(int64_t registers) {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = findTarget(kernel.getTarget().value_or(""));
    SmallVector<SharedPiece> pieces =
        collectSharedPieces(kernel, [](tgpu::AllocSharedOp) { return PlannedRing(); });
    int64_t bytes = placeSharedPieces(pieces);
    kernel.walk([&](tgpu::ChannelOp channel) { bytes += channelBytes(channel); });
    return target && bytes <= target->sharedPerBlock
               ? tilec::residentBlocks(*target, registers, kernel.getLaunchedThreads(), bytes)
               : 0;
  }

  /// An estimate: those of the largest fragment, and some.
  int64_t registersOfThread() {
    int64_t registers = 0;
    getOperation().walk([&](tgpu::StoreOp store) {
      registers = std::max(registers, registersOf(store.getValue()));
    });
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        registers = std::max(registers, registersOf(result));
      }
    });
    return registers + kOtherRegisters;
  }
};

} // namespace
