#include "TensorMapArguments.h"

#include <algorithm>
#include <iterator>

namespace tile_rt {

namespace {
constexpr unsigned kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr int kFirstFloat = 6; // FLOAT16; all that follow are floating-point types
constexpr unsigned kSwizzleBytes[] = {0, 32, 64, 128};
constexpr unsigned kInterleaveBytes[] = {0, 16, 32};
constexpr unsigned kPromotionBytes[] = {0, 64, 128, 256};
constexpr uint32_t kMaxRank = 5, kMaxBox = 256, kMaxElementStride = 8;
constexpr uint64_t kMaxExtent = uint64_t{1} << 32, kEndOfStrides = uint64_t{1} << 40;

template <size_t size>
int codeOf(const unsigned (&known)[size], unsigned bytes) {
  const unsigned *found = std::find(std::begin(known), std::end(known), bytes);
  return found == std::end(known) ? -1 : static_cast<int>(found - known);
}

template <size_t size>
bool isCode(const unsigned (&)[size], int code) {
  return code >= 0 && code < static_cast<int>(size);
}

std::string ofDimension(uint64_t value, uint32_t dimension) {
  return std::to_string(value) + " of dimension " + std::to_string(dimension);
}

std::string whyModes(const TensorMapArguments &map) {
  if (map.rank < 1 || map.rank > kMaxRank) {
    return "the rank must be from 1 to 5, not " + std::to_string(map.rank);
  }
  if (!isCode(kElementBytes, map.dataType)) {
    return "there is no element type " + std::to_string(map.dataType);
  }
  if (!isCode(kInterleaveBytes, map.interleave)) {
    return "the interleave must be none, 16 or 32 bytes";
  }
  if (map.interleave != 0 && map.rank < 3) {
    return "an interleaved tensor has a rank from 3 to 5";
  }
  if (!isCode(kSwizzleBytes, map.swizzle)) {
    return "the swizzle must be none, 32, 64 or 128 bytes";
  }
  if (kInterleaveBytes[map.interleave] == 32 && kSwizzleBytes[map.swizzle] != 32) {
    return "an interleave of 32 bytes requires a swizzle of 32 bytes";
  }
  if (!isCode(kPromotionBytes, map.l2Promotion)) {
    return "the promotion in L2 must be none, 64, 128 or 256 bytes";
  }
  if (map.fill != 0 && map.fill != 1) {
    return "elements outside are filled with zero or NaN";
  }
  if (map.fill == 1 && map.dataType < kFirstFloat) {
    return "only floating-point types can be filled with NaN";
  }
  return {};
}

/// The reference shows strides that follow from the extents and a padding, but the requirements that
/// it names are these alone: rows that overlap, or all lie at one place (stride 0), are taken.
std::string whyTensor(const TensorMapArguments &map) {
  // A tensor of rank 1 has no strides, and yet an H200's driver refuses the null pointer.
  if (!map.dims || !map.strides) {
    return std::string("the array of ") + (map.dims ? "strides" : "extents") + " is a null pointer";
  }
  unsigned align = kInterleaveBytes[map.interleave] == 32 ? 32 : 16;
  if (map.address % align != 0) {
    return "the address must be a multiple of " + std::to_string(align) + " bytes";
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.dims[i] < 1 || map.dims[i] > kMaxExtent) {
      return "the extent " + ofDimension(map.dims[i], i) + " is not from 1 to 2^32";
    }
  }
  for (uint32_t i = 0; i + 1 < map.rank; ++i) {
    if (map.strides[i] % align != 0 || map.strides[i] >= kEndOfStrides) {
      return "the stride " + ofDimension(map.strides[i], i + 1) + " is not a multiple of " +
             std::to_string(align) + " bytes below 2^40";
    }
  }
  return {};
}

std::string whyBox(const TensorMapArguments &map) {
  if (!map.box || !map.elementStrides) {
    return std::string("the array of ") + (map.box ? "element strides" : "extents of the box") +
           " is a null pointer";
  }
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.box[i] < 1 || map.box[i] > kMaxBox) {
      return "the box's extent " + ofDimension(map.box[i], i) + " is not from 1 to 256";
    }
    if (map.elementStrides[i] < 1 || map.elementStrides[i] > kMaxElementStride) {
      return "the element stride " + ofDimension(map.elementStrides[i], i) + " is not from 1 to 8";
    }
  }
  if (map.interleave != 0) {
    return {};
  }
  unsigned inner = map.box[0] * kElementBytes[map.dataType], swizzle = kSwizzleBytes[map.swizzle];
  std::string has = "the first dimension of the box has " + std::to_string(inner) + " bytes, ";
  if (inner % 16 != 0) {
    return has + "not a multiple of 16";
  }
  if (swizzle != 0 && inner > swizzle) {
    return has + "more than the swizzle's " + std::to_string(swizzle);
  }
  return {};
}
} // namespace

int tensorMapSwizzle(unsigned bytes) { return codeOf(kSwizzleBytes, bytes); }
int tensorMapInterleave(unsigned bytes) { return codeOf(kInterleaveBytes, bytes); }
int tensorMapL2Promotion(unsigned bytes) { return codeOf(kPromotionBytes, bytes); }

std::string whyRefused(const TensorMapArguments &arguments) {
  for (auto why : {whyModes, whyTensor, whyBox}) {
    if (std::string reason = why(arguments); !reason.empty()) {
      return reason;
    }
  }
  return {};
}

} // namespace tile_rt
