//===- PartsOfGathers.h - parts of dimensions that index tiles gather -*- C++ -*-===//
#ifndef TILEC_PASSES_PARTSOFGATHERS_H
#define TILEC_PASSES_PARTSOFGATHERS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Makes slices of gathered dimensions, by indices, ranges or other index tiles, gathers by the indices
/// that are left: `X[rows, :][a :+ 8, 0]` takes elements a to a + 7 of `rows`, -1 where it has none.
void composeGathers(tgpu::KernelOp kernel);

} // namespace tilec

#endif // TILEC_PASSES_PARTSOFGATHERS_H
