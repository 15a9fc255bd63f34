//===- Places.cpp - Subscripts, slices, origins ---------------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

/// Out of range is an error of the program there, not a zero.
static bool isBounded(Space s) { return s != Space::Tensor && s != Space::Workspace; }

/// The shape that subscripts apply to: a local's in block code has the threads in front.
static llvm::ArrayRef<int64_t> shapeOf(const Value &base) { return base.type.shape; }

static std::string describe(const Value &v) {
  return v.place.name.empty() ? std::string("this tile") : v.place.name.str();
}

bool Analyzer::checkUse(const Value &v, SourceRange range) {
  auto *tensor = llvm::dyn_cast_or_null<TensorParam>(v.place.root);
  if (!tensor || !tensor->optional || llvm::is_contained(kernel.present, tensor)) {
    return true;
  }
  report(Id::OptionalUnguarded, range, v.place.name) << note(tensor->range, "declared here");
  return false;
}

void Analyzer::checkRead(const Value &v, SourceRange range) {
  if (!v.place.readable) {
    report(Id::ReadOfOut, range, v.place.name) << note(v.place.declared, "declared here");
  }
}

bool Analyzer::checkWrite(const Value &v, SourceRange range) {
  if (!v.isPlace()) {
    report(Id::AssignTarget, range);
    return false;
  }
  if (!v.place.writable) {
    switch (v.place.space) {
    case Space::ConstArray:
      report(Id::AssignLet, range, v.place.name, "a constant")
          << note(v.place.declared, "declared here");
      break;
    case Space::Local:
      report(Id::AssignLet, range, v.place.name, "written by threads only")
          .hint("write it in a `threads` region");
      break;
    default:
      report(Id::WriteToIn, range, v.place.name) << note(v.place.declared, "declared here");
    }
    return false;
  }
  return true;
}

Value Analyzer::indexValue(Value v) {
  if (v.isError()) {
    return v;
  }
  if (v.type.kind == Type::Kind::UntypedInt) {
    bool small = v.constant && fitsInteger(v.constant->i, Scalar::I32);
    return adapt(v, small || v.deferred ? Scalar::I32 : Scalar::I64);
  }
  if (!v.type.is(Scalar::I32) && !v.type.is(Scalar::I64) && !v.type.is(Scalar::U32)) {
    report(Id::SubscriptType, v.range, v.type.str());
    return errorValue(v.range);
  }
  return v;
}

Value Analyzer::index(const ast::Expr *e) { return indexValue(operand(e)); }

bool Analyzer::checkIndexRange(const Value &index, const Value &base, unsigned axis) {
  int64_t extent = shapeOf(base)[axis];
  if (!index.constant || !isBounded(base.place.space) || extent == kDynamic) {
    return true;
  }
  if (index.constant->i >= 0 && index.constant->i < extent) {
    return true;
  }
  report(Id::OutOfRange, index.range, index.constant->str(), axis, describe(base), extent)
      << note(base.place.declared, "declared here");
  return false;
}

bool Analyzer::analyzeRange(const ast::Subscript &s, const Value &base, unsigned axis,
                            Subscript &out) {
  out.kind = Subscript::Kind::Range;
  Value begin = index(s.first);
  Value end;
  std::optional<int64_t> count;
  if (s.kind == ast::Subscript::Count) {
    count = constantInt(s.second, "the count after `:+`");
    if (count && (*count < 1 || *count > INT32_MAX)) {
      report(Id::ShapeEmpty, s.second->range, axis, describe(base), *count);
      return false;
    }
  } else {
    end = index(s.second);
    if (end.isError()) {
      return false;
    }
    if (begin.constant && end.constant) {
      Int128 n = end.constant->i - begin.constant->i;
      count = n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : int64_t(n);
    }
    out.end = materialize(end);
  }
  if (begin.isError() || (s.kind == ast::Subscript::Count && !count)) {
    return false;
  }
  out.begin = materialize(begin);
  out.size = count.value_or(kDynamic);
  int64_t extent = shapeOf(base)[axis];
  if (isBounded(base.place.space) && count) {
    if (*count == 0) {
      report(Id::ShapeEmpty, s.range, axis, describe(base), 0);
      return false;
    }
    if (*count > extent ||
        (begin.constant && (begin.constant->i < 0 || begin.constant->i + *count > extent))) {
      Int128 first = begin.constant ? begin.constant->i : 0;
      report(Id::OutOfRange, s.range, int128Str(first < 0 ? first : first + *count - 1), axis,
             describe(base), extent)
          << note(base.place.declared, "declared here");
      return false;
    }
  }
  if (isPacked(base.type.elem) && axis + 1 == shapeOf(base).size() && begin.constant &&
      begin.constant->i % 2) {
    report(Id::PackedSlice, s.first->range, scalarName(base.type.elem), begin.constant->str());
    return false;
  }
  return true;
}

