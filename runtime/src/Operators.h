// What the operators of expressions do to values that are already there.
#pragma once

#include "Expr.h"

namespace tile_rt {

/// An operator on floats, in double but for the fused multiply-add; not rounded to the type.
double floatOperator(Op op, DType type, double a, double b, double c);

Value castValue(DType type, const Value &value);

template <class T>
bool compare(Op op, T a, T b) {
  switch (op) {
  case Op::Eq:
    return a == b;
  case Op::Ne:
    return a != b;
  case Op::Lt:
    return a < b;
  case Op::Le:
    return a <= b;
  case Op::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

} // namespace tile_rt
