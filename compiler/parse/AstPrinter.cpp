#include "compiler/parse/AstPrinter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tilec {

using llvm::cast;
using llvm::raw_ostream;
using llvm::StringRef;
using namespace ast;

namespace {

// How tightly operators bind; docs/language.md, section 2. Binary operators lie between.
constexpr int anyLevel = 0; // a conditional needs no brackets
constexpr int compareLevel = 3;
constexpr int sumLevel = 8;
constexpr int unaryLevel = 10;
constexpr int postfixLevel = 11;

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

class Printer {
public:
  Printer(raw_ostream &os, AstPrintOptions options) : os(os), options(options) {}
  void file(const File &file);
  void expr(const Expr &expr, int level = anyLevel);

private:
  void bareExpr(const Expr &expr);
  void binary(const BinaryExpr &expr);
  void string(StringRef value);
  void subscript(const Subscript &subscript);
  void arg(const Arg &arg);
  void exprs(ArrayRef<const Expr *> list);
  void names(ArrayRef<Ident> names);

  void type(const TypeExpr &type);
  void tileType(const TileType &type);
  void tensor(const TileType &type);
  void direction(Direction direction);
  void generics(ArrayRef<GenericParam> generics);
  void annotations(ArrayRef<Annotation> annotations);
  void where(ArrayRef<const Expr *> conditions);

  void item(const Item &item);
  void function(const FunctionItem &item);
  void functionParam(const FunctionParam &param);
  void kernel(const KernelItem &item);
  void kernelParam(const KernelParam &param);
  void instantiate(const InstantiateItem &item);
  void tune(const TuneItem &item);

  void block(const Block &block);
  void statement(const Stmt &stmt);
  void constDecl(const ConstDecl &decl);
  void buffer(const BufferStmt &stmt);
  void let(const LetStmt &stmt);
  void var(const VarStmt &stmt);
  void launch(const LaunchStmt &stmt);
  void forLoop(const ForStmt &stmt);
  void ifElse(const IfStmt &stmt);
  void assign(const AssignStmt &stmt);
  void binder(ArrayRef<Ident> binder, bool isTuple);
  void axes(ArrayRef<Axis> axes);
  void range(const Range &range);
  raw_ostream &line() { return os.indent(4 * depth); }

