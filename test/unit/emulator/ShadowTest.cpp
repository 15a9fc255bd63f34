#include "runtime/emulator/check/Shadow.h"

#include "runtime/emulator/check/Checker.h"

#include <gtest/gtest.h>
#include <random>

using namespace tile_emu;

namespace {

class Drawn : public testing::TestWithParam<uint32_t> {
protected:
  std::mt19937 random{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Seeds, Drawn, testing::Values(1, 2, 3));

TEST_P(Drawn, DefinednessByteByByte) {
  Region region;
  region.bytes.resize(1000);
  Checker::attach(region, /*defined=*/false);
  std::vector<bool> expected(1000, false);
  for (int i = 0; i < 3000; ++i) {
    uint64_t offset = random() % 1000, bytes = random() % std::min<uint64_t>(200, 1001 - offset);
    if (random() % 2) {
      bool defined = random() % 2;
      Checker::setDefined({&region, offset, bytes}, defined);
      std::fill_n(expected.begin() + ptrdiff_t(offset), bytes, defined);
    } else {
      bool all = std::find(expected.begin() + ptrdiff_t(offset),
                           expected.begin() + ptrdiff_t(offset + bytes),
                           false) == expected.begin() + ptrdiff_t(offset + bytes);
      EXPECT_EQ(Checker::isDefined({&region, offset, bytes}), all);
    }
  }
}

TEST(Definedness, OfAllAtOnce) {
  Region region;
  region.bytes.resize(100);
  EXPECT_TRUE(Checker::isDefined({&region, 0, 100})); // nobody looks
  Checker::attach(region, /*defined=*/true);
  EXPECT_TRUE(Checker::isDefined({&region, 0, 100}));
  Checker::setDefined({&region, 70, 1}, false);
  EXPECT_FALSE(Checker::isDefined({&region, 0, 100}));
  EXPECT_TRUE(Checker::isDefined({&region, 0, 70}));
  EXPECT_TRUE(Checker::isDefined({&region, 71, 29}));
  Checker::setDefined({&region, 0, 100}, true);
  EXPECT_TRUE(Checker::isDefined({&region, 0, 100}));
  EXPECT_TRUE(Checker::isDefined({&region, 100, 0}));
}

AccessRecord record(AgentId agent, uint16_t bytes) {
  AccessRecord result;
  result.agent = agent;
  result.step = 1;
  result.bytes = bytes;
  return result;
}

TEST(Records, GrowAndShrink) {
  Shadow shadow(4096, true);
  Shadow::Granule &granule = shadow.granule(17);
  EXPECT_TRUE(shadow.records(granule).empty());
  for (AgentId agent = 1; agent <= 20; ++agent) {
    shadow.add(granule, record(agent, 0x0f));
    EXPECT_EQ(shadow.records(granule).size(), agent);
  }
  shadow.add(granule, record(7, 0xf0)); // more bytes of the same access
  ASSERT_EQ(shadow.records(granule).size(), 20u);
  EXPECT_EQ(shadow.records(granule)[6].bytes, 0xff);
  for (AccessRecord &each : shadow.records(granule)) {
    each.bytes = each.agent == 5 ? 1 : 0;
  }
  shadow.dropEmpty(granule);
  ASSERT_EQ(shadow.records(granule).size(), 1u);
  EXPECT_EQ(shadow.records(granule)[0].agent, 5u);
  EXPECT_TRUE(shadow.records(shadow.granule(18)).empty());
  shadow.forget();
  EXPECT_TRUE(shadow.records(shadow.granule(17)).empty());
}

TEST(Records, ListsAreUsedAgain) {
  Shadow shadow(1 << 16, true);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 4096; ++i) {
      Shadow::Granule &granule = shadow.granule(i);
      for (AgentId agent = 1; agent <= 4; ++agent) {
        shadow.add(granule, record(agent, 0xff));
      }
      ASSERT_EQ(shadow.records(granule).size(), 4u);
      for (AccessRecord &each : shadow.records(granule)) {
        each.bytes = 0;
      }
      shadow.dropEmpty(granule);
      EXPECT_EQ(granule.outside, 0u);
    }
  }
}

