// cvt: every pair of types against exact values, and the packed forms.
#include "ScalarTest.h"
#include "runtime/support/Floats.h"

#include <bit>
#include <cmath>

namespace tile_emu {
namespace {

using tile_rt::decodeFloat, tile_rt::DType;
using Int = __int128;
constexpr size_t kCount = 1024;

struct NumberType {
  const char *name;
  unsigned bits;
  bool isSigned;

  unsigned registerBits() const { return bits == 8 ? 16 : bits; }
  uint64_t mask() const { return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
  Int value(uint64_t x) const {
    x &= mask();
    return isSigned && x >> (bits - 1) ? Int(x) - (Int(1) << bits) : Int(x);
  }
  Int clamp(Int x) const {
    Int least = isSigned ? -(Int(1) << (bits - 1)) : 0, most = (Int(1) << (bits - isSigned)) - 1;
    return x < least ? least : x > most ? most : x;
  }
  /// As it stands in a destination register: extended as its sign says.
  uint64_t inRegister(Int x) const {
    unsigned width = registerBits();
    Int extended = value(uint64_t(x) & mask());
    return uint64_t(extended) & (width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1);
  }
};
constexpr NumberType kIntegers[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                                    {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                                    {"u64", 64, false}, {"s64", 64, true}};

TEST(Convert, IntegersToIntegers) {
  for (const NumberType &from : kIntegers) {
    Input in{from.registerBits(), integers(from.registerBits(), kCount, from.bits)};
    for (const NumberType &to : kIntegers) {
      std::string types = std::string(".") + to.name + "." + from.name + " $d, $a;";
      expectEach("cvt" + types, to.registerBits(), {in},
                 [&](const uint64_t *x) { return to.inRegister(from.value(x[0])); });
      expectEach("cvt.sat" + types, to.registerBits(), {in},
                 [&](const uint64_t *x) { return to.inRegister(to.clamp(from.value(x[0]))); });
    }
  }
  // Into a wider register than the type.
  expectEach("cvt.s8.s32 $d, $a;", 32, {{32, integers(32, kCount, 3)}},
             [](const uint64_t *x) { return uint64_t(uint32_t(int8_t(x[0]))); });
  expectEach("cvt.u16.u64 %r1, $a; mov.b32 $d, %r1;", 32, {{64, integers(64, kCount, 3)}},
             [](const uint64_t *x) { return x[0] & 0xffff; });
}

struct FloatType {
  const char *name;
  unsigned bits, exponent, mantissa;
  DType type;
};
constexpr FloatType kFloats[] = {{"f16", 16, 5, 10, DType::F16},
                                 {"bf16", 16, 8, 7, DType::BF16},
                                 {"f32", 32, 8, 23, DType::F32},
                                 {"f64", 64, 11, 52, DType::F64}};

TEST(Convert, FloatsToIntegers) {
  using Round = double (*)(double);
  struct Mode {
    const char *name;
    Round round;
  };
  for (const FloatType &from : kFloats) {
    // f16 whole; others by samples.
    Values all;
    for (uint64_t i = 0; i < 65536; i += 13) {
      all.push_back(i);
    }
    Input in{from.bits, from.bits == 16 ? all : floats(from.exponent, from.mantissa, kCount, 7)};
    for (const Mode &mode : {Mode{"rni", [](double x) { return std::nearbyint(x); }},
                             Mode{"rzi", [](double x) { return std::trunc(x); }},
                             Mode{"rmi", [](double x) { return std::floor(x); }},
                             Mode{"rpi", [](double x) { return std::ceil(x); }}}) {
      for (const NumberType &to : kIntegers) {
        std::string code = std::string("cvt.") + mode.name + "." + to.name + "." + from.name;
        expectEach(code + " $d, $a;", to.registerBits(), {in}, [&](const uint64_t *x) {
          double value = decodeFloat(from.type, x[0]);
          if (std::isnan(value)) {
            bool wide = from.bits == 64 || to.bits == 64;
            return to.inRegister(wide ? Int(1) << (to.bits - 1) : 0);
          }
          value = mode.round(std::fmax(std::fmin(value, 0x1p70), -0x1p70));
          return to.inRegister(to.clamp(Int(value)));
        });
      }
    }
  }
}

/// Whether `result` is the rounding of `exact` in a direction: the neighbour on the other side is
/// beyond it, or not nearer.
bool isRounded(DType type, const std::string &mode, long double exact, uint64_t result) {
  auto value = [&](uint64_t bits) { return static_cast<long double>(decodeFloat(type, bits)); };
  long double got = value(result);
  if (got == exact) {
    return true;
  }
  if (std::isinf(got)) { // the neighbour is the largest finite value
    return (mode == "rn" || mode == (got > 0 ? "rp" : "rm")) && std::fabs(exact) > 60000;
  }
  bool up = got > exact, negative = std::signbit(static_cast<double>(got));
  uint64_t neighbour = result + (up == negative ? 1 : -1);
  if ((result & (~uint64_t(0) >> (65 - 8 * (type == DType::F64   ? 8
                                            : type == DType::F32 ? 4
                                                                 : 2)))) == 0 &&
      up != negative) {
    neighbour = result; // zero: the neighbour has the other sign, and is not between
    return false;
  }
  long double other = value(neighbour);
  bool between = up ? other < exact : other > exact;
  if (!between) {
    return false;
  }
  if (mode == "rn") {
    long double own = std::fabs(got - exact), its = std::fabs(other - exact);
    return own < its || (own == its && !(result & 1));
  }
  return mode == "rz" ? up == (exact < 0) : mode == "rp" ? up : !up;
}

TEST(Convert, IntegersToFloats) {
  for (const NumberType &from : kIntegers) {
    Input in{from.registerBits(), integers(from.registerBits(), kCount, 40 + from.bits)};
    for (const FloatType &to : kFloats) {
      for (const char *mode : {"rn", "rz", "rm", "rp"}) {
        std::string code =
            std::string("cvt.") + mode + "." + to.name + "." + from.name + " $d, $a;";
        Values results = evaluate(code, to.bits, {in});
        for (size_t i = 0; i < results.size(); ++i) {
          auto exact = static_cast<long double>(from.value(in.values[i]));
          ASSERT_TRUE(isRounded(to.type, mode, exact, results[i]))
              << code << in.values[i] << std::hex << " gives " << results[i];
        }
      }
    }
  }
}

TEST(Convert, NarrowingFloats) {
  for (size_t f = 2; f < 4; ++f) {
    const FloatType &from = kFloats[f];
    Input in{from.bits, floats(from.exponent, from.mantissa, kCount, 60)};
    for (uint64_t &x : in.values) { // NaN and infinities have their own test
      x = std::isfinite(decodeFloat(from.type, x)) ? x : 0;
    }
    for (size_t t = 0; t < f; ++t) {
      const FloatType &to = kFloats[t];
      for (const char *mode : {"rn", "rz", "rm", "rp"}) {
        if (to.type == DType::BF16 && (mode[1] == 'm' || mode[1] == 'p')) {
          continue;
        }
        std::string code =
            std::string("cvt.") + mode + "." + to.name + "." + from.name + " $d, $a;";
        Values results = evaluate(code, to.bits, {in});
        for (size_t i = 0; i < results.size(); ++i) {
          double exact = decodeFloat(from.type, in.values[i]);
          ASSERT_TRUE(isRounded(to.type, mode, exact, results[i]))
              << code << exact << std::hex << " gives " << results[i];
        }
      }
    }
  }
}

TEST(Convert, WideningIsExact) {
  Values all;
  for (uint64_t i = 0; i < 65536; ++i) {
    all.push_back(i);
  }
  Values wide = evaluate("cvt.f32.f16 $d, $a;", 32, {{16, all}});
  Values wider = evaluate("cvt.f64.bf16 $d, $a;", 64, {{16, all}});
  for (uint64_t i = 0; i < 65536; ++i) {
    double half = decodeFloat(DType::F16, i), brain = decodeFloat(DType::BF16, i);
    double gotHalf = decodeFloat(DType::F32, wide[i]), gotBrain = std::bit_cast<double>(wider[i]);
    ASSERT_TRUE(gotHalf == half || (std::isnan(half) && wide[i] == 0x7fffffff)) << i;
    ASSERT_TRUE(gotBrain == brain || (std::isnan(brain) && std::isnan(gotBrain))) << i;
  }
}

TEST(Convert, SpecialValuesAndModifiers) {
  uint64_t inf = 0x7f800000, nan = 0x7fc00000, one = 0x3f800000;
  auto f32 = [](const char *code, unsigned bits, Values values) {
    return evaluate(code, bits, {{32, values}});
  };
  EXPECT_EQ(f32("cvt.rn.f16.f32 $d, $a;", 16, {inf, 0xff800000, nan, 0x80000000, 0x47800000}),
            (Values{0x7c00, 0xfc00, 0x7fff, 0x8000, 0x7c00}));
  EXPECT_EQ(f32("cvt.rz.f16.f32 $d, $a;", 16, {inf, 0x47800000}), (Values{0x7c00, 0x7bff}));
  EXPECT_EQ(f32("cvt.rn.satfinite.f16.f32 $d, $a;", 16, {inf, 0xff800000, nan, 0x47800000}),
            (Values{0x7bff, 0xfbff, 0x7fff, 0x7bff}));
  EXPECT_EQ(f32("cvt.rn.relu.bf16.f32 $d, $a;", 16, {0xbf800000, one, nan}),
            (Values{0, 0x3f80, 0x7fff}));
  EXPECT_EQ(f32("cvt.sat.f32.f32 $d, $a;", 32, {0x40000000, 0xbf800000, nan, 0x3f000000}),
            (Values{one, 0, 0, 0x3f000000}));
  EXPECT_EQ(f32("cvt.ftz.f32.f32 $d, $a;", 32, {1, 0x80000001}), (Values{0, 0x80000000}));
  // What would be subnormal, had it been rounded with more exponents, is flushed.
  EXPECT_EQ(evaluate("cvt.rn.ftz.f32.f64 $d, $a;", 32,
                     {{64, {0x380fffffe0000000, 0xb80ffffff0000000, 0xb800000000000000}}}),
            (Values{0, 0x80800000, 0x80000000}));
  EXPECT_EQ(f32("cvt.rpi.s32.f32 $d, $a;", 32, {1}), (Values{1}));
  EXPECT_EQ(f32("cvt.rpi.ftz.s32.f32 $d, $a;", 32, {1}), (Values{0}));
  EXPECT_EQ(f32("cvt.rni.f32.f32 $d, $a;", 32, {0x40200000, 0x40600000, 0xbe800000}),
            (Values{0x40000000, 0x40800000, 0x80000000}));
  EXPECT_EQ(f32("cvt.rna.tf32.f32 $d, $a;", 32, {0x3f801000, 0x3f800fff, 0xbf801000, inf}),
            (Values{0x3f802000, one, 0xbf802000, inf}));
  EXPECT_EQ(f32("cvt.rn.tf32.f32 $d, $a;", 32, {0x3f801000, 0x3f803000}),
            (Values{one, 0x3f804000}));
}

TEST(Convert, PackedPairs) {
  // a goes to the upper half.
  std::vector<Input> in = {{32, {0x3f800000, 0x43e40000}}, {32, {0x40000000, 0xc7000000}}};
  EXPECT_EQ(evaluate("cvt.rn.f16x2.f32 $d, $a, $b;", 32, in), (Values{0x3c004000, 0x5f20f800}));
  EXPECT_EQ(evaluate("cvt.rn.bf16x2.f32 $d, $a, $b;", 32, in), (Values{0x3f804000, 0x43e4c700}));
  EXPECT_EQ(evaluate("cvt.rn.satfinite.e4m3x2.f32 $d, $a, $b;", 16, in), (Values{0x3840, 0x7efe}));
  EXPECT_EQ(evaluate("cvt.rn.satfinite.relu.e5m2x2.f32 $d, $a, $b;", 16, in),
            (Values{0x3c40, 0x5f00}));
  EXPECT_EQ(evaluate("cvt.rn.satfinite.e4m3x2.f16x2 $d, $a;", 16, {{32, {0x3c007e00}}}),
            (Values{0x387f}));
  EXPECT_EQ(
      evaluate("{.reg .b8 %x; cvt.rn.satfinite.e2m1x2.f32 %x, $a, $b; cvt.u32.u8 $d, %x;}", 32, in),
      (Values{0x24, 0x7f}));
  EXPECT_EQ(evaluate("cvt.rn.satfinite.e2m3x2.f32 $d, $a, $b;", 16, in), (Values{0x0810, 0x1f3f}));
  EXPECT_EQ(evaluate("cvt.rz.satfinite.ue8m0x2.f32 $d, $a, $b;", 16, in), (Values{0x7f80, 0x878e}));
  EXPECT_EQ(evaluate("cvt.rp.ue8m0x2.f32 $d, $a, $b;", 16, in), (Values{0x7f80, 0x888e}));
  EXPECT_EQ(evaluate("cvt.rn.bf16x2.ue8m0x2 $d, $a;", 32, {{16, {0x7f80, 0xff00}}}),
            (Values{0x3f804000, 0x7fff0040}));
  // Every e4m3 and e5m2 value, by its pair.
  Values bytes;
  for (uint64_t i = 0; i < 256; ++i) {
    bytes.push_back(i << 8 | (255 - i));
  }
  for (DType type : {DType::E4M3, DType::E5M2}) {
    std::string name = type == DType::E4M3 ? "e4m3x2" : "e5m2x2";
    Values results = evaluate("cvt.rn.f16x2." + name + " $d, $a;", 32, {{16, bytes}});
    for (uint64_t i = 0; i < 256; ++i) {
      double high = decodeFloat(type, i), got = decodeFloat(DType::F16, results[i] >> 16);
      EXPECT_TRUE(got == high || (std::isnan(got) && std::isnan(high))) << name << i;
      EXPECT_EQ(results[i] & 0xffff, results[255 - i] >> 16);
    }
  }
}

TEST(Convert, PackOfIntegers) {
  Values a = {5, uint32_t(-5), 40000, uint32_t(-40000)}, b = {300, 7, uint32_t(-1), 70000};
  std::vector<Input> in = {{32, a}, {32, b}};
  EXPECT_EQ(evaluate("cvt.pack.sat.s16.s32 $d, $a, $b;", 32, in),
            (Values{0x0005012c, 0xfffb0007, 0x7fffffff, 0x80007fff}));
  EXPECT_EQ(evaluate("cvt.pack.sat.u8.s32.b32 $d, $a, $b, 0x1234;", 32, in),
            (Values{0x123405ff, 0x12340007, 0x1234ff00, 0x123400ff}));
  EXPECT_EQ(evaluate("cvt.pack.sat.s4.s32.b32 $d, $a, $b, 1;", 32, in),
            (Values{0x157, 0x1b7, 0x17f, 0x187}));
}

TEST(Convert, UnknownFormsAreRefused) {
  EXPECT_NE(refusal("cvt.f16.f32 %h1, %f1;"), "");
  EXPECT_NE(refusal("cvt.rn.s32.f32 %r1, %f1;"), "");
  EXPECT_NE(refusal("cvt.rn.u32.u16 %r1, %h1;"), "");
  EXPECT_NE(refusal("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;"), "");
  EXPECT_NE(refusal("cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;"), "");
  EXPECT_NE(refusal("cvt.rn.f32.tf32 %f1, %r1;"), "");
  EXPECT_NE(refusal("cvt.rna.f16.f32 %h1, %f1;"), "");
  EXPECT_NE(refusal("cvt.rn.satfinite.e4m3x2.e5m2x2 %h1, %h2;"), "");
  EXPECT_NE(refusal("cvt.s32.s64 %q1, %rd1;"), "");
}

} // namespace
} // namespace tile_emu
