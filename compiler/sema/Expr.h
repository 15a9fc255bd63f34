//===- Expr.h - Expressions of a typed program ------------------*- C++ -*-===//
// Part of Program.h, which describes the whole.
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/sema/Decl.h"

namespace tilec::sema {

struct Stmt;
struct Function;

struct Expr {
  enum class Kind : uint8_t {
    // Values.
    Constant,
    Unary,
    Binary,
    Select,
    Broadcast,
    Convert,
    BitcastValue,
    VecElement,
    Math,
    Call,
    Block,
    Reduce,
    ReduceFn,
    Scan,
    ScanFn,
    Transpose,
    Atomic,
    Warp,
    Stride,
    SmCount,
    Present,
    ExtentOf,
    // A reference to a value declaration or to a whole place.
    Ref,
    // One element, or n neighbours, of a place: a value when read, a target when assigned.
    Element,
    VecAccess,
    // Parts of places.
    Slice,
    Origin,
    Reshape,
    BitcastView,
  };
  Kind kind;
  /// Where the elements are for Ref to a place, Slice, Origin, Reshape, BitcastView; Value
  /// otherwise.
  Space space = Space::Value;
  SourceRange range;
  Type type;

  /// A region of memory that can be copied from or to, subscripted or viewed. A place of shared,
  /// fragment or local space used where a value is wanted is read whole.
  bool isPlace() const { return space != Space::Value; }

protected:
  Expr(Kind kind, Type type, SourceRange range) : kind(kind), range(range), type(std::move(type)) {}
};

/// A literal or folded constant of scalar type. Integers and bool hold their value (u64 its bits)
/// in `intValue`; floats hold in `floatValue` a value already rounded to `type.elem` (storage
/// types: e4m3 e5m2 e2m1 e8m0 as floatValue, i4 u4 as intValue).
struct ConstantExpr : Expr {
  int64_t intValue = 0;
  double floatValue = 0;
  ConstantExpr(Type t, SourceRange r) : Expr(Kind::Constant, std::move(t), r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Constant; }
};

/// Reads a scalar/vec/tile value, or denotes a whole place (see `space`).
struct RefExpr : Expr {
  const Decl *decl;
  RefExpr(const Decl *d, Space s, SourceRange r) : Expr(Kind::Ref, d->type, r), decl(d) {
    space = s;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Ref; }
};

enum class UnaryOp : uint8_t { Neg, Not /* bool */, BitNot };

struct UnaryExpr : Expr {
  UnaryOp op;
  const Expr *operand;
  UnaryExpr(UnaryOp op, const Expr *x, Type t, SourceRange r)
      : Expr(Kind::Unary, std::move(t), r), op(op), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }
};

/// Signedness and float or integer follow from the operands' type. LogicalAnd/LogicalOr evaluate
/// the right side only when needed if scalar, and are element-wise on tiles. Div and Rem truncate.
enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  LogicalAnd,
  LogicalOr,
};

/// Operands have one type, except that a shift count may be of another integer type. Comparisons
/// give bool (of the operands' shape).
struct BinaryExpr : Expr {
  BinaryOp op;
  const Expr *lhs, *rhs;
  BinaryExpr(BinaryOp op, const Expr *a, const Expr *b, Type t, SourceRange r)
      : Expr(Kind::Binary, std::move(t), r), op(op), lhs(a), rhs(b) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }
};

/// `c ? a : b`. A scalar condition chooses (and evaluates) one whole branch; a tile condition
/// chooses element by element.
struct SelectExpr : Expr {
  const Expr *cond, *ifTrue, *ifFalse;
  SelectExpr(const Expr *c, const Expr *a, const Expr *b, Type t, SourceRange r)
      : Expr(Kind::Select, std::move(t), r), cond(c), ifTrue(a), ifFalse(b) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Select; }
};

/// A scalar repeated to the shape (or vector length) of `type`; or a tile repeated along the
/// dimensions that are open in its own type. A type that has open extents itself is that of a tile
/// without these dimensions, to be repeated further out: a tile gets them, and keeps its elements.
struct BroadcastExpr : Expr {
  const Expr *operand;
  BroadcastExpr(const Expr *x, Type t, SourceRange r)
      : Expr(Kind::Broadcast, std::move(t), r), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Broadcast; }
};