bool Analyzer::analyzeSubscript(const ast::Subscript &s, const Value &base, unsigned axis,
                                Subscript &out) {
  if (s.kind == ast::Subscript::All) {
    out.kind = Subscript::Kind::All;
    out.size = shapeOf(base)[axis];
    return true;
  }
  if (s.kind != ast::Subscript::Index) {
    return analyzeRange(s, base, axis, out);
  }
  Value v = operand(s.first);
  if (v.isError()) {
    return false;
  }
  bool wide = v.type.isValue() && (v.type.elem == Scalar::I32 || v.type.elem == Scalar::I64);
  if (v.type.isShaped() && v.type.rank() == 1 && wide && !v.type.vecLength) {
    if (base.place.space != Space::Tensor && base.place.space != Space::Workspace) {
      report(Id::SubscriptTileOfBuffer, s.first->range, sourceText(base.range));
      return false;
    }
    out.kind = Subscript::Kind::Gather;
    out.begin = v.expr;
    out.size = v.type.shape[0];
    return true;
  }
  v = indexValue(v);
  if (v.isError() || !checkIndexRange(v, base, axis)) {
    return false;
  }
  out.kind = Subscript::Kind::Index;
  out.begin = materialize(v);
  return true;
}

bool Analyzer::analyzeSubscripts(const ast::IndexExpr *e, llvm::ArrayRef<ast::Subscript> written,
                                 const Value &base, llvm::SmallVectorImpl<Subscript> &out) {
  size_t rank = shapeOf(base).size();
  if (rank != written.size()) {
    if (rank == 0) {
      report(Id::SubscriptNone, e->range, sourceText(e->base->range));
    } else {
      report(Id::SubscriptCount, e->range, sourceText(e->base->range), rank, written.size())
          << note(base.place.declared, "declared here");
    }
    return false;
  }
  bool ok = true;
  for (auto [axis, s] : llvm::enumerate(written)) {
    Subscript sub;
    ok &= analyzeSubscript(s, base, axis, sub);
    out.push_back(sub);
  }
  return ok;
}

/// The tile itself, or a slice of it, with dimensions along which what it stands beside repeats it.
Value Analyzer::openDimensions(const ast::IndexExpr *e, Want want) {
  if (want == Want::Target) {
    report(Id::AssignTarget, e->range);
    return errorValue(e->range);
  }
  Value base = analyze(e->base, Want::Place);
  if (base.isError() || !checkClosed(base)) {
    return errorValue(e->range);
  }
  if (!base.type.isShaped()) {
    report(Id::SubscriptNone, e->range, sourceText(e->base->range));
    return errorValue(e->range);
  }
  llvm::SmallVector<ast::Subscript, 8> own;
  llvm::copy_if(e->subscripts, std::back_inserter(own),
                [](const ast::Subscript &s) { return s.kind != ast::Subscript::New; });
  llvm::SmallVector<Subscript, 8> subs;
  if (!analyzeSubscripts(e, own, base, subs)) {
    return errorValue(e->range);
  }
  auto is = [](Subscript::Kind kind) {
    return [kind](const Subscript &s) { return s.kind == kind; };
  };
  if (llvm::all_of(subs, is(Subscript::Kind::Index))) {
    return makeElement(base, subs, e->range, Want::Value); // scalars are repeated anyway
  }
  Value v =
      read(llvm::all_of(subs, is(Subscript::Kind::All)) ? base : makeSlice(base, subs, e->range));
  if (v.isError()) {
    return v;
  }
  llvm::SmallVector<int64_t, 5> shape;
  auto extent = v.type.shape.begin();
  auto sub = subs.begin();
  for (const ast::Subscript &s : e->subscripts) {
    if (s.kind == ast::Subscript::New) {
      shape.push_back(kOpen);
    } else if ((sub++)->kind != Subscript::Kind::Index) {
      shape.push_back(*extent++);
    }
  }
  v.range = e->range;
  return repeat(v, shape);
}

