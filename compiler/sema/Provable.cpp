//===- Provable.cpp - Errors of the program that can be proved ------------===//
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/ExprWalk.h"

namespace tilec::sema {

using diag::Id;

//===----------------------------------------------------------------------===//
// What differs between iterations or threads
//===----------------------------------------------------------------------===//

bool Analyzer::varies(const Expr *e) {
  if (parallels.empty()) {
    return false;
  }
  if (auto *ref = llvm::dyn_cast<RefExpr>(e)) {
    return varying.contains(ref->decl) ||
           (ref->space == Space::Local && frame.mode == Mode::Region);
  }
  if (llvm::isa<AtomicExpr, WarpExpr>(e)) {
    return true;
  }
  bool region = frame.mode == Mode::Region;
  if (region && llvm::isa<ElementExpr, VecAccessExpr>(e)) {
    return true; // computed data
  }
  bool result = false;
  forEachOperand(e, [&](const Expr *x) { result = result || varies(x); });
  return result;
}

//===----------------------------------------------------------------------===//
// parallel
//===----------------------------------------------------------------------===//

static const RefExpr *indexRef(const Expr *e, const ParallelState &state) {
  auto *ref = llvm::dyn_cast<RefExpr>(e);
  return ref && llvm::is_contained(state.indices, ref->decl) ? ref : nullptr;
}

/// Rules for one written element, in `parallel` and in regions.
void Analyzer::checkElementWrite(const AssignStmt &stmt, const Value &target) {
  if (!target.isPlace() || target.place.space == Space::Value) {
    return;
  }
  llvm::ArrayRef<const Expr *> indices;
  if (auto *e = llvm::dyn_cast<ElementExpr>(stmt.target)) {
    indices = e->indices;
  } else if (auto *v = llvm::dyn_cast<VecAccessExpr>(stmt.target)) {
    indices = v->indices;
  } else {
    return;
  }
  const Expr *base = llvm::isa<ElementExpr>(stmt.target)
                         ? llvm::cast<ElementExpr>(stmt.target)->base
                         : llvm::cast<VecAccessExpr>(stmt.target)->base;
  ParallelState *state = parallels.empty() ? nullptr : &parallels.back();
  if (isPacked(target.type.elem) && llvm::isa<ElementExpr>(stmt.target)) {
    int64_t extent = base->type.shape.back();
    bool whole = frame.mode == Mode::Parallel && indexRef(indices.back(), *state) &&
                 llvm::cast<RefExpr>(indices.back())->decl == state->indices.back() &&
                 state->extents.back() == extent;
    if (!whole) {
      report(Id::PackedWrite, stmt.target->range, scalarName(target.type.elem));
      return;
    }
  }
  if (frame.mode != Mode::Parallel || target.place.space != Space::Fragment) {
    return;
  }
  llvm::SmallVector<const Decl *, 5> used;
  for (auto [i, e] : llvm::enumerate(indices)) {
    const RefExpr *ref = indexRef(e, *state);
    bool again = ref && llvm::is_contained(used, ref->decl);
    if ((!ref && varies(e)) || again) {
      report(Id::FragmentWrite, e->range, i, target.place.name);
      return;
    }
    if (!ref) {
      continue;
    }
    used.push_back(ref->decl);
    int64_t extent = state->extents[llvm::find(state->indices, ref->decl) - state->indices.begin()];
    if (extent == kDynamic) {
      report(Id::NotConstant, e->range,
             "the extent of a `parallel` loop whose variable subscripts a fragment");
      return;
    }
    if (extent > base->type.shape[i] && kernel.conditionDepth == state->conditionDepth) {
      report(Id::OutOfRange, e->range, extent - 1, i, target.place.name, base->type.shape[i]);
      return;
    }
  }
}

namespace {
/// An access of one element by a statement that every iteration runs.
struct Access {
  const Decl *base;
  llvm::ArrayRef<const Expr *> indices;
  SourceRange range;
};
} // namespace

static const Decl *baseDecl(const Expr *e) {
  auto *ref = llvm::dyn_cast<RefExpr>(e);
  return ref && ref->isPlace() ? ref->decl : nullptr;
}

static void collectReads(const Expr *e, llvm::SmallVectorImpl<Access> &out) {
  if (auto *element = llvm::dyn_cast<ElementExpr>(e)) {
    if (const Decl *d = baseDecl(element->base)) {
      out.push_back({d, element->indices, e->range});
    }
  }
  if (llvm::isa<SelectExpr>(e) ||
      (llvm::isa<BinaryExpr>(e) && llvm::cast<BinaryExpr>(e)->op >= BinaryOp::LogicalAnd)) {
    return; // perhaps not evaluated
  }
  if (!llvm::isa<AtomicExpr>(e)) {
    forEachOperand(e, [&](const Expr *x) { collectReads(x, out); });
  }
}

/// `i`, `i + c` or `i - c`: the variable and c.
static std::optional<std::pair<const Decl *, int64_t>> affine(const Expr *e) {
  if (auto *ref = llvm::dyn_cast<RefExpr>(e)) {
    return std::pair(ref->decl, int64_t(0));
  }
  auto *b = llvm::dyn_cast<BinaryExpr>(e);
  if (!b || (b->op != BinaryOp::Add && b->op != BinaryOp::Sub)) {
    return std::nullopt;
  }
  auto *ref = llvm::dyn_cast<RefExpr>(b->lhs);
  auto *c = llvm::dyn_cast<ConstantExpr>(b->rhs);
  if (!ref || !c || c->intValue <= -(1 << 30) || c->intValue >= (1 << 30)) {
    return std::nullopt;
  }
  return std::pair(ref->decl, b->op == BinaryOp::Add ? c->intValue : -c->intValue);
}

/// Statements that run in every iteration: no branch or inner loop.
void Analyzer::checkParallel(const ParallelStmt &stmt) {
  const ParallelState &state = parallels.back();
  bool many = llvm::any_of(state.extents, [](int64_t n) { return n == kDynamic || n > 1; });
  if (!many) {
    return;
  }
  llvm::SmallVector<Access> writes, reads;
  for (const Stmt *s : stmt.body) {
    if (auto *assign = llvm::dyn_cast<AssignStmt>(s)) {
      collectReads(assign->value, reads);
      auto *e = llvm::dyn_cast<ElementExpr>(assign->target);
      if (e && baseDecl(e->base)) {
        writes.push_back({baseDecl(e->base), e->indices, e->range});
      }
    } else if (auto *let = llvm::dyn_cast<LetStmt>(s)) {
      collectReads(let->init, reads);
    }
  }
  for (const Access &w : writes) {
    // A variable on which no subscript depends: its iterations write one element.
    for (auto [i, decl] : llvm::enumerate(state.indices)) {
      bool depends = state.extents[i] == 1 || llvm::any_of(w.indices, [&](const Expr *e) {
                       return indexRef(e, state) ? llvm::cast<RefExpr>(e)->decl == decl : varies(e);
                     });
      if (!depends) {
        report(Id::ParallelRace, w.range, "write", w.base->name)
            << note(decl->range, "for every value of this");
        return;
      }
    }
    for (const Access &r : reads) {
      if (r.base != w.base) {
        continue;
      }
      for (auto [x, y] : llvm::zip(w.indices, r.indices)) {
        auto a = affine(x), b = affine(y);
        bool indexed = a && b && llvm::is_contained(state.indices, a->first) &&
                       llvm::is_contained(state.indices, b->first);
        if (!indexed || (a->first == b->first && a->second == b->second)) {
          continue;
        }
        int64_t extent = state.extents[llvm::find(state.indices, a->first) - state.indices.begin()];
        int64_t shift = std::abs(a->second - b->second);
        if (a->first != b->first || extent == kDynamic || shift < extent) {
          report(Id::ParallelRace, w.range, "write and read", w.base->name)
              << note(r.range, "read here");
          return;
        }
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The value of an integer or bool expression over the thread axes and constants, for one thread.
static std::optional<int64_t> evaluate(const Expr *e, const ThreadsStmt &region, int64_t thread) {
  if (auto *c = llvm::dyn_cast<ConstantExpr>(e)) {
    return c->type.isScalar() && !isFloat(c->type.elem) ? std::optional(c->intValue) : std::nullopt;
  }
  if (auto *w = llvm::dyn_cast<WarpExpr>(e)) {
    return w->op == WarpOp::Lane ? std::optional(thread % 32) : std::nullopt;
  }
  if (auto *ref = llvm::dyn_cast<RefExpr>(e)) {
    int64_t rest = thread;
    for (const ThreadAxis &axis : region.axes) {
      if (axis.decl == ref->decl) {
        return rest % axis.extent;
      }
      rest /= axis.extent;
    }
    return std::nullopt;
  }
  auto *b = llvm::dyn_cast<BinaryExpr>(e);
  auto x = b ? evaluate(b->lhs, region, thread) : std::nullopt;
  auto y = b ? evaluate(b->rhs, region, thread) : std::nullopt;
  if (!x || !y || std::abs(*x) > (1 << 30) || std::abs(*y) > (1 << 30)) {
    return std::nullopt;
  }
  switch (b->op) {
  case BinaryOp::Add:
    return *x + *y;
  case BinaryOp::Sub:
    return *x - *y;
  case BinaryOp::Mul:
    return *x * *y;
  case BinaryOp::Div:
    return *y ? std::optional(*x / *y) : std::nullopt;
  case BinaryOp::Rem:
    return *y ? std::optional(*x % *y) : std::nullopt;
  case BinaryOp::And:
    return *x & *y;
  case BinaryOp::Eq:
    return *x == *y;
  case BinaryOp::Ne:
    return *x != *y;
  case BinaryOp::Lt:
    return *x < *y;
  case BinaryOp::Le:
    return *x <= *y;
  case BinaryOp::Gt:
    return *x > *y;
  case BinaryOp::Ge:
    return *x >= *y;
  default:
    return std::nullopt;
  }
}

namespace {
/// Walks a region with the conditions around each statement.
class RegionCheck {
public:
  RegionCheck(const ThreadsStmt &region, llvm::DenseSet<const Decl *> &varying,
              llvm::function_ref<bool(const Expr *)> varies, DiagnosticEngine &engine)
      : region(region), varying(varying), varies(varies), engine(engine) {
    for (const ThreadAxis &axis : region.axes) {
      threads *= axis.extent;
    }
  }

  void run() {
    // A variable varies if it is assigned what varies, or where control does.
    for (size_t before = varying.size() + 1; before != varying.size();) {
      before = varying.size();
      walk(region.body);
    }
    final = true;
    walk(region.body);
  }

private:
  void walk(Block body) {
    for (const Stmt *s : body) {
      statement(s);
    }
  }

  void statement(const Stmt *s) {
    if (auto *let = llvm::dyn_cast<LetStmt>(s); let && varies(let->init)) {
      varying.insert(let->decl);
    }
    if (auto *var = llvm::dyn_cast<VarStmt>(s); var && varies(var->init)) {
      varying.insert(var->decl);
    }
    if (auto *assign = llvm::dyn_cast<AssignStmt>(s)) {
      auto *ref = llvm::dyn_cast<RefExpr>(assign->target);
      bool uniform = !divergent() && !varies(assign->value);
      if (ref && !uniform) {
        varying.insert(ref->decl);
      }
      checkRace(*assign);
    }
    if (auto *sync = llvm::dyn_cast<SyncStmt>(s)) {
      checkSync(*sync);
    }
    forEachExpr(s, [&](const Expr *e) { checkWarp(e); });
    const Expr *cond = nullptr;
    if (auto *i = llvm::dyn_cast<IfStmt>(s)) {
      cond = i->cond;
    } else if (auto *w = llvm::dyn_cast<WhileStmt>(s)) {
      cond = w->cond;
    } else if (auto *f = llvm::dyn_cast<ForStmt>(s)) {
      bool vary = varies(f->lo) || varies(f->hi) || (f->step && varies(f->step));
      cond = vary ? (varies(f->lo) ? f->lo : f->hi) : nullptr;
      if (vary) {
        varying.insert(f->decl);
      }
    }
    if (cond) {
      conditions.push_back(cond);
    }
    forEachBody(s, [&](Block b) { walk(b); });
    if (cond) {
      conditions.pop_back();
    }
  }

  bool divergent() {
    return llvm::any_of(conditions, [&](const Expr *c) { return varies(c); });
  }

  /// Whether some warp is known to be split by a condition around.
  const Expr *splitsWarp() {
    for (const Expr *c : conditions) {
      if (!c->type.isBool() || !varies(c)) {
        continue;
      }
      for (int64_t warp = 0; warp < threads; warp += 32) {
        int taken = 0;
        for (int64_t t = warp; t < warp + 32; ++t) {
          auto v = evaluate(c, region, t);
          if (!v) {
            taken = 0;
            warp = threads;
            break;
          }
          taken += *v != 0;
        }
        if (taken && taken != 32) {
          return c;
        }
      }
    }
    return nullptr;
  }

  void checkSync(const SyncStmt &sync) {
    if (!final) {
      return;
    }
    if (sync.warp) {
      if (const Expr *c = splitsWarp()) {
        engine.report(Id::DivergentWarp, sync.range, "sync_warp")
            << note(c->range, "under this condition");
      }
      return;
    }
    for (const Expr *c : conditions) {
      if (varies(c)) {
        engine.report(Id::DivergentSync, sync.range)
            << note(c->range, "this differs between threads");
        return;
      }
    }
  }

  void checkWarp(const Expr *e) {
    if (!final) {
      return;
    }
    auto *warp = llvm::dyn_cast<WarpExpr>(e);
    if (warp && warp->op != WarpOp::Lane) {
      if (const Expr *c = splitsWarp()) {
        engine.report(Id::DivergentWarp, e->range, "operation of a warp")
            << note(c->range, "under this condition");
      }
    }
    forEachOperand(e, [&](const Expr *x) { checkWarp(x); });
  }

  /// All threads write one element, without a branch and not in turn.
  void checkRace(const AssignStmt &assign) {
    auto *e = llvm::dyn_cast<ElementExpr>(assign.target);
    const Decl *base = e ? baseDecl(e->base) : nullptr;
    if (!final || !base || threads == 1 || !conditions.empty()) {
      return;
    }
    auto *ref = llvm::cast<RefExpr>(e->base);
    bool shared = ref->space == Space::Shared || ref->space == Space::Tensor ||
                  ref->space == Space::Workspace;
    if (shared && llvm::none_of(e->indices, [&](const Expr *x) { return varies(x); })) {
      engine.report(Id::Race, e->range, base->name, "by the other threads");
    }
  }

  const ThreadsStmt &region;
  llvm::DenseSet<const Decl *> &varying;
  llvm::function_ref<bool(const Expr *)> varies;
  DiagnosticEngine &engine;
  llvm::SmallVector<const Expr *> conditions;
  int64_t threads = 1;
  bool final = false;
};
} // namespace

void Analyzer::checkRegion(const ThreadsStmt &stmt) {
  RegionCheck(stmt, varying, [&](const Expr *e) { return varies(e); }, engine).run();
}

//===----------------------------------------------------------------------===//
// Waiting for another block
//===----------------------------------------------------------------------===//

static bool readsGlobal(const Expr *e) {
  if (llvm::isa<AtomicExpr>(e)) {
    return true;
  }
  auto *element = llvm::dyn_cast<ElementExpr>(e);
  auto *ref = element ? llvm::dyn_cast<RefExpr>(element->base) : nullptr;
  if (ref && ref->decl->kind != Decl::Kind::TensorParam &&
      element->base->space == Space::Workspace) {
    return true;
  }
  auto *tensor = ref ? llvm::dyn_cast<TensorParam>(ref->decl) : nullptr;
  if (tensor && tensor->dir == Direction::InOut) {
    return true;
  }
  bool result = false;
  forEachOperand(e, [&](const Expr *x) { result = result || readsGlobal(x); });
  return result;
}

/// A condition on global memory, and a body that changes nothing.
void Analyzer::checkSpin(const WhileStmt &stmt) {
  bool acts = llvm::any_of(stmt.body, [](const Stmt *s) { return !llvm::isa<SyncStmt>(s); });
  if (!acts && readsGlobal(stmt.cond)) {
    report(Id::SpinWait, stmt.range);
  }
}

} // namespace tilec::sema
