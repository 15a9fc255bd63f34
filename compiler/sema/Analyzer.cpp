//===- Analyzer.cpp - Limits, names, types --------------------------------===//
#include "compiler/sema/Analyzer.h"

#include "compiler/sema/Modules.h"

#include "llvm/ADT/StringExtras.h"

namespace tilec::sema {

/// Statements and expressions elaborated for one program. Functions are inlined and loops unrolled,
/// so a short text can ask for any amount of code.
static constexpr uint64_t maxSteps = 500'000;
/// Levels of expressions and statements, inlined functions included.
static constexpr unsigned maxDepth = 4000;

bool Analyzer::step(SourceRange range) {
  if (stopped) {
    return false;
  }
  if (++steps > maxSteps || depth > maxDepth) {
    stopped = true;
    if (depth > maxDepth) {
      report(diag::Id::ExpansionDepth, range, maxDepth);
    } else {
      report(diag::Id::ExpansionSize, range, maxSteps);
    }
    return false;
  }
  return !engine.limitReached();
}

const Entity *Analyzer::lookup(llvm::StringRef name) {
  if (const Entity *e = frame.env->find(name)) {
    return e;
  }
  auto it = frame.env->module->consts.find(name);
  return it == frame.env->module->consts.end() ? nullptr : lookupConst(*it->second);
}

const Entity *Analyzer::lookupConst(Module::ConstEntry &entry) {
  if (!entry.value) {
    const ast::ConstDecl &decl = entry.item->decl;
    if (entry.evaluating) {
      report(diag::Id::RecursiveConstant, decl.name.range, decl.name.name);
      entry.value.emplace();
      entry.value->broken = true;
      return &*entry.value;
    }
    entry.evaluating = true;
    FrameGuard guard(*this);
    Env env(entry.home);
    frame = Frame();
    frame.env = &env;
    frame.mode = Mode::Constant;
    entry.value = constantEntity(decl);
    entry.evaluating = false;
  }
  return &*entry.value;
}

std::optional<Scalar> Analyzer::lookupType(llvm::StringRef name) {
  if (auto s = scalarByName(name)) {
    return s;
  }
  const Entity *e = lookup(name);
  if (e && e->constant && e->constant->isTypeName()) {
    return e->constant->named;
  }
  return std::nullopt;
}

/// `const NAME [: type] = value`: the entity that the name stands for.
Entity Analyzer::constantEntity(const ast::ConstDecl &decl) {
  Entity e;
  e.name = decl.name.name;
  e.range = decl.name.range;
  e.broken = true;
  if ((decl.type && !decl.type.shape.empty()) || llvm::isa<ast::ListExpr>(decl.value)) {
    return constantArray(decl);
  }
  Value v = operand(decl.value);
  if (v.isError()) {
    return e;
  }
  if (!v.constant) {
    report(diag::Id::NotConstant, decl.value->range,
           llvm::Twine("the value of `") + decl.name.name + "`");
    return e;
  }
  if (decl.type) {
    Type type = resolveType(*decl.type.element);
    if (type.isError()) {
      return e;
    }
    v = coerce(v, type);
    if (v.isError() || !v.constant) {
      return e;
    }
  }
  e.constant = v.constant;
  e.broken = false;
  return e;
}

Entity Analyzer::constantArray(const ast::ConstDecl &decl) {
  Entity e;
  e.name = decl.name.name;
  e.range = decl.name.range;
  e.broken = true;
  auto *list = llvm::dyn_cast<ast::ListExpr>(decl.value);
  if (!list || !decl.type) {
    report(diag::Id::TypeMismatchKind, decl.value->range, list ? "a scalar" : "a list of constants",
           list ? "a list" : "one value");
    return e;
  }
  Type type = resolveTileType(decl.type, "a constant array");
  if (type.isError()) {
    return e;
  }
  if (type.rank() != 1) {
    report(diag::Id::RankExpected, decl.name.range, decl.name.name, type.rank(), 1);
    return e;
  }
  if (type.shape[0] != int64_t(list->elements.size())) {
    report(diag::Id::ShapeMismatch, list->range, shapeString(type.shape),
           shapeString({int64_t(list->elements.size())}));
    return e;
  }
  llvm::SmallVector<const Expr *> values;
  for (const ast::Expr *element : list->elements) {
    Value v = coerce(operand(element), type.element());
    if (v.isError()) {
      return e;
    }
    if (!v.constant) {
      report(diag::Id::NotConstant, element->range, "an element of a constant array");
      return e;
    }
    values.push_back(materialize(v));
  }
  auto *array = program.make<ConstArrayDecl>(decl.name.name, decl.name.range, type);
  array->values = program.list<const Expr *>(values);
  e.decl = array;
  e.place = {array, Space::ConstArray, e.name, e.range, /*writable=*/false, true, false};
  e.broken = false;
  return e;
}

std::optional<Scalar> Analyzer::resolveScalar(const ast::TypeExpr &type) {
  if (type.isVec()) {
    report(diag::Id::TypeMismatchKind, type.range, "a scalar type", "a vec");
    return std::nullopt;
  }
  if (auto s = lookupType(type.name)) {
    return s;
  }
  const Entity *e = lookup(type.name);
  if (!e || !e->broken) {
    report(diag::Id::UndeclaredType, type.range, type.name);
  }
  return std::nullopt;
}

Type Analyzer::resolveType(const ast::TypeExpr &type) {
  if (!type.isVec()) {
    auto s = resolveScalar(type);
    return s ? Type(*s) : Type::error();
  }
  auto elem = resolveScalar(*type.element);
  auto n = constantInt(type.count, "the length of a vec");
  if (!elem || !n) {
    return Type::error();
  }
  if (*n < 1 || *n > 1024) {
    report(diag::Id::ShapeEmpty, type.count->range, 0, "vec", *n)
        .hint("vecs have 1 to 1024 elements");
    return Type::error();
  }
  return Type::vec(*elem, *n);
}

Type Analyzer::resolveTileType(const ast::TileType &type, const char *what) {
  Type t = resolveType(*type.element);
  bool ok = !t.isError();
  if (type.shape.size() > 5) {
    report(diag::Id::RankTile, type.range, type.shape.size());
    return Type::error();
  }
  int64_t count = 1;
  for (const ast::Expr *e : type.shape) {
    auto n = constantInt(e, llvm::Twine("an extent of ") + what);
    if (!n) {
      ok = false;
      continue;
    }
    if (*n < 1) {
      report(diag::Id::ShapeEmpty, e->range, t.shape.size(), what, *n);
      ok = false;
    }
    // More elements than any memory of a block has; also keeps later arithmetic in range.
    if (ok && __builtin_mul_overflow(count, *n, &count)) {
      count = INT64_MAX;
    }
    t.shape.push_back(*n);
  }
  if (ok && count > (int64_t(1) << 26)) {
    report(diag::Id::TileTooLarge, type.range, t.str());
    ok = false;
  }
  if (ok && isPacked(t.elem) && !t.shape.empty() && t.shape.back() % 2) {
    report(diag::Id::PackedExtent, type.shape.back()->range, scalarName(t.elem), t.shape.back());
    ok = false;
  }
  return ok ? t : Type::error();
}

std::optional<int64_t> Analyzer::constantInt(const ast::Expr *e, const llvm::Twine &what) {
  Value v = operand(e);
  if (v.isError()) {
    return std::nullopt;
  }
  if (!v.constant) {
    report(diag::Id::NotConstant, e->range, what);
    return std::nullopt;
  }
  if (!v.constant->isIntLike()) {
    report(diag::Id::TypeMismatchKind, e->range, "an integer", v.type.str());
    return std::nullopt;
  }
  if (!fitsInteger(v.constant->i, Scalar::I64)) {
    report(diag::Id::ConstantFit, e->range, v.constant->str(), "i64");
    return std::nullopt;
  }
  return int64_t(v.constant->i);
}

void Analyzer::reportBinder(llvm::ArrayRef<ast::Ident> binder, llvm::StringRef domain,
                            size_t extents) {
  static constexpr llvm::StringLiteral names[] = {"i", "j", "k", "l", "m"};
  auto error = report(diag::Id::RankBinder, binder.front().range, domain, extents, binder.size());
  if (extents > 0 && extents <= std::size(names)) {
    const std::string list = llvm::join(llvm::ArrayRef(names).take_front(extents), ", ");
    error.hint("name each index: `" + (extents == 1 ? list : "(" + list + ")") + "`");
  }
}

std::optional<bool> Analyzer::constantBool(const ast::Expr *e, const llvm::Twine &what) {
  Value v = operand(e);
  if (v.isError()) {
    return std::nullopt;
  }
  if (!v.type.isBool()) {
    auto error = report(diag::Id::NotBool, e->range, v.type.str());
    if (v.type.kind == Type::Kind::UntypedInt && v.constant &&
        (v.constant->i == 0 || v.constant->i == 1)) {
      error.hint(v.constant->i == 0 ? "write `false`" : "write `true`");
    }
    return std::nullopt;
  }
  if (!v.constant) {
    report(diag::Id::NotConstant, e->range, what);
    return std::nullopt;
  }
  return v.constant->i != 0;
}

llvm::StringRef Analyzer::sourceText(SourceRange range) {
  const char *begin = range.Start.getPointer(), *end = range.End.getPointer();
  return begin && end >= begin ? llvm::StringRef(begin, end - begin) : llvm::StringRef();
}

} // namespace tilec::sema
