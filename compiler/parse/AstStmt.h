// Types, annotations and statements of the syntax tree. Ast.h says what holds for all nodes.
#pragma once

#include "compiler/parse/AstExpr.h"

namespace tilec::ast {

/// `NAME` or `vec<element>[count]`.
class TypeExpr {
public:
  SMRange range;
  StringRef name;          // empty for a vec
  const TypeExpr *element; // null unless a vec
  const Expr *count;       // null unless a vec
  bool isVec() const { return element != nullptr; }
  TypeExpr(SMRange range, StringRef name, const TypeExpr *element, const Expr *count)
      : range(range), name(name), element(element), count(count) {}
};

/// `type [shape]`: a scalar without shape, else a tile, buffer or constant array.
struct TileType {
  SMRange range;
  const TypeExpr *element = nullptr; // null if the whole type is absent
  ArrayRef<const Expr *> shape;      // empty for a scalar
  explicit operator bool() const { return element != nullptr; }
};

enum class Direction : uint8_t { In, Out, InOut };
enum class Scope : uint8_t { Shared, Fragment, Local };
StringRef spelling(Direction direction); // empty for In
StringRef spelling(Scope scope);

/// The kind of a compile-time parameter.
enum class ParamKind : uint8_t { Int, Bool, Type };
StringRef spelling(ParamKind kind);

/// `NAME: kind = default` between `<` and `>`.
struct GenericParam {
  Ident name;
  ParamKind kind;
  const Expr *defaultValue = nullptr; // null if absent
};

/// `@name(args)`.
struct Annotation {
  SMRange range;
  Ident name;
  ArrayRef<Arg> args;
  bool hasParens = false;
};

enum class StmtKind : uint8_t {
  Const,
  Buffer,
  Let,
  Var,
  View,
  Launch,
  Threads,
  Parallel,
  For,
  While,
  If,
  Break,
  Continue,
  Return,
  Assign,
  Call,
};

class Stmt {
public:
  const StmtKind kind;
  SMRange range; // without annotations
  ArrayRef<Annotation> annotations;

protected:
  Stmt(StmtKind kind, SMRange range) : kind(kind), range(range) {}
};

struct Block {
  SMRange range; // with the braces
  ArrayRef<const Stmt *> statements;
};

/// `const name: type = value;`, a statement or an item.
struct ConstDecl {
  Ident name;
  TileType type; // may be absent
  const Expr *value = nullptr;
};

class ConstStmt : public Stmt {
public:
  ConstDecl decl;
  ConstStmt(SMRange range, ConstDecl decl) : Stmt(StmtKind::Const, range), decl(decl) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Const; }
};

enum class BufferKind : uint8_t { Shared, Fragment, Local, Workspace };
StringRef spelling(BufferKind kind);

/// `shared a, b: T[shape] = init;`
class BufferStmt : public Stmt {
public:
  BufferKind bufferKind;
  ArrayRef<Ident> names;
  TileType type;
  const Expr *init; // null if absent
  BufferStmt(SMRange range, BufferKind bufferKind, ArrayRef<Ident> names, TileType type,
             const Expr *init)
      : Stmt(StmtKind::Buffer, range), bufferKind(bufferKind), names(names), type(type),
        init(init) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Buffer; }
};

/// `let name: type = value;` or `let (a, b) = value;`
class LetStmt : public Stmt {
public:
  ArrayRef<Ident> names; // one or more
  bool isTuple;          // names are in brackets
  TileType type;         // may be absent
  const Expr *value;
  LetStmt(SMRange range, ArrayRef<Ident> names, bool isTuple, TileType type, const Expr *value)
      : Stmt(StmtKind::Let, range), names(names), isTuple(isTuple), type(type), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Let; }
};

class VarStmt : public Stmt {
public:
  Ident name;
  const TypeExpr *type; // null if absent
  const Expr *value;
  VarStmt(SMRange range, Ident name, const TypeExpr *type, const Expr *value)
      : Stmt(StmtKind::Var, range), name(name), type(type), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Var; }
};

class ViewStmt : public Stmt {
public:
  Ident name;
  const Expr *value;
  ViewStmt(SMRange range, Ident name, const Expr *value)
      : Stmt(StmtKind::View, range), name(name), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::View; }
};

/// `name: extent` of `threads(...)`.
struct Axis {
  Ident name;
  const Expr *extent;
};

