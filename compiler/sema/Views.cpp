//===- Views.cpp - reshape, bitcast, extents ------------------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

/// i64 where the extent of a place in one dimension is computed in 64 bits.
static Scalar extentType(const Expr *place, unsigned axis) {
  auto wide = [](const Expr *e) { // u32 subscripts are computed in 64 bits
    return e && (e->type.is(Scalar::I64) || e->type.is(Scalar::U32));
  };
  auto ofList = [&](llvm::ArrayRef<Extent> extents) {
    return axis < extents.size() && wide(extents[axis].expr) ? Scalar::I64 : Scalar::I32;
  };
  if (auto *ref = llvm::dyn_cast<RefExpr>(place)) {
    if (auto *tensor = llvm::dyn_cast<TensorParam>(ref->decl)) {
      return ofList(tensor->extents);
    }
    if (auto *workspace = llvm::dyn_cast<WorkspaceDecl>(ref->decl)) {
      return ofList(workspace->extents);
    }
    auto *view = llvm::dyn_cast<ViewDecl>(ref->decl);
    return view ? extentType(view->place, axis) : Scalar::I32;
  }
  if (auto *reshape = llvm::dyn_cast<ReshapeExpr>(place)) {
    return ofList(reshape->extents);
  }
  if (auto *bitcast = llvm::dyn_cast<BitcastViewExpr>(place)) {
    return extentType(bitcast->base, axis);
  }
  auto *slice = llvm::dyn_cast<SliceExpr>(place);
  for (auto [i, s] : llvm::enumerate(slice ? slice->subscripts : llvm::ArrayRef<Subscript>())) {
    if (s.kind == Subscript::Kind::Index || axis-- != 0) {
      continue;
    }
    if (s.kind == Subscript::Kind::All) {
      return extentType(slice->base, i);
    }
    return wide(s.begin) || wide(s.end) ? Scalar::I64 : Scalar::I32;
  }
  return Scalar::I32;
}

Value Analyzer::extentOf(const Expr *place, unsigned axis) {
  int64_t n = place->type.shape[axis];
  if (n != kDynamic) {
    return constantValue(ConstValue::integer(n <= INT32_MAX ? Scalar::I32 : Scalar::I64, n),
                         place->range);
  }
  if (auto *ref = llvm::dyn_cast<RefExpr>(place)) {
    if (auto *t = llvm::dyn_cast<TensorParam>(ref->decl)) {
      if (const Expr *e = t->extents.empty() ? nullptr : t->extents[axis].expr) {
        return exprValue(e);
      }
    }
  }
  return exprValue(
      program.make<ExtentOfExpr>(place, axis, Type(extentType(place, axis)), place->range));
}

/// An extent of a tensor, workspace or list: an integer, constant or not. Constants must be at
/// least 0 and, as everywhere, below 2^31 unless written as i64.
bool Analyzer::extentValue(const ast::Expr *e, Extent &extent, llvm::StringRef what,
                           bool isOfParameter) {
  Value v = operand(e);
  if (v.isError()) {
    return false;
  }
  bool integer =
      v.type.kind == Type::Kind::UntypedInt || (v.type.isScalar() && isInteger(v.type.elem));
  if (!integer) {
    auto error = report(Id::TypeMismatchKind, v.range,
                        llvm::Twine("an integer as extent of ") + what, v.type.str());
    if (isOfParameter && llvm::isa<ast::NameExpr>(e)) {
      error.hint("a dimension needs a name that no parameter has");
    }
    return false;
  }
  if (v.constant) {
    if (v.constant->i < 0) {
      report(Id::ShapeEmpty, e->range, 0, what, v.constant->str()).hint("extents are not negative");
      return false;
    }
    if (v.constant->i > INT32_MAX && !v.type.is(Scalar::I64)) {
      report(Id::ExtentTooLarge, e->range, v.constant->str());
      return false;
    }
    extent.constant = int64_t(v.constant->i);
  }
  extent.expr = materialize(v);
  return true;
}

