//===- Program.h - The typed program --------------------------*- C++ -*-===//
//
// What semantic analysis hands to lowering. Analysis elaborates each instantiation of a kernel like
// a C++ template, so in a finished Program
//   - compile-time parameters are gone, constants are folded, typed and rounded to their type, and
//     `if`, `?:`, `&&`, `||` on constants are chosen;
//   - `tile fn` calls are inlined as BlockExpr: parameters are bound to the argument's declaration,
//     to a ViewDecl of the argument, or to a LetDecl evaluated once. Names never matter any more:
//     references point to declarations;
//   - scalar `fn`s remain functions, one instance per list of types and constants; calls apply them
//     to scalars or element by element;
//   - both operands of an element-wise operation have one type: literals have adapted, and a scalar
//     beside a tile or vec is wrapped in BroadcastExpr;
//   - an expression is evaluated in place and in order. BlockExpr and atomics have effects, so
//     `&&`, `||` and Select on scalars evaluate only what they need;
//   - each node was checked: lowering reports only what it does not support yet.
//
// Nodes live in the Program's arena and die with it. Lists are
// ArrayRefs into the arena. StringRefs point to the arena or the sources, which outlive the
// Program.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/sema/Stmt.h"
#include "dialects/support/RowKind.h"

#include "llvm/Support/Allocator.h"

#include <memory>
#include <string>
#include <vector>

namespace tilec::sema {

/// One instance of a scalar `fn`. Its body holds Let, LetTuple, Var, For, While, If, Scope, Break,
/// Continue, Assign to its own variables, Assert, and Return on every path.
struct Function {
  llvm::StringRef name;
  SourceRange range;
  llvm::ArrayRef<const FnParam *> params; ///< scalars; constants are substituted
  llvm::ArrayRef<Type> resultTypes;       ///< scalars, one or more
  Block body;
  uint64_t size = 0; ///< statements and expressions of a call, with those that it calls
};

/// A compile-time parameter's value, for the manifest.
struct Binding {
  llvm::StringRef name;
  std::string value; ///< "128", "true", "bf16"
  enum class Kind : uint8_t { Int, Bool, Type } kind;
};

/// At launch: extent `axis` of `tensor` equals `expected`.
struct DimCheck {
  const TensorParam *tensor;
  unsigned axis;
  const Expr *expected;
  SourceRange range;        ///< of the extent in the source
  llvm::StringRef text;     ///< its source text
  const TensorParam *other; ///< who bound the dimension, for the message; may be null
};

/// At launch, and a fact: a clause of `where` that is not constant.
struct WhereCheck {
  const Expr *cond;
  SourceRange range;
  llvm::StringRef text;
};

struct Param {
  const TensorParam *tensor = nullptr; ///< exactly one of the two is set
  const ScalarParam *scalar = nullptr;
};

/// Admissible values of the parameters that `tune` lists.
struct Candidate {
  std::vector<Binding> bindings; ///< of all parameters
  /// Whether its clauses hold for code that relies so much on rows (ALIGNMENT).
  ByRowKind<bool> isFor{{true, true, true}};
};

/// One `instantiate` (or a kernel compiled with its defaults).
struct KernelInstance {
  std::string symbol;         ///< C name
  llvm::StringRef sourceName; ///< the kernel's name
  SourceRange range;          ///< of the kernel's name
  SourceRange requested;      ///< of the `instantiate`, or of the kernel's name
  std::vector<Binding> bindings;
  bool fastMath = false;
  std::vector<Param> params; ///< in source order
  /// Dimensions in the order in which they are bound; each is bound by a tensor.
  std::vector<const DimDecl *> dims;
  std::vector<DimCheck> dimChecks;
  std::vector<WhereCheck> whereChecks;
  std::vector<const WorkspaceDecl *> workspaces;
  std::vector<const LaunchStmt *> launches;
  Block body; ///< host part: Let, View, Workspace, Launch, If, Scope
  /// With `auto`: the candidates, in the order of the lists of `tune`, the chosen one included. SemaOptions::choices says which one
  /// analysis takes.
  std::vector<Candidate> candidates;
  /// Of those, how many `tune` says to keep for each kind of rows; for aligned ones alone if it does not tell them apart.
  ByRowKind<std::optional<unsigned>> keep;
};

/// Owns all nodes.
class Program {
public:
  Program() = default;
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  std::vector<std::unique_ptr<KernelInstance>> kernels; ///< in the order of instantiation
  bool skipsKernels = false; ///< the `where` of some `instantiate` is false for this target
  std::vector<const Function *> functions; ///< callees before callers

  /// Makes a node in the arena; it is destroyed with the Program.
  template <typename T, typename... Args>
  T *make(Args &&...args) {
    T *p = new (arena.Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
    cleanup.push_back({p, [](void *q) { static_cast<T *>(q)->~T(); }});
    return p;
  }
  /// Copies a list into the arena.
  template <typename T>
  llvm::ArrayRef<T> list(llvm::ArrayRef<T> items) {
    T *p = static_cast<T *>(arena.Allocate(sizeof(T) * items.size(), alignof(T)));
    for (size_t i = 0; i < items.size(); ++i) {
      new (static_cast<void *>(p + i)) T(items[i]);
      if constexpr (!std::is_trivially_destructible_v<T>) {
        cleanup.push_back({p + i, [](void *q) { static_cast<T *>(q)->~T(); }});
      }
    }
    return {p, items.size()};
  }
  llvm::StringRef text(llvm::StringRef s) { return s.copy(arena); }

private:
  struct Cleanup {
    void *object;
    void (*destroy)(void *);
  };
  llvm::BumpPtrAllocator arena;
  std::vector<Cleanup> cleanup;
};

} // namespace tilec::sema