/// `T(x)`, element by element; from operand->type.elem to type.elem by the rules of section 4.
struct ConvertExpr : Expr {
  const Expr *operand;
  ConvertExpr(const Expr *x, Type t, SourceRange r)
      : Expr(Kind::Convert, std::move(t), r), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Convert; }
};

/// `bitcast(T, x)` of a value: same size of element (or, for vecs, same size in all).
struct BitcastValueExpr : Expr {
  const Expr *operand;
  BitcastValueExpr(const Expr *x, Type t, SourceRange r)
      : Expr(Kind::BitcastValue, std::move(t), r), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::BitcastValue; }
};

/// `v[k]` of a vec; also a target, then `vec` is a RefExpr to a VarDecl.
struct VecElementExpr : Expr {
  const Expr *vec, *index;
  VecElementExpr(const Expr *v, const Expr *i, Type t, SourceRange r)
      : Expr(Kind::VecElement, std::move(t), r), vec(v), index(i) {}
  static bool classof(const Expr *e) { return e->kind == Kind::VecElement; }
};

/// Functions on scalars, tiles and vecs, element by element. The spelling is the language's.
enum class MathFn : uint8_t {
  Abs,
  Min, ///< two or more arguments
  Max,
  Clamp,
  Fma,
  Sqrt,
  Rsqrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Pow,
  Sin,
  Cos,
  Tanh,
  Erf,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Trunc,
  IsNan, ///< the is... functions give bool
  IsInf,
  IsFinite,
  CeilDiv,
  FloorDiv,
  FloorMod,
  PopCount, ///< popcount and clz have their argument's type
  Clz,
  MulHi,
};

struct MathExpr : Expr {
  MathFn fn;
  llvm::ArrayRef<const Expr *> args; ///< all of one type
  MathExpr(MathFn fn, llvm::ArrayRef<const Expr *> args, Type t, SourceRange r)
      : Expr(Kind::Math, std::move(t), r), fn(fn), args(args) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Math; }
};

/// A call of a scalar function. With shaped (or vec) type it is applied element by element; all
/// arguments then have that shape. Several results: type is Tuple, `resultTypes` lists them.
struct CallExpr : Expr {
  const Function *callee;
  llvm::ArrayRef<const Expr *> args;
  llvm::ArrayRef<Type> resultTypes; ///< with the shape of the arguments; one or more
  CallExpr(const Function *f, llvm::ArrayRef<const Expr *> args, Type t, SourceRange r)
      : Expr(Kind::Call, std::move(t), r), callee(f), args(args) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }
};

/// An inlined `tile fn`: runs `body` in place, then evaluates `results` within the body's scope. No
/// result: type is Void; several: Tuple.
struct BlockExpr : Expr {
  llvm::StringRef callee;
  llvm::ArrayRef<const Stmt *> body;
  llvm::ArrayRef<const Expr *> results;
  BlockExpr(Type t, SourceRange r) : Expr(Kind::Block, std::move(t), r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Block; }
};

enum class ReduceKind : uint8_t { Sum, Prod, Max, Min, And, Or, Xor, Any, All };

/// reduce_*(x [, axis]). Without axis over all elements. A rank-1 tile or no axis gives a scalar.
/// x may be a vec (Sum, Min, Max), which gives a scalar.
struct ReduceExpr : Expr {
  ReduceKind op;
  const Expr *operand;
  std::optional<unsigned> axis;
  ReduceExpr(ReduceKind op, const Expr *x, Type t, SourceRange r)
      : Expr(Kind::Reduce, std::move(t), r), op(op), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Reduce; }
};

/// reduce(f, x, y, ..): `fn` takes 2n scalars and returns n. n > 1: type is Tuple.
struct ReduceFnExpr : Expr {
  const Function *fn = nullptr;
  llvm::ArrayRef<const Expr *> operands; ///< n tiles of one shape
  llvm::ArrayRef<Type> resultTypes;      ///< n
  std::optional<unsigned> axis;
  ReduceFnExpr(Type t, SourceRange r) : Expr(Kind::ReduceFn, std::move(t), r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::ReduceFn; }
};

