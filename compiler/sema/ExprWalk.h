//===- ExprWalk.h - Children of typed expressions and statements -*- C++ -*-===//
#pragma once

#include "compiler/sema/Program.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilec::sema {

/// Calls `visit` for each direct operand of `e`, in the order of evaluation. Statements of a
/// BlockExpr are not visited, its results are.
void forEachOperand(const Expr *e, llvm::function_ref<void(const Expr *)> visit);

/// Calls `visit` for each expression that `s` itself holds (not those of its bodies).
void forEachExpr(const Stmt *s, llvm::function_ref<void(const Expr *)> visit);

/// Calls `visit` for each body of `s`.
void forEachBody(const Stmt *s, llvm::function_ref<void(Block)> visit);

} // namespace tilec::sema
