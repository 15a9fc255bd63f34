//===- Divisions.h - the integer divisions of two dialects -----*- C++ -*-===//
#pragma once

#include "dialects/tile/Tile.h"

#include <optional>

namespace tilec::tile {

/// What an integer division or remainder of `arith` or of the tile dialect computes.
struct Division {
  Rounding rounding;
  bool isUnsigned;
  bool remainder;
};

/// Nothing if `op` is neither.
std::optional<Division> divisionOf(mlir::Operation *op);

} // namespace tilec::tile
