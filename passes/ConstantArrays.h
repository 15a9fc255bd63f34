//===- ConstantArrays.h - reads of constant arrays -------------*- C++ -*-===//
#ifndef TILEC_PASSES_CONSTANTARRAYS_H
#define TILEC_PASSES_CONSTANTARRAYS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Reads of elements of `tile.constant_array`s become `tgpu.lookup`s, wherever they stand: in block code, in regions of threads, in the code
/// of one element of tiles. The arrays stay, without a use if nothing else uses them.
void convertLookups(tgpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_PASSES_CONSTANTARRAYS_H
