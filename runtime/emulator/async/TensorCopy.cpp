// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the prefetch, in tiled mode: PTX ISA,
// "cp.async.bulk.tensor".
#include "Async.h"
#include "BulkWork.h"
#include "Copies.h"
#include "Reduction.h"
#include "TensorBox.h"
#include "TensorMap.h"

#include <algorithm>

namespace tile_emu {

namespace {

constexpr unsigned kPiece = 16;        ///< bytes that swizzling keeps together
constexpr unsigned kSharedAlign = 128; ///< of a box in shared memory

/// `[map, {coordinates}]`.
struct TensorOperand {
  Decoder::AddressRows map{};
  std::vector<Row> coordinates;
};

/// A box with its rows, and the tensor's region of memory.
struct TensorTile {
  TensorBox box;
  std::vector<BoxRow> rows;
  Region *region = nullptr; ///< null if all of the box is outside of the tensor
  MemoryRange inside(const BoxRow &row) const {
    return {region, row.global - region->base, row.bytes};
  }
};

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

unsigned takeRank(Decoder &d) {
  std::optional<unsigned> rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
  if (!rank) {
    d.unsupported("modifier `." + std::string(d.peek()) + "`");
  }
  return *rank + 1;
}

TensorOperand tensorOperand(Decoder &d, size_t i, unsigned rank) {
  const ptx::Operand &operand = d.operand(i);
  TensorOperand tensor{d.address(operand), {}};
  if (operand.elements.size() == 2) {
    tensor.coordinates = d.sources(operand.elements[1], ptx::Type::S32);
  }
  if (tensor.coordinates.size() != rank) {
    d.invalid("a tensor map and " + std::to_string(rank) + " coordinates are expected");
  }
  return tensor;
}

TensorMapRecipe mapOf(Step &step, const TensorOperand &operand, unsigned lane) {
  MemoryRange range = step.resolve(ptx::Space::Generic, addressOf(step, operand.map, lane),
                                   kTensorMapBytes, 64, lane);
  step.machine.checker.access(Access::Read, step.thread(lane), range, {}, step.op.instruction);
  std::optional<TensorMapRecipe> map = decodeTensorMap(range.data());
  if (!map) {
    step.fault(Report::Kind::Invalid, "the address is not one of a tensor map", lane);
  }
  if (map->dims.size() != operand.coordinates.size()) {
    step.fault(Report::Kind::Invalid,
               "the tensor map has " + std::to_string(map->dims.size()) + " dimensions", lane);
  }
  if (map->interleave) {
    step.fault(Report::Kind::Unsupported, "the tensor map is interleaved", lane);
  }
  return *map;
}

/// The box of a load or of a store. An H200 ends copies that break these rules with an illegal
/// instruction, which PTX does not say of the first.
TensorBox boxOf(Step &step, const TensorMapRecipe &map, const TensorOperand &operand, bool isStore,
                unsigned lane) {
  std::vector<int64_t> start;
  start.reserve(operand.coordinates.size());
  for (Row coordinate : operand.coordinates) {
    start.push_back(int32_t(step.get(coordinate, lane)));
  }
  if (start[0] * map.elementBytes() % 16 != 0) {
    step.fault(Report::Kind::Misaligned,
               "the first coordinate, " + std::to_string(start[0]) +
                   ", is not at a multiple of 16 bytes",
               lane);
  }
  if (isStore && std::any_of(start.begin(), start.end(), [](int64_t at) { return at < 0; })) {
    step.fault(Report::Kind::Invalid, "a store must not begin at a negative coordinate", lane);
  }
  return TensorBox(map, start);
}

/// Finds what the box touches; Fault (OutOfBounds) if the map reaches beyond its allocation.
TensorTile tileOf(Step &step, TensorBox box, unsigned lane) {
  TensorTile tile{std::move(box), {}, nullptr};
  tile.rows = tile.box.rows();
  for (const BoxRow &row : tile.rows) {
    if (row.bytes == 0) {
      continue;
    }
    MemoryRange range = step.resolve(ptx::Space::Global, row.global, row.bytes, 1, lane);
    if (tile.region && tile.region != range.region) {
      step.fault(Report::Kind::OutOfBounds,
                 "the tensor map reaches from " + tile.region->name + " into " + range.region->name,
                 lane);
    }
    tile.region = range.region;
  }
  return tile;
}

/// `f(range)` for the parts of global memory, as large as they are contiguous.
template <typename F>
void forGlobalParts(const TensorTile &tile, F &&f) {
  MemoryRange part;
  for (const BoxRow &row : tile.rows) {
    if (row.bytes == 0) {
      continue;
    }
    MemoryRange range = tile.inside(row);
    if (part.region && part.offset + part.bytes == range.offset) {
      part.bytes += range.bytes;
      continue;
    }
    if (part.region) {
      f(part);
    }
    part = range;
  }
  if (part.region) {
    f(part);
  }
}

/// `f(offset in the row, range)` for the pieces of a row in shared memory.
template <typename F>
void forPieces(const TensorTile &tile, const MemoryRange &shared, const BoxRow &row, F &&f) {
  for (uint32_t at = 0; at < tile.box.rowBytes(); at += kPiece) {
    uint64_t address = kSharedBase + shared.offset + row.inBox + at;
    f(at, MemoryRange{shared.region, tile.box.swizzled(address) - kSharedBase, kPiece});
  }
}

/// `f(range)` for the parts of shared memory that belong to the box.
template <typename F>
void forSharedParts(const TensorTile &tile, const MemoryRange &shared, F &&f) {
  if (tile.box.isDense()) {
    f(shared); // swizzling permutes within a row
    return;
  }
  for (const BoxRow &row : tile.rows) {
    forPieces(tile, shared, row, [&](uint32_t, const MemoryRange &piece) { f(piece); });
  }
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Where the bytes [from, from + kPiece) of a row meet those inside the tensor: offsets in the row.
struct Overlap {
  uint32_t begin = 0, end = 0;
  Overlap(const BoxRow &row, uint32_t from)
      : begin(std::max(from, row.skipped)), end(std::min(from + kPiece, row.skipped + row.bytes)) {}
  bool empty() const { return begin >= end; }
};

void fillPiece(const MemoryRange &piece, const TensorBox &box) {
  uint64_t value = box.fill();
  for (unsigned i = 0; i < kPiece; i += box.elementBytes()) {
    std::memcpy(piece.data() + i, &value, box.elementBytes());
  }
  Checker::setDefined(piece, true);
}

void loadTile(const TensorTile &tile, const MemoryRange &shared) {
  for (const BoxRow &row : tile.rows) {
    forPieces(tile, shared, row, [&](uint32_t at, const MemoryRange &piece) {
      Overlap overlap(row, at);
      if (overlap.empty() || overlap.end - overlap.begin < kPiece) {
        fillPiece(piece, tile.box);
      }
      if (overlap.empty()) {
        return;
      }
      uint64_t bytes = overlap.end - overlap.begin;
      MemoryRange inside = tile.inside(row);
      copyBytes({piece.region, piece.offset + overlap.begin - at, bytes},
                {inside.region, inside.offset + overlap.begin - row.skipped, bytes});
    });
  }
}

void storeTile(Machine &machine, const AsyncOp &op, const TensorTile &tile,
               const MemoryRange &shared, const std::optional<Reduction> &reduction) {
  for (const BoxRow &row : tile.rows) {
    forPieces(tile, shared, row, [&](uint32_t at, const MemoryRange &piece) {
      Overlap overlap(row, at);
      if (overlap.empty()) {
        return;
      }
      uint64_t bytes = overlap.end - overlap.begin;
      MemoryRange inside = tile.inside(row);
      MemoryRange to{inside.region, inside.offset + overlap.begin - row.skipped, bytes};
      MemoryRange from{piece.region, piece.offset + overlap.begin - at, bytes};
      moveToGlobal(machine, op, to, from, reduction);
    });
  }
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

struct TensorLoad {
  SharedForm form = SharedForm::Cluster;
  Decoder::AddressRows to{}, mbarrier{};
  TensorOperand tensor;
  std::optional<Row> mask;

  Outcome operator()(Step &step) const {
    return issueByLane(step, [&](unsigned lane) { issue(step, lane); });
  }

private:
  void issue(Step &step, unsigned lane) const;
  void issueTo(Step &step, unsigned lane, const SharedPlace &place, const SharedPlace &barrier,
               std::shared_ptr<const TensorTile> tile, bool tellsOfSource) const;
};

void TensorLoad::issueTo(Step &step, unsigned lane, const SharedPlace &place,
                         const SharedPlace &barrier, std::shared_ptr<const TensorTile> tile,
                         bool tellsOfSource) const {
  checkNoMBarrier(step, place, lane);
  issueOnMBarrier(
      step, lane, *place.block, barrier, tile->box.bytes(),
      [&checker = step.machine.checker, to = place.range, tile, tellsOfSource](const AsyncOp &op) {
        if (tellsOfSource) {
          forGlobalParts(*tile, [&](const MemoryRange &part) {
            checker.access(Access::Read, op, Proxy::Async, part);
          });
        }
        forSharedParts(*tile, to, [&](const MemoryRange &part) {
          checker.access(Access::Write, op, Proxy::Async, part);
        });
        loadTile(*tile, to);
      });
}

void TensorLoad::issue(Step &step, unsigned lane) const {
  TensorBox box = boxOf(step, mapOf(step, tensor, lane), tensor, /*isStore=*/false, lane);
  SharedPlace place = sharedPlace(step, form, to, box.span(), kSharedAlign, lane);
  SharedPlace barrier = sharedPlace(step, form, mbarrier, 8, 8, lane);
  auto tile = std::make_shared<const TensorTile>(tileOf(step, std::move(box), lane));
  step.machine.profile.bulk(step.op.instruction, tile->box.bytes());
  forReceivers(step, lane, mask, place, barrier,
               [&](const SharedPlace &to, const SharedPlace &counts, bool isFirst) {
                 issueTo(step, lane, to, counts, tile, isFirst);
               });
}

/// Takes `.tile`, which may be left out; other modes are refused.
void takeTileMode(Decoder &d) {
  if (!d.take("tile") && (d.peek().starts_with("im2col") || d.peek().starts_with("tile::"))) {
    d.unsupported("mode `." + std::string(d.peek()) + "`");
  }
}

/// After the destination.
Execute decodeLoad(Decoder &d, unsigned rank, SharedForm form) {
  TensorLoad load;
  load.form = form;
  d.expect("global");
  takeTileMode(d);
  d.expect("mbarrier::complete_tx::bytes");
  bool isMulticast = form == SharedForm::Cluster && d.take("multicast::cluster");
  bool hasPolicy = d.take("L2::cache_hint");
  load.to = d.address(0);
  load.tensor = tensorOperand(d, 1, rank);
  load.mbarrier = d.address(2);
  size_t next = 3;
  if (isMulticast) {
    load.mask = d.source(next++, ptx::Type::B16);
  }
  if (hasPolicy) {
    d.source(next, ptx::Type::B64);
  }
  return load;
}

//===----------------------------------------------------------------------===//
// Stores and reductions
//===----------------------------------------------------------------------===//

struct TensorStore {
  std::optional<ReductionKind> reduction;
  TensorOperand tensor;
  Decoder::AddressRows from{};

  Outcome operator()(Step &step) const {
    return issueByLane(step, [&](unsigned lane) { issue(step, lane); });
  }

private:
  void issue(Step &step, unsigned lane) const;
  std::optional<Reduction> reductionOf(Step &step, const TensorMapRecipe &map, unsigned lane) const;
};

std::optional<Reduction> TensorStore::reductionOf(Step &step, const TensorMapRecipe &map,
                                                  unsigned lane) const {
  if (!reduction) {
    return std::nullopt;
  }
  Reduction result{*reduction, map.type};
  if (!result.isPossible()) {
    step.fault(Report::Kind::Invalid,
               "the tensor's type ." + std::string(ptx::typeName(map.type)) +
                   " does not have this operation",
               lane);
  }
  return result;
}

/// An H200 stores whole chunks of 16 bytes: of a row that ends within one it takes the bytes behind the row along. Of reductions that is not known.
void checkRowEnds(Step &step, const TensorTile &tile, unsigned lane) {
  constexpr uint32_t kChunk = 16;
  for (const BoxRow &row : tile.rows) {
    const uint32_t beyond =
        row.bytes == 0 ? 0 : (kChunk - (row.skipped + row.bytes) % kChunk) % kChunk;
    if (beyond != 0) {
      step.fault(Report::Kind::OutOfBounds,
                 "a store by TMA writes whole chunks of 16 bytes, and so " +
                     std::to_string(beyond) + " bytes beyond the end of a row of the tensor map",
                 lane);
      return;
    }
  }
}

void TensorStore::issue(Step &step, unsigned lane) const {
  TensorMapRecipe map = mapOf(step, tensor, lane);
  std::optional<Reduction> combine = reductionOf(step, map, lane);
  TensorBox box = boxOf(step, map, tensor, /*isStore=*/true, lane);
  SharedPlace place = sharedPlace(step, SharedForm::Cta, from, box.span(), kSharedAlign, lane);
  auto tile = std::make_shared<const TensorTile>(tileOf(step, std::move(box), lane));
  if (tile->region) {
    step.checkWritable({tile->region, 0, 0}, lane);
  }
  if (!combine) {
    checkRowEnds(step, *tile, lane);
  }
  step.machine.profile.bulk(step.op.instruction, tile->box.bytes());
  issueInBulkGroup(step, lane,
                   [&machine = step.machine, tile, shared = place.range,
                    combine](const AsyncOp &read, const AsyncOp &write) {
                     Checker &checker = machine.checker;
                     forSharedParts(*tile, shared, [&](const MemoryRange &part) {
                       checker.access(Access::Read, read, Proxy::Async, part);
                     });
                     forGlobalParts(*tile, [&](const MemoryRange &part) {
                       checker.access(Access::Write, write, Proxy::Async, part, flagsOf(combine));
                     });
                     storeTile(machine, write, *tile, shared, combine);
                   });
}

/// After the dimensions and, of a copy, `.global`.
Execute decodeStore(Decoder &d, unsigned rank, bool reduces) {
  TensorStore store;
  d.expect("shared::cta");
  if (reduces) {
    store.reduction = takeReductionKind(d);
  }
  takeTileMode(d);
  d.expect("bulk_group");
  bool hasPolicy = d.take("L2::cache_hint");
  store.tensor = tensorOperand(d, 0, rank);
  store.from = d.address(1);
  if (hasPolicy) {
    d.source(2, ptx::Type::B64);
  }
  return store;
}

} // namespace

Execute decodeTensorCopy(Decoder &d) {
  unsigned rank = takeRank(d);
  if (d.take("global")) {
    return decodeStore(d, rank, false);
  }
  if (d.take("shared::cta")) {
    return decodeLoad(d, rank, SharedForm::Cta);
  }
  if (d.take("shared::cluster")) {
    return decodeLoad(d, rank, SharedForm::Cluster);
  }
  d.unsupported("destination `." + std::string(d.peek()) + "`");
}

Execute decodeTensorReduce(Decoder &d) {
  unsigned rank = takeRank(d);
  d.expect("global");
  return decodeStore(d, rank, true);
}

/// The map must be one; nothing is moved.
Execute decodeTensorPrefetch(Decoder &d) {
  unsigned rank = takeRank(d);
  d.expect("L2");
  d.expect("global");
  takeTileMode(d);
  bool hasPolicy = d.take("L2::cache_hint");
  TensorOperand tensor = tensorOperand(d, 0, rank);
  if (hasPolicy) {
    d.source(1, ptx::Type::B64);
  }
  return [tensor](Step &step) {
    step.forLanes([&](unsigned lane) { mapOf(step, tensor, lane); });
    return Outcome::Next;
  };
}

} // namespace tile_emu
