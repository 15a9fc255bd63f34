#include "WgmmaDescriptor.h"

#include <stdexcept>

namespace tile_emu {

namespace {
constexpr unsigned kGroup = 8, kAddressBits = 18;
constexpr uint64_t kFieldMask = (1u << (kAddressBits - 4)) - 1;
constexpr uint64_t kMeaningful =
    kFieldMask | kFieldMask << 16 | kFieldMask << 32 | uint64_t(7) << 49 | uint64_t(3) << 62;

uint32_t field(uint64_t bits, unsigned at) { return uint32_t(bits >> at & kFieldMask) << 4; }
} // namespace

WgmmaDescriptor WgmmaDescriptor::decode(uint64_t bits) {
  if (bits & ~kMeaningful) {
    throw std::invalid_argument("bits of the descriptor are set that mean nothing");
  }
  WgmmaDescriptor descriptor;
  descriptor.start = field(bits, 0);
  descriptor.leading = field(bits, 16);
  descriptor.stride = field(bits, 32);
  descriptor.baseOffset = unsigned(bits >> 49 & 7);
  constexpr unsigned kSwizzles[] = {0, 128, 64, 32};
  descriptor.swizzle = kSwizzles[bits >> 62];
  return descriptor;
}

uint32_t WgmmaDescriptor::chunkAddress(bool mnMajor, unsigned line, unsigned chunk) const {
  unsigned lineBytes = swizzle ? swizzle : kChunkBytes;
  unsigned perPanel = lineBytes / kChunkBytes;
  uint32_t groupStride = mnMajor && !swizzle ? leading : stride;
  uint32_t panelStride = mnMajor && !swizzle ? stride : leading;
  uint32_t panel = chunk / perPanel, within = chunk % perPanel;
  uint32_t address = start + line / kGroup * groupStride + line % kGroup * lineBytes +
                     panel * panelStride + within * kChunkBytes;
  // Bits 4 to 6 are exchanged by bits 7 to 9, as many as the swizzle is wide. The base offset says
  // in which 128-byte row the pattern starts.
  if (swizzle) {
    uint32_t row = (address >> 7) - baseOffset;
    address ^= (row & (perPanel - 1)) << 4;
  }
  return address & ((1u << kAddressBits) - 1);
}

std::string WgmmaDescriptor::describe() const {
  return "start " + std::to_string(start) + ", leading byte offset " + std::to_string(leading) +
         ", stride byte offset " + std::to_string(stride) + ", swizzle " +
         (swizzle ? std::to_string(swizzle) + " bytes" : std::string("none"));
}

} // namespace tile_emu
