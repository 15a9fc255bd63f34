//===- Type.h - Types of the tile language ----------------------*- C++ -*-===//
//
// A `Type` is a small value: an element kind, an optional vector length and a shape. Section 4 of
// docs/language.md is the source of the table below.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/support/DType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilec::sema {

/// Element kinds. Those from E4M3 on store: they are copied, converted and (e4m3, e5m2) multiplied,
/// never computed with.
using Scalar = tile_rt::DType;

/// The name in the language, such as "bf16".
inline llvm::StringRef scalarName(Scalar s) { return tile_rt::dtypeName(s); }
/// The inverse of `scalarName`.
inline std::optional<Scalar> scalarByName(llvm::StringRef name) {
  return tile_rt::dtypeFromName(name);
}
/// Size in bits: 4 for the packed types, 8 for bool.
inline unsigned scalarBits(Scalar s) { return tile_rt::dtypeBits(s); }
/// f64 f32 f16 bf16.
bool isFloat(Scalar s);
/// i64 .. u8, signed or unsigned; neither bool nor a storage type.
bool isInteger(Scalar s);
/// i64 i32 i16 i8.
bool isSignedInteger(Scalar s);
bool isUnsignedInteger(Scalar s);
/// e4m3 e5m2 e2m1 e8m0 i4 u4.
bool isStorage(Scalar s);
/// Two elements to a byte: i4 u4 e2m1.
inline bool isPacked(Scalar s) { return tile_rt::dtypeIsPacked(s); }
/// A float or an integer: what `+ - * /` take.
inline bool isNumber(Scalar s) { return isFloat(s) || isInteger(s); }

/// An extent that is not known when compiling.
inline constexpr int64_t kDynamic = INT64_MIN;
/// An extent that the other tiles of an expression give: what `_` in a subscript adds. Only values
/// that have not met these tiles yet have it; they hold no elements along it.
inline constexpr int64_t kOpen = INT64_MIN + 1;

/// The type of an expression or a declaration.
///
///  - Value, rank 0: a scalar, or a `vec<elem>[vecLength]` when vecLength > 0.
///  - Value, rank > 0: a tile (or the type of a buffer or tensor place). The extents of a tile
///  value
///    are static; those of tensors, workspaces and views of them may be kDynamic. vecLength > 0 is
///    a `local` array of vectors.
///  - Tuple: result of a call with several results; the node lists their types.
///  - Error: already diagnosed, silences what follows from it.
///
/// UntypedInt, UntypedFloat, String and TypeName occur only while analysing; a finished Program
/// has none of them.
struct Type {
  enum class Kind : uint8_t {
    Error,
    Void,
    Value,
    Tuple,
    UntypedInt,
    UntypedFloat,
    String,
    TypeName
  };

  Kind kind = Kind::Error;
  Scalar elem = Scalar::I32;
  int64_t vecLength = 0;
  llvm::SmallVector<int64_t, 5> shape;

  Type() = default;
  explicit Type(Kind kind) : kind(kind) {}
  explicit Type(Scalar elem) : kind(Kind::Value), elem(elem) {}
  Type(Scalar elem, llvm::ArrayRef<int64_t> shape)
      : kind(Kind::Value), elem(elem), shape(shape.begin(), shape.end()) {}
  static Type vec(Scalar elem, int64_t n) {
    Type t(elem);
    t.vecLength = n;
    return t;
  }
  static Type error() { return Type(); }
  static Type voidType() { return Type(Kind::Void); }

  bool isError() const { return kind == Kind::Error; }
  bool isVoid() const { return kind == Kind::Void; }
  bool isValue() const { return kind == Kind::Value; }
  bool isUntyped() const { return kind == Kind::UntypedInt || kind == Kind::UntypedFloat; }
  bool isScalar() const { return isValue() && !vecLength && shape.empty(); }
  bool isVec() const { return isValue() && vecLength && shape.empty(); }
  bool isShaped() const { return isValue() && !shape.empty(); }
  bool is(Scalar s) const { return isScalar() && elem == s; }
  bool isBool() const { return is(Scalar::Bool); }
  size_t rank() const { return shape.size(); }
  bool hasStaticShape() const {
    return !llvm::is_contained(shape, kDynamic) && !llvm::is_contained(shape, kOpen);
  }
  /// Some extent is still to be given by the tiles beside it.
  bool isOpen() const { return llvm::is_contained(shape, kOpen); }
  /// The same shape and vector length with another element kind.
  Type withElem(Scalar s) const {
    Type t = *this;
    t.elem = s;
    return t;
  }
  Type withShape(llvm::ArrayRef<int64_t> s) const {
    Type t = *this;
    t.shape.assign(s.begin(), s.end());
    return t;
  }
  /// The type of one element of a shaped type.
  Type element() const { return withShape({}); }

  bool operator==(const Type &o) const {
    return kind == o.kind && (kind != Kind::Value ||
                              (elem == o.elem && vecLength == o.vecLength && shape == o.shape));
  }
  bool operator!=(const Type &o) const { return !(*this == o); }

  /// As in diagnostics: `f16[128, 64]`, `vec<f16>[8]`, `integer constant`; `?` for dynamic extents,
  /// `_` for open ones.
  std::string str() const;
};

/// A shape in diagnostics: `[128, 64]`, or "a scalar".
std::string shapeString(llvm::ArrayRef<int64_t> shape);

} // namespace tilec::sema
