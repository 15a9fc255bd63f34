//===- OperationPrices.cpp - what single operations take -----------------===//
#include "passes/OperationPrices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Analysis.h"
#include "passes/ProductLayouts.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tilec;
using tgpu::CopyPath;
using tgpu::MmaKind;

StringRef tilec::nameOf(Resource resource) {
  static constexpr const char *names[kResources] = {
      "tensor cores",      "loads",          "stores", "shared memory", "instructions",
      "special functions", "memory accesses"};
  return names[unsigned(resource)];
}

static double elementsOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (auto buffer = dyn_cast<tgpu::SmemType>(type)) {
    return std::accumulate(buffer.getShape().begin(), buffer.getShape().end(), 1.0,
                           std::multiplies<>());
  }
  if (auto global = dyn_cast<tile::GlobalType>(type)) {
    double count = 1;
    for (int64_t extent : global.getShape()) {
      count *= ShapedType::isDynamic(extent) ? 1.0 : double(extent);
    }
    return count;
  }
  return shaped ? double(shaped.getNumElements()) : 1;
}

/// Of a tile, buffer or vector; a scalar's own.
static Type scalarOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getElementType() : elementTypeOf(type);
}

static double bytesOf(Type type) {
  return elementsOf(type) * tile::getStorageBits(scalarOf(type)) / 8;
}

double OperationPrices::perThread(Type type) const {
  return std::max(1.0, elementsOf(type) / threads);
}

/// So many instructions of each thread.
Price OperationPrices::compute(double perThread, Instructions each) {
  Price price;
  const double slots = perThread * each.slots, special = perThread * each.special;
  price.of(Resource::Issue) = slots * warps / machine.issue;
  price.of(Resource::Special) = special * threads / machine.lanesSpecial;
  price.way = std::max(slots * machine.alone, special * 32 * machine.issue / machine.lanesSpecial);
  price.latency = slots == 0 ? 0 : special > 0 ? machine.specialLatency : 6;
  return price;
}

Price OperationPrices::globalAccess(double bytes, double width, bool isStore) {
  const double count = std::max(1.0, bytes / width / threads); // of a thread
  Price price = compute(count, {isStore ? 2.0 : 2.5, 0});
  price.of(isStore ? Resource::Store : Resource::Load) =
      bytes / (isStore ? machine.storeBytes : machine.loadBytes);
  price.of(Resource::Access) = count * warps * std::max(1.0, width * 32 / 128) / machine.accesses;
  price.latency = isStore ? 0 : machine.globalLatency;
  return price;
}

Price OperationPrices::sharedAccess(double bytes, double width) {
  const double count = std::max(1.0, bytes / width / threads);
  Price price = compute(count, {1.5, 0});
  price.of(Resource::Shared) = bytes / machine.sharedBytes;
  price.of(Resource::Access) = count * warps / machine.accesses;
  price.latency = machine.sharedLatency;
  return price;
}

double tilec::linesOfRow(double bytes) {
  // gemm of 64x16 (nn, whose rows of B have 32 bytes): a row takes half of a line's time, not a quarter of it
  constexpr double kPiece = 0.33;
  const double rest = std::fmod(bytes, 128) / 128;
  return std::floor(bytes / 128) + (rest > 0 ? kPiece + (1 - kPiece) * rest : 0);
}

double tilec::bytesOfBoxRow(tgpu::CopyOp load) {
  const auto tile = cast<tile::GlobalType>(load.getSource().getType());
  if (tile.getShape().empty() || ShapedType::isDynamic(tile.getShape().back())) {
    return 0;
  }
  // The widest swizzle is a line; panels are no wider, and the row is whole ones.
  constexpr uint64_t kLine = 128;
  const auto bits = uint64_t(tile::getStorageBits(tile.getElementType()));
  const uint64_t row = uint64_t(tile.getShape().back()) * bits / 8;
  return double(row <= kLine ? row : std::min(kLine, row & -row));
}

