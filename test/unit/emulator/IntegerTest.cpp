// Integer arithmetic and bits, against formulas on 128-bit integers and the ISA's loops over bits.
#include "ScalarTest.h"

namespace tile_emu {
namespace {

using Int = __int128;
constexpr size_t kCount = 512;

struct IntegerType {
  const char *name;
  unsigned bits;
  bool isSigned;

  Int value(uint64_t x) const {
    uint64_t masked = bits == 64 ? x : x & ((uint64_t(1) << bits) - 1);
    return isSigned && masked >> (bits - 1) ? Int(masked) - (Int(1) << bits) : Int(masked);
  }
  uint64_t wrap(Int x) const {
    return bits == 64 ? uint64_t(x) : uint64_t(x) & ((1ull << bits) - 1);
  }
  Int min() const { return isSigned ? -(Int(1) << (bits - 1)) : 0; }
  Int max() const { return (Int(1) << (bits - isSigned)) - 1; }
  Int clamp(Int x) const { return x < min() ? min() : x > max() ? max() : x; }
};
constexpr IntegerType kTypes[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                  {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};
constexpr IntegerType kS32 = kTypes[3];

std::vector<Input> inputs(const IntegerType &t, size_t n) {
  std::vector<Input> result;
  result.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    result.push_back({t.bits, integers(t.bits, kCount, 10 * t.bits + i)});
  }
  return result;
}

std::string named(const std::string &instruction, const IntegerType &t, const char *operands) {
  return instruction + "." + t.name + " " + operands + ";";
}

TEST(Integer, Arithmetic) {
  for (const IntegerType &t : kTypes) {
    using Formula = Int (*)(Int, Int);
    struct Case {
      const char *name;
      Formula formula;
    };
    for (Case c : {Case{"add", [](Int a, Int b) { return a + b; }},
                   Case{"sub", [](Int a, Int b) { return a - b; }},
                   Case{"min", [](Int a, Int b) { return a < b ? a : b; }},
                   Case{"max", [](Int a, Int b) { return a > b ? a : b; }},
                   Case{"div", [](Int a, Int b) { return b ? a / b : -1; }},
                   Case{"rem", [](Int a, Int b) { return b ? a % b : -1; }}}) {
      expectEach(named(c.name, t, "$d, $a, $b"), t.bits, inputs(t, 2), [&](const uint64_t *x) {
        return t.wrap(c.formula(t.value(x[0]), t.value(x[1])));
      });
    }
    expectEach(named("sad", t, "$d, $a, $b, $c"), t.bits, inputs(t, 3), [&](const uint64_t *x) {
      Int difference = t.value(x[0]) - t.value(x[1]);
      return t.wrap(t.value(x[2]) + (difference < 0 ? -difference : difference));
    });
  }
}

/// The full product, of 128-bit numbers too: high and low half.
TEST(Integer, Products) {
  auto product = [](const IntegerType &t, uint64_t a, uint64_t b) {
    if (t.isSigned) {
      return static_cast<unsigned __int128>(t.value(a) * t.value(b));
    }
    return static_cast<unsigned __int128>(t.value(a)) * static_cast<unsigned __int128>(t.value(b));
  };
  for (const IntegerType &t : kTypes) {
    auto low = [&](const uint64_t *x) { return t.wrap(Int(product(t, x[0], x[1]))); };
    auto high = [&](const uint64_t *x) { return t.wrap(Int(product(t, x[0], x[1]) >> t.bits)); };
    expectEach(named("mul.lo", t, "$d, $a, $b"), t.bits, inputs(t, 2), low);
    expectEach(named("mul.hi", t, "$d, $a, $b"), t.bits, inputs(t, 2), high);
    expectEach(named("mad.lo", t, "$d, $a, $b, $c"), t.bits, inputs(t, 3),
               [&](const uint64_t *x) { return t.wrap(Int(low(x)) + Int(x[2])); });
    expectEach(named("mad.hi", t, "$d, $a, $b, $c"), t.bits, inputs(t, 3),
               [&](const uint64_t *x) { return t.wrap(Int(high(x)) + Int(x[2])); });
    if (t.bits == 64) {
      continue;
    }
    IntegerType wide{"", 2 * t.bits, t.isSigned};
    expectEach(named("mul.wide", t, "$d, $a, $b"), wide.bits, inputs(t, 2),
               [&](const uint64_t *x) { return wide.wrap(Int(product(t, x[0], x[1]))); });
    std::vector<Input> three = inputs(t, 2);
    three.push_back({wide.bits, integers(wide.bits, kCount, 5)});
    expectEach(named("mad.wide", t, "$d, $a, $b, $c"), wide.bits, three, [&](const uint64_t *x) {
      return wide.wrap(Int(product(t, x[0], x[1])) + Int(x[2]));
    });
  }
}

TEST(Integer, Saturation) {
  expectEach("add.sat.s32 $d, $a, $b;", 32, inputs(kS32, 2), [](const uint64_t *x) {
    return kS32.wrap(kS32.clamp(kS32.value(x[0]) + kS32.value(x[1])));
  });
  expectEach("sub.sat.s32 $d, $a, $b;", 32, inputs(kS32, 2), [](const uint64_t *x) {
    return kS32.wrap(kS32.clamp(kS32.value(x[0]) - kS32.value(x[1])));
  });
  expectEach("max.relu.s32 $d, $a, $b;", 32, inputs(kS32, 2), [](const uint64_t *x) {
    return kS32.wrap(std::max({kS32.value(x[0]), kS32.value(x[1]), Int(0)}));
  });
  expectEach("min.relu.s16x2 $d, $a, $b;", 32, inputs(kS32, 2), [](const uint64_t *x) {
    uint64_t result = 0;
    for (unsigned i : {0, 16}) {
      Int least = std::min(kTypes[1].value(x[0] >> i), kTypes[1].value(x[1] >> i));
      result |= kTypes[1].wrap(std::max(least, Int(0))) << i;
    }
    return result;
  });
}

TEST(Integer, SignAndSmallProducts) {
  for (const IntegerType &t : {kTypes[1], kTypes[3], kTypes[5]}) {
    expectEach(named("neg", t, "$d, $a"), t.bits, inputs(t, 1),
               [&](const uint64_t *x) { return t.wrap(-t.value(x[0])); });
    expectEach(named("abs", t, "$d, $a"), t.bits, inputs(t, 1), [&](const uint64_t *x) {
      return t.wrap(t.value(x[0]) < 0 ? -t.value(x[0]) : t.value(x[0]));
    });
  }
  for (bool isSigned : {false, true}) {
    IntegerType t{"", 24, isSigned}, half{"", 16, isSigned}, byte{"", 8, isSigned};
    std::string type = isSigned ? ".s32" : ".u32";
    expectEach("mad24.hi" + type + " $d, $a, $b, $c;", 32, inputs(kS32, 3), [&](const uint64_t *x) {
      return kS32.wrap((t.value(x[0]) * t.value(x[1]) >> 16) + Int(x[2]));
    });
    expectEach("mul24.lo" + type + " $d, $a, $b;", 32, inputs(kS32, 2),
               [&](const uint64_t *x) { return kS32.wrap(t.value(x[0]) * t.value(x[1])); });
    expectEach("dp4a" + type + ".s32 $d, $a, $b, $c;", 32, inputs(kS32, 3), [&](const uint64_t *x) {
      Int sum = Int(x[2]);
      for (unsigned i = 0; i < 32; i += 8) {
        sum += byte.value(x[0] >> i) * IntegerType{"", 8, true}.value(x[1] >> i);
      }
      return kS32.wrap(sum);
    });
    const std::string both = type + type;
    expectEach("dp2a.hi" + both + " $d, $a, $b, $c;", 32, inputs(kS32, 3), [&](const uint64_t *x) {
      return kS32.wrap(Int(x[2]) + half.value(x[0]) * byte.value(x[1] >> 16) +
                       half.value(x[0] >> 16) * byte.value(x[1] >> 24));
    });
  }
}

/// 128-bit sums, differences and products from 32-bit pieces.
TEST(Integer, Carries) {
  std::vector<Input> in = {{64, integers(64, kCount, 1)}, {64, integers(64, kCount, 2)}};
  std::string split = "mov.b64 {%r1, %r2}, $a; mov.b64 {%r3, %r4}, $b;\n";
  expectEach(split + "add.cc.u32 %r1, %r1, %r3; addc.u32 %r2, %r2, %r4; mov.b64 $d, {%r1, %r2};",
             64, in, [](const uint64_t *x) { return x[0] + x[1]; });
  expectEach(split + "sub.cc.s32 %r1, %r1, %r3; subc.cc.s32 %r2, %r2, %r4; mov.b64 $d, {%r1, %r2};",
             64, in, [](const uint64_t *x) { return x[0] - x[1]; });
  // The carry out of all 64 bits.
  expectEach(split + "add.cc.u32 %r1, %r1, %r3; addc.cc.u32 %r2, %r2, %r4; addc.u32 $d, 0, 0;", 32,
             in, [](const uint64_t *x) { return uint64_t(x[0] + x[1] < x[0]); });
  // A product's high half by its pieces.
  expectEach(split + "mul.hi.u32 %r5, %r1, %r3; mad.lo.cc.u32 %r5, %r1, %r4, %r5;\n"
                     "madc.hi.u32 %r6, %r1, %r4, 0; mad.lo.cc.u32 %r5, %r2, %r3, %r5;\n"
                     "madc.hi.cc.u32 %r6, %r2, %r3, %r6; addc.u32 %r7, 0, 0;\n"
                     "mad.lo.cc.u32 %r6, %r2, %r4, %r6; madc.hi.u32 %r7, %r2, %r4, %r7;\n"
                     "mov.b64 $d, {%r6, %r7};",
             64, in, [](const uint64_t *x) {
               return uint64_t(static_cast<unsigned __int128>(x[0]) * x[1] >> 64);
             });
}

TEST(Integer, UnknownFormsAreRefused) {
  EXPECT_NE(refusal("add.sat.u32 %r1, %r2, %r3;"), "");
  EXPECT_NE(refusal("add.u8 %h1, %h2, %h3;"), "");
  EXPECT_NE(refusal("mul.u32 %r1, %r2, %r3;"), "");
  EXPECT_NE(refusal("max.relu.u32 %r1, %r2, %r3;"), "");
  EXPECT_NE(refusal("add.u32 %r1, %r2;"), "");
  EXPECT_NE(refusal("add.u32 %rd1, %r2, %r3;"), "");
  EXPECT_NE(refusal("shf.l.b32 %r1, %r2, %r3, %r4;"), "");
  EXPECT_NE(refusal("lop3.b32 %r1, %r2, %r3, %r4, 256;"), "");
}

} // namespace
} // namespace tile_emu
