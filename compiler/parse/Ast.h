// The syntax tree: one class for each production of the grammar in docs/language.md, section 2.
//
// Nodes are immutable, allocated in an ast::Context and freed with it, all at once; none has a
// destructor, so deep trees cost nothing to free. Names are slices of the source buffers: the
// SourceMgr that holds them must outlive the tree. Every node has the range of its source text;
// round brackets leave no node, they only widen the range of what they hold. Trees are at most
// `maxDepth` levels deep, so recursion over them is safe. A node never has null children except
// where a comment says so.
#pragma once

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SMLoc.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tilec::ast {

using llvm::ArrayRef;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

/// The deepest tree that the parser builds ([nesting]).
inline constexpr unsigned maxDepth = 1000;

/// Owns nodes and their arrays.
class Context {
public:
  template <typename T, typename... Args>
  T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>, "nodes are never destroyed one by one");
    return new (allocator.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  template <typename T>
  ArrayRef<T> copy(ArrayRef<T> values) {
    T *data = allocator.Allocate<T>(values.size());
    std::uninitialized_copy(values.begin(), values.end(), data);
    return ArrayRef<T>(data, values.size());
  }
  StringRef copy(StringRef text) { return text.copy(allocator); }

private:
  llvm::BumpPtrAllocator allocator;
};

/// A name where it is declared or used. Empty and without range if it is absent.
struct Ident {
  StringRef name;
  SMRange range;
  explicit operator bool() const { return !name.empty(); }
};

//===------------------------------------------------------------------------------------------===//
// Expressions
//===------------------------------------------------------------------------------------------===//

enum class ExprKind : uint8_t {
  Int,
  Float,
  String,
  Bool,
  Name,
  Call,
  Index,
  Unary,
  Binary,
  Conditional,
  Tuple,
  List,
};

class Expr {
public:
  const ExprKind kind;
  uint16_t height; // levels below this node
  SMRange range;

protected:
  Expr(ExprKind kind, SMRange range, unsigned height) : kind(kind), height(height), range(range) {}
};

/// `128`, `0x80`.
class IntExpr : public Expr {
public:
  uint64_t value;
  StringRef spelling;
  IntExpr(SMRange range, uint64_t value, StringRef spelling)
      : Expr(ExprKind::Int, range, 0), value(value), spelling(spelling) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Int; }
};

/// `1.0`, `1e-5`: the nearest f64.
class FloatExpr : public Expr {
public:
  double value;
  StringRef spelling;
  FloatExpr(SMRange range, double value, StringRef spelling)
      : Expr(ExprKind::Float, range, 0), value(value), spelling(spelling) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Float; }
};

class StringExpr : public Expr {
public:
  StringRef value; // escapes resolved
  StringExpr(SMRange range, StringRef value) : Expr(ExprKind::String, range, 0), value(value) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::String; }
};

class BoolExpr : public Expr {
public:
  bool value;
  BoolExpr(SMRange range, bool value) : Expr(ExprKind::Bool, range, 0), value(value) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Bool; }
};

/// A variable, constant, parameter, dimension, type or option word.
class NameExpr : public Expr {
public:
  StringRef name;
  NameExpr(SMRange range, StringRef name) : Expr(ExprKind::Name, range, 0), name(name) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Name; }
};

/// `value` or `name = value`.
struct Arg {
  Ident name; // absent if positional
  const Expr *value;
};

/// `callee(args)`: a function, a built-in function or the conversion to a type.
class CallExpr : public Expr {
public:
  Ident callee;
  ArrayRef<Arg> args;
  CallExpr(SMRange range, unsigned height, Ident callee, ArrayRef<Arg> args)
      : Expr(ExprKind::Call, range, height), callee(callee), args(args) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Call; }
};

/// One subscript.
struct Subscript {
  enum Kind : uint8_t {
    All,   // :
    Index, // first
    Range, // first .. second
    Count, // first :+ second
  };
  Kind kind;
  SMRange range;
  const Expr *first = nullptr;  // null for All
  const Expr *second = nullptr; // null for All and Index
};

