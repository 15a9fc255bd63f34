//===- BuiltinReduce.cpp - Reductions, scans, transposition ---------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

Value Analyzer::tileOperand(const ast::Expr *e, llvm::StringRef what) {
  Value v = operand(e);
  if (v.deferred) {
    v = withDefaultType(v); // of the shape of its condition
  }
  if (v.isError()) {
    return v;
  }
  if (!v.type.isShaped() || v.type.vecLength) {
    report(Id::TypeMismatchKind, v.range, llvm::Twine("a tile for `") + what + "`", v.type.str());
    return errorValue(v.range);
  }
  return v;
}

std::optional<unsigned> Analyzer::axisOf(const ast::Expr *e, const Value &v) {
  auto axis = constantInt(e, "`axis`");
  if (!axis) {
    return std::nullopt;
  }
  if (*axis < 0 || *axis >= int64_t(v.type.rank())) {
    report(Id::AxisRange, e->range, *axis, v.type.rank());
    return std::nullopt;
  }
  return unsigned(*axis);
}

/// Whether a reduction or scan exists for the element type; reports if not.
static bool checkReduceType(DiagnosticEngine &engine, ReduceKind kind, llvm::StringRef name,
                            const Value &v) {
  Scalar s = v.type.elem;
  if (isStorage(s)) {
    engine.report(Id::StorageType, v.range, scalarName(s), name);
    return false;
  }
  bool ok = kind <= ReduceKind::Min   ? isNumber(s)
            : kind <= ReduceKind::Xor ? isInteger(s)
                                      : s == Scalar::Bool;
  if (!ok) {
    engine.report(Id::OperatorType, v.range, name,
                  kind <= ReduceKind::Min   ? "numbers"
                  : kind <= ReduceKind::Xor ? "integers"
                                            : "bools",
                  v.type.str());
  }
  return ok;
}

static Type withoutAxis(const Type &type, std::optional<unsigned> axis) {
  Type t = type;
  if (axis) {
    t.shape.erase(t.shape.begin() + *axis);
  } else {
    t.shape.clear();
  }
  return t;
}

Value Analyzer::reduceCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  static_assert(unsigned(Builtin::ReduceAll) - unsigned(Builtin::ReduceSum) ==
                unsigned(ReduceKind::All));
  auto kind = ReduceKind(unsigned(info.id) - unsigned(Builtin::ReduceSum));
  if (frame.mode == Mode::Region) {
    Value v = operand(args.one(0));
    if (v.isError() || !v.type.isVec()) {
      if (!v.isError()) {
        report(Id::TypeMismatchKind, v.range, "a vec, inside a region", v.type.str());
      }
      return errorValue(e->range);
    }
    if (args.one(1)) {
      report(Id::ArgumentName, args.one(1)->range, info.name, "axis").hint("a vec has no axes");
      return errorValue(e->range);
    }
    if (!checkReduceType(engine, kind, info.name, v)) {
      return errorValue(e->range);
    }
    return exprValue(program.make<ReduceExpr>(kind, v.expr, Type(v.type.elem), e->range));
  }
  Value v = tileOperand(args.one(0), info.name);
  if (v.isError() || !checkReduceType(engine, kind, info.name, v)) {
    return errorValue(e->range);
  }
  std::optional<unsigned> axis;
  if (args.one(1)) {
    axis = axisOf(args.one(1), v);
    if (!axis) {
      return errorValue(e->range);
    }
  }
  auto *reduce = program.make<ReduceExpr>(kind, v.expr, withoutAxis(v.type, axis), e->range);
  reduce->axis = axis;
  return exprValue(reduce);
}

/// The instance of `fn` that combines elements of `tiles`: two of each to one of each. Null if it is
/// none, which is then reported.
const Function *Analyzer::combiner(const Module::Imported<ast::FunctionItem> &fn,
                                   const ast::CallExpr *e, const BuiltinInfo &info,
                                   const BoundArgs &args, llvm::ArrayRef<Value> tiles) {
  const size_t n = tiles.size();
  if (fn.item->params.size() != 2 * n || fn.item->results.size() != n) {
    report(Id::ArgumentKind, args.one(0)->range, info.name, "f",
           llvm::Twine("a function of ") + llvm::Twine(2 * n) + " scalars with " + llvm::Twine(n) +
               " results")
        << note(fn.item->name.range, "declared here");
    return nullptr;
  }
  llvm::SmallVector<Value, 4> scalars;
  for (size_t i = 0; i < 2 * n; ++i) {
    Value v = tiles[i % n];
    v.type = Type(v.type.elem);
    scalars.push_back(v);
  }
  const Function *callee = instantiate(fn, scalars, e->range);
  if (!callee) {
    return nullptr;
  }
  for (size_t i = 0; i < n; ++i) {
    if (callee->resultTypes[i].elem != tiles[i].type.elem) {
      report(Id::TypeMismatch, tiles[i].range, callee->resultTypes[i].str(),
             scalarName(tiles[i].type.elem))
          << note(callee->range, "its result comes from here");
      return nullptr;
    }
  }
  return callee;
}

