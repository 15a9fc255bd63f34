//===- NameCheck.h - Names of code that may never be elaborated -*- C++ -*-===//
//
// Elaboration visits only what is instantiated and chosen. This pass visits all text once: every
// name must be declared, no name twice while visible, and no function may call itself.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/sema/Modules.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace tilec::sema {

class NameCheck {
public:
  explicit NameCheck(DiagnosticEngine &engine) : engine(engine) {}

  /// Checks the items of the module's own file.
  void check(const Module &module);
  /// The same for `instantiate` items that stand outside of the file.
  void checkInstantiate(const Module &module, const ast::InstantiateItem &item);
  /// Reports calls in circles; to be called once all modules are checked.
  void checkRecursion();
  bool isRecursive(const ast::FunctionItem *fn) const { return recursive.contains(fn); }

private:
  struct Call {
    const ast::FunctionItem *callee;
    llvm::SMRange range;
  };
  using Scope = llvm::StringMap<llvm::SMRange>;

  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }
  bool visible(llvm::StringRef name) const;
  /// Names that could stand where a value, a function or a kernel is named; sorted.
  enum class Kind { Value, Function, Kernel };
  llvm::SmallVector<llvm::StringRef> namesOf(Kind kind) const;
  /// Hints at what may have been meant by `name`.
  void suggest(DiagnosticEngine::Builder &builder, llvm::StringRef name, Kind kind) const;
  void declare(const ast::Ident &name);
  void generics(llvm::ArrayRef<ast::GenericParam> list);
  void function(const ast::FunctionItem &f);
  void openNames(llvm::ArrayRef<const ast::Expr *> shape);
  void kernel(const ast::KernelItem &k);
  void extentNames(const ast::Expr *e, bool sums);
  void tune(const ast::TuneItem &t);
  void constant(const ast::ConstDecl &c);
  void type(const ast::TypeExpr &t);
  void tileType(const ast::TileType &t);
  void expr(const ast::Expr *e);
  void call(const ast::CallExpr *e);
  void block(const ast::Block &b);
  void statement(const ast::Stmt *s);
  void loop(const ast::ForStmt *s);
  void launch(const ast::LaunchStmt *s);
  void binders(llvm::ArrayRef<ast::Ident> names);
  void axes(llvm::ArrayRef<ast::Axis> list);

  DiagnosticEngine &engine;
  const Module *module = nullptr;
  const ast::FunctionItem *current = nullptr;
  std::vector<Scope> scopes;
  llvm::DenseMap<const ast::FunctionItem *, llvm::SmallVector<Call, 4>> calls; // looked up only
  std::vector<const ast::FunctionItem *> order;
  llvm::DenseSet<const ast::FunctionItem *> recursive;
};

} // namespace tilec::sema
