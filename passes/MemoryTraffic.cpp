//===- MemoryTraffic.cpp - bytes that a launch touches -------------------===//
#include "passes/MemoryTraffic.h"

#include "passes/Analysis.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

namespace {

class TrafficCounter {
public:
  TrafficCounter(tgpu::KernelOp kernel, Amount points, DeviceEstimates &estimates,
                 const IntegerAnalysis &integers, HostMath &math)
      : kernel(kernel), points(points), estimates(estimates), integers(integers), math(math) {}

  MemoryTraffic count();

private:
  /// What accesses of one tensor touch; those of the same place touch the same.
  struct Touched {
    SmallVector<std::pair<Amount, SmallVector<Value>>, 1> parts;
    std::optional<Amount> size; ///< of the tensor, in elements
    double bytes = 0;           ///< of an element
    double narrow = 0;          ///< share that is read in narrow pieces
    Amount unaligned = 0.0;     ///< share of rows that begin between sectors
    double pieces = 0;          ///< share that is written in pieces of rows
    bool parted = false;        ///< by tiles that take less than a row
  };
  using Tensors = llvm::MapVector<BlockArgument, Touched>;

  void add(Operation *op, Value global, ValueRange indices, double elements, Tensors &tensors);
  Amount executions(Operation *op);
  Amount presence(Operation *op);
  double narrowness(Operation *op, GlobalSlice slice, double bytes);
  bool partsRows(GlobalSlice slice);
  Amount unalignedRows(GlobalSlice slice, double bytes);
  Amount sum(const Tensors &tensors, function_ref<Amount(const Touched &)> counted);

  tgpu::KernelOp kernel;
  Amount points;
  DeviceEstimates &estimates;
  const IntegerAnalysis &integers;
  HostMath &math;
};

} // namespace

/// How often an operation runs in all blocks.
Amount TrafficCounter::executions(Operation *op) {
  Amount times = points;
  for (; op != kernel; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
      if (!runsOverGrid(loop)) {
        times = math.mul(times, estimates.trips(loop));
      }
    } else if (isa<scf::WhileOp>(op->getParentOp()) && !runsOverGrid(op->getParentOp())) {
      times = math.mul(times, DeviceEstimates::kUnknownTrips);
    } else if (isa<tile::ThreadsOp>(op->getParentOp())) {
      times = math.mul(times, double(kernel.getThreads()));
    }
  }
  return times;
}

/// 0 in launches that do not run it at all, where the host knows that.
Amount TrafficCounter::presence(Operation *op) {
  Amount present = 1.0;
  for (; op->getParentOp() != kernel; op = op->getParentOp()) {
    auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
    std::optional<Spread> condition = branch && op->getParentRegion() == &branch.getThenRegion()
                                          ? estimates.of(branch.getCondition())
                                          : std::nullopt;
    if (condition && condition->isUniform()) {
      present = math.mul(present, condition->low);
    }
  }
  return present;
}

/// Whether it moves in the innermost loop of a block around `op`.
static bool movesInLoop(Value value, Operation *op) {
  auto innermost = op->getParentOfType<scf::ForOp>();
  SmallVector<Value> pending = {value};
  llvm::SmallPtrSet<Value, 16> seen; // asked for members only
  while (!pending.empty()) {
    Value one = pending.pop_back_val();
    if (!seen.insert(one).second) {
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(one)) {
      if (innermost && argument.getOwner() == innermost.getBody() && !runsOverGrid(innermost)) {
        return true;
      }
    } else {
      llvm::append_range(pending, one.getDefiningOp()->getOperands());
    }
  }
  return false;
}

/// The share of a tile's bytes that count as narrow. Pieces that the same block goes on to read behind each other are none.
double TrafficCounter::narrowness(Operation *op, GlobalSlice slice, double bytes) {
  if (!slice.view || slice.sizes.empty() || slice.kept.empty() ||
      slice.kept.back() + 1 != int64_t(slice.sizes.size()) || slice.sizes.size() < 2 ||
      ShapedType::isDynamic(slice.sizes.back()) || slice.gathered.test(slice.sizes.size() - 1) ||
      llvm::any_of(slice.offset.back(), [&](Value v) { return movesInLoop(v, op); }) ||
      integers.range(slice.view.getExtents().back()).high <= slice.sizes.back()) {
    return 0;
  }
  constexpr double kLine = 128, kWide = 256;
  return std::clamp((kWide - double(slice.sizes.back()) * bytes) / (kWide - kLine), 0.0, 1.0);
}