TEST(Records, AgentsOfBytes) {
  auto agents = [](const AccessRecord &record, uint16_t bytes) {
    std::vector<std::pair<AgentId, uint16_t>> result;
    EXPECT_TRUE(allAgents(record, bytes, [&](AgentId agent, uint16_t own) {
      result.emplace_back(agent, own);
      return true;
    }));
    return result;
  };
  using Expected = std::vector<std::pair<AgentId, uint16_t>>;
  AccessRecord one = record(9, 0xffff);
  EXPECT_EQ(agents(one, 0x0ff0), (Expected{{9, 0x0ff0}}));
  AccessRecord strided = record(64, 0xffff); // four threads of four bytes
  strided.shift = 2;
  EXPECT_EQ(agents(strided, 0x00f8), (Expected{{64, 0x8}, {65, 0xf0}}));
  strided.shift = 0;
  EXPECT_EQ(agents(strided, 0x8001), (Expected{{64, 1}, {79, 0x8000}}));
  AccessRecord each = record(32, 0xf);
  each.shift = AccessRecord::kByEach;
  each.lanes = 0x80000001;
  EXPECT_EQ(agents(each, 0x3), (Expected{{32, 3}, {63, 3}}));
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

TEST(Clocks, JoinTakesTheLater) {
  Clock a, b;
  EXPECT_EQ(a.of(12345), 0u);
  a.raise(5, 3);
  a.raise(5000, 1);
  b.raise(5, 2);
  b.raise(6, 9);
  b.raise(70000, 4);
  Clock before = a;
  a.join(b);
  EXPECT_EQ(a.of(5), 3u);
  EXPECT_EQ(a.of(6), 9u);
  EXPECT_EQ(a.of(5000), 1u);
  EXPECT_EQ(a.of(70000), 4u);
  EXPECT_EQ(before.of(6), 0u); // the copy is another clock
  EXPECT_EQ(b.of(5000), 0u);
  a.raise(5, 1); // never back
  EXPECT_EQ(a.of(5), 3u);
}

TEST(Clocks, ShareWhereOneKnowsAllThatTheOtherDoes) {
  Clock a;
  a.raise(WarpLanes{64, 0xffff}, 3);
  Clock b = a;
  EXPECT_TRUE(a.sharesWith(b));
  b.raise(70, 5);
  EXPECT_FALSE(a.sharesWith(b));
  a.join(b);
  EXPECT_TRUE(a.sharesWith(b));
  Clock c;
  c.raise(64, 1);
  b.join(c);
  EXPECT_TRUE(a.sharesWith(b));
  EXPECT_EQ(b.of(64), 3u);
  EXPECT_EQ(b.of(79), 3u);
  EXPECT_EQ(b.of(80), 0u);
}

TEST_P(Drawn, ClocksAgainstMaps) {
  std::vector<Clock> clocks(6);
  std::vector<std::map<AgentId, Step32>> expected(6);
  for (int i = 0; i < 20000; ++i) {
    size_t a = random() % 6, b = random() % 6;
    AgentId agent = AgentId(random() % 20 * 1000);
    switch (random() % 4) {
    case 0: {
      Step32 step = Step32(random() % 100);
      clocks[a].raise(agent, step);
      expected[a][agent] = std::max(expected[a][agent], step);
      break;
    }
    case 1:
      clocks[a].join(clocks[b]);
      for (auto [agent, step] : expected[b]) {
        expected[a][agent] = std::max(expected[a][agent], step);
      }
      break;
    case 2:
      if (random() % 10 == 0) {
        clocks[a].clear();
        expected[a].clear();
      }
      break;
    default:
      EXPECT_EQ(clocks[a].of(agent), expected[a].count(agent) ? expected[a][agent] : 0);
    }
  }
}

TEST(SyncPoints, JoinAll) {
  SyncPoint point, other;
  Clock a, b;
  a.raise(1, 1);
  b.raise(2, 2);
  point.joinHappened(a);
  point.joinHappened(b);
  point.joinHappened(a);
  a.raise(1, 5); // not what was joined
  point.joinFenced(FencedSpace::Shared, b);
  EXPECT_EQ(point.knowledge().happened.of(1), 1u);
  EXPECT_EQ(point.knowledge().happened.of(2), 2u);
  EXPECT_EQ(point.knowledge().fenced[FencedSpace::Shared].of(1), 0u);
  point.joinHappened(a);
  other.join(point);
  point = {};
  EXPECT_EQ(other.knowledge().happened.of(1), 5u);
  EXPECT_EQ(other.knowledge().fenced[FencedSpace::Shared].of(2), 2u);
  EXPECT_TRUE(point.knowledge().happened.empty());
}

} // namespace
