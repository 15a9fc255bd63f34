// Exact evaluation: integers in 128 bits with overflow checked, floats in double and rounded to the
// node's type.
#include "../support/Floats.h"
#include "../support/Span.h"
#include "Error.h"
#include "Expr.h"
#include "FlatProgram.h"
#include "Operators.h"

#include <array>
#include <cmath>

namespace tile_rt {

namespace {
[[noreturn]] void overflow(const Expr &expr, const std::string &what) {
  failCall("host-overflow", "`" + exprText(expr) + "` " + what);
}

Int fit(const Expr &expr, Int value) {
  if (expr.type && (value < minInt(*expr.type) || value > maxInt(*expr.type))) {
    overflow(expr, "is " + intText(value) + ", which does not fit " + dtypeName(*expr.type));
  }
  return value;
}

Int floorDiv(Int a, Int b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

Int divide(const Expr &expr, Int a, Int b) {
  if (b == 0) {
    overflow(expr, "divides by zero");
  }
  Int lowest = static_cast<Int>(1) << 127;
  if (a == lowest && b == -1) {
    overflow(expr, "exceeds 128 bits");
  }
  switch (expr.op) {
  case Op::Div:
    return a / b;
  case Op::Rem:
    return a % b;
  case Op::CeilDiv:
    return a / b + ((a % b != 0) && ((a < 0) == (b < 0)));
  case Op::FloorDiv:
    return floorDiv(a, b);
  default: // FloorMod
    return a - floorDiv(a, b) * b;
  }
}

Int shiftLeft(const Expr &expr, Int a, Int count) {
  Int result = a;
  for (Int i = 0; i < count && result != 0; ++i) {
    if (__builtin_add_overflow(result, result, &result)) {
      overflow(expr, "exceeds 128 bits");
    }
  }
  return result;
}

Int shift(const Expr &expr, Int a, Int count) {
  unsigned width = expr.type ? dtypeBits(*expr.type) : 127;
  if (count < 0 || count >= width) {
    overflow(expr, "shifts by " + intText(count));
  }
  return expr.op == Op::Shl ? shiftLeft(expr, a, count) : a >> static_cast<int>(count);
}

/// Operators on the bits of a value of `expr.type`, i64 if there is none.
Int bitOperator(const Expr &expr, Int a, Int b) {
  DType type = expr.type.value_or(DType::I64);
  unsigned bits = dtypeBits(type);
  unsigned __int128 low =
      static_cast<unsigned __int128>(a) & ((static_cast<unsigned __int128>(1) << bits) - 1);
  switch (expr.op) {
  case Op::BitNot:
    return wrapInt(type, ~a);
  case Op::Popcount:
    return __builtin_popcountll(static_cast<uint64_t>(low));
  case Op::Clz:
    return low ? __builtin_clzll(static_cast<uint64_t>(low)) - (64 - static_cast<int>(bits)) : bits;
  default: // MulHi: of u64 the product takes all 128 bits
    if (wrapInt(type, -1) > 0) {
      auto product = static_cast<unsigned __int128>(wrapInt(type, a)) *
                     static_cast<unsigned __int128>(wrapInt(type, b));
      return wrapInt(type, static_cast<Int>(product >> bits));
    }
    return wrapInt(type, (wrapInt(type, a) * wrapInt(type, b)) >> bits);
  }
}

Int intOperator(const Expr &expr, Int a, Int b) {
  Int result = 0;
  bool lost = false;
  switch (expr.op) {
  case Op::Add:
    lost = __builtin_add_overflow(a, b, &result);
    break;
  case Op::Sub:
    lost = __builtin_sub_overflow(a, b, &result);
    break;
  case Op::Mul:
    lost = __builtin_mul_overflow(a, b, &result);
    break;
  case Op::Neg:
    lost = __builtin_sub_overflow(static_cast<Int>(0), a, &result);
    break;
  case Op::Abs:
    lost = a < 0 ? __builtin_sub_overflow(static_cast<Int>(0), a, &result) : (result = a, false);
    break;
  case Op::Min:
    return std::min(a, b);
  case Op::Max:
    return std::max(a, b);
  case Op::Shl:
  case Op::Shr:
    return shift(expr, a, b);
  case Op::BitAnd:
    return a & b;
  case Op::BitOr:
    return a | b;
  case Op::BitXor:
    return a ^ b;
  case Op::BitNot:
  case Op::Popcount:
  case Op::Clz:
  case Op::MulHi:
    return bitOperator(expr, a, b);
  default:
    return divide(expr, a, b);
  }
  if (lost) {
    overflow(expr, "exceeds 128 bits");
  }
  return result;
}

Value evaluateLeaf(const Expr &expr, const Env &env) {
  switch (expr.op) {
  case Op::Const:
    return expr.constant;
  case Op::Dim:
    return env.dims[expr.index];
  case Op::Arg:
    return env.scalars[expr.index];
  case Op::Let:
    if (std::exception_ptr error = env.letError(expr.index)) {
      std::rethrow_exception(error);
    }
    return env.lets[expr.index];
  case Op::Extent:
  case Op::Stride: {
    const TensorView &tensor = env.tensors[expr.index];
    if (!tensor.present) {
      return Value::ofInt(0);
    }
    return Value::ofInt((expr.op == Op::Extent ? tensor.extents : tensor.strides)[expr.detail]);
  }
  case Op::Present:
    return Value::ofBool(env.tensors[expr.index].present);
  case Op::Aligned:
    return Value::ofBool(env.tensors[expr.index].address % static_cast<uint64_t>(expr.detail) == 0);
  case Op::SmCount:
    return Value::ofInt(env.smCount);
  case Op::Grid:
    return Value::ofInt(env.grid[expr.index]);
  default:
    return Value::ofInt(env.gridPoints);
  }
}

Value evaluateLogic(const Expr &expr, const Env &env) {
  if (expr.op == Op::Not) {
    return Value::ofBool(!evaluate(expr.args[0], env).isTrue());
  }
  bool decides = expr.op == Op::Or; // the value that ends the evaluation
  for (const Expr &arg : expr.args) {
    if (evaluate(arg, env).isTrue() == decides) {
      return Value::ofBool(decides);
    }
  }
  return Value::ofBool(!decides);
}

Value evaluateClamp(const Expr &expr, Span<const Value> v) {
  if (expr.kind == ValueKind::Float) {
    double x = std::fmin(std::fmax(v[0].real, v[1].real), v[2].real);
    return Value::ofFloat(roundFloat(expr.type.value_or(DType::F32), x));
  }
  return Value::ofInt(fit(expr, std::min(std::max(v[0].integer, v[1].integer), v[2].integer)));
}

/// Factor and addend of a divisor of N bits that is no power of two; `scaled` = 2^(N + n), `Wide` holds it.
template <typename Wide>
Int factorOf(Op op, uint64_t d, Wide scaled, uint64_t power) {
  const auto down = static_cast<uint64_t>(scaled / d);
  const auto below = static_cast<uint64_t>(scaled - Wide(down) * d); // what rounding down leaves
  const bool roundsUp = d - below <= power;
  return op == Op::DivAddend && roundsUp ? Int(0) : Int(down) + (roundsUp ? 1 : 0);
}

/// Robison, "N-bit unsigned division via N-bit multiply-add" (2005), for N = 32 and 64: 2^(N + n) / d,
/// with n = floor(log2(d)), is rounded up if that is close enough, else down, where x + 1 is multiplied.
/// Either is: the two errors make d together, which is below 2 * 2^n.
Value evaluateReciprocal(const Expr &expr, Int divisor) {
  const DType type = expr.type.value_or(DType::U32);
  const unsigned bits = dtypeBits(type) == 64 ? 64 : 32;
  const Int limit = Int(1) << bits;
  if (divisor <= -limit || divisor >= limit) {
    overflow(expr, "is of a divisor of more than " + std::to_string(bits) + " bits");
  }
  const auto d = static_cast<uint64_t>(divisor < 0 ? -divisor : divisor);
  if (d == 0) {
    return Value::ofInt(0);
  }
  const int log2 = 63 - __builtin_clzll(d);
  const uint64_t power = uint64_t(1) << log2;
  Int result = log2;
  if (expr.op != Op::DivShift) {
    result = d == power   ? limit - 1
             : bits == 64 ? factorOf(expr.op, d, static_cast<unsigned __int128>(power) << 64, power)
                          : factorOf(expr.op, d, power << 32, power);
  }
  return Value::ofInt(wrapInt(type, result));
}

Value evaluateArithmetic(const Expr &expr, Span<const Value> v) {
  if (expr.kind == ValueKind::Float) {
    auto at = [&](size_t i) { return i < v.size() ? v[i].real : 0.0; };
    const DType type = expr.type.value_or(DType::F32);
    double result = floatOperator(expr.op, type, at(0), at(1), at(2));
    for (size_t i = 2; i < v.size() && expr.op != Op::Fma; ++i) {
      result = floatOperator(expr.op, type, result, v[i].real, 0);
    }
    return Value::ofFloat(roundFloat(type, result));
  }
  Int result = intOperator(expr, v[0].integer, v.size() > 1 ? v[1].integer : 0);
  for (size_t i = 2; i < v.size(); ++i) {
    result = intOperator(expr, result, v[i].integer);
  }
  return Value::ofInt(fit(expr, result));
}
} // namespace

Value evaluate(const Expr &expr, const Env &env) {
  if (isLeaf(expr.op)) {
    return evaluateLeaf(expr, env);
  }
  if (Value value; expr.flat && expr.flat->run(env, value)) {
    return value;
  }
  if (expr.op == Op::And || expr.op == Op::Or || expr.op == Op::Not) {
    return evaluateLogic(expr, env);
  }
  if (expr.op == Op::Select) {
    return evaluate(expr.args[evaluate(expr.args[0], env).isTrue() ? 1 : 2], env);
  }
  // On the stack for all but long `min`s and `max`es: a call evaluates dozens of nodes.
  std::array<Value, 3> few;
  std::vector<Value> many;
  if (expr.args.size() > few.size()) {
    many.resize(expr.args.size());
  }
  Span<Value> values = many.empty() ? Span<Value>(few).first(expr.args.size()) : many;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = evaluate(expr.args[i], env);
  }
  switch (expr.op) {
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
    return Value::ofBool(values[0].kind == ValueKind::Float
                             ? compare(expr.op, values[0].real, values[1].real)
                             : compare(expr.op, values[0].integer, values[1].integer));
  case Op::IsNan:
    return Value::ofBool(std::isnan(values[0].real));
  case Op::IsInf:
    return Value::ofBool(std::isinf(values[0].real));
  case Op::IsFinite:
    return Value::ofBool(std::isfinite(values[0].real));
  case Op::Cast:
    return castValue(*expr.type, values[0]);
  case Op::Clamp:
    return evaluateClamp(expr, values);
  case Op::DivFactor:
  case Op::DivAddend:
  case Op::DivShift:
    return evaluateReciprocal(expr, values[0].integer);
  default:
    return evaluateArithmetic(expr, values);
  }
}

} // namespace tile_rt
