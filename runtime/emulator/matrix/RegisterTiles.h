// Matrices that lie in the registers of a warp, to and from arrays row by row.
#pragma once

#include "../exec/Step.h"
#include "Elements.h"

namespace tile_emu {

/// The largest product of one warp: wgmma with 256 columns of 32 products of 8 bits; for mma.sync,
/// 256 products of one bit and 8 columns.
constexpr unsigned kMaxRows = 16, kMaxColumns = 256, kMaxA = kMaxRows * 256,
                   kMaxB = kMaxColumns * 32, kMaxC = kMaxRows * kMaxColumns;

/// The operands of a product, and which rows and columns of the result depend on values that were
/// never written.
template <typename T>
struct Operands {
  T a[kMaxA], b[kMaxB], c[kMaxC];
  uint32_t undefinedRows = 0;
  uint64_t undefinedColumns[kMaxColumns / 64] = {};

  bool undefined(unsigned row, unsigned column) const {
    return (undefinedRows >> row & 1) || (undefinedColumns[column / 64] >> column % 64 & 1);
  }
  bool allDefined() const {
    uint64_t any = undefinedRows;
    for (uint64_t columns : undefinedColumns) {
      any |= columns;
    }
    return !any;
  }
  void columnUndefined(unsigned column) {
    undefinedColumns[column / 64] |= uint64_t(1) << column % 64;
  }
};

/// What lies in the registers of accumulators: f16 (two to a register), f32, s32, f64.
struct AccumulatorLayout {
  Element element = Element::F32;
  unsigned rows = 16, columns = 8;
  unsigned perRegister() const { return element == Element::F16 ? 2 : 1; }
  /// Of one lane.
  unsigned numRegisters() const { return rows * columns / kWarpSize / perRegister(); }
};

/// `k` is the number of columns of A, of rows of B.
template <typename T>
void readA(Step &step, Element element, unsigned rows, unsigned k,
           const std::vector<Row> &registers, Operands<T> &to);
/// B with 8 columns.
template <typename T>
void readB(Step &step, Element element, const std::vector<Row> &registers, Operands<T> &to);
template <typename T>
void readC(Step &step, const AccumulatorLayout &layout, const std::vector<Row> &registers,
           Operands<T> &to);
/// Rounds to f16 if that is the type. The definedness of the registers is not changed.
template <typename T>
void writeD(Step &step, const AccumulatorLayout &layout, const std::vector<Row> &registers,
            const Operands<T> &from);
/// Which bits of the `r`-th register of D depend on undefined operands A and B, or on the undefined
/// bits of C, in a lane.
template <typename T>
uint64_t undefinedBits(const AccumulatorLayout &layout, unsigned r, unsigned lane,
                       const Operands<T> &operands, uint64_t undefinedC);

} // namespace tile_emu
