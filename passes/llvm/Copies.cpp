//===- Copies.cpp - tiles between global and shared memory ---------------===//
#include "dialects/tile/Remark.h"
#include "passes/Registers.h"
#include "passes/llvm/Addresses.h"
#include "passes/llvm/Clusters.h"

#include <cstdint>
#include <numeric>

using namespace mlir;

namespace tilec::lowering {

/// L2 policies as createpolicy encodes them; CUTLASS uses these constants.
static int64_t policyOf(tile::CacheHint cache) {
  switch (cache) {
  case tile::CacheHint::EvictFirst:
    return 0x12F0000000000000;
  case tile::CacheHint::EvictLast:
    return 0x14F0000000000000;
  default:
    return 0;
  }
}

namespace {
/// How far apart the boxes of groups of warps are, in the buffer and in its rows.
struct GroupedBoxes {
  int64_t bytes = 0, rows = 0;
};
} // namespace

/// Nothing where it is not one box for each group, the rows of one behind those of the other.
static std::optional<GroupedBoxes> boxOfEach(const layout::TmaBoxes &boxes, int64_t groups) {
  if (int64_t(boxes.boxes.size()) != groups || boxes.extents.size() != 2) {
    return std::nullopt;
  }
  const layout::TmaBoxes::Box &first = boxes.boxes[0];
  const GroupedBoxes apart{boxes.boxes[1].offset - first.offset, boxes.extents[0]};
  for (auto [group, box] : llvm::enumerate(boxes.boxes)) {
    layout::Coords origin = first.origin;
    origin[0] += int64_t(group) * apart.rows;
    if (box.origin != origin || box.offset != first.offset + int64_t(group) * apart.bytes) {
      return std::nullopt;
    }
  }
  return apart;
}

/// Groups of warps, each of which stores its rows.
static int64_t groupsThatMove(Operation *op) {
  auto one = op->getParentOfType<tgpu::OneThreadOp>();
  return one && isa<tgpu::TmaStoreOp>(op) ? one.getGroups() : 1;
}

/// Why TMA does not move such boxes; empty if it does.
static std::string refuseBoxes(const View &view, const Shared &buffer,
                               const layout::TmaBoxes &boxes, bool isStore) {
  if (view.dims.empty() || view.isGathered() ||
      llvm::any_of(buffer.origin, [](int64_t o) { return o != 0; }) ||
      ArrayRef<int64_t>(buffer.shape) != buffer.layout.shape()) {
    return "TMA of a part of a buffer";
  }
  return isStore && boxes.overhang ? "a TMA store of boxes that reach beyond their buffer" : "";
}

/// Whether a tensor map has these boxes.
static bool hasBoxes(tgpu::TensorMapAttr recipe, const View &view, const layout::TmaBoxes &boxes) {
  if (recipe.getBox().size() != view.dims.size() || recipe.getSwizzle() != boxes.swizzle) {
    return false;
  }
  return llvm::all_of(llvm::enumerate(view.dims), [&](const auto &item) {
    const int64_t place = view.dims.size() - 1 - item.index(), dim = item.value().tileDim;
    return recipe.getBox()[place] == (dim < 0 ? 1 : boxes.extents[dim]);
  });
}

LogicalResult KernelLowering::lowerTma(Operation *op, const View &view, const Shared &buffer,
                                       int64_t map, tile::CacheHint cache, const Channel *channel,
                                       Value position) {
  if (arch < 90) {
    return unsupported(op, "TMA on this target");
  }
  auto load = dyn_cast<tgpu::TmaLoadOp>(op);
  const std::optional<ArrayRef<int32_t>> across = load ? load.getAcross() : std::nullopt;
  const int64_t groups = groupsThatMove(op);
  auto boxes = layout::tmaBoxes(buffer.layout, across ? clusters->groupSize(*across) : groups);
  if (!boxes) {
    return unsupported(op, "TMA: " + boxes.reason());
  }
  if (std::string reason = refuseBoxes(view, buffer, *boxes, !channel); !reason.empty()) {
    return unsupported(op, reason);
  }
  const std::optional<GroupedBoxes> ofGroups =
      groups == 1 ? GroupedBoxes{} : boxOfEach(*boxes, groups);
  if (!ofGroups) {
    return unsupported(op, "TMA stores of groups of warps from such a buffer");
  }
  if (size_t(map) >= tensorMaps.size() ||
      !hasBoxes(cast<tgpu::TensorMapAttr>((*kernel.getTensorMaps())[map]), view, *boxes)) {
    return op->emitError("tensor map ") << map << " does not fit the buffer's boxes";
  }
  Value policy = policyOf(cache) ? i64(policyOf(cache)) : Value();
  Value steps = sharedSteps(buffer);
  if (!channel) {
    // A constant address of a store goes into uniform registers inside of the branch that one thread takes.
    // In a loop over tiles with products in flight ptxas then has positions and descriptors of all the loop
    // in other registers, and moves them back at each use (48 R2UR of 655 instructions: attention took 15 % longer).
    steps = add(steps, hiddenZero());
  }
  Value group;
  if (groups > 1) {
    group = b.createOrFold<arith::DivUIOp>(loc, warpFrom(warps.first), i32(warps.count / groups));
    steps = add(steps, mul(group, ofGroups->bytes));
    boxes->boxes.truncate(1);
  }
  for (const layout::TmaBoxes::Box &box : boxes->boxes) {
    SmallVector<Value> coordinates; // innermost first
    Value valid;
    for (const ViewDim &dim : llvm::reverse(view.dims)) {
      const int64_t origin = dim.tileDim < 0 ? 0 : box.origin[dim.tileDim];
      IntegerRange reach = dim.reach; // of loads any: a cut coordinate is outside the tensor, too
      Value at = add(fitIndex(dim.offset, reach, b.getI32Type()), origin);
      int64_t most = origin;
      if (group && dim.tileDim == 0) {
        at = add(at, mul(group, ofGroups->rows));
        most += ofGroups->rows * (groups - 1);
      }
      // Where a store begins is not negative (SelectCopies.cpp), and the hardware takes no other
      // number there. One that looks negative is 2^31 and more: past every tensor's end.
      if (!channel && (dim.reach.low < 0 || dim.reach.high + most > INT32_MAX)) {
        valid = both(valid, compare(arith::CmpIPredicate::sge, at, i32(0)));
      }
      coordinates.push_back(at);
    }
    Value pointer = sharedPointer(steps, buffer.bytes + box.offset);
    if (channel) {
      Value barrier = barrierPointer(*channel, position, Channel::Barrier::Full);
      Value isOwn, mask;
      if (across) {
        mask = clusters->maskOf(*across);
        pointer = clusters->inCluster(pointer);
        isOwn = compare(arith::CmpIPredicate::eq, clusters->memberOf(*across),
                        i32(clusters->nextShare(*across)));
      }
      guarded(isOwn, [&] {
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            b, loc, pointer, tensorMaps[map], coordinates, barrier, ValueRange(), mask, policy,
            NVVM::TMALoadMode::TILE, /*isCTAOnly=*/!across, NVVM::CTAGroupKindAttr(), Value());
      });
    } else {
      guarded(valid, [&] {
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, loc, tensorMaps[map], pointer,
                                                           coordinates, policy,
                                                           NVVM::TMAStoreMode::TILE, Value());
      });
    }
  }
  return success();
}

