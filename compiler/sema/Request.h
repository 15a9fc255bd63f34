//===- Request.h - One kernel to be compiled --------------------*- C++ -*-===//
#pragma once

#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

/// What `instantiate`, or the lack of one, asks for.
struct Analyzer::Request {
  const ast::KernelItem *kernel = nullptr;
  const Module *home = nullptr; ///< of the kernel's file
  const Module *main = nullptr; ///< of the file that asks
  std::string symbol;
  SourceRange range;
  llvm::ArrayRef<const ast::Expr *> where;
  bool isAuto = false;
  struct Given {
    llvm::StringRef name;
    ConstValue value;
    SourceRange range; ///< invalid if chosen from `tune`
  };
  llvm::SmallVector<Given> given;
  /// Values of `-P`, parsed, the last one of a name.
  const Bindings *optionValues = nullptr;
  std::set<std::string> *optionsUsed = nullptr;

  /// The value given for a parameter or dimension here or by `-P`; null if none.
  const ConstValue *value(llvm::StringRef name, const SemaOptions &options) const {
    for (const Given &g : given) {
      if (g.name == name) {
        return &g.value;
      }
    }
    auto it = optionValues->find(name);
    if (it == optionValues->end()) {
      return nullptr;
    }
    optionsUsed->insert(it->first);
    return &it->second;
  }
};

/// Whether an expression names it.
bool isNamed(const ast::Expr *e, llvm::StringRef name);
/// Neither a compile-time parameter of the kernel nor perhaps a dimension.
bool isUnknown(const ast::KernelItem &k, llvm::StringRef name);

} // namespace tilec::sema
