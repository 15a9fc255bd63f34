#include "runtime/emulator/profile/Profile.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

using namespace tile_emu;

namespace {

struct ProfileTest : testing::Test {
  ProfileTest() {
    profile.enabled = true;
    load.opcode = {"ld", "shared", "b32"};
    load.line = 12;
  }
  std::array<uint64_t, 32> stride(uint64_t step, uint64_t start = 0) {
    std::array<uint64_t, 32> addresses;
    for (unsigned i = 0; i < 32; ++i) {
      addresses[i] = start + i * step;
    }
    return addresses;
  }
  /// Passes, and those that the bytes alone need.
  std::pair<uint64_t, uint64_t> passes(const std::array<uint64_t, 32> &addresses, unsigned bytes,
                                       uint32_t lanes = ~0u) {
    Profile fresh;
    fresh.enabled = true;
    fresh.shared(&load, addresses.data(), lanes, bytes);
    const InstructionCounts &counts = fresh.counts().at(&load);
    return {counts.sharedWavefronts, counts.idealWavefronts};
  }
  std::pair<uint64_t, uint64_t> sectors(const std::array<uint64_t, 32> &addresses, unsigned bytes,
                                        uint32_t lanes = ~0u) {
    Profile fresh;
    fresh.enabled = true;
    fresh.globalAccess(&load, addresses.data(), lanes, bytes);
    const InstructionCounts &counts = fresh.counts().at(&load);
    EXPECT_EQ(counts.globalRequests, 1u);
    return {counts.globalSectors, counts.idealSectors};
  }

  Profile profile;
  ptx::Instruction load;
};

using Pair = std::pair<uint64_t, uint64_t>;

TEST_F(ProfileTest, Banks) {
  EXPECT_EQ(passes(stride(4), 4), Pair(1, 1));
  EXPECT_EQ(passes(stride(8), 4), Pair(2, 1));
  EXPECT_EQ(passes(stride(128), 4), Pair(32, 1));
  EXPECT_EQ(passes(stride(132), 4), Pair(1, 1)); // padding
  EXPECT_EQ(passes(stride(0), 4), Pair(1, 1));   // all the same word
  EXPECT_EQ(passes(stride(2), 2), Pair(1, 1));   // two lanes a word
  EXPECT_EQ(passes(stride(1), 1), Pair(1, 1));
  EXPECT_EQ(passes(stride(128), 4, 0xf), Pair(4, 1));
}

TEST_F(ProfileTest, WideRequestsAreServedInParts) {
  EXPECT_EQ(passes(stride(8), 8), Pair(2, 2));
  EXPECT_EQ(passes(stride(16), 16), Pair(4, 4));
  EXPECT_EQ(passes(stride(16), 8), Pair(4, 2));
  EXPECT_EQ(passes(stride(32), 16), Pair(8, 4));
  // Rows of 128 bytes: a quarter-warp lies in the same banks.
  EXPECT_EQ(passes(stride(128), 16), Pair(32, 4));
  EXPECT_EQ(passes(stride(144), 16), Pair(4, 4));
  EXPECT_EQ(passes(stride(16), 16, 0x1), Pair(1, 1));
}

TEST_F(ProfileTest, MatrixRows) {
  std::array<uint64_t, 32> rows = stride(128);
  profile.matrixPhase(&load, rows.data());
  rows = stride(144);
  profile.matrixPhase(&load, rows.data());
  EXPECT_EQ(profile.counts().at(&load).sharedWavefronts, 9u);
  EXPECT_EQ(profile.counts().at(&load).idealWavefronts, 2u);
}

TEST_F(ProfileTest, Sectors) {
  EXPECT_EQ(sectors(stride(4), 4), Pair(4, 4));
  EXPECT_EQ(sectors(stride(4, 16), 4), Pair(5, 4)); // not aligned
  EXPECT_EQ(sectors(stride(16), 16), Pair(16, 16));
  EXPECT_EQ(sectors(stride(128), 4), Pair(32, 4));
  EXPECT_EQ(sectors(stride(0), 4), Pair(1, 1));
  EXPECT_EQ(sectors(stride(2), 2, 0xffff), Pair(1, 1));
  std::array<uint64_t, 32> backwards = stride(4);
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_EQ(sectors(backwards, 4), Pair(4, 4));
}

TEST_F(ProfileTest, NothingIsCountedUnlessAsked) {
  profile.enabled = false;
  profile.executed(&load, 32);
  profile.bulk(&load, 100);
  profile.shared(&load, stride(4).data(), ~0u, 4);
  EXPECT_TRUE(profile.counts().empty());
}

TEST_F(ProfileTest, Table) {
  ptx::Instruction first, again, mma, unknown;
  first.opcode = again.opcode = {"ld", "shared", "b32"};
  first.source = {1, 20, 5};
  again.source = {1, 20, 9};
  mma.opcode = {"mma", "sync"};
  mma.source = {1, 7, 1};
  unknown.opcode = {"mov", "b32"};
  unknown.line = 99;
  for (int i = 0; i < 3; ++i) {
    profile.executed(&first, 32);
    profile.executed(&again, 16);
  }
  profile.shared(&first, stride(128).data(), ~0u, 4);
  profile.executed(&mma, 32);
  profile.multiplyAdds(&mma, 4096);
  profile.executed(&unknown, 32);
  profile.bulk(&unknown, 512);
  EXPECT_EQ(
      profile.table({{1, "/some/where/gemm.tile"}}),
      R"(line          warp instructions  lanes  shared passes  conflicts  sectors  ideal  copied bytes  multiply-adds
gemm.tile:20                  6   24.0             32         31
no line                       1   32.0                                                     512
gemm.tile:7                   1   32.0                                                                   4096
total                         8   26.0             32         31                           512           4096

mnemonic  warp instructions     %
ld                        6  75.0
mma                       1  12.5
mov                       1  12.5
)");
  profile = {};
  profile.enabled = true;
  profile.executed(&unknown, 1);
  EXPECT_NE(profile.table({}).find("PTX line 99"), std::string::npos);
  profile.executed(&first, 32);
  profile.executed(&mma, 32);
  std::string bySource = profile.table({{1, "gemm.tile"}}, Profile::Order::Source);
  EXPECT_LT(bySource.find("gemm.tile:7"), bySource.find("gemm.tile:20"));
}

} // namespace