Price OperationPrices::ofCopy(tgpu::CopyOp copy) {
  const bool isLoad = isa<tile::GlobalType>(copy.getSource().getType());
  const double bytes = bytesOf((isLoad ? copy.getDest() : copy.getSource()).getType());
  const double width = copy.getBytes().value_or(4);
  const CopyPath path = copy.getPath().value_or(CopyPath::Vector);
  Price price;
  if (path == CopyPath::Tma) {
    price.of(Resource::Shared) = bytes / machine.sharedBytes;
    const double row = isLoad ? bytesOfBoxRow(copy) : 0;
    const double lines = row == 0 ? 1 : std::max(1.0, 128 * linesOfRow(row) / row);
    price.of(isLoad ? Resource::Load : Resource::Store) =
        isLoad ? bytes * lines / machine.tmaBytes : bytes / machine.storeBytes;
    price.way = 20;
    price.latency = machine.globalLatency + bytes / machine.tmaBytes;
    return price;
  }
  if (path == CopyPath::CpAsync) {
    const double count = std::max(1.0, bytes / width / threads);
    price = compute(count, {width < 16 ? 4.0 : 2.5, 0});
    price.of(Resource::Load) = bytes / machine.tmaBytes;
    price.of(Resource::Shared) = bytes / machine.sharedBytes;
    price.of(Resource::Access) = count * warps * (width < 16 ? machine.asyncWords : 1);
    price.latency = machine.globalLatency;
    price.isWritten = true;
    return price;
  }
  // Both sides through registers, a few accesses in flight at a time.
  const double count = std::max(1.0, bytes / width / threads);
  price = compute(count, {8, 0});
  price.of(isLoad ? Resource::Load : Resource::Store) =
      bytes / (isLoad ? machine.loadBytes : machine.storeBytes);
  price.of(Resource::Shared) = bytes / machine.sharedBytes;
  price.of(Resource::Access) = count * warps * machine.elementCopies * std::max(1.0, width / 4);
  price.way = std::max(price.way, price.of(Resource::Access)); // all warps copy at the same time
  const double trips =
      std::ceil(count / double(accessesInFlight(copy, copy.getBytes().value_or(4), registersLeft)));
  if (!isLoad) {
    price.way += trips * machine.sharedLatency;
  } else if (trips > 1) { // a loop, each trip of which waits
    price.way += trips * machine.globalLatency;
  } else {
    price.latency = machine.elementLatency;
  }
  price.isWritten = isLoad;
  return price;
}

/// Whether a product's sums, or what became of them element by element, may be stored: eight rows lie in the lanes of a warp, and
/// CoalesceStores exchanges them.
static bool holdsProduct(Value value) {
  const auto elements = cast<ShapedType>(value.getType()).getNumElements();
  SmallVector<Value> pending = {value};
  llvm::SmallPtrSet<Operation *, 16> seen; // asked for members only
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second) {
      continue;
    }
    WalkResult found = op->walk([&](tgpu::DotOp dot) {
      const bool isMatrix = dot.getMma() && dot.getMmaAttr().getKind() != MmaKind::Fma;
      return isMatrix && cast<ShapedType>(dot.getType()).getNumElements() == elements
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (found.wasInterrupted()) {
      return true;
    }
    op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  }
  return false;
}

Price OperationPrices::ofStore(tgpu::StoreOp store) {
  const Type tile = store.getValue().getType();
  const double bytes = bytesOf(tile);
  const double cold =
      holdsProduct(store.getValue()) ? machine.storeOfSum * elementsOf(tile) / threads : 0;
  if (store.getPath() != CopyPath::Tma) {
    Price price = globalAccess(bytes, store.getBytes().value_or(4), /*isStore=*/true);
    price.cold = cold;
    if (holdsProduct(store.getValue())) {
      price.way += machine.exchange;
      price.meets = true;
    }
    return price;
  }
  // Panels of columns go through two buffers in shared memory: written, fenced, met, sent.
  const double rowBytes = double(cast<RankedTensorType>(tile).getShape().back()) *
                          tile::getStorageBits(scalarOf(tile)) / 8;
  const double panels = std::max(1.0, rowBytes / 128);
  Price price = sharedAccess(bytes, 8);
  price.of(Resource::Shared) *= 2;
  price.of(Resource::Store) = bytes / machine.storeBytes;
  price.cold = cold;
  const double sent = std::max(price.way, price.of(Resource::Store));
  price.way = sent + panels * machine.barrier + machine.storeByTma;
  price.meets = true;
  return price;
}

Price OperationPrices::ofDot(tgpu::DotOp dot) {
  auto type = cast<RankedTensorType>(dot.getAcc().getType());
  const double m = double(type.getShape()[0]), n = double(type.getShape()[1]);
  const double k = elementsOf(dot.getA().getType()) / m;
  tgpu::MmaAttr mma = dot.getMmaAttr();
  if (!mma || mma.getKind() == MmaKind::Fma) {
    return ofScalarProduct(dot, m, n, k);
  }
  return ofMatrixInstruction(dot, m, n, k);
}

