//===- BuiltinGemm.cpp - gemm ---------------------------------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

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

const ast::Expr *Analyzer::chosenArg(const ast::Expr *e) {
  while (auto *choice = llvm::dyn_cast_or_null<ast::ConditionalExpr>(e)) {
    std::optional<bool> isFirst =
        constantBool(choice->condition, "the condition that chooses a word");
    e = isFirst.value_or(true) ? choice->whenTrue : choice->whenFalse;
  }
  return e;
}

std::optional<std::string> Analyzer::wordArg(const ast::Expr *e) {
  auto *name = llvm::dyn_cast_or_null<ast::NameExpr>(chosenArg(e));
  return name ? std::optional(name->name.str()) : std::nullopt;
}

/// transpose_a, transpose_b, accumulate.
bool Analyzer::gemmFlags(const BoundArgs &args, GemmStmt &gemm) {
  bool *flags[] = {&gemm.transposeA, &gemm.transposeB, &gemm.accumulate};
  static constexpr llvm::StringLiteral flagNames[] = {"`transpose_a`", "`transpose_b`",
                                                      "`accumulate`"};
  for (unsigned i = 0; i < 3; ++i) {
    if (const ast::Expr *flag = args.one(3 + i)) {
      auto v = constantBool(flag, flagNames[i]);
      if (!v) {
        return false;
      }
      *flags[i] = *v;
    }
  }
  return true;
}

/// policy, precision, promote.
bool Analyzer::gemmOptions(const BoundArgs &args, bool fp8, bool single, GemmStmt &gemm) {
  if (const ast::Expr *p = args.one(6)) {
    auto word = wordArg(p);
    if (word != "square" && word != "full_row" && word != "full_col") {
      report(Id::GemmOption, p->range, "policy", "it is `square`, `full_row` or `full_col`");
      return false;
    }
    gemm.policy = word == "square"     ? GemmPolicy::Square
                  : word == "full_row" ? GemmPolicy::FullRow
                                       : GemmPolicy::FullCol;
  }
  if (const ast::Expr *p = args.one(7)) {
    auto word = wordArg(p);
    if (!single || (word != "full" && word != "tf32")) {
      report(Id::GemmOption, p->range, "precision",
             single ? "it is `full` or `tf32`" : "it concerns products of `f32`");
      return false;
    }
    gemm.precision = word == "tf32" ? GemmPrecision::Tf32 : GemmPrecision::Full;
  }
  if (const ast::Expr *p = args.one(8)) {
    auto v = constantInt(p, "`promote`");
    if (!v) {
      return false;
    }
    if (!fp8 || *v < 0) {
      report(Id::GemmOption, p->range, "promote",
             fp8 ? "it is at least 0" : "it concerns products of `e4m3` and `e5m2`");
      return false;
    }
    gemm.promote = *v;
  }
  return true;
}

/// M, N and K from the operands' shapes.
bool Analyzer::gemmShapes(const Type &a, const Type &b, const Type &c, GemmStmt &gemm) {
  if (a.rank() != 2 || b.rank() != 2 || c.rank() != 2 || a.vecLength || b.vecLength) {
    report(Id::GemmShape, gemm.range, a.str(), b.str(), c.str(), "they must be matrices");
    return false;
  }
  int64_t m = a.shape[gemm.transposeA], ka = a.shape[!gemm.transposeA];
  int64_t kb = b.shape[gemm.transposeB], n = b.shape[!gemm.transposeB];
  if (ka != kb || m != c.shape[0] || n != c.shape[1]) {
    report(
        Id::GemmShape, gemm.range, shapeString(a.shape), shapeString(b.shape), shapeString(c.shape),
        ka != kb ? llvm::Twine("A sums over ") + llvm::Twine(ka) + ", B over " + llvm::Twine(kb)
                 : llvm::Twine("the product is [") + llvm::Twine(m) + ", " + llvm::Twine(n) + "]");
    return false;
  }
  gemm.m = m;
  gemm.n = n;
  gemm.k = ka;
  return true;
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
    if (!checkClosed(v)) {
      return errorValue(e->range);
    }
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
  if (!gemmFlags(args, *gemm)) {
    return errorValue(e->range);
  }
  if (gemm->accumulate) {
    checkRead(acc, acc.range);
  }
  if (!checkWrite(acc, acc.range)) {
    return errorValue(e->range);
  }
  const Type &a = ab[0].type, &b = ab[1].type, &c = acc.type;
  if (!gemmShapes(a, b, c, *gemm)) {
    return errorValue(e->range);
  }
  GemmTypes types = classifyGemm(a.elem, b.elem, c.elem);
  if (!types.ok) {
    report(Id::GemmType, e->range, scalarName(a.elem), scalarName(b.elem), scalarName(c.elem));
    return errorValue(e->range);
  }
  if (!gemmOptions(args, types.fp8, types.single, *gemm)) {
    return errorValue(e->range);
  }
  gemm->a = ab[0].expr;
  gemm->b = ab[1].expr;
  gemm->acc = acc.expr;
  emit(gemm);
  Value done;
  done.type = Type::voidType();
  done.range = e->range;
  return done;
}

} // namespace tilec::sema
