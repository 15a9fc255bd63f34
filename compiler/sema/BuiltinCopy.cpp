//===- BuiltinCopy.cpp - copy ---------------------------------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

static bool isGlobal(const Value &v) {
  return v.place.space == Space::Tensor || v.place.space == Space::Workspace;
}

static bool isOrigin(const Value &v) { return v.expr && llvm::isa<OriginExpr>(v.expr); }

/// The declaration behind a chain of slices and views, and whether the chain ends there unchanged.
static const Decl *rootOf(const Expr *e) {
  while (true) {
    if (auto *s = llvm::dyn_cast<SliceExpr>(e)) {
      e = s->base;
    } else if (auto *o = llvm::dyn_cast<OriginExpr>(e)) {
      e = o->base;
    } else if (auto *r = llvm::dyn_cast<ReshapeExpr>(e)) {
      e = r->base;
    } else if (auto *b = llvm::dyn_cast<BitcastViewExpr>(e)) {
      e = b->base;
    } else if (auto *ref = llvm::dyn_cast<RefExpr>(e)) {
      auto *view = llvm::dyn_cast<ViewDecl>(ref->decl);
      if (!view) {
        return ref->decl;
      }
      e = view->place;
    } else {
      return nullptr;
    }
  }
}

/// The constant interval that a subscript covers.
static std::optional<std::pair<int64_t, int64_t>> interval(const Subscript &s, int64_t extent) {
  if (s.kind == Subscript::Kind::All) {
    return extent == kDynamic ? std::nullopt
                              : std::optional(std::pair<int64_t, int64_t>(0, extent));
  }
  auto *c = llvm::dyn_cast_or_null<ConstantExpr>(s.begin);
  if (!c) {
    return std::nullopt;
  }
  int64_t n = s.kind == Subscript::Kind::Index ? 1 : s.size;
  return n == kDynamic ? std::nullopt : std::optional(std::pair(c->intValue, c->intValue + n));
}

/// Whether two regions of on-chip memory are known to meet.
bool Analyzer::copyOverlaps(const Expr *a, const Expr *b) {
  const Decl *root = rootOf(a);
  if (!root || root != rootOf(b)) {
    return false;
  }
  if (llvm::isa<RefExpr>(a) && llvm::isa<RefExpr>(b)) {
    auto *da = llvm::cast<RefExpr>(a)->decl;
    auto *db = llvm::cast<RefExpr>(b)->decl;
    return da == db || da == root || db == root;
  }
  auto whole = [&](const Expr *e) {
    auto *ref = llvm::dyn_cast<RefExpr>(e);
    return ref && ref->decl == root;
  };
  if (whole(a) || whole(b)) {
    return root->kind == Decl::Kind::Buffer;
  }
  auto *sa = llvm::dyn_cast<SliceExpr>(a), *sb = llvm::dyn_cast<SliceExpr>(b);
  if (!sa || !sb || !whole(sa->base) || !whole(sb->base)) {
    return false;
  }
  for (auto [i, x, y] : llvm::enumerate(sa->subscripts, sb->subscripts)) {
    auto ix = interval(x, root->type.shape[i]), iy = interval(y, root->type.shape[i]);
    if (!ix || !iy || ix->second <= iy->first || iy->second <= ix->first) {
      return false;
    }
  }
  return true;
}

/// Gives origins their shape, and checks that the sides have one shape and convertible types.
bool Analyzer::copyShapes(Value &src, Value &dst, SourceRange range) {
  for (Value *side : {&src, &dst}) {
    Value &other = side == &src ? dst : src;
    if (isOrigin(*side)) {
      if (!other.type.isShaped() || !other.type.hasStaticShape()) {
        report(Id::CopyExtent, range);
        return false;
      }
      *side = resolveOrigin(*side, other.type.shape);
      if (side->isError()) {
        return false;
      }
    }
  }
  if (src.type.isOpen() && dst.type.isShaped() && dst.type.hasStaticShape()) {
    src = coerce(src, src.type.withShape(dst.type.shape));
    if (src.isError()) {
      return false;
    }
  }
  if (!src.type.isShaped() || !dst.type.isShaped() || src.type.shape != dst.type.shape ||
      !src.type.hasStaticShape() || src.type.vecLength || dst.type.vecLength) {
    auto shown = [](const Value &v) {
      return v.type.vecLength ? v.type.str() : shapeString(v.type.shape);
    };
    report(Id::CopyShape, range, "copy", shown(src), shown(dst));
    return false;
  }
  if (src.type.rank() > 5) {
    report(Id::RankTile, range, src.type.rank());
    return false;
  }
  if (!convertible(src.type.elem, dst.type.elem)) {
    report(Id::Conversion, range, scalarName(src.type.elem), scalarName(dst.type.elem));
    return false;
  }
  return true;
}

Value Analyzer::copyCall(const ast::CallExpr *e, const BoundArgs &args) {
  Value done;
  done.type = Type::voidType();
  done.range = e->range;
  if (auto *call = llvm::dyn_cast<ast::CallExpr>(args.one(1));
      call && call->callee.name == "transpose") {
    report(Id::ArgumentKind, call->range, "copy", "dst", "a region of memory")
        .hint("transpose what is copied: `copy(transpose(x), Y[i, j])`");
    return errorValue(e->range);
  }
  Value src = analyze(args.one(0), Want::Region), dst = analyze(args.one(1), Want::Region);
  if (src.isError() || dst.isError()) {
    return errorValue(e->range);
  }
  if (!src.isPlace() || src.place.space == Space::Local || src.place.space == Space::ConstArray) {
    src = withDefaultType(read(src));
    if (src.isError()) {
      return src;
    }
  }
  if (!dst.isPlace()) {
    report(Id::ArgumentKind, args.one(1)->range, "copy", "dst", "a region of memory")
        .hint("write to a tensor, a workspace or a buffer");
    return errorValue(e->range);
  }
  if (isGlobal(src) && isGlobal(dst)) {
    report(Id::CopyGlobal, e->range);
    return errorValue(e->range);
  }
  if (isOrigin(src) && isOrigin(dst)) {
    report(Id::CopyExtent, e->range);
    return errorValue(e->range);
  }
  if (!copyShapes(src, dst, e->range)) {
    return errorValue(e->range);
  }
  if (src.isPlace() && copyOverlaps(src.expr, dst.expr)) {
    report(Id::CopyOverlap, e->range);
    return errorValue(e->range);
  }
  if (src.isPlace()) {
    checkRead(src, src.range);
  }
  if (!checkWrite(dst, dst.range)) {
    return errorValue(e->range);
  }
  emit(program.make<CopyStmt>(materialize(src), dst.expr, e->range));
  return done;
}

} // namespace tilec::sema
