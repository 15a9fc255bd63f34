// What lanes of a warp do together.
#include "ScalarTest.h"

#include <bit>

namespace tile_emu {
namespace {

Values lanes(uint64_t (*f)(uint64_t)) {
  Values values;
  for (uint64_t i = 0; i < 32; ++i) {
    values.push_back(f(i));
  }
  return values;
}
Values laneValues() {
  return lanes([](uint64_t i) { return 100 + i * i; });
}

/// The ISA's text of shfl.
TEST(Warp, Shuffles) {
  for (uint64_t c : {0x0, 0x1f, 0x1c1f, 0x181f, 0x100f, 0x1803}) {
    Values by = lanes([](uint64_t i) { return (i * 7 + 3) % 40; });
    for (const char *mode : {"up", "down", "bfly", "idx"}) {
      for (bool varying : {false, true}) {
        std::string code = std::string("shfl.sync.") + mode + ".b32 $d|%p1, $a, " +
                           (varying ? "$b" : "4") + ", " + std::to_string(c) +
                           ", -1; @%p1 add.u32 $d, $d, 100000;";
        Values results = evaluate(code, 32, {{32, laneValues()}, {32, by}});
        for (int lane = 0; lane < 32; ++lane) {
          int b = int(varying ? by[size_t(lane)] & 31 : 4), segment = int(c >> 8);
          int last = (lane & segment) | (int(c & 31) & ~segment), first = lane & segment;
          std::string name = mode;
          int from = name == "up"     ? lane - b
                     : name == "down" ? lane + b
                     : name == "bfly" ? lane ^ b
                                      : first | (b & ~segment);
          bool inRange = name == "up" ? from >= last : from <= last;
          uint64_t value = laneValues()[size_t(inRange ? from : lane)];
          EXPECT_EQ(results[size_t(lane)], value + (inRange ? 100000 : 0)) << code << lane;
        }
      }
    }
  }
}

TEST(Warp, ShuffleFromAbsentOrUndefinedLanes) {
  // Lanes 16 to 31 do not take part, but lane 3 reads from lane 19.
  TestKernel absent("mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 16; @%p1 bra END;\n"
                    "shfl.sync.down.b32 %r2, %r1, 16, 31, 0xffff;\n"
                    "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd1, %buf0;\n"
                    "setp.ne.u32 %p2, %r2, 0; @%p2 st.global.b32 [%rd1], %r2; END: ret;");
  absent.output("out", 128);
  absent.run();
  EXPECT_TRUE(absent.reported(Report::Kind::Uninitialised));
  // Only lane 5 has a value, and all read that one.
  TestKernel broadcast("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 mov.u32 %r2, 77;\n"
                       "shfl.sync.idx.b32 %r3, %r2, 5, 31, -1;\n"
                       "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd1, %buf0;\n"
                       "st.global.b32 [%rd1], %r3;");
  broadcast.output("out", 128);
  EXPECT_TRUE(broadcast.run());
  EXPECT_EQ(broadcast.describe(), "");
  EXPECT_EQ(broadcast.read<uint32_t>("out"), std::vector<uint32_t>(32, 77));
}

TEST(Warp, Votes) {
  struct Case {
    uint32_t votes;
    bool all, any, uni;
  };
  for (const Case &c : {Case{0, false, false, true}, Case{~0u, true, true, true},
                        Case{0x8000'0001, false, true, false}}) {
    Values values;
    for (unsigned i = 0; i < 32; ++i) {
      values.push_back(c.votes >> i & 1);
    }
    std::vector<Input> in = {{1, values}};
    EXPECT_EQ(evaluate("vote.sync.all.pred $d, $a, -1;", 1, in), Values(32, c.all));
    EXPECT_EQ(evaluate("vote.sync.any.pred $d, $a, -1;", 1, in), Values(32, c.any));
    EXPECT_EQ(evaluate("vote.sync.uni.pred $d, $a, -1;", 1, in), Values(32, c.uni));
    EXPECT_EQ(evaluate("vote.sync.ballot.b32 $d, $a, -1;", 32, in), Values(32, c.votes));
    EXPECT_EQ(evaluate("vote.sync.ballot.b32 $d, !$a, -1;", 32, in),
              Values(32, uint32_t(~c.votes)));
  }
}

TEST(Warp, PartsOfTheWarpVoteForThemselves) {
  Values results = evaluate("setp.lt.u32 %p1, $a, 12; mov.u32 %r1, 0xfff; @%p1 bra LOW;\n"
                            "not.b32 %r1, %r1; vote.sync.ballot.b32 $d, 1, %r1; bra JOIN;\n"
                            "LOW: activemask.b32 %r2; vote.sync.ballot.b32 $d, 1, %r1;\n"
                            "and.b32 $d, $d, %r2; JOIN: bar.warp.sync -1;",
                            32, {{32, lanes([](uint64_t i) { return i; })}});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(results[i], i < 12 ? 0xfff : 0xfffff000) << i;
  }
}

TEST(Warp, Matches) {
  Values values = lanes([](uint64_t i) { return i % 5 + (i % 5 == 2 ? uint64_t(1) << 40 : 0); });
  Values any = evaluate("match.any.sync.b64 $d, $a, -1;", 32, {{64, values}});
  for (size_t i = 0; i < 32; ++i) {
    uint64_t same = 0;
    for (size_t j = i % 5; j < 32; j += 5) {
      same |= uint64_t(1) << j;
    }
    EXPECT_EQ(any[i], same);
  }
  std::string all = "match.all.sync.b32 $d|%p1, $a, -1; @%p1 add.u32 $d, $d, 1;";
  EXPECT_EQ(evaluate(all, 32, {{32, Values(32, 7)}}), Values(32, 0));
  EXPECT_EQ(evaluate(all, 32, {{32, laneValues()}}), Values(32, 0));
  EXPECT_EQ(evaluate("match.all.sync.b32 $d, $a, -1;", 32, {{32, Values(32, 7)}}),
            Values(32, 0xffffffff));
}

TEST(Warp, Reductions) {
  Values values = integers(32, 32, 9);
  uint32_t sum = 0, conjunction = ~0u, disjunction = 0, parity = 0, least = ~0u;
  int32_t most = INT32_MIN;
  for (uint64_t v : values) {
    auto x = uint32_t(v);
    sum += x;
    conjunction &= x;
    disjunction |= x;
    parity ^= x;
    least = std::min(least, x);
    most = std::max(most, int32_t(x));
  }
  std::vector<Input> in = {{32, values}};
  EXPECT_EQ(evaluate("redux.sync.add.s32 $d, $a, -1;", 32, in), Values(32, sum));
  EXPECT_EQ(evaluate("redux.sync.and.b32 $d, $a, -1;", 32, in), Values(32, conjunction));
  EXPECT_EQ(evaluate("redux.sync.or.b32 $d, $a, -1;", 32, in), Values(32, disjunction));
  EXPECT_EQ(evaluate("redux.sync.xor.b32 $d, $a, -1;", 32, in), Values(32, parity));
  EXPECT_EQ(evaluate("redux.sync.min.u32 $d, $a, -1;", 32, in), Values(32, least));
  EXPECT_EQ(evaluate("redux.sync.max.s32 $d, $a, -1;", 32, in), Values(32, uint32_t(most)));
  Values reals(32, 0x3f800000);
  reals[4] = 0xc0400000; // -3
  reals[9] = 0x7fc00000;
  EXPECT_EQ(evaluate("redux.sync.min.f32 $d, $a, -1;", 32, {{32, reals}}), Values(32, 0xc0400000));
  EXPECT_EQ(evaluate("redux.sync.max.abs.f32 $d, $a, -1;", 32, {{32, reals}}),
            Values(32, 0x40400000));
  EXPECT_EQ(evaluate("redux.sync.min.NaN.f32 $d, $a, -1;", 32, {{32, reals}}),
            Values(32, 0x7fffffff));
}

TEST(Warp, Election) {
  Values results = evaluate("setp.lt.u32 %p1, $a, 8; @%p1 bra END;\n"
                            "elect.sync %r1|%p2, 0xffffff00; selp.u32 $d, 1, 2, %p2;\n"
                            "mad.lo.u32 $d, %r1, 10, $d; bra OUT; END: mov.u32 $d, 0; OUT:",
                            32, {{32, lanes([](uint64_t i) { return i; })}});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(results[i], i < 8 ? 0u : i == 8 ? 81u : 82u) << i;
  }
}

TEST(Warp, UnknownFormsAreRefused) {
  EXPECT_NE(refusal("shfl.up.b32 %r1, %r2, 1, 0;"), "");
  EXPECT_NE(refusal("redux.sync.add.b32 %r1, %r2, -1;"), "");
  EXPECT_NE(refusal("vote.sync.ballot.pred %p1, %p2, -1;"), "");
  EXPECT_NE(refusal("match.any.sync.b32 %r1|%p1, %r2, -1;"), "");
}

} // namespace
} // namespace tile_emu
