// Where nodes of the syntax tree live, and names in it. Ast.h says what holds for all nodes.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/SMLoc.h"

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace tilec::ast {

using llvm::ArrayRef;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

/// The deepest tree that the parser builds ([nesting]).
inline constexpr unsigned maxDepth = 1000;

/// Owns nodes and their arrays.
class Context {
public:
  template <typename T, typename... Args>
  T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>, "nodes are never destroyed one by one");
    return new (allocator.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  template <typename T>
  ArrayRef<T> copy(ArrayRef<T> values) {
    T *data = allocator.Allocate<T>(values.size());
    std::uninitialized_copy(values.begin(), values.end(), data);
    return ArrayRef<T>(data, values.size());
  }
  StringRef copy(StringRef text) { return text.copy(allocator); }

private:
  llvm::BumpPtrAllocator allocator;
};

/// A name where it is declared or used. Empty and without range if it is absent.
struct Ident {
  StringRef name;
  SMRange range;
  explicit operator bool() const { return !name.empty(); }
};

} // namespace tilec::ast
