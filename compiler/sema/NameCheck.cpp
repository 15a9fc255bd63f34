//===- NameCheck.cpp - Names of code that may never be elaborated ---------===//
#include "compiler/sema/NameCheck.h"

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/sema/Builtins.h"
#include "compiler/sema/NamesOfOthers.h"
#include "compiler/sema/Request.h"

namespace tilec::sema {

using diag::Id;

bool NameCheck::visible(llvm::StringRef name) const {
  for (const Scope &scope : scopes) {
    if (scope.count(name)) {
      return true;
    }
  }
  return module->consts.count(name) || isPredefinedName(name);
}

llvm::SmallVector<llvm::StringRef> NameCheck::namesOf(Kind kind) const {
  llvm::SmallVector<llvm::StringRef> names;
  if (kind == Kind::Kernel) {
    llvm::append_range(names, module->kernels.keys());
    llvm::sort(names);
    return names;
  }
  for (const Scope &scope : scopes) {
    llvm::append_range(names, scope.keys());
  }
  llvm::append_range(names, module->consts.keys());
  if (kind == Kind::Function) {
    llvm::append_range(names, module->functions.keys());
    llvm::append_range(names, builtinNames());
  }
  llvm::sort(names); // maps have no order
  for (int i = 0; i != tile_rt::kNumDTypes; ++i) {
    names.push_back(scalarName(Scalar(i)));
  }
  names.append({"ARCH", "inf", "nan", "log2e"}); // of shorter ones nothing is near
  return names;
}

void NameCheck::suggest(DiagnosticEngine::Builder &builder, llvm::StringRef name, Kind kind) const {
  llvm::StringRef type = typeOfOthers(name);
  llvm::StringRef function = kind == Kind::Function ? functionOfOthers(name) : "";
  if (!function.empty()) {
    builder.hint(function);
  } else if (!type.empty()) {
    builder.hint("did you mean `" + type + "`?");
  } else {
    builder.meant(name, namesOf(kind));
  }
}

void NameCheck::declare(const ast::Ident &name) {
  if (!name) {
    return;
  }
  if (isPredefinedName(name.name)) {
    engine.report(Id::RedeclaredBuiltin, name.range, name.name);
    return;
  }
  llvm::SMRange first;
  for (const Scope &scope : scopes) {
    auto it = scope.find(name.name);
    first = it != scope.end() ? it->second : first;
  }
  auto constant = module->consts.find(name.name);
  if (constant != module->consts.end()) {
    first = constant->second->item->decl.name.range;
  }
  if (first.isValid()) {
    engine.report(Id::Redeclared, name.range, name.name) << note(first, "first declared here");
    return;
  }
  scopes.back()[name.name] = name.range;
}

void NameCheck::check(const Module &m) {
  module = &m;
  scopes.clear();
  for (const ast::Item *item : m.file->ast->items) {
    push();
    if (auto *c = llvm::dyn_cast<ast::ConstItem>(item)) {
      constant(c->decl);
    } else if (auto *f = llvm::dyn_cast<ast::FunctionItem>(item)) {
      function(*f);
    } else if (auto *k = llvm::dyn_cast<ast::KernelItem>(item)) {
      kernel(*k);
    } else if (auto *i = llvm::dyn_cast<ast::InstantiateItem>(item)) {
      checkInstantiate(m, *i);
    } else if (auto *t = llvm::dyn_cast<ast::TuneItem>(item)) {
      tune(*t);
    }
    pop();
  }
}

void NameCheck::constant(const ast::ConstDecl &c) {
  if (c.type) {
    tileType(c.type);
  }
  if (auto *list = llvm::dyn_cast<ast::ListExpr>(c.value)) {
    for (const ast::Expr *e : list->elements) {
      expr(e);
    }
  } else {
    expr(c.value);
  }
}

void NameCheck::generics(llvm::ArrayRef<ast::GenericParam> list) {
  for (const ast::GenericParam &g : list) {
    if (g.defaultValue) {
      expr(g.defaultValue);
    }
    declare(g.name);
  }
}

void NameCheck::openNames(llvm::ArrayRef<const ast::Expr *> shape) {
  for (const ast::Expr *e : shape) {
    auto *name = llvm::dyn_cast<ast::NameExpr>(e);
    if (name && !visible(name->name)) {
      declare({name->name, name->range});
    }
  }
}

void NameCheck::function(const ast::FunctionItem &f) {
  current = &f;
  order.push_back(&f);
  generics(f.generics);
  for (const ast::FunctionParam &p : f.params) {
    if (p.form == ast::FunctionParam::Buffer || p.form == ast::FunctionParam::Tensor) {
      openNames(p.type.shape);
    }
  }
  for (const ast::FunctionParam &p : f.params) {
    if (p.form != ast::FunctionParam::Constant) {
      tileType(p.type);
    }
    declare(p.name);
  }
  for (const ast::TileType &t : f.results) {
    tileType(t);
  }
  block(f.body);
  current = nullptr;
}

void NameCheck::extentNames(const ast::Expr *e, bool sums) {
  if (auto *c = llvm::dyn_cast<ast::ConditionalExpr>(e)) {
    extentNames(c->whenTrue, sums);
    extentNames(c->whenFalse, sums);
    return;
  }
  if (sums) {
    auto *b = llvm::dyn_cast<ast::BinaryExpr>(e);
    bool sum = b && (b->op == ast::BinaryOp::Add || b->op == ast::BinaryOp::Subtract);
    if (!sum) {
      return;
    }
    e = b->left;
  }
  auto *name = llvm::dyn_cast<ast::NameExpr>(e);
  if (name && !visible(name->name)) {
    declare({name->name, name->range});
  }
}

void NameCheck::kernel(const ast::KernelItem &k) {
  generics(k.generics);
  for (const ast::KernelParam &p : k.params) {
    declare(p.name);
  }
  for (bool sums : {false, true}) {
    for (const ast::KernelParam &p : k.params) {
      for (const ast::Expr *e : p.type.shape) {
        extentNames(e, sums);
      }
    }
  }
  for (const ast::KernelParam &p : k.params) {
    tileType(p.type);
    if (p.align) {
      expr(p.align);
    }
  }
  for (const ast::Expr *e : k.where) {
    expr(e);
  }
  block(k.body);
}

void NameCheck::checkInstantiate(const Module &m, const ast::InstantiateItem &item) {
  module = &m;
  auto it = m.kernels.find(item.kernel.name);
  if (it == m.kernels.end()) {
    engine.report(Id::UndeclaredKernel, item.kernel.range, item.kernel.name)
        .meant(item.kernel.name, namesOf(Kind::Kernel));
    return;
  }
  for (const ast::Given &g : item.given) {
    if (g.value) {
      expr(g.value);
    }
  }
  push();
  for (const ast::GenericParam &g : it->second.item->generics) {
    scopes.back()[g.name.name] = g.name.range;
  }
  for (const ast::Expr *e : item.where) {
    expr(e);
  }
  pop();
}

static llvm::SmallVector<llvm::StringRef>
namesOfGenerics(llvm::ArrayRef<ast::GenericParam> generics) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const ast::GenericParam &g : generics) {
    names.push_back(g.name.name);
  }
  return names;
}

