// From text to the syntax tree.
#pragma once

#include "compiler/parse/Ast.h"

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tilec {

class DiagnosticEngine;

/// Parses buffer `bufferId` of `sources`. Reports every error that it can tell apart and always
/// returns a tree, of what could be understood; it is complete if the engine has no new errors.
/// Time is linear in the size of the text, and stops at the engine's error limit.
const ast::File *parse(unsigned bufferId, const llvm::SourceMgr &sources, ast::Context &context,
                       DiagnosticEngine &diagnostics);

/// Parses a whole buffer as one expression: the value of `-P`, of a test case. Null after an error.
const ast::Expr *parseExpression(unsigned bufferId, const llvm::SourceMgr &sources,
                                 ast::Context &context, DiagnosticEngine &diagnostics);

/// Parses the clauses of a case line (kernels/README.md), `;` or `,` between them. `text` lies in a
/// buffer of `sources`. False after an error.
bool parseCaseClauses(llvm::StringRef text, const llvm::SourceMgr &sources, ast::Context &context,
                      DiagnosticEngine &diagnostics,
                      llvm::SmallVectorImpl<ast::CaseClause> &clauses);

} // namespace tilec
