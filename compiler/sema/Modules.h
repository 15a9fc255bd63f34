//===- Modules.h - File-level name spaces -----------------------*- C++ -*-===//
#pragma once

#include "compiler/sema/Scope.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <memory>

namespace tilec {
class DiagnosticEngine;
}

namespace tilec::sema {

/// The value of ARCH, inf, nan, pi, log2e or ln2; nothing for other names.
std::optional<ConstValue> predefinedConstant(llvm::StringRef name, int arch);

/// Whether a name of the third name space is taken by the language itself.
bool isPredefinedName(llvm::StringRef name);

/// Builds the modules of a file and of all that it imports; reports names declared twice.
class ModuleSet {
public:
  ModuleSet(DiagnosticEngine &engine) : engine(engine) {}

  const Module &get(const LoadedFile &file);
  /// In the order in which they were made: imported files before those that import them.
  const std::deque<Module> &all() const { return modules; }

private:
  void importNames(Module &module, const LoadedFile::Import &import);
  void declareOwn(Module &module, const ast::Item *item);
  template <typename Table, typename Item>
  void declareItem(Table &table, const Item *item, const ast::Ident &name, Module &module,
                   bool predefined);

  DiagnosticEngine &engine;
  std::deque<Module> modules; // addresses stay
  std::deque<Module::ConstEntry> constants;
  llvm::DenseMap<const LoadedFile *, Module *> byFile;
};

} // namespace tilec::sema
