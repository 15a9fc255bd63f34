// Expressions of the syntax tree. Ast.h says what holds for all nodes.
#pragma once

#include "compiler/parse/AstContext.h"

#include "llvm/Support/Casting.h"

namespace tilec::ast {

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
    New,   // _
  };
  Kind kind;
  SMRange range;
  const Expr *first = nullptr;  // null for All and New
  const Expr *second = nullptr; // null for All, New and Index
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

} // namespace tilec::ast
