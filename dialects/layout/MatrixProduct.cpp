#include "dialects/layout/MatrixProduct.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <vector>

using namespace llvm;

namespace tilec::layout {

MatrixProduct::MatrixProduct(const Spec &spec) : spec(spec) {
  auto blocks = [](int64_t extent, int64_t unit) {
    return int64_t(divideCeil(uint64_t(extent), uint64_t(unit)));
  };
  rowCount = blocks(spec.m, instructionRows() * spec.workersM);
  columnCount = blocks(spec.n, instructionColumns() * spec.workersN);
  stepCount = blocks(spec.k, stepExtent());
}

Answer<MatrixProduct> MatrixProduct::get(const Spec &spec) {
  constexpr int64_t limit = int64_t(1) << 20;
  if (any_of(ArrayRef<int64_t>{spec.m, spec.n, spec.k},
             [](int64_t extent) { return extent < 1 || extent > limit; }) ||
      spec.workersM < 1 || spec.workersN < 1 || spec.workersM > 64 || spec.workersN > 64) {
    return Refusal{"a product has positive extents and at least one warp"};
  }
  const bool wide = spec.instruction == Instruction::Wgmma;
  if (spec.instructionColumns % 8 != 0 || spec.instructionColumns < 8 ||
      spec.instructionColumns > (wide ? 256 : 8)) {
    return Refusal{"no instruction has " + std::to_string(spec.instructionColumns) + " columns"};
  }
  return MatrixProduct(spec);
}

Answer<RegisterLayout> MatrixProduct::accumulator() const {
  return spec.instruction == Instruction::Wgmma
             ? RegisterLayout::wgmmaAccumulator(spec.m, spec.n, spec.workersM, spec.workersN,
                                                instructionColumns())
             : RegisterLayout::mmaC(spec.m, spec.n, spec.workersM, spec.workersN);
}

Answer<RegisterLayout> MatrixProduct::a() const {
  return spec.instruction == Instruction::Wgmma
             ? RegisterLayout::wgmmaA(spec.m, spec.k, spec.type, spec.workersM, spec.workersN)
             : RegisterLayout::mmaA(spec.m, spec.k, spec.type, spec.workersM, spec.workersN);
}

Answer<RegisterLayout> MatrixProduct::b() const {
  if (spec.instruction == Instruction::Wgmma) {
    return Refusal{"wgmma reads B from shared memory"};
  }
  return RegisterLayout::mmaB(spec.k, spec.n, spec.type, spec.workersM, spec.workersN);
}

namespace {

/// Coordinates of a slot within its instruction, by the definition of the instruction. A warp of a
/// warpgroup has 16 of the 64 rows: rows count within the warp.
struct Atom {
  int64_t perWord; // elements of an operand in a 32-bit register

  std::pair<int64_t, int64_t> accumulator(int64_t slot, int64_t lane) const {
    return {lane / 4 + 8 * (slot / 2 % 2), 8 * (slot / 4) + 2 * (lane % 4) + slot % 2};
  }
  /// Element of k of the low or high half of an operand's registers.
  int64_t kOf(int64_t slot, int64_t lane, int64_t half) const {
    return perWord * (lane % 4) + slot % perWord + 4 * perWord * half;
  }
  std::pair<int64_t, int64_t> a(int64_t slot, int64_t lane) const {
    const int64_t word = slot / perWord;
    return {lane / 4 + 8 * (word % 2), kOf(slot, lane, word / 2)};
  }
  std::pair<int64_t, int64_t> b(int64_t slot, int64_t lane) const {
    return {kOf(slot, lane, slot / perWord), lane / 4};
  }
};

/// Rows, columns or elements of k of the tile that the places of an instruction stand for. The
/// first slot that names a place decides, all others must agree.
class Places {
public:
  explicit Places(int64_t count) : coordinate(count, -1) {}

  bool agrees(int64_t place, int64_t with) {
    int64_t &known = coordinate[place];
    known = known < 0 ? with : known;
    return known == with;
  }
  int64_t operator[](int64_t place) const { return coordinate[place]; }
  ArrayRef<int64_t> all() const { return coordinate; }

private:
  std::vector<int64_t> coordinate;
};

/// What one warp multiplies. Instructions of a block of rows share the registers of A, those of a
/// block of columns share B, so rows, columns and k of the tile are properties of the worker's
/// places along each direction: an instruction adds A[row(i), k(l)] * B[k(l), column(j)] to the
/// accumulator at (row(i), column(j)) for all of its places i, j and l.
class WarpCheck {
public:
  WarpCheck(const MatrixProduct &product, const MatrixProduct::Spec &spec, int64_t warp)
      : product(product), spec(spec), warp(warp), atom{32 / int64_t(bitWidth(spec.type))},
        rows(16 * product.rowBlocks()), columns(product.columns()),
        depth(product.steps() * product.stepExtent()) {}

  bool accumulator(const RegisterLayout &layout) {
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (int64_t slot = 0; slot < layout.registersPerThread(); ++slot) {
        const int64_t instruction = slot / product.accSlotsPerInstruction();
        auto [row, column] = atom.accumulator(slot % product.accSlotsPerInstruction(), lane);
        row += 16 * (instruction / product.columnBlocks());
        column += product.instructionColumns() * (instruction % product.columnBlocks());
        const Coords at = layout.coords(slot, lane, layout.firstWarp() + warp);
        if (!rows.agrees(row, at[0]) || !columns.agrees(column, at[1])) {
          return false;
        }
      }
    }
    return true;
  }

