//===- Scope.h - Names while analysing --------------------------*- C++ -*-===//
#pragma once

#include "compiler/parse/ImportLoader.h"
#include "compiler/sema/ConstValue.h"
#include "compiler/sema/Decl.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace tilec::sema {

/// What is known of the memory behind a place.
struct PlaceInfo {
  const Decl *root = nullptr; ///< the declaration that owns the memory; null: not a place
  Space space = Space::Value;
  llvm::StringRef name; ///< as the user wrote it
  SourceRange declared;
  bool writable = true;
  bool readable = true;
  bool contiguous = true; ///< `reshape` and `bitcast` apply
};

/// What a name stands for: a constant or a declaration.
struct Entity {
  llvm::StringRef name;
  SourceRange range;
  std::optional<ConstValue> constant;
  const Decl *decl = nullptr;
  PlaceInfo place;
  bool broken = false; ///< its declaration was in error: stay silent about it
};

/// A file-level name space: what a file declares and imports.
struct Module {
  const LoadedFile *file = nullptr;
  struct ConstEntry {
    const ast::ConstItem *item;
    const Module *home;
    bool evaluating = false;
    std::optional<Entity> value;
  };
  template <typename T>
  struct Imported {
    const T *item = nullptr;
    const Module *home = nullptr; ///< whose names its text uses
    bool imported = false;
  };
  llvm::StringMap<ConstEntry *> consts; ///< shared between the modules that see it
  llvm::StringMap<Imported<ast::FunctionItem>> functions;
  llvm::StringMap<Imported<ast::KernelItem>> kernels;
  std::vector<const ast::TuneItem *> tunes; ///< of this file itself
};

/// The names visible at a point of one body: nested scopes over a module.
class Env {
public:
  explicit Env(const Module *module) : module(module) { scopes.emplace_back(); }

  const Module *module;

  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }
  Entity &declare(Entity e) { return scopes.back()[e.name] = std::move(e); }
  const Entity *find(llvm::StringRef name) const {
    for (auto it = scopes.rbegin(); it != scopes.rend(); ++it) {
      auto found = it->find(name);
      if (found != it->end()) {
        return &found->second;
      }
    }
    return nullptr;
  }

private:
  std::vector<llvm::StringMap<Entity>> scopes;
};

} // namespace tilec::sema