/// scan_sum scan_prod scan_max scan_min.
struct ScanExpr : Expr {
  ReduceKind op;
  const Expr *operand;
  unsigned axis = 0;
  bool reverse = false, exclusive = false;
  ScanExpr(ReduceKind op, const Expr *x, Type t, SourceRange r)
      : Expr(Kind::Scan, std::move(t), r), op(op), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Scan; }
};

/// scan(f, x, .., axis = k [, reverse = b]).
struct ScanFnExpr : Expr {
  const Function *fn = nullptr;
  llvm::ArrayRef<const Expr *> operands;
  llvm::ArrayRef<Type> resultTypes;
  unsigned axis = 0;
  bool reverse = false;
  ScanFnExpr(Type t, SourceRange r) : Expr(Kind::ScanFn, std::move(t), r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::ScanFn; }
};

struct TransposeExpr : Expr {
  const Expr *operand;
  TransposeExpr(const Expr *x, Type t, SourceRange r)
      : Expr(Kind::Transpose, std::move(t), r), operand(x) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Transpose; }
};

enum class AtomicOp : uint8_t { Add, Min, Max, And, Or, Xor, Exchange, Cas };

/// On one element (`place` is an ElementExpr): gives the old value. On a region (`place` is a Ref,
/// Slice or Origin; `value` a tile of its shape): Void.
struct AtomicExpr : Expr {
  AtomicOp op;
  const Expr *place, *value;
  const Expr *expected = nullptr; ///< Cas only
  bool acqRel = false;
  AtomicExpr(AtomicOp op, const Expr *place, const Expr *value, Type t, SourceRange r)
      : Expr(Kind::Atomic, std::move(t), r), op(op), place(place), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Atomic; }
};

/// Operations among the lanes of a warp, in regions. `operand2` is the lane or distance of shuffles
/// (any integer type). Ballot gives u32, Lane i32; Lane has no operand.
enum class WarpOp : uint8_t {
  Sum,
  Min,
  Max,
  ScanSum,
  ScanProd,
  ScanMax,
  ScanMin,
  Any,
  All,
  Ballot,
  Shuffle,
  ShuffleXor,
  ShuffleUp,
  ShuffleDown,
  Lane,
};

struct WarpExpr : Expr {
  WarpOp op;
  const Expr *operand = nullptr, *operand2 = nullptr;
  int64_t width = 32;                      ///< Sum .. All: lanes per group
  bool reverse = false, exclusive = false; ///< of scans
  WarpExpr(WarpOp op, Type t, SourceRange r) : Expr(Kind::Warp, std::move(t), r), op(op) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Warp; }
};

/// stride(X, d): i64, in elements; a constant index.
struct StrideExpr : Expr {
  const TensorParam *tensor;
  unsigned axis;
  StrideExpr(const TensorParam *t, unsigned axis, SourceRange r)
      : Expr(Kind::Stride, Type(Scalar::I64), r), tensor(t), axis(axis) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Stride; }
};

/// sm_count(): i32, in the host part and captured by launches.
struct SmCountExpr : Expr {
  explicit SmCountExpr(SourceRange r) : Expr(Kind::SmCount, Type(Scalar::I32), r) {}
  static bool classof(const Expr *e) { return e->kind == Kind::SmCount; }
};

/// present(X) of an optional tensor: bool.
struct PresentExpr : Expr {
  const TensorParam *tensor;
  PresentExpr(const TensorParam *t, SourceRange r)
      : Expr(Kind::Present, Type(Scalar::Bool), r), tensor(t) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Present; }
};

/// The extent of a place in one dimension, where it is not constant: what a tile function's tensor
/// parameter binds a name to. i32, or i64 where the tensor's extent is.
struct ExtentOfExpr : Expr {
  const Expr *place;
  unsigned axis;
  ExtentOfExpr(const Expr *p, unsigned axis, Type t, SourceRange r)
      : Expr(Kind::ExtentOf, std::move(t), r), place(p), axis(axis) {}
  static bool classof(const Expr *e) { return e->kind == Kind::ExtentOf; }
};

