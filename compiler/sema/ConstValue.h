//===- ConstValue.h - Values known when compiling ---------------*- C++ -*-===//
//
// Exact arithmetic on constants: untyped integers (-2^63 .. 2^64 - 1) and floats (f64), and typed
// scalars, whose results are rounded to or checked against their type (sections 4 and 5 of
// docs/language.md).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/sema/Expr.h"
#include "compiler/sema/Type.h"

#include <optional>
#include <string>

namespace tilec::sema {

using Int128 = __int128;

/// A constant: an untyped number, a typed scalar, the name of a type, or a string.
struct ConstValue {
  Type type = Type(Type::Kind::UntypedInt);
  Int128 i = 0;               ///< integers and bool
  double f = 0;               ///< floats
  Scalar named = Scalar::I32; ///< TypeName
  llvm::StringRef text;       ///< String

  static ConstValue untyped(Int128 v);
  static ConstValue untyped(double v);
  static ConstValue boolean(bool v);
  static ConstValue integer(Scalar s, Int128 v);
  static ConstValue typeName(Scalar s);
  static ConstValue string(llvm::StringRef s);

  bool isIntLike() const {
    return type.kind == Type::Kind::UntypedInt || (type.isScalar() && isInteger(type.elem));
  }
  bool isFloatLike() const {
    return type.kind == Type::Kind::UntypedFloat || (type.isScalar() && isFloat(type.elem));
  }
  bool isBool() const { return type.isBool(); }
  bool isTypeName() const { return type.kind == Type::Kind::TypeName; }
  /// As in messages and in the manifest: `128`, `true`, `bf16`, `0.5`.
  std::string str() const;
};

/// Why a computation on constants has no value.
struct ConstError {
  enum Kind { None, OutsideUntyped, OutsideType, Division, Shift } kind = None;
  std::string value; ///< the exact result, where there is one
};

/// Whether an integer type (i4, u4, bool too) holds the value.
bool fitsInteger(Int128 value, Scalar type);

/// Adapts an untyped constant to a scalar type: integers to types that hold them exactly, floats to
/// float types, rounded. Fails with no value when it does not fit.
std::optional<ConstValue> adaptConstant(const ConstValue &v, Scalar to);
/// `T(x)`; the pair is known to convert.
ConstValue convertConstant(const ConstValue &v, Scalar to);
/// What becomes of an integer result that its type does not hold: in launches unsigned ones, and those of `<<` and
/// `abs`, wrap, and others are errors; in the host part all are errors (language.md, sections 4 and 7).
enum class Overflow { OfLaunch, OfHost };
/// Operands have one type (both untyped: mixed gives a float); shift counts may differ.
std::optional<ConstValue> foldBinary(BinaryOp op, const ConstValue &a, const ConstValue &b,
                                     ConstError &error, Overflow overflow = Overflow::OfLaunch);
std::optional<ConstValue> foldUnary(UnaryOp op, const ConstValue &v, ConstError &error,
                                    Overflow overflow = Overflow::OfLaunch);
/// abs min max ceildiv floordiv floormod of constants of one type.
std::optional<ConstValue> foldMath(MathFn fn, llvm::ArrayRef<ConstValue> args, ConstError &error,
                                   Overflow overflow = Overflow::OfLaunch);

std::string int128Str(Int128 v);

} // namespace tilec::sema