/// `base[subscripts]`.
class IndexExpr : public Expr {
public:
  const Expr *base;
  ArrayRef<Subscript> subscripts;
  IndexExpr(SMRange range, unsigned height, const Expr *base, ArrayRef<Subscript> subscripts)
      : Expr(ExprKind::Index, range, height), base(base), subscripts(subscripts) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Index; }
};

enum class UnaryOp : uint8_t { Negate, Not, Complement };

class UnaryExpr : public Expr {
public:
  UnaryOp op;
  const Expr *operand;
  UnaryExpr(SMRange range, unsigned height, UnaryOp op, const Expr *operand)
      : Expr(ExprKind::Unary, range, height), op(op), operand(operand) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Unary; }
};

/// In the order of precedence, loosest first.
enum class BinaryOp : uint8_t {
  LogicalOr,
  LogicalAnd,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Or,
  Xor,
  And,
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
};

class BinaryExpr : public Expr {
public:
  BinaryOp op;
  SMRange opRange;
  const Expr *left;
  const Expr *right;
  BinaryExpr(SMRange range, unsigned height, BinaryOp op, SMRange opRange, const Expr *left,
             const Expr *right)
      : Expr(ExprKind::Binary, range, height), op(op), opRange(opRange), left(left), right(right) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Binary; }
};

/// `condition ? whenTrue : whenFalse`.
class ConditionalExpr : public Expr {
public:
  const Expr *condition;
  const Expr *whenTrue;
  const Expr *whenFalse;
  ConditionalExpr(SMRange range, unsigned height, const Expr *condition, const Expr *whenTrue,
                  const Expr *whenFalse)
      : Expr(ExprKind::Conditional, range, height), condition(condition), whenTrue(whenTrue),
        whenFalse(whenFalse) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Conditional; }
};

/// `(a, b)`, two elements or more: only as the whole value of a `return`.
class TupleExpr : public Expr {
public:
  ArrayRef<const Expr *> elements;
  TupleExpr(SMRange range, unsigned height, ArrayRef<const Expr *> elements)
      : Expr(ExprKind::Tuple, range, height), elements(elements) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::Tuple; }
};

/// `[a, b]`: only as the whole of an argument of `reshape`, the domain of a `parallel`, the value
/// of a constant or the values of a tuned parameter.
class ListExpr : public Expr {
public:
  ArrayRef<const Expr *> elements;
  ListExpr(SMRange range, unsigned height, ArrayRef<const Expr *> elements)
      : Expr(ExprKind::List, range, height), elements(elements) {}
  static bool classof(const Expr *e) { return e->kind == ExprKind::List; }
};

StringRef spelling(UnaryOp op);
StringRef spelling(BinaryOp op);

//===------------------------------------------------------------------------------------------===//
// Types
//===------------------------------------------------------------------------------------------===//

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

//===------------------------------------------------------------------------------------------===//
// Statements
//===------------------------------------------------------------------------------------------===//

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

//===------------------------------------------------------------------------------------------===//
// Items
//===------------------------------------------------------------------------------------------===//

enum class ItemKind : uint8_t { Import, Const, Function, Kernel, Instantiate, Tune };

class Item {
public:
  const ItemKind kind;
  SMRange range;

protected:
  Item(ItemKind kind, SMRange range) : kind(kind), range(range) {}
};

class ImportItem : public Item {
public:
  StringRef path; // as written
  SMRange pathRange;
  ImportItem(SMRange range, StringRef path, SMRange pathRange)
      : Item(ItemKind::Import, range), path(path), pathRange(pathRange) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Import; }
};

class ConstItem : public Item {
public:
  ConstDecl decl;
  ConstItem(SMRange range, ConstDecl decl) : Item(ItemKind::Const, range), decl(decl) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Const; }
};

