// Arithmetic on constants.
#include "compiler/sema/ConstValue.h"
#include "runtime/support/Floats.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilec::sema;

namespace {

std::string fold(BinaryOp op, ConstValue a, ConstValue b) {
  ConstError error;
  auto r = foldBinary(op, a, b, error);
  return r ? r->str() : "error " + std::to_string(error.kind);
}

ConstValue untyped(Int128 v) { return ConstValue::untyped(v); }

TEST(Constants, UntypedIntegersAreExact) {
  Int128 most = (Int128(1) << 64) - 1;
  EXPECT_EQ(fold(BinaryOp::Add, untyped(most), untyped(0)), "18446744073709551615");
  EXPECT_EQ(fold(BinaryOp::Add, untyped(most), untyped(1)), "error 1");
  EXPECT_EQ(fold(BinaryOp::Mul, untyped(most), untyped(most)), "error 1");
  EXPECT_EQ(fold(BinaryOp::Sub, untyped(-(Int128(1) << 63)), untyped(1)), "error 1");
  EXPECT_EQ(fold(BinaryOp::Div, untyped(-7), untyped(2)), "-3");
  EXPECT_EQ(fold(BinaryOp::Rem, untyped(-7), untyped(2)), "-1");
  EXPECT_EQ(fold(BinaryOp::Div, untyped(1), untyped(0)), "error 3");
  EXPECT_EQ(fold(BinaryOp::Shl, untyped(1), untyped(63)), "9223372036854775808");
  EXPECT_EQ(fold(BinaryOp::Lt, untyped(1), ConstValue::untyped(1.5)), "true");
}

TEST(Constants, TypedResultsStayInTheirType) {
  auto u8 = [](int v) { return ConstValue::integer(Scalar::U8, v); };
  auto i32 = [](int64_t v) { return ConstValue::integer(Scalar::I32, v); };
  EXPECT_EQ(fold(BinaryOp::Add, u8(200), u8(100)), "44");
  EXPECT_EQ(fold(BinaryOp::Add, i32(INT32_MAX), i32(1)), "error 2");
  EXPECT_EQ(fold(BinaryOp::Shl, i32(1), i32(32)), "error 4");
  EXPECT_EQ(fold(BinaryOp::Shl, i32(3), i32(31)), "-2147483648");
  EXPECT_EQ(fold(BinaryOp::Shl, u8(0x81), u8(1)), "2");
  ConstError error;
  EXPECT_EQ(foldMath(MathFn::Abs, {i32(INT32_MIN)}, error)->str(), "-2147483648");
  EXPECT_EQ(foldMath(MathFn::Abs, {i32(-5)}, error)->str(), "5");
}

TEST(Constants, RoundingOfDivision) {
  ConstError error;
  auto value = [&](MathFn fn, int a, int b) {
    return foldMath(fn, {untyped(a), untyped(b)}, error)->i;
  };
  for (int a = -9; a <= 9; ++a) {
    for (int b : {-3, -2, 2, 3}) {
      EXPECT_EQ(value(MathFn::CeilDiv, a, b), std::ceil(double(a) / b));
      EXPECT_EQ(value(MathFn::FloorDiv, a, b), std::floor(double(a) / b));
      EXPECT_EQ(value(MathFn::FloorMod, a, b), a - b * std::floor(double(a) / b));
    }
  }
}

TEST(Constants, Adapting) {
  EXPECT_TRUE(adaptConstant(untyped(2048), Scalar::F16));
  EXPECT_FALSE(adaptConstant(untyped(2049), Scalar::F16));
  EXPECT_TRUE(adaptConstant(untyped(255), Scalar::U8));
  EXPECT_FALSE(adaptConstant(untyped(-1), Scalar::U8));
  EXPECT_FALSE(adaptConstant(untyped(1), Scalar::Bool));
  EXPECT_FALSE(adaptConstant(ConstValue::untyped(1.0), Scalar::I32));
  EXPECT_EQ(adaptConstant(ConstValue::untyped(0.1), Scalar::F32)->f, double(0.1f));
  EXPECT_FALSE(adaptConstant(ConstValue::untyped(1e39), Scalar::F32));
}

TEST(Constants, Converting) {
  auto f = [](double v, Scalar s) { return convertConstant(ConstValue::untyped(v), s); };
  EXPECT_EQ(f(1000.0, Scalar::E4M3).f, 448.0);
  EXPECT_TRUE(std::isinf(f(1e10, Scalar::F16).f));
  EXPECT_EQ(f(-1e10, Scalar::I16).i, -32768);
  EXPECT_EQ(f(-2.9, Scalar::I32).i, -2);
  EXPECT_EQ(f(std::nan(""), Scalar::I32).i, 0);
  EXPECT_EQ(convertConstant(untyped(300), Scalar::U8).i, 44);
  // Rounded once: to f64 first, the 1 would be lost and the tie go down.
  EXPECT_EQ(convertConstant(untyped((Int128(1) << 60) + (Int128(1) << 36) + 1), Scalar::F32).f,
            0x1p60 + 0x1p37);
  EXPECT_EQ(tile_rt::maxFloat(Scalar::F16), 65504.0);
  EXPECT_EQ(tile_rt::maxFloat(Scalar::E5M2), 57344.0);
  EXPECT_EQ(tile_rt::maxFloat(Scalar::E2M1), 6.0);
}

} // namespace