FailureOr<layout::RegisterLayout> KernelLowering::copyLayout(Operation *op, const Shared &buffer,
                                                             int64_t bytes) {
  auto layout = tgpu::copyLayout(buffer.shape, buffer.element, bytes, warps.count, warps.first);
  if (!layout || !layout->isSeparable()) {
    return unsupported(op, "a copy of such a tile" + (layout ? "" : ": " + layout.reason()));
  }
  return *layout;
}

LogicalResult KernelLowering::lowerCpAsync(tgpu::CpAsyncOp op) {
  auto source = views.find(op.getSource());
  const Shared &buffer = buffers[op.getDest()];
  const int64_t bytes = op.getBytes();
  if (source == views.end() || (bytes != 4 && bytes != 8 && bytes != 16) ||
      buffer.layout.contiguousDim() + 1 != buffer.layout.rank() ||
      source->second.element != buffer.element || bytes % memoryBytes(buffer.element) != 0) {
    return unsupported(op, "cp.async of such a tile");
  }
  const int64_t count = bytes / memoryBytes(buffer.element);
  if (buffer.shape.back() % count != 0 || buffer.origin.back() % count != 0) {
    return unsupported(op, "cp.async of rows that are not whole accesses");
  }
  if (op.getCache() == tile::CacheHint::NoAllocate && bytes != 16) {
    tile::remarkOn(kernel.getSymName(), op.getLoc())
        << "@cache(no_allocate) has no effect: cp.async of " << bytes << " bytes goes by L1";
  } else if (policyOf(op.getCache())) { // GlobalAssembly.cpp
    tile::remarkOn(kernel.getSymName(), op.getLoc())
        << "@cache(" << tile::stringifyCacheHint(op.getCache())
        << ") has no effect: cp.async takes no policy";
  }
  auto move = [&](const View &view, const Shared &part, const layout::RegisterLayout &registers) {
    return byOwners(op, registers, [&] {
      GlobalAddresses global(*this, view, registers, inBoundsOf(op));
      SharedAddresses shared(*this, part, registers);
      const auto modifier =
          bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
      for (int64_t reg = 0; reg < registers.registersPerThread(); reg += count) {
        Value from = global.pointer(reg), to = shared.pointer(reg);
        Value inRange = global.inRange(reg, global.mayStraddle(count) ? 1 : count);
        Value size;
        if (inRange || global.mayStraddle(count)) {
          size = global.bytesInRange(reg, count);
          // Nothing is read, but the address should be one of the tensor.
          from = inRange ? b.createOrFold<arith::SelectOp>(loc, inRange, from, view.base) : from;
        }
        guarded(global.inTile(reg, count),
                [&] { NVVM::CpAsyncOp::create(b, loc, to, from, bytes, modifier, size); });
      }
    });
  };
  // Narrow accesses are many, and a loop around the copy would keep the addresses of all: more than there are registers.
  const bool isNarrow = bytes < 16;
  return byRows(op, source->second, buffer, bytes,
                isNarrow ? rowsPerTrip(source->second, buffer, bytes, kLeastInFlight) : 0, move);
}

