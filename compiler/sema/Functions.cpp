//===- Functions.cpp - Instances and calls of scalar functions ------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

bool kindMatches(ast::ParamKind kind, const ConstValue &v) {
  switch (kind) {
  case ast::ParamKind::Int:
    return v.isIntLike();
  case ast::ParamKind::Bool:
    return v.isBool();
  case ast::ParamKind::Type:
    return v.isTypeName();
  }
  return false;
}

static const ast::GenericParam *findGeneric(const ast::FunctionItem &fn, llvm::StringRef name) {
  auto it =
      llvm::find_if(fn.generics, [&](const ast::GenericParam &g) { return g.name.name == name; });
  return it == fn.generics.end() ? nullptr : it;
}

static void declareConstant(Env &env, const ast::Ident &name, ConstValue v) {
  Entity e;
  e.name = name.name;
  e.range = name.range;
  e.constant = std::move(v);
  env.declare(std::move(e));
}

/// Gives the compile-time parameters that the arguments left open their defaults.
bool Analyzer::bindGenericDefaults(Env &env, const ast::FunctionItem &fn, SourceRange range) {
  for (const ast::GenericParam &g : fn.generics) {
    if (env.find(g.name.name)) {
      continue;
    }
    if (!g.defaultValue) {
      report(Id::CannotInfer, range, g.name.name, fn.name.name)
          << note(g.name.range, "declared here");
      return false;
    }
    FrameGuard guard(*this);
    frame = Frame();
    frame.env = &env;
    Value v = operand(g.defaultValue);
    if (v.isError()) {
      return false;
    }
    if (!v.constant || !kindMatches(g.kind, *v.constant)) {
      report(Id::NotConstant, g.defaultValue->range, "a default value");
      return false;
    }
    declareConstant(env, g.name, *v.constant);
  }
  return true;
}

bool Analyzer::inferFunction(const Module::Imported<ast::FunctionItem> &fn,
                             llvm::MutableArrayRef<Value> args, Env &env, SourceRange range) {
  // Typed arguments first: literals then adapt to what they bind.
  for (bool untyped : {false, true}) {
    for (auto [param, arg] : llvm::zip(fn.item->params, args)) {
      if (param.form == ast::FunctionParam::Constant) {
        if (untyped) {
          continue;
        }
        if (!arg.constant) {
          report(Id::NotConstant, arg.range, llvm::Twine("argument `") + param.name.name + "`");
          return false;
        }
        if (!kindMatches(param.kind, *arg.constant)) {
          report(Id::ArgumentKind, arg.range, fn.item->name.name, param.name.name,
                 llvm::Twine("of kind `") + ast::spelling(param.kind) + "`");
          return false;
        }
        declareConstant(env, param.name, *arg.constant);
        continue;
      }
      if (!param.type || param.type.element->isVec() || arg.isUntyped() != untyped) {
        continue;
      }
      const ast::GenericParam *g = findGeneric(*fn.item, param.type.element->name);
      if (g && g->kind == ast::ParamKind::Type && !env.find(g->name.name)) {
        Value typed = withDefaultType(arg);
        if (typed.isError() || !typed.type.isValue()) {
          return false;
        }
        declareConstant(env, g->name, ConstValue::typeName(typed.type.elem));
      }
    }
  }
  return bindGenericDefaults(env, *fn.item, range);
}

const Function *Analyzer::instantiate(const Module::Imported<ast::FunctionItem> &fn,
                                      llvm::MutableArrayRef<Value> args, SourceRange range) {
  if (names.isRecursive(fn.item)) {
    return nullptr; // reported
  }
  Env env(fn.home);
  if (!inferFunction(fn, args, env, range)) {
    return nullptr;
  }
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(fn.item));
  {
    FrameGuard guard(*this);
    frame = Frame();
    frame.env = &env;
    for (auto [param, arg] : llvm::zip(fn.item->params, args)) {
      if (param.form == ast::FunctionParam::Constant) {
        key += "," + arg.constant->str();
        continue;
      }
      if (param.form != ast::FunctionParam::Value) {
        report(Id::TypeMismatchKind, param.range, "a scalar parameter of `fn`", "a buffer")
            .hint("declare the function `tile fn`");
        return nullptr;
      }
      auto type = resolveScalar(*param.type.element);
      if (!type) {
        return nullptr;
      }
      arg = coerce(arg, arg.isUntyped() ? Type(*type) : arg.type.withElem(*type));
      if (arg.isError()) {
        return nullptr;
      }
      key += "," + scalarName(*type).str();
    }
  }
  for (const ast::GenericParam &g : fn.item->generics) {
    key += ";" + env.find(g.name.name)->constant->str();
  }
  auto [it, isNew] = instances.try_emplace(key, nullptr);
  if (isNew) {
    DiagnosticEngine::Context context(engine, range,
                                      llvm::Twine("in a call of `") + fn.item->name.name + "`");
    const uint64_t before = steps;
    Function *made = elaborateFunction(fn, env, args);
    if (made) {
      made->size = steps - before;
    }
    instances[key] = made;
    return made;
  }
  // Each call is inlined.
  steps += it->second ? it->second->size : 0;
  return step(range) ? it->second : nullptr;
}

