//===- Assignments.cpp - What may be assigned, and how --------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

Value Analyzer::targetName(const ast::NameExpr *e) {
  const Entity *entity = lookup(e->name);
  if (!entity || entity->broken) {
    if (!entity) {
      report(Id::Undeclared, e->range, e->name);
    }
    return errorValue(e->range);
  }
  const Decl *decl = entity->decl;
  if (decl && decl->kind == Decl::Kind::Var) {
    if (levels.lookup(decl) < parallels.size()) {
      if (frame.mode == Mode::Region) {
        report(Id::RegionWrite, e->range, e->name) << note(entity->range, "declared here");
      } else {
        report(Id::ParallelBody, e->range,
               llvm::Twine("assignment to the outer variable `") + e->name + "`")
            << note(entity->range, "declared here");
      }
      return errorValue(e->range);
    }
    return reference(*entity, e->range);
  }
  if (!decl || !entity->place.root) {
    bool isIndex = decl && decl->kind == Decl::Kind::Index;
    bool isParam =
        decl && (decl->kind == Decl::Kind::ScalarParam || decl->kind == Decl::Kind::FnParam);
    report(Id::AssignLet, e->range, e->name,
           !decl                           ? "a constant"
           : isIndex                       ? "an index"
           : isParam                       ? "a parameter"
           : decl->kind == Decl::Kind::Dim ? "a dimension"
                                           : "a `let`")
            .hint(!decl || isIndex || isParam || decl->kind == Decl::Kind::Dim
                      ? "copy it into a `var`"
                      : "declare it with `var`")
        << note(entity->range, "declared here");
    return errorValue(e->range);
  }
  Value v = reference(*entity, e->range);
  if (v.isError()) {
    return v;
  }
  if (v.place.space == Space::Tensor || v.place.space == Space::Workspace) {
    report(Id::TensorOperand, e->range, e->name) << note(entity->range, "declared here");
    return errorValue(e->range);
  }
  if (v.type.isShaped() && frame.mode != Mode::Block) {
    report(frame.mode == Mode::Parallel ? Id::ParallelBody : Id::ThreadBody, e->range,
           "assignment of a whole tile");
    return errorValue(e->range);
  }
  return v;
}

Value Analyzer::target(const ast::Expr *e) {
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(e)) {
    return targetName(name);
  }
  auto *index = llvm::dyn_cast<ast::IndexExpr>(e);
  if (!index) {
    report(Id::AssignTarget, e->range);
    return errorValue(e->range);
  }
  // A name that is no place has its own message: subscripts do not make it one.
  Value v = analyzeIndex(index, Want::Target);
  if (v.isError()) {
    return v;
  }
  if (auto *element = llvm::dyn_cast<VecElementExpr>(v.expr)) {
    auto *ref = llvm::dyn_cast<RefExpr>(element->vec);
    if (!ref || ref->decl->kind != Decl::Kind::Var) {
      report(Id::AssignLet, e->range, sourceText(index->base->range), "not a `var`");
      return errorValue(e->range);
    }
    if (llvm::isa<ast::NameExpr>(index->base) &&
        targetName(llvm::cast<ast::NameExpr>(index->base)).isError()) {
      return errorValue(e->range);
    }
    return v;
  }
  if (!v.isPlace()) {
    auto *element = llvm::dyn_cast<ElementExpr>(v.expr);
    auto *ref = element ? llvm::dyn_cast<RefExpr>(element->base) : nullptr;
    if (ref) {
      report(Id::AssignLet, e->range, ref->decl->name, "a `let`")
          << note(ref->decl->range, "declared here");
    } else {
      report(Id::AssignTarget, e->range);
    }
    return errorValue(e->range);
  }
  if (v.type.isShaped()) {
    if (v.place.space == Space::Tensor || v.place.space == Space::Workspace) {
      report(Id::TensorOperand, e->range, v.place.name) << note(v.place.declared, "declared here");
      return errorValue(e->range);
    }
    if (frame.mode != Mode::Block) {
      report(frame.mode == Mode::Parallel ? Id::ParallelBody : Id::ThreadBody, e->range,
             "assignment of a slice");
      return errorValue(e->range);
    }
  }
  return v;
}

BinaryOp binaryOp(ast::BinaryOp op);

void Analyzer::assignStmt(const ast::AssignStmt *s) {
  Value to = target(s->target);
  Value v = part(s->value);
  if (to.isError() || v.isError()) {
    return;
  }
  std::optional<BinaryOp> op;
  if (s->hasOp) {
    op = binaryOp(s->op);
    if (to.isPlace()) {
      checkRead(to, s->target->range);
    }
    Value current = to;
    current.place = PlaceInfo();
    // Checks the operator; its result has the target's type unless the operands do not fit.
    Value result = binary(*op, current, v, s->range);
    if (result.isError()) {
      return;
    }
    bool shift = op == BinaryOp::Shl || op == BinaryOp::Shr;
    if (shift) {
      v = withDefaultType(v);
      if (to.type.isShaped()) {
        v = v.type.isScalar() ? broadcast(v, to.type) : repeat(v, to.type.shape);
      } else {
        v = to.type.isScalar() || !v.type.isScalar() ? v : broadcast(v, to.type);
      }
    } else {
      v = coerce(v, to.type);
    }
  } else {
    v = coerce(v, to.type);
  }
  if (v.isError() || (to.isPlace() && !checkWrite(to, s->target->range))) {
    return;
  }
  auto *assign = program.make<AssignStmt>(to.expr, materialize(v), s->range);
  assign->op = op;
  checkElementWrite(*assign, to);
  emit(assign);
}

} // namespace tilec::sema