  raw_ostream &os;
  AstPrintOptions options;
  unsigned depth = 0;
};

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
  if (subscript.kind == Subscript::All) {
    os << ':';
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

//===------------------------------------------------------------------------------------------===//
// Items
//===------------------------------------------------------------------------------------------===//

void Printer::file(const File &file) {
  for (const HeaderLine &header : file.header) {
    os << "//!" << header.text << '\n';
  }
  for (const Item *element : file.items) {
    item(*element);
  }
}

void Printer::item(const Item &item) {
  switch (item.kind) {
  case ItemKind::Import:
    os << "import ";
    string(cast<ImportItem>(item).path);
    os << ";\n";
    return;
  case ItemKind::Const:
    return constDecl(cast<ConstItem>(item).decl);
  case ItemKind::Function:
    return function(cast<FunctionItem>(item));
  case ItemKind::Kernel:
    return kernel(cast<KernelItem>(item));
  case ItemKind::Instantiate:
    return instantiate(cast<InstantiateItem>(item));
  case ItemKind::Tune:
    return tune(cast<TuneItem>(item));
  }
}

void Printer::function(const FunctionItem &item) {
  os << (item.isTile ? "\ntile fn " : "\nfn ") << item.name.name;
  generics(item.generics);
  os << '(';
  llvm::interleaveComma(item.params, os, [&](const FunctionParam &param) { functionParam(param); });
  os << ')';
  if (!item.results.empty()) {
    os << " -> " << (item.tupleResult ? "(" : "");
    llvm::interleaveComma(item.results, os, [&](const TileType &result) { tileType(result); });
    os << (item.tupleResult ? ")" : "");
  }
  os << ' ';
  block(item.body);
  os << '\n';
}

void Printer::functionParam(const FunctionParam &param) {
  os << (param.form == FunctionParam::Constant ? "const " : "") << param.name.name << ": ";
  direction(param.direction);
  switch (param.form) {
  case FunctionParam::Value:
    return tileType(param.type);
  case FunctionParam::Buffer:
    os << spelling(param.scope) << ' ';
    return tileType(param.type);
  case FunctionParam::Tensor:
    return tensor(param.type);
  case FunctionParam::Constant:
    os << spelling(param.kind);
    return;
  }
}

void Printer::kernel(const KernelItem &item) {
  os << '\n';
  annotations(item.annotations);
  os << "kernel " << item.name.name;
  generics(item.generics);
  os << '(';
  llvm::interleave(item.params, os, [&](const KernelParam &param) { kernelParam(param); }, ",");
  os << ')';
  where(item.where);
  os << ' ';
  block(item.body);
  os << '\n';
}

void Printer::kernelParam(const KernelParam &param) {
  os << "\n    " << param.name.name << ": ";
  if (!param.isTensor) {
    return tileType(param.type);
  }
  os << (param.isOptional ? "optional " : "");
  direction(param.direction);
  os << (param.isStrided ? "strided " : "");
  tensor(param.type);
  if (param.align) {
    os << " align(";
    expr(*param.align);
    os << ')';
  }
  for (const Ident &name : param.mayAlias) {
    os << " may_alias(" << name.name << ')';
  }
}

void Printer::instantiate(const InstantiateItem &item) {
  os << "\ninstantiate " << item.kernel.name;
  if (!item.given.empty()) {
    os << '<';
    llvm::interleaveComma(item.given, os, [&](const Given &given) {
      if (given.isAuto()) {
        os << "auto";
        return;
      }
      os << given.name.name << " = ";
      expr(*given.value, sumLevel);
    });
    os << '>';
  }
  os << " as " << item.symbol.name;
  where(item.where);
  os << ";\n";
}

void Printer::tune(const TuneItem &item) {
  os << "\ntune " << item.kernel.name << " {\n";
  for (const TuneParam &param : item.params) {
    os << "    " << param.name.name << " in ";
    if (param.list) {
      expr(*param.list);
    } else {
      range(param.bounds);
    }
    os << ";\n";
  }
  if (!item.where.empty()) {
    os << "   ";
    where(item.where);
    os << ";\n";
  }
  os << "}\n";
}

//===------------------------------------------------------------------------------------------===//
// Statements
//===------------------------------------------------------------------------------------------===//

void Printer::block(const Block &block) {
  os << "{\n";
  ++depth;
  for (const Stmt *stmt : block.statements) {
    line();
    annotations(stmt->annotations);
    statement(*stmt);
  }
  --depth;
  line() << '}';
}

/// Prints with the line break.
void Printer::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Const:
    return constDecl(cast<ConstStmt>(stmt).decl);
  case StmtKind::Buffer:
    return buffer(cast<BufferStmt>(stmt));
  case StmtKind::Let:
    return let(cast<LetStmt>(stmt));
  case StmtKind::Var:
    return var(cast<VarStmt>(stmt));
  case StmtKind::View:
    os << "view " << cast<ViewStmt>(stmt).name.name << " = ";
    expr(*cast<ViewStmt>(stmt).value);
    break;
  case StmtKind::Launch:
    return launch(cast<LaunchStmt>(stmt));
  case StmtKind::Threads:
    axes(cast<ThreadsStmt>(stmt).axes);
    block(cast<ThreadsStmt>(stmt).body);
    os << '\n';
    return;
  case StmtKind::Parallel:
    os << "parallel ";
    binder(cast<ParallelStmt>(stmt).binder, cast<ParallelStmt>(stmt).isTuple);
    os << " in ";
    expr(*cast<ParallelStmt>(stmt).domain);
    os << ' ';
    block(cast<ParallelStmt>(stmt).body);
    os << '\n';
    return;
  case StmtKind::For:
    return forLoop(cast<ForStmt>(stmt));
  case StmtKind::While:
    os << "while ";
    expr(*cast<WhileStmt>(stmt).condition);
    os << ' ';
    block(cast<WhileStmt>(stmt).body);
    os << '\n';
    return;
  case StmtKind::If:
    ifElse(cast<IfStmt>(stmt));
    os << '\n';
    return;
  case StmtKind::Break:
    os << "break";
    break;
  case StmtKind::Continue:
    os << "continue";
    break;
  case StmtKind::Return:
    os << "return";
    if (const Expr *value = cast<ReturnStmt>(stmt).value) {
      os << ' ';
      expr(*value);
    }
    break;
  case StmtKind::Assign:
    return assign(cast<AssignStmt>(stmt));
  case StmtKind::Call:
    expr(*cast<CallStmt>(stmt).call);
    break;
  }
  os << ";\n";
}

