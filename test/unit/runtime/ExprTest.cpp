// Expressions: exactness, rounding, short circuits, what the reader refuses.
#include "TestPack.h"
#include "runtime/src/ExprParser.h"

#include <cmath>

namespace tile_rt::test {
namespace {

/// A kernel with dimension M = 1000, i32 scalar n = -7, f32 scalar x = 0.1, i64 scalar big = 2^40.
class ExprTest : public testing::Test {
protected:
  ExprTest() {
    Json json = gemmManifest();
    json["kernels"][0]["arguments"].push_back(
        {{"name", "n"}, {"kind", "scalar"}, {"dtype", "i32"}});
    json["kernels"][0]["arguments"].push_back(
        {{"name", "x"}, {"kind", "scalar"}, {"dtype", "f32"}});
    json["kernels"][0]["arguments"].push_back(
        {{"name", "big"}, {"kind", "scalar"}, {"dtype", "i64"}});
    manifest = parseJson(json);
    names.kernel = &manifest.kernels[0];
    Call call = gemmCall(1000, 16, 24);
    call.scalar<int32_t>(TILE_I32, -7)
        .scalar<float>(TILE_F32, 0.1f)
        .scalar<int64_t>(TILE_I64, int64_t{1} << 40);
    env = bindArguments(manifest.kernels[0], call.args);
    env.smCount = 132;
  }
  Value eval(const char *text) {
    Json json = Json::parse(text);
    return evaluate(parseExpr(JsonRef(json, "e"), names), env);
  }
  int64_t integer(const char *text) {
    Value value = eval(text);
    EXPECT_EQ(value.kind, ValueKind::Int);
    return static_cast<int64_t>(value.integer);
  }
  bool boolean(const char *text) {
    Value value = eval(text);
    EXPECT_EQ(value.kind, ValueKind::Bool);
    return value.isTrue();
  }
  std::string refusal(const char *text) {
    Json json = Json::parse(text);
    return errorOf([&] { parseExpr(JsonRef(json, "e"), names); });
  }

  Manifest manifest;
  NameScope names;
  Env env;
};

TEST_F(ExprTest, Leaves) {
  EXPECT_EQ(integer("5"), 5);
  EXPECT_EQ(integer(R"({"dim": "M"})"), 1000);
  EXPECT_EQ(integer(R"({"arg": "n"})"), -7);
  EXPECT_EQ(integer(R"({"extent": ["A", 1]})"), 24);
  EXPECT_EQ(integer(R"({"stride": ["A", 0]})"), 24);
  EXPECT_EQ(integer(R"("sm_count")"), 132);
  EXPECT_TRUE(boolean(R"({"present": "A"})"));
  EXPECT_TRUE(boolean(R"({"aligned": ["A", 256]})"));
  EXPECT_EQ(eval(R"({"arg": "x"})").real, static_cast<double>(0.1f));
  EXPECT_EQ(eval(R"({"const": "-inf", "type": "f32"})").real, -INFINITY);
  EXPECT_EQ(eval(R"({"const": 0.1, "type": "f16"})").real, 0.0999755859375);
}

TEST_F(ExprTest, DivisionsRoundAsTheirNamesSay) {
  EXPECT_EQ(integer(R"({"op": "div", "args": [{"arg": "n"}, 2]})"), -3);
  EXPECT_EQ(integer(R"({"op": "rem", "args": [{"arg": "n"}, 2]})"), -1);
  EXPECT_EQ(integer(R"({"op": "floordiv", "args": [{"arg": "n"}, 2]})"), -4);
  EXPECT_EQ(integer(R"({"op": "floormod", "args": [{"arg": "n"}, 2]})"), 1);
  EXPECT_EQ(integer(R"({"op": "ceildiv", "args": [{"arg": "n"}, 2]})"), -3);
  EXPECT_EQ(integer(R"({"op": "ceildiv", "args": [7, 2]})"), 4);
  EXPECT_EQ(integer(R"({"op": "floordiv", "args": [7, -2]})"), -4);
  EXPECT_EQ(integer(R"({"op": "floormod", "args": [7, -2]})"), -1);
}

TEST_F(ExprTest, ResultsThatDoNotFitAreErrors) {
  expectError(
      errorOf([&] { eval(R"({"op": "mul", "args": [{"dim": "M"}, 3000000], "type": "i32"})"); }),
      "host-overflow", {"M * 3000000", "3000000000", "i32"});
  EXPECT_EQ(integer(R"({"op": "mul", "args": [{"dim": "M"}, 3000000], "type": "i64"})"),
            3000000000);
  // Intermediate results may exceed 64 bits.
  EXPECT_EQ(
      integer(
          R"({"op": "div", "args": [{"op": "mul", "args": [{"arg": "big"}, {"arg": "big"}]}, {"arg": "big"}],
                        "type": "i64"})"),
      int64_t{1} << 40);
  expectError(
      errorOf([&] {
        eval(R"({"op": "mul", "args": [{"op": "mul", "args": [{"arg": "big"}, {"arg": "big"}]},
                                             {"op": "mul", "args": [{"arg": "big"}, {"arg": "big"}]}]})");
      }),
      "host-overflow", {"128 bits"});
  expectError(errorOf([&] { eval(R"({"op": "sub", "args": [0, 1], "type": "u32"})"); }),
              "host-overflow", {"u32"});
  expectError(errorOf([&] { eval(R"({"op": "div", "args": [1, 0]})"); }), "host-overflow",
              {"divides by zero"});
  expectError(errorOf([&] { eval(R"({"op": "shl", "args": [1, 40], "type": "i32"})"); }),
              "host-overflow", {"shifts"});
  expectError(errorOf([&] { eval(R"({"op": "shl", "args": [3, 31], "type": "u32"})"); }),
              "host-overflow", {"u32"});
}

