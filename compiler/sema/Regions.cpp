//===- Regions.cpp - parallel loops and threads regions -------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

/// Fills the extents of a parallel loop and the types of its variables.
void Analyzer::parallelDomain(const ast::ParallelStmt *s, ParallelStmt *stmt,
                              llvm::SmallVectorImpl<Type> &types) {
  llvm::SmallVector<Extent, 8> extents;
  if (auto *list = llvm::dyn_cast<ast::ListExpr>(s->domain)) {
    for (const ast::Expr *e : list->elements) {
      Extent extent;
      if (!extentValue(e, extent, "`parallel`")) {
        return;
      }
      extents.push_back(extent);
      types.push_back(Type(extent.expr->type.is(Scalar::I64) ? Scalar::I64 : Scalar::I32));
    }
  } else {
    Value v = analyze(s->domain, Want::Place);
    if (v.isError() || !checkClosed(v)) {
      return;
    }
    if (!v.type.isShaped()) {
      report(Id::TypeMismatchKind, v.range, "a tile, tensor or list `[..]`", v.type.str());
      return;
    }
    for (size_t axis = 0; axis < v.type.rank(); ++axis) {
      Extent extent;
      extent.constant = v.type.shape[axis];
      Value n = extentOf(v.expr, axis);
      extent.expr = materialize(n);
      extents.push_back(extent);
      types.push_back(Type(n.type.is(Scalar::I64) ? Scalar::I64 : Scalar::I32));
    }
    stmt->domain = v.expr;
  }
  if (types.size() != s->binder.size()) {
    reportBinder(s->binder, sourceText(s->domain->range), types.size());
    types.clear();
    return;
  }
  stmt->extents = program.list<Extent>(extents);
}

/// How many of the elements a thread has; 1 where that is not known, as the loop then stays one.
int64_t Analyzer::elementsOfThread(const ParallelState &state) const {
  int64_t elements = 1;
  for (int64_t extent : state.extents) {
    elements = extent < 0 ? 0 : llvm::SaturatingMultiply(uint64_t(elements), uint64_t(extent));
  }
  const int64_t threads = kernel.threads.value_or(1);
  return std::max<int64_t>(1, std::min<int64_t>(elements, int64_t(1) << 32) / threads);
}

void Analyzer::parallelStmt(const ast::ParallelStmt *s) {
  auto *stmt = program.make<ParallelStmt>(s->range);
  llvm::SmallVector<Type, 8> types;
  parallelDomain(s, stmt, types);
  if (types.empty()) {
    return;
  }
  Frame saved = frame;
  auto savedVarying = std::move(varying);
  varying.clear();
  ParallelState state;
  state.conditionDepth = kernel.conditionDepth;
  llvm::SmallVector<const IndexDecl *> binders;
  frame.mode = Mode::Parallel;
  frame.env->push();
  for (auto [name, type, extent] : llvm::zip(s->binder, types, stmt->extents)) {
    auto *decl = program.make<IndexDecl>(name.name, name.range, type, IndexDecl::Role::Parallel);
    declareIndex(decl);
    binders.push_back(decl);
    varying.insert(decl);
    state.indices.push_back(decl);
    state.extents.push_back(extent.constant);
  }
  stmt->binders = program.list<const IndexDecl *>(binders);
  const int64_t repeated = std::exchange(kernel.repeated, elementsOfThread(state));
  parallels.push_back(std::move(state));
  frame.enclosing.push_back(Enclosing::Parallel);
  stmt->body = block(s->body);
  kernel.repeated = repeated;
  checkParallel(*stmt);
  parallels.pop_back();
  frame.env->pop();
  varying = std::move(savedVarying);
  frame = std::move(saved);
  emit(stmt);
}

void Analyzer::threadsStmt(const ast::ThreadsStmt *s) {
  threadsBody(s->axes, s->body.statements, s->range);
}

void Analyzer::threadsBody(llvm::ArrayRef<ast::Axis> axes, llvm::ArrayRef<const ast::Stmt *> body,
                           SourceRange range) {
  llvm::SmallVector<ThreadAxis> threadAxes;
  Int128 product = 1;
  for (const ast::Axis &axis : axes) {
    auto n = constantInt(axis.extent, "the extent of a thread axis");
    if (!n) {
      return;
    }
    if (*n < 1) {
      report(Id::ShapeEmpty, axis.extent->range, threadAxes.size(), "threads", *n);
      return;
    }
    product = product > INT32_MAX ? product : product * *n;
    auto *decl = program.make<IndexDecl>(axis.name.name, axis.name.range, Type(Scalar::I32),
                                         IndexDecl::Role::Thread);
    threadAxes.push_back({decl, *n});
  }
  if (kernel.threads && product != *kernel.threads) {
    report(Id::ThreadsExtent, range, int128Str(product), *kernel.threads);
    return;
  }
  Frame saved = frame;
  auto savedVarying = std::move(varying);
  varying.clear();
  frame.mode = Mode::Region;
  frame.env->push();
  ParallelState state;
  state.conditionDepth = kernel.conditionDepth;
  for (const ThreadAxis &axis : threadAxes) {
    declareIndex(axis.decl);
    if (axis.extent > 1) {
      varying.insert(axis.decl);
    }
    state.indices.push_back(axis.decl);
    state.extents.push_back(axis.extent);
  }
  parallels.push_back(std::move(state));
  frame.enclosing.push_back(Enclosing::Region);
  frame.env->push();
  Block statementsOf = statements(body);
  frame.env->pop();
  auto *stmt = program.make<ThreadsStmt>(program.list<ThreadAxis>(threadAxes), statementsOf, range);
  checkRegion(*stmt);
  parallels.pop_back();
  frame.env->pop();
  varying = std::move(savedVarying);
  frame = std::move(saved);
  emit(stmt);
}

} // namespace tilec::sema
