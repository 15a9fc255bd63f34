//===- BuiltinMath.cpp - Element-wise functions, types, host queries ------===//
#include "compiler/sema/Analyzer.h"
#include "runtime/support/Floats.h"

#include <cmath>

namespace tilec::sema {

using diag::Id;

/// The result if all arguments are constants and the function is one of constant expressions.
std::optional<Value> Analyzer::foldCall(MathFn fn, llvm::ArrayRef<Value> values,
                                        SourceRange range) {
  llvm::SmallVector<ConstValue, 4> constants;
  for (const Value &v : values) {
    if (!v.constant) {
      return std::nullopt;
    }
    constants.push_back(*v.constant);
  }
  ConstError error;
  if (auto c = foldMath(fn, constants, error, overflowHere())) {
    return constantValue(*c, range);
  }
  if (error.kind == ConstError::None) {
    return std::nullopt;
  }
  reportConst(error, values[0].type, range);
  return errorValue(range);
}

Value Analyzer::mathCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  llvm::SmallVector<Value, 4> values;
  for (const auto &slot : args.slots) {
    for (const ast::Expr *arg : slot) {
      values.push_back(part(arg));
      const Value &v = values.back();
      bool floats = info.cls == BuiltinClass::MathFloat;
      if (v.isError() || !checkOperator(info.name, v, v.range,
                                        info.cls != BuiltinClass::MathInteger, !floats, false)) {
        return errorValue(e->range);
      }
      if (floats && v.type.isValue() && !isFloat(v.type.elem)) {
        report(Id::OperatorType, v.range, info.name, "floats", v.type.str());
        return errorValue(e->range);
      }
    }
  }
  // The element-wise functions lead the table, in the order of MathFn.
  static_assert(unsigned(Builtin::MulHi) == unsigned(MathFn::MulHi));
  auto fn = MathFn(unsigned(info.id));
  bool untyped = llvm::all_of(values, [](const Value &v) { return v.isUntyped(); });
  if (untyped || values.size() == 1) {
    if (auto folded = foldCall(fn, values, e->range)) {
      return *folded;
    }
  }
  // One type for all: literals adapt to the first argument that has a type.
  auto typed = llvm::find_if(values, [](const Value &v) { return !v.isUntyped(); });
  bool anyFloat = info.cls == BuiltinClass::MathFloat || llvm::any_of(values, [](const Value &v) {
                    return v.type.kind == Type::Kind::UntypedFloat;
                  });
  Scalar elem = typed != values.end() ? typed->type.elem : anyFloat ? Scalar::F32 : Scalar::I32;
  for (Value &v : values) {
    v = adapt(v, elem);
    if (!unify(values[0], v, info.name, e->range)) {
      return errorValue(e->range);
    }
  }
  if (auto folded = foldCall(fn, values, e->range)) {
    return *folded;
  }
  if (fn >= MathFn::CeilDiv && fn <= MathFn::FloorMod && values[1].constant &&
      values[1].constant->i == 0) {
    report(Id::ConstantDivision, e->range);
    return errorValue(e->range);
  }
  llvm::SmallVector<const Expr *> operands;
  for (Value &v : values) {
    // A scalar that came before the first tile.
    if (!unifyShapes(values[0], v, e->range)) {
      return errorValue(e->range);
    }
    operands.push_back(materialize(v));
  }
  Type type = values[0].type;
  if (fn == MathFn::IsNan || fn == MathFn::IsInf || fn == MathFn::IsFinite) {
    type = type.withElem(Scalar::Bool);
  }
  return exprValue(
      program.make<MathExpr>(fn, program.list<const Expr *>(operands), type, e->range));
}

Value Analyzer::typeQuery(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  Value v = operand(args.one(0));
  if (v.isError()) {
    return v;
  }
  if (!v.constant || !v.constant->isTypeName()) {
    report(Id::ArgumentKind, v.range, info.name, "T", "a type");
    return errorValue(e->range);
  }
  Scalar s = v.constant->named;
  if (info.id == Builtin::Bits) {
    return constantValue(ConstValue::untyped(Int128(scalarBits(s))), e->range);
  }
  bool max = info.id == Builtin::MaxValue;
  ConstValue c = ConstValue::integer(s, 0);
  if (isFloat(s) || (isStorage(s) && s < Scalar::I4)) {
    c.f = max ? tile_rt::maxFloat(s) : s == Scalar::E8M0 ? 0x1p-127 : -tile_rt::maxFloat(s);
  } else {
    c.i = max ? tile_rt::maxInt(s) : tile_rt::minInt(s);
  }
  return constantValue(c, e->range);
}

Value Analyzer::hostCall(const ast::CallExpr *e, const BuiltinInfo &info, const BoundArgs &args) {
  switch (info.cls) {
  case BuiltinClass::NumThreads:
    if (!kernel.threads) {
      report(Id::CallPlace, e->range, info.name, "outside a launch");
      return errorValue(e->range);
    }
    return constantValue(ConstValue::untyped(Int128(*kernel.threads)), e->range);
  case BuiltinClass::SmCount:
    return exprValue(program.make<SmCountExpr>(e->range));
  default:
    break;
  }
  auto *name = llvm::dyn_cast<ast::NameExpr>(args.one(0));
  const Entity *entity = name ? lookup(name->name) : nullptr;
  if (entity && entity->broken) {
    return errorValue(e->range);
  }
  auto *tensor = llvm::dyn_cast_or_null<TensorParam>(entity ? entity->decl : nullptr);
  if (!tensor) {
    report(Id::ArgumentKind, args.one(0)->range, info.name, "X",
           "a tensor parameter of the kernel");
    return errorValue(e->range);
  }
  if (info.cls == BuiltinClass::Present) {
    return tensor->optional ? exprValue(program.make<PresentExpr>(tensor, e->range))
                            : constantValue(ConstValue::boolean(true), e->range);
  }
  auto axis = constantInt(args.one(1), "the dimension of `stride`");
  if (!axis || !checkUse(analyze(args.one(0)), e->range)) {
    return errorValue(e->range);
  }
  if (*axis < 0 || *axis >= int64_t(tensor->type.rank())) {
    report(Id::RankExpected, args.one(1)->range, tensor->name, tensor->type.rank(), *axis + 1);
    return errorValue(e->range);
  }
  return exprValue(program.make<StrideExpr>(tensor, unsigned(*axis), e->range));
}

} // namespace tilec::sema