/// Those of one thread that a copy through registers has at a time, so that two blocks still find room on a multiprocessor.
static int64_t accessesAtATime(tgpu::CopyOp op, int64_t bytes) {
  constexpr int64_t kOtherRegisters = 32; // addresses, predicates, counters
  auto kernel = op->getParentOfType<tgpu::KernelOp>();
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  auto loop = op->getParentOfType<scf::ForOp>();
  if (!target || !loop) {
    return kLeastInFlight;
  }
  int64_t available = registersPerThread(kernel, *target, /*blocks=*/2);
  available = std::min<int64_t>(available, kernel.getMaxRegisters().value_or(available));
  return accessesInFlight(op, bytes, available - registersInUse(loop) - kOtherRegisters);
}

/// Rows of a buffer that one trip of a copy's loop takes: as many as a thread has in flight, whole patterns of the
/// swizzle, and a divisor of all rows; where that is too few, the next more. All rows where that cannot be.
static int64_t rowsOfTrip(const Shared &buffer, int64_t perAccess, int64_t threads,
                          int64_t inFlight) {
  const int64_t rows = buffer.shape[buffer.layout.rowDim()];
  const int64_t columns = buffer.shape[buffer.layout.contiguousDim()];
  const int64_t pattern =
      buffer.layout.swizzle() ? 8 : 1; // PTX ISA 5.5.7: XOR repeats after 8 rows
  auto accesses = [&](int64_t part) {
    return double(part * columns) / double(perAccess * threads);
  };
  int64_t best = rows;
  for (int64_t part = rows; part > 0; part -= pattern) {
    const bool isWhole = part == rows || (part % pattern == 0 && rows % part == 0);
    const bool isNeeded = accesses(best) > double(inFlight);
    if (isWhole && isNeeded && accesses(part) >= double(kLeastInFlight)) {
      best = part;
    }
  }
  return best;
}

/// More trips than these would take longer to choose their indices than they save.
constexpr int64_t kMostTripsOfGather = 8;

/// The same for a copy by `bytes`; 0 if the tile is no matrix. Of a gathered one as many, or more, where each thread finds the indices of
/// each trip's rows among its own.
int64_t KernelLowering::rowsPerTrip(const View &view, const Shared &buffer, int64_t bytes,
                                    int64_t inFlight) {
  if (buffer.shape.size() != 2 || llvm::any_of(buffer.origin, [](int64_t o) { return o != 0; })) {
    return 0;
  }
  const int64_t perAccess = std::max<int64_t>(1, bytes / memoryBytes(buffer.element));
  const int rowDim = buffer.layout.rowDim();
  const int64_t all = buffer.shape[rowDim];
  int64_t rows = rowsOfTrip(buffer, perAccess, warps.count * 32, inFlight);
  if (!view.isGathered()) {
    return rows;
  }
  while (all / rows > kMostTripsOfGather && all % (2 * rows) == 0) {
    rows *= 2;
  }
  SmallVector<int64_t, 4> shape(buffer.shape);
  shape[rowDim] = rows;
  auto part = tgpu::copyLayout(shape, buffer.element, bytes, warps.count, warps.first);
  if (!part || !part->isSeparable() || all / rows > kMostTripsOfGather) {
    return all;
  }
  for (const ViewDim &dim : view.dims) {
    if (!dim.gathered) {
      continue;
    }
    const layout::RegisterLayout indices = part->along(dim.tileDim);
    if (dim.tileDim != rowDim && indices != dim.gathered->layout) {
      return all;
    }
    for (int64_t first = 0; dim.tileDim == rowDim && first < all; first += rows) {
      if (!layout::partRegisters(dim.gathered->layout, indices, {first})) {
        return all;
      }
    }
  }
  return rows;
}

