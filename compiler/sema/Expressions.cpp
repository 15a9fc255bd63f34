//===- Expressions.cpp - Names, operators, conditions ---------------------===//
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Modules.h"

namespace tilec::sema {

using diag::Id;

Value Analyzer::errorValue(SourceRange range) {
  Value v;
  v.range = range;
  return v;
}

Value Analyzer::constantValue(ConstValue c, SourceRange range) {
  Value v;
  v.type = c.type;
  v.constant = std::move(c);
  v.range = range;
  return v;
}

Value Analyzer::exprValue(const Expr *e) {
  Value v;
  v.type = e->type;
  v.expr = e;
  v.range = e->range;
  return v;
}

/// What a thread may get of fully unrolled loops. Of tiles with transcendental functions these take 8 s to compile, twice as many 30 s.
static constexpr uint64_t maxUnrolled = 16'000;

bool Analyzer::countUnrolled(const Value &v) {
  if (kernel.unrolling == 0 || v.constant || v.isError() || stopped) {
    return true;
  }
  uint64_t own = uint64_t(kernel.repeated);
  if (v.type.isShaped() && v.type.hasStaticShape() &&
      (!v.isPlace() || v.place.space == Space::Fragment)) {
    uint64_t elements = 1;
    for (int64_t extent : v.type.shape) {
      elements = llvm::SaturatingMultiply(elements, uint64_t(extent));
    }
    own = llvm::divideCeil(elements, uint64_t(kernel.threads.value_or(1)));
  }
  kernel.unrolled = llvm::SaturatingAdd(kernel.unrolled, own);
  if (kernel.unrolled <= maxUnrolled) {
    return true;
  }
  stopped = true;
  report(Id::ExpansionUnrolled, v.range, maxUnrolled);
  return false;
}

Value Analyzer::analyze(const ast::Expr *e, Want want) {
  DepthGuard guard(*this);
  if (!step(e->range)) {
    return errorValue(e->range);
  }
  Value v = analyzeKind(e, want);
  return countUnrolled(v) ? v : errorValue(e->range);
}

Value Analyzer::analyzeKind(const ast::Expr *e, Want want) {
  switch (e->kind) {
  case ast::ExprKind::Int:
    return constantValue(ConstValue::untyped(Int128(llvm::cast<ast::IntExpr>(e)->value)), e->range);
  case ast::ExprKind::Float:
    return constantValue(ConstValue::untyped(llvm::cast<ast::FloatExpr>(e)->value), e->range);
  case ast::ExprKind::String:
    return constantValue(ConstValue::string(llvm::cast<ast::StringExpr>(e)->value), e->range);
  case ast::ExprKind::Bool:
    return constantValue(ConstValue::boolean(llvm::cast<ast::BoolExpr>(e)->value), e->range);
  case ast::ExprKind::Name:
    return analyzeName(llvm::cast<ast::NameExpr>(e));
  case ast::ExprKind::Call:
    return analyzeCall(llvm::cast<ast::CallExpr>(e));
  case ast::ExprKind::Index:
    return analyzeIndex(llvm::cast<ast::IndexExpr>(e), want);
  case ast::ExprKind::Unary:
    return analyzeUnary(llvm::cast<ast::UnaryExpr>(e));
  case ast::ExprKind::Binary:
    return analyzeBinary(llvm::cast<ast::BinaryExpr>(e));
  case ast::ExprKind::Conditional:
    return analyzeConditional(llvm::cast<ast::ConditionalExpr>(e));
  case ast::ExprKind::Tuple:
    report(Id::TuplePlace, e->range);
    return errorValue(e->range);
  case ast::ExprKind::List:
    report(Id::ListPlace, e->range);
    return errorValue(e->range);
  }
  return errorValue(e->range);
}

Value Analyzer::operand(const ast::Expr *e) {
  Value v = part(e);
  return checkClosed(v) ? v : errorValue(e->range);
}

Value Analyzer::part(const ast::Expr *e) { return read(analyze(e, Want::Value)); }

Value Analyzer::read(Value v) {
  if (v.isError()) {
    return v;
  }
  if (v.type.isVoid() || v.type.kind == Type::Kind::Tuple) {
    report(Id::TypeMismatchKind, v.range, "one value", v.type.str());
    return errorValue(v.range);
  }
  if (v.place.space == Space::Tensor || v.place.space == Space::Workspace ||
      v.place.space == Space::ConstArray) {
    const bool isConstant = v.place.space == Space::ConstArray;
    report(isConstant ? Id::ConstantArrayOperand : Id::TensorOperand, v.range, v.place.name)
        << note(v.place.declared, "declared here");
    return errorValue(v.range);
  }
  if (v.isPlace()) {
    checkRead(v, v.range);
    v.place = PlaceInfo();
  }
  if (v.type.isShaped()) {
    if (frame.mode == Mode::Parallel) {
      report(Id::ParallelBody, v.range, "a whole tile");
      return errorValue(v.range);
    }
    if (frame.mode == Mode::Region) {
      report(Id::ThreadBody, v.range, "a whole tile");
      return errorValue(v.range);
    }
    if (frame.mode == Mode::Block && v.type.rank() > 5) {
      report(Id::RankTile, v.range, v.type.rank());
      return errorValue(v.range);
    }
  }
  return v;
}

Value Analyzer::analyzeName(const ast::NameExpr *e) {
  if (auto s = scalarByName(e->name)) {
    return constantValue(ConstValue::typeName(*s), e->range);
  }
  if (auto c = predefinedConstant(e->name, options.arch)) {
    return constantValue(*c, e->range);
  }
  const Entity *entity = lookup(e->name);
  if (!entity) {
    report(Id::Undeclared, e->range, e->name);
    return errorValue(e->range);
  }
  return reference(*entity, e->range);
}

Value Analyzer::reference(const Entity &e, SourceRange range) {
  if (e.broken) {
    return errorValue(range);
  }
  if (e.constant) {
    return constantValue(*e.constant, range);
  }
  Value v;
  v.range = range;
  v.type = e.decl->type;
  v.place = e.place;
  auto *ref = program.make<RefExpr>(e.decl, e.place.space, range);
  if (e.place.space == Space::Local && frame.mode != Mode::Region && frame.mode != Mode::Constant) {
    // Block code sees what all threads hold.
    v.type.shape.insert(v.type.shape.begin(), kernel.threads.value_or(32));
    ref->type = v.type;
    v.place.writable = false;
  }
  v.expr = ref;
  if (e.place.space == Space::Fragment && frame.mode == Mode::Region) {
    report(Id::ThreadBody, range, llvm::Twine("fragment `") + e.name + "`")
        << note(e.range, "declared here");
    return errorValue(range);
  }
  return checkUse(v, range) ? v : errorValue(range);
}

Value Analyzer::analyzeUnary(const ast::UnaryExpr *e) {
  static constexpr UnaryOp ops[] = {UnaryOp::Neg, UnaryOp::Not, UnaryOp::BitNot};
  return unary(ops[unsigned(e->op)], part(e->operand), e->range);
}

BinaryOp binaryOp(ast::BinaryOp op) {
  static constexpr BinaryOp ops[] = {
      BinaryOp::LogicalOr, BinaryOp::LogicalAnd, BinaryOp::Eq,  BinaryOp::Ne,  BinaryOp::Lt,
      BinaryOp::Le,        BinaryOp::Gt,         BinaryOp::Ge,  BinaryOp::Or,  BinaryOp::Xor,
      BinaryOp::And,       BinaryOp::Shl,        BinaryOp::Shr, BinaryOp::Add, BinaryOp::Sub,
      BinaryOp::Mul,       BinaryOp::Div,        BinaryOp::Rem};
  return ops[unsigned(op)];
}

Value Analyzer::analyzeBinary(const ast::BinaryExpr *e) {
  if (e->op == ast::BinaryOp::LogicalAnd || e->op == ast::BinaryOp::LogicalOr) {
    return analyzeLogical(e);
  }
  Value a = part(e->left);
  Value b = part(e->right);
  return binary(binaryOp(e->op), a, b, e->range);
}

Value Analyzer::analyzeLogical(const ast::BinaryExpr *e) {
  bool isAnd = e->op == ast::BinaryOp::LogicalAnd;
  Value a = condition(e->left, /*tileToo=*/true, /*vecToo=*/true);
  if (a.constant) {
    // A constant left side decides, or leaves the right side.
    return (a.constant->i != 0) == isAnd ? condition(e->right, true, true) : a;
  }
  size_t known = kernel.present.size();
  notePresent(e->left, isAnd, kernel.present);
  ++kernel.conditionDepth;
  Value b = condition(e->right, true, true);
  --kernel.conditionDepth;
  kernel.present.resize(known);
  if (b.constant && (b.constant->i != 0) == isAnd) {
    return a;
  }
  return binary(isAnd ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr, a, b, e->range);
}

Value Analyzer::condition(const ast::Expr *e, bool tileToo, bool vecToo) {
  Value v = tileToo ? part(e) : operand(e);
  if (v.isError()) {
    return v;
  }
  bool isBool = v.type.isValue() && v.type.elem == Scalar::Bool && (vecToo || !v.type.vecLength);
  if (!isBool || (!tileToo && v.type.isShaped())) {
    report(Id::NotBool, v.range, v.type.str());
    return errorValue(v.range);
  }
  return v;
}

Value Analyzer::analyzeConditional(const ast::ConditionalExpr *e) {
  Value c = part(e->condition);
  if (c.isError()) {
    return errorValue(e->range);
  }
  if (!c.type.isValue() || c.type.elem != Scalar::Bool) {
    report(Id::NotBool, c.range, c.type.str());
    return errorValue(e->range);
  }
  if (c.constant) {
    return part(c.constant->i ? e->whenTrue : e->whenFalse);
  }
  size_t known = kernel.present.size();
  ++kernel.conditionDepth;
  notePresent(e->condition, true, kernel.present);
  Value a = part(e->whenTrue);
  kernel.present.resize(known);
  notePresent(e->condition, false, kernel.present);
  Value b = part(e->whenFalse);
  kernel.present.resize(known);
  --kernel.conditionDepth;
  return select(c, a, b, e->range);
}

/// Collects the optional tensors that are there if `cond` is `holds`.
void Analyzer::notePresent(const ast::Expr *cond, bool holds,
                           llvm::SmallVectorImpl<const TensorParam *> &out) {
  if (auto *u = llvm::dyn_cast<ast::UnaryExpr>(cond)) {
    if (u->op == ast::UnaryOp::Not) {
      notePresent(u->operand, !holds, out);
    }
    return;
  }
  if (auto *b = llvm::dyn_cast<ast::BinaryExpr>(cond)) {
    if (b->op == (holds ? ast::BinaryOp::LogicalAnd : ast::BinaryOp::LogicalOr)) {
      notePresent(b->left, holds, out);
      notePresent(b->right, holds, out);
    }
    return;
  }
  auto *call = llvm::dyn_cast<ast::CallExpr>(cond);
  if (!holds || !call || call->callee.name != "present" || call->args.size() != 1) {
    return;
  }
  if (auto *name = llvm::dyn_cast<ast::NameExpr>(call->args[0].value)) {
    const Entity *e = lookup(name->name);
    if (auto *t = llvm::dyn_cast_or_null<TensorParam>(e ? e->decl : nullptr)) {
      out.push_back(t);
    }
  }
}

} // namespace tilec::sema