/// `launch binder in grid(extents) threads(count or axes) { ... }`
class LaunchStmt : public Stmt {
public:
  ArrayRef<Ident> binder;
  bool isTuple; // the binder is in brackets
  ArrayRef<const Expr *> grid;
  const Expr *threadCount; // null if axes are given
  ArrayRef<Axis> axes;     // empty if a count is given
  Block body;
  LaunchStmt(SMRange range, ArrayRef<Ident> binder, bool isTuple, ArrayRef<const Expr *> grid,
             const Expr *threadCount, ArrayRef<Axis> axes, Block body)
      : Stmt(StmtKind::Launch, range), binder(binder), isTuple(isTuple), grid(grid),
        threadCount(threadCount), axes(axes), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Launch; }
};

/// A region: `threads(tx: 32, ty: 8) { ... }`
class ThreadsStmt : public Stmt {
public:
  ArrayRef<Axis> axes;
  Block body;
  ThreadsStmt(SMRange range, ArrayRef<Axis> axes, Block body)
      : Stmt(StmtKind::Threads, range), axes(axes), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Threads; }
};

class ParallelStmt : public Stmt {
public:
  ArrayRef<Ident> binder;
  bool isTuple; // the binder is in brackets
  const Expr *domain;
  Block body;
  ParallelStmt(SMRange range, ArrayRef<Ident> binder, bool isTuple, const Expr *domain, Block body)
      : Stmt(StmtKind::Parallel, range), binder(binder), isTuple(isTuple), domain(domain),
        body(body) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Parallel; }
};

/// `first .. last step step`.
struct Range {
  SMRange range;
  const Expr *first = nullptr;
  const Expr *last = nullptr;
  const Expr *step = nullptr; // null if absent
};

enum class ForKind : uint8_t { Serial, Pipelined, Unrolled };

class ForStmt : public Stmt {
public:
  ForKind forKind;
  SMRange kindRange; // of `pipelined` or `unrolled`; none for Serial
  Ident variable;
  Range bounds;
  ArrayRef<Arg> options; // each with a name; empty for Serial
  Block body;
  ForStmt(SMRange range, ForKind forKind, SMRange kindRange, Ident variable, Range bounds,
          ArrayRef<Arg> options, Block body)
      : Stmt(StmtKind::For, range), forKind(forKind), kindRange(kindRange), variable(variable),
        bounds(bounds), options(options), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::For; }
};

class WhileStmt : public Stmt {
public:
  const Expr *condition;
  Block body;
  WhileStmt(SMRange range, const Expr *condition, Block body)
      : Stmt(StmtKind::While, range), condition(condition), body(body) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::While; }
};

class IfStmt : public Stmt {
public:
  const Expr *condition;
  Block thenBlock;
  const Block *elseBlock; // null if absent; for `else if` it holds just the inner IfStmt
  bool elseIf;            // written as `else if`
  IfStmt(SMRange range, const Expr *condition, Block thenBlock, const Block *elseBlock, bool elseIf)
      : Stmt(StmtKind::If, range), condition(condition), thenBlock(thenBlock), elseBlock(elseBlock),
        elseIf(elseIf) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::If; }
};

class BreakStmt : public Stmt {
public:
  explicit BreakStmt(SMRange range) : Stmt(StmtKind::Break, range) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Break; }
};

class ContinueStmt : public Stmt {
public:
  explicit ContinueStmt(SMRange range) : Stmt(StmtKind::Continue, range) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Continue; }
};

class ReturnStmt : public Stmt {
public:
  const Expr *value; // null if absent; may be a TupleExpr
  ReturnStmt(SMRange range, const Expr *value) : Stmt(StmtKind::Return, range), value(value) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Return; }
};

/// `target = value;`, or with `hasOp`: `target op= value;`
class AssignStmt : public Stmt {
public:
  const Expr *target; // a postfix expression
  bool hasOp;
  BinaryOp op; // meaningful if hasOp
  SMRange opRange;
  const Expr *value;
  AssignStmt(SMRange range, const Expr *target, bool hasOp, BinaryOp op, SMRange opRange,
             const Expr *value)
      : Stmt(StmtKind::Assign, range), target(target), hasOp(hasOp), op(op), opRange(opRange),
        value(value) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Assign; }
};

class CallStmt : public Stmt {
public:
  const CallExpr *call;
  CallStmt(SMRange range, const CallExpr *call) : Stmt(StmtKind::Call, range), call(call) {}
  static bool classof(const Stmt *s) { return s->kind == StmtKind::Call; }
};

} // namespace tilec::ast