Price OperationPrices::ofScalarProduct(tgpu::DotOp dot, double m, double n, double k) {
  // Each thread multiplies its rows by its columns, and reads each of them: shared memory gives that
  // much to the registers even where threads read the same.
  const layout::Answer<layout::RegisterLayout> acc =
      dot.getMma() ? accumulatorLayout(dot, int64_t(warps)) : layout::Refusal{"not chosen yet"};
  const double side = std::sqrt(std::max(1.0, m * n / threads));
  const double rows = acc ? double(acc->sliceDim(1).registersPerThread()) : side;
  const double columns = acc ? double(acc->sliceDim(0).registersPerThread()) : side;
  Price price = compute(rows * columns * k,
                        {machine.fmaSlots * (scalarOf(dot.getAcc().getType()).isF64() ? 2 : 1), 0});
  auto bytes = [](Value operand) {
    return tile::getStorageBits(scalarOf(operand.getType())) / 8.0;
  };
  price.of(Resource::Shared) =
      (rows * bytes(dot.getA()) + columns * bytes(dot.getB())) * k * threads / machine.sharedBytes;
  return price;
}

/// Products of types are faster the narrower they are.
static double widthFactor(Type element) {
  return double(std::max(8u, element.getIntOrFloatBitWidth())) / 16;
}

Price OperationPrices::ofMatrixInstruction(tgpu::DotOp dot, double m, double n, double k) {
  tgpu::MmaAttr mma = dot.getMmaAttr();
  const Type element = scalarOf(dot.getA().getType());
  const bool aInRegisters = isa<RankedTensorType>(dot.getA().getType());
  Price price;
  if (mma.getKind() == MmaKind::Wgmma) {
    const double width = double(mma.getN());
    // Operands are read at 128 bytes a clock: 64 rows of A, unless they are in registers, and B.
    const double rowsOfA = aInRegisters ? 0 : 64;
    const double each = std::max(width / 2, (rowsOfA + width) / 4);
    const double count = m / double(mma.getM()) * (n / width) * (k / double(mma.getK()));
    const double groups = double(mma.getWarpsM() * mma.getWarpsN());
    price.of(Resource::Tensor) = count * each * 4096 / machine.wgmmaFlop;
    price.of(Resource::Shared) = count * (rowsOfA + width) * 32 / machine.operandBytes;
    price.of(Resource::Issue) = count * 8 / machine.issue;
    price.way = 20;
    price.latency = price.of(Resource::Tensor) / groups + machine.mmaLatency;
    // Sums of 8 bits leave the tensor cores every so many elements, beside the products behind them.
    if (promotesSums(dot)) {
      Price promotion =
          compute(std::max(1.0, k / double(dot.getPromote())) * m * n / threads, {1, 0});
      price.of(Resource::Issue) += promotion.of(Resource::Issue);
      price.latency += promotion.way;
    }
    return price;
  }
  // mma.sync: whole instructions for each warp, whose operands come from shared memory first.
  auto blockOf = [](double extent, double parts, double unit) {
    return std::ceil(extent / (parts * unit)) * unit;
  };
  const double rows = blockOf(m, double(mma.getWarpsM()), double(mma.getM()));
  const double columns = blockOf(n, double(mma.getWarpsN()), double(mma.getN()));
  const double steps = std::ceil(k / double(mma.getK()));
  const double count =
      rows / double(mma.getM()) * (columns / double(mma.getN())) * steps; // of a warp
  const double flop = 2.0 * double(mma.getM()) * double(mma.getN()) * double(mma.getK());
  const double bytes = tile::getStorageBits(element) / 8.0;
  price.of(Resource::Tensor) = count * warps * flop * widthFactor(element) / machine.mmaFlop;
  double operands = columns;
  operands += aInRegisters ? 0 : rows;
  operands *= steps * double(mma.getK()) * bytes;
  price.of(Resource::Shared) = operands * warps / machine.sharedBytes;
  price.of(Resource::Access) = operands * warps / 512;
  price.of(Resource::Issue) = (count + operands / 512 * 2) * warps / machine.issue;
  price.way = price.of(Resource::Tensor) * machine.issue / std::max(warps, machine.issue) *
                  std::max(1.0, std::min(warps, machine.issue) / machine.issue) +
              steps * machine.sharedLatency;
  price.latency = machine.mmaLatency;
  return price;
}

