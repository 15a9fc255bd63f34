//===- ConstEval.h - Constant expressions outside of kernels ----*- C++ -*-===//
//
// The values of case lines (kernels/README.md): constant expressions that may name constants of the
// file and what the line has bound before.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/parse/ImportLoader.h"
#include "compiler/sema/ConstValue.h"

#include <map>
#include <memory>
#include <string>

namespace tilec {

class DiagnosticEngine;

namespace sema {

class ConstEval {
public:
  using Names = std::map<std::string, ConstValue, std::less<>>;

  /// Checks the names of the file and of what it imports; `main` and `engine` must outlive it.
  ConstEval(const LoadedFile &main, int arch, DiagnosticEngine &engine);
  ~ConstEval();

  /// The value of an expression; `what` names it in the diagnostic after which there is none.
  std::optional<ConstValue> evaluate(const ast::Expr *expr, const Names &names,
                                     llvm::StringRef what);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace sema
} // namespace tilec
