// ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements. PTX ISA, "Warp-level matrix load
// instruction: ldmatrix" and after. Row r of matrix j lies at the address that lane 8 j + r gives;
// elements 2 t and 2 t + 1 of row g belong to lane 4 g + t, in register j.
#include "../memory/Decoding.h"
#include "Decoding.h"

#include <algorithm>

namespace tile_emu {

namespace {
constexpr unsigned kRows = 8, kColumns = 8, kRowBytes = 16;

/// 8x8 elements and which of their bits are undefined.
struct Matrix8 {
  uint16_t values[kRows][kColumns];
  uint16_t undefined[kRows][kColumns];
};

struct Place {
  unsigned row, column;
};
/// Element `half` of a lane's register.
Place placeOf(unsigned lane, unsigned half, bool transposed) {
  unsigned group = lane / 4, pair = 2 * (lane % 4) + half;
  return transposed ? Place{pair, group} : Place{group, pair};
}

/// What lanes see of a matrix, in a register row.
void toRegister(Step &step, const Matrix8 &matrix, bool transposed, Row to) {
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    Place low = placeOf(lane, 0, transposed), high = placeOf(lane, 1, transposed);
    step.set(to, lane,
             matrix.values[low.row][low.column] | uint32_t(matrix.values[high.row][high.column])
                                                      << 16);
    step.undefine(to, lane,
                  matrix.undefined[low.row][low.column] |
                      uint32_t(matrix.undefined[high.row][high.column]) << 16);
  }
}

Matrix8 fromRegister(Step &step, bool transposed, Row from) {
  Matrix8 matrix;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    for (unsigned half = 0; half < 2; ++half) {
      Place place = placeOf(lane, half, transposed);
      matrix.values[place.row][place.column] = uint16_t(step.get(from, lane) >> (16 * half));
      matrix.undefined[place.row][place.column] =
          uint16_t(step.undefinedBits(from, lane) >> (16 * half));
    }
  }
  return matrix;
}

/// The instruction, decoded.
struct Transfer {
  bool transposed = false;
  ptx::Space space = ptx::Space::Generic;
  Decoder::AddressRows address{};
  std::vector<Row> registers;

  /// Where the row of a lane lies: row lane % 8 of matrix lane / 8.
  MemoryRange place(Step &step, unsigned lane) const {
    if (!step.isDefined(address.base, lane)) {
      step.fault(Report::Kind::Uninitialised, "the address was never written", lane);
    }
    MemoryRange range = step.resolve(space, step.get(address.base, lane) + uint64_t(address.offset),
                                     kRowBytes, kRowBytes, lane);
    step.checkVariable(address.base, range, lane);
    if (range.region->kind != Region::Kind::Shared) {
      step.fault(Report::Kind::Invalid, "the address is not in shared memory", lane);
    }
    return range;
  }
};

/// Where the rows of all matrices lie, by lane. They are looked up before anything is read or
/// written, so that a fault changes nothing.
struct Places {
  unsigned matrices;
  std::array<MemoryRange, kWarpSize> rows;

  const MemoryRange &at(unsigned j, unsigned row) const { return rows[kRows * j + row]; }
};

Places placesOf(Step &step, const Transfer &transfer) {
  requireWholeWarp(step);
  Places places{unsigned(transfer.registers.size()), {}};
  for (unsigned lane = 0; lane < kRows * places.matrices; ++lane) {
    places.rows[lane] = transfer.place(step, lane);
  }
  return places;
}

/// Counts and checks the access. Who gives the address of a row does not matter: those access it
/// that have its elements in their registers.
void noteAccess(Step &step, const Places &places, bool transposed, Access access,
                AccessFlags flags = {}) {
  std::array<uint64_t, kWarpSize> addresses;
  std::array<Checker::MatrixRow, kWarpSize> rows;
  unsigned count = kRows * places.matrices;
  for (unsigned i = 0; i < count; ++i) {
    const MemoryRange &range = places.rows[i];
    addresses[i] = range.region->base + range.offset;
    unsigned row = i % kRows;
    rows[i] = {range.offset, transposed ? 0x11111111u << row / 2 : 0xfu << 4 * row};
  }
  if (step.machine.profile.enabled) {
    for (unsigned j = 0; j < places.matrices; ++j) {
      step.machine.profile.matrixPhase(step.op.instruction, addresses.data() + kRows * j);
    }
  }
  for (unsigned i = 0, next; i < count; i = next) { // of peers too
    next = i + 1;
    while (next < count && places.rows[next].region == places.rows[i].region) {
      ++next;
    }
    step.machine.checker.accessRows(access, step.warp.firstThread, *places.rows[i].region,
                                    std::span(rows).subspan(i, next - i), !transposed, flags,
                                    step.op.instruction);
  }
}

Matrix8 load(const Places &places, unsigned j) {
  Matrix8 matrix;
  for (unsigned row = 0; row < kRows; ++row) {
    const MemoryRange &range = places.at(j, row);
    std::memcpy(matrix.values[row], range.data(), kRowBytes);
    bool all = Checker::isDefined(range);
    for (unsigned column = 0; column < kColumns; ++column) {
      matrix.undefined[row][column] =
          all ? 0 : uint16_t(Checker::undefinedBits({range.region, range.offset + 2 * column, 2}));
    }
  }
  return matrix;
}

