// Which lane and register holds which element of a matrix. PTX ISA, "Matrix Fragments for
// mma.m16n8k16" and its neighbours, "Register Fragments" of wgmma: all shapes follow three
// formulas. Lanes form 8 groups of 4; g = lane / 4, t = lane % 4.
#pragma once

namespace tile_emu {

/// Of a product.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape &) const = default;
};

struct MatrixPosition {
  unsigned row, column;
};

/// A, of `rows` (8 or 16) rows, `perRegister` elements to a register: element `e` of register `r`.
constexpr MatrixPosition positionInA(unsigned rows, unsigned perRegister, unsigned lane, unsigned r,
                                     unsigned e) {
  unsigned halves = rows / 8;
  return {lane / 4 + 8 * (r % halves), (4 * (r / halves) + lane % 4) * perRegister + e};
}

/// B, 8 columns.
constexpr MatrixPosition positionInB(unsigned perRegister, unsigned lane, unsigned r, unsigned e) {
  return {(4 * r + lane % 4) * perRegister + e, lane / 4};
}

/// C and D, of `rows` rows and any multiple of 8 columns: the `i`-th value of a lane. f16 values
/// lie two to a register.
constexpr MatrixPosition positionInC(unsigned rows, unsigned lane, unsigned i) {
  unsigned halves = rows / 8;
  return {lane / 4 + 8 * (i / 2 % halves), 8 * (i / 2 / halves) + 2 * (lane % 4) + i % 2};
}

} // namespace tile_emu
