// Logic, shifts, fields of bits, comparisons and moves, against the ISA's loops over bits.
#include "ScalarTest.h"

namespace tile_emu {
namespace {

constexpr size_t kCount = 512;

Input words(uint64_t seed, unsigned bits = 32) { return {bits, integers(bits, kCount, seed)}; }
/// Numbers around the widths, and large ones.
Input amounts(uint64_t seed) {
  std::mt19937_64 random(seed);
  Values values;
  for (size_t i = 0; i < kCount; ++i) {
    values.push_back(i % 8 ? random() % 70 : uint32_t(random()));
  }
  return {32, values};
}

TEST(Bits, Logic) {
  for (unsigned bits : {16u, 32u, 64u}) {
    std::string type = ".b" + std::to_string(bits) + " $d, $a, $b;";
    std::vector<Input> in = {words(1, bits), words(2, bits)};
    uint64_t mask = ~uint64_t(0) >> (64 - bits);
    expectEach("and" + type, bits, in, [](const uint64_t *x) { return x[0] & x[1]; });
    expectEach("or" + type, bits, in, [](const uint64_t *x) { return x[0] | x[1]; });
    expectEach("xor" + type, bits, in, [](const uint64_t *x) { return x[0] ^ x[1]; });
    type = ".b" + std::to_string(bits) + " $d, $a;";
    expectEach("not" + type, bits, {in[0]}, [&](const uint64_t *x) { return ~x[0] & mask; });
    expectEach("cnot" + type, bits, {in[0]}, [](const uint64_t *x) { return uint64_t(!x[0]); });
  }
  Input p{1, {0, 0, 1, 1}}, q{1, {0, 1, 0, 1}};
  expectEach("xor.pred $d, $a, $b;", 1, {p, q}, [](const uint64_t *x) { return x[0] ^ x[1]; });
  expectEach("not.pred $d, $a;", 1, {p}, [](const uint64_t *x) { return uint64_t(!x[0]); });
}

TEST(Bits, Lop3EveryTable) {
  Values a(32, 0xf0), b(32, 0xcc), c(32, 0xaa);
  for (unsigned table = 0; table < 256; table += 5) {
    expectEach("lop3.b32 $d, $a, $b, $c, " + std::to_string(table) + ";", 32,
               {{32, a}, {32, b}, {32, c}},
               [&](const uint64_t *) { return uint64_t(table | (table & 1 ? 0xffffff00 : 0)); });
  }
}

TEST(Bits, ShiftsClamp) {
  for (unsigned bits : {16u, 32u, 64u}) {
    const std::string rest = std::to_string(bits) + " $d, $a, $b;";
    uint64_t mask = ~uint64_t(0) >> (64 - bits);
    std::vector<Input> in = {words(3, bits), amounts(4)};
    expectEach("shl.b" + rest, bits, in,
               [&](const uint64_t *x) { return x[1] >= bits ? 0 : (x[0] << x[1]) & mask; });
    expectEach("shr.u" + rest, bits, in,
               [&](const uint64_t *x) { return x[1] >= bits ? 0 : x[0] >> x[1]; });
    expectEach("shr.s" + rest, bits, in, [&](const uint64_t *x) {
      bool negative = x[0] >> (bits - 1) & 1;
      uint64_t n = std::min<uint64_t>(x[1], bits - 1);
      return (x[0] >> n | (negative ? ~(mask >> n) & mask : 0)) & mask;
    });
  }
}

TEST(Bits, FunnelShifts) {
  for (bool right : {false, true}) {
    for (bool wrap : {false, true}) {
      std::string name = std::string("shf.") + (right ? "r" : "l") + (wrap ? ".wrap" : ".clamp");
      expectEach(name + ".b32 $d, $a, $b, $c;", 32, {words(5), words(6), amounts(7)},
                 [&](const uint64_t *x) {
                   uint64_t n = wrap ? x[2] % 32 : std::min<uint64_t>(x[2], 32), result = 0;
                   for (unsigned i = 0; i < 32; ++i) { // bit i of the result
                     uint64_t from = right ? i + n : i + 32 - n;
                     uint64_t both = x[1] << 32 | x[0];
                     result |= (both >> from & 1) << i;
                   }
                   return result;
                 });
    }
  }
}

TEST(Bits, Counting) {
  for (unsigned bits : {32u, 64u}) {
    std::string type = ".b" + std::to_string(bits) + " $d, $a;";
    Input in = words(8, bits);
    auto leading = [bits](uint64_t x) {
      uint64_t n = 0;
      while (n < bits && !(x >> (bits - 1 - n) & 1)) {
        ++n;
      }
      return n;
    };
    expectEach("clz" + type, 32, {in}, [&](const uint64_t *x) { return leading(x[0]); });
    expectEach("popc" + type, 32, {in}, [&](const uint64_t *x) {
      uint64_t n = 0;
      for (unsigned i = 0; i < bits; ++i) {
        n += x[0] >> i & 1;
      }
      return n;
    });
    expectEach("brev" + type, bits, {in}, [&](const uint64_t *x) {
      uint64_t result = 0;
      for (unsigned i = 0; i < bits; ++i) {
        result |= (x[0] >> i & 1) << (bits - 1 - i);
      }
      return result;
    });
    for (bool isSigned : {false, true}) {
      type = (isSigned ? ".s" : ".u") + std::to_string(bits) + " $d, $a;";
      auto zeros = [&](uint64_t x) {
        uint64_t mask = ~uint64_t(0) >> (64 - bits);
        return leading(isSigned && x >> (bits - 1) ? ~x & mask : x);
      };
      expectEach("bfind" + type, 32, {in}, [&](const uint64_t *x) {
        return zeros(x[0]) == bits ? 0xffffffff : bits - 1 - zeros(x[0]);
      });
      expectEach("bfind.shiftamt" + type, 32, {in},
                 [&](const uint64_t *x) { return zeros(x[0]) == bits ? 0xffffffff : zeros(x[0]); });
    }
  }
}

/// The ISA's loops, for positions and lengths below 256.
TEST(Bits, Fields) {
  for (unsigned bits : {32u, 64u}) {
    Input position = amounts(9), length = amounts(10);
    for (Input *input : {&position, &length}) {
      for (uint64_t &value : input->values) {
        value &= 0xff;
      }
    }
    for (bool isSigned : {false, true}) {
      std::string type = (isSigned ? ".s" : ".u") + std::to_string(bits);
      expectEach("bfe" + type + " $d, $a, $b, $c;", bits, {words(11, bits), position, length},
                 [&](const uint64_t *x) {
                   uint64_t last = std::min<uint64_t>(x[1] + x[2] - 1, bits - 1), result = 0;
                   bool sign = isSigned && x[2] != 0 && (x[0] >> last & 1);
                   for (uint64_t i = 0; i < bits; ++i) {
                     bool inside = i < x[2] && x[1] + i < bits;
                     result |= uint64_t(inside ? x[0] >> (x[1] + i) & 1 : sign) << i;
                   }
                   return result;
                 });
    }
    expectEach("bfi.b" + std::to_string(bits) + " $d, $a, $b, $c, $e;", bits,
               {words(12, bits), words(13, bits), position, length}, [&](const uint64_t *x) {
                 uint64_t result = x[1];
                 for (uint64_t i = 0; i < x[3] && x[2] + i < bits; ++i) {
                   uint64_t bit = uint64_t(1) << (x[2] + i);
                   result = x[0] >> i & 1 ? result | bit : result & ~bit;
                 }
                 return result;
               });
  }
}

TEST(Bits, MasksAndExtension) {
  for (bool clamp : {false, true}) {
    std::string mode = clamp ? ".clamp" : ".wrap";
    expectEach("bmsk" + mode + ".b32 $d, $a, $b;", 32, {amounts(14), amounts(15)},
               [&](const uint64_t *x) {
                 uint64_t from = clamp ? x[0] : x[0] % 32, length = clamp ? x[1] : x[1] % 32;
                 uint64_t result = 0;
                 for (uint64_t i = from; i < 32 && i < from + length; ++i) {
                   result |= uint64_t(1) << i;
                 }
                 return result;
               });
    expectEach("szext" + mode + ".s32 $d, $a, $b;", 32, {words(16), amounts(17)},
               [&](const uint64_t *x) {
                 uint64_t n = clamp ? std::min<uint64_t>(x[1], 32) : x[1] % 32;
                 if (n == 0 || n == 32) {
                   return n ? x[0] : 0;
                 }
                 return uint64_t(uint32_t(int32_t(uint32_t(x[0] << (32 - n))) >> (32 - n)));
               });
  }
  Values masks = {0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0x80000000, 0};
  Values bases = {0, 0, 1, 0, 7, 7, 31, 5};
  Values offsets = {1, 3, 0, 9, uint32_t(-2), 0, uint32_t(-1), 1};
  Values expected = {0, 5, ~0u, ~0u, 5, 7, 31, ~0u};
  EXPECT_EQ(evaluate("fns.b32 $d, $a, $b, $c;", 32, {{32, masks}, {32, bases}, {32, offsets}}),
            expected);
}

TEST(Bits, Permutation) {
  // Bytes of {b, a} are their own numbers, so a result shows where each came from.
  struct Mode {
    const char *name;
    uint32_t results[4]; ///< by selector
  };
  for (const Mode &mode : {Mode{".f4e", {0x03020100, 0x04030201, 0x05040302, 0x06050403}},
                           Mode{".b4e", {0x05060700, 0x06070001, 0x07000102, 0x00010203}},
                           Mode{".rc8", {0, 0x01010101, 0x02020202, 0x03030303}},
                           Mode{".ecl", {0x03020100, 0x03020101, 0x03020202, 0x03030303}},
                           Mode{".ecr", {0, 0x01010100, 0x02020100, 0x03020100}},
                           Mode{".rc16", {0x01000100, 0x03020302, 0x01000100, 0x03020302}}}) {
    Values expected(mode.results, mode.results + 4);
    EXPECT_EQ(evaluate(std::string("prmt.b32") + mode.name + " $d, 0x03020100, 0x07060504, $a;", 32,
                       {{32, {0, 1, 2, 3}}}),
              expected)
        << mode.name;
  }
  EXPECT_EQ(
      evaluate("prmt.b32 $d, 0x83020100, 0x07068504, $a;", 32, {{32, {0x7610, 0xb0d0, 0xf8f8}}}),
      (Values{0x07060100, 0xff00ff00, 0x00000000}));
}

TEST(Bits, MovesPackAndUnpack) {
  std::vector<Input> in = {words(20, 64), words(21, 64)};
  expectEach("mov.b64 {%r1, %r2}, $a; mov.b64 $d, {%r2, %r1};", 64, {in[0]},
             [](const uint64_t *x) { return x[0] << 32 | x[0] >> 32; });
  expectEach("mov.b64 {%h1, _, %h3, %h4}, $a; mov.b64 $d, {%h4, %h3, %h1, 7};", 64, {in[0]},
             [](const uint64_t *x) {
               return x[0] >> 48 | (x[0] >> 32 & 0xffff) << 16 | (x[0] & 0xffff) << 32 |
                      uint64_t(7) << 48;
             });
  expectEach("mov.b128 %q1, {$a, $b}; mov.b128 %q2, %q1; mov.b128 {%rd1, %rd2}, %q2;\n"
             "sub.u64 $d, %rd1, %rd2;",
             64, in, [](const uint64_t *x) { return x[0] - x[1]; });
  expectEach("mov.pred %p1, $a; mov.pred $d, !%p1;", 1, {{1, {0, 1}}},
             [](const uint64_t *x) { return uint64_t(!x[0]); });
}

TEST(Bits, ComparisonsAndSelection) {
  std::vector<Input> in = {words(22), words(23), {1, integers(1, kCount, 24)}};
  in[1].values[7] = in[0].values[7];
  for (bool negated : {false, true}) {
    std::string c = negated ? "!$c" : "$c";
    expectEach("setp.lt.and.s32 %p1|%p2, $a, $b, " + c +
                   "; selp.u32 $d, 1, 0, %p1;\n"
                   "@%p2 add.u32 $d, $d, 2;",
               32, in, [&](const uint64_t *x) {
                 bool less = int32_t(x[0]) < int32_t(x[1]), with = bool(x[2]) != negated;
                 return uint64_t((less && with) + 2 * (!less && with));
               });
  }
  expectEach("setp.hs.xor.u32 $d, $a, $b, $c;", 1, in,
             [](const uint64_t *x) { return uint64_t((x[0] >= x[1]) != bool(x[2])); });
  expectEach("set.ne.or.f32.u32 $d, $a, $b, $c;", 32, in,
             [](const uint64_t *x) { return x[0] != x[1] || x[2] ? 0x3f800000u : 0u; });
  expectEach("slct.u32.s32 $d, $a, $b, %r53;", 32, {in[0], in[1], words(3), words(25)},
             [](const uint64_t *x) { return int32_t(x[3]) >= 0 ? x[0] : x[1]; });
  // -0 and NaN as selectors.
  EXPECT_EQ(evaluate("slct.u32.f32 $d, 1, 2, $a;", 32,
                     {{32, {0x80000000, 0x7fffffff, 0xbf800000, 0x3f800000, 0x80000001}}}),
            (Values{1, 2, 2, 1, 2}));
  EXPECT_EQ(evaluate("slct.ftz.u32.f32 $d, 1, 2, $a;", 32, {{32, {0x80000001}}}), (Values{1}));
}

/// Only the chosen value needs to be defined.
TEST(Bits, SelectionOfUndefinedValues) {
  Values one = {1};
  EXPECT_EQ(evaluate("selp.b32 $d, $b, %r99, $a;", 32, {{1, one}, {32, {5}}}), (Values{5}));
  TestKernel kernel("setp.ne.u32 %p1, 0, 0; selp.b32 %r1, 5, %r99, %p1; st.global.b32 [%buf0], %r1;"
                    "setp.ne.u32 %p2, %r1, 0; @%p2 st.global.b32 [%buf0], 1;");
  kernel.output("out", 4);
  kernel.run();
  EXPECT_TRUE(kernel.reported(Report::Kind::Uninitialised));
}

} // namespace
} // namespace tile_emu
