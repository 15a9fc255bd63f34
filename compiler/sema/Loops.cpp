//===- Loops.cpp - Branches, loops, jumps ---------------------------------===//
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

void Analyzer::ifStmt(const ast::IfStmt *s) {
  Value c = condition(s->condition);
  if (c.isError()) {
    return;
  }
  if (c.constant) {
    const ast::Block *chosen = c.constant->i ? &s->thenBlock : s->elseBlock;
    if (chosen) {
      Block body = block(*chosen);
      if (!body.empty()) {
        emit(program.make<ScopeStmt>(body, s->range));
      }
    }
    return;
  }
  size_t known = kernel.present.size();
  ++kernel.conditionDepth;
  notePresent(s->condition, true, kernel.present);
  Block thenBody = block(s->thenBlock), elseBody;
  kernel.present.resize(known);
  if (s->elseBlock) {
    notePresent(s->condition, false, kernel.present);
    elseBody = block(*s->elseBlock);
    kernel.present.resize(known);
  }
  --kernel.conditionDepth;
  emit(program.make<IfStmt>(materialize(c), thenBody, elseBody, s->range));
}

void Analyzer::whileStmt(const ast::WhileStmt *s) {
  ++kernel.conditionDepth;
  Value c = condition(s->condition);
  bool never = c.constant && !c.constant->i;
  if (!c.isError() && !never) {
    frame.enclosing.push_back(Enclosing::SerialLoop);
    Block body = block(s->body);
    frame.enclosing.pop_back();
    auto *loop = program.make<WhileStmt>(materialize(c), body, s->range);
    checkSpin(*loop);
    emit(loop);
  }
  --kernel.conditionDepth;
}

/// An option of a loop; null after a diagnostic.
std::optional<int64_t> Analyzer::loopOption(const ast::Arg &option, Id outside, int64_t most) {
  std::optional<int64_t> amount =
      constantInt(option.value, llvm::Twine("`") + option.name.name + "`");
  if (amount && (*amount < 1 || *amount > most)) {
    report(outside, option.value->range, *amount);
    return std::nullopt;
  }
  return amount;
}

/// `stages`, `hold` and `turns` of a pipelined loop, `factor` of an unrolled one, as far as they are given. False after
/// a diagnostic.
bool Analyzer::loopOptions(const ast::ForStmt *s, ForStmt &loop) {
  const bool pipelined = s->forKind == ast::ForKind::Pipelined;
  const llvm::StringRef kind = pipelined ? "pipelined" : "unrolled";
  struct Option {
    llvm::StringRef word;
    int64_t &amount;
    Id outside;
    int64_t most;
  };
  const Option options[] = {{"factor", loop.factor, Id::Factor, INT32_MAX},
                            {"stages", loop.stages, Id::Stages, INT32_MAX},
                            {"hold", loop.hold, Id::Hold, 100}};
  const llvm::ArrayRef<Option> known =
      pipelined ? llvm::ArrayRef(options).drop_front() : llvm::ArrayRef(options).take_front();
  bool hasTurns = false;
  for (const ast::Arg &given : s->options) {
    if (pipelined && given.name.name == "turns") {
      if (hasTurns) {
        report(Id::ArgumentTwice, given.name.range, kind, "turns");
        return false;
      }
      std::optional<bool> turns = constantBool(given.value, "`turns`");
      if (!turns) {
        return false;
      }
      hasTurns = true;
      loop.turns = *turns;
      continue;
    }
    const Option *option =
        llvm::find_if(known, [&](const Option &o) { return o.word == given.name.name; });
    if (option == known.end()) {
      llvm::SmallVector<llvm::StringRef> words;
      for (const Option &o : known) {
        words.push_back(o.word);
      }
      if (pipelined) {
        words.push_back("turns");
      }
      report(Id::ArgumentName, given.name.range, kind, given.name.name)
          .meant(given.name.name, words);
      return false;
    }
    if (option->amount != 0) {
      report(Id::ArgumentTwice, given.name.range, kind, option->word);
      return false;
    }
    std::optional<int64_t> amount = loopOption(given, option->outside, option->most);
    if (!amount) {
      return false;
    }
    option->amount = *amount;
  }
  if (pipelined && loop.stages == 0) {
    report(Id::ArgumentMissing, s->kindRange, "pipelined", "stages");
    return false;
  }
  return true;
}