TEST_F(ExprTest, OnlyTheChosenPartIsEvaluated) {
  const char *zero = R"({"op": "div", "args": [1, 0]})";
  auto with = [&](std::string text) { return text.replace(text.find('@'), 1, zero); };
  EXPECT_EQ(integer(with(R"({"op": "select", "args": [true, 4, @]})").c_str()), 4);
  EXPECT_FALSE(
      boolean(with(R"({"op": "and", "args": [false, {"op": "eq", "args": [@, 1]}]})").c_str()));
  EXPECT_TRUE(
      boolean(with(R"({"op": "or", "args": [true, {"op": "eq", "args": [@, 1]}]})").c_str()));
}

TEST_F(ExprTest, FloatsRoundToTheirType) {
  EXPECT_EQ(eval(R"({"op": "mul", "args": [{"arg": "x"}, {"arg": "x"}], "type": "f32"})").real,
            static_cast<double>(0.1f * 0.1f));
  EXPECT_EQ(eval(R"({"op": "cast", "args": [16777217], "type": "f32"})").real, 16777216.0);
  EXPECT_EQ(eval(R"({"op": "cast", "args": [2049], "type": "f16"})").real, 2048.0);
  EXPECT_EQ(eval(R"({"op": "cast", "args": [{"const": 2049, "type": "f32"}], "type": "f16"})").real,
            2048.0);
  EXPECT_EQ(
      eval(
          R"({"op": "min", "args": [{"const": "nan", "type": "f32"}, {"const": 2, "type": "f32"}]})")
          .real,
      2.0);
  EXPECT_EQ(eval(R"({"op": "round", "args": [{"const": 2.5, "type": "f32"}], "type": "f32"})").real,
            2.0);
  EXPECT_EQ(eval(R"({"op": "rsqrt", "args": [{"const": 64, "type": "f32"}], "type": "f32"})").real,
            0.125);
  EXPECT_FALSE(boolean(
      R"({"op": "lt", "args": [{"const": "nan", "type": "f32"}, {"const": 2, "type": "f32"}]})"));
}

TEST_F(ExprTest, CastsSaturateFromFloatAndWrapFromInteger) {
  EXPECT_EQ(integer(R"({"op": "cast", "args": [{"const": 3e9, "type": "f32"}], "type": "i32"})"),
            INT32_MAX);
  EXPECT_EQ(integer(R"({"op": "cast", "args": [{"const": "nan", "type": "f32"}], "type": "i32"})"),
            0);
  EXPECT_EQ(integer(R"({"op": "cast", "args": [{"const": -1.9, "type": "f32"}], "type": "i8"})"),
            -1);
  EXPECT_EQ(integer(R"({"op": "cast", "args": [-1], "type": "u8"})"), 255);
  EXPECT_EQ(integer(R"({"op": "cast", "args": [200], "type": "i8"})"), -56);
  EXPECT_EQ(integer(R"({"op": "cast", "args": [true], "type": "i32"})"), 1);
}