void NameCheck::tune(const ast::TuneItem &t) {
  auto it = module->kernels.find(t.kernel.name);
  if (it == module->kernels.end()) {
    engine.report(Id::UndeclaredKernel, t.kernel.range, t.kernel.name)
        .meant(t.kernel.name, namesOf(Kind::Kernel));
    return;
  }
  for (const ast::GenericParam &g : it->second.item->generics) {
    scopes.back()[g.name.name] = g.name.range;
  }
  for (const ast::TuneParam &p : t.params) {
    if (!scopes.back().count(p.name.name)) {
      engine.report(Id::TuneParameter, p.name.range, t.kernel.name, p.name.name)
              .meant(p.name.name, namesOfGenerics(it->second.item->generics))
          << note(it->second.item->name.range, "the kernel is declared here");
    }
    if (p.list) {
      for (const ast::Expr *e : p.list->elements) {
        expr(e);
      }
      continue;
    }
    for (const ast::Expr *e : {p.bounds.first, p.bounds.last, p.bounds.step}) {
      if (e) {
        expr(e);
      }
    }
  }
  if (isUnknown(*it->second.item, "ALIGNMENT")) {
    scopes.back().insert({"ALIGNMENT", SourceRange()}); // Tune.cpp
  }
  for (const ast::Expr *e : t.where) {
    expr(e);
  }
  if (t.keep) {
    expr(t.keep);
  }
}

void NameCheck::type(const ast::TypeExpr &t) {
  if (t.isVec()) {
    type(*t.element);
    expr(t.count);
  } else if (!visible(t.name)) {
    auto builder = engine.report(Id::UndeclaredType, t.range, t.name);
    suggest(builder, t.name, Kind::Value);
  }
}

