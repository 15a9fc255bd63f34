// The hardware's own layouts and the free ones, written as atoms and repeats.
#include "dialects/layout/RegisterLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <utility>

using namespace llvm;

namespace tilec::layout {

namespace {

using Spec = RegisterLayout::Spec;
using Bases = RegisterLayout::Bases;

Refusal badSplit() { return {"a tile needs positive extents and at least one warp"}; }

/// Extents from 1 to 2^30, warps (or warpgroups) from 1 to 64.
bool isSane(std::initializer_list<int64_t> extents, std::initializer_list<int64_t> warps) {
  return all_of(extents, [](int64_t x) { return x >= 1 && x <= int64_t(1) << 30; }) &&
         all_of(warps, [](int64_t w) { return w >= 1 && w <= 64; });
}

/// What an 8x8-matrix fragment has in common: lane = 4 g + t; t walks `step` elements of dim
/// `fast`, g the other dim.
Bases quadLanes(unsigned fast, int64_t step) {
  Bases lanes(5, Coords{0, 0});
  lanes[0][fast] = step;
  lanes[1][fast] = 2 * step;
  for (unsigned i = 0; i < 3; ++i) {
    lanes[2 + i][1 - fast] = int64_t(1) << i;
  }
  return lanes;
}

/// Slots of an A or B operand: the elements of one 32-bit register along k, [8 rows of m,] the
/// second half of k.
Bases operandSlots(unsigned kDim, MmaType type, bool hasRows) {
  const int64_t packed = 32 / bitWidth(type);
  Bases slots;
  auto add = [&](unsigned dim, int64_t step) {
    Coords v{0, 0};
    v[dim] = step;
    slots.push_back(v);
  };
  for (int64_t i = 1; i < packed; i *= 2) {
    add(kDim, i);
  }
  if (hasRows) {
    add(1 - kDim, 8);
  }
  add(kDim, 4 * packed);
  return slots;
}

Repeat registers(int dim, int64_t count, int64_t stride) {
  return {HwDim::Register, dim, count, stride};
}
Repeat warps(int dim, int64_t count, int64_t stride) { return {HwDim::Warp, dim, count, stride}; }

/// Per-warp block of an extent in units of the instruction.
int64_t unitsPerWarp(int64_t extent, int64_t unit, int64_t warps) {
  return divideCeil(uint64_t(extent), uint64_t(unit * warps));
}

} // namespace

Answer<RegisterLayout> RegisterLayout::wgmmaAccumulator(int64_t m, int64_t n, int64_t groupsM,
                                                        int64_t groupsN, int64_t nUnit) {
  if (!isSane({m, n, nUnit}, {groupsM, groupsN}) || nUnit % 8 != 0) {
    return badSplit();
  }
  const int64_t rowBlocks = unitsPerWarp(m, 64, groupsM);
  const int64_t columns = nUnit * unitsPerWarp(n, nUnit, groupsN);
  Spec spec;
  spec.shape = {m, n};
  spec.bases = {Bases{{0, 1}, {8, 0}}, quadLanes(1, 2), Bases{{16, 0}, {32, 0}}};
  spec.repeats = {registers(1, columns / 8, 8), registers(0, rowBlocks, 64),
                  warps(0, groupsM, 64 * rowBlocks), warps(1, groupsN, columns)};
  return get(std::move(spec));
}

Answer<RegisterLayout> RegisterLayout::wgmmaA(int64_t m, int64_t k, MmaType type, int64_t groupsM,
                                              int64_t groupsN) {
  if (!isSane({m, k}, {groupsM, groupsN})) {
    return badSplit();
  }
  const int64_t rowBlocks = unitsPerWarp(m, 64, groupsM), step = instructionK(type);
  Spec spec;
  spec.shape = {m, k};
  spec.bases = {operandSlots(1, type, true), quadLanes(1, 32 / bitWidth(type)),
                Bases{{16, 0}, {32, 0}}};
  spec.repeats = {registers(1, unitsPerWarp(k, step, 1), step), registers(0, rowBlocks, 64),
                  warps(0, groupsM, 64 * rowBlocks), warps(-1, groupsN, 0)};
  return get(std::move(spec));
}

Answer<RegisterLayout> RegisterLayout::mmaC(int64_t m, int64_t n, int64_t warpsM, int64_t warpsN) {
  if (!isSane({m, n}, {warpsM, warpsN})) {
    return badSplit();
  }
  const int64_t rows = unitsPerWarp(m, 16, warpsM), columns = unitsPerWarp(n, 8, warpsN);
  Spec spec;
  spec.shape = {m, n};
  spec.bases = {Bases{{0, 1}, {8, 0}}, quadLanes(1, 2), Bases{}};
  spec.repeats = {registers(1, columns, 8), registers(0, rows, 16), warps(0, warpsM, 16 * rows),
                  warps(1, warpsN, 8 * columns)};
  return get(std::move(spec));
}

Answer<RegisterLayout> RegisterLayout::mmaA(int64_t m, int64_t k, MmaType type, int64_t warpsM,
                                            int64_t warpsN) {
  if (!isSane({m, k}, {warpsM, warpsN})) {
    return badSplit();
  }
  const int64_t rows = unitsPerWarp(m, 16, warpsM), step = instructionK(type);
  Spec spec;
  spec.shape = {m, k};
  spec.bases = {operandSlots(1, type, true), quadLanes(1, 32 / bitWidth(type)), Bases{}};
  spec.repeats = {registers(1, unitsPerWarp(k, step, 1), step), registers(0, rows, 16),
                  warps(0, warpsM, 16 * rows), warps(-1, warpsN, 0)};
  return get(std::move(spec));
}

Answer<RegisterLayout> RegisterLayout::mmaB(int64_t k, int64_t n, MmaType type, int64_t warpsM,
                                            int64_t warpsN) {
  if (!isSane({k, n}, {warpsM, warpsN})) {
    return badSplit();
  }
  const int64_t columns = unitsPerWarp(n, 8, warpsN), step = instructionK(type);
  Spec spec;
  spec.shape = {k, n};
  spec.bases = {operandSlots(0, type, false), quadLanes(0, 32 / bitWidth(type)), Bases{}};
  spec.repeats = {registers(0, unitsPerWarp(k, step, 1), step), registers(1, columns, 8),
                  warps(-1, warpsM, 0), warps(1, warpsN, 8 * columns)};
  return get(std::move(spec));
}

Answer<RegisterLayout> RegisterLayout::replicated(ArrayRef<int64_t> shape, int64_t warpCount) {
  Spec spec;
  spec.shape.assign(shape.begin(), shape.end());
  spec.repeats = {{HwDim::Lane, -1, 32, 0}, warps(-1, std::max<int64_t>(warpCount, 1), 0)};
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    spec.repeats.push_back(registers(d, shape[d], 1));
  }
  return get(std::move(spec));
}