Function *Analyzer::elaborateFunction(const Module::Imported<ast::FunctionItem> &fn, Env &env,
                                      llvm::ArrayRef<Value> args) {
  const ast::FunctionItem &item = *fn.item;
  DepthGuard depthGuard(*this);
  if (!step(item.range)) {
    return nullptr;
  }
  FrameGuard guard(*this);
  frame = Frame();
  frame.env = &env;
  frame.mode = Mode::Fn;
  auto *function = program.make<Function>();
  function->name = item.name.name;
  function->range = item.name.range;
  llvm::SmallVector<const FnParam *> params;
  for (auto [param, arg] : llvm::zip(item.params, args)) {
    if (param.form == ast::FunctionParam::Constant) {
      continue;
    }
    auto *p = program.make<FnParam>(param.name.name, param.name.range, Type(arg.type.elem),
                                    params.size());
    params.push_back(p);
    Entity e;
    e.name = p->name;
    e.range = p->range;
    e.decl = p;
    env.declare(std::move(e));
  }
  llvm::SmallVector<Type> results;
  for (const ast::TileType &result : item.results) {
    if (!result.shape.empty()) {
      report(Id::TypeMismatchKind, result.range, "a scalar result of `fn`", "a tile");
      return nullptr;
    }
    auto type = resolveScalar(*result.element);
    if (!type) {
      return nullptr;
    }
    results.push_back(Type(*type));
  }
  if (results.empty()) {
    report(Id::MissingReturn, item.name.range, item.name.name)
        .hint("give the function a result: `-> T`");
    return nullptr;
  }
  unsigned errors = engine.numErrors();
  frame.fnResults = &results;
  frame.hasWrongReturn = false;
  env.push();
  Block body = statements(item.body.statements);
  env.pop();
  if (engine.numErrors() == errors && !stopped && !frame.hasWrongReturn && !alwaysReturns(body)) {
    report(Id::MissingReturn, item.name.range, item.name.name);
  }
  function->params = program.list<const FnParam *>(params);
  function->resultTypes = program.list<Type>(results);
  function->body = body;
  program.functions.push_back(function);
  return function;
}

bool Analyzer::alwaysReturns(llvm::ArrayRef<const Stmt *> block) {
  for (const Stmt *s : block) {
    if (llvm::isa<ReturnStmt>(s)) {
      return true;
    }
    if (auto *scope = llvm::dyn_cast<ScopeStmt>(s); scope && alwaysReturns(scope->body)) {
      return true;
    }
    if (auto *i = llvm::dyn_cast<IfStmt>(s);
        i && alwaysReturns(i->thenBody) && alwaysReturns(i->elseBody)) {
      return true;
    }
  }
  return false;
}

Value Analyzer::callFunction(const ast::CallExpr *e,
                             const Module::Imported<ast::FunctionItem> &fn) {
  llvm::StringRef name = fn.item->name.name;
  if (frame.mode == Mode::Host || frame.mode == Mode::Constant) {
    report(Id::CallPlace, e->callee.range, name,
           frame.mode == Mode::Host ? "the host part" : "a constant expression")
        .hint("functions of the source are code of a GPU: write the expression here");
    return errorValue(e->range);
  }
  llvm::SmallVector<const ast::Expr *> ordered;
  if (!orderArgs(e, *fn.item, ordered)) {
    return errorValue(e->range);
  }
  llvm::SmallVector<Value, 4> args;
  Value shape; // the first tile or vec: what the function is mapped over
  for (const ast::Expr *arg : ordered) {
    args.push_back(part(arg));
    if (args.back().isError()) {
      return errorValue(e->range);
    }
    if (shape.isError() && args.back().type.isValue() && !args.back().type.isScalar()) {
      shape = args.back();
    }
  }
  const Function *callee = instantiate(fn, args, e->range);
  if (!callee) {
    return errorValue(e->range);
  }
  llvm::SmallVector<Value *> given;
  for (auto [param, arg] : llvm::zip(fn.item->params, args)) {
    if (param.form != ast::FunctionParam::Constant) {
      given.push_back(&arg);
    }
  }
  llvm::SmallVector<const Expr *> operands;
  for (bool last : {false, true}) { // first to see which shape they have together
    for (Value *arg : given) {
      if (!shape.isError() && !unifyShapes(shape, *arg, e->range)) {
        return errorValue(e->range);
      }
      if (last) {
        operands.push_back(materialize(*arg));
      }
    }
  }
  llvm::SmallVector<Type> types;
  for (const Type &t : callee->resultTypes) {
    types.push_back(shape.isError() ? t : shape.type.withElem(t.elem));
  }
  if (types.size() != 1 && !shape.isError() && !checkClosed(shape)) {
    return errorValue(e->range);
  }
  Type type = types.size() == 1 ? types[0] : Type(Type::Kind::Tuple);
  auto *call = program.make<CallExpr>(callee, program.list<const Expr *>(operands), type, e->range);
  call->resultTypes = program.list<Type>(types);
  return exprValue(call);
}

} // namespace tilec::sema