/// Whether a tile takes less than a row of its tensor.
bool TrafficCounter::partsRows(GlobalSlice slice) {
  return slice.view && slice.sizes.size() >= 2 && !ShapedType::isDynamic(slice.sizes.back()) &&
         integers.range(slice.view.getExtents().back()).high > slice.sizes.back();
}

/// The share of a tensor's rows that begin between sectors of 32 bytes, where tiles take less than a row: with half a sector between them every
/// other one, with less nearly all.
Amount TrafficCounter::unalignedRows(GlobalSlice slice, double bytes) {
  if (!partsRows(slice)) {
    return 0.0;
  }
  std::optional<Spread> stride = estimates.of(slice.view.getStrides()[slice.sizes.size() - 2]);
  if (!stride || !stride->isUniform()) {
    return 0.0;
  }
  Amount pitch = math.mul(stride->low, bytes);
  constexpr double kSector = 32;
  return math.mul(
      math.add(math.isNoMultiple(pitch, kSector), math.isNoMultiple(pitch, kSector / 2)), 0.5);
}

void TrafficCounter::add(Operation *op, Value global, ValueRange indices, double elements,
                         Tensors &tensors) {
  BlockArgument base = tgpu::getBase(global);
  if (!base) {
    return;
  }
  Touched &touched = tensors[base];
  touched.bytes =
      tile::getStorageBits(cast<tile::GlobalType>(base.getType()).getElementType()) / 8.0;
  GlobalSlice slice = analyseSliceOrGather(global);
  if (isa<tgpu::CopyOp>(op)) {
    touched.narrow = std::max(touched.narrow, narrowness(op, slice, touched.bytes));
  }
  if (auto store = dyn_cast<tgpu::StoreOp>(op)) {
    touched.unaligned = math.max(touched.unaligned, unalignedRows(slice, touched.bytes));
    touched.parted |= partsRows(slice);
    // Rows that are no whole panels leave TMA to threads (LowerCopies.cpp).
    if (store.getPath() == tgpu::CopyPath::Tma && !slice.sizes.empty() &&
        std::fmod(double(slice.sizes.back()) * touched.bytes, 128) != 0) {
      touched.pieces = 1;
    }
  }
  bool isKnown = bool(slice.view), hasSize = isKnown; // where in the tensor, and how large that is
  Amount part = presence(op), size = 1.0;
  for (size_t d = 0; hasSize && d < slice.offset.size(); ++d) {
    Value bound = slice.view.getExtents()[d];
    std::optional<Spread> extent = estimates.of(bound);
    if (!extent) {
      isKnown = hasSize = false;
      break;
    }
    size = math.mul(size, extent->high);
    bool isFixed = !slice.gathered.test(d);
    for (Value offset : slice.offset[d]) {
      std::optional<Spread> place = estimates.of(offset);
      isKnown &= place.has_value();
      isFixed &= place && place->isUniform();
    }
    if (auto *it = llvm::find(slice.kept, int64_t(d)); it != slice.kept.end() && !indices.empty()) {
      std::optional<Spread> place = estimates.of(indices[it - slice.kept.begin()]);
      isFixed &= place && place->isUniform();
      isKnown &= place.has_value();
    }
    isKnown &= !slice.gathered.test(d);
    const int64_t taken = indices.empty() ? slice.sizes[d] : 1;
    if (isFixed && !ShapedType::isDynamic(taken) && integers.range(bound).high > taken) {
      part = math.mul(part, math.min(extent->high, double(taken)));
    } else {
      part = math.mul(part, extent->high);
    }
  }
  if (hasSize && !touched.size) {
    touched.size = size;
  }
  if (!isKnown) { // no more than is asked for
    Amount asked = math.mul(math.mul(executions(op), elements), presence(op));
    part = hasSize ? math.min(asked, size) : asked;
  }
  SmallVector<Value> place(indices);
  for (ArrayRef<Value> offsets : slice.offset) {
    llvm::append_range(place, offsets);
    place.push_back(nullptr); // between dimensions
  }
  std::pair<Amount, SmallVector<Value>> access(part, place);
  if (!llvm::is_contained(touched.parts, access)) {
    touched.parts.push_back(std::move(access));
  }
}

