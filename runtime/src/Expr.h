// Expressions of the manifest (docs/pack.md, "Expressions"): resolved trees, their exact
// evaluation, their text.
#pragma once

#include "../support/DType.h"
#include "../support/Operations.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile_rt {

using Int = __int128;

/// A value of an expression. `integer` also holds bools (0 or 1).
struct Value {
  ValueKind kind = ValueKind::Int;
  Int integer = 0;
  double real = 0;

  static Value ofInt(Int v) { return {ValueKind::Int, v, 0}; }
  static Value ofBool(bool v) { return {ValueKind::Bool, v, 0}; }
  static Value ofFloat(double v) { return {ValueKind::Float, 0, v}; }
  bool isTrue() const { return integer != 0; }
};

class FlatProgram;

struct Expr {
  Op op = Op::Const;
  ValueKind kind = ValueKind::Int; ///< of the result; known when the manifest is read
  std::optional<DType> type;       ///< of the result, where the manifest says it
  unsigned index = 0;              ///< of a leaf: which dimension, argument, let or grid extent
  int64_t detail = 0;              ///< of a leaf: axis or bytes
  Value constant;
  std::string name; ///< of a leaf, for texts
  std::vector<Expr> args;
  /// The same as a flat program; null of parts of an expression, and where there is none.
  std::shared_ptr<const FlatProgram> flat;
};

/// What the leaves stand for in one call.
struct TensorView {
  uint64_t address = 0; ///< 0: absent
  bool present = false;
  std::vector<int64_t> extents, strides; ///< in elements

  bool isEmpty() const { return std::find(extents.begin(), extents.end(), 0) != extents.end(); }
};
struct Env {
  std::vector<Value> dims, scalars, lets; ///< scalars and tensors are indexed by argument
  std::vector<TensorView> tensors;
  int64_t smCount = 0;
  std::vector<Int> grid;
  Int gridPoints = 0;
  /// By let: the error that it has in place of a value, if any; empty where none has one.
  std::vector<std::exception_ptr> letErrors;

  std::exception_ptr letError(unsigned let) const {
    return let < letErrors.size() ? letErrors[let] : nullptr;
  }
};

/// Evaluates. Throws the call error [host-overflow] when a result does not fit, naming the
/// expression, or the error of a let that it needs.
Value evaluate(const Expr &expr, const Env &env);

/// As a user would write it: "ceildiv(M, 128) * 2".
std::string exprText(const Expr &expr);

/// Text of a value for messages.
std::string valueText(const Value &value);
std::string intText(Int value);

/// The dimensions that an expression names, each once, in order of appearance.
void collectDims(const Expr &expr, std::vector<unsigned> &dims);

} // namespace tile_rt
