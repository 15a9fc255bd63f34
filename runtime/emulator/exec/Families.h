// Which decoder reads which mnemonic, one table per group of instructions.
#pragma once

#include "Decoder.h"

namespace tile_emu {

struct Family {
  std::string_view mnemonic;
  DecodeFamily decode;
};

std::span<const Family> coreFamilies();   ///< exec: control flow, loads, stores, atomics
std::span<const Family> scalarFamilies(); ///< scalar: arithmetic, conversions, warp operations
std::span<const Family> asyncFamilies();  ///< async: barriers, fences, asynchronous copies
std::span<const Family> matrixFamilies(); ///< matrix: ldmatrix, stmatrix, mma, wgmma

} // namespace tile_emu