namespace {

/// How the threads are dealt out over the dimensions of a blocked layout. Index i is the i-th
/// fastest dimension.
struct Deal {
  SmallVector<unsigned, 8> laneBits, warpBits;
  int oddTo = -1; // which dimension takes the odd factor of the number of warps
};

/// Tries every deal of lane and warp bits and keeps the one with the fewest registers, then the
/// best coalescing.
class BlockedSearch {
public:
  BlockedSearch(ArrayRef<int64_t> chunks, int64_t warpCount, bool warpsTakeRows)
      : chunks(chunks), odd(warpCount >> countr_zero(uint64_t(warpCount))),
        warpBits(countr_zero(uint64_t(warpCount))), warpsTakeRows(warpsTakeRows) {}

  Deal run() {
    deal.laneBits.assign(chunks.size(), 0);
    deal.warpBits.assign(chunks.size(), 0);
    dealLanes(0, 5);
    return best;
  }

private:
  void dealLanes(unsigned i, unsigned left) {
    if (i == chunks.size()) {
      dealWarps(0, warpBits);
      return;
    }
    for (unsigned bits = 0; bits <= left && useful(i, bits); ++bits) {
      deal.laneBits[i] = bits;
      dealLanes(i + 1, left - bits);
    }
    deal.laneBits[i] = 0;
  }

