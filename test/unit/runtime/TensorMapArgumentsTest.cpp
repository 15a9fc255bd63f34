// What cuTensorMapEncodeTiled refuses: the requirements of the CUDA driver API reference one by one,
// each at its edge.
#include "runtime/support/TensorMapArguments.h"

#include <functional>
#include <gtest/gtest.h>

using namespace tile_rt;

namespace {
constexpr int kU8 = 0, kU16 = 1, kF16 = 6, kF64 = 8, kTF32Ftz = 12;

struct Map {
  uint64_t dims[5] = {256, 64, 16, 4, 2}, strides[4] = {512, 32768, 524288, 2097152};
  uint32_t box[5] = {64, 64, 1, 1, 1}, elementStrides[5] = {1, 1, 1, 1, 1};
  TensorMapArguments arguments{.dataType = kF16,
                               .rank = 3,
                               .address = 4096,
                               .dims = dims,
                               .strides = strides,
                               .box = box,
                               .elementStrides = elementStrides,
                               .interleave = 0,
                               .swizzle = 3,
                               .l2Promotion = 2,
                               .fill = 0};
};
using Change = std::function<void(Map &, TensorMapArguments &)>;

std::string why(const Change &change) {
  Map map;
  change(map, map.arguments);
  return whyRefused(map.arguments);
}
#define WHY(change)                                                                                \
  why([](Map &map, TensorMapArguments &arguments) { (void)map, (void)arguments, change; })
#define EXPECT_TAKEN(change) EXPECT_EQ(WHY(change), "")
#define EXPECT_REFUSED(change, message) EXPECT_EQ(WHY(change), message)

TEST(TensorMapArguments, Rank) {
  EXPECT_TAKEN(arguments.rank = 1);
  EXPECT_TAKEN(arguments.rank = 5);
  EXPECT_REFUSED(arguments.rank = 0, "the rank must be from 1 to 5, not 0");
  EXPECT_REFUSED(arguments.rank = 6, "the rank must be from 1 to 5, not 6");
}

TEST(TensorMapArguments, NullPointers) {
  // Also of rank 1, which has no strides: measured on an H200.
  EXPECT_REFUSED((arguments.rank = 1, arguments.strides = nullptr),
                 "the array of strides is a null pointer");
  EXPECT_REFUSED(arguments.dims = nullptr, "the array of extents is a null pointer");
  EXPECT_REFUSED(arguments.box = nullptr, "the array of extents of the box is a null pointer");
  EXPECT_REFUSED(arguments.elementStrides = nullptr,
                 "the array of element strides is a null pointer");
}

TEST(TensorMapArguments, Address) {
  EXPECT_TAKEN(arguments.address = 16);
  EXPECT_REFUSED(arguments.address = 8, "the address must be a multiple of 16 bytes");
  EXPECT_REFUSED((arguments.address = 16, arguments.interleave = 2, arguments.swizzle = 1),
                 "the address must be a multiple of 32 bytes");
}

TEST(TensorMapArguments, Extents) {
  EXPECT_TAKEN((map.dims[0] = 1, map.dims[2] = uint64_t{1} << 32));
  EXPECT_REFUSED(map.dims[1] = 0, "the extent 0 of dimension 1 is not from 1 to 2^32");
  EXPECT_REFUSED(map.dims[2] = (uint64_t{1} << 32) + 1,
                 "the extent 4294967297 of dimension 2 is not from 1 to 2^32");
  EXPECT_TAKEN(map.dims[3] = 0); // beyond the rank
}

TEST(TensorMapArguments, Strides) {
  EXPECT_TAKEN((map.strides[0] = 16, map.strides[1] = 0)); // rows that overlap
  EXPECT_TAKEN(map.strides[1] = (uint64_t{1} << 40) - 16);
  EXPECT_REFUSED(map.strides[0] = 520,
                 "the stride 520 of dimension 1 is not a multiple of 16 bytes below 2^40");
  EXPECT_REFUSED(
      map.strides[1] = uint64_t{1} << 40,
      "the stride 1099511627776 of dimension 2 is not a multiple of 16 bytes below 2^40");
  EXPECT_REFUSED((map.strides[0] = 528, arguments.interleave = 2, arguments.swizzle = 1),
                 "the stride 528 of dimension 1 is not a multiple of 32 bytes below 2^40");
  EXPECT_TAKEN(map.strides[2] = 1);
}

TEST(TensorMapArguments, Box) {
  EXPECT_TAKEN(map.box[1] = 256);
  EXPECT_REFUSED(map.box[1] = 0, "the box's extent 0 of dimension 1 is not from 1 to 256");
  EXPECT_REFUSED(map.box[2] = 257, "the box's extent 257 of dimension 2 is not from 1 to 256");
  EXPECT_TAKEN(map.box[0] = 8);
  EXPECT_REFUSED(map.box[0] = 12,
                 "the first dimension of the box has 24 bytes, not a multiple of 16");
  EXPECT_TAKEN((map.box[0] = 12, arguments.interleave = 1)); // demanded without interleave alone
}

TEST(TensorMapArguments, BoxAndSwizzle) {
  EXPECT_REFUSED(map.box[0] = 72,
                 "the first dimension of the box has 144 bytes, more than the swizzle's 128");
  EXPECT_REFUSED((map.box[0] = 40, arguments.swizzle = 2),
                 "the first dimension of the box has 80 bytes, more than the swizzle's 64");
  EXPECT_REFUSED((map.box[0] = 24, arguments.swizzle = 1),
                 "the first dimension of the box has 48 bytes, more than the swizzle's 32");
  EXPECT_TAKEN((map.box[0] = 256, arguments.swizzle = 0));
  EXPECT_TAKEN((map.box[0] = 128, arguments.dataType = kU8));
  EXPECT_REFUSED((map.box[0] = 32, arguments.dataType = kF64),
                 "the first dimension of the box has 256 bytes, more than the swizzle's 128");
}

TEST(TensorMapArguments, ElementStrides) {
  EXPECT_TAKEN(map.elementStrides[1] = 8);
  EXPECT_REFUSED(map.elementStrides[1] = 0,
                 "the element stride 0 of dimension 1 is not from 1 to 8");
  EXPECT_REFUSED(map.elementStrides[2] = 9,
                 "the element stride 9 of dimension 2 is not from 1 to 8");
}

TEST(TensorMapArguments, Modes) {
  EXPECT_TAKEN((arguments.dataType = kTF32Ftz, arguments.swizzle = 0));
  EXPECT_REFUSED(arguments.dataType = -1, "there is no element type -1");
  EXPECT_REFUSED(arguments.dataType = 13, "there is no element type 13");
  EXPECT_REFUSED(arguments.swizzle = 4, "the swizzle must be none, 32, 64 or 128 bytes");
  EXPECT_REFUSED(arguments.l2Promotion = 4,
                 "the promotion in L2 must be none, 64, 128 or 256 bytes");
  EXPECT_REFUSED(arguments.interleave = 3, "the interleave must be none, 16 or 32 bytes");
  EXPECT_TAKEN((arguments.interleave = 2, arguments.swizzle = 1));
  EXPECT_REFUSED(arguments.interleave = 2,
                 "an interleave of 32 bytes requires a swizzle of 32 bytes");
  EXPECT_REFUSED((arguments.rank = 2, arguments.interleave = 1),
                 "an interleaved tensor has a rank from 3 to 5");
  EXPECT_TAKEN(arguments.fill = 1);
  EXPECT_REFUSED(arguments.fill = 2, "elements outside are filled with zero or NaN");
  EXPECT_REFUSED((arguments.fill = 1, arguments.dataType = kU16),
                 "only floating-point types can be filled with NaN");
}

TEST(TensorMapArguments, CodesOfBytes) {
  EXPECT_EQ(tensorMapSwizzle(0), 0);
  EXPECT_EQ(tensorMapSwizzle(128), 3);
  EXPECT_EQ(tensorMapSwizzle(16), -1);
  EXPECT_EQ(tensorMapInterleave(32), 2);
  EXPECT_EQ(tensorMapL2Promotion(256), 3);
}
} // namespace
