//===- BuiltinThread.cpp - Atomics, print, assert, warps ------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

static bool atomicTypeOk(AtomicOp op, Scalar s) {
  bool integer = s == Scalar::I32 || s == Scalar::U32 || s == Scalar::I64 || s == Scalar::U64;
  bool arithmetic =
      op == AtomicOp::Add || op == AtomicOp::Min || op == AtomicOp::Max || op == AtomicOp::Exchange;
  return integer || (arithmetic && isFloat(s));
}

static bool atomicPlaceOk(const Value &place) {
  Space s = place.place.space;
  return (s == Space::Tensor || s == Space::Workspace || s == Space::Shared) &&
         place.place.readable && place.place.writable;
}

Value Analyzer::atomicCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  auto op = AtomicOp(unsigned(info.id) - unsigned(Builtin::AtomicAdd));
  bool cas = op == AtomicOp::Cas;
  const ast::Expr *orderArg = args.one(cas ? 3 : 2);
  Value place = analyze(args.one(0), Want::Region);
  Value value = operand(args.one(cas ? 2 : 1));
  Value expected = cas ? operand(args.one(1)) : value;
  if (place.isError() || value.isError() || expected.isError()) {
    return errorValue(e->range);
  }
  if (!atomicPlaceOk(place)) {
    report(Id::AtomicPlace, place.range,
           place.isPlace()
               ? llvm::Twine("`") + place.place.name + "`, which is " +
                     (place.place.space == Space::Tensor ? "not `inout`" : "not shared or global")
               : llvm::Twine("a value"));
    return errorValue(e->range);
  }
  if (!atomicTypeOk(op, place.type.elem) || place.type.vecLength) {
    report(Id::AtomicType, place.range, info.name, scalarName(place.type.elem));
    return errorValue(e->range);
  }
  bool acqRel = false;
  if (orderArg) {
    auto word = wordArg(orderArg);
    acqRel = word == "acq_rel";
    if (!acqRel && word != "relaxed") {
      report(Id::ArgumentKind, orderArg->range, info.name, "order", "`relaxed` or `acq_rel`");
      return errorValue(e->range);
    }
    if (acqRel && frame.mode != Mode::Block) {
      report(Id::ArgumentKind, orderArg->range, info.name, "order", "`relaxed` outside block code");
      return errorValue(e->range);
    }
  }
  checkWrite(place, place.range);
  auto *origin = llvm::dyn_cast<OriginExpr>(place.expr);
  if (value.type.isShaped()) {
    return atomicTile(e, op, place, value, acqRel);
  }
  if (!origin || llvm::any_of(origin->subscripts, [](const Subscript &s) {
        return s.kind != Subscript::Kind::Index;
      })) {
    report(Id::ArgumentKind, place.range, info.name, "place",
           "one element, as the value is a scalar");
    return errorValue(e->range);
  }
  Value base = exprValue(origin->base);
  Value element = makeElement(base, origin->subscripts, place.range, Want::Target);
  value = coerce(value, element.type);
  expected = cas ? coerce(expected, element.type) : value;
  if (value.isError() || expected.isError()) {
    return errorValue(e->range);
  }
  auto *atomic =
      program.make<AtomicExpr>(op, element.expr, materialize(value), element.type, e->range);
  atomic->expected = cas ? materialize(expected) : nullptr;
  atomic->acqRel = acqRel;
  return exprValue(atomic);
}

/// An atomic on a region, as in copy.
Value Analyzer::atomicTile(const ast::CallExpr *e, AtomicOp op, Value place, Value value,
                           bool acqRel) {
  if (op == AtomicOp::Exchange || op == AtomicOp::Cas) {
    report(Id::ArgumentKind, value.range, e->callee.name, "value", "a scalar");
    return errorValue(e->range);
  }
  if (llvm::isa<OriginExpr>(place.expr)) {
    place = resolveOrigin(place, value.type.shape, e->callee.name);
    if (place.isError()) {
      return place;
    }
  }
  if (place.type.shape != value.type.shape) {
    report(Id::CopyShape, e->range, e->callee.name, shapeString(place.type.shape),
           shapeString(value.type.shape));
    return errorValue(e->range);
  }
  if (place.type.elem != value.type.elem) {
    report(Id::TypeMismatch, value.range, scalarName(place.type.elem), scalarName(value.type.elem));
    return errorValue(e->range);
  }
  auto *atomic =
      program.make<AtomicExpr>(op, place.expr, materialize(value), Type::voidType(), e->range);
  atomic->acqRel = acqRel;
  return exprValue(atomic);
}

