//===- ConstValue.cpp - Arithmetic on constants ---------------------------===//
#include "compiler/sema/ConstValue.h"

#include "runtime/support/Floats.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"

#include <algorithm>
#include <cmath>

namespace tilec::sema {

static const Int128 untypedMin = -(Int128(1) << 63);
static const Int128 untypedMax = (Int128(1) << 64) - 1;

ConstValue ConstValue::untyped(Int128 v) {
  ConstValue c;
  c.i = v;
  return c;
}
ConstValue ConstValue::untyped(double v) {
  ConstValue c;
  c.type = Type(Type::Kind::UntypedFloat);
  c.f = v;
  return c;
}
ConstValue ConstValue::boolean(bool v) { return integer(Scalar::Bool, v); }
ConstValue ConstValue::integer(Scalar s, Int128 v) {
  ConstValue c;
  c.type = Type(s);
  c.i = v;
  return c;
}
ConstValue ConstValue::typeName(Scalar s) {
  ConstValue c;
  c.type = Type(Type::Kind::TypeName);
  c.named = s;
  return c;
}
ConstValue ConstValue::string(llvm::StringRef s) {
  ConstValue c;
  c.type = Type(Type::Kind::String);
  c.text = s;
  return c;
}

std::string int128Str(Int128 v) {
  if (v == 0) {
    return "0";
  }
  unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
  std::string digits;
  for (; u; u /= 10) {
    digits += char('0' + unsigned(u % 10));
  }
  if (v < 0) {
    digits += '-';
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

static std::string floatStr(double v) {
  if (std::isnan(v)) {
    return "nan";
  }
  if (std::isinf(v)) {
    return v < 0 ? "-inf" : "inf";
  }
  llvm::SmallString<32> text;
  llvm::APFloat(v).toString(text, 9, 6, /*TruncateZero=*/true);
  return std::string(text);
}

std::string ConstValue::str() const {
  if (isTypeName()) {
    return scalarName(named).str();
  }
  if (type.kind == Type::Kind::String) {
    return "\"" + text.str() + "\"";
  }
  if (isBool()) {
    return i ? "true" : "false";
  }
  return isFloatLike() || (type.isScalar() && isStorage(type.elem) && type.elem < Scalar::I4)
             ? floatStr(f)
             : int128Str(i);
}

bool fitsInteger(Int128 v, Scalar s) { return v >= tile_rt::minInt(s) && v <= tile_rt::maxInt(s); }

/// Held as a float: f64 .. bf16, e4m3 .. e2m1.
static bool isFloatKind(Scalar s) { return tile_rt::dtypeKind(s) == tile_rt::ValueKind::Float; }

std::optional<ConstValue> adaptConstant(const ConstValue &v, Scalar to) {
  ConstValue r = v;
  r.type = Type(to);
  bool toFloat = isFloatKind(to);
  if (v.type.kind == Type::Kind::UntypedFloat) {
    if (!toFloat) {
      return std::nullopt;
    }
    r.f = tile_rt::roundFloat(to, v.f);
    if (std::isinf(r.f) && !std::isinf(v.f)) {
      return std::nullopt;
    }
    return r;
  }
  if (toFloat) {
    r.f = tile_rt::intToFloat(to, v.i);
    // Exactly: the rounded value reads back as the same integer.
    if (!(std::fabs(r.f) < 0x1p100) || Int128(r.f) != v.i) {
      return std::nullopt;
    }
    return r;
  }
  if (to == Scalar::Bool || !fitsInteger(v.i, to)) {
    return std::nullopt;
  }
  return r;
}

ConstValue convertConstant(const ConstValue &v, Scalar to) {
  ConstValue r;
  r.type = Type(to);
  bool fromFloat =
      v.type.kind == Type::Kind::UntypedFloat || (v.type.isScalar() && isFloatKind(v.type.elem));
  bool toFloat = isFloatKind(to);
  if (toFloat) {
    r.f = fromFloat ? tile_rt::roundFloat(to, v.f) : tile_rt::intToFloat(to, v.i);
  } else if (fromFloat) {
    r.i = tile_rt::floatToInt(to, v.f);
  } else {
    r.i = tile_rt::wrapInt(to, v.i);
  }
  return r;
}

/// Checks an integer result against its type; unsigned typed ones wrap.
static std::optional<ConstValue> finishInt(Int128 v, const Type &type, ConstError &error,
                                           Overflow overflow) {
  ConstValue r;
  r.type = type;
  r.i = v;
  if (type.kind == Type::Kind::UntypedInt) {
    if (v < untypedMin || v > untypedMax) {
      error = {ConstError::OutsideUntyped, int128Str(v)};
      return std::nullopt;
    }
  } else if (isUnsignedInteger(type.elem) && overflow == Overflow::OfLaunch) {
    r.i = tile_rt::wrapInt(type.elem, v);
  } else if (!fitsInteger(v, type.elem)) {
    error = {ConstError::OutsideType, int128Str(v)};
    return std::nullopt;
  }
  return r;
}

/// Where a type drops bits that it has not: `<<`, and `abs` of the least integer.
static std::optional<ConstValue> wrapped(Int128 v, const Type &type, ConstError &error,
                                         Overflow overflow) {
  const bool wraps = type.isScalar() && overflow == Overflow::OfLaunch;
  return finishInt(wraps ? tile_rt::wrapInt(type.elem, v) : v, type, error, overflow);
}

static std::optional<ConstValue> finishFloat(double v, const Type &type) {
  ConstValue r = ConstValue::untyped(v);
  r.type = type;
  if (type.isScalar()) {
    r.f = tile_rt::roundFloat(type.elem, v);
  }
  return r;
}

static Int128 floorDiv(Int128 a, Int128 b) {
  Int128 q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

template <typename T>
static std::optional<bool> compare(BinaryOp op, T a, T b) {
  switch (op) {
  case BinaryOp::Eq:
    return a == b;
  case BinaryOp::Ne:
    return a != b;
  case BinaryOp::Lt:
    return a < b;
  case BinaryOp::Le:
    return a <= b;
  case BinaryOp::Gt:
    return a > b;
  case BinaryOp::Ge:
    return a >= b;
  default:
    return std::nullopt;
  }
}

static std::optional<ConstValue> foldInt(BinaryOp op, Int128 a, Int128 b, const Type &type,
                                         ConstError &error, Overflow overflow) {
  switch (op) {
  case BinaryOp::Add:
    return finishInt(a + b, type, error, overflow);
  case BinaryOp::Sub:
    return finishInt(a - b, type, error, overflow);
  case BinaryOp::Mul: {
    // |a|, |b| <= 2^64: the product of the two largest overflows 127 bits by one.
    Int128 product;
    if (__builtin_mul_overflow(a, b, &product)) {
      error = {ConstError::OutsideUntyped, int128Str(a) + " * " + int128Str(b)};
      return std::nullopt;
    }
    return finishInt(product, type, error, overflow);
  }
  case BinaryOp::Div:
  case BinaryOp::Rem:
    if (b == 0) {
      error.kind = ConstError::Division;
      return std::nullopt;
    }
    return finishInt(op == BinaryOp::Div ? a / b : a % b, type, error, overflow);
  case BinaryOp::And:
    return finishInt(a & b, type, error, overflow);
  case BinaryOp::Or:
    return finishInt(a | b, type, error, overflow);
  case BinaryOp::Xor:
    return finishInt(a ^ b, type, error, overflow);
  case BinaryOp::Shl:
  case BinaryOp::Shr: {
    int64_t width = type.isScalar() ? scalarBits(type.elem) : 64;
    if (b < 0 || b >= width) {
      error = {ConstError::Shift, int128Str(b)};
      return std::nullopt;
    }
    if (op == BinaryOp::Shr) {
      return finishInt(a >> int(b), type, error, overflow);
    }
    Int128 shifted;
    if (__builtin_mul_overflow(a, Int128(1) << int(b), &shifted)) {
      error = {ConstError::OutsideUntyped, int128Str(a) + " << " + int128Str(b)};
      return std::nullopt;
    }
    return wrapped(shifted, type, error, overflow);
  }
  default:
    return std::nullopt;
  }
}

static std::optional<ConstValue> foldFloat(BinaryOp op, double a, double b, const Type &type) {
  switch (op) {
  case BinaryOp::Add:
    return finishFloat(a + b, type);
  case BinaryOp::Sub:
    return finishFloat(a - b, type);
  case BinaryOp::Mul:
    return finishFloat(a * b, type);
  case BinaryOp::Div:
    return finishFloat(a / b, type);
  default:
    return std::nullopt;
  }
}

static double asDouble(const ConstValue &v) { return v.isFloatLike() ? v.f : double(v.i); }

std::optional<ConstValue> foldBinary(BinaryOp op, const ConstValue &a, const ConstValue &b,
                                     ConstError &error, Overflow overflow) {
  if (a.isTypeName() && b.isTypeName()) {
    auto r = compare(op, unsigned(a.named), unsigned(b.named));
    return r ? std::optional(ConstValue::boolean(*r)) : std::nullopt;
  }
  if (a.isBool() && b.isBool()) {
    if (op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr) {
      return ConstValue::boolean(op == BinaryOp::LogicalAnd ? a.i && b.i : a.i || b.i);
    }
    auto r = compare(op, a.i, b.i);
    return r ? std::optional(ConstValue::boolean(*r)) : std::nullopt;
  }
  if (a.isIntLike() && b.isIntLike()) {
    if (auto r = compare(op, a.i, b.i)) {
      return ConstValue::boolean(*r);
    }
    return foldInt(op, a.i, b.i, a.type, error, overflow);
  }
  if (auto r = compare(op, asDouble(a), asDouble(b))) {
    return ConstValue::boolean(*r);
  }
  return foldFloat(op, asDouble(a), asDouble(b), a.isFloatLike() ? a.type : b.type);
}

std::optional<ConstValue> foldUnary(UnaryOp op, const ConstValue &v, ConstError &error,
                                    Overflow overflow) {
  switch (op) {
  case UnaryOp::Not:
    return ConstValue::boolean(!v.i);
  case UnaryOp::BitNot:
    return finishInt(~v.i, v.type, error, Overflow::OfLaunch);
  case UnaryOp::Neg:
    return v.isFloatLike() ? finishFloat(-v.f, v.type) : finishInt(-v.i, v.type, error, overflow);
  }
  return std::nullopt;
}

static std::optional<ConstValue> foldMinMax(bool max, llvm::ArrayRef<ConstValue> args) {
  ConstValue best = args[0];
  for (const ConstValue &v : args.drop_front()) {
    bool take;
    if (best.isIntLike() && v.isIntLike()) {
      take = max ? v.i > best.i : v.i < best.i;
    } else {
      double a = asDouble(best), b = asDouble(v);
      take = std::isnan(a) || (max ? b > a : b < a);
      if (!best.isFloatLike()) {
        best = ConstValue::untyped(a);
      }
    }
    if (take) {
      best = best.isFloatLike() && !v.isFloatLike() ? ConstValue::untyped(asDouble(v)) : v;
    }
  }
  return best;
}

std::optional<ConstValue> foldMath(MathFn fn, llvm::ArrayRef<ConstValue> args, ConstError &error,
                                   Overflow overflow) {
  switch (fn) {
  case MathFn::Min:
  case MathFn::Max:
    return foldMinMax(fn == MathFn::Max, args);
  case MathFn::Abs:
    return args[0].isFloatLike()
               ? finishFloat(std::fabs(args[0].f), args[0].type)
               : wrapped(args[0].i < 0 ? -args[0].i : args[0].i, args[0].type, error, overflow);
  case MathFn::CeilDiv:
  case MathFn::FloorDiv:
  case MathFn::FloorMod: {
    Int128 a = args[0].i, b = args[1].i;
    if (b == 0) {
      error.kind = ConstError::Division;
      return std::nullopt;
    }
    Int128 r = fn == MathFn::CeilDiv    ? -floorDiv(-a, b)
               : fn == MathFn::FloorDiv ? floorDiv(a, b)
                                        : a - floorDiv(a, b) * b;
    return finishInt(r, args[0].type, error, overflow);
  }
  default:
    return std::nullopt;
  }
}

} // namespace tilec::sema
