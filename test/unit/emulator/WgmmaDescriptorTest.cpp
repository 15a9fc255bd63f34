// Where the chunks of wgmma operands lie, against the formulas of the tiles that TMA writes.
#include "runtime/emulator/matrix/WgmmaDescriptor.h"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace tile_emu;

namespace {

uint64_t encode(uint32_t start, uint32_t leading, uint32_t stride, unsigned swizzle,
                unsigned baseOffset = 0) {
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return uint64_t(start >> 4 & 0x3fff) | uint64_t(leading >> 4 & 0x3fff) << 16 |
         uint64_t(stride >> 4 & 0x3fff) << 32 | uint64_t(baseOffset) << 49 | mode << 62;
}

/// The exchange of 16-byte chunks that TMA does on absolute addresses.
uint32_t exchanged(uint32_t address, unsigned swizzle) {
  switch (swizzle) {
  case 128:
    return address ^ (address >> 3 & 0x70);
  case 64:
    return address ^ (address >> 3 & 0x30);
  case 32:
    return address ^ (address >> 3 & 0x10);
  default:
    return address;
  }
}

TEST(WgmmaDescriptor, Fields) {
  WgmmaDescriptor d = WgmmaDescriptor::decode(encode(0x12340, 0x450, 0x6780, 64, 5));
  EXPECT_EQ(d.start, 0x12340u);
  EXPECT_EQ(d.leading, 0x450u);
  EXPECT_EQ(d.stride, 0x6780u);
  EXPECT_EQ(d.baseOffset, 5u);
  EXPECT_EQ(d.swizzle, 64u);
  EXPECT_EQ(WgmmaDescriptor::decode(encode(0, 0, 0, 0)).swizzle, 0u);
  EXPECT_EQ(WgmmaDescriptor::decode(encode(0, 0, 0, 32)).swizzle, 32u);
  EXPECT_EQ(WgmmaDescriptor::decode(encode(0, 0, 0, 128)).swizzle, 128u);
  // As the compiler writes it: 128 bytes, stride 1024, leading offset 16.
  EXPECT_EQ(encode(0, 16, 1024, 128), 0x4000004000010000u);
}

TEST(WgmmaDescriptor, RefusesBitsWithoutMeaning) {
  for (unsigned bit : {14u, 15u, 30u, 31u, 46u, 47u, 48u, 52u, 61u}) {
    EXPECT_THROW((void)WgmmaDescriptor::decode(uint64_t(1) << bit), std::invalid_argument) << bit;
  }
}

TEST(WgmmaDescriptor, KMajorPanels) {
  // Panels of `swizzle` bytes of K, rows below one another; the instruction takes 32 bytes.
  for (unsigned swizzle : {32u, 64u, 128u}) {
    for (uint32_t tile : {0x400u, 0x1000u, 0x2480u}) {
      for (uint32_t within = 0; within < swizzle; within += 32) {
        WgmmaDescriptor d =
            WgmmaDescriptor::decode(encode(tile + within, 4096, 8 * swizzle, swizzle));
        for (unsigned row = 0; row < 256; ++row) {
          for (unsigned chunk = 0; chunk < 2; ++chunk) {
            EXPECT_EQ(d.chunkAddress(false, row, chunk),
                      exchanged(tile + row * swizzle + within + 16 * chunk, swizzle));
          }
        }
      }
    }
  }
}

TEST(WgmmaDescriptor, KMajorPlain) {
  unsigned rows = 64;
  WgmmaDescriptor d = WgmmaDescriptor::decode(encode(0x800, rows * 16, 128, 0));
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned chunk = 0; chunk < 2; ++chunk) {
      EXPECT_EQ(d.chunkAddress(false, row, chunk),
                0x800 + chunk * rows * 16 + row / 8 * 128 + row % 8 * 16);
    }
  }
}

TEST(WgmmaDescriptor, MnMajorPanels) {
  unsigned depth = 64; // rows of K in the tile
  for (unsigned swizzle : {32u, 64u, 128u}) {
    WgmmaDescriptor d =
        WgmmaDescriptor::decode(encode(0x800, depth * swizzle, 8 * swizzle, swizzle));
    for (unsigned k = 0; k < 16; ++k) {
      for (unsigned chunk = 0; chunk < 32; ++chunk) {
        uint32_t byte = 16 * chunk;
        EXPECT_EQ(d.chunkAddress(true, k, chunk),
                  exchanged(0x800 + byte / swizzle * depth * swizzle + k * swizzle + byte % swizzle,
                            swizzle));
      }
    }
  }
}

TEST(WgmmaDescriptor, MnMajorPlain) {
  unsigned depth = 32;
  WgmmaDescriptor d = WgmmaDescriptor::decode(encode(0x400, 128, depth * 16, 0));
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned chunk = 0; chunk < 16; ++chunk) {
      EXPECT_EQ(d.chunkAddress(true, k, chunk),
                0x400 + chunk * depth * 16 + k / 8 * 128 + k % 8 * 16);
    }
  }
}

TEST(WgmmaDescriptor, BaseOffsetMeansExchangedRelativeToTheStart) {
  for (unsigned rows : {1u, 3u, 4u}) {
    uint32_t start = 0x1000 + 128 * rows;
    WgmmaDescriptor d = WgmmaDescriptor::decode(encode(start, 16, 1024, 128, rows));
    for (unsigned row = 0; row < 64; ++row) {
      for (unsigned chunk = 0; chunk < 2; ++chunk) {
        EXPECT_EQ(d.chunkAddress(false, row, chunk),
                  start + exchanged(row * 128 + 16 * chunk, 128));
      }
    }
  }
}

TEST(WgmmaDescriptor, AddressesWrapAt256K) {
  WgmmaDescriptor d = WgmmaDescriptor::decode(encode(0x3ff80, 0, 128, 0));
  EXPECT_EQ(d.chunkAddress(false, 8, 0), 0u);
}

} // namespace