std::optional<FormatString> Analyzer::format(const ast::Expr *text,
                                             llvm::ArrayRef<const ast::Expr *> args) {
  auto *string = llvm::dyn_cast<ast::StringExpr>(text);
  if (!string) {
    report(Id::FormatText, text->range);
    return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef> pieces;
  string->value.split(pieces, "{}");
  if (pieces.size() != args.size() + 1) {
    report(Id::Format, text->range, pieces.size() - 1, args.size());
    return std::nullopt;
  }
  llvm::SmallVector<const Expr *> values;
  for (const ast::Expr *arg : args) {
    Value v = withDefaultType(operand(arg));
    if (v.isError()) {
      return std::nullopt;
    }
    if (!v.type.isValue()) {
      report(Id::TypeMismatchKind, v.range, "a scalar or a tile", v.type.str());
      return std::nullopt;
    }
    values.push_back(materialize(v));
  }
  FormatString f;
  f.text = program.list<llvm::StringRef>(pieces);
  f.args = program.list<const Expr *>(values);
  return f;
}

Value Analyzer::printCall(const ast::CallExpr *e, const BoundArgs &args) {
  auto f = format(args.one(0), args.slots[1]);
  if (!f) {
    return errorValue(e->range);
  }
  auto *print = program.make<PrintStmt>(e->range);
  print->format = *f;
  emit(print);
  Value done;
  done.type = Type::voidType();
  done.range = e->range;
  return done;
}

Value Analyzer::assertCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  Value c = condition(args.one(0), /*tileToo=*/true);
  if (c.isError()) {
    return c;
  }
  auto *check = program.make<AssertStmt>(e->range);
  check->cond = materialize(c);
  check->assume = info.id == Builtin::Assume;
  check->sourceText = sourceText(args.one(0)->range);
  if (!check->assume && args.one(1)) {
    auto f = format(args.one(1), args.slots[2]);
    if (!f) {
      return errorValue(e->range);
    }
    check->message = *f;
  }
  emit(check);
  Value done;
  done.type = Type::voidType();
  done.range = e->range;
  return done;
}

static WarpOp warpOp(Builtin id) { return WarpOp(unsigned(id) - unsigned(Builtin::WarpSum)); }

/// What is only given by its name: `width`, and of scans the direction and where they begin.
bool Analyzer::warpOptions(WarpExpr &warp, const BuiltinInfo &info, const BoundArgs &args) {
  auto given = [&](unsigned i) { return i < args.slots.size() ? args.one(i) : nullptr; };
  if (const ast::Expr *arg = given(1)) {
    auto width = constantInt(arg, "`width`");
    if (!width) {
      return false;
    }
    if (*width < 1 || *width > 32 || (*width & (*width - 1))) {
      report(Id::ArgumentKind, arg->range, info.name, "width", "a power of two up to 32");
      return false;
    }
    warp.width = *width;
  }
  auto reverse = given(2) ? constantBool(given(2), "`reverse`") : std::optional(false);
  auto exclusive = given(3) ? constantBool(given(3), "`exclusive`") : std::optional(false);
  if (!reverse || !exclusive) {
    return false;
  }
  warp.reverse = *reverse;
  warp.exclusive = *exclusive;
  return true;
}

Value Analyzer::threadCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  if (info.cls == BuiltinClass::Sync) {
    emit(program.make<SyncStmt>(info.id == Builtin::SyncWarp, e->range));
    Value done;
    done.type = Type::voidType();
    done.range = e->range;
    return done;
  }
  static_assert(unsigned(Builtin::Lane) - unsigned(Builtin::WarpSum) == unsigned(WarpOp::Lane));
  WarpOp op = warpOp(info.id);
  if (op == WarpOp::Lane) {
    return exprValue(program.make<WarpExpr>(op, Type(Scalar::I32), e->range));
  }
  Value x = withDefaultType(operand(args.one(0)));
  if (x.isError()) {
    return x;
  }
  bool wantsBool = op == WarpOp::Any || op == WarpOp::All || op == WarpOp::Ballot;
  bool wantsNumber = op <= WarpOp::ScanMin;
  if (wantsBool && !x.type.isBool()) {
    report(Id::NotBool, x.range, x.type.str());
    return errorValue(e->range);
  }
  if (!x.type.isScalar() || isStorage(x.type.elem) || (wantsNumber && x.type.isBool())) {
    report(Id::OperatorType, x.range, info.name, wantsNumber ? "numbers" : "scalars", x.type.str());
    return errorValue(e->range);
  }
  auto *warp =
      program.make<WarpExpr>(op, op == WarpOp::Ballot ? Type(Scalar::U32) : x.type, e->range);
  warp->operand = materialize(x);
  if (info.cls == BuiltinClass::Shuffle) {
    Value n = withDefaultType(operand(args.one(1)));
    if (n.isError()) {
      return n;
    }
    if (!n.type.isScalar() || !isInteger(n.type.elem)) {
      report(Id::OperatorType, n.range, info.name, "integers", n.type.str());
      return errorValue(e->range);
    }
    warp->operand2 = materialize(n);
  } else if (!warpOptions(*warp, info, args)) {
    return errorValue(e->range);
  }
  return exprValue(warp);
}

} // namespace tilec::sema
