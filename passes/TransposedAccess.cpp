//===- TransposedAccess.cpp - what moves a tile and its transpose --------===//
#include "passes/TransposedAccess.h"

#include "passes/LayoutTies.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::Coords;
using layout::HwDim;
using layout::RegisterLayout;

namespace {

/// The accesses of memory of all tiles that share a layout.
struct Accesses {
  std::optional<int64_t> global; ///< neighbours that each access of global memory can move
  bool isShared = false;         ///< some are of shared memory

  bool any() const { return global || isShared; }

  void add(Value tile, std::optional<int64_t> bytes) {
    const unsigned bits =
        tile::getStorageBits(cast<RankedTensorType>(tile.getType()).getElementType());
    const int64_t neighbours = std::max<int64_t>(1, bytes.value_or(16) * 8 / bits);
    global = std::min(global.value_or(neighbours), neighbours);
  }
};

} // namespace

static void addAll(ValueRange values, llvm::SetVector<Value> &group) {
  for (Value value : values) {
    if (isFragment(value)) {
      group.insert(value);
    }
  }
}

static Accesses accessesOf(Value value, const LayoutTies &ties) {
  Accesses accesses;
  llvm::SetVector<Value> group;
  group.insert(value);
  for (size_t i = 0; i < group.size(); ++i) {
    Value tile = group[i];
    auto tied = ties.find(tile);
    if (tied != ties.end()) {
      addAll(tied->second, group);
    }
    Operation *definition = tile.getDefiningOp();
    if (auto load = dyn_cast_or_null<tgpu::LoadOp>(definition)) {
      accesses.add(tile, load.getBytes());
    } else if (isa_and_nonnull<tgpu::LocalLoadOp>(definition)) {
      accesses.isShared = true;
    } else if (definition && sharesLayout(definition)) {
      addAll(definition->getOperands(), group);
    }
    for (Operation *user : tile.getUsers()) {
      if (auto store = dyn_cast<tgpu::StoreOp>(user)) {
        accesses.add(tile, store.getBytes());
      } else if (auto atomic = dyn_cast<tgpu::AtomicTileOp>(user)) {
        accesses.add(tile, atomic.getBytes());
      } else if (isa<tgpu::LocalStoreOp>(user)) {
        accesses.isShared = true;
      } else if (sharesLayout(user)) {
        addAll(user->getOperands(), group);
        addAll(user->getResults(), group);
      }
    }
  }
  return accesses;
}

/// More than eight neighbours in each direction would be more registers than they are worth.
static constexpr int64_t maxNeighbours = 8;

static Answer<RegisterLayout> inBlocks(RankedTensorType type, int64_t rows, int64_t columns,
                                       int64_t warps) {
  // Small tiles: rather use all threads than wide accesses.
  while (rows * columns > 4 && type.getNumElements() < rows * columns * warps * 32) {
    (rows < columns ? columns : rows) /= 2;
  }
  return RegisterLayout::inBlocks(type.getShape(), rows, columns, warps);
}

/// The same elements in the same threads, with neighbours in a row in neighbouring slots.
static Answer<RegisterLayout> rowsFirst(const RegisterLayout &layout) {
  RegisterLayout::Spec spec{Coords(layout.shape()), {}, {}, layout.firstWarp(), std::nullopt};
  for (HwDim hw : {HwDim::Register, HwDim::Lane, HwDim::Warp}) {
    spec.bases[unsigned(hw)] = layout.bases(hw);
  }
  llvm::append_range(spec.repeats, layout.repeats());
  auto &slots = spec.bases[unsigned(HwDim::Register)];
  RegisterLayout::Bases along, others;
  for (const Coords &step : slots) {
    (step.back() != 0 ? along : others).push_back(step);
  }
  llvm::sort(along, [](const Coords &a, const Coords &b) { return a.back() < b.back(); });
  slots = along;
  llvm::append_range(slots, others);
  return RegisterLayout::get(std::move(spec));
}

static std::optional<RegisterLayout> suited(Value tile, const Accesses &accesses, int64_t warps) {
  if (!accesses.global) {
    return std::nullopt;
  }
  Answer<RegisterLayout> layout =
      RegisterLayout::blocked(cast<RankedTensorType>(tile.getType()).getShape(),
                              std::min(*accesses.global, maxNeighbours), warps);
  return layout ? std::optional(*layout) : std::nullopt;
}

TransposedLayouts tilec::layoutsAcross(tile::TransposeOp op, const LayoutTies &ties,
                                       int64_t warps) {
  const Accesses input = accessesOf(op.getInput(), ties);
  const Accesses result = accessesOf(op.getResult(), ties);
  if (!input.any() || !result.any() || (!input.global && !result.global)) {
    return {};
  }
  const int64_t columns = std::min(input.global.value_or(maxNeighbours), maxNeighbours);
  const int64_t rows = std::min(result.global.value_or(maxNeighbours), maxNeighbours);
  if (std::min(rows, columns) >= 2) {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    Answer<RegisterLayout> layout = inBlocks(type, rows, columns, warps);
    if (Answer<RegisterLayout> across = layout ? rowsFirst(layout->transposed()) : layout) {
      return {*layout, *across};
    }
  }
  return {suited(op.getInput(), input, warps), suited(op.getResult(), result, warps)};
}
