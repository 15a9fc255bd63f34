//===- Stmt.h - Statements of a typed program -------------------*- C++ -*-===//
// Part of Program.h, which describes the whole.
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/sema/Expr.h"

namespace tilec::sema {

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

/// One word of `@require(w, .. [, from = a])`; those for a later architecture are left out.
struct Requirement {
  enum class Kind : uint8_t {
    Wgmma,
    Mma,
    Tma,
    CpAsync,
    Pipelined,
    Stages,
    WarpSpecialize,
    Cluster,
    NoExchange,
    NoSpill,
    NoPartial,
    NoSplit,
    NoVote,
    NoNarrow,
    Vector,
  } kind;
  int64_t bytes = 0; ///< Vector
  SourceRange range;
};

enum class CachePolicy : uint8_t { None, EvictFirst, EvictLast, NoAllocate };

/// Of any statement of a launch body.
struct StmtAnnotations {
  bool noTma = false;
  CachePolicy cache = CachePolicy::None; ///< of all accesses inside without one of their own
  llvm::ArrayRef<Requirement> require;
};

struct LaunchAnnotations {
  bool persistent = false;
  bool persistentDynamic = false;
  bool overlap = false;                 ///< begins before the launch before it has ended
  const Expr *rasterizeGroup = nullptr; ///< an integer; null: 1
  llvm::ArrayRef<int64_t> cluster;      ///< empty or 1 to 3 extents
  std::optional<int64_t> minBlocks, maxRegisters;
  enum class WarpSpecialize : uint8_t {
    Auto,
    Off,
    Producer,
    Operations,
    PingPong
  } warpSpecialize = WarpSpecialize::Auto;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

using Block = llvm::ArrayRef<const Stmt *>;

struct Stmt {
  enum class Kind : uint8_t {
    // Declarations.
    Let,
    LetTuple,
    Var,
    Buffer,
    Workspace,
    View,
    // Host part.
    Launch,
    // Structure.
    Scope,
    Threads,
    Parallel,
    For,
    While,
    If,
    Break,
    Continue,
    Return,
    // Actions.
    Assign,
    Evaluate,
    Copy,
    Gemm,
    Print,
    Assert,
    Sync,
  };
  Kind kind;
  SourceRange range;
  StmtAnnotations annotations;

protected:
  Stmt(Kind kind, SourceRange range) : kind(kind), range(range) {}
};

struct LetStmt : Stmt {
  const LetDecl *decl;
  const Expr *init; ///< of the declaration's type
  LetStmt(const LetDecl *d, const Expr *e, SourceRange r) : Stmt(Kind::Let, r), decl(d), init(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Let; }
};

/// `let (a, b) = call;` init has type Tuple: a CallExpr, BlockExpr, ReduceFnExpr or ScanFnExpr.
struct LetTupleStmt : Stmt {
  llvm::ArrayRef<const LetDecl *> decls;
  const Expr *init;
  LetTupleStmt(llvm::ArrayRef<const LetDecl *> d, const Expr *e, SourceRange r)
      : Stmt(Kind::LetTuple, r), decls(d), init(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::LetTuple; }
};

struct VarStmt : Stmt {
  const VarDecl *decl;
  const Expr *init;
  VarStmt(const VarDecl *d, const Expr *e, SourceRange r) : Stmt(Kind::Var, r), decl(d), init(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Var; }
};

/// The buffer is new each time control arrives here. `init`: null (undefined), or a value of the
/// buffer's type (a scalar was wrapped in BroadcastExpr).
struct BufferStmt : Stmt {
  const BufferDecl *decl;
  const Expr *init;
  BufferStmt(const BufferDecl *d, const Expr *e, SourceRange r)
      : Stmt(Kind::Buffer, r), decl(d), init(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Buffer; }
};

struct WorkspaceStmt : Stmt {
  const WorkspaceDecl *decl;
  WorkspaceStmt(const WorkspaceDecl *d, SourceRange r) : Stmt(Kind::Workspace, r), decl(d) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Workspace; }
};

struct ViewStmt : Stmt {
  const ViewDecl *decl;
  ViewStmt(const ViewDecl *d, SourceRange r) : Stmt(Kind::View, r), decl(d) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::View; }
};

/// One axis of `threads(tx: 32, ty: 8)`; the first runs along a warp.
struct ThreadAxis {
  const IndexDecl *decl;
  int64_t extent;
};

/// `launch (..) in grid(..) threads(..) { .. }`. With named axes the body holds the buffers of its
/// top and one ThreadsStmt.
struct LaunchStmt : Stmt {
  unsigned index = 0; ///< position among the launches of the kernel, in source order
  llvm::ArrayRef<const IndexDecl *> binders; ///< i32 each, as many as extents
  llvm::ArrayRef<const Expr *> grid;         ///< integer expressions of the host part
  int64_t threads = 0;
  LaunchAnnotations launch;
  Block body;
  explicit LaunchStmt(SourceRange r) : Stmt(Kind::Launch, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Launch; }
};

/// A plain `{ }`: the chosen side of a constant `if` that declares something.
struct ScopeStmt : Stmt {
  Block body;
  ScopeStmt(Block b, SourceRange r) : Stmt(Kind::Scope, r), body(b) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Scope; }
};

struct ThreadsStmt : Stmt {
  llvm::ArrayRef<ThreadAxis> axes;
  Block body;
  ThreadsStmt(llvm::ArrayRef<ThreadAxis> a, Block b, SourceRange r)
      : Stmt(Kind::Threads, r), axes(a), body(b) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Threads; }
};

