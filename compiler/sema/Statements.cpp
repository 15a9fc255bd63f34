//===- Statements.cpp - Declarations and assignments ----------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

void Analyzer::emit(Stmt *s) {
  s->annotations = frame.annotations;
  frame.out->push_back(s);
}

Block Analyzer::statements(llvm::ArrayRef<const ast::Stmt *> list) {
  llvm::SmallVector<const Stmt *> out;
  auto *saved = frame.out;
  frame.out = &out;
  for (const ast::Stmt *s : list) {
    statement(s);
  }
  frame.out = saved;
  return program.list<const Stmt *>(out);
}

Block Analyzer::block(const ast::Block &b) {
  frame.env->push();
  Block body = statements(b.statements);
  frame.env->pop();
  return body;
}

/// How messages call a statement.
static std::string describe(const ast::Stmt *s) {
  switch (s->kind) {
  case ast::StmtKind::Const:
    return "`const`";
  case ast::StmtKind::Buffer:
    return ("`" + ast::spelling(llvm::cast<ast::BufferStmt>(s)->bufferKind) + "`").str();
  case ast::StmtKind::Let:
    return "`let`";
  case ast::StmtKind::Var:
    return "`var`";
  case ast::StmtKind::View:
    return "`view`";
  case ast::StmtKind::Launch:
    return "`launch`";
  case ast::StmtKind::Threads:
    return "a `threads` region";
  case ast::StmtKind::Parallel:
    return "`parallel`";
  case ast::StmtKind::For:
    return llvm::cast<ast::ForStmt>(s)->forKind == ast::ForKind::Pipelined ? "a pipelined loop"
                                                                           : "`for`";
  case ast::StmtKind::While:
    return "`while`";
  case ast::StmtKind::If:
    return "`if`";
  case ast::StmtKind::Break:
    return "`break`";
  case ast::StmtKind::Continue:
    return "`continue`";
  case ast::StmtKind::Return:
    return "`return`";
  case ast::StmtKind::Assign:
    return "an assignment";
  case ast::StmtKind::Call:
    return "a call";
  }
  return "this";
}

bool Analyzer::allowed(const ast::Stmt *s) {
  using K = ast::StmtKind;
  K k = s->kind;
  auto *buffer = llvm::dyn_cast<ast::BufferStmt>(s);
  bool workspace = buffer && buffer->bufferKind == ast::BufferKind::Workspace;
  bool pipelined = k == K::For && llvm::cast<ast::ForStmt>(s)->forKind == ast::ForKind::Pipelined;
  if (frame.mode != Mode::Host && (workspace || k == K::Launch)) {
    report(Id::HostOnly, s->range, describe(s));
    return false;
  }
  switch (frame.mode) {
  case Mode::Constant:
    return true;
  case Mode::Host:
    if (k == K::Const || k == K::Let || k == K::View || workspace || k == K::Launch || k == K::If) {
      return true;
    }
    report(Id::HostStatement, s->range, describe(s));
    return false;
  case Mode::Block:
    return true;
  case Mode::Parallel:
    if (k == K::Buffer || k == K::View || k == K::Threads || k == K::Parallel || pipelined) {
      report(Id::ParallelBody, s->range, describe(s));
      return false;
    }
    return true;
  case Mode::Region:
    if (k == K::Buffer || k == K::Threads || k == K::Parallel || pipelined) {
      auto error = report(Id::ThreadBody, s->range, describe(s));
      if (k == K::Buffer) {
        error.hint("declare it in front of the region");
      }
      return false;
    }
    return true;
  case Mode::Fn:
    if (k == K::Buffer || k == K::View || k == K::Threads || k == K::Parallel || pipelined) {
      report(Id::CallPlaceStatement, s->range, describe(s), "a scalar function");
      return false;
    }
    return true;
  }
  return true;
}

