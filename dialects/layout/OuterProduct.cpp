// Accumulators of scalar products: rows of one operand times columns of the other.
#include "dialects/layout/RegisterLayout.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace tilec::layout {

namespace {

/// How much of a dimension each thread has.
struct Share {
  int64_t lanes, warps, registers;

  Share(int64_t extent, int64_t run, int64_t lanes, int64_t warps)
      : lanes(lanes), warps(warps),
        registers(run * divideCeil(uint64_t(extent), uint64_t(run * lanes * warps))) {}
};

/// Four schedulers each issue a multiply-add of a warp in a clock. They share shared memory, which gives
/// registers 128 bytes in a clock, also where lanes read the same bytes.
constexpr int64_t kSchedulers = 4, kWavefrontBytes = 128;

/// Clocks for one element of k: multiply-adds, or what they read.
int64_t clocks(const Share &rows, const Share &columns,
               const RegisterLayout::OuterProduct &options) {
  const int64_t products = rows.registers * columns.registers;
  const int64_t read =
      32 * (rows.registers * options.rowBytes + columns.registers * options.columnBytes);
  return std::max(products * kWavefrontBytes, read * kSchedulers);
}

} // namespace

Answer<RegisterLayout> RegisterLayout::outerProduct(int64_t m, int64_t n, int64_t warpCount,
                                                    OuterProduct options) {
  const int64_t sane[] = {m, n, options.rowRun, options.columnRun};
  if (std::any_of(std::begin(sane), std::end(sane),
                  [](int64_t x) { return x < 1 || x > int64_t(1) << 30; }) ||
      warpCount < 1 || warpCount > 64) {
    return Refusal{"a tile needs positive extents and at least one warp"};
  }
  if (!isPowerOf2_64(options.rowRun) || !isPowerOf2_64(options.columnRun)) {
    return Refusal{"the length of a run is not a power of two"};
  }
  // Runs that do not divide would be padding for all threads.
  const int64_t rowRun = std::min(options.rowRun, m & -m);
  const int64_t columnRun = std::min(options.columnRun, n & -n);
  // A digit of the thread's number is of use where it reaches elements; what is left over replicates.
  auto isOfUse = [](int64_t count, int64_t others, int64_t extent, int64_t run) {
    return count == 1 || count / 2 * others * run < extent;
  };
  // The least time for an element of k, then the fewest elements of a thread; then a phase of eight
  // lanes along a row, so that lanes that read from one row of A or store to one row do so together.
  using Rank = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
  std::optional<Rank> least;
  Share rows(m, rowRun, 1, 1), columns(n, columnRun, 1, 1);
  auto consider = [&](const Share &down, const Share &across) {
    const Rank rank = {clocks(down, across, options), down.registers * across.registers,
                       std::abs(across.lanes - 8),    down.registers + across.registers,
                       down.lanes * across.lanes,     down.warps * across.warps};
    if (!least || rank < *least) {
      least = rank;
      rows = down;
      columns = across;
    }
  };
  for (int64_t lanesM = 1; lanesM <= 32 && isOfUse(lanesM, 1, m, rowRun); lanesM *= 2) {
    for (int64_t lanesN = 1; lanesM * lanesN <= 32 && isOfUse(lanesN, 1, n, columnRun);
         lanesN *= 2) {
      for (int64_t warpsM = 1; warpsM <= warpCount; ++warpsM) {
        for (int64_t warpsN = 1; warpsM * warpsN <= warpCount; ++warpsN) {
          if (warpCount % (warpsM * warpsN) == 0 && isOfUse(warpsM, lanesM, m, rowRun) &&
              isOfUse(warpsN, lanesN, n, columnRun)) {
            consider(Share(m, rowRun, lanesM, warpsM), Share(n, columnRun, lanesN, warpsN));
          }
        }
      }
    }
  }
  auto registers = [](int dim, int64_t count, int64_t stride) {
    return Repeat{HwDim::Register, dim, count, stride};
  };
  const int64_t rowStep = rowRun * rows.lanes, columnStep = columnRun * columns.lanes;
  Spec spec;
  spec.shape = {m, n};
  const int64_t rowRuns = rows.registers / rowRun, columnRuns = columns.registers / columnRun;
  spec.repeats = {registers(1, columnRun, 1),
                  registers(0, rowRun, 1),
                  registers(1, columnRuns, columnStep),
                  registers(0, rowRuns, rowStep),
                  {HwDim::Lane, 1, columns.lanes, columnRun},
                  {HwDim::Lane, 0, rows.lanes, rowRun},
                  {HwDim::Lane, -1, 32 / (columns.lanes * rows.lanes), 0},
                  {HwDim::Warp, 1, columns.warps, columnStep * columnRuns},
                  {HwDim::Warp, 0, rows.warps, rowStep * rowRuns},
                  {HwDim::Warp, -1, warpCount / (columns.warps * rows.warps), 0}};
  return get(std::move(spec));
}

} // namespace tilec::layout
