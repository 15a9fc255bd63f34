//===- FailureRecord.h - what a failed check leaves behind ----*- C++ -*-===//
//
// One record for each device, in memory that host and device share: the runtime's
// tile_failure_record (runtime/include/tile/pack_format.h) as device code sees it. compiler/emit
// checks that the two agree.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECTS_TILE_FAILURERECORD_H
#define TILEC_DIALECTS_TILE_FAILURERECORD_H

#include <cstdint>

namespace tilec::tile {

/// Offsets in bytes. Fields are 32 bits wide, values 64.
struct FailureRecord {
  static constexpr int32_t kClaimed = 0, kComplete = 4, kPlace = 8, kBlock = 12, kThread = 16,
                           kValues = 32;
  static constexpr unsigned kMaxValues = 8;
};

} // namespace tilec::tile

#endif // TILEC_DIALECTS_TILE_FAILURERECORD_H
