// The host part of a kernel as the expression program of the manifest (docs/pack.md).
#pragma once

#include "compiler/diag/DiagnosticEngine.h"
#include "dialects/tile/ElementNames.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "runtime/support/Operations.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace tilec {

/// A float as JSON, which has no infinities: docs/pack.md, typed constants.
llvm::json::Value floatNode(double number);
/// An inner node of an expression, with the type of its result unless that is empty.
llvm::json::Value expressionNode(tile_rt::Op op, llvm::json::Array args, std::string type = {});

/// Turns SSA values of host code into expression trees. Integers are exact there, so a value that
/// wraps around on the device is an error of the call here: the language says so (section 7).
/// What cannot be expressed is reported ([not-supported]) once; the result is then `null`.
class HostExpressions {
public:
  explicit HostExpressions(DiagnosticEngine &diags) : diags(diags) {}

  /// The tree for `value`. Values bound by bindLet are referred to by name.
  llvm::json::Value get(mlir::Value value);
  /// From now on `value` is `{"let": name}`.
  void bindLet(mlir::Value value, std::string name) { lets[value] = std::move(name); }
  /// True if `value` is a leaf: naming it would save nothing.
  bool isLeaf(mlir::Value value) const;
  /// Type of `value` in the manifest.
  std::string typeOf(mlir::Value value) const {
    return tile::elementName(value.getType(), isUnsigned(value));
  }

private:
  /// Whether get() gives an integer read without sign.
  static bool isUnsigned(mlir::Value value);
  /// The tree for `value` in the reading that is asked for.
  llvm::json::Value getAs(mlir::Value value, bool wantUnsigned);
  static llvm::SmallVector<mlir::Value> inputsOf(mlir::Value value);
  llvm::json::Value ofOperation(mlir::Operation *op, mlir::Value value);
  std::optional<llvm::json::Value> ofTileOp(mlir::Operation *op);
  std::optional<llvm::json::Value> ofReciprocal(mlir::Operation *op, mlir::Value value);
  std::optional<llvm::json::Value> ofCompare(mlir::Operation *op);
  std::optional<llvm::json::Value> ofArithmetic(mlir::Operation *op, mlir::Value value);
  std::optional<llvm::json::Value> ofCast(mlir::Operation *op, mlir::Value value);

  DiagnosticEngine &diags;
  // Looked up, never iterated.
  llvm::DenseMap<mlir::Value, std::string> lets;
};

/// Name of the tensor or workspace that `value` is, and what it is ("tensor", "workspace"); nothing
/// if it is neither an argument of a kernel nor the result of a `tile.workspace`.
struct GlobalName {
  const char *kind;
  std::string name;
};
std::optional<GlobalName> globalName(mlir::Value value);

} // namespace tilec
