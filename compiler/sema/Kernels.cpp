//===- Kernels.cpp - Parameters and dimensions of a kernel ----------------===//
#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Request.h"

#include "llvm/ADT/MapVector.h"

namespace tilec::sema {

using diag::Id;

void checkKernelAnnotations(DiagnosticEngine &engine, const ast::KernelItem &k, bool &fastMath);

bool namesKnown(const ast::Expr *e, const Env &env) {
  switch (e->kind) {
  case ast::ExprKind::Name: {
    llvm::StringRef name = llvm::cast<ast::NameExpr>(e)->name;
    return isPredefinedName(name) || env.find(name) || env.module->consts.count(name);
  }
  case ast::ExprKind::Unary:
    return namesKnown(llvm::cast<ast::UnaryExpr>(e)->operand, env);
  case ast::ExprKind::Binary: {
    auto *b = llvm::cast<ast::BinaryExpr>(e);
    return namesKnown(b->left, env) && namesKnown(b->right, env);
  }
  case ast::ExprKind::Conditional: {
    auto *c = llvm::cast<ast::ConditionalExpr>(e);
    return namesKnown(c->condition, env) && namesKnown(c->whenTrue, env) &&
           namesKnown(c->whenFalse, env);
  }
  case ast::ExprKind::Call:
    return llvm::all_of(llvm::cast<ast::CallExpr>(e)->args,
                        [&](const ast::Arg &a) { return namesKnown(a.value, env); });
  case ast::ExprKind::Index:
  case ast::ExprKind::Tuple:
  case ast::ExprKind::List:
    return false;
  default:
    return true;
  }
}

TensorParam *Analyzer::tensorParam(const ast::KernelParam &p, unsigned index) {
  auto elem = resolveScalar(*p.type.element);
  size_t rank = p.type.shape.size();
  if (rank < 1 || rank > 8) {
    report(Id::RankTensor, p.type.range, rank);
    return nullptr;
  }
  if (!elem) {
    return nullptr;
  }
  llvm::SmallVector<int64_t, 8> shape(rank, kDynamic);
  auto *t = program.make<TensorParam>(p.name.name, p.name.range, Type(*elem, shape));
  t->index = index;
  t->dir = Direction(unsigned(p.direction));
  t->strided = p.isStrided;
  t->optional = p.isOptional;
  if (p.align) {
    auto align = constantInt(p.align, "`align`");
    if (align && (*align < 1 || *align > (1 << 20) || (*align & (*align - 1)))) {
      report(Id::Align, p.align->range, *align);
    } else if (align) {
      t->align = *align;
    }
  }
  return t;
}

/// Declares scalars and tensors, their extents still open.
void Analyzer::kernelParams(const ast::KernelItem &k, const Request &request,
                            KernelInstance &instance) {
  for (auto [index, p] : llvm::enumerate(k.params)) {
    Entity e;
    e.name = p.name.name;
    e.range = p.name.range;
    Param param;
    if (!p.isTensor) {
      Type type = resolveType(*p.type.element);
      e.broken = !type.isScalar();
      if (type.isVec()) {
        report(Id::TypeMismatchKind, p.type.range, "a scalar or a tensor", type.str());
      } else if (type.isScalar() && isStorage(type.elem)) {
        report(Id::StorageTypeUse, p.type.range, scalarName(type.elem), "a parameter by itself");
        e.broken = true;
      }
      auto *scalar = program.make<ScalarParam>(p.name.name, p.name.range, type);
      scalar->index = index;
      e.decl = scalar;
      param.scalar = scalar;
    } else if (TensorParam *t = tensorParam(p, index)) {
      e.decl = t;
      e.place = {t,          Space::Tensor,           t->name,
                 t->range,   t->dir != Direction::In, t->dir != Direction::Out,
                 !t->strided};
      param.tensor = t;
    } else {
      e.broken = true;
    }
    frame.env->declare(std::move(e));
    instance.params.push_back(param);
  }
  for (auto [p, param] : llvm::zip(k.params, instance.params)) {
    llvm::SmallVector<const TensorParam *> aliases;
    for (const ast::Ident &name : p.mayAlias) {
      const Entity *other = frame.env->find(name.name);
      auto *t = llvm::dyn_cast_or_null<TensorParam>(other ? other->decl : nullptr);
      if (!t) {
        if (!other || !other->broken) {
          report(Id::Undeclared, name.range, name.name)
              .hint("name a tensor parameter of the kernel");
        }
      } else if (param.tensor && t->type.elem != param.tensor->type.elem) {
        report(Id::TypeMismatch, name.range, scalarName(param.tensor->type.elem),
               scalarName(t->type.elem))
            .hint("a tensor can only be another one of its type");
      } else {
        aliases.push_back(t);
      }
    }
    if (param.tensor) {
      const_cast<TensorParam *>(param.tensor)->mayAlias =
          program.list<const TensorParam *>(aliases);
    }
  }
}

/// Resolves a constant `?:` in an extent.
const ast::Expr *Analyzer::chooseExtent(const ast::Expr *e) {
  auto *c = llvm::dyn_cast<ast::ConditionalExpr>(e);
  if (!c || !namesKnown(c->condition, *frame.env)) {
    return e;
  }
  Value v = operand(c->condition);
  if (!v.constant || !v.constant->isBool()) {
    return e;
  }
  return chooseExtent(v.constant->i ? c->whenTrue : c->whenFalse);
}

namespace {
struct Binder {
  TensorParam *tensor = nullptr;
  unsigned axis = 0;
  Int128 offset = 0;
};
struct DimInfo {
  SourceRange range;
  Binder bare, shifted;
};
} // namespace

struct Analyzer::DimTable {
  llvm::MapVector<llvm::StringRef, DimInfo> names;
};

/// `NAME + c` or `NAME - c`, with NAME not declared otherwise.
static const ast::BinaryExpr *shiftedName(const ast::Expr *e, const Env &env) {
  auto *b = llvm::dyn_cast<ast::BinaryExpr>(e);
  bool sum = b && (b->op == ast::BinaryOp::Add || b->op == ast::BinaryOp::Subtract);
  return sum && llvm::isa<ast::NameExpr>(b->left) && !namesKnown(b->left, env) &&
                 namesKnown(b->right, env)
             ? b
             : nullptr;
}

void Analyzer::declareDims(const ast::KernelItem &k, const Request &request,
                           KernelInstance &instance) {
  DimTable table;
  for (auto [p, param] : llvm::zip(k.params, instance.params)) {
    if (!param.tensor) {
      continue;
    }
    auto *tensor = const_cast<TensorParam *>(param.tensor);
    for (auto [axis, written] : llvm::enumerate(p.type.shape)) {
      const ast::Expr *e = chooseExtent(written);
      if (auto *name = llvm::dyn_cast<ast::NameExpr>(e); name && !namesKnown(e, *frame.env)) {
        DimInfo &dim = table.names[name->name];
        dim.range = dim.range.isValid() ? dim.range : name->range;
        if (!dim.bare.tensor && !tensor->optional) {
          dim.bare = {tensor, unsigned(axis), 0};
          dim.range = name->range;
        }
      } else if (auto *b = shiftedName(e, *frame.env)) {
        DimInfo &dim = table.names[llvm::cast<ast::NameExpr>(b->left)->name];
        dim.range = dim.range.isValid() ? dim.range : b->left->range;
        auto c = constantInt(b->right, "what is added to a dimension");
        if (c && !dim.shifted.tensor && !tensor->optional) {
          dim.shifted = {tensor, unsigned(axis),
                         b->op == ast::BinaryOp::Add ? Int128(*c) : -Int128(*c)};
        }
      }
    }
  }
  for (auto &[name, info] : table.names) {
    Entity e;
    e.name = name;
    e.range = info.range;
    const Binder &binder = info.bare.tensor ? info.bare : info.shifted;
    if (!binder.tensor) {
      report(Id::DimUnbound, info.range, name);
      e.broken = true;
      frame.env->declare(std::move(e));
      continue;
    }
    auto *dim = program.make<DimDecl>(name, info.range);
    dim->source = binder.tensor;
    dim->axis = binder.axis;
    dim->offset = int64_t(binder.offset);
    e.decl = dim;
    if (const ConstValue *given = request.value(name, options)) {
      if (!given->isIntLike() || !fitsInteger(given->i, Scalar::I32) || given->i < 0) {
        report(given->isIntLike() && given->i > 0 ? Id::ExtentTooLarge : Id::ConstantFit,
               info.range, given->str(), "i32");
        e.broken = true;
      } else {
        dim->constant = int64_t(given->i);
        e.constant = ConstValue::integer(Scalar::I32, given->i);
      }
    }
    instance.dims.push_back(dim);
    frame.env->declare(std::move(e));
  }
}

void Analyzer::tensorExtents(const ast::KernelItem &k, KernelInstance &instance) {
  for (auto [p, param] : llvm::zip(k.params, instance.params)) {
    if (!param.tensor) {
      continue;
    }
    auto *tensor = const_cast<TensorParam *>(param.tensor);
    llvm::SmallVector<Extent, 8> extents;
    for (auto [axis, written] : llvm::enumerate(p.type.shape)) {
      const ast::Expr *e = chooseExtent(written);
      Extent extent;
      if (!extentValue(e, extent, p.name.name, /*isOfParameter=*/true)) {
        extent = Extent();
        extent.expr = materialize(constantValue(ConstValue::integer(Scalar::I32, 0), e->range));
      }
      tensor->type.shape[axis] = extent.constant;
      extents.push_back(extent);
      const DimDecl *dim = nullptr;
      for (const DimDecl *d : instance.dims) {
        auto *name = llvm::dyn_cast<ast::NameExpr>(e);
        if ((d->source == tensor && d->axis == axis) || (name && name->name == d->name)) {
          dim = d;
        }
      }
      bool binds = dim && dim->source == tensor && dim->axis == axis;
      if (!binds || dim->constant) {
        instance.dimChecks.push_back({tensor, unsigned(axis), extent.expr, e->range,
                                      sourceText(e->range), dim && !binds ? dim->source : nullptr});
      }
    }
    if (isPacked(tensor->type.elem) && tensor->type.shape.back() != kDynamic &&
        tensor->type.shape.back() % 2) {
      report(Id::PackedExtent, p.type.shape.back()->range, scalarName(tensor->type.elem),
             tensor->type.shape.back());
    }
    tensor->extents = program.list<Extent>(extents);
  }
}

void Analyzer::whereClauses(llvm::ArrayRef<const ast::Expr *> clauses, KernelInstance &instance) {
  for (const ast::Expr *clause : clauses) {
    Value v = condition(clause);
    if (v.isError()) {
      continue;
    }
    if (!v.constant) {
      instance.whereChecks.push_back({materialize(v), clause->range, sourceText(clause->range)});
    } else if (!v.constant->i) {
      report(Id::WhereFailed, clause->range, sourceText(clause->range), instance.symbol)
          << note(instance.requested, "instantiated here");
    }
  }
}

bool Analyzer::elaborateKernel(Request &request, Env &env, KernelInstance &instance) {
  const ast::KernelItem &k = *request.kernel;
  unsigned errors = engine.numErrors();
  kernel = KernelState();
  kernel.item = &k;
  kernel.module = request.home;
  kernel.instance = &instance;
  FrameGuard guard(*this);
  frame = Frame();
  frame.env = &env;
  frame.mode = Mode::Host;
  checkKernelAnnotations(engine, k, instance.fastMath);
  kernelParams(k, request, instance);
  declareDims(k, request, instance);
  llvm::SmallVector<llvm::StringRef> names;
  for (const ast::GenericParam &p : k.generics) {
    names.push_back(p.name.name);
  }
  for (const DimDecl *d : instance.dims) {
    names.push_back(d->name);
  }
  parameterNames.insert(names.begin(), names.end());
  for (const Request::Given &g : request.given) {
    bool isDim = llvm::any_of(instance.dims, [&](const DimDecl *d) { return d->name == g.name; });
    bool isParam =
        llvm::any_of(k.generics, [&](const ast::GenericParam &p) { return p.name.name == g.name; });
    if (!isDim && !isParam && g.range.isValid()) {
      report(Id::UnknownParameter, g.range, k.name.name, g.name).meant(g.name, names)
          << note(k.name.range, "declared here");
    }
  }
  tensorExtents(k, instance);
  whereClauses(k.where, instance);
  env.push();
  instance.body = statements(k.body.statements);
  env.pop();
  // An error of a launch may have been reported before, by its names alone.
  if (!engine.hasErrors() && instance.launches.empty() && !stopped) {
    report(Id::NoLaunch, k.name.range, k.name.name);
  }
  return engine.numErrors() == errors;
}

} // namespace tilec::sema
