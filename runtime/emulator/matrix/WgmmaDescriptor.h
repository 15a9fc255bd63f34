// Where a wgmma operand lies in shared memory. PTX ISA, "Asynchronous wgmma: Shared Memory Matrix
// Layout", "Matrix Descriptor Format".
//
// Matrices are made of chunks of 16 bytes along the contiguous dimension: K (`K-major`) or M or N
// (`MN-major`). A line is one index of the other dimension; 8 lines form a group. With a swizzle
// of W bytes (32, 64, 128), panels are W bytes wide, line i of a group lies i W bytes from its
// start, and bits 4 up of the address are exchanged by bits 7 up.
//
//              next group   next panel, or chunk without swizzle
//   K-major    stride       leading (without swizzle; else all of K lies in one panel)
//   MN-major   stride       leading
//   MN-major without swizzle: leading, stride
#pragma once

#include <cstdint>
#include <string>

namespace tile_emu {

constexpr unsigned kChunkBytes = 16; ///< of the contiguous dimension

struct WgmmaDescriptor {
  uint32_t start = 0, leading = 0, stride = 0; ///< bytes
  unsigned baseOffset = 0;                     ///< number of 128-byte rows
  unsigned swizzle = 0;                        ///< bytes: 0, 32, 64, 128

  /// Throws std::invalid_argument if bits are set that mean nothing.
  static WgmmaDescriptor decode(uint64_t bits);
  /// Shared address of a chunk; of 18 bits, as the hardware adds.
  uint32_t chunkAddress(bool mnMajor, unsigned line, unsigned chunk) const;
  /// In words, for reports.
  std::string describe() const;
};

} // namespace tile_emu
