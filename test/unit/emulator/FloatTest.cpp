// Floating-point arithmetic against the host's, against exact integers, and against the ISA's rules
// for special values.
#include "ScalarTest.h"
#include "runtime/support/Floats.h"

#include <bit>
#include <cfenv>
#include <cmath>

namespace tile_emu {
namespace {

using tile_rt::decodeFloat, tile_rt::DType;
constexpr size_t kCount = 1024;

float f32(uint64_t bits) { return std::bit_cast<float>(uint32_t(bits)); }
double f64(uint64_t bits) { return std::bit_cast<double>(bits); }
uint64_t bitsOf(float x) { return std::isnan(x) ? 0x7fffffff : std::bit_cast<uint32_t>(x); }
uint64_t bitsOf(double x) { return std::bit_cast<uint64_t>(x); }

std::vector<Input> inputsF32(size_t n, uint64_t seed) {
  std::vector<Input> result;
  result.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    result.push_back({32, floats(8, 23, kCount, seed + i)});
  }
  return result;
}
std::vector<Input> inputsF64(size_t n, uint64_t seed) {
  std::vector<Input> result;
  result.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    result.push_back({64, floats(11, 52, kCount, seed + i)});
  }
  return result;
}

/// The host's directions are another way to the same results: single operations of its f32.
struct Direction {
  const char *name;
  int host;
};
constexpr Direction kDirections[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

template <typename T, typename F>
uint64_t hostResult(const Direction &direction, F f) {
  std::fesetround(direction.host);
  volatile T result = f();
  std::fesetround(FE_TONEAREST);
  return bitsOf(T{result});
}

TEST(Float, EveryDirectionF32) {
  for (const Direction &r : kDirections) {
    std::string suffix = std::string(".") + r.name + ".f32 $d, $a";
    expectEach("add" + suffix + ", $b;", 32, inputsF32(2, 1), [&](const uint64_t *x) {
      volatile float a = f32(x[0]), b = f32(x[1]);
      return hostResult<float>(r, [&] { return a + b; });
    });
    expectEach("sub" + suffix + ", $b;", 32, inputsF32(2, 3), [&](const uint64_t *x) {
      volatile float a = f32(x[0]), b = f32(x[1]);
      return hostResult<float>(r, [&] { return a - b; });
    });
    expectEach("mul" + suffix + ", $b;", 32, inputsF32(2, 5), [&](const uint64_t *x) {
      volatile float a = f32(x[0]), b = f32(x[1]);
      return hostResult<float>(r, [&] { return a * b; });
    });
    expectEach("fma" + suffix + ", $b, $c;", 32, inputsF32(3, 7), [&](const uint64_t *x) {
      volatile float a = f32(x[0]), b = f32(x[1]), c = f32(x[2]);
      return hostResult<float>(r, [&] { return std::fma(float{a}, float{b}, float{c}); });
    });
    expectEach("div" + suffix + ", $b;", 32, inputsF32(2, 9), [&](const uint64_t *x) {
      volatile float a = f32(x[0]), b = f32(x[1]);
      return hostResult<float>(r, [&] { return a / b; });
    });
    expectEach("rcp" + suffix + ";", 32, inputsF32(1, 11), [&](const uint64_t *x) {
      volatile float a = f32(x[0]);
      return hostResult<float>(r, [&] { return 1.0f / a; });
    });
    expectEach("sqrt" + suffix + ";", 32, inputsF32(1, 12), [&](const uint64_t *x) {
      volatile float a = f32(x[0]);
      return hostResult<float>(r, [&] { return std::sqrt(float{a}); });
    });
  }
}

/// f64, where the host's own result in a direction must lie at most one step from the nearest, on
/// the right side of it.
TEST(Float, EveryDirectionF64) {
  auto operands = inputsF64(3, 20);
  for (Input &input : operands) { // NaN has its own test
    for (uint64_t &value : input.values) {
      value = std::isnan(f64(value)) ? bitsOf(1.5) : value;
    }
  }
  for (const char *code :
       {"add.%s.f64 $d, $a, $b;", "mul.%s.f64 $d, $a, $b;", "fma.%s.f64 $d, $a, $b, $c;",
        "div.%s.f64 $d, $a, $b;", "sqrt.%s.f64 $d, $a;"}) {
    Values results[4];
    for (int i = 0; i < 4; ++i) {
      char text[40];
      std::snprintf(text, sizeof text, code, kDirections[i].name);
      bool one = std::string(code).find("$b") == std::string::npos;
      bool three = std::string(code).find("$c") != std::string::npos;
      std::vector<Input> in(operands.begin(), operands.begin() + (one ? 1 : three ? 3 : 2));
      results[i] = evaluate(text, 64, in);
    }
    for (size_t i = 0; i < kCount; ++i) {
      double nearest = f64(results[0][i]), zero = f64(results[1][i]), down = f64(results[2][i]),
             up = f64(results[3][i]);
      if (std::isnan(nearest)) {
        EXPECT_TRUE(std::isnan(up) && std::isnan(down) && std::isnan(zero)) << code;
        continue;
      }
      EXPECT_LE(down, up) << code;
      EXPECT_TRUE(down == up || std::nextafter(down, up) == up) << code << nearest;
      EXPECT_TRUE(nearest == down || nearest == up) << code << nearest;
      EXPECT_EQ(zero, std::fabs(down) < std::fabs(up) ? down : up) << code << nearest;
    }
  }
}

/// NaN of f64 keep their payload and become quiet; the one that instructions make is negative.
TEST(Float, NanOfF64) {
  uint64_t signalling = 0x7ff0000000000123, quiet = 0x7ff8000000000123, one = bitsOf(1.0),
           infinity = bitsOf(HUGE_VAL);
  EXPECT_EQ(evaluate("add.f64 $d, $a, $b;", 64, {{64, {signalling, one}}, {64, {one, signalling}}}),
            (Values{quiet, quiet}));
  EXPECT_EQ(evaluate("sub.f64 $d, $a, $a;", 64, {{64, {infinity}}}), (Values{0xfff8000000000000}));
}

/// Exact sums and products of f16 as multiples of 2^-48.
__int128 fixed(uint64_t bits) {
  return static_cast<__int128>(std::ldexp(decodeFloat(DType::F16, bits), 48));
}

/// Whether `result` is `exact` * 2^-48 rounded to nearest even: no neighbour is nearer.
bool isNearestF16(uint64_t result, __int128 exact) {
  uint64_t magnitude = result & 0x7fff;
  if (exact != 0 && (result >> 15 != 0) != (exact < 0)) {
    return false;
  }
  __int128 size = exact < 0 ? -exact : exact;
  auto value = [](uint64_t m) { // infinity stands for the next value after the largest
    return m == 0x7c00 ? static_cast<__int128>(1) << 64 : fixed(m);
  };
  auto distance = [&](uint64_t m) { return value(m) > size ? value(m) - size : size - value(m); };
  if (magnitude > 0x7c00) {
    return false;
  }
  bool odd = magnitude & 1;
  if (magnitude > 0) {
    __int128 below = distance(magnitude - 1), own = distance(magnitude);
    if (below < own || (below == own && odd)) {
      return false;
    }
  }
  if (magnitude < 0x7c00) {
    __int128 above = distance(magnitude + 1), own = distance(magnitude);
    if (above < own || (above == own && odd)) {
      return false;
    }
  }
  return true;
}

TEST(Float, HalfPrecisionRoundsOnce) {
  std::vector<Input> in;
  for (uint64_t i = 0; i < 3; ++i) {
    in.push_back({16, floats(5, 10, 20000, 30 + i)});
    for (uint64_t &value : in.back().values) {
      value = (value & 0x7c00) == 0x7c00 ? value & 0x83ff : value; // finite
    }
  }
  Values fma = evaluate("fma.rn.f16 $d, $a, $b, $c;", 16, in);
  Values mul = evaluate("mul.rn.f16 $d, $a, $b;", 16, {in[0], in[1]});
  Values add = evaluate("add.f16 $d, $a, $b;", 16, {in[0], in[1]});
  for (size_t i = 0; i < fma.size(); ++i) {
    uint64_t a = in[0].values[i], b = in[1].values[i], c = in[2].values[i];
    auto product = static_cast<__int128>(
        std::ldexp(decodeFloat(DType::F16, a) * decodeFloat(DType::F16, b), 48));
    ASSERT_TRUE(isNearestF16(mul[i], product)) << std::hex << a << " " << b;
    ASSERT_TRUE(isNearestF16(add[i], fixed(a) + fixed(b))) << std::hex << a << " " << b;
    ASSERT_TRUE(isNearestF16(fma[i], product + fixed(c))) << std::hex << a << " " << b << " " << c;
  }
}

/// bf16 fma where rounding to f32 first would be wrong.
TEST(Float, BrainFloatRoundsOnce) {
  // 1.0078125^2 = 1 + 2^-6 + 2^-14; the last term alone decides the tie at 2^-8 of 1 + 2^-6 + 2^-8.
  Values a = {0x3f81, 0x3f81}, b = {0x3f81, 0x3f81}, c = {0x3b80, 0x0001};
  EXPECT_EQ(evaluate("fma.rn.bf16 $d, $a, $b, $c;", 16, {{16, a}, {16, b}, {16, c}}),
            (Values{0x3f83, 0x3f82}));
  // Halves of a register are independent.
  EXPECT_EQ(evaluate("add.rn.bf16x2 $d, $a, $b;", 32, {{32, {0x3f80bf80}}, {32, {0x3f803f80}}}),
            (Values{0x40000000}));
}

TEST(Float, FlushingAndSaturation) {
  Values tiny = {0x00000001, 0x807fffff, 0x00800000, 0x80800000};
  EXPECT_EQ(evaluate("add.ftz.f32 $d, $a, 0f00000000;", 32, {{32, tiny}}),
            (Values{0, 0, 0x00800000, 0x80800000}));
  EXPECT_EQ(evaluate("mul.ftz.f32 $d, $a, 0fBF000000;", 32, {{32, {0x00800000}}}),
            (Values{0x80000000}));
  EXPECT_EQ(evaluate("mul.sat.f32 $d, $a, 0f40000000;", 32,
                     {{32, {0x3f000000, 0x3f800000, 0xbf800000, 0x7fc00000, 0x3e800000}}}),
            (Values{0x3f800000, 0x3f800000, 0, 0, 0x3f000000}));
  EXPECT_EQ(evaluate("fma.rn.relu.f16 $d, $a, $a, $b;", 16,
                     {{16, {0x3c00, 0x3c00, 0x7e00}}, {16, {0xc000, 0x3c00, 0x3c00}}}),
            (Values{0, 0x4000, 0x7fff}));
  // A zero that two values cancel to is negative only when rounding down.
  EXPECT_EQ(evaluate("sub.rm.f32 $d, $a, $a;", 32, {{32, {0x3f800000}}}), (Values{0x80000000}));
  EXPECT_EQ(evaluate("sub.rp.f32 $d, $a, $a;", 32, {{32, {0x3f800000}}}), (Values{0}));
}

TEST(Float, MinMax) {
  Values a = {0x80000000, 0x7fc00000, 0x7fc00001, 0xbf800000, 0x00000001},
         b = {0x00000000, 0x3f800000, 0xffffffff, 0x40000000, 0x80000000};
  std::vector<Input> in = {{32, a}, {32, b}};
  EXPECT_EQ(evaluate("min.f32 $d, $a, $b;", 32, in),
            (Values{0x80000000, 0x3f800000, 0x7fffffff, 0xbf800000, 0x80000000}));
  EXPECT_EQ(evaluate("max.f32 $d, $b, $a;", 32, in),
            (Values{0, 0x3f800000, 0x7fffffff, 0x40000000, 1}));
  EXPECT_EQ(evaluate("max.NaN.f32 $d, $a, $b;", 32, in),
            (Values{0, 0x7fffffff, 0x7fffffff, 0x40000000, 1}));
  EXPECT_EQ(evaluate("max.ftz.xorsign.abs.f32 $d, $a, $b;", 32, in),
            (Values{0x80000000, 0x3f800000, 0x7fffffff, 0xc0000000, 0x80000000}));
  EXPECT_EQ(evaluate("max.f32 $d, $a, $b, $c;", 32,
                     {{32, {0x3f800000}}, {32, {0x40400000}}, {32, {0x40000000}}}),
            (Values{0x40400000}));
  EXPECT_EQ(evaluate("min.bf16x2 $d, $a, $b;", 32, {{32, {0x7fff4000}}, {32, {0xbf803f80}}}),
            (Values{0xbf803f80}));
}

TEST(Float, SignsAndClasses) {
  std::vector<Input> in = inputsF32(2, 40);
  expectEach("copysign.f32 $d, $a, $b;", 32, in,
             [](const uint64_t *x) { return (x[0] & 0x80000000) | (x[1] & 0x7fffffff); });
  expectEach("neg.f32 $d, $a;", 32, {in[0]}, [](const uint64_t *x) { return bitsOf(-f32(x[0])); });
  expectEach("abs.f32 $d, $a;", 32, {in[0]},
             [](const uint64_t *x) { return bitsOf(std::fabs(f32(x[0]))); });
  auto classOf = [](const uint64_t *x) { return std::fpclassify(f32(x[0])); };
  expectEach("testp.subnormal.f32 $d, $a;", 1, {in[0]},
             [&](const uint64_t *x) { return uint64_t(classOf(x) == FP_SUBNORMAL); });
  expectEach("testp.normal.f32 $d, $a;", 1, {in[0]}, [&](const uint64_t *x) {
    return uint64_t(classOf(x) == FP_NORMAL || classOf(x) == FP_ZERO);
  });
  expectEach("testp.notanumber.f32 $d, $a;", 1, {in[0]},
             [&](const uint64_t *x) { return uint64_t(classOf(x) == FP_NAN); });
  expectEach("testp.infinite.f32 $d, $a;", 1, {in[0]},
             [&](const uint64_t *x) { return uint64_t(classOf(x) == FP_INFINITE); });
}

TEST(Float, Comparisons) {
  struct Case {
    const char *name;
    bool (*ordered)(float, float);
    bool unordered;
  };
  for (const Case &c : {Case{"eq", [](float a, float b) { return a == b; }, false},
                        Case{"ne", [](float a, float b) { return a != b; }, false},
                        Case{"lt", [](float a, float b) { return a < b; }, false},
                        Case{"ge", [](float a, float b) { return a >= b; }, false},
                        Case{"equ", [](float a, float b) { return a == b; }, true},
                        Case{"neu", [](float a, float b) { return a != b; }, true},
                        Case{"gtu", [](float a, float b) { return a > b; }, true},
                        Case{"leu", [](float a, float b) { return a <= b; }, true},
                        Case{"num", [](float, float) { return true; }, false},
                        Case{"nan", [](float, float) { return false; }, true}}) {
    expectEach(std::string("setp.") + c.name + ".f32 $d, $a, $b;", 1, inputsF32(2, 50),
               [&](const uint64_t *x) {
                 float a = f32(x[0]), b = f32(x[1]);
                 return uint64_t(std::isnan(a) || std::isnan(b) ? c.unordered : c.ordered(a, b));
               });
  }
  EXPECT_EQ(evaluate("setp.lt.f16x2 %p1|%p2, $a, $b; selp.b32 $d, 1, 0, %p1;\n"
                     "@%p2 add.u32 $d, $d, 2;",
                     32, {{32, {0x3c004000, 0x7e003c00}}, {32, {0x40003c00, 0x40004000}}}),
            (Values{2, 1}));
}

/// The ISA's bounds of errors.
TEST(Float, Approximations) {
  Values values;
  for (int i = -2000; i < 2000; ++i) {
    values.push_back(bitsOf(float(i) * 0.013f));
  }
  struct Case {
    const char *name;
    double (*exact)(double);
    double relative, absolute;
  };
  for (const Case &c : {Case{"ex2", [](double x) { return std::exp2(x); }, 0x1p-22, 0},
                        Case{"lg2", [](double x) { return std::log2(x); }, 0x1p-22, 0x1p-22},
                        Case{"sin", [](double x) { return std::sin(x); }, 0, 0x1p-20},
                        Case{"cos", [](double x) { return std::cos(x); }, 0, 0x1p-20},
                        Case{"rcp", [](double x) { return 1 / x; }, 0x1p-23, 0},
                        Case{"sqrt", [](double x) { return std::sqrt(x); }, 0x1p-23, 0},
                        Case{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0x1p-22, 0},
                        Case{"tanh", [](double x) { return std::tanh(x); }, 0x1p-11, 0}}) {
    Values results = evaluate(std::string(c.name) + ".approx.f32 $d, $a;", 32, {{32, values}});
    for (size_t i = 0; i < values.size(); ++i) {
      double exact = c.exact(f32(values[i])), got = f32(results[i]);
      if (std::isnan(exact) || std::isinf(exact)) {
        EXPECT_TRUE(std::isnan(exact) ? std::isnan(got) : got == exact) << c.name << values[i];
      } else {
        EXPECT_LE(std::fabs(got - exact), std::fabs(exact) * c.relative + c.absolute) << c.name;
      }
    }
  }
}

TEST(Float, SpecialValuesOfApproximations) {
  uint64_t inf = 0x7f800000, minusInf = 0xff800000, nan = 0x7fffffff, minusZero = 0x80000000;
  auto one = [](const char *code, Values values) { return evaluate(code, 32, {{32, values}}); };
  EXPECT_EQ(one("ex2.approx.ftz.f32 $d, $a;", {minusInf, inf, 1, minusZero}),
            (Values{0, inf, 0x3f800000, 0x3f800000}));
  EXPECT_EQ(one("lg2.approx.f32 $d, $a;", {0, minusZero, inf, 0xbf800000}),
            (Values{minusInf, minusInf, inf, nan}));
  EXPECT_EQ(one("rcp.approx.ftz.f32 $d, $a;", {0, minusZero, inf, minusInf, 1}),
            (Values{inf, minusInf, 0, minusZero, inf}));
  EXPECT_EQ(one("rsqrt.approx.ftz.f32 $d, $a;", {minusZero, 0, inf, 0xbf800000}),
            (Values{minusInf, inf, 0, nan}));
  EXPECT_EQ(one("sin.approx.ftz.f32 $d, $a;", {minusZero, inf}), (Values{minusZero, nan}));
  // Division by more than 2^126 loses the quotient.
  EXPECT_EQ(
      evaluate("div.approx.f32 $d, $a, $b;", 32,
               {{32, {0x7f000000, inf, 0x40400000}}, {32, {0x7f7fffff, 0x7f7fffff, 0x40000000}}}),
      (Values{0, nan, 0x3fc00000}));
}

TEST(Float, UnknownFormsAreRefused) {
  EXPECT_NE(refusal("add.ftz.f64 %fd1, %fd2, %fd3;"), "");
  EXPECT_NE(refusal("add.rz.f16 %h1, %h2, %h3;"), "");
  EXPECT_NE(refusal("fma.f32 %f1, %f2, %f3, %f4;"), "");
  EXPECT_NE(refusal("add.relu.f16 %h1, %h2, %h3;"), "");
  EXPECT_NE(refusal("ex2.approx.f64 %fd1, %fd2;"), "");
  EXPECT_NE(refusal("setp.lo.f32 %p1, %f1, %f2;"), "");
}

} // namespace
} // namespace tile_emu
