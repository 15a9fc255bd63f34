//===- Modules.cpp - File-level name spaces -------------------------------===//
#include "compiler/sema/Modules.h"

#include "compiler/diag/DiagnosticEngine.h"
#include "compiler/sema/Builtins.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tilec::sema {

using diag::Id;

std::optional<ConstValue> predefinedConstant(llvm::StringRef name, int arch) {
  if (name == "ARCH") {
    return ConstValue::untyped(Int128(arch));
  }
  if (name == "inf") {
    return ConstValue::untyped(std::numeric_limits<double>::infinity());
  }
  if (name == "nan") {
    return ConstValue::untyped(std::numeric_limits<double>::quiet_NaN());
  }
  if (name == "pi") {
    return ConstValue::untyped(std::numbers::pi);
  }
  if (name == "log2e") {
    return ConstValue::untyped(std::numbers::log2e);
  }
  if (name == "ln2") {
    return ConstValue::untyped(std::numbers::ln2);
  }
  return std::nullopt;
}

bool isPredefinedName(llvm::StringRef name) {
  return scalarByName(name) || predefinedConstant(name, 0);
}

const Module &ModuleSet::get(const LoadedFile &file) {
  auto [it, isNew] = byFile.try_emplace(&file, nullptr);
  if (!isNew && it->second) {
    return *it->second;
  }
  for (const LoadedFile::Import &import : file.imports) {
    get(*import.file);
  }
  modules.emplace_back();
  Module &module = modules.back();
  byFile[&file] = &module;
  module.file = &file;
  for (const LoadedFile::Import &import : file.imports) {
    importNames(module, import);
  }
  for (const ast::Item *item : file.ast->items) {
    declareOwn(module, item);
  }
  return module;
}

/// Makes the constants, functions and kernels that the file itself declares visible.
void ModuleSet::importNames(Module &module, const LoadedFile::Import &import) {
  const Module &from = *byFile.lookup(import.file);
  auto redeclared = [&](const ast::Ident &name, llvm::SMRange other) {
    engine.report(Id::Redeclared, import.item->pathRange, name.name)
        << note(name.range, "imported from here") << note(other, "and from here");
  };
  for (const ast::Item *item : import.file->ast->items) {
    if (auto *c = llvm::dyn_cast<ast::ConstItem>(item)) {
      auto it = from.consts.find(c->decl.name.name);
      if (it == from.consts.end() || it->second->item != c) {
        continue;
      }
      auto [mine, isNew] = module.consts.try_emplace(c->decl.name.name, it->second);
      if (!isNew && mine->second != it->second) {
        redeclared(c->decl.name, mine->second->item->decl.name.range);
      }
    } else if (auto *f = llvm::dyn_cast<ast::FunctionItem>(item)) {
      auto [mine, isNew] = module.functions.try_emplace(
          f->name.name, Module::Imported<ast::FunctionItem>{f, &from, true});
      if (!isNew && mine->second.item != f) {
        redeclared(f->name, mine->second.item->name.range);
      }
    } else if (auto *k = llvm::dyn_cast<ast::KernelItem>(item)) {
      auto [mine, isNew] = module.kernels.try_emplace(
          k->name.name, Module::Imported<ast::KernelItem>{k, &from, true});
      if (!isNew && mine->second.item != k) {
        redeclared(k->name, mine->second.item->name.range);
      }
    }
  }
}

template <typename Table, typename Item>
void ModuleSet::declareItem(Table &table, const Item *item, const ast::Ident &name, Module &module,
                            bool predefined) {
  if (predefined) {
    engine.report(Id::RedeclaredBuiltin, name.range, name.name);
    return;
  }
  auto [it, isNew] = table.try_emplace(name.name, Module::Imported<Item>{item, &module, false});
  if (!isNew) {
    engine.report(Id::Redeclared, name.range, name.name)
        << note(it->second.item->name.range, "first declared here");
  }
}

void ModuleSet::declareOwn(Module &module, const ast::Item *item) {
  if (auto *c = llvm::dyn_cast<ast::ConstItem>(item)) {
    const ast::Ident &name = c->decl.name;
    if (isPredefinedName(name.name)) {
      engine.report(Id::RedeclaredBuiltin, name.range, name.name);
      return;
    }
    auto it = module.consts.find(name.name);
    if (it != module.consts.end()) {
      engine.report(Id::Redeclared, name.range, name.name)
          << note(it->second->item->decl.name.range, "first declared here");
      return;
    }
    constants.push_back({c, &module, false, std::nullopt});
    module.consts[name.name] = &constants.back();
  } else if (auto *f = llvm::dyn_cast<ast::FunctionItem>(item)) {
    declareItem(module.functions, f, f->name, module,
                findBuiltin(f->name.name) != nullptr || scalarByName(f->name.name).has_value());
  } else if (auto *k = llvm::dyn_cast<ast::KernelItem>(item)) {
    declareItem(module.kernels, k, k->name, module, false);
  } else if (auto *t = llvm::dyn_cast<ast::TuneItem>(item)) {
    module.tunes.push_back(t);
  }
}

} // namespace tilec::sema