/// Bytes of all, each tensor's times what `counted` says of it.
Amount TrafficCounter::sum(const Tensors &tensors, function_ref<Amount(const Touched &)> counted) {
  Amount total = 0.0;
  for (const auto &[tensor, touched] : tensors) {
    Amount elements = 0.0;
    for (const auto &[part, place] : touched.parts) {
      elements = math.add(elements, part);
    }
    if (touched.parts.size() > 1 && touched.size) {
      elements = math.min(elements, *touched.size);
    }
    total = math.add(total, math.mul(math.mul(elements, touched.bytes), counted(touched)));
  }
  return total;
}

static double elementsOf(Type type) {
  double count = 1;
  if (auto global = dyn_cast<tile::GlobalType>(type)) {
    for (int64_t extent : global.getShape()) {
      count *= ShapedType::isDynamic(extent) ? 1.0 : double(extent);
    }
    return count;
  }
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? double(shaped.getNumElements()) : 1;
}

MemoryTraffic TrafficCounter::count() {
  Tensors read, written;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (isa<tile::GlobalType>(load.getSource().getType())) {
        add(op, load.getSource(), load.getIndices(), elementsOf(load.getType()), read);
      }
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (isa<tile::GlobalType>(store.getDest().getType())) {
        add(op, store.getDest(), store.getIndices(), elementsOf(store.getValue().getType()),
            written);
      }
    } else if (auto gather = dyn_cast<tgpu::GatherOp>(op)) {
      if (isa<tile::GlobalType>(gather.getSource().getType())) {
        add(op, gather.getSource(), gather.getIndices(), elementsOf(gather.getResult().getType()),
            read);
      }
    } else if (auto scatter = dyn_cast<tgpu::ScatterOp>(op)) {
      if (isa<tile::GlobalType>(scatter.getDest().getType())) {
        add(op, scatter.getDest(), scatter.getIndices(), elementsOf(scatter.getValue().getType()),
            written);
      }
    } else if (auto atomic = dyn_cast<tgpu::AtomicOp>(op)) {
      if (isa<tile::GlobalType>(atomic.getDest().getType())) {
        add(op, atomic.getDest(), atomic.getIndices(), elementsOf(atomic.getValue().getType()),
            written);
      }
    } else if (auto copy = dyn_cast<tgpu::CopyOp>(op)) {
      const bool isLoad = isa<tile::GlobalType>(copy.getSource().getType());
      Value global = isLoad ? copy.getSource() : copy.getDest();
      add(op, global, {}, elementsOf(global.getType()), isLoad ? read : written);
    } else if (auto load = dyn_cast<tgpu::LoadOp>(op)) {
      add(op, load.getSource(), {}, elementsOf(load.getSource().getType()), read);
    } else if (auto store = dyn_cast<tgpu::StoreOp>(op)) {
      add(op, store.getDest(), {}, elementsOf(store.getDest().getType()), written);
    } else if (auto atomic = dyn_cast<tgpu::AtomicTileOp>(op)) {
      add(op, atomic.getDest(), {}, elementsOf(atomic.getDest().getType()), written);
    }
  });
  auto all = [](const Touched &) -> Amount { return 1.0; };
  return {sum(read, all),
          sum(written, all),
          sum(read, [](const Touched &one) -> Amount { return one.narrow; }),
          sum(written, [](const Touched &one) { return one.unaligned; }),
          sum(written, [](const Touched &one) -> Amount { return one.pieces; }),
          sum(written, [](const Touched &one) -> Amount { return one.parted ? 1.0 : 0.0; })};
}

MemoryTraffic tilec::trafficOf(tgpu::KernelOp kernel, Amount points, DeviceEstimates &estimates,
                               const IntegerAnalysis &integers, HostMath &math) {
  return TrafficCounter(kernel, points, estimates, integers, math).count();
}
