// What code relies on of where rows of tensors start.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>

namespace tilec {

/// Code for rows at multiples of 16 bytes, which TMA and the widest accesses want; of 4, the least that cp.async moves; or anywhere.
enum class RowKind : uint8_t { Aligned, Words, Any };

inline constexpr std::array kRowKinds = {RowKind::Aligned, RowKind::Words, RowKind::Any};

/// An element for each kind.
template <typename T>
struct ByRowKind {
  std::array<T, kRowKinds.size()> of{};
  T &operator[](RowKind kind) { return of[size_t(kind)]; }
  const T &operator[](RowKind kind) const { return of[size_t(kind)]; }
};

/// The variant of a kernel that is such code.
constexpr llvm::StringLiteral variantOf(RowKind kind) {
  constexpr ByRowKind<llvm::StringLiteral> names{
      {llvm::StringLiteral("aligned"), llvm::StringLiteral("words"), llvm::StringLiteral("any")}};
  return names[kind];
}

/// Bytes, of which rows start at multiples.
constexpr int64_t alignmentOf(RowKind kind) {
  return kind == RowKind::Aligned ? 16 : kind == RowKind::Words ? 4 : 1;
}

} // namespace tilec