Price OperationPrices::ofReduction(Value input, Type result, std::optional<int64_t> axis,
                                   Instructions each) {
  auto type = cast<ShapedType>(input.getType());
  Price price = compute(perThread(type), each);
  // Rows lie in quads of lanes where products have left them, else in warps, or in several where these are more; one number of all in all
  // of the block.
  const double rows = axis ? elementsOf(result) : 1;
  const bool alongRows = axis && *axis + 1 == type.getRank();
  const bool inQuads = alongRows && type.getRank() > 1 && holdsProduct(input);
  const bool acrossWarps = warps > 1 && !inQuads && (!alongRows || rows < warps);
  const double lanes = inQuads ? 2 : 5; // halvings
  const double results = std::max(1.0, rows * std::exp2(lanes) / threads);
  Price exchange = compute(results * lanes, {2 + each.slots, each.special});
  for (unsigned i = 0; i < kResources; ++i) {
    price.clocks[i] += exchange.clocks[i];
  }
  price.way += exchange.way;
  price.latency += lanes * machine.shuffleLatency;
  if (acrossWarps) {
    price.meets = true;
    price.latency += 2 * machine.sharedLatency + std::log2(warps) * machine.shuffleLatency;
    price.of(Resource::Access) += 2 * results * warps;
  }
  return price;
}

Price OperationPrices::ofScan(Type input, Instructions each) {
  Price price = compute(perThread(input), {2 * each.slots + 2, 2 * each.special});
  price.latency = 10 * machine.shuffleLatency;
  price.meets = warps > 1;
  return price;
}

Price OperationPrices::ofIndexed(Operation *op, Value place, Type value, bool isStore) {
  const bool isGlobal = isa<tile::GlobalType>(place.getType());
  const double count = elementsOf(value) * callers(op, value);
  Price price = compute(std::max(1.0, count / threads), {isGlobal ? 6.0 : 4.0, 0});
  // Neighbours in the tile are rarely neighbours in memory: about two accesses for each warp, a quarter of each sector used.
  const double bytes = count * std::max(tile::getStorageBits(scalarOf(value)) / 8.0, 8.0);
  price.of(Resource::Access) = std::max(1.0, count / 32) * 2;
  if (isGlobal) {
    price.of(isStore ? Resource::Store : Resource::Load) =
        bytes / (isStore ? machine.storeBytes : machine.loadBytes);
  } else {
    price.of(Resource::Shared) = bytes / machine.sharedBytes;
  }
  if (!isStore) {
    price.latency = isGlobal ? machine.globalLatency : machine.sharedLatency;
  }
  price.isWritten = isStore && !isGlobal;
  return price;
}

Price OperationPrices::ofAtomics(double count, bool isGlobal) {
  Price price = compute(std::max(1.0, count / threads), {5, 0});
  price.of(isGlobal ? Resource::Store : Resource::Access) =
      count * (isGlobal ? 32 / machine.storeBytes : 0.25);
  price.latency = isGlobal ? machine.atomic : 4 * machine.sharedLatency;
  return price;
}

/// Operations on whole tiles, element by element.
Price OperationPrices::ofTile(Operation *op) {
  double count = 0;
  for (Type type : llvm::concat<const Type>(op->getResultTypes(), op->getOperandTypes())) {
    if (isa<RankedTensorType>(type)) {
      count = std::max(count, perThread(type));
    }
  }
  return compute(count == 0 ? 1 : count, instructionsOf(op));
}

/// The combination of two elements.
static Instructions combination(Operation *op) {
  if (op->getNumRegions() != 0 && !op->getRegion(0).empty()) {
    return instructionsOf(op->getRegion(0));
  }
  return {1, 0};
}