void NameCheck::tileType(const ast::TileType &t) {
  if (t.element) {
    type(*t.element);
  }
  for (const ast::Expr *e : t.shape) {
    expr(e);
  }
}

void NameCheck::expr(const ast::Expr *e) {
  switch (e->kind) {
  case ast::ExprKind::Name: {
    auto *name = llvm::cast<ast::NameExpr>(e);
    if (!visible(name->name)) {
      engine.report(Id::Undeclared, e->range, name->name).meant(name->name, namesOf(Kind::Value));
    }
    return;
  }
  case ast::ExprKind::Call:
    return call(llvm::cast<ast::CallExpr>(e));
  case ast::ExprKind::Index: {
    auto *index = llvm::cast<ast::IndexExpr>(e);
    expr(index->base);
    for (const ast::Subscript &s : index->subscripts) {
      for (const ast::Expr *part : {s.first, s.second}) {
        if (part) {
          expr(part);
        }
      }
    }
    return;
  }
  case ast::ExprKind::Unary:
    return expr(llvm::cast<ast::UnaryExpr>(e)->operand);
  case ast::ExprKind::Binary: {
    // A chain of operators is as deep as it is long, on the left.
    auto *b = llvm::cast<ast::BinaryExpr>(e);
    expr(b->left);
    return expr(b->right);
  }
  case ast::ExprKind::Conditional: {
    auto *c = llvm::cast<ast::ConditionalExpr>(e);
    expr(c->condition);
    expr(c->whenTrue);
    return expr(c->whenFalse);
  }
  case ast::ExprKind::Tuple:
    for (const ast::Expr *x : llvm::cast<ast::TupleExpr>(e)->elements) {
      expr(x);
    }
    return;
  case ast::ExprKind::List:
    for (const ast::Expr *x : llvm::cast<ast::ListExpr>(e)->elements) {
      expr(x);
    }
    return;
  default:
    return;
  }
}

void NameCheck::call(const ast::CallExpr *e) {
  llvm::StringRef name = e->callee.name;
  auto fn = module->functions.find(name);
  const BuiltinInfo *builtin = fn == module->functions.end() ? findBuiltin(name) : nullptr;
  if (fn != module->functions.end()) {
    if (current) {
      calls[current].push_back({fn->second.item, e->callee.range});
    }
  } else if (!builtin && !visible(name)) {
    auto builder = engine.report(Id::UndeclaredFunction, e->callee.range, name);
    if (module->kernels.count(name)) {
      builder.hint("`" + name + "` is a kernel, which only programs launch");
    } else {
      suggest(builder, name, Kind::Function);
    }
  }
  for (auto [i, arg] : llvm::enumerate(e->args)) {
    if (builtin) {
      // Words and names of functions are no variables.
      const BuiltinParam *param = nullptr;
      if (!arg.name) {
        param = i < builtin->params.size() ? &builtin->params[i] : nullptr;
      } else {
        auto it = llvm::find_if(builtin->params,
                                [&](const BuiltinParam &p) { return p.name == arg.name.name; });
        param = it != builtin->params.end() ? it : nullptr;
      }
      auto *word = llvm::dyn_cast<ast::NameExpr>(arg.value);
      if (param && param->word && word) {
        auto callee = module->functions.find(word->name);
        if (current && callee != module->functions.end()) {
          calls[current].push_back({callee->second.item, word->range});
        }
        continue;
      }
    }
    expr(arg.value);
  }
}

void NameCheck::block(const ast::Block &b) {
  push();
  for (const ast::Stmt *s : b.statements) {
    statement(s);
  }
  pop();
}

void NameCheck::loop(const ast::ForStmt *s) {
  for (const ast::Expr *e : {s->bounds.first, s->bounds.last, s->bounds.step}) {
    if (e) {
      expr(e);
    }
  }
  for (const ast::Arg &option : s->options) {
    expr(option.value);
  }
  push();
  declare(s->variable);
  block(s->body);
  pop();
}

void NameCheck::binders(llvm::ArrayRef<ast::Ident> names) {
  for (const ast::Ident &name : names) {
    declare(name);
  }
}

void NameCheck::axes(llvm::ArrayRef<ast::Axis> list) {
  for (const ast::Axis &a : list) {
    expr(a.extent);
  }
  for (const ast::Axis &a : list) {
    declare(a.name);
  }
}

