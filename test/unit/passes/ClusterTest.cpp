#include "dialects/tgpu/Cluster.h"

#include "gtest/gtest.h"

namespace tilec::tgpu {
namespace {

using Ranks = llvm::SmallVector<int64_t>;

TEST(Cluster, RanksFirstDimensionFastest) {
  EXPECT_EQ(blocksOfCluster({2, 1, 4}), 8);
  EXPECT_EQ(rankStride({2, 1, 4}, 0), 1);
  EXPECT_EQ(rankStride({2, 1, 4}, 2), 2);
}

TEST(Cluster, GroupsAgreeAlongAllOtherDimensions) {
  EXPECT_EQ(ranksAcross({2, 4}, {0}), (Ranks{0, 1}));
  EXPECT_EQ(ranksAcross({2, 4}, {1}), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(ranksAcross({2, 2, 2}, {0, 2}), (Ranks{0, 1, 4, 5}));
  EXPECT_EQ(ranksAcross({2, 4}, {0, 1}).size(), 8u);
}

} // namespace
} // namespace tilec::tgpu
