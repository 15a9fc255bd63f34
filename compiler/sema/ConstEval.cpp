//===- ConstEval.cpp - Constant expressions outside of kernels ------------===//
#include "compiler/sema/ConstEval.h"

#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Modules.h"

namespace tilec::sema {

std::optional<ConstValue> Analyzer::constant(const ast::Expr *expr, const Module &module,
                                             const Bindings &names, llvm::StringRef what) {
  FrameGuard guard(*this);
  Env env(&module);
  for (const auto &[name, value] : names) {
    Entity entity;
    entity.name = name;
    entity.constant = value;
    env.declare(std::move(entity));
  }
  frame = Frame();
  frame.env = &env;
  unsigned errors = engine.numErrors();
  Value value = operand(expr);
  if (engine.numErrors() == errors && !value.constant) {
    report(diag::Id::NotConstant, expr->range, what);
  }
  return value.isError() ? std::nullopt : value.constant;
}

struct ConstEval::State {
  State(const LoadedFile &main, int arch, DiagnosticEngine &engine)
      : modules(engine), module(modules.get(main)), names(engine),
        analyzer(program, options, engine, names) {
    options.arch = arch;
    for (const Module &m : modules.all()) {
      names.check(m);
    }
    names.checkRecursion();
  }

  Program program;
  SemaOptions options;
  ModuleSet modules;
  const Module &module;
  NameCheck names;
  Analyzer analyzer;
};

ConstEval::ConstEval(const LoadedFile &main, int arch, DiagnosticEngine &engine)
    : state(std::make_unique<State>(main, arch, engine)) {}

ConstEval::~ConstEval() = default;

std::optional<ConstValue> ConstEval::evaluate(const ast::Expr *expr, const Names &names,
                                              llvm::StringRef what) {
  return state->analyzer.constant(expr, state->module, names, what);
}

} // namespace tilec::sema