Value Analyzer::reshape(const ast::CallExpr *call, const BoundArgs &args) {
  Value base = analyze(args.one(0), Want::Place);
  if (base.isError()) {
    return base;
  }
  Space space = base.place.space;
  if (space != Space::Tensor && space != Space::Workspace && space != Space::Shared) {
    report(Id::Reshape, call->range, "applies to tensors, workspaces and shared buffers");
    return errorValue(call->range);
  }
  if (!base.place.contiguous) {
    report(Id::Reshape, call->range,
           llvm::Twine("needs `") + base.place.name + "` to be contiguous")
        << note(base.place.declared, "declared here");
    return errorValue(call->range);
  }
  auto *list = llvm::dyn_cast<ast::ListExpr>(args.one(1));
  if (!list) {
    report(Id::ArgumentKind, args.one(1)->range, "reshape", "extents", "a list `[..]`");
    return errorValue(call->range);
  }
  size_t most = space == Space::Shared ? 5 : 8;
  if (list->elements.size() > most) {
    report(space == Space::Shared ? Id::RankTile : Id::RankTensor, list->range,
           list->elements.size());
    return errorValue(call->range);
  }
  llvm::SmallVector<Extent, 8> extents;
  Type type = base.type.element();
  for (const ast::Expr *e : list->elements) {
    Extent extent;
    if (!extentValue(e, extent, "`reshape`")) {
      return errorValue(call->range);
    }
    if (space == Space::Shared && extent.constant < 1) { // kDynamic, too
      report(Id::NotConstant, e->range, "an extent of a shared buffer");
      return errorValue(call->range);
    }
    extents.push_back(extent);
    type.shape.push_back(extent.constant);
  }
  auto size = [](const Type &t) {
    Int128 n = 1;
    for (int64_t d : t.shape) {
      n = n > (Int128(1) << 90) ? n : n * d;
    }
    return n;
  };
  if (type.hasStaticShape() && base.type.hasStaticShape() && size(type) != size(base.type)) {
    report(Id::Reshape, call->range,
           llvm::Twine("changes the number of elements from ") + int128Str(size(base.type)) +
               " to " + int128Str(size(type)));
    return errorValue(call->range);
  }
  if (isPacked(type.elem) && type.shape.back() != kDynamic && type.shape.back() % 2) {
    report(Id::PackedExtent, list->elements.back()->range, scalarName(type.elem),
           type.shape.back());
    return errorValue(call->range);
  }
  Value v = exprValue(
      program.make<ReshapeExpr>(base.expr, program.list<Extent>(extents), type, call->range));
  v.place = base.place;
  return v;
}

Value Analyzer::bitcastPlace(Value v, Scalar to, SourceRange range) {
  unsigned from = scalarBits(v.type.elem), bits = scalarBits(to);
  Type type = v.type.withElem(to);
  int64_t &last = type.shape.back();
  if (last != kDynamic) {
    if (last * from % bits) {
      report(Id::BitcastExtent, range, last, v.place.name, scalarName(to))
          << note(v.place.declared, "declared here");
      return errorValue(range);
    }
    last = last * from / bits;
  }
  Value r = exprValue(program.make<BitcastViewExpr>(v.expr, type, range));
  r.place = v.place;
  return r;
}

Value Analyzer::bitcast(const ast::CallExpr *call, const BoundArgs &args) {
  Value type = operand(args.one(0));
  if (type.isError()) {
    return type;
  }
  if (!type.constant || !type.constant->isTypeName()) {
    report(Id::ArgumentKind, args.one(0)->range, "bitcast", "T", "a type");
    return errorValue(call->range);
  }
  Scalar to = type.constant->named;
  Value v = analyze(args.one(1), Want::Value);
  if (v.isError()) {
    return v;
  }
  Space space = v.place.space;
  if (space == Space::Tensor || space == Space::Workspace || space == Space::Shared) {
    return bitcastPlace(v, to, call->range);
  }
  v = withDefaultType(read(v));
  if (v.isError()) {
    return v;
  }
  unsigned from = v.type.isValue() ? scalarBits(v.type.elem) : 0, bits = scalarBits(to);
  Type result = v.type.withElem(to);
  if (v.type.isVec() && from && v.type.vecLength * from % bits == 0) {
    result.vecLength = v.type.vecLength * from / bits;
  } else if (from != bits || (v.type.isBool() != (to == Scalar::Bool))) {
    report(Id::BitcastSize, call->range, v.type.str(), scalarName(to));
    return errorValue(call->range);
  }
  return exprValue(program.make<BitcastValueExpr>(materialize(v), result, call->range));
}

} // namespace tilec::sema
