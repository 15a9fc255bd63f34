//===- TileFunctions.cpp - Inlining of tile functions ---------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

/// A call being inlined.
struct Analyzer::TileCall {
  const Module::Imported<ast::FunctionItem> &fn;
  Env env;
  llvm::SmallVector<const Stmt *> body;
  struct Passed {
    const Decl *root;
    llvm::StringRef name, param;
    bool written;
    SourceRange range;
  };
  llvm::SmallVector<Passed> passed;
  explicit TileCall(const Module::Imported<ast::FunctionItem> &fn) : fn(fn), env(fn.home) {}
};

static Space spaceOf(ast::Scope scope) {
  return scope == ast::Scope::Shared     ? Space::Shared
         : scope == ast::Scope::Fragment ? Space::Fragment
                                         : Space::Local;
}

static bool isOpenName(const ast::Expr *e, Env &env, llvm::StringRef &name) {
  auto *n = llvm::dyn_cast<ast::NameExpr>(e);
  if (!n) {
    return false;
  }
  name = n->name;
  return !env.find(name) && !env.module->consts.count(name);
}

/// Binds the open names of a parameter's shape, or compares with what they are.
bool Analyzer::bindShape(TileCall &call, llvm::ArrayRef<const ast::Expr *> shape, const Value &arg,
                         SourceRange range) {
  if (shape.size() != arg.type.rank()) {
    report(Id::RankExpected, arg.range, sourceText(arg.range), arg.type.rank(), shape.size())
        << note(range, "the parameter is declared here");
    return false;
  }
  for (auto [axis, e] : llvm::enumerate(shape)) {
    Value extent = extentOf(arg.expr, axis);
    llvm::StringRef name;
    if (isOpenName(e, call.env, name)) {
      Entity entity;
      entity.name = name;
      entity.range = e->range;
      if (extent.constant) {
        entity.constant = extent.constant;
        if (arg.place.space != Space::Tensor && arg.place.space != Space::Workspace) {
          // As an `int` parameter. A tensor's extent stays an i32 when it happens to be constant.
          entity.constant->type = Type(Type::Kind::UntypedInt);
        }
      } else {
        auto *let = program.make<LetDecl>(name, e->range, extent.type);
        call.body.push_back(program.make<LetStmt>(let, extent.expr, e->range));
        entity.decl = let;
      }
      call.env.declare(std::move(entity));
      continue;
    }
    FrameGuard guard(*this);
    frame.env = &call.env;
    frame.out = &call.body;
    Value expected = operand(e);
    if (expected.isError()) {
      return false;
    }
    if (expected.constant && expected.constant->isIntLike() && extent.constant &&
        expected.constant->i != extent.constant->i) {
      report(Id::ShapeMismatchParameter, arg.range, sourceText(e->range), expected.constant->str(),
             extent.constant->str())
          << note(range, "the parameter is declared here");
      return false;
    }
  }
  return true;
}

/// Binds or compares the element type and the shape of a parameter.
bool Analyzer::bindTileType(TileCall &call, const ast::FunctionParam &param, const Value &arg) {
  const ast::FunctionItem &fn = *call.fn.item;
  const ast::TypeExpr *element = param.type.element;
  if (!element->isVec() &&
      llvm::any_of(fn.generics,
                   [&](const ast::GenericParam &g) {
                     return g.name.name == element->name && g.kind == ast::ParamKind::Type;
                   }) &&
      !call.env.find(element->name)) {
    Entity type;
    type.name = element->name;
    type.range = element->range;
    type.constant = ConstValue::typeName(arg.type.elem);
    call.env.declare(std::move(type));
  }
  if (!bindShape(call, param.type.shape, arg, param.range)) {
    return false;
  }
  Type expected;
  {
    FrameGuard guard(*this);
    frame.env = &call.env;
    expected = resolveType(*element);
  }
  if (expected.isError()) {
    return false;
  }
  if (expected.elem != arg.type.elem || expected.vecLength != arg.type.vecLength) {
    report(Id::TypeMismatch, arg.range, arg.type.withElem(expected.elem).str(), arg.type.str())
        << note(param.range, "the parameter is declared here");
    return false;
  }
  return true;
}

