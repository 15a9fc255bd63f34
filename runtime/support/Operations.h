// What expressions in manifests are made of: the compiler writes them, the runtime reads them.
#pragma once

#include <cstdint>
#include <string_view>

namespace tile_rt {

enum class Op : uint8_t {
  // Leaves
  Const,
  Dim,
  Arg,
  Let,
  Extent,
  Stride,
  Present,
  Aligned,
  SmCount,
  Grid,
  GridPoints,
#define TILE_OPERATION(OP, NAME, INFIX, RULE, FEWEST, MOST) OP,
#include "Operations.def"
};
constexpr bool isLeaf(Op op) { return op <= Op::GridPoints; }

/// What the operands of an operation must be, and its result.
enum class OpRule : uint8_t {
  IntNumber,
  Number,
  Compare,
  Equal,
  Logic,
  Select,
  Cast,
  Int,
  Float,
  FloatTest
};
/// How an operation is written and what it takes.
struct OpInfo {
  Op op;
  const char *name;
  const char *infix; ///< null for function syntax
  OpRule rule;
  uint8_t minArgs, maxArgs;
};

/// Null if there is no operation of that name.
const OpInfo *findOp(std::string_view name);
/// Null for leaves.
const OpInfo *infoOf(Op op);

} // namespace tile_rt
