//===- CoalesceStores.cpp - whole sectors for stores from registers ------===//
//
// A fragment as a product leaves it has eight rows in the lanes of a warp: stored element by element, each access touches eight
// sectors of memory and fills a quarter of none. Such a fragment goes through shared memory to a layout whose lanes are neighbours in
// a row. Rings have their slots by now, so what that takes in shared memory is known.
//
//===----------------------------------------------------------------------===//
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
constexpr int64_t kOtherRegisters = 32; // of a thread, beside its largest fragment
constexpr int64_t kPanelElements = 32;  // of a panel, in a thread
constexpr int64_t kLeastColumns = 32;   // of a panel

/// The accesses of a block that stores a tile once.
struct Accesses {
  int64_t instructions = 0; // of warps
  int64_t sectors = 0;      // that each of them touches, all together, where rows start at sectors
  int64_t cost() const { return instructions + sectors / kSectorsPerClock; }
};

Accesses accessesOf(const RegisterLayout &layout, int64_t elementBytes, int64_t accessBytes) {
  const int64_t last = layout.rank() - 1;
  const int64_t width =
      std::max<int64_t>(1, std::min(accessBytes / elementBytes, layout.contiguousElements(last)));
  const int64_t sectorsOfRow = llvm::divideCeil(layout.shape()[last] * elementBytes, kSectorBytes);
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
      accesses.instructions += touched.empty() ? 0 : 1;
      accesses.sectors += int64_t(touched.size());
    }
  }
  return accesses;
}

/// Columns [0, columns), [columns, 2 * columns), ... of a fragment, each with its layout and the one that follows rows.
struct Panels {
  int64_t columns;
  RegisterLayout now, rows;
  layout::ConversionPrice price; // of all
  Accesses before, after;        // of all
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
  std::optional<Panels> planPanels(tgpu::StoreOp store, int64_t columns) {
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
    Answer<RegisterLayout> rows = RegisterLayout::blocked(
        now.shape(), std::max<int64_t>(1, accessBytes / bytes), now.numWarps());
    if (!rows) {
      return std::nullopt;
    }
    Answer<layout::ConversionPrice> price =
        priceOfConversion(getOperation(), panelType(type, now), now, *rows);
    if (!price) {
      return std::nullopt;
    }
    Panels panels{columns,
                  now,
                  *rows,
                  *price,
                  accessesOf(now, bytes, accessBytes),
                  accessesOf(*rows, bytes, accessBytes)};
    for (int64_t *part :
         {&panels.price.instructions, &panels.price.shuffles, &panels.price.accesses,
          &panels.price.sharedBytes, &panels.price.barriers, &panels.price.conflicts,
          &panels.before.instructions, &panels.before.sectors, &panels.after.instructions,
          &panels.after.sectors}) {
      *part *= count;
    }
    const int64_t cost = panels.after.cost() + panels.price.cost(getOperation().getNumWarps());
    return 4 * cost <= 3 * panels.before.cost() ? std::optional(panels) : std::nullopt;
  }

  static RankedTensorType panelType(RankedTensorType type, const RegisterLayout &layout) {
    return tgpu::withLayout(RankedTensorType::get(layout.shape(), type.getElementType()), layout);
  }

  void coalesce(tgpu::StoreOp store) {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    const RegisterLayout *now = tgpu::getLayout(type);
    if (store.getPath() == tgpu::CopyPath::Tma || !now || now->partial() || now->rank() == 0 ||
        now->firstWarp() != 0 || tile::getStorageBits(type.getElementType()) < 8 ||
        GatheringAccess::of(store) || isRequired(store, "no_exchange") ||
        store->getParentOfType<tgpu::OneThreadOp>()) {
      return;
    }
    // A panel leaves no more elements in a thread's registers than it can store at once.
    int64_t columns = type.getShape().back();
    const bool canCut =
        !ShapedType::isDynamicShape(cast<tile::GlobalType>(store.getDest().getType()).getShape());
    while (canCut && columns % 2 == 0 && columns > kLeastColumns &&
           type.getNumElements() / type.getShape().back() * columns >
               kPanelElements * getOperation().getThreads()) {
      columns /= 2;
    }
    std::optional<Panels> panels = planPanels(store, columns);
    if (!panels && columns != type.getShape().back()) {
      panels = planPanels(store, type.getShape().back());
    }
    if (!panels) {
      return;
    }
    const int64_t registers = registersOfThread(), blocks = residentBlocks(registers);
    Operation *const before = store->getPrevNode();
    storePanels(store, *panels);
    if (residentBlocks(registers) < blocks) {
      while (store->getPrevNode() != before) {
        store->getPrevNode()->erase();
      }
      return;
    }
    store.emitRemark("stores neighbours of a row together instead of what a product leaves in a "
                     "warp's lanes: ")
        << panels->after.sectors << " pieces of 32 bytes, not " << panels->before.sectors << "; "
        << panels->price.str();
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
      Value rows = tgpu::ConvertLayoutOp::create(builder, loc, panelType(type, panels.rows),
                                                 fragment, IntegerAttr());
      auto part = cast<tgpu::StoreOp>(builder.clone(*store));
      part.getValueMutable().assign(rows);
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
    kernel.walk([&](tgpu::ChannelOp channel) {
      bytes += 2 * 8 * channel.getResult().getType().getSlots();
    });
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