/// Operations of matrix products, and what moves tiles.
std::optional<Price> OperationPrices::ofMove(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Price>>(op)
      .Case([&](tgpu::DotOp dot) { return ofDot(dot); })
      .Case([&](tgpu::CopyOp copy) { return ofCopy(copy); })
      .Case([&](tgpu::StoreOp store) { return ofStore(store); })
      .Case([&](tgpu::LoadOp load) {
        return globalAccess(bytesOf(load.getResult().getType()), load.getBytes().value_or(4),
                            /*isStore=*/false);
      })
      .Case([&](tgpu::LocalLoadOp load) {
        return sharedAccess(bytesOf(load.getResult().getType()), 8);
      })
      .Case([&](tgpu::LocalStoreOp store) {
        Price price = sharedAccess(bytesOf(store.getValue().getType()), 8);
        price.isWritten = true;
        return price;
      })
      .Case([&](tgpu::ZeroBeyondOp zero) {
        return sharedAccess(bytesOf(zero.getDest().getType()), 4);
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Operations that combine elements of a tile.
std::optional<Price> OperationPrices::ofCombination(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Price>>(op)
      .Case([&](tile::ReduceOp reduce) {
        Value input = reduce.getInput();
        return isa<RankedTensorType>(input.getType())
                   ? ofReduction(input, reduce.getType(), reduce.getAxis(), combination(op))
                   : compute(elementsOf(input.getType()), {1, 0});
      })
      .Case([&](tile::ReduceWithOp reduce) {
        return ofReduction(reduce.getInputs().front(), reduce.getResultTypes().front(),
                           reduce.getAxis(), combination(op));
      })
      .Case<tile::ScanOp, tile::ScanWithOp>(
          [&](auto) { return ofScan(op->getOperand(0).getType(), combination(op)); })
      .Case([&](tile::MapOp map) {
        Type type = map.getInputs().empty() ? map.getResultTypes().front()
                                            : map.getInputs().front().getType();
        return compute(perThread(type), instructionsOf(map.getBody()));
      })
      .Case<tile::SyncThreadsOp, tgpu::BarrierOp>([&](auto) {
        Price price = compute(1, {1, 0});
        price.meets = true;
        return price;
      })
      .Case<tile::WarpOp, tile::WarpScanOp, tile::ShuffleOp>([&](auto) {
        Price price = compute(1, instructionsOf(op));
        price.latency = (isa<tile::ShuffleOp>(op) ? 1 : 5) * machine.shuffleLatency;
        return price;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// An access of the elements of `value`'s type by each calling thread.
Price OperationPrices::ofAccess(Operation *op, Value place, Type value, bool isStore) {
  const double own = std::max(1.0, bytesOf(value));
  const double bytes = own * callers(op, value);
  if (!isa<tile::GlobalType>(place.getType())) {
    Price price = sharedAccess(bytes, std::min(own, 16.0));
    price.isWritten = isStore && callers(op, value) == 1;
    return price;
  }
  IntegerAttr width = tgpu::kAccessBytes.get(op);
  return globalAccess(bytes, width ? double(width.getInt()) : std::min(own, 16.0), isStore);
}

/// How many threads do what the operation says, each for elements of its own: all in a region, one in block code.
double OperationPrices::callers(Operation *op, Type value) const {
  return op->getParentOfType<tile::ThreadsOp>() && !isa<RankedTensorType>(value) ? threads : 1;
}

/// Accesses of elements at indices of their own.
std::optional<Price> OperationPrices::ofElements(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Price>>(op)
      .Case([&](tgpu::GatherOp gather) {
        return ofIndexed(op, gather.getSource(), gather.getResult().getType(), /*isStore=*/false);
      })
      .Case([&](tgpu::ScatterOp scatter) {
        return ofIndexed(op, scatter.getDest(), scatter.getValue().getType(), /*isStore=*/true);
      })
      .Case([&](tgpu::AtomicOp atomic) {
        Type type = atomic.getValue().getType();
        return ofAtomics(elementsOf(type) * callers(op, type),
                         isa<tile::GlobalType>(atomic.getDest().getType()));
      })
      .Case([&](tgpu::AtomicTileOp atomic) {
        const double wide = std::max(1.0, atomic.getBytes().value_or(4) / 4.0);
        return ofAtomics(elementsOf(atomic.getValue().getType()) / wide, /*isGlobal=*/true);
      })
      .Case<tile::LoadOp, tgpu::LoadElementOp>([&](auto load) {
        return ofAccess(op, load.getSource(), load.getResult().getType(), /*isStore=*/false);
      })
      .Case<tile::StoreOp, tgpu::StoreElementOp>([&](auto store) {
        return ofAccess(op, store.getDest(), store.getValue().getType(), /*isStore=*/true);
      })
      .Default([](Operation *) { return std::nullopt; });
}

Price OperationPrices::of(Operation *op) {
  for (auto price :
       {&OperationPrices::ofMove, &OperationPrices::ofCombination, &OperationPrices::ofElements}) {
    if (std::optional<Price> result = (this->*price)(op)) {
      return *result;
    }
  }
  return ofTile(op);
}