bool Analyzer::bindTileArg(TileCall &call, const ast::FunctionParam &param, const ast::Expr *arg) {
  const ast::FunctionItem &fn = *call.fn.item;
  bool isBuffer = param.form == ast::FunctionParam::Buffer;
  Value v = analyze(arg, isBuffer || param.form == ast::FunctionParam::Tensor ? Want::Place
                                                                              : Want::Value);
  if (v.isError()) {
    return false;
  }
  Entity entity;
  entity.name = param.name.name;
  entity.range = param.name.range;
  bool written = param.direction != ast::Direction::In;
  bool byValue = isBuffer && param.scope == ast::Scope::Fragment && !written &&
                 v.place.space != Space::Fragment;
  if (byValue) {
    v = withDefaultType(read(v));
    if (v.isError() || !checkClosed(v)) {
      return false;
    }
  } else {
    Space space = v.place.space;
    bool fits = isBuffer ? space == spaceOf(param.scope)
                         : space == Space::Tensor || space == Space::Workspace;
    if (!fits) {
      report(Id::ArgumentKind, arg->range, fn.name.name, param.name.name,
             isBuffer ? llvm::Twine("a `") + ast::spelling(param.scope) + "` buffer"
                      : llvm::Twine("a tensor"))
          << note(param.range, "the parameter is declared here");
      return false;
    }
    if (written && !checkWrite(v, arg->range)) {
      return false;
    }
    if (param.direction != ast::Direction::Out) {
      checkRead(v, arg->range);
    }
    call.passed.push_back(
        {v.place.root, sourceText(arg->range), param.name.name, written, arg->range});
  }
  if (!bindTileType(call, param, v)) {
    return false;
  }
  auto *ref = llvm::dyn_cast<RefExpr>(v.expr);
  if (byValue) {
    auto *let = program.make<LetDecl>(param.name.name, param.name.range, v.type);
    call.body.push_back(program.make<LetStmt>(let, v.expr, arg->range));
    entity.decl = let;
  } else {
    entity.place = v.place;
    entity.place.name = param.name.name;
    entity.place.declared = param.name.range;
    entity.place.writable = written;
    if (!isBuffer) {
      entity.place.readable = param.direction != ast::Direction::Out;
    }
    entity.decl = ref ? ref->decl : nullptr;
    if (!ref) {
      auto *view = program.make<ViewDecl>(param.name.name, param.name.range, v.type);
      view->place = v.expr;
      view->space = v.place.space;
      call.body.push_back(program.make<ViewStmt>(view, arg->range));
      entity.decl = view;
    }
  }
  call.env.declare(std::move(entity));
  return true;
}

/// Binds scalars and constants: they have no shape.
static bool isScalarParam(const ast::FunctionParam &p) {
  return p.form == ast::FunctionParam::Value || p.form == ast::FunctionParam::Constant;
}

/// No buffer is passed twice if one of the two is written.
bool Analyzer::checkPassed(TileCall &call) {
  for (auto [i, a] : llvm::enumerate(call.passed)) {
    for (const TileCall::Passed &b : llvm::ArrayRef(call.passed).drop_front(i + 1)) {
      if (a.root == b.root && (a.written || b.written)) {
        report(Id::Alias, b.range, b.name, a.written ? a.param : b.param)
            << note(a.range, "first passed here");
        return false;
      }
    }
  }
  return true;
}

/// Binds a constant, or a scalar that is evaluated once.
bool Analyzer::bindTileScalar(TileCall &call, const ast::FunctionParam &param, Value v) {
  const ast::FunctionItem &item = *call.fn.item;
  if (param.form == ast::FunctionParam::Constant) {
    ConstValue c = v.constant.value_or(ConstValue());
    bool kindOk = param.kind == ast::ParamKind::Int    ? c.isIntLike()
                  : param.kind == ast::ParamKind::Bool ? c.isBool()
                                                       : c.isTypeName();
    if (!v.constant) {
      report(Id::NotConstant, v.range, llvm::Twine("argument `") + param.name.name + "`");
      return false;
    }
    if (!kindOk) {
      report(Id::ArgumentKind, v.range, item.name.name, param.name.name,
             llvm::Twine("of kind `") + ast::spelling(param.kind) + "`");
      return false;
    }
    Entity entity;
    entity.name = param.name.name;
    entity.range = param.name.range;
    entity.constant = c;
    call.env.declare(std::move(entity));
    return true;
  }
  const ast::TypeExpr *element = param.type.element;
  bool open = !element->isVec() && !call.env.find(element->name) &&
              llvm::any_of(item.generics, [&](const ast::GenericParam &g) {
                return g.name.name == element->name;
              });
  if (open) {
    Value typed = withDefaultType(v);
    Entity type;
    type.name = element->name;
    type.range = element->range;
    type.constant = ConstValue::typeName(typed.type.elem);
    call.env.declare(std::move(type));
  }
  Type expected;
  {
    FrameGuard inner(*this);
    frame.env = &call.env;
    expected = resolveType(*element);
  }
  v = coerce(v, expected);
  if (v.isError()) {
    return false;
  }
  auto *let = program.make<LetDecl>(param.name.name, param.name.range, expected);
  call.body.push_back(program.make<LetStmt>(let, materialize(v), v.range));
  Entity entity;
  entity.name = param.name.name;
  entity.range = param.name.range;
  entity.decl = let;
  call.env.declare(std::move(entity));
  return true;
}

