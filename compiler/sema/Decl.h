//===- Decl.h - Declarations of a typed program -----------------*- C++ -*-===//
// Part of Program.h, which describes the whole.
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/sema/Type.h"

#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"

namespace tilec::sema {

using SourceRange = llvm::SMRange;

struct Expr;

/// Where the elements of a place live; `Value` for anything that is not a place.
enum class Space : uint8_t {
  Value,
  Tensor,     ///< a kernel parameter, or a view of one
  Workspace,  ///< or a view of one
  Shared,     ///< or a view of one
  Fragment,   ///< or a view of one
  Local,      ///< shape as declared; read in block code it is a tile [threads, shape..]
  ConstArray, ///< a `const` of rank 1
};

enum class Direction : uint8_t { In, Out, InOut };

/// A declared thing that an expression can refer to.
struct Decl {
  enum class Kind : uint8_t {
    TensorParam,
    ScalarParam,
    Dim,
    Let,
    Var,
    Index,
    Buffer,
    Workspace,
    View,
    ConstArray,
    FnParam,
  };
  Kind kind;
  llvm::StringRef name;
  SourceRange range; ///< of the name
  Type type;         ///< of a reference; for places element kind and extents

protected:
  Decl(Kind kind, llvm::StringRef name, SourceRange range, Type type)
      : kind(kind), name(name), range(range), type(std::move(type)) {}
};

/// One extent of a tensor or workspace: `constant`, or kDynamic and the expression that computes it
/// (over scalar parameters and dimensions, in exact host arithmetic).
struct Extent {
  int64_t constant = kDynamic;
  const Expr *expr = nullptr; ///< always set, also when constant (then a ConstantExpr)
};

/// A tensor parameter. `type` has kDynamic where an extent is not constant.
struct TensorParam : Decl {
  unsigned index = 0; ///< position among all parameters of the kernel
  Direction dir = Direction::In;
  bool strided = false;
  bool optional = false;
  int64_t align = 16; ///< bytes
  llvm::ArrayRef<Extent> extents;
  llvm::ArrayRef<const TensorParam *> mayAlias;
  TensorParam(llvm::StringRef n, SourceRange r, Type t)
      : Decl(Kind::TensorParam, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::TensorParam; }
};

/// A scalar parameter.
struct ScalarParam : Decl {
  unsigned index = 0;
  ScalarParam(llvm::StringRef n, SourceRange r, Type t)
      : Decl(Kind::ScalarParam, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::ScalarParam; }
};

/// A dimension name, `i32`: the extent of `source` in `axis` minus `offset` (offset is c in an
/// extent `NAME + c`, -c in `NAME - c`, 0 for a bare name). With `constant`, references are
/// ConstantExpr and the first binding becomes a check as well.
struct DimDecl : Decl {
  const TensorParam *source = nullptr;
  unsigned axis = 0;
  int64_t offset = 0;
  std::optional<int64_t> constant;
  DimDecl(llvm::StringRef n, SourceRange r) : Decl(Kind::Dim, n, r, Type(Scalar::I32)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Dim; }
};

/// An immutable value: scalar, vec or tile (a copy, in registers).
struct LetDecl : Decl {
  LetDecl(llvm::StringRef n, SourceRange r, Type t) : Decl(Kind::Let, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Let; }
};

/// A mutable scalar or vec: one per block, in a region one per thread, in `parallel` per iteration.
struct VarDecl : Decl {
  VarDecl(llvm::StringRef n, SourceRange r, Type t) : Decl(Kind::Var, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Var; }
};

/// A loop variable, a grid index, a parallel index or the coordinate on a thread axis.
struct IndexDecl : Decl {
  enum class Role : uint8_t { Loop, Grid, Parallel, Thread };
  Role role;
  IndexDecl(llvm::StringRef n, SourceRange r, Type t, Role role)
      : Decl(Kind::Index, n, r, std::move(t)), role(role) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Index; }
};

/// The choice of `@layout`.
struct LayoutChoice {
  enum class Kind : uint8_t { Inferred, RowMajor, Swizzle, Padded } kind = Kind::Inferred;
  int64_t amount = 0; ///< Swizzle: 32, 64 or 128 bytes; Padded: elements
  SourceRange range;
};

/// `shared`, `fragment` or `local`. A `local` may have rank 0.
struct BufferDecl : Decl {
  Space space;
  LayoutChoice layout;
  BufferDecl(llvm::StringRef n, SourceRange r, Type t, Space space)
      : Decl(Kind::Buffer, n, r, std::move(t)), space(space) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Buffer; }
};

/// Global memory for one call, 256-byte aligned. Without `init` the contents are undefined.
struct WorkspaceDecl : Decl {
  unsigned index = 0; ///< position among the workspaces of the kernel
  llvm::ArrayRef<Extent> extents;
  const Expr *init = nullptr; ///< ConstantExpr of the element type
  WorkspaceDecl(llvm::StringRef n, SourceRange r, Type t)
      : Decl(Kind::Workspace, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::Workspace; }
};

/// A name for part of a tensor, workspace, shared buffer or fragment. `place` is a place expression
/// (Ref, Slice, Reshape, BitcastView); its subscripts are evaluated once, at the ViewStmt.
struct ViewDecl : Decl {
  const Expr *place = nullptr;
  Space space = Space::Value;
  ViewDecl(llvm::StringRef n, SourceRange r, Type t) : Decl(Kind::View, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::View; }
};

/// `const LUT: f32[16] = [ ... ];`: values are ConstantExpr of the element type.
struct ConstArrayDecl : Decl {
  llvm::ArrayRef<const Expr *> values;
  ConstArrayDecl(llvm::StringRef n, SourceRange r, Type t)
      : Decl(Kind::ConstArray, n, r, std::move(t)) {}
  static bool classof(const Decl *d) { return d->kind == Kind::ConstArray; }
};

/// A parameter of a scalar function instance.
struct FnParam : Decl {
  unsigned index;
  FnParam(llvm::StringRef n, SourceRange r, Type t, unsigned index)
      : Decl(Kind::FnParam, n, r, std::move(t)), index(index) {}
  static bool classof(const Decl *d) { return d->kind == Kind::FnParam; }
};

} // namespace tilec::sema
