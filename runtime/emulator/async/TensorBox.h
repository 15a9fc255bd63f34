// Which bytes of global and of shared memory a tensor copy moves. PTX ISA, "Tensors": tiled mode,
// swizzling modes; cuda.h, cuTensorMapEncodeTiled.
#pragma once

#include "../Emulator.h"

namespace tile_emu {

/// A row of a box: elements along dimension 0, of which a part may lie outside of the tensor.
struct BoxRow {
  uint64_t global = 0;  ///< address of the first byte inside the tensor
  uint32_t inBox = 0;   ///< offset of the row in shared memory, before swizzling
  uint32_t skipped = 0; ///< bytes before those inside
  uint32_t bytes = 0;   ///< inside; 0 for rows that are outside altogether
};

/// The box of one copy. Rows lie in shared memory at a pitch of the swizzle's width, or densely
/// without one; the 16-byte pieces of 128-byte lines are permuted by bits 7 to 9 of their address.
class TensorBox {
public:
  TensorBox(const TensorMapRecipe &map, const std::vector<int64_t> &start);

  uint64_t numRows() const { return rowCount; }
  uint32_t rowBytes() const { return inner; }
  uint32_t pitch() const { return rowPitch; }
  /// Bytes that an mbarrier counts, whatever lies outside of the tensor.
  uint64_t bytes() const { return rowCount * inner; }
  /// Bytes of shared memory that the box spans.
  uint64_t span() const { return rowCount * rowPitch; }
  bool isDense() const { return rowPitch == inner; }
  /// All rows in the order of shared memory.
  std::vector<BoxRow> rows() const;
  /// Where a 16-byte piece really lies: an address in `shared::cta`.
  uint64_t swizzled(uint64_t address) const {
    return address ^ ((address >> 7 & swizzleMask) << 4);
  }
  /// The bytes of an element outside of the tensor.
  uint64_t fill() const;
  unsigned elementBytes() const { return map.elementBytes(); }

private:
  BoxRow row(const std::array<uint32_t, 5> &index) const;

  TensorMapRecipe map;
  std::vector<int64_t> start;
  std::array<uint32_t, 5> extent{1, 1, 1, 1, 1}; ///< elements that are moved
  uint64_t rowCount = 1;
  uint32_t inner = 0, rowPitch = 0;
  uint64_t swizzleMask = 0;
};

} // namespace tile_emu