void store(const Places &places, unsigned j, const Matrix8 &matrix) {
  for (unsigned row = 0; row < kRows; ++row) {
    const MemoryRange &range = places.at(j, row);
    std::memcpy(range.data(), matrix.values[row], kRowBytes);
    Checker::setDefined(range, true);
    for (unsigned column = 0; column < kColumns; ++column) {
      if (uint16_t undefined = matrix.undefined[row][column]) {
        Checker::setUndefinedBits({range.region, range.offset + 2 * column, 2}, undefined);
      }
    }
  }
}

Outcome executeLoad(Step &step, const Transfer &transfer) {
  Places places = placesOf(step, transfer);
  noteAccess(step, places, transfer.transposed, Access::Read);
  for (unsigned j = 0; j < places.matrices; ++j) {
    toRegister(step, load(places, j), transfer.transposed, transfer.registers[j]);
  }
  return Outcome::Next;
}

/// Do the rows of a matrix hold it already? Several warps may store the same.
bool holdAlready(const Places &places, unsigned j, const Matrix8 &matrix) {
  for (unsigned row = 0; row < kRows; ++row) {
    const MemoryRange &range = places.at(j, row);
    bool defined = Checker::isDefined(range) &&
                   std::all_of(std::begin(matrix.undefined[row]), std::end(matrix.undefined[row]),
                               [](uint16_t bits) { return bits == 0; });
    if (!defined || std::memcmp(range.data(), matrix.values[row], kRowBytes) != 0) {
      return false;
    }
  }
  return true;
}

Outcome executeStore(Step &step, const Transfer &transfer) {
  Places places = placesOf(step, transfer);
  std::vector<Matrix8> matrices;
  bool unchanged = true;
  for (unsigned j = 0; j < places.matrices; ++j) {
    matrices.push_back(fromRegister(step, transfer.transposed, transfer.registers[j]));
    unchanged = unchanged && holdAlready(places, j, matrices.back());
  }
  std::array<LanePiece, kWarpSize> rows;
  size_t count = size_t(kRows) * places.matrices;
  for (unsigned i = 0; i < count; ++i) {
    rows[i] = {places.rows[i].region, places.rows[i].offset, i};
  }
  bool apart = piecesDisagree(std::span(rows).first(count), kRowBytes, [&](unsigned i) {
    return reinterpret_cast<const uint8_t *>(matrices[i / kRows].values[i % kRows]);
  });
  noteAccess(step, places, transfer.transposed, Access::Write,
             {.apart = apart, .unchanged = unchanged});
  for (unsigned j = 0; j < places.matrices; ++j) {
    store(places, j, matrices[j]);
  }
  return Outcome::Next;
}

/// Takes `.sync.aligned.m8n8.xN{.trans}{.shared{::cta}}.b16`: the number of matrices.
unsigned takeModifiers(Decoder &decoder, Transfer &transfer) {
  decoder.expect("sync");
  decoder.expect("aligned");
  if (!decoder.take("m8n8")) {
    decoder.unsupported("'." + std::string(decoder.peek()) +
                        "': of the shapes only '.m8n8' exists before sm_100");
  }
  std::optional<unsigned> number = decoder.takeOneOf({"x1", "x2", "x4"});
  if (!number) {
    decoder.unsupported("'." + std::string(decoder.peek()) +
                        "' where the number of matrices, '.x1', '.x2' or '.x4', is expected");
  }
  transfer.transposed = decoder.take("trans");
  if (decoder.takeOneOf({"shared", "shared::cta"})) {
    transfer.space = ptx::Space::Shared;
  }
  decoder.expect("b16");
  return 1u << *number;
}

void dropReads(Op &op, const std::vector<Row> &rows) {
  for (Row row : rows) {
    std::erase(op.reads, row);
  }
}
} // namespace

Execute decodeLdmatrix(Decoder &decoder) {
  Transfer transfer;
  unsigned number = takeModifiers(decoder, transfer);
  transfer.registers = destinationRows(decoder, 0, ptx::Type::B32);
  transfer.address = decoder.address(1);
  expectRegisters(decoder, "r", transfer.registers.size(), number);
  // Only the lanes that give rows need an address.
  dropReads(decoder.op, {transfer.address.base});
  decoder.op.together = Together::Warp;
  return [transfer](Step &step) { return executeLoad(step, transfer); };
}

Execute decodeStmatrix(Decoder &decoder) {
  Transfer transfer;
  unsigned number = takeModifiers(decoder, transfer);
  transfer.address = decoder.address(size_t(0));
  transfer.registers = sourceRows(decoder, 1, ptx::Type::B32);
  expectRegisters(decoder, "r", transfer.registers.size(), number);
  // What is undefined stays so in memory.
  decoder.op.propagatesUndefined = true;
  decoder.op.together = Together::Warp;
  return [transfer](Step &step) { return executeStore(step, transfer); };
}

Execute decodeMovmatrix(Decoder &decoder) {
  for (const char *modifier : {"sync", "aligned", "m8n8", "trans", "b16"}) {
    decoder.expect(modifier);
  }
  Row to = decoder.destination(0, ptx::Type::B32), from = decoder.source(1, ptx::Type::B32);
  decoder.op.tracksUndefined = true;
  decoder.op.together = Together::Warp;
  return [to, from](Step &step) {
    requireWholeWarp(step);
    toRegister(step, fromRegister(step, false, from), true, to);
    return Outcome::Next;
  };
}

} // namespace tile_emu
