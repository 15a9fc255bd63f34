//===- BuiltinCopy.cpp - copy and gemm ------------------------------------===//
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

Value Analyzer::copyCall(const ast::CallExpr *e, const BoundArgs &args) {
  Value done;
  done.type = Type::voidType();
  done.range = e->range;
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
  for (Value *side : {&src, &dst}) {
    Value &other = side == &src ? dst : src;
    if (isOrigin(*side)) {
      if (!other.type.isShaped() || !other.type.hasStaticShape()) {
        report(Id::CopyExtent, e->range);
        return errorValue(e->range);
      }
      *side = resolveOrigin(*side, other.type.shape);
      if (side->isError()) {
        return errorValue(e->range);
      }
    }
  }
  if (!src.type.isShaped() || !dst.type.isShaped() || src.type.shape != dst.type.shape ||
      !src.type.hasStaticShape() || src.type.vecLength || dst.type.vecLength) {
    auto shown = [](const Value &v) {
      return v.type.vecLength ? v.type.str() : shapeString(v.type.shape);
    };
    report(Id::CopyShape, e->range, shown(src), shown(dst));
    return errorValue(e->range);
  }
  if (src.type.rank() > 5) {
    report(Id::RankTile, e->range, src.type.rank());
    return errorValue(e->range);
  }
  if (!convertible(src.type.elem, dst.type.elem)) {
    report(Id::Conversion, e->range, scalarName(src.type.elem), scalarName(dst.type.elem));
    return errorValue(e->range);
  }
  if (src.isPlace() && copyOverlaps(src.expr, dst.expr)) {
    report(Id::CopyOverlap, e->range);
    return errorValue(e->range);
  }
  if (src.isPlace()) {
    markRead(src, src.range);
  }
  if (!markWrite(dst, dst.range)) {
    return errorValue(e->range);
  }
  emit(program.make<CopyStmt>(materialize(src), dst.expr, e->range));
  return done;
}

namespace {
struct GemmTypes {
  bool ok = false;
  bool fp8 = false;
  bool single = false; ///< f32, where `precision` applies
};
} // namespace

static GemmTypes classifyGemm(Scalar a, Scalar b, Scalar acc) {
  GemmTypes t;
  auto fp8 = [](Scalar s) { return s == Scalar::E4M3 || s == Scalar::E5M2; };
  auto int8 = [](Scalar s) { return s == Scalar::I8 || s == Scalar::U8; };
  if (fp8(a) && fp8(b)) {
    t.fp8 = true;
    t.ok = acc == Scalar::F32;
  } else if (int8(a) && int8(b)) {
    t.ok = acc == Scalar::I32;
  } else if (a == b) {
    t.single = a == Scalar::F32;
    t.ok = a == Scalar::F16    ? acc == Scalar::F32 || acc == Scalar::F16
           : a == Scalar::BF16 ? acc == Scalar::F32
                               : (a == Scalar::F32 || a == Scalar::F64) && acc == a;
  }
  return t;
}

std::optional<std::string> Analyzer::wordArg(const ast::Expr *e) {
  auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(e);
  return name ? std::optional(name->name.str()) : std::nullopt;
}

