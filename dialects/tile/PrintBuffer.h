//===- PrintBuffer.h - where `print` of a GPU writes ------------*- C++ -*-===//
//
// One buffer for each device, in memory that host and device share: the runtime's tile_print_buffer
// (runtime/include/tile/pack_format.h, which says what a message is) as device code sees it.
// compiler/emit checks that the two agree.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TILE_PRINTBUFFER_H
#define TILEC_DIALECTS_TILE_PRINTBUFFER_H

#include "mlir/IR/Types.h"
#include "mlir/IR/ValueRange.h"

#include <cstdint>

namespace tilec::tile {

struct PrintBuffer {
  /// Offsets in bytes of numbers of 64 bits, and of the ring.
  static constexpr int32_t kReserved = 0, kLost = 8, kConsumed = 64, kRing = 128;
  static constexpr int64_t kRingBytes = 1 << 20, kMaxMessage = 1 << 18;
};

/// Where each value of a message begins in it, and what it takes in all, in bytes.
struct MessageShape {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};
MessageShape messageShape(mlir::TypeRange values);

} // namespace tilec::tile

#endif // TILEC_DIALECTS_TILE_PRINTBUFFER_H
