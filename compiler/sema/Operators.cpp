//===- Operators.cpp - Types of operators, literals and conversions -------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

Scalar scalarOf(const Value &v) { return v.type.elem; }

static bool isCompare(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }

static llvm::StringRef opSpelling(BinaryOp op) {
  static constexpr llvm::StringLiteral names[] = {
      "+",  "-",  "*",  "/", "%",  "&", "|",  "^",  "<<",
      ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return names[unsigned(op)];
}

void Analyzer::reportConst(const ConstError &error, const Type &type, SourceRange range) {
  switch (error.kind) {
  case ConstError::None:
    return;
  case ConstError::Division:
    report(Id::ConstantDivision, range);
    return;
  case ConstError::Shift:
    report(Id::ConstantShift, range, error.value);
    return;
  case ConstError::OutsideUntyped:
    report(Id::ConstantOverflow, range, error.value);
    return;
  case ConstError::OutsideType:
    report(frame.mode == Mode::Host ? Id::HostOverflow : Id::ConstantFit, range, error.value,
           type.str());
    return;
  }
}

/// Whether `op` takes values of this type; reports if not.
bool Analyzer::checkOperator(llvm::StringRef op, const Value &v, SourceRange range, bool numbers,
                             bool integers, bool bools) {
  Type::Kind kind = v.type.kind;
  bool ok;
  if (kind == Type::Kind::UntypedInt) {
    ok = numbers || integers;
  } else if (kind == Type::Kind::UntypedFloat) {
    ok = numbers;
  } else if (kind == Type::Kind::Value) {
    if (isStorage(v.type.elem)) {
      report(Id::StorageType, v.range, scalarName(v.type.elem), op);
      return false;
    }
    ok = v.type.elem == Scalar::Bool ? bools
         : isInteger(v.type.elem)    ? numbers || integers
                                     : numbers;
  } else {
    ok = false;
  }
  if (!ok) {
    report(Id::OperatorType, v.range, op,
           numbers    ? (bools ? "numbers and bools" : "numbers")
           : integers ? "integers"
                      : "bools",
           v.type.str());
  }
  return ok;
}

Value Analyzer::adapt(Value v, Scalar s) {
  if (v.isError() || !v.isUntyped()) {
    return v;
  }
  if (v.deferred) {
    Value cond;
    cond.type = v.deferred->cond->type;
    cond.expr = v.deferred->cond;
    return select(cond, adapt(v.deferred->ifTrue, s), adapt(v.deferred->ifFalse, s), v.range);
  }
  bool floatToInt = v.type.kind == Type::Kind::UntypedFloat && (isInteger(s) || s >= Scalar::I4);
  if (s == Scalar::Bool || floatToInt) {
    report(Id::TypeMismatch, v.range, scalarName(s), v.type.str());
    return errorValue(v.range);
  }
  auto c = adaptConstant(*v.constant, s);
  if (!c) {
    report(Id::ConstantFit, v.range, v.constant->str(), scalarName(s));
    return errorValue(v.range);
  }
  return constantValue(*c, v.range);
}

Value Analyzer::withDefaultType(Value v) {
  if (!v.isUntyped()) {
    return v;
  }
  return adapt(v, v.type.kind == Type::Kind::UntypedInt ? Scalar::I32 : Scalar::F32);
}

const Expr *Analyzer::materialize(const Value &v) {
  if (v.expr) {
    return v.expr;
  }
  if (v.isUntyped()) {
    Value typed = withDefaultType(v);
    if (!typed.isError()) {
      return materialize(typed);
    }
  }
  auto *c = program.make<ConstantExpr>(v.constant ? v.constant->type : v.type, v.range);
  if (v.constant) {
    c->intValue = int64_t(v.constant->i);
    c->floatValue = v.constant->f;
  }
  return c;
}

Value Analyzer::broadcast(Value v, const Type &shape) {
  Type t = v.type;
  t.vecLength = shape.vecLength;
  t.shape = shape.shape;
  Value r = exprValue(program.make<BroadcastExpr>(materialize(v), t, v.range));
  return r;
}

/// The shape of tiles that are repeated to meet: open extents take the other's.
static std::optional<llvm::SmallVector<int64_t, 5>> joinShapes(llvm::ArrayRef<int64_t> a,
                                                               llvm::ArrayRef<int64_t> b) {
  if (a.size() != b.size()) {
    return std::nullopt;
  }
  llvm::SmallVector<int64_t, 5> joined(a);
  for (auto [extent, other] : llvm::zip_equal(joined, b)) {
    if (extent == kOpen) {
      extent = other;
    } else if (other != kOpen && other != extent) {
      return std::nullopt;
    }
  }
  return joined;
}

Value Analyzer::repeat(Value v, llvm::ArrayRef<int64_t> shape) {
  return v.type.shape == shape ? v : broadcast(v, v.type.withShape(shape));
}

void Analyzer::reportShapes(SourceRange range, llvm::ArrayRef<int64_t> a,
                            llvm::ArrayRef<int64_t> b) {
  auto note = report(Id::ShapeMismatch, range, shapeString(a), shapeString(b));
  if (a.size() != b.size() && !a.empty() && !b.empty()) {
    note.hint("`_` names a dimension along which a tile is repeated: `x[:, _]`, `x[_, :]`");
  }
}

/// The shape of a value: of a choice among literals, which has no type yet, that of the conditions.
static llvm::SmallVector<int64_t, 5> shapeOf(const Value &v) {
  if (!v.deferred) {
    return v.type.shape;
  }
  llvm::SmallVector<int64_t, 5> shape = v.deferred->cond->type.shape;
  for (const Value *branch : {&v.deferred->ifTrue, &v.deferred->ifFalse}) {
    shape = joinShapes(shape, shapeOf(*branch)).value_or(shape);
  }
  return shape;
}

bool Analyzer::checkClosed(const Value &v) {
  llvm::SmallVector<int64_t, 5> shape = shapeOf(v);
  auto open = llvm::find(shape, kOpen);
  if (open == shape.end()) {
    return true;
  }
  report(Id::OpenExtent, v.range, open - shape.begin(), shapeString(shape));
  return false;
}

bool Analyzer::unifyShapes(Value &a, Value &b, SourceRange range) {
  if (a.type.shape == b.type.shape && a.type.vecLength == b.type.vecLength) {
    return true;
  }
  if (a.type.isScalar()) {
    a = broadcast(a, b.type);
    return true;
  }
  if (b.type.isScalar()) {
    b = broadcast(b, a.type);
    return true;
  }
  if (a.type.vecLength != b.type.vecLength) {
    report(Id::TypeMismatch, b.range, a.type.str(), b.type.str());
    return false;
  }
  if (auto shape = joinShapes(a.type.shape, b.type.shape)) {
    a = repeat(a, *shape);
    b = repeat(b, *shape);
    return true;
  }
  reportShapes(range, a.type.shape, b.type.shape);
  return false;
}

bool Analyzer::unify(Value &a, Value &b, llvm::StringRef what, SourceRange range) {
  if (a.isError() || b.isError()) {
    return false;
  }
  if (a.isUntyped() && b.isUntyped()) {
    if (a.constant && b.constant) {
      return true; // folding takes a mixed pair
    }
    bool isFloatPair =
        a.type.kind == Type::Kind::UntypedFloat || b.type.kind == Type::Kind::UntypedFloat;
    a = adapt(a, isFloatPair ? Scalar::F32 : Scalar::I32);
    b = adapt(b, isFloatPair ? Scalar::F32 : Scalar::I32);
    return !a.isError() && !b.isError();
  }
  if (a.isUntyped()) {
    a = adapt(a, scalarOf(b));
  } else if (b.isUntyped()) {
    b = adapt(b, scalarOf(a));
  }
  if (a.isError() || b.isError()) {
    return false;
  }
  if (a.type.kind != b.type.kind || a.type.elem != b.type.elem) {
    report(Id::TypeMismatchOperands, range, what, a.type.str(), b.type.str())
        .hint(llvm::Twine("convert one of them: `") +
              (a.type.isValue() ? scalarName(a.type.elem) : "T") + "(...)`");
    return false;
  }
  return !a.type.isValue() || unifyShapes(a, b, range);
}

Value Analyzer::binary(BinaryOp op, Value a, Value b, SourceRange range) {
  if (a.isError() || b.isError()) {
    return errorValue(range);
  }
  llvm::StringRef name = opSpelling(op);
  bool typeNames = a.constant && b.constant && a.constant->isTypeName() &&
                   b.constant->isTypeName() && (op == BinaryOp::Eq || op == BinaryOp::Ne);
  bool equality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  bool logical = op == BinaryOp::LogicalAnd || op == BinaryOp::LogicalOr;
  bool numbers = op <= BinaryOp::Div || isCompare(op);
  bool integers = !numbers && !logical;
  if (!typeNames && (!checkOperator(name, a, range, numbers, integers, logical || equality) ||
                     !checkOperator(name, b, range, numbers, integers, logical || equality))) {
    return errorValue(range);
  }
  if (op == BinaryOp::Shl || op == BinaryOp::Shr) {
    if (!(a.constant && b.constant && a.isUntyped())) {
      a = withDefaultType(a);
      b = withDefaultType(b);
    }
    if (a.isError() || b.isError() ||
        (a.type.isValue() && b.type.isValue() && !unifyShapes(a, b, range))) {
      return errorValue(range);
    }
  } else if (!unify(a, b, name, range)) {
    return errorValue(range);
  }
  if (a.constant && b.constant) {
    ConstError error;
    if (auto c = foldBinary(op, *a.constant, *b.constant, error, overflowHere())) {
      return constantValue(*c, range);
    }
    reportConst(error, a.type, range);
    return errorValue(range);
  }
  if ((op == BinaryOp::Div || op == BinaryOp::Rem) && isInteger(b.type.elem) && b.constant &&
      b.constant->i == 0) {
    report(Id::ConstantDivision, range);
    return errorValue(range);
  }
  Type type = isCompare(op) ? a.type.withElem(Scalar::Bool) : a.type;
  return exprValue(program.make<BinaryExpr>(op, materialize(a), materialize(b), type, range));
}

Value Analyzer::unary(UnaryOp op, Value v, SourceRange range) {
  if (v.isError()) {
    return v;
  }
  static constexpr llvm::StringLiteral names[] = {"-", "!", "~"};
  if (!checkOperator(names[unsigned(op)], v, range, op == UnaryOp::Neg, op == UnaryOp::BitNot,
                     op == UnaryOp::Not)) {
    return errorValue(range);
  }
  if (v.constant) {
    ConstError error;
    if (auto c = foldUnary(op, *v.constant, error, overflowHere())) {
      return constantValue(*c, range);
    }
    reportConst(error, v.type, range);
    return errorValue(range);
  }
  v = withDefaultType(v);
  if (v.isError()) {
    return v;
  }
  return exprValue(program.make<UnaryExpr>(op, materialize(v), v.type, range));
}

Value Analyzer::select(const Value &cond, Value a, Value b, SourceRange range) {
  if (cond.isError() || a.isError() || b.isError()) {
    return errorValue(range);
  }
  if (a.isUntyped() && b.isUntyped()) {
    Value v;
    bool isFloatPair =
        a.type.kind == Type::Kind::UntypedFloat || b.type.kind == Type::Kind::UntypedFloat;
    v.type = Type(isFloatPair ? Type::Kind::UntypedFloat : Type::Kind::UntypedInt);
    v.deferred = program.make<Deferred>(Deferred{materialize(cond), a, b});
    v.range = range;
    return v;
  }
  if (!unify(a, b, "?:", range)) {
    return errorValue(range);
  }
  if (!a.type.isValue()) {
    report(Id::TypeMismatchKind, range, "a value", a.type.str());
    return errorValue(range);
  }
  Value c = exprValue(materialize(cond));
  if (c.type.isShaped() || c.type.vecLength) {
    for (Value *branch : {&a, &b, &a}) { // what one of them adds to the condition, all have
      if (!unifyShapes(c, *branch, range)) {
        return errorValue(range);
      }
    }
  }
  return exprValue(program.make<SelectExpr>(c.expr, materialize(a), materialize(b), a.type, range));
}

Value Analyzer::coerce(Value v, const Type &type) {
  if (v.isError() || type.isError()) {
    return errorValue(v.range);
  }
  if (v.isUntyped()) {
    v = adapt(v, type.elem);
    if (v.isError()) {
      return v;
    }
  }
  if (v.type == type) {
    return v;
  }
  if (v.type.isValue() && v.type.elem == type.elem) {
    if (v.type.isScalar()) {
      return broadcast(v, type);
    }
    if (v.type.vecLength == type.vecLength) {
      auto shape = joinShapes(v.type.shape, type.shape);
      if (shape && *shape == type.shape) {
        return repeat(v, *shape);
      }
      reportShapes(v.range, type.shape, v.type.shape);
      return errorValue(v.range);
    }
  }
  auto note = report(Id::TypeMismatch, v.range, type.str(), v.type.str());
  if (v.type.isValue() && convertible(v.type.elem, type.elem)) {
    note.hint(llvm::Twine("convert it: `") + scalarName(type.elem) + "(...)`");
  } else {
    note.hint("");
  }
  return errorValue(v.range);
}

bool Analyzer::convertible(Scalar from, Scalar to) {
  if (from == to) {
    return true;
  }
  if (to == Scalar::Bool || to == Scalar::E8M0) {
    return false;
  }
  if (from == Scalar::Bool) {
    return isInteger(to);
  }
  return from != Scalar::E8M0 || isFloat(to);
}

Value Analyzer::convert(Value v, Scalar to, SourceRange range) {
  if (v.isError()) {
    return v;
  }
  if (v.deferred) {
    v = withDefaultType(v);
  }
  if (!v.type.isValue() && !v.isUntyped()) {
    report(Id::Conversion, range, v.type.str(), scalarName(to));
    return errorValue(range);
  }
  Scalar from = v.isUntyped() ? (v.type.kind == Type::Kind::UntypedInt ? Scalar::I64 : Scalar::F64)
                              : v.type.elem;
  if (!convertible(from, to)) {
    if (to == Scalar::Bool) {
      report(Id::ConversionBool, range, v.type.str());
    } else {
      report(Id::Conversion, range, v.type.str(), scalarName(to));
    }
    return errorValue(range);
  }
  if (v.constant) {
    return constantValue(convertConstant(*v.constant, to), range);
  }
  if (from == to) {
    v.range = range;
    return v;
  }
  return exprValue(program.make<ConvertExpr>(materialize(v), v.type.withElem(to), range));
}

} // namespace tilec::sema