/// Those of `all` indices that trip number `trip` of a loop over blocks of rows needs; `part` is
/// their layout.
GatheredIndices KernelLowering::indicesOfTrip(const GatheredIndices &all,
                                              const layout::RegisterLayout &part, Value trip) {
  GatheredIndices result{part, {}, all.range, all.sourceSize};
  const int64_t rows = part.shape()[0];
  for (int64_t number = 0; number * rows < all.layout.shape()[0]; ++number) {
    auto slots = layout::partRegisters(all.layout, part, {number * rows});
    Value isNow = compare(arith::CmpIPredicate::eq, trip, i32(number));
    for (auto [slot, from] : llvm::enumerate(*slots)) {
      Value index = all.indices[from];
      if (number == 0) {
        result.indices.push_back(index);
      } else {
        Value &chosen = result.indices[slot];
        chosen = b.createOrFold<arith::SelectOp>(loc, isNow, index, chosen);
      }
    }
  }
  return result;
}

/// Moves a tile, or with `rows` blocks of so many of a matrix in a loop: short code, and few registers.
LogicalResult KernelLowering::byRows(Operation *op, const View &view, const Shared &buffer,
                                     int64_t bytes, int64_t rows,
                                     llvm::function_ref<MoveRows> move) {
  const int rowDim = buffer.layout.rowDim();
  const bool isWhole = rows == 0 || rows == buffer.shape[rowDim];
  Shared part = buffer;
  if (!isWhole) {
    part.shape[rowDim] = rows;
  }
  FailureOr<layout::RegisterLayout> registers = copyLayout(op, part, bytes);
  if (failed(registers)) {
    return failure();
  }
  if (isWhole) {
    return failed(checkGathered(op, view, *registers)) ? failure() : move(view, part, *registers);
  }
  auto loop = scf::ForOp::create(b, loc, i32(0), i32(buffer.shape[rowDim] / rows), i32(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  part.steps.push_back({loop.getInductionVar(), rows * buffer.layout.rowPitch()});
  View block = view;
  ViewDim &dim = block.dims[view.axisOf(rowDim)];
  if (dim.gathered) {
    dim.gathered = indicesOfTrip(*dim.gathered, registers->along(rowDim), loop.getInductionVar());
  } else {
    Value first = mul(toInteger(loop.getInductionVar(), dim.offset.getType()), rows);
    dim.offset = b.createOrFold<arith::AddIOp>(loc, dim.offset, first);
    dim.step = std::gcd(dim.step, rows);
  }
  if (failed(checkGathered(op, block, *registers))) {
    return failure();
  }
  return move(block, part, *registers);
}

LogicalResult KernelLowering::lowerCopy(tgpu::CopyOp op) {
  const bool loads = isa<tgpu::SmemType>(op.getDest().getType());
  auto found = views.find(loads ? op.getSource() : op.getDest());
  const Shared &buffer = buffers[loads ? op.getDest() : op.getSource()];
  if (found == views.end() || found->second.element != buffer.element ||
      op.getPath().value_or(tgpu::CopyPath::Vector) != tgpu::CopyPath::Vector) {
    return unsupported(op, "a copy that is not one of ordinary loads and stores");
  }
  const int64_t bytes = op.getBytes().value_or(memoryBytes(buffer.element));
  auto load = [&](const View &view, const Shared &part, const layout::RegisterLayout &registers) {
    return storeShared(op, part, registers,
                       loadGlobal(op, view, registers, op.getBytes(), op.getCache()));
  };
  auto store = [&](const View &view, const Shared &part, const layout::RegisterLayout &registers) {
    FailureOr<Fragment> slots = loadShared(op, part, registers);
    return failed(slots) ? failure() : byOwners(op, registers, [&] {
      storeGlobal(op, view, registers, *slots, op.getBytes(), op.getCache());
    });
  };
  if (!loads) {
    return byRows(op, found->second, buffer, bytes, 0, store);
  }
  const int64_t rows = rowsPerTrip(found->second, buffer, bytes, accessesAtATime(op, bytes));
  return byRows(op, found->second, buffer, bytes, rows, load);
}

} // namespace tilec::lowering