void Analyzer::forStmt(const ast::ForStmt *s) {
  Value lo = operand(s->bounds.first), hi = operand(s->bounds.last);
  Value step = s->bounds.step ? operand(s->bounds.step)
                              : constantValue(ConstValue::untyped(Int128(1)), s->bounds.range);
  if (lo.isError() || hi.isError() || step.isError()) {
    return;
  }
  for (const Value *v : {&lo, &hi, &step}) {
    bool integer =
        v->type.kind == Type::Kind::UntypedInt || (v->type.isScalar() && isInteger(v->type.elem));
    if (!integer) {
      report(Id::TypeMismatchKind, v->range, "an integer", v->type.str());
      return;
    }
  }
  Scalar type = !lo.isUntyped() ? scalarOf(lo) : !hi.isUntyped() ? scalarOf(hi) : Scalar::I32;
  for (Value *v : {&lo, &hi, &step}) {
    *v = coerce(*v, Type(type));
    if (v->isError()) {
      return;
    }
  }
  if (step.constant && step.constant->i <= 0) {
    report(Id::LoopStep, step.range, step.constant->str());
    return;
  }
  auto *loop = program.make<ForStmt>(s->range);
  Enclosing kind = Enclosing::SerialLoop;
  if (s->forKind != ast::ForKind::Serial) {
    bool pipelined = s->forKind == ast::ForKind::Pipelined;
    if (!loopOptions(s, *loop)) {
      return;
    }
    kind = pipelined ? Enclosing::PipelinedLoop : Enclosing::UnrolledLoop;
    loop->mode = pipelined ? ForStmt::Mode::Pipelined : ForStmt::Mode::Unrolled;
    if (!pipelined && loop->factor == 0) {
      unrollFully(s, lo, hi, step);
      return;
    }
  }
  auto *index = program.make<IndexDecl>(s->variable.name, s->variable.range, Type(type),
                                        IndexDecl::Role::Loop);
  loop->decl = index;
  loop->lo = materialize(lo);
  loop->hi = materialize(hi);
  loop->step = s->bounds.step ? materialize(step) : nullptr;
  if (varies(loop->lo) || varies(loop->hi) || (loop->step && varies(loop->step))) {
    varying.insert(index);
  }
  frame.env->push();
  declareIndex(index);
  frame.enclosing.push_back(kind);
  ++kernel.conditionDepth;
  loop->body = block(s->body);
  --kernel.conditionDepth;
  frame.enclosing.pop_back();
  frame.env->pop();
  emit(loop);
}

void Analyzer::declareIndex(const IndexDecl *decl) {
  Entity e;
  e.name = decl->name;
  e.range = decl->range;
  e.decl = decl;
  frame.env->declare(std::move(e));
}

/// The variable of a fully unrolled loop is a constant, so each iteration is analysed by itself.
void Analyzer::unrollFully(const ast::ForStmt *s, const Value &lo, const Value &hi,
                           const Value &step) {
  for (const Value *v : {&lo, &hi, &step}) {
    if (!v->constant) {
      report(Id::NotConstant, v->range, "a bound of a fully unrolled loop")
          .hint("give a factor: `unrolled(a..b, factor = n)`");
      return;
    }
  }
  frame.enclosing.push_back(Enclosing::UnrolledLoop);
  ++kernel.unrolling;
  for (Int128 i = lo.constant->i; i < hi.constant->i; i += step.constant->i) {
    if (!this->step(s->range)) {
      break;
    }
    frame.env->push();
    Entity e;
    e.name = s->variable.name;
    e.range = s->variable.range;
    e.constant = lo.constant;
    e.constant->i = i;
    frame.env->declare(std::move(e));
    Block body = block(s->body);
    frame.env->pop();
    if (!body.empty()) {
      emit(program.make<ScopeStmt>(body, s->range));
    }
  }
  --kernel.unrolling;
  frame.enclosing.pop_back();
}

void Analyzer::jumpStmt(const ast::Stmt *s, llvm::StringRef word) {
  Enclosing inner = frame.enclosing.empty() ? Enclosing::Call : frame.enclosing.back();
  switch (inner) {
  case Enclosing::SerialLoop:
    if (word == "break") {
      emit(program.make<BreakStmt>(s->range));
    } else {
      emit(program.make<ContinueStmt>(s->range));
    }
    return;
  case Enclosing::PipelinedLoop:
    report(Id::PipelinedJump, s->range, word);
    return;
  case Enclosing::Parallel:
    report(Id::ParallelBody, s->range, llvm::Twine("a `") + word + "` out of it");
    return;
  case Enclosing::UnrolledLoop:
  case Enclosing::Region:
  case Enclosing::Call:
    report(Id::JumpPlace, s->range, word);
    return;
  }
}

void Analyzer::returnStmt(const ast::ReturnStmt *s) {
  if (frame.mode == Mode::Fn) {
    llvm::SmallVector<const ast::Expr *> values;
    if (auto *tuple = llvm::dyn_cast_or_null<ast::TupleExpr>(s->value)) {
      values.assign(tuple->elements.begin(), tuple->elements.end());
    } else if (s->value) {
      values.push_back(s->value);
    }
    if (values.size() != frame.fnResults->size()) {
      report(Id::ReturnPlace, s->range,
             llvm::Twine("the function has ") + llvm::Twine(frame.fnResults->size()) + " results");
      return;
    }
    llvm::SmallVector<const Expr *> results;
    for (auto [value, type] : llvm::zip(values, *frame.fnResults)) {
      Value v = coerce(operand(value), type);
      if (v.isError()) {
        frame.hasWrongReturn = true;
        return;
      }
      results.push_back(materialize(v));
    }
    emit(program.make<ReturnStmt>(program.list<const Expr *>(results), s->range));
    return;
  }
  for (Enclosing e : llvm::reverse(frame.enclosing)) {
    switch (e) {
    case Enclosing::PipelinedLoop:
      report(Id::PipelinedJump, s->range, "return");
      return;
    case Enclosing::Parallel:
      report(Id::ParallelBody, s->range, "`return`");
      return;
    case Enclosing::Region:
      report(Id::ReturnPlace, s->range, "a region ends at its brace");
      return;
    case Enclosing::Call:
      report(Id::ReturnPlace, s->range, "it is the last statement of a `tile fn`");
      return;
    default:
      break;
    }
  }
  if (s->value) {
    report(Id::ReturnPlace, s->value->range, "a launch returns no value");
    return;
  }
  emit(program.make<ReturnStmt>(llvm::ArrayRef<const Expr *>(), s->range));
}

} // namespace tilec::sema