Value Analyzer::gemmCall(const ast::CallExpr *e, const BoundArgs &args) {
  Value acc = analyze(args.one(2), Want::Place);
  llvm::SmallVector<Value, 2> ab;
  bool ok = !acc.isError();
  for (unsigned i : {0u, 1u}) {
    Value v = analyze(args.one(i), Want::Value);
    bool buffer = v.place.space == Space::Shared || v.place.space == Space::Fragment;
    if (buffer && ok && v.place.root == acc.place.root) {
      report(Id::GemmOperand, v.range, i ? "B" : "A", "is also the accumulator");
      ok = false;
    }
    v = read(v); // the expression stays a place for buffers
    ok &= !v.isError();
    ab.push_back(v);
  }
  if (!ok) {
    return errorValue(e->range);
  }
  if (acc.place.space != Space::Fragment) {
    report(Id::GemmOperand, acc.range, "the accumulator", "must be a fragment or a slice of one");
    return errorValue(e->range);
  }
  auto *gemm = program.make<GemmStmt>(e->range);
  bool *flags[] = {&gemm->transposeA, &gemm->transposeB, &gemm->accumulate};
  static constexpr llvm::StringLiteral flagNames[] = {"`transpose_a`", "`transpose_b`",
                                                      "`accumulate`"};
  for (unsigned i = 0; i < 3; ++i) {
    if (const ast::Expr *flag = args.one(3 + i)) {
      auto v = constantBool(flag, flagNames[i]);
      if (!v) {
        return errorValue(e->range);
      }
      *flags[i] = *v;
    }
  }
  if (gemm->accumulate) {
    markRead(acc, acc.range);
  }
  if (!markWrite(acc, acc.range)) {
    return errorValue(e->range);
  }
  const Type &a = ab[0].type, &b = ab[1].type, &c = acc.type;
  if (a.rank() != 2 || b.rank() != 2 || c.rank() != 2 || a.vecLength || b.vecLength) {
    report(Id::GemmShape, e->range, a.str(), b.str(), c.str(), "they must be matrices");
    return errorValue(e->range);
  }
  int64_t m = a.shape[gemm->transposeA], ka = a.shape[!gemm->transposeA];
  int64_t kb = b.shape[gemm->transposeB], n = b.shape[!gemm->transposeB];
  if (ka != kb || m != c.shape[0] || n != c.shape[1]) {
    report(
        Id::GemmShape, e->range, shapeString(a.shape), shapeString(b.shape), shapeString(c.shape),
        ka != kb ? llvm::Twine("A sums over ") + llvm::Twine(ka) + ", B over " + llvm::Twine(kb)
                 : llvm::Twine("the product is [") + llvm::Twine(m) + ", " + llvm::Twine(n) + "]");
    return errorValue(e->range);
  }
  GemmTypes types = classifyGemm(a.elem, b.elem, c.elem);
  if (!types.ok) {
    report(Id::GemmType, e->range, scalarName(a.elem), scalarName(b.elem), scalarName(c.elem));
    return errorValue(e->range);
  }
  if (const ast::Expr *p = args.one(6)) {
    auto word = wordArg(p);
    if (word != "square" && word != "full_row" && word != "full_col") {
      report(Id::GemmOption, p->range, "policy", "it is `square`, `full_row` or `full_col`");
      return errorValue(e->range);
    }
    gemm->policy = word == "square"     ? GemmPolicy::Square
                   : word == "full_row" ? GemmPolicy::FullRow
                                        : GemmPolicy::FullCol;
  }
  if (const ast::Expr *p = args.one(7)) {
    auto word = wordArg(p);
    if (!types.single || (word != "full" && word != "tf32")) {
      report(Id::GemmOption, p->range, "precision",
             types.single ? "it is `full` or `tf32`" : "it concerns products of `f32`");
      return errorValue(e->range);
    }
    gemm->precision = word == "tf32" ? GemmPrecision::Tf32 : GemmPrecision::Full;
  }
  if (const ast::Expr *p = args.one(8)) {
    auto v = constantInt(p, "`promote`");
    if (!v) {
      return errorValue(e->range);
    }
    if (!types.fp8 || *v < 0) {
      report(Id::GemmOption, p->range, "promote",
             types.fp8 ? "it is at least 0" : "it concerns products of `e4m3` and `e5m2`");
      return errorValue(e->range);
    }
    gemm->promote = *v;
  }
  gemm->a = ab[0].expr;
  gemm->b = ab[1].expr;
  gemm->acc = acc.expr;
  gemm->m = m;
  gemm->n = n;
  gemm->k = ka;
  emit(gemm);
  Value done;
  done.type = Type::voidType();
  done.range = e->range;
  return done;
}

} // namespace tilec::sema