  void dealWarps(unsigned i, unsigned left) {
    if (i == chunks.size()) {
      for (int to = odd > 1 ? int(chunks.size()) - 1 : -1; to >= -1; --to) {
        deal.oddTo = to;
        consider();
      }
      return;
    }
    for (unsigned bits = 0; bits <= left && useful(i, deal.laneBits[i] + bits); ++bits) {
      deal.warpBits[i] = bits;
      dealWarps(i + 1, left - bits);
    }
    deal.warpBits[i] = 0;
  }

  /// The last bit still reaches elements of the dimension.
  bool useful(unsigned i, unsigned bits) const {
    return bits == 0 || (int64_t(1) << (bits - 1)) < chunks[i];
  }

  void consider() {
    int64_t registers = 1;
    for (auto [i, c] : enumerate(chunks)) {
      int64_t threads = int64_t(1) << (deal.laneBits[i] + deal.warpBits[i]);
      registers *= divideCeil(uint64_t(c), uint64_t(threads * (deal.oddTo == int(i) ? odd : 1)));
    }
    // Registers, weighed by how short the runs of a warp are: 1 + 1 / lanes along the fastest
    // dimension.
    const int64_t lanes = int64_t(1) << deal.laneBits[0];
    const int64_t cost = registers * (32 + 32 / lanes);
    SmallVector<int64_t, 16> rank = {cost, -lanes};
    for (unsigned i = 0; i < chunks.size(); ++i) {
      rank.push_back(-int64_t(deal.laneBits[i]));
    }
    // Ties: warps go on along the fastest dimensions, or stay away from them.
    for (unsigned i = 0; i < chunks.size(); ++i) {
      rank.push_back(warpsTakeRows ? int64_t(deal.warpBits[i]) : -int64_t(deal.warpBits[i]));
    }
    rank.push_back(-deal.oddTo);
    if (bestRank.empty() ||
        std::lexicographical_compare(rank.begin(), rank.end(), bestRank.begin(), bestRank.end())) {
      bestRank = rank;
      best = deal;
    }
  }

  ArrayRef<int64_t> chunks;
  int64_t odd;
  unsigned warpBits;
  bool warpsTakeRows;
  Deal deal, best;
  SmallVector<int64_t, 16> bestRank;
};

} // namespace

Answer<RegisterLayout> RegisterLayout::blocked(ArrayRef<int64_t> shape, int64_t vec,
                                               int64_t warpCount) {
  return blocked(shape, vec, warpCount, BlockedOptions());
}