TEST_F(ExprTest, BitOperators) {
  EXPECT_EQ(integer(R"({"op": "bitnot", "args": [0], "type": "u8"})"), 255);
  EXPECT_EQ(integer(R"({"op": "bitnot", "args": [0], "type": "i32"})"), -1);
  EXPECT_EQ(integer(R"({"op": "popcount", "args": [-1], "type": "i32"})"), 32);
  EXPECT_EQ(integer(R"({"op": "clz", "args": [1], "type": "i32"})"), 31);
  EXPECT_EQ(integer(R"({"op": "clz", "args": [0], "type": "u16"})"), 16);
  EXPECT_EQ(integer(R"({"op": "mulhi", "args": [2000000000, 2000000000], "type": "i32"})"),
            931322574);
  EXPECT_EQ(integer(R"({"op": "bitand", "args": [12, 10], "type": "i32"})"), 8);
  EXPECT_EQ(integer(R"({"op": "shr", "args": [{"arg": "n"}, 1], "type": "i32"})"), -4);
}

/// What the host computes for a divisor of N bits.
struct Factors {
  uint64_t factor, addend, shift;
  int bits;
};

/// x / d as docs/pack.md has it.
static uint64_t byReciprocal(uint64_t x, const Factors &of) {
  const unsigned __int128 product = static_cast<unsigned __int128>(x) * of.factor;
  const unsigned __int128 sum = product + of.addend;
  EXPECT_GE(sum, product);
  EXPECT_TRUE(of.bits == 64 || sum >> 64 == 0);
  EXPECT_LT(of.shift, static_cast<uint64_t>(of.bits));
  EXPECT_TRUE(of.addend == 0 || of.addend == of.factor);
  return static_cast<uint64_t>(sum >> of.bits) >> of.shift;
}

/// As a kernel does it for 64 bits (passes/llvm/Reciprocals.cpp): 1 or 0 is added to x instead.
static uint64_t byIncrement(uint64_t x, const Factors &of) {
  const uint64_t increment = std::min<uint64_t>(of.addend, 1), next = x + increment;
  const auto high = static_cast<uint64_t>((static_cast<unsigned __int128>(next) * of.factor) >> 64);
  return (next < increment ? of.factor : high) >> of.shift;
}

/// Dividends around powers of two, and around multiples of d.
static std::vector<uint64_t> dividendsOf(uint64_t d, const std::vector<uint64_t> &edges,
                                         uint64_t most) {
  std::vector<uint64_t> dividends = edges;
  const uint64_t last = d ? most / d : 0;
  for (uint64_t times : {uint64_t(1), uint64_t(2), uint64_t(3), last / 2, last}) {
    if (times <= last) {
      const uint64_t product = times * d;
      dividends.insert(dividends.end(),
                       {product, product - (product > 0), product + (product < most)});
    }
  }
  return dividends;
}