Value Analyzer::analyzeIndex(const ast::IndexExpr *e, Want want) {
  if (llvm::any_of(e->subscripts,
                   [](const ast::Subscript &s) { return s.kind == ast::Subscript::New; })) {
    return openDimensions(e, want);
  }
  Value base = analyze(e->base, Want::Place);
  if (base.isError() || !checkClosed(base)) {
    return errorValue(e->range);
  }
  if (base.type.isVec() && !base.isPlace()) {
    return indexVec(e, base, want);
  }
  if (!base.type.isValue()) {
    report(Id::SubscriptNone, e->range, sourceText(e->base->range));
    return errorValue(e->range);
  }
  llvm::SmallVector<Subscript, 8> subs;
  if (!analyzeSubscripts(e, e->subscripts, base, subs)) {
    return errorValue(e->range);
  }
  auto is = [](Subscript::Kind k) { return [k](const Subscript &s) { return s.kind == k; }; };
  bool plain = llvm::all_of(subs, is(Subscript::Kind::Index));
  bool ranges = llvm::any_of(subs, [](const Subscript &s) {
    return s.kind == Subscript::Kind::Range || s.kind == Subscript::Kind::All;
  });
  if (frame.mode == Mode::Host && plain && want != Want::Place) {
    report(Id::HostExpression, e->range, llvm::Twine("an element of `") + describe(base) + "`");
    return errorValue(e->range);
  }
  if (want == Want::Region && !ranges && base.isPlace()) {
    auto *origin = program.make<OriginExpr>(base.expr, program.list<Subscript>(subs),
                                            base.type.element(), e->range);
    Value v = exprValue(origin);
    v.place = base.place;
    return v;
  }
  if (plain) {
    return makeElement(base, subs, e->range, want);
  }
  bool vecLike = frame.mode == Mode::Region && want != Want::Place &&
                 e->subscripts.back().kind == ast::Subscript::Count &&
                 llvm::all_of(llvm::ArrayRef(subs).drop_back(), is(Subscript::Kind::Index));
  return vecLike ? makeVecAccess(base, subs, e->range, want) : makeSlice(base, subs, e->range);
}

Value Analyzer::makeElement(const Value &base, llvm::ArrayRef<Subscript> subs, SourceRange range,
                            Want want) {
  llvm::SmallVector<const Expr *, 8> indices;
  for (const Subscript &s : subs) {
    indices.push_back(s.begin);
  }
  auto *e = program.make<ElementExpr>(base.expr, program.list<const Expr *>(indices),
                                      base.type.element(), range);
  Value v = exprValue(e);
  if (want == Want::Target) {
    v.place = base.place;
  } else if (base.isPlace()) {
    checkRead(base, range);
  }
  return v;
}

Value Analyzer::makeVecAccess(const Value &base, llvm::ArrayRef<Subscript> subs, SourceRange range,
                              Want want) {
  int64_t n = subs.back().size;
  if (base.type.vecLength || n > 1024) {
    report(Id::ShapeEmpty, range, 0, "vec", n).hint("vecs have 1 to 1024 elements");
    return errorValue(range);
  }
  Value v = makeElement(base, subs, range, want);
  auto *element = llvm::cast<ElementExpr>(v.expr);
  v.type = Type::vec(base.type.elem, n);
  v.expr = program.make<VecAccessExpr>(base.expr, element->indices, v.type, range);
  return v;
}

Value Analyzer::indexVec(const ast::IndexExpr *e, const Value &base, Want want) {
  if (e->subscripts.size() != 1) {
    report(Id::SubscriptCount, e->range, sourceText(e->base->range), 1, e->subscripts.size());
    return errorValue(e->range);
  }
  const ast::Subscript &s = e->subscripts[0];
  if (s.kind != ast::Subscript::Index) {
    report(Id::SliceBounds, s.range, "a vec has elements, but no slices")
        .hint("select elements: `v[k]`");
    return errorValue(e->range);
  }
  Value i = index(s.first);
  if (i.isError()) {
    return i;
  }
  if (i.constant && (i.constant->i < 0 || i.constant->i >= base.type.vecLength)) {
    report(Id::OutOfRange, s.range, i.constant->str(), 0, sourceText(e->base->range),
           base.type.vecLength);
    return errorValue(e->range);
  }
  return exprValue(
      program.make<VecElementExpr>(base.expr, materialize(i), Type(base.type.elem), e->range));
}