Answer<RegisterLayout> RegisterLayout::blocked(ArrayRef<int64_t> shape, int64_t vec,
                                               int64_t warpCount, BlockedOptions options) {
  const int rank = shape.size();
  if (!isSane({vec}, {warpCount}) || any_of(shape, [](int64_t x) { return !isSane({x}, {}); })) {
    return badSplit();
  }
  if (!isPowerOf2_64(vec)) {
    return Refusal{"the vector width is not a power of two"};
  }
  if (rank == 0) {
    return replicated(shape, warpCount);
  }
  if (rank > 5 || options.contiguousDim >= rank) {
    return Refusal{"a blocked layout has at most 5 dimensions"};
  }
  const int fast = options.contiguousDim < 0 ? rank - 1 : options.contiguousDim;
  SmallVector<int, 8> order = {fast};
  SmallVector<int64_t, 8> chunks = {int64_t(divideCeil(uint64_t(shape[fast]), uint64_t(vec)))};
  for (int d = rank - 1; d >= 0; --d) {
    if (d != fast) {
      order.push_back(d);
      chunks.push_back(shape[d]);
    }
  }
  const Deal deal = BlockedSearch(chunks, warpCount, options.warpsTakeRows).run();
  const int64_t odd = warpCount >> countr_zero(uint64_t(warpCount));

  Spec spec;
  spec.shape.assign(shape.begin(), shape.end());
  spec.firstWarp = options.firstWarp;
  SmallVector<Repeat, 8> slots = {registers(fast, vec, 1)}, lanes, warpDigits, oddDigit;
  int64_t lanesUsed = 1, warpsUsed = 1;
  for (auto [i, d] : enumerate(order)) {
    int64_t covered = i == 0 ? vec : 1;
    lanes.push_back({HwDim::Lane, d, int64_t(1) << deal.laneBits[i], covered});
    lanesUsed <<= deal.laneBits[i];
    covered <<= deal.laneBits[i];
    warpDigits.push_back(warps(d, int64_t(1) << deal.warpBits[i], covered));
    warpsUsed <<= deal.warpBits[i];
    covered <<= deal.warpBits[i];
    if (deal.oddTo == int(i)) {
      oddDigit.push_back(warps(d, odd, covered));
      warpsUsed *= odd;
      covered *= odd;
    }
    slots.push_back(registers(d, divideCeil(uint64_t(shape[d]), uint64_t(covered)), covered));
  }
  lanes.push_back({HwDim::Lane, -1, 32 / lanesUsed, 0});
  append_range(spec.repeats, slots);
  append_range(spec.repeats, lanes);
  append_range(spec.repeats, warpDigits);
  append_range(spec.repeats, oddDigit);
  spec.repeats.push_back(warps(-1, warpCount / warpsUsed, 0));
  return get(std::move(spec));
}

Answer<RegisterLayout> RegisterLayout::inBlocks(ArrayRef<int64_t> shape, int64_t rows,
                                                int64_t columns, int64_t warpCount) {
  if (shape.size() != 2 || !isSane({shape[0], shape[1], rows, columns}, {warpCount})) {
    return badSplit();
  }
  if (!isPowerOf2_64(rows) || !isPowerOf2_64(columns)) {
    return Refusal{"the extents of a block are not powers of two"};
  }
  const int64_t sizes[] = {rows, columns};
  // Blocks still to be dealt out, and elements that one of what was dealt covers.
  int64_t left[] = {int64_t(divideCeil(uint64_t(shape[0]), uint64_t(rows))),
                    int64_t(divideCeil(uint64_t(shape[1]), uint64_t(columns)))};
  int64_t covered[] = {rows, columns};
  auto take = [&](unsigned dim, int64_t count) {
    left[dim] = divideCeil(uint64_t(left[dim]), uint64_t(count));
    return std::exchange(covered[dim], covered[dim] * count);
  };
  auto lanesFor = [&](unsigned dim, int64_t most) {
    return std::min<int64_t>(most, PowerOf2Ceil(uint64_t(left[dim])));
  };
  int64_t alongColumns = lanesFor(0, 8);
  const int64_t alongRows = lanesFor(1, 32 / alongColumns);
  alongColumns = lanesFor(0, 32 / alongRows);

  Spec spec;
  spec.shape.assign(shape.begin(), shape.end());
  spec.repeats = {registers(1, sizes[1], 1), registers(0, sizes[0], 1)};
  spec.repeats.push_back({HwDim::Lane, 0, alongColumns, take(0, alongColumns)});
  spec.repeats.push_back({HwDim::Lane, 1, alongRows, take(1, alongRows)});
  spec.repeats.push_back({HwDim::Lane, -1, 32 / (alongColumns * alongRows), 0});
  int64_t warpsLeft = warpCount;
  for (unsigned dim : {1, 0}) {
    int64_t count = std::min(left[dim], warpsLeft);
    while (warpsLeft % count != 0) {
      --count;
    }
    warpsLeft /= count;
    spec.repeats.push_back(warps(int(dim), count, take(dim, count)));
  }
  spec.repeats.push_back(warps(-1, warpsLeft, 0));
  for (unsigned dim : {1, 0}) {
    spec.repeats.push_back(registers(int(dim), left[dim], covered[dim]));
  }
  return get(std::move(spec));
}

} // namespace tilec::layout
