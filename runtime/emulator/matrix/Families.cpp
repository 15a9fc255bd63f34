#include "../exec/Families.h"

#include "Decoding.h"

namespace tile_emu {

static Execute decodeTcgen05(Decoder &decoder) {
  decoder.unsupported("the fifth generation of tensor cores (sm_100)");
}

static Execute decodeWmma(Decoder &decoder) {
  decoder.unsupported("fragments of unspecified layout; mma.sync has the same products");
}

static constexpr Family kFamilies[] = {
    {"ldmatrix", decodeLdmatrix}, {"stmatrix", decodeStmatrix}, {"movmatrix", decodeMovmatrix},
    {"mma", decodeMma},           {"wgmma", decodeWgmma},       {"wmma", decodeWmma},
    {"tcgen05", decodeTcgen05},
};

std::span<const Family> matrixFamilies() { return kFamilies; }

} // namespace tile_emu
