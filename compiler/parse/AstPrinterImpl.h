// The printer behind AstPrinter.h. Private to compiler/parse.
#pragma once

#include "compiler/parse/AstPrinter.h"

#include "llvm/Support/raw_ostream.h"

namespace tilec::ast {

// How tightly operators bind; docs/language.md, section 2. Binary operators lie between.
inline constexpr int anyLevel = 0; // a conditional needs no brackets
inline constexpr int compareLevel = 3;
inline constexpr int sumLevel = 8;
inline constexpr int unaryLevel = 10;
inline constexpr int postfixLevel = 11;

/// Prints one file or expression. Statements and items end with a line break, all else does not.
class Printer {
public:
  Printer(llvm::raw_ostream &os, AstPrintOptions options) : os(os), options(options) {}
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
  void parallel(const ParallelStmt &stmt);
  void forLoop(const ForStmt &stmt);
  void ifElse(const IfStmt &stmt);
  void assign(const AssignStmt &stmt);
  void binder(ArrayRef<Ident> binder, bool isTuple);
  void axes(ArrayRef<Axis> axes);
  void range(const Range &range);
  llvm::raw_ostream &line() { return os.indent(4 * depth); }

  llvm::raw_ostream &os;
  AstPrintOptions options;
  unsigned depth = 0;
};

} // namespace tilec::ast