/// One element of the place `base` (plain indices only, i32, i64 or u32 each). Reading a tensor,
/// workspace or view of one out of range gives 0, writing does nothing. `base` may also be a tile
/// value (Space::Value, read only).
struct ElementExpr : Expr {
  const Expr *base;
  llvm::ArrayRef<const Expr *> indices;
  ElementExpr(const Expr *b, llvm::ArrayRef<const Expr *> i, Type t, SourceRange r)
      : Expr(Kind::Element, std::move(t), r), base(b), indices(i) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Element; }
};

/// `x[i.., j :+ n]` in a region: n neighbours along the last dimension, type vec<elem>[n];
/// `indices` ends with the begin of the last dimension. Each element is in or out of range by
/// itself.
struct VecAccessExpr : Expr {
  const Expr *base;
  llvm::ArrayRef<const Expr *> indices;
  VecAccessExpr(const Expr *b, llvm::ArrayRef<const Expr *> i, Type t, SourceRange r)
      : Expr(Kind::VecAccess, std::move(t), r), base(b), indices(i) {}
  static bool classof(const Expr *e) { return e->kind == Kind::VecAccess; }
};

struct Subscript {
  enum class Kind : uint8_t {
    Index, ///< `begin` is the index; the dimension disappears
    Range, ///< from `begin`; `size` elements, or up to `end` if size is kDynamic (nothing if end <=
           ///< begin)
    All,   ///< the whole dimension
    Gather, ///< `begin` is a rank-1 i32 or i64 tile of `size` elements
  };
  Kind kind = Kind::All;
  const Expr *begin = nullptr;
  const Expr *end = nullptr; ///< Range written `a..b` only
  int64_t size = kDynamic;   ///< extent of the dimension that results; All: of the base
};

/// A slice: at least one subscript is not Index. Bounds of its own; nested slices stay nested.
/// `base` may be a tile value (a `let`): then all subscripts are constant and the slice is a value.
struct SliceExpr : Expr {
  const Expr *base;
  llvm::ArrayRef<Subscript> subscripts;
  SliceExpr(const Expr *b, llvm::ArrayRef<Subscript> s, Type t, SourceRange r)
      : Expr(Kind::Slice, std::move(t), r), base(b), subscripts(s) {
    space = b->space;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Slice; }
};

/// Operand of a copy or an atomic on tiles: `type` has the shape of the other side, rank R. The
/// last R subscripts are Index (where the region begins) or Gather, the ones before are Index
/// (fixed). In the last R dimensions the region ends at the end of `base`.
struct OriginExpr : Expr {
  const Expr *base;
  llvm::ArrayRef<Subscript> subscripts;
  OriginExpr(const Expr *b, llvm::ArrayRef<Subscript> s, Type t, SourceRange r)
      : Expr(Kind::Origin, std::move(t), r), base(b), subscripts(s) {
    space = b->space;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Origin; }
};

/// reshape(X, [..]) of a contiguous tensor, workspace or shared buffer, row-major. Sizes were
/// compared if constant; otherwise lowering adds the check.
struct ReshapeExpr : Expr {
  const Expr *base;
  llvm::ArrayRef<Extent> extents;
  ReshapeExpr(const Expr *b, llvm::ArrayRef<Extent> e, Type t, SourceRange r)
      : Expr(Kind::Reshape, std::move(t), r), base(b), extents(e) {
    space = b->space;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::Reshape; }
};

/// bitcast(T, X) of a tensor, workspace or shared buffer: the last extent scales with the size.
struct BitcastViewExpr : Expr {
  const Expr *base;
  BitcastViewExpr(const Expr *b, Type t, SourceRange r)
      : Expr(Kind::BitcastView, std::move(t), r), base(b) {
    space = b->space;
  }
  static bool classof(const Expr *e) { return e->kind == Kind::BitcastView; }
};

} // namespace tilec::sema
