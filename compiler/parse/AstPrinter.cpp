#include "compiler/parse/AstPrinterImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace tilec {

using llvm::cast;
using llvm::raw_ostream;
using llvm::StringRef;
using namespace ast;

namespace {

int binaryLevel(BinaryOp op) {
  switch (op) {
  case BinaryOp::LogicalOr:
    return 1;
  case BinaryOp::LogicalAnd:
    return 2;
  case BinaryOp::Equal:
  case BinaryOp::NotEqual:
  case BinaryOp::Less:
  case BinaryOp::LessEqual:
  case BinaryOp::Greater:
  case BinaryOp::GreaterEqual:
    return compareLevel;
  case BinaryOp::Or:
    return 4;
  case BinaryOp::Xor:
    return 5;
  case BinaryOp::And:
    return 6;
  case BinaryOp::ShiftLeft:
  case BinaryOp::ShiftRight:
    return 7;
  case BinaryOp::Add:
  case BinaryOp::Subtract:
    return sumLevel;
  case BinaryOp::Multiply:
  case BinaryOp::Divide:
  case BinaryOp::Remainder:
    return 9;
  }
  llvm_unreachable("all operators are handled");
}

int levelOf(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Conditional:
    return anyLevel;
  case ExprKind::Binary:
    return binaryLevel(cast<BinaryExpr>(expr).op);
  case ExprKind::Unary:
    return unaryLevel;
  default:
    return postfixLevel;
  }
}

} // namespace

//===------------------------------------------------------------------------------------------===//
// Expressions
//===------------------------------------------------------------------------------------------===//

/// Brackets go round what binds less tightly than `level`.
void Printer::expr(const Expr &expr, int level) {
  int own = levelOf(expr);
  bool hasParens = own < level || (options.allParens && own < postfixLevel);
  os << (hasParens ? "(" : "");
  bareExpr(expr);
  os << (hasParens ? ")" : "");
}

void Printer::bareExpr(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Int:
    os << cast<IntExpr>(expr).spelling;
    return;
  case ExprKind::Float:
    os << cast<FloatExpr>(expr).spelling;
    return;
  case ExprKind::String:
    return string(cast<StringExpr>(expr).value);
  case ExprKind::Bool:
    os << (cast<BoolExpr>(expr).value ? "true" : "false");
    return;
  case ExprKind::Name:
    os << cast<NameExpr>(expr).name;
    return;
  case ExprKind::Call: {
    const auto &call = cast<CallExpr>(expr);
    os << call.callee.name << '(';
    llvm::interleaveComma(call.args, os, [&](const Arg &value) { arg(value); });
    os << ')';
    return;
  }
  case ExprKind::Index: {
    const auto &index = cast<IndexExpr>(expr);
    this->expr(*index.base, postfixLevel);
    os << '[';
    llvm::interleaveComma(index.subscripts, os, [&](const Subscript &s) { subscript(s); });
    os << ']';
    return;
  }
  case ExprKind::Unary:
    os << spelling(cast<UnaryExpr>(expr).op);
    return this->expr(*cast<UnaryExpr>(expr).operand, unaryLevel);
  case ExprKind::Binary:
    return binary(cast<BinaryExpr>(expr));
  case ExprKind::Conditional: {
    const auto &conditional = cast<ConditionalExpr>(expr);
    this->expr(*conditional.condition, anyLevel + 1);
    os << " ? ";
    this->expr(*conditional.whenTrue);
    os << " : ";
    return this->expr(*conditional.whenFalse);
  }
  case ExprKind::Tuple:
    os << '(';
    exprs(cast<TupleExpr>(expr).elements);
    os << ')';
    return;
  case ExprKind::List:
    os << '[';
    exprs(cast<ListExpr>(expr).elements);
    os << ']';
    return;
  }
}

void Printer::binary(const BinaryExpr &binary) {
  int own = binaryLevel(binary.op);
  expr(*binary.left, own == compareLevel ? own + 1 : own); // comparisons do not chain
  os << ' ' << spelling(binary.op) << ' ';
  expr(*binary.right, own + 1);
}

void Printer::string(StringRef value) {
  os << '"';
  for (char c : value) {
    switch (c) {
    case '\n':
      os << "\\n";
      break;
    case '\t':
      os << "\\t";
      break;
    case '"':
    case '\\':
      os << '\\' << c;
      break;
    default:
      os << c;
    }
  }
  os << '"';
}

void Printer::subscript(const Subscript &subscript) {
  if (!subscript.first) {
    os << (subscript.kind == Subscript::All ? ":" : "_");
    return;
  }
  expr(*subscript.first);
  if (subscript.second) {
    os << (subscript.kind == Subscript::Range ? ".." : " :+ ");
    expr(*subscript.second);
  }
}

void Printer::arg(const Arg &arg) {
  if (arg.name) {
    os << arg.name.name << " = ";
  }
  expr(*arg.value);
}

void Printer::exprs(ArrayRef<const Expr *> list) {
  llvm::interleaveComma(list, os, [&](const Expr *element) { expr(*element); });
}

void Printer::names(ArrayRef<Ident> names) {
  llvm::interleaveComma(names, os, [&](const Ident &name) { os << name.name; });
}

//===------------------------------------------------------------------------------------------===//
// Types, annotations
//===------------------------------------------------------------------------------------------===//

void Printer::type(const TypeExpr &type) {
  if (!type.isVec()) {
    os << type.name;
    return;
  }
  os << "vec<";
  this->type(*type.element);
  os << ">[";
  expr(*type.count);
  os << ']';
}

void Printer::tileType(const TileType &type) {
  this->type(*type.element);
  if (!type.shape.empty()) {
    os << '[';
    exprs(type.shape);
    os << ']';
  }
}

void Printer::tensor(const TileType &type) {
  os << "tensor<";
  this->type(*type.element);
  os << ">[";
  exprs(type.shape);
  os << ']';
}

void Printer::direction(Direction direction) {
  if (direction != Direction::In) {
    os << spelling(direction) << ' ';
  }
}

void Printer::generics(ArrayRef<GenericParam> generics) {
  if (generics.empty()) {
    return;
  }
  os << '<';
  llvm::interleaveComma(generics, os, [&](const GenericParam &param) {
    os << param.name.name << ": " << spelling(param.kind);
    if (param.defaultValue) {
      os << " = ";
      expr(*param.defaultValue, sumLevel);
    }
  });
  os << '>';
}

void Printer::annotations(ArrayRef<Annotation> annotations) {
  for (const Annotation &annotation : annotations) {
    os << '@' << annotation.name.name;
    if (annotation.hasParens) {
      os << '(';
      llvm::interleaveComma(annotation.args, os, [&](const Arg &value) { arg(value); });
      os << ')';
    }
    os << ' ';
  }
}

void Printer::where(ArrayRef<const Expr *> conditions) {
  if (!conditions.empty()) {
    os << " where ";
    exprs(conditions);
  }
}

void printAst(const File &file, raw_ostream &os, AstPrintOptions options) {
  Printer(os, options).file(file);
}

std::string printExpr(const Expr &expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Printer(os, {}).expr(expr);
  return text;
}

} // namespace tilec