  /// In registers. Rows of padding may hold anything: what they give is no element of the result.
  bool a(const RegisterLayout &layout) {
    return operand(layout, product.aSlotsPerInstruction(),
                   [&](int64_t block, int64_t slot, int64_t lane, const Coords &at) {
                     auto [row, k] = atom.a(slot % product.aSlotsPerInstruction(), lane);
                     const int64_t wanted = rows[row + 16 * block];
                     return (wanted >= spec.m || wanted == at[0]) &&
                            depth.agrees(k + stepOf(slot), at[1]);
                   });
  }
  bool b(const RegisterLayout &layout) {
    return operand(layout, product.bSlotsPerInstruction(),
                   [&](int64_t block, int64_t slot, int64_t lane, const Coords &at) {
                     auto [k, column] = atom.b(slot % product.bSlotsPerInstruction(), lane);
                     const int64_t wanted = columns[column + 8 * block];
                     return (wanted >= spec.n || wanted == at[1]) &&
                            depth.agrees(k + stepOf(slot), at[0]);
                   });
  }

  // ---- In shared memory, at the origin of the worker's block.
  bool sharedA() {
    const int64_t worker = warp / product.warpsPerWorker() % spec.workersM;
    const int64_t inInstruction = warp % product.warpsPerWorker() * 16;
    for (int64_t i = 0; i < 16 * product.rowBlocks(); ++i) {
      const int64_t row =
          worker * product.rows() + i / 16 * product.instructionRows() + inInstruction + i % 16;
      if (rows[i] < spec.m && rows[i] != row) {
        return false;
      }
    }
    return sharedDepth();
  }
  bool sharedB() {
    const int64_t worker = warp / product.warpsPerWorker() / spec.workersM;
    for (int64_t i = 0; i < product.columns(); ++i) {
      if (columns[i] < spec.n && columns[i] != worker * product.columns() + i) {
        return false;
      }
    }
    return sharedDepth();
  }

  /// Each element of k once; what lies beyond is padding.
  bool wholeDepth() const {
    std::vector<bool> seen(spec.k);
    for (int64_t k : depth.all()) {
      if (k >= 0 && k < spec.k) {
        if (seen[k]) {
          return false;
        }
        seen[k] = true;
      }
    }
    return all_of(seen, [](bool k) { return k; });
  }

private:
  int64_t stepOf(int64_t slot) const {
    return slot / perInstruction % product.steps() * product.stepExtent();
  }

  template <typename F>
  bool operand(const RegisterLayout &layout, int64_t slots, F agrees) {
    perInstruction = slots;
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (int64_t slot = 0; slot < layout.registersPerThread(); ++slot) {
        const int64_t block = slot / slots / product.steps();
        if (!agrees(block, slot, lane, layout.coords(slot, lane, layout.firstWarp() + warp))) {
          return false;
        }
      }
    }
    return true;
  }

  bool sharedDepth() {
    for (int64_t k = 0; k < product.steps() * product.stepExtent(); ++k) {
      if (!depth.agrees(k, k)) {
        return false;
      }
    }
    return true;
  }

  const MatrixProduct &product;
  const MatrixProduct::Spec &spec;
  int64_t warp;
  Atom atom;
  Places rows, columns, depth;
  int64_t perInstruction = 1;
};

} // namespace

/// The layout has the slots and warps of the product's fragment, and no values that wait for a sum.
static bool fits(const RegisterLayout &layout, int64_t slots, const MatrixProduct &product,
                 const RegisterLayout &accumulator) {
  return layout.rank() == 2 && layout.registersPerThread() == slots &&
         layout.numWarps() == product.numWarps() && !layout.partial() &&
         layout.firstWarp() == accumulator.firstWarp();
}

std::string MatrixProduct::check(const RegisterLayout &accumulator, const RegisterLayout *a,
                                 const RegisterLayout *b) const {
  const int64_t blocks = rowCount * columnCount;
  if (!fits(accumulator, blocks * accSlotsPerInstruction(), *this, accumulator) ||
      accumulator.shape() != ArrayRef<int64_t>{spec.m, spec.n} ||
      accumulator.firstWarp() % warpsPerWorker() != 0) {
    return "the accumulator has other registers or warps than the instructions";
  }
  if ((a && (!fits(*a, rowCount * stepCount * aSlotsPerInstruction(), *this, accumulator) ||
             a->shape() != ArrayRef<int64_t>{spec.m, spec.k})) ||
      (b && (!fits(*b, columnCount * stepCount * bSlotsPerInstruction(), *this, accumulator) ||
             b->shape() != ArrayRef<int64_t>{spec.k, spec.n}))) {
    return "an operand has other registers or warps than the instructions";
  }
  if (!accumulator.complete()) {
    return "some elements of the result have no owner";
  }
  for (int64_t warp = 0; warp < numWarps(); ++warp) {
    const std::string who = "warp " + std::to_string(warp) + " ";
    WarpCheck check(*this, spec, warp);
    if (!check.accumulator(accumulator)) {
      return who + "does not hold the accumulator as the instruction writes it";
    }
    if (!(a ? check.a(*a) : check.sharedA())) {
      return who + "multiplies other rows of A than it accumulates, or k in another order";
    }
    if (!(b ? check.b(*b) : check.sharedB())) {
      return who +
             "multiplies other columns of B than it accumulates, or k in another order than A";
    }
    if (!check.wholeDepth()) {
      return who + "does not multiply each element of k once";
    }
  }
  return "";
}

} // namespace tilec::layout