TEST_F(ExprTest, DivisorsAsFactors) {
  for (const int bits : {32, 64}) {
    const std::string type = bits == 32 ? "u32" : "u64";
    const uint64_t most = bits == 32 ? UINT32_MAX : UINT64_MAX;
    std::vector<uint64_t> edges;
    for (int bit = 0; bit <= bits; ++bit) {
      for (int step = -3; step <= 3; ++step) {
        const __int128 value = (static_cast<__int128>(1) << bit) + step;
        if (value >= 0 && value <= most) {
          edges.push_back(static_cast<uint64_t>(value));
        }
      }
    }
    std::vector<uint64_t> divisors = edges;
    uint64_t drawn = 12345;
    for (int i = 0; i < 2000; ++i) {
      drawn = drawn * 6364136223846793005U + 1442695040888963407U;
      const uint64_t mixed = drawn ^ drawn >> 32;
      divisors.push_back(bits == 32 ? drawn >> 32 >> (i % 31) : mixed >> (i % 63));
    }
    for (uint64_t d : divisors) {
      const std::string args = R"(", "args": [{"const": )" + std::to_string(d) +
                               R"(, "type": "u64"}], "type": ")" + type + R"("})";
      Factors of = {uint64_t(integer((R"({"op": "divfactor)" + args).c_str())),
                    uint64_t(integer((R"({"op": "divaddend)" + args).c_str())),
                    uint64_t(integer((R"({"op": "divshift)" + args).c_str())), bits};
      for (uint64_t x : dividendsOf(d, edges, most)) {
        ASSERT_EQ(byReciprocal(x, of), d ? x / d : 0) << x << " / " << d;
        if (bits == 64) {
          ASSERT_EQ(byIncrement(x, of), d ? x / d : 0) << x << " / " << d;
        }
      }
      for (int i = 0; i < 20; ++i) {
        drawn = drawn * 6364136223846793005U + 1442695040888963407U;
        const uint64_t x = (drawn ^ drawn >> 32) & most;
        ASSERT_EQ(byReciprocal(x, of), d ? x / d : 0) << x << " / " << d;
      }
    }
  }
}

TEST_F(ExprTest, DivisorsAsFactorsHaveTheirType) {
  // The magnitude counts, and the bits are those of the type.
  EXPECT_EQ(integer(R"({"op": "divfactor", "args": [-7], "type": "i32"})"),
            integer(R"({"op": "divfactor", "args": [7], "type": "i32"})"));
  EXPECT_EQ(integer(R"({"op": "divfactor", "args": [-2147483648], "type": "i32"})"), -1);
  EXPECT_EQ(integer(R"({"op": "divshift", "args": [-2147483648], "type": "i32"})"), 31);
  EXPECT_EQ(integer(R"({"op": "divfactor", "args": [-7], "type": "i64"})"),
            integer(R"({"op": "divfactor", "args": [7], "type": "i64"})"));
  EXPECT_EQ(integer(R"({"op": "divfactor", "args": [-9223372036854775808], "type": "i64"})"), -1);
  EXPECT_EQ(integer(R"({"op": "divshift", "args": [-9223372036854775808], "type": "i64"})"), 63);
  EXPECT_EQ(integer(R"({"op": "divshift", "args": [4294967296], "type": "i64"})"), 32);
  expectError(errorOf([&] { eval(R"({"op": "divshift", "args": [4294967296], "type": "i32"})"); }),
              "host-overflow", {"32 bits"});
}

TEST_F(ExprTest, KindsAreCheckedWhenReading) {
  EXPECT_NE(refusal(R"({"op": "add", "args": [1, {"arg": "x"}]})").find("different kinds"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"op": "and", "args": [1, true]})").find("different kinds"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"op": "add", "args": [true, true]})").find("takes numbers"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"op": "rem", "args": [{"arg": "x"}, {"arg": "x"}]})").find("integer"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"op": "add", "args": [1, 2], "type": "f32"})").find("not f32"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"op": "add", "args": [1]})").find("wrong number"), std::string::npos);
  EXPECT_NE(refusal(R"({"op": "frob", "args": [1]})").find("unknown operator"), std::string::npos);
  EXPECT_NE(refusal(R"({"dim": "Q"})").find("no dimension"), std::string::npos);
  EXPECT_NE(refusal(R"({"arg": "A"})").find("not a scalar"), std::string::npos);
  EXPECT_NE(refusal(R"({"stride": ["A", 2]})").find("out of range"), std::string::npos);
  EXPECT_NE(refusal(R"({"grid": 0})").find("only in variants"), std::string::npos);
  EXPECT_NE(refusal(R"({"const": 300, "type": "u8"})").find("out of range"), std::string::npos);
  EXPECT_NE(refusal("[1]").find("not an expression"), std::string::npos);
  EXPECT_NE(refusal("1.5").find("expected an integer"), std::string::npos);
}

TEST_F(ExprTest, DeepNestingIsRefused) {
  std::string text = "1";
  for (int i = 0; i < 4000; ++i) {
    text.insert(0, R"({"op":"neg","args":[)").append("]}");
  }
  EXPECT_NE(refusal(text.c_str()).find("nested too deeply"), std::string::npos);
}

TEST_F(ExprTest, TextReadsLikeSource) {
  Json json = Json::parse(R"({"op": "add", "args": [{"op": "ceildiv", "args": [{"dim": "M"}, 128]},
                              {"op": "select", "args": [{"op": "lt", "args": [{"arg": "n"}, 0]}, 1, 2]}]})");
  EXPECT_EQ(exprText(parseExpr(JsonRef(json, "e"), names)), "ceildiv(M, 128) + ((n < 0) ? 1 : 2)");
}

TEST(Expr, EachOperationHasOneNameAndItsOwnRow) {
  EXPECT_EQ(infoOf(Op::GridPoints), nullptr);
  EXPECT_EQ(findOp("dim"), nullptr);
  for (auto op = static_cast<uint8_t>(Op::Add); op <= static_cast<uint8_t>(Op::IsFinite); ++op) {
    const OpInfo *info = infoOf(static_cast<Op>(op));
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(static_cast<uint8_t>(info->op), op) << info->name;
    EXPECT_EQ(findOp(info->name), info) << info->name;
  }
}

} // namespace
} // namespace tile_rt::test