void NameCheck::launch(const ast::LaunchStmt *s) {
  for (const ast::Expr *e : s->grid) {
    expr(e);
  }
  if (s->threadCount) {
    expr(s->threadCount);
  }
  push();
  binders(s->binder);
  axes(s->axes);
  block(s->body);
  pop();
}

void NameCheck::statement(const ast::Stmt *s) {
  switch (s->kind) {
  case ast::StmtKind::Const:
    constant(llvm::cast<ast::ConstStmt>(s)->decl);
    return declare(llvm::cast<ast::ConstStmt>(s)->decl.name);
  case ast::StmtKind::Buffer: {
    auto *b = llvm::cast<ast::BufferStmt>(s);
    tileType(b->type);
    if (b->init) {
      expr(b->init);
    }
    return binders(b->names);
  }
  case ast::StmtKind::Let: {
    auto *l = llvm::cast<ast::LetStmt>(s);
    if (l->type) {
      tileType(l->type);
    }
    expr(l->value);
    return binders(l->names);
  }
  case ast::StmtKind::Var: {
    auto *v = llvm::cast<ast::VarStmt>(s);
    if (v->type) {
      type(*v->type);
    }
    expr(v->value);
    return declare(v->name);
  }
  case ast::StmtKind::View:
    expr(llvm::cast<ast::ViewStmt>(s)->value);
    return declare(llvm::cast<ast::ViewStmt>(s)->name);
  case ast::StmtKind::Launch:
    return launch(llvm::cast<ast::LaunchStmt>(s));
  case ast::StmtKind::Threads:
    push();
    axes(llvm::cast<ast::ThreadsStmt>(s)->axes);
    block(llvm::cast<ast::ThreadsStmt>(s)->body);
    return pop();
  case ast::StmtKind::Parallel:
    expr(llvm::cast<ast::ParallelStmt>(s)->domain);
    push();
    binders(llvm::cast<ast::ParallelStmt>(s)->binder);
    block(llvm::cast<ast::ParallelStmt>(s)->body);
    return pop();
  case ast::StmtKind::For:
    return loop(llvm::cast<ast::ForStmt>(s));
  case ast::StmtKind::While:
    expr(llvm::cast<ast::WhileStmt>(s)->condition);
    return block(llvm::cast<ast::WhileStmt>(s)->body);
  case ast::StmtKind::If: {
    auto *i = llvm::cast<ast::IfStmt>(s);
    expr(i->condition);
    block(i->thenBlock);
    if (i->elseBlock) {
      block(*i->elseBlock);
    }
    return;
  }
  case ast::StmtKind::Return:
    if (const ast::Expr *value = llvm::cast<ast::ReturnStmt>(s)->value) {
      expr(value);
    }
    return;
  case ast::StmtKind::Assign:
    expr(llvm::cast<ast::AssignStmt>(s)->target);
    return expr(llvm::cast<ast::AssignStmt>(s)->value);
  case ast::StmtKind::Call:
    return call(llvm::cast<ast::CallStmt>(s)->call);
  default:
    return;
  }
}

void NameCheck::checkRecursion() {
  enum Colour : char { White, Grey, Black };
  llvm::DenseMap<const ast::FunctionItem *, Colour> colour;
  struct Level {
    const ast::FunctionItem *fn;
    size_t next = 0;
  };
  for (const ast::FunctionItem *root : order) {
    if (colour.lookup(root) != White) {
      continue;
    }
    // By hand: a chain of functions may be as long as the file.
    std::vector<Level> stack = {{root}};
    colour[root] = Grey;
    while (!stack.empty()) {
      Level &top = stack.back();
      auto &list = calls[top.fn];
      if (top.next == list.size()) {
        colour[top.fn] = Black;
        stack.pop_back();
        continue;
      }
      Call c = list[top.next++];
      if (colour.lookup(c.callee) == White) {
        colour[c.callee] = Grey;
        stack.push_back({c.callee});
      } else if (colour.lookup(c.callee) == Grey) {
        std::string path;
        bool on = false;
        for (const Level &level : stack) {
          on |= level.fn == c.callee;
          if (on) {
            recursive.insert(level.fn);
            path += path.size() < 200 ? level.fn->name.name.str() + " -> " : "";
          }
        }
        engine.report(Id::Recursion, c.range, c.callee->name.name,
                      path + c.callee->name.name.str());
      }
    }
  }
}

} // namespace tilec::sema