/// `domain` is a place or tile whose shape is iterated (null if written as a list); `extents` are
/// set for lists, and for domains wherever constant (`expr` null where the domain must be asked).
struct ParallelStmt : Stmt {
  llvm::ArrayRef<const IndexDecl *> binders;
  const Expr *domain = nullptr;
  llvm::ArrayRef<Extent> extents;
  Block body;
  explicit ParallelStmt(SourceRange r) : Stmt(Kind::Parallel, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Parallel; }
};

/// Bounds are evaluated once and have the type of the variable, as has `step` (null: 1).
struct ForStmt : Stmt {
  enum class Mode : uint8_t { Serial, Pipelined, Unrolled } mode = Mode::Serial;
  const IndexDecl *decl = nullptr;
  const Expr *lo = nullptr, *hi = nullptr, *step = nullptr;
  int64_t stages = 0; ///< Pipelined: >= 1
  int64_t hold = 0;   ///< Pipelined: percent, 1 to 100; 0: not given
  bool turns = false; ///< Pipelined
  int64_t factor =
      0; ///< Unrolled: >= 1. Full unrolling was done: it leaves one ScopeStmt each time
  Block body;
  explicit ForStmt(SourceRange r) : Stmt(Kind::For, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::For; }
};

struct WhileStmt : Stmt {
  const Expr *cond;
  Block body;
  WhileStmt(const Expr *c, Block b, SourceRange r) : Stmt(Kind::While, r), cond(c), body(b) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::While; }
};

struct IfStmt : Stmt {
  const Expr *cond;
  Block thenBody, elseBody;
  IfStmt(const Expr *c, Block t, Block e, SourceRange r)
      : Stmt(Kind::If, r), cond(c), thenBody(t), elseBody(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::If; }
};

struct BreakStmt : Stmt {
  explicit BreakStmt(SourceRange r) : Stmt(Kind::Break, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Break; }
};

struct ContinueStmt : Stmt {
  explicit ContinueStmt(SourceRange r) : Stmt(Kind::Continue, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Continue; }
};

/// In a Function: the results. In block code (no values): ends the block's work.
struct ReturnStmt : Stmt {
  llvm::ArrayRef<const Expr *> values;
  ReturnStmt(llvm::ArrayRef<const Expr *> v, SourceRange r) : Stmt(Kind::Return, r), values(v) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Return; }
};

/// `target` is Ref (var, whole buffer or view), Element, VecAccess, VecElement, or Slice (a tile).
/// `value` has the target's type. With `op`: target = target op value, its subscripts evaluated
/// once (a shift count keeps its own integer type).
struct AssignStmt : Stmt {
  const Expr *target, *value;
  std::optional<BinaryOp> op;
  AssignStmt(const Expr *t, const Expr *v, SourceRange r)
      : Stmt(Kind::Assign, r), target(t), value(v) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Assign; }
};

/// An expression for its effect: AtomicExpr or BlockExpr (or a call without effect).
struct EvaluateStmt : Stmt {
  const Expr *expr;
  EvaluateStmt(const Expr *e, SourceRange r) : Stmt(Kind::Evaluate, r), expr(e) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Evaluate; }
};

/// `source`: a place or Origin of any space, or a tile value; `target`: a place or Origin. Both
/// types have the same static shape; elements convert as by ConvertExpr.
struct CopyStmt : Stmt {
  const Expr *source, *target;
  CopyStmt(const Expr *s, const Expr *t, SourceRange r)
      : Stmt(Kind::Copy, r), source(s), target(t) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Copy; }
};

enum class GemmPolicy : uint8_t { Square, FullRow, FullCol };
enum class GemmPrecision : uint8_t { Full, Tf32 };

struct GemmStmt : Stmt {
  const Expr *a = nullptr, *b = nullptr; ///< places (shared, fragment) or tile values
  const Expr *acc = nullptr;             ///< a fragment or a slice of one
  bool transposeA = false, transposeB = false, accumulate = true;
  GemmPolicy policy = GemmPolicy::Square;
  GemmPrecision precision = GemmPrecision::Full;
  int64_t promote = 128; ///< fp8 only; 0: never
  int64_t m = 0, n = 0, k = 0;
  explicit GemmStmt(SourceRange r) : Stmt(Kind::Gemm, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Gemm; }
};

/// Pieces of text around the values: text.size() == args.size() + 1, escapes resolved.
struct FormatString {
  llvm::ArrayRef<llvm::StringRef> text;
  llvm::ArrayRef<const Expr *> args;
};

struct PrintStmt : Stmt {
  FormatString format;
  explicit PrintStmt(SourceRange r) : Stmt(Kind::Print, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Print; }
};

/// assert(c [, text]) or, with `assume`, a fact (tested under --check only). The condition may be a
/// tile of bool: every element.
struct AssertStmt : Stmt {
  const Expr *cond = nullptr;
  bool assume = false;
  llvm::StringRef sourceText; ///< of the condition
  FormatString message;       ///< empty lists if none
  explicit AssertStmt(SourceRange r) : Stmt(Kind::Assert, r) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Assert; }
};

/// sync_threads() or sync_warp().
struct SyncStmt : Stmt {
  bool warp;
  SyncStmt(bool warp, SourceRange r) : Stmt(Kind::Sync, r), warp(warp) {}
  static bool classof(const Stmt *s) { return s->kind == Kind::Sync; }
};

} // namespace tilec::sema