/// reduce(f, x, ..) and scan(f, x, ..).
Value Analyzer::reduceFnCall(const ast::CallExpr *e, const BuiltinInfo &info,
                             const BoundArgs &args) {
  auto word = wordArg(args.one(0));
  auto *fn = word ? findFunction(*word) : nullptr;
  if (!fn || fn->item->isTile) {
    report(fn ? Id::ArgumentKind : Id::UndeclaredFunction, args.one(0)->range,
           fn ? info.name : llvm::StringRef(word.value_or("?")), "f", "a scalar `fn`");
    return errorValue(e->range);
  }
  llvm::SmallVector<Value, 4> tiles;
  for (const ast::Expr *arg : args.slots[1]) {
    tiles.push_back(tileOperand(arg, info.name));
    if (tiles.back().isError()) {
      return errorValue(e->range);
    }
    if (tiles.back().type.shape != tiles[0].type.shape) {
      report(Id::ShapeMismatch, arg->range, shapeString(tiles[0].type.shape),
             shapeString(tiles.back().type.shape));
      return errorValue(e->range);
    }
  }
  const Function *callee = combiner(*fn, e, info, args, tiles);
  if (!callee) {
    return errorValue(e->range);
  }
  bool isScan = info.cls == BuiltinClass::ScanFn;
  std::optional<unsigned> axis;
  if (const ast::Expr *a = args.one(2)) {
    axis = axisOf(a, tiles[0]);
    if (!axis) {
      return errorValue(e->range);
    }
  } else if (isScan) {
    report(Id::ArgumentMissing, e->range, info.name, "axis");
    return errorValue(e->range);
  }
  llvm::SmallVector<const Expr *> operands;
  llvm::SmallVector<Type> types;
  for (const Value &v : tiles) {
    operands.push_back(v.expr);
    types.push_back(isScan ? v.type : withoutAxis(v.type, axis));
  }
  Type type = tiles.size() == 1 ? types[0] : Type(Type::Kind::Tuple);
  if (!isScan) {
    auto *r = program.make<ReduceFnExpr>(type, e->range);
    r->fn = callee;
    r->operands = program.list<const Expr *>(operands);
    r->resultTypes = program.list<Type>(types);
    r->axis = axis;
    return exprValue(r);
  }
  auto *s = program.make<ScanFnExpr>(type, e->range);
  s->fn = callee;
  s->operands = program.list<const Expr *>(operands);
  s->resultTypes = program.list<Type>(types);
  s->axis = *axis;
  if (const ast::Expr *r = args.one(3)) {
    auto reverse = constantBool(r, "`reverse`");
    if (!reverse) {
      return errorValue(e->range);
    }
    s->reverse = *reverse;
  }
  return exprValue(s);
}

Value Analyzer::scanCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  static constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max,
                                         ReduceKind::Min};
  ReduceKind kind = kinds[unsigned(info.id) - unsigned(Builtin::ScanSum)];
  Value v = tileOperand(args.one(0), info.name);
  if (v.isError() || !checkReduceType(engine, kind, info.name, v)) {
    return errorValue(e->range);
  }
  if (!args.one(1)) {
    report(Id::ArgumentMissing, e->range, info.name, "axis");
    return errorValue(e->range);
  }
  auto axis = axisOf(args.one(1), v);
  auto reverse = args.one(2) ? constantBool(args.one(2), "`reverse`") : std::optional(false);
  auto exclusive = args.one(3) ? constantBool(args.one(3), "`exclusive`") : std::optional(false);
  if (!axis || !reverse || !exclusive) {
    return errorValue(e->range);
  }
  auto *scan = program.make<ScanExpr>(kind, v.expr, v.type, e->range);
  scan->axis = *axis;
  scan->reverse = *reverse;
  scan->exclusive = *exclusive;
  return exprValue(scan);
}

Value Analyzer::transposeCall(const ast::CallExpr *e, const BoundArgs &args) {
  Value v = tileOperand(args.one(0), "transpose");
  if (v.isError()) {
    return v;
  }
  if (v.type.rank() != 2) {
    report(Id::RankExpected, v.range, sourceText(v.range), v.type.rank(), 2);
    return errorValue(e->range);
  }
  Type type = v.type.withShape({v.type.shape[1], v.type.shape[0]});
  return exprValue(program.make<TransposeExpr>(v.expr, type, e->range));
}

} // namespace tilec::sema