void Analyzer::statement(const ast::Stmt *s) {
  DepthGuard guard(*this);
  if (!step(s->range)) {
    return;
  }
  if (!allowed(s)) {
    return;
  }
  StmtAnnotations saved = frame.annotations;
  frame.annotations = llvm::isa<ast::LaunchStmt>(s) ? StmtAnnotations() : stmtAnnotations(s);
  switch (s->kind) {
  case ast::StmtKind::Const:
    constStmt(llvm::cast<ast::ConstStmt>(s));
    break;
  case ast::StmtKind::Buffer:
    if (frame.mode == Mode::Host) {
      workspaceStmt(llvm::cast<ast::BufferStmt>(s));
    } else {
      bufferStmt(llvm::cast<ast::BufferStmt>(s));
    }
    break;
  case ast::StmtKind::Let:
    letStmt(llvm::cast<ast::LetStmt>(s));
    break;
  case ast::StmtKind::Var:
    varStmt(llvm::cast<ast::VarStmt>(s));
    break;
  case ast::StmtKind::View:
    viewStmt(llvm::cast<ast::ViewStmt>(s));
    break;
  case ast::StmtKind::Launch:
    launchStmt(llvm::cast<ast::LaunchStmt>(s));
    break;
  case ast::StmtKind::Threads:
    threadsStmt(llvm::cast<ast::ThreadsStmt>(s));
    break;
  case ast::StmtKind::Parallel:
    parallelStmt(llvm::cast<ast::ParallelStmt>(s));
    break;
  case ast::StmtKind::For:
    forStmt(llvm::cast<ast::ForStmt>(s));
    break;
  case ast::StmtKind::While:
    whileStmt(llvm::cast<ast::WhileStmt>(s));
    break;
  case ast::StmtKind::If:
    ifStmt(llvm::cast<ast::IfStmt>(s));
    break;
  case ast::StmtKind::Break:
    jumpStmt(s, "break");
    break;
  case ast::StmtKind::Continue:
    jumpStmt(s, "continue");
    break;
  case ast::StmtKind::Return:
    returnStmt(llvm::cast<ast::ReturnStmt>(s));
    break;
  case ast::StmtKind::Assign:
    assignStmt(llvm::cast<ast::AssignStmt>(s));
    break;
  case ast::StmtKind::Call:
    callStmt(llvm::cast<ast::CallStmt>(s));
    break;
  }
  frame.annotations = saved;
}

void Analyzer::constStmt(const ast::ConstStmt *s) { frame.env->declare(constantEntity(s->decl)); }

/// Declares a name whose initial value was in error, so that its uses stay silent.
static void declareBroken(Env &env, const ast::Ident &name) {
  Entity e;
  e.name = name.name;
  e.range = name.range;
  e.broken = true;
  env.declare(std::move(e));
}

const LetDecl *Analyzer::declareLet(const ast::Ident &name, const Type &type) {
  auto *let = program.make<LetDecl>(name.name, name.range, type);
  Entity e;
  e.name = name.name;
  e.range = name.range;
  e.decl = let;
  frame.env->declare(std::move(e));
  return let;
}

void Analyzer::letStmt(const ast::LetStmt *s) {
  if (s->isTuple) {
    letTuple(s);
    return;
  }
  Value v = s->type ? part(s->value) : operand(s->value);
  if (s->type) {
    Type type = resolveTileType(s->type, "a `let`");
    v = coerce(v, type);
  } else {
    v = withDefaultType(v);
  }
  if (!v.isError() && !v.type.isValue()) {
    report(Id::TypeMismatchKind, v.range, "a value", v.type.str());
    v = errorValue(v.range);
  }
  if (!v.isError() && frame.mode == Mode::Host && !v.type.isScalar()) {
    report(Id::HostStatement, s->range, "a `let` of a tile");
    v = errorValue(v.range);
  }
  if (!v.isError() && frame.mode == Mode::Fn && !v.type.isScalar()) {
    report(Id::CallPlaceStatement, s->range, "a tile", "a scalar function");
    v = errorValue(v.range);
  }
  if (v.isError()) {
    declareBroken(*frame.env, s->names[0]);
    return;
  }
  const Expr *init = materialize(v);
  const LetDecl *let = declareLet(s->names[0], init->type);
  if (varies(init)) {
    varying.insert(let);
  }
  emit(program.make<LetStmt>(let, init, s->range));
}

static llvm::ArrayRef<Type> tupleTypes(const Expr *e, llvm::SmallVectorImpl<Type> &storage) {
  if (auto *c = llvm::dyn_cast<CallExpr>(e)) {
    return c->resultTypes;
  }
  if (auto *r = llvm::dyn_cast<ReduceFnExpr>(e)) {
    return r->resultTypes;
  }
  if (auto *s = llvm::dyn_cast<ScanFnExpr>(e)) {
    return s->resultTypes;
  }
  if (auto *b = llvm::dyn_cast<BlockExpr>(e)) {
    for (const Expr *result : b->results) {
      storage.push_back(result->type);
    }
  }
  return storage;
}

void Analyzer::letTuple(const ast::LetStmt *s) {
  Value v = analyze(s->value, Want::Value);
  llvm::SmallVector<Type> storage;
  llvm::ArrayRef<Type> types;
  if (v.expr && v.type.kind == Type::Kind::Tuple) {
    types = tupleTypes(v.expr, storage);
  }
  if (!v.isError() && types.size() != s->names.size()) {
    report(Id::TypeMismatchKind, s->value->range, llvm::Twine(s->names.size()) + " values",
           types.empty() ? v.type.str() : std::to_string(types.size()) + " values");
    v = errorValue(v.range);
  }
  if (v.isError()) {
    for (const ast::Ident &name : s->names) {
      declareBroken(*frame.env, name);
    }
    return;
  }
  llvm::SmallVector<const LetDecl *> lets;
  bool vary = varies(v.expr);
  for (auto [name, type] : llvm::zip(s->names, types)) {
    lets.push_back(declareLet(name, type));
    if (vary) {
      varying.insert(lets.back());
    }
  }
  emit(program.make<LetTupleStmt>(program.list<const LetDecl *>(lets), v.expr, s->range));
}

