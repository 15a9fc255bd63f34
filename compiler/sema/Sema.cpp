//===- Sema.cpp - Entry point of semantic analysis ------------------------===//
#include "compiler/sema/Sema.h"

#include "compiler/sema/Analyzer.h"
#include "compiler/sema/Modules.h"

#include "llvm/Support/thread.h"

namespace tilec::sema {

Program::~Program() {
  // In reverse: nothing refers to what was made later when it is destroyed.
  for (const Cleanup &c : llvm::reverse(cleanup)) {
    c.destroy(c.object);
  }
}

void Analyzer::run(const Module &main) {
  // Constants that nothing uses are checked as well.
  for (const ast::Item *item : main.file->ast->items) {
    if (auto *c = llvm::dyn_cast<ast::ConstItem>(item)) {
      auto it = main.consts.find(c->decl.name.name);
      if (it != main.consts.end() && it->second->item == c) {
        lookupConst(*it->second);
      }
    }
  }
  instantiateAll(main);
}

static void analyzeInto(Program &program, const LoadedFile &main, const SemaOptions &options,
                        DiagnosticEngine &engine) {
  ModuleSet modules(engine);
  const Module &module = modules.get(main);
  NameCheck names(engine);
  for (const Module &m : modules.all()) {
    names.check(m);
  }
  for (const LoadedFile *extra : options.instantiate) {
    for (const ast::Item *item : extra->ast->items) {
      if (auto *i = llvm::dyn_cast<ast::InstantiateItem>(item)) {
        names.checkInstantiate(module, *i);
      }
    }
  }
  names.checkRecursion();
  Analyzer(program, options, engine, names).run(module);
}

std::unique_ptr<Program> analyze(const LoadedFile &main, const SemaOptions &options,
                                 DiagnosticEngine &engine) {
  auto program = std::make_unique<Program>();
  // Syntax trees have up to 1000 levels, and inlined functions nest: the stack is made to fit
  // (only what is used of it becomes memory).
  constexpr unsigned stackBytes = 512u << 20;
  llvm::thread worker(std::optional<unsigned>(stackBytes),
                      [&] { analyzeInto(*program, main, options, engine); });
  worker.join();
  return program;
}

} // namespace tilec::sema