void Printer::constDecl(const ConstDecl &decl) {
  os << "const " << decl.name.name;
  if (decl.type) {
    os << ": ";
    tileType(decl.type);
  }
  os << " = ";
  expr(*decl.value);
  os << ";\n";
}

void Printer::buffer(const BufferStmt &stmt) {
  os << spelling(stmt.bufferKind) << ' ';
  names(stmt.names);
  os << ": ";
  tileType(stmt.type);
  if (stmt.init) {
    os << " = ";
    expr(*stmt.init);
  }
  os << ";\n";
}

void Printer::let(const LetStmt &stmt) {
  os << "let ";
  binder(stmt.names, stmt.isTuple);
  if (stmt.type) {
    os << ": ";
    tileType(stmt.type);
  }
  os << " = ";
  expr(*stmt.value);
  os << ";\n";
}

void Printer::var(const VarStmt &stmt) {
  os << "var " << stmt.name.name;
  if (stmt.type) {
    os << ": ";
    type(*stmt.type);
  }
  os << " = ";
  expr(*stmt.value);
  os << ";\n";
}

void Printer::binder(ArrayRef<Ident> binder, bool isTuple) {
  os << (isTuple ? "(" : "");
  names(binder);
  os << (isTuple ? ")" : "");
}

void Printer::axes(ArrayRef<Axis> axes) {
  os << "threads(";
  llvm::interleaveComma(axes, os, [&](const Axis &axis) {
    os << axis.name.name << ": ";
    expr(*axis.extent);
  });
  os << ") ";
}

void Printer::range(const Range &range) {
  expr(*range.first);
  os << "..";
  expr(*range.last);
  if (range.step) {
    os << " step ";
    expr(*range.step);
  }
}

void Printer::launch(const LaunchStmt &stmt) {
  os << "launch ";
  binder(stmt.binder, stmt.isTuple);
  os << " in grid(";
  exprs(stmt.grid);
  os << ") ";
  if (stmt.threadCount) {
    os << "threads(";
    expr(*stmt.threadCount);
    os << ") ";
  } else {
    axes(stmt.axes);
  }
  block(stmt.body);
  os << '\n';
}

void Printer::forLoop(const ForStmt &stmt) {
  os << "for " << stmt.variable.name << " in ";
  if (stmt.forKind == ForKind::Serial) {
    range(stmt.bounds);
  } else {
    os << (stmt.forKind == ForKind::Pipelined ? "pipelined(" : "unrolled(");
    range(stmt.bounds);
    for (const Arg &option : stmt.options) {
      os << ", ";
      arg(option);
    }
    os << ')';
  }
  os << ' ';
  block(stmt.body);
  os << '\n';
}

/// Prints without the line break.
void Printer::ifElse(const IfStmt &stmt) {
  os << "if ";
  expr(*stmt.condition);
  os << ' ';
  block(stmt.thenBlock);
  if (!stmt.elseBlock) {
    return;
  }
  os << " else ";
  if (stmt.elseIf) {
    ifElse(cast<IfStmt>(*stmt.elseBlock->statements[0]));
  } else {
    block(*stmt.elseBlock);
  }
}

void Printer::assign(const AssignStmt &stmt) {
  expr(*stmt.target, postfixLevel);
  os << ' ' << (stmt.hasOp ? spelling(stmt.op) : "") << "= ";
  expr(*stmt.value);
  os << ";\n";
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