void Analyzer::varStmt(const ast::VarStmt *s) {
  Value v = operand(s->value);
  if (s->type) {
    v = coerce(v, resolveType(*s->type));
  } else {
    v = withDefaultType(v);
  }
  if (!v.isError() && (!v.type.isValue() || v.type.isShaped())) {
    report(Id::TypeMismatchKind, v.range, "a scalar", v.type.str())
        .hint("tiles that change are fragments: `fragment x: f32[..] = e;`");
    v = errorValue(v.range);
  }
  if (v.isError()) {
    declareBroken(*frame.env, s->name);
    return;
  }
  const Expr *init = materialize(v);
  auto *var = program.make<VarDecl>(s->name.name, s->name.range, init->type);
  levels[var] = parallels.size();
  if (frame.mode == Mode::Parallel || (frame.mode == Mode::Region && varies(init))) {
    varying.insert(var);
  }
  Entity e;
  e.name = var->name;
  e.range = var->range;
  e.decl = var;
  frame.env->declare(std::move(e));
  emit(program.make<VarStmt>(var, init, s->range));
}

static Space spaceOf(ast::BufferKind kind) {
  return kind == ast::BufferKind::Shared     ? Space::Shared
         : kind == ast::BufferKind::Fragment ? Space::Fragment
                                             : Space::Local;
}

void Analyzer::bufferStmt(const ast::BufferStmt *s) {
  Space space = spaceOf(s->bufferKind);
  Type type = resolveTileType(s->type, ast::spelling(s->bufferKind).str().c_str());
  if (!type.isError() && space != Space::Local && (type.shape.empty() || type.vecLength)) {
    if (type.vecLength) {
      report(Id::TypeMismatchKind, s->type.range, "a scalar element type", "a vec");
    } else {
      report(Id::RankTile, s->type.range, 0);
    }
    type = Type::error();
  }
  Value init;
  if (s->init) {
    init = coerce(part(s->init), type);
    type = init.isError() ? Type::error() : type;
  }
  if (type.isError()) {
    for (const ast::Ident &name : s->names) {
      declareBroken(*frame.env, name);
    }
    return;
  }
  const Expr *value = s->init ? materialize(init) : nullptr;
  if (value && s->names.size() > 1) {
    // Evaluated once for all names.
    auto *let = program.make<LetDecl>(s->names[0].name, s->init->range, type);
    emit(program.make<LetStmt>(let, value, s->init->range));
    value = program.make<RefExpr>(let, Space::Value, s->init->range);
  }
  LayoutChoice layout;
  for (const ast::Annotation &a : s->annotations) {
    if (a.name.name == "layout") {
      layout = layoutAnnotation(a, s);
    }
  }
  for (const ast::Ident &name : s->names) {
    auto *buffer = program.make<BufferDecl>(name.name, name.range, type, space);
    buffer->layout = layout;
    Entity e;
    e.name = name.name;
    e.range = name.range;
    e.decl = buffer;
    e.place = {buffer, space, name.name, name.range, true, true, space == Space::Shared};
    frame.env->declare(std::move(e));
    emit(program.make<BufferStmt>(buffer, value, s->range));
  }
}

void Analyzer::viewStmt(const ast::ViewStmt *s) {
  Value v = analyze(s->value, Want::Place);
  Space space = v.place.space;
  bool global = space == Space::Tensor || space == Space::Workspace;
  bool ok =
      global || (frame.mode != Mode::Host && (space == Space::Shared || space == Space::Fragment));
  if (!v.isError() && (!ok || !v.type.isShaped())) {
    report(Id::TypeMismatchKind, s->value->range,
           "part of a tensor, workspace, shared buffer or fragment",
           v.isPlace() && v.type.isShaped() ? llvm::Twine("`") + v.place.name + "`"
                                            : llvm::Twine("a value"));
    v = errorValue(v.range);
  }
  if (v.isError()) {
    declareBroken(*frame.env, s->name);
    return;
  }
  auto *view = program.make<ViewDecl>(s->name.name, s->name.range, v.type);
  view->place = v.expr;
  view->space = space;
  Entity e;
  e.name = view->name;
  e.range = view->range;
  e.decl = view;
  e.place = v.place;
  e.place.name = view->name;
  frame.env->declare(std::move(e));
  emit(program.make<ViewStmt>(view, s->range));
}

void Analyzer::callStmt(const ast::CallStmt *s) {
  Value v = analyzeCall(s->call);
  if (v.expr && !v.isError() && !v.isPlace()) {
    emit(program.make<EvaluateStmt>(v.expr, s->range));
  }
}

} // namespace tilec::sema
