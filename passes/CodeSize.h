//===- CodeSize.h - how long repeated code becomes --------------*- C++ -*-===//
//
// Tiles become straight code: an instruction or more for each element that a thread has of them. Code that is
// repeated is limited here, for beyond a point copies gain nothing, leave the instruction cache and take time to
// compile that grows faster than they do.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_CODESIZE_H
#define TILEC_PASSES_CODESIZE_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// How many copies of a loop's body, those for what is left over included, are short enough, perhaps 0: 64 KiB of code in
/// all, half of what a multiprocessor keeps of it, if an element takes one instruction.
int64_t mostCopies(mlir::Block &body);

} // namespace tilec

#endif // TILEC_PASSES_CODESIZE_H
