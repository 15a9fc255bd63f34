// Puts what the lanes of a warp do to one granule together, as far as a record can say it.
#pragma once

#include "Shadow.h"

#include <algorithm>

namespace tile_emu {

/// Bits of a granule: `count` bytes from `first`.
inline uint16_t byteMask(unsigned first, unsigned count) {
  return uint16_t(((1u << count) - 1) << first);
}

class Coalescer {
public:
  /// `access` says all but who and where; `first` is the warp's thread of lane 0.
  Coalescer(const AccessRecord &access, ThreadId first, unsigned bytes)
      : access(access), first(first), bytes(bytes) {}

  /// Lanes come in ascending order. Calls `use(granule, record)` when too many have gathered.
  template <typename F>
  void add(unsigned lane, uint64_t offset, F &&use) {
    for (unsigned done = 0; done < bytes;) {
      unsigned start = unsigned((offset + done) % kGranuleBytes);
      unsigned count = std::min(kGranuleBytes - start, bytes - done);
      if (!addToOther(lane, (offset + done) / kGranuleBytes, start, count)) {
        if (used == pieces.size()) {
          flush(use);
        }
        begin(lane, (offset + done) / kGranuleBytes, start, count);
      }
      done += count;
    }
  }
  template <typename F>
  void flush(F &&use) {
    for (unsigned i = 0; i < used; ++i) {
      use(pieces[i].granule, pieces[i].record);
    }
    used = 0;
    highest = 0;
  }

private:
  struct Piece {
    uint64_t granule;
    AccessRecord record;
    unsigned lastLane, end; ///< the last lane, and where its bytes end
    bool whole;             ///< no lane's bytes are cut by the end of the granule
  };

  bool addToOther(unsigned lane, uint64_t granule, unsigned start, unsigned count) {
    if (used == 0 || granule > highest) {
      return false;
    }
    for (unsigned i = used; i-- > 0;) {
      if (pieces[i].granule == granule && join(pieces[i], lane, start, count)) {
        return true;
      }
    }
    return false;
  }

  void begin(unsigned lane, uint64_t granule, unsigned start, unsigned count) {
    Piece &piece = pieces[used++];
    piece.granule = granule;
    piece.record = access;
    piece.record.agent = first + lane;
    piece.record.bytes = byteMask(start, count);
    piece.lastLane = lane;
    piece.end = start + count;
    piece.whole = count == bytes;
    highest = std::max(highest, granule);
  }

  bool join(Piece &piece, unsigned lane, unsigned start, unsigned count) {
    AccessRecord &record = piece.record;
    bool single = record.shift == AccessRecord::kByOne;
    uint16_t mask = byteMask(start, count);
    if (mask == record.bytes && (single || record.shift == AccessRecord::kByEach)) {
      if (single) {
        record.lanes = 1u << (record.agent - first);
        record.agent = first;
        record.shift = AccessRecord::kByEach;
      }
      record.lanes |= 1u << lane;
      return true;
    }
    bool next = lane == piece.lastLane + 1 && start == piece.end;
    if (!next || count != bytes || !piece.whole || !std::has_single_bit(count) ||
        start % count != 0 || record.shift == AccessRecord::kByEach) {
      return false;
    }
    if (single) {
      record.shift = uint8_t(std::countr_zero(count));
      record.agent = first + lane - (start >> record.shift);
    }
    record.bytes |= mask;
    piece.lastLane = lane;
    piece.end = start + count;
    return true;
  }

  AccessRecord access;
  ThreadId first;
  unsigned bytes;
  std::array<Piece, 64> pieces;
  unsigned used = 0;
  uint64_t highest = 0; ///< granule of the pieces
};

} // namespace tile_emu
