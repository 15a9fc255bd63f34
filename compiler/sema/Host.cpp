//===- Host.cpp - Launches and workspaces ---------------------------------===//
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Initialisation.h"

namespace tilec::sema {

using diag::Id;

/// The number of threads of a launch, from `threads(n)` or the axes.
void Analyzer::launchThreads(const ast::LaunchStmt *s, LaunchStmt *stmt) {
  Int128 count = 1;
  SourceRange range = s->range;
  if (s->threadCount) {
    range = s->threadCount->range;
    auto n = constantInt(s->threadCount, "the number of threads");
    if (!n) {
      return;
    }
    count = *n;
  }
  for (const ast::Axis &axis : s->axes) {
    range = s->axes.front().name.range;
    range.End = axis.extent->range.End;
    auto n = constantInt(axis.extent, "the extent of a thread axis");
    if (!n) {
      return;
    }
    if (*n < 1) {
      report(Id::ShapeEmpty, axis.extent->range, 0, "threads", *n);
      return;
    }
    count = count > INT32_MAX ? count : count * *n;
  }
  if (count < 32 || count > 1024 || count % 32) {
    report(Id::ThreadsCount, range, int128Str(count));
    return;
  }
  stmt->threads = int64_t(count);
}

void Analyzer::launchStmt(const ast::LaunchStmt *s) {
  auto *stmt = program.make<LaunchStmt>(s->range);
  stmt->launch = launchAnnotations(s, frame.annotations);
  if (s->grid.size() > 5) {
    report(Id::GridRank, s->range, s->grid.size());
    return;
  }
  if (s->grid.size() != s->binder.size()) {
    reportBinder(s->binder, "grid", s->grid.size());
    return;
  }
  llvm::SmallVector<const Expr *> grid;
  Int128 points = 1;
  bool ok = true;
  for (const ast::Expr *e : s->grid) {
    Value v = operand(e);
    v = v.type.kind == Type::Kind::UntypedInt && v.constant &&
                !fitsInteger(v.constant->i, Scalar::I32)
            ? adapt(v, Scalar::I64)
            : withDefaultType(v);
    if (v.isError()) {
      ok = false;
      continue;
    }
    if (!v.type.isScalar() || !isInteger(v.type.elem)) {
      report(Id::TypeMismatchKind, v.range, "an integer as grid extent", v.type.str());
      ok = false;
      continue;
    }
    if (v.constant && v.constant->i <= INT32_MAX + Int128(1) && points >= 0) {
      points *= v.constant->i < 0 ? 0 : v.constant->i;
    } else {
      points = v.constant && points >= 0 ? Int128(1) << 40 : -1; // -1: not constant
    }
    points = points > (Int128(1) << 40) ? Int128(1) << 40 : points;
    grid.push_back(materialize(v));
  }
  if (points >= (Int128(1) << 31)) {
    report(Id::GridTooLarge, s->range,
           points >= (Int128(1) << 40) ? "2^31 or more" : int128Str(points));
    ok = false;
  }
  launchThreads(s, stmt);
  if (!ok || !stmt->threads) {
    return;
  }
  stmt->grid = program.list<const Expr *>(grid);
  stmt->index = kernel.numLaunches++;
  kernel.instance->launches.push_back(stmt);
  launchBody(s, stmt);
  if (!engine.hasErrors()) { // else a statement that writes may be missing
    checkInitialised(*stmt, engine);
  }
  emit(stmt);
}

void Analyzer::launchBody(const ast::LaunchStmt *s, LaunchStmt *stmt) {
  FrameGuard guard(*this);
  frame.mode = Mode::Block;
  frame.enclosing.clear();
  kernel.launch = s;
  kernel.threads = stmt->threads;
  kernel.unrolled = 0;
  unsigned conditions = kernel.conditionDepth;
  kernel.conditionDepth = 0;
  frame.env->push();
  llvm::SmallVector<const IndexDecl *> binders;
  for (const ast::Ident &name : s->binder) {
    auto *decl =
        program.make<IndexDecl>(name.name, name.range, Type(Scalar::I32), IndexDecl::Role::Grid);
    declareIndex(decl);
    binders.push_back(decl);
  }
  stmt->binders = program.list<const IndexDecl *>(binders);
  frame.annotations = {};
  if (s->axes.empty()) {
    stmt->body = block(s->body);
  } else {
    // `shared` and `local` buffers at the top are the block's and the threads'; the rest is a
    // region.
    frame.env->push();
    llvm::SmallVector<const Stmt *> out;
    frame.out = &out;
    auto list = s->body.statements;
    while (!list.empty() && llvm::isa<ast::BufferStmt, ast::ConstStmt>(list.front())) {
      statement(list.front());
      list = list.drop_front();
    }
    threadsBody(s->axes, list, s->range);
    stmt->body = program.list<const Stmt *>(out);
    frame.env->pop();
  }
  frame.env->pop();
  kernel.threads = std::nullopt;
  kernel.launch = nullptr;
  kernel.conditionDepth = conditions;
}

void Analyzer::workspaceStmt(const ast::BufferStmt *s) {
  Type elem = resolveType(*s->type.element);
  if (elem.isVec()) {
    report(Id::TypeMismatchKind, s->type.range, "a scalar element type", "a vec");
    return;
  }
  bool ok = !elem.isError();
  if (s->type.shape.empty() || s->type.shape.size() > 8) {
    report(Id::RankTensor, s->type.range, s->type.shape.size());
    ok = false;
  }
  llvm::SmallVector<Extent, 8> extents;
  Type type = elem;
  for (const ast::Expr *e : s->type.shape) {
    Extent extent;
    ok &= extentValue(e, extent, "a workspace");
    extents.push_back(extent);
    type.shape.push_back(extent.constant);
  }
  if (ok && isPacked(elem.elem) && type.shape.back() != kDynamic && type.shape.back() % 2) {
    report(Id::PackedExtent, s->type.shape.back()->range, scalarName(elem.elem), type.shape.back());
    ok = false;
  }
  const Expr *init = nullptr;
  if (s->init && ok) {
    Value v = coerce(operand(s->init), elem);
    if (!v.isError() && !v.constant) {
      report(Id::NotConstant, s->init->range, "the initial value of a workspace");
    }
    ok = v.constant.has_value();
    init = ok ? materialize(v) : nullptr;
  }
  for (const ast::Ident &name : s->names) {
    auto *w = program.make<WorkspaceDecl>(name.name, name.range, type);
    Entity e;
    e.name = name.name;
    e.range = name.range;
    e.broken = !ok;
    e.decl = w;
    e.place = {w, Space::Workspace, w->name, w->range, true, true, true};
    frame.env->declare(std::move(e));
    if (!ok) {
      continue;
    }
    w->index = kernel.instance->workspaces.size();
    w->extents = program.list<Extent>(extents);
    w->init = init;
    kernel.instance->workspaces.push_back(w);
    emit(program.make<WorkspaceStmt>(w, s->range));
  }
}

} // namespace tilec::sema
