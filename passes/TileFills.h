//===- TileFills.h - copies outside of pipelined loops that TMA makes -*- C++ -*-===//
//
// A copy that fills a buffer once in each execution of its block, say the rows of a tile's query, is a ring
// of one slot, or of two: a role that loads fills it for the next tile while others work on this one.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_TILEFILLS_H
#define TILEC_PASSES_TILEFILLS_H

#include "dialects/tgpu/Tgpu.h"

namespace tilec {

/// Why `copy`, a load by TMA outside of pipelined loops, cannot fill a slot with a channel of its own; empty if
/// it can: its block alone declares, fills and then reads the buffer, and nothing changes what it loads.
std::string refuseTileFill(tgpu::CopyOp copy);

/// The same before buffers have layouts.
std::string refusePlaceOfFill(tgpu::CopyOp copy);

/// Why another way is at least as fast for such a copy, where TMA could do it and is not required; else empty.
std::string avoidTileFill(tgpu::CopyOp copy);

/// Why `copy` from a buffer to global memory cannot be one store by TMA; empty if it can.
std::string refuseTileStore(tgpu::CopyOp copy);

/// Why threads are at least as fast for such a copy, where TMA could do it and is not required; else empty.
std::string avoidTileStore(tgpu::CopyOp copy);

} // namespace tilec

#endif // TILEC_PASSES_TILEFILLS_H
