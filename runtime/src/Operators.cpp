#include "Operators.h"

#include "../support/Floats.h"

#include <cmath>

namespace tile_rt {

double floatOperator(Op op, DType type, double a, double b, double c) {
  switch (op) {
  case Op::Add:
    return a + b;
  case Op::Sub:
    return a - b;
  case Op::Mul:
    return a * b;
  case Op::Div:
    return a / b;
  case Op::Neg:
    return -a;
  case Op::Abs:
    return std::fabs(a);
  case Op::Min:
    return std::fmin(a, b);
  case Op::Max:
    return std::fmax(a, b);
  case Op::Fma:
    return type == DType::F32
               ? std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))
               : std::fma(a, b, c);
  case Op::Sqrt:
    return std::sqrt(a);
  case Op::Rsqrt:
    return 1 / std::sqrt(a);
  case Op::Exp:
    return std::exp(a);
  case Op::Exp2:
    return std::exp2(a);
  case Op::Log:
    return std::log(a);
  case Op::Log2:
    return std::log2(a);
  case Op::Pow:
    return std::pow(a, b);
  case Op::Sin:
    return std::sin(a);
  case Op::Cos:
    return std::cos(a);
  case Op::Tanh:
    return std::tanh(a);
  case Op::Erf:
    return std::erf(a);
  case Op::Sigmoid:
    return 1 / (1 + std::exp(-a));
  case Op::Floor:
    return std::floor(a);
  case Op::Ceil:
    return std::ceil(a);
  case Op::Round:
    return std::nearbyint(a); // to even, in the default rounding mode
  default:
    return std::trunc(a);
  }
}

Value castValue(DType type, const Value &value) {
  switch (dtypeKind(type)) {
  case ValueKind::Float:
    return Value::ofFloat(value.kind == ValueKind::Float ? roundFloat(type, value.real)
                                                         : intToFloat(type, value.integer));
  case ValueKind::Int:
    return Value::ofInt(value.kind == ValueKind::Float ? floatToInt(type, value.real)
                                                       : wrapInt(type, value.integer));
  case ValueKind::Bool:
    break;
  }
  return value;
}

} // namespace tile_rt
