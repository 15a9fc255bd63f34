// Expressions of the manifest from JSON: names resolved and kinds checked, so that evaluation
// cannot go wrong.
#pragma once

#include "Json.h"
#include "Manifest.h"

#include <map>

namespace tile_rt {

/// What names mean at one place of a kernel.
struct NameScope {
  const Kernel *kernel = nullptr;
  std::map<std::string, std::pair<unsigned, DType>> lets; ///< slot and type
  std::map<std::string, unsigned> workspaces;
  unsigned gridRank = 0; ///< of the launch around a variant; 0 elsewhere

  /// Number of the argument of that name; fails where it must (not) be a tensor.
  unsigned argument(const JsonRef &json, const std::string &name, bool tensor) const;
};

DType parseDType(const JsonRef &json, bool scalarsOnly);
/// A typed number: JSON number, bool, or "inf", "-inf", "nan", "-0".
Value parseConstant(const JsonRef &json, DType type);
/// With its flat program, where it has one.
Expr parseExpr(const JsonRef &json, const NameScope &names);
/// An expression of that kind, or a failure.
Expr parseExpr(const JsonRef &json, const NameScope &names, ValueKind kind);

} // namespace tile_rt