/// A parameter of a function. Which fields are set depends on its form.
struct FunctionParam {
  enum Form : uint8_t {
    Value,    // name: type                    -> type (no shape)
    Buffer,   // name: dir scope tile_type     -> direction, scope, type
    Tensor,   // name: dir tensor<type>[shape] -> direction, type
    Constant, // const name: kind              -> kind
  };
  Form form = Value;
  SMRange range;
  Ident name;
  Direction direction = Direction::In;
  Scope scope = Scope::Shared;
  TileType type;
  ParamKind kind = ParamKind::Int;
};

/// `fn` or `tile fn`.
class FunctionItem : public Item {
public:
  Ident name;
  bool isTile;
  ArrayRef<GenericParam> generics;
  ArrayRef<FunctionParam> params;
  ArrayRef<TileType> results; // empty without `->`
  bool tupleResult;           // the results are in brackets
  Block body;
  FunctionItem(SMRange range, Ident name, bool isTile, ArrayRef<GenericParam> generics,
               ArrayRef<FunctionParam> params, ArrayRef<TileType> results, bool tupleResult,
               Block body)
      : Item(ItemKind::Function, range), name(name), isTile(isTile), generics(generics),
        params(params), results(results), tupleResult(tupleResult), body(body) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Function; }
};

/// A parameter of a kernel: a scalar or a tensor.
struct KernelParam {
  SMRange range;
  Ident name;
  bool isTensor = false;
  TileType type; // of a tensor: element type and extents; of a scalar: no shape
  // The rest is for tensors.
  bool isOptional = false;
  Direction direction = Direction::In;
  bool isStrided = false;
  const Expr *align = nullptr; // null if absent
  ArrayRef<Ident> mayAlias;
};

class KernelItem : public Item {
public:
  ArrayRef<Annotation> annotations;
  Ident name;
  ArrayRef<GenericParam> generics;
  ArrayRef<KernelParam> params;
  ArrayRef<const Expr *> where;
  Block body;
  KernelItem(SMRange range, ArrayRef<Annotation> annotations, Ident name,
             ArrayRef<GenericParam> generics, ArrayRef<KernelParam> params,
             ArrayRef<const Expr *> where, Block body)
      : Item(ItemKind::Kernel, range), annotations(annotations), name(name), generics(generics),
        params(params), where(where), body(body) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Kernel; }
};

/// `NAME = value`, or `auto`.
struct Given {
  SMRange range;
  Ident name;                  // absent for `auto`
  const Expr *value = nullptr; // null for `auto`
  bool isAuto() const { return value == nullptr; }
};

class InstantiateItem : public Item {
public:
  Ident kernel;
  ArrayRef<Given> given;
  Ident symbol;
  ArrayRef<const Expr *> where;
  InstantiateItem(SMRange range, Ident kernel, ArrayRef<Given> given, Ident symbol,
                  ArrayRef<const Expr *> where)
      : Item(ItemKind::Instantiate, range), kernel(kernel), given(given), symbol(symbol),
        where(where) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Instantiate; }
};

/// `NAME in [a, b];` or `NAME in a..b;`
struct TuneParam {
  SMRange range;
  Ident name;
  const ListExpr *list = nullptr; // null if it is a range
  Range bounds;                   // set if `list` is null
};

class TuneItem : public Item {
public:
  Ident kernel;
  ArrayRef<TuneParam> params;
  ArrayRef<const Expr *> where; // of all `where` clauses, in order
  TuneItem(SMRange range, Ident kernel, ArrayRef<TuneParam> params, ArrayRef<const Expr *> where)
      : Item(ItemKind::Tune, range), kernel(kernel), params(params), where(where) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Tune; }
};

/// A leading `//!` line.
struct HeaderLine {
  SMRange range;
  StringRef text; // what follows `//!`, without the line break
};

struct File {
  StringRef name;    // as diagnostics show it
  unsigned bufferId; // in the SourceMgr
  ArrayRef<HeaderLine> header;
  ArrayRef<const Item *> items;
};

} // namespace tilec::ast
