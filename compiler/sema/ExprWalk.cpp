//===- ExprWalk.cpp - Children of typed expressions and statements --------===//
#include "compiler/sema/ExprWalk.h"

namespace tilec::sema {

using Visit = llvm::function_ref<void(const Expr *)>;

static void visitSubscripts(llvm::ArrayRef<Subscript> list, Visit visit) {
  for (const Subscript &s : list) {
    for (const Expr *e : {s.begin, s.end}) {
      if (e) {
        visit(e);
      }
    }
  }
}

static void visitList(llvm::ArrayRef<const Expr *> list, Visit visit) {
  for (const Expr *e : list) {
    visit(e);
  }
}

void forEachOperand(const Expr *e, Visit visit) {
  auto each = [&](std::initializer_list<const Expr *> list) {
    for (const Expr *x : list) {
      if (x) {
        visit(x);
      }
    }
  };
  switch (e->kind) {
  case Expr::Kind::Constant:
  case Expr::Kind::Ref:
  case Expr::Kind::Stride:
  case Expr::Kind::SmCount:
  case Expr::Kind::Present:
    return;
  case Expr::Kind::Unary:
    return visit(llvm::cast<UnaryExpr>(e)->operand);
  case Expr::Kind::Binary:
    return each({llvm::cast<BinaryExpr>(e)->lhs, llvm::cast<BinaryExpr>(e)->rhs});
  case Expr::Kind::Select:
    return each({llvm::cast<SelectExpr>(e)->cond, llvm::cast<SelectExpr>(e)->ifTrue,
                 llvm::cast<SelectExpr>(e)->ifFalse});
  case Expr::Kind::Broadcast:
    return visit(llvm::cast<BroadcastExpr>(e)->operand);
  case Expr::Kind::Convert:
    return visit(llvm::cast<ConvertExpr>(e)->operand);
  case Expr::Kind::BitcastValue:
    return visit(llvm::cast<BitcastValueExpr>(e)->operand);
  case Expr::Kind::VecElement:
    return each({llvm::cast<VecElementExpr>(e)->vec, llvm::cast<VecElementExpr>(e)->index});
  case Expr::Kind::Math:
    return visitList(llvm::cast<MathExpr>(e)->args, visit);
  case Expr::Kind::Call:
    return visitList(llvm::cast<CallExpr>(e)->args, visit);
  case Expr::Kind::Block:
    return visitList(llvm::cast<BlockExpr>(e)->results, visit);
  case Expr::Kind::Reduce:
    return visit(llvm::cast<ReduceExpr>(e)->operand);
  case Expr::Kind::ReduceFn:
    return visitList(llvm::cast<ReduceFnExpr>(e)->operands, visit);
  case Expr::Kind::Scan:
    return visit(llvm::cast<ScanExpr>(e)->operand);
  case Expr::Kind::ScanFn:
    return visitList(llvm::cast<ScanFnExpr>(e)->operands, visit);
  case Expr::Kind::Transpose:
    return visit(llvm::cast<TransposeExpr>(e)->operand);
  case Expr::Kind::Atomic: {
    auto *a = llvm::cast<AtomicExpr>(e);
    return each({a->place, a->expected, a->value});
  }
  case Expr::Kind::Warp:
    return each({llvm::cast<WarpExpr>(e)->operand, llvm::cast<WarpExpr>(e)->operand2});
  case Expr::Kind::ExtentOf:
    return visit(llvm::cast<ExtentOfExpr>(e)->place);
  case Expr::Kind::Element:
    visit(llvm::cast<ElementExpr>(e)->base);
    return visitList(llvm::cast<ElementExpr>(e)->indices, visit);
  case Expr::Kind::VecAccess:
    visit(llvm::cast<VecAccessExpr>(e)->base);
    return visitList(llvm::cast<VecAccessExpr>(e)->indices, visit);
  case Expr::Kind::Slice:
    visit(llvm::cast<SliceExpr>(e)->base);
    return visitSubscripts(llvm::cast<SliceExpr>(e)->subscripts, visit);
  case Expr::Kind::Origin:
    visit(llvm::cast<OriginExpr>(e)->base);
    return visitSubscripts(llvm::cast<OriginExpr>(e)->subscripts, visit);
  case Expr::Kind::Reshape:
    visit(llvm::cast<ReshapeExpr>(e)->base);
    for (const Extent &x : llvm::cast<ReshapeExpr>(e)->extents) {
      visit(x.expr);
    }
    return;
  case Expr::Kind::BitcastView:
    return visit(llvm::cast<BitcastViewExpr>(e)->base);
  }
}

void forEachExpr(const Stmt *s, Visit visit) {
  auto each = [&](std::initializer_list<const Expr *> list) {
    for (const Expr *x : list) {
      if (x) {
        visit(x);
      }
    }
  };
  switch (s->kind) {
  case Stmt::Kind::Let:
    return each({llvm::cast<LetStmt>(s)->init});
  case Stmt::Kind::LetTuple:
    return each({llvm::cast<LetTupleStmt>(s)->init});
  case Stmt::Kind::Var:
    return each({llvm::cast<VarStmt>(s)->init});
  case Stmt::Kind::Buffer:
    return each({llvm::cast<BufferStmt>(s)->init});
  case Stmt::Kind::View:
    return each({llvm::cast<ViewStmt>(s)->decl->place});
  case Stmt::Kind::Launch:
    visitList(llvm::cast<LaunchStmt>(s)->grid, visit);
    return each({llvm::cast<LaunchStmt>(s)->launch.rasterizeGroup});
  case Stmt::Kind::Parallel:
    return each({llvm::cast<ParallelStmt>(s)->domain});
  case Stmt::Kind::For: {
    auto *f = llvm::cast<ForStmt>(s);
    return each({f->lo, f->hi, f->step});
  }
  case Stmt::Kind::While:
    return each({llvm::cast<WhileStmt>(s)->cond});
  case Stmt::Kind::If:
    return each({llvm::cast<IfStmt>(s)->cond});
  case Stmt::Kind::Return:
    return visitList(llvm::cast<ReturnStmt>(s)->values, visit);
  case Stmt::Kind::Assign:
    return each({llvm::cast<AssignStmt>(s)->target, llvm::cast<AssignStmt>(s)->value});
  case Stmt::Kind::Evaluate:
    return each({llvm::cast<EvaluateStmt>(s)->expr});
  case Stmt::Kind::Copy:
    return each({llvm::cast<CopyStmt>(s)->source, llvm::cast<CopyStmt>(s)->target});
  case Stmt::Kind::Gemm: {
    auto *g = llvm::cast<GemmStmt>(s);
    return each({g->a, g->b, g->acc});
  }
  case Stmt::Kind::Print:
    return visitList(llvm::cast<PrintStmt>(s)->format.args, visit);
  case Stmt::Kind::Assert:
    visit(llvm::cast<AssertStmt>(s)->cond);
    return visitList(llvm::cast<AssertStmt>(s)->message.args, visit);
  default:
    return;
  }
}

void forEachBody(const Stmt *s, llvm::function_ref<void(Block)> visit) {
  switch (s->kind) {
  case Stmt::Kind::Launch:
    return visit(llvm::cast<LaunchStmt>(s)->body);
  case Stmt::Kind::Scope:
    return visit(llvm::cast<ScopeStmt>(s)->body);
  case Stmt::Kind::Threads:
    return visit(llvm::cast<ThreadsStmt>(s)->body);
  case Stmt::Kind::Parallel:
    return visit(llvm::cast<ParallelStmt>(s)->body);
  case Stmt::Kind::For:
    return visit(llvm::cast<ForStmt>(s)->body);
  case Stmt::Kind::While:
    return visit(llvm::cast<WhileStmt>(s)->body);
  case Stmt::Kind::If:
    visit(llvm::cast<IfStmt>(s)->thenBody);
    return visit(llvm::cast<IfStmt>(s)->elseBody);
  default:
    return;
  }
}

} // namespace tilec::sema