Value Analyzer::makeSlice(const Value &base, llvm::ArrayRef<Subscript> subs, SourceRange range) {
  Space space = base.place.space;
  bool registers = space == Space::Fragment || space == Space::Value || space == Space::Local;
  Type type = base.type.element();
  bool sequential = true, leading = true; // Index* Range? All*: still contiguous
  for (const Subscript &s : subs) {
    bool constantBegin = !s.begin || llvm::isa<ConstantExpr>(s.begin);
    if (registers && (!constantBegin || s.kind == Subscript::Kind::Gather || s.size == kDynamic) &&
        !(s.kind == Subscript::Kind::Index && constantBegin)) {
      report(Id::SliceBounds, s.begin ? s.begin->range : range,
             "slices of fragments have constant subscripts");
      return errorValue(range);
    }
    if (space == Space::Shared && s.kind != Subscript::Kind::Index && s.size == kDynamic) {
      report(Id::SliceBounds, s.begin ? s.begin->range : range,
             "slices of shared buffers have constant extents");
      return errorValue(range);
    }
    if (space == Space::ConstArray) {
      report(Id::SliceBounds, range, "a constant array has no slices").hint("read its elements");
      return errorValue(range);
    }
    sequential &= s.kind == Subscript::Kind::All || leading;
    leading &= s.kind == Subscript::Kind::Index;
    if (s.kind != Subscript::Kind::Index) {
      type.shape.push_back(s.size);
    }
  }
  Value v =
      exprValue(program.make<SliceExpr>(base.expr, program.list<Subscript>(subs), type, range));
  v.place = base.place;
  v.place.contiguous &= sequential;
  return v;
}

Value Analyzer::resolveOrigin(const Value &origin, llvm::ArrayRef<int64_t> shape,
                              llvm::StringRef operation) {
  auto *e = llvm::cast<OriginExpr>(origin.expr);
  size_t rank = e->subscripts.size(), first = rank - std::min(rank, shape.size());
  if (shape.size() > rank) {
    report(Id::CopyShape, origin.range, operation, shapeString(e->base->type.shape),
           shapeString(shape))
        .hint("an origin has at least as many dimensions as the other side");
    return errorValue(origin.range);
  }
  for (auto [i, s] : llvm::enumerate(e->subscripts)) {
    if (s.kind == Subscript::Kind::Gather) {
      if (i < first || s.size != shape[i - first]) {
        const bool isFixed = i < first;
        auto problem = report(Id::GatherLength, s.begin->range, sourceText(s.begin->range), s.size,
                              isFixed ? "stands in a dimension that the other side does not have"
                                      : "the other side has " + std::to_string(shape[i - first]));
        if (isFixed) {
          problem.hint(
              "the other side has the last dimensions: copy from a view without the others, "
              "as of `view c = X[:, 3]`");
        }
        return errorValue(origin.range);
      }
      continue;
    }
    auto *c = llvm::dyn_cast<ConstantExpr>(s.begin);
    if (e->space == Space::Fragment && !c) {
      report(Id::SliceBounds, s.begin->range, "slices of fragments have constant subscripts");
      return errorValue(origin.range);
    }
    int64_t extent = e->base->type.shape[i];
    if (c && i >= first && isBounded(e->space) && c->intValue + shape[i - first] > extent) {
      report(Id::OutOfRange, s.begin->range, c->intValue + shape[i - first] - 1, i,
             origin.place.name, extent)
          << note(origin.place.declared, "declared here");
      return errorValue(origin.range);
    }
    if (c && i + 1 == rank && isPacked(e->type.elem) && c->intValue % 2) {
      report(Id::PackedSlice, s.begin->range, scalarName(e->type.elem), c->intValue);
      return errorValue(origin.range);
    }
  }
  Value v = exprValue(
      program.make<OriginExpr>(e->base, e->subscripts, Type(e->type.elem, shape), e->range));
  v.place = origin.place;
  return v;
}

} // namespace tilec::sema