Value Analyzer::callTileFunction(const ast::CallExpr *e,
                                 const Module::Imported<ast::FunctionItem> &fn) {
  const ast::FunctionItem &item = *fn.item;
  if (frame.mode != Mode::Block) {
    static constexpr llvm::StringLiteral places[] = {
        "a constant expression", "the host part",      "",
        "a `parallel` loop",     "a `threads` region", "a scalar function"};
    report(Id::CallPlace, e->callee.range, item.name.name, places[unsigned(frame.mode)])
        .hint("a `tile fn` is called from block code");
    return errorValue(e->range);
  }
  llvm::SmallVector<const ast::Expr *> ordered;
  if (!orderArgs(e, item, ordered) || names.isRecursive(fn.item)) {
    return errorValue(e->range);
  }
  DepthGuard depthGuard(*this);
  if (!step(e->range)) {
    return errorValue(e->range);
  }
  TileCall call(fn);
  // Arguments belong to the caller's names, but what they compute is part of the block.
  FrameGuard guard(*this);
  frame.out = &call.body;
  llvm::SmallVector<Value, 4> scalars;
  llvm::SmallVector<unsigned> scalarIndex;
  for (auto [i, param] : llvm::enumerate(item.params)) {
    if (isScalarParam(param)) {
      Value v = operand(ordered[i]);
      if (v.isError()) {
        return errorValue(e->range);
      }
      scalars.push_back(v);
      scalarIndex.push_back(i);
    } else if (!bindTileArg(call, param, ordered[i])) {
      return errorValue(e->range);
    }
  }
  if (!checkPassed(call)) {
    return errorValue(e->range);
  }
  for (auto [index, v] : llvm::zip(scalarIndex, scalars)) {
    if (!bindTileScalar(call, item.params[index], v)) {
      return errorValue(e->range);
    }
  }
  if (!bindGenericDefaults(call.env, item, e->range)) {
    return errorValue(e->range);
  }
  return finishTileCall(call, e->range);
}

Value Analyzer::finishTileCall(TileCall &call, SourceRange range) {
  const ast::FunctionItem &item = *call.fn.item;
  DiagnosticEngine::Context context(engine, range,
                                    llvm::Twine("in a call of `") + item.name.name + "`");
  FrameGuard guard(*this);
  frame.env = &call.env;
  frame.out = &call.body;
  frame.enclosing.push_back(Enclosing::Call);
  frame.annotations = {};
  llvm::SmallVector<Type> types;
  for (const ast::TileType &result : item.results) {
    types.push_back(resolveTileType(result, "a result"));
    if (types.back().isError()) {
      return errorValue(range);
    }
  }
  auto list = item.body.statements;
  auto *last = list.empty() ? nullptr : llvm::dyn_cast<ast::ReturnStmt>(list.back());
  call.env.push();
  for (const ast::Stmt *s : last ? list.drop_back() : list) {
    statement(s);
  }
  llvm::SmallVector<const Expr *> results;
  llvm::SmallVector<const ast::Expr *> values;
  if (last && last->value) {
    if (auto *tuple = llvm::dyn_cast<ast::TupleExpr>(last->value)) {
      values.assign(tuple->elements.begin(), tuple->elements.end());
    } else {
      values.push_back(last->value);
    }
  }
  bool ok = !stopped;
  if (!last && !types.empty()) {
    report(Id::MissingReturn, item.name.range, item.name.name);
    ok = false;
  } else if (values.size() != types.size()) {
    report(Id::ReturnPlace, last->range,
           llvm::Twine("`") + item.name.name + "` has " + llvm::Twine(types.size()) + " results");
    ok = false;
  } else {
    for (auto [value, type] : llvm::zip(values, types)) {
      Value v = coerce(operand(value), type);
      ok &= !v.isError();
      results.push_back(ok ? materialize(v) : nullptr);
    }
  }
  call.env.pop();
  if (!ok) {
    return errorValue(range);
  }
  Type type = types.empty()       ? Type::voidType()
              : types.size() == 1 ? types[0]
                                  : Type(Type::Kind::Tuple);
  auto *block = program.make<BlockExpr>(type, range);
  block->callee = item.name.name;
  block->body = program.list<const Stmt *>(call.body);
  block->results = program.list<const Expr *>(results);
  return exprValue(block);
}

} // namespace tilec::sema
