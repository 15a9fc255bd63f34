// From the clauses of a case line to cases: names, constants, ways to fill tensors.
#pragma once

#include "compiler/sema/ConstEval.h"
#include "compiler/testing/TestCases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace tilec {

/// What the names of a kernel's cases are.
class CaseSignature {
public:
  CaseSignature(const ast::KernelItem &kernel, const LoadedFile &file);
  const ast::GenericParam *generic(llvm::StringRef name) const {
    const auto *found =
        llvm::find_if(kernel.generics, [&](auto &g) { return g.name.name == name; });
    return found == kernel.generics.end() ? nullptr : found;
  }
  const ast::KernelParam *param(llvm::StringRef name) const {
    const auto *found = llvm::find_if(kernel.params, [&](auto &p) { return p.name.name == name; });
    return found == kernel.params.end() ? nullptr : found;
  }
  std::optional<CaseValue::Kind> kindOf(llvm::StringRef name) const;

  const ast::KernelItem &kernel;
  llvm::SmallVector<llvm::StringRef> dims; ///< in the order in which extents name them

private:
  void addDims(const ast::Expr *extent);
  void addConstants(const LoadedFile &file);
  llvm::StringSet<> constants;
};

/// A name of a line with the expressions to choose from.
struct CaseChoice {
  ast::Ident name;
  CaseValue::Kind kind;
  llvm::ArrayRef<const ast::Expr *> values;
};

/// Makes the cases of one kernel.
class CaseMaker {
public:
  /// `workFormulas`: the amounts of work that the `bench` line says. All must outlive it.
  CaseMaker(const CaseSignature &signature, sema::ConstEval &constants,
            llvm::ArrayRef<const ast::Expr *> workFormulas, DiagnosticEngine &diags)
      : signature(signature), constants(constants), workFormulas(workFormulas), diags(diags) {}
  using Names = sema::ConstEval::Names;
  /// The values of parameters in place of their defaults.
  void setCompiled(Names values) { compiled = std::move(values); }
  /// The case with value `picks[i]` of choice i; nothing after a diagnostic.
  std::optional<TestCase> make(llvm::ArrayRef<CaseChoice> choices, llvm::ArrayRef<size_t> picks);
  /// What the names of the last case stand for.
  const Names &getNames() const { return names; }

private:
  std::optional<CaseValue> tensorValue(const CaseChoice &choice, const ast::Expr *expr);
  std::optional<CaseValue> drawn(const CaseChoice &choice, const ast::CallExpr *call);
  std::optional<CaseValue> constantValue(const CaseChoice &choice, const ast::Expr *expr);
  bool addParameters(TestCase &test);
  double workOf(const TestCase &test);
  void error(llvm::SMRange range, const llvm::Twine &text) {
    diags.report(diag::Id::CaseLine, range, text);
  }

  const CaseSignature &signature;
  sema::ConstEval &constants;
  llvm::ArrayRef<const ast::Expr *> workFormulas;
  DiagnosticEngine &diags;
  Names compiled, names;
};

} // namespace tilec
