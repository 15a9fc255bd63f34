#include "Expr.h"

#include <algorithm>
#include <cstdio>

namespace tile_rt {

namespace {
constexpr OpInfo kOps[] = {
    {Op::Add, "add", "+", OpRule::Number, 2, 2},
    {Op::Sub, "sub", "-", OpRule::Number, 2, 2},
    {Op::Mul, "mul", "*", OpRule::Number, 2, 2},
    {Op::Div, "div", "/", OpRule::Number, 2, 2},
    {Op::Rem, "rem", "%", OpRule::IntNumber, 2, 2},
    {Op::Neg, "neg", nullptr, OpRule::Number, 1, 1},
    {Op::CeilDiv, "ceildiv", nullptr, OpRule::IntNumber, 2, 2},
    {Op::FloorDiv, "floordiv", nullptr, OpRule::IntNumber, 2, 2},
    {Op::FloorMod, "floormod", nullptr, OpRule::IntNumber, 2, 2},
    {Op::Min, "min", nullptr, OpRule::Number, 2, 255},
    {Op::Max, "max", nullptr, OpRule::Number, 2, 255},
    {Op::Abs, "abs", nullptr, OpRule::Number, 1, 1},
    {Op::Clamp, "clamp", nullptr, OpRule::Number, 3, 3},
    {Op::Eq, "eq", "==", OpRule::Equal, 2, 2},
    {Op::Ne, "ne", "!=", OpRule::Equal, 2, 2},
    {Op::Lt, "lt", "<", OpRule::Compare, 2, 2},
    {Op::Le, "le", "<=", OpRule::Compare, 2, 2},
    {Op::Gt, "gt", ">", OpRule::Compare, 2, 2},
    {Op::Ge, "ge", ">=", OpRule::Compare, 2, 2},
    {Op::And, "and", "&&", OpRule::Logic, 2, 255},
    {Op::Or, "or", "||", OpRule::Logic, 2, 255},
    {Op::Not, "not", nullptr, OpRule::Logic, 1, 1},
    {Op::Select, "select", nullptr, OpRule::Select, 3, 3},
    {Op::Shl, "shl", "<<", OpRule::Int, 2, 2},
    {Op::Shr, "shr", ">>", OpRule::Int, 2, 2},
    {Op::BitAnd, "bitand", "&", OpRule::Int, 2, 2},
    {Op::BitOr, "bitor", "|", OpRule::Int, 2, 2},
    {Op::BitXor, "bitxor", "^", OpRule::Int, 2, 2},
    {Op::BitNot, "bitnot", nullptr, OpRule::Int, 1, 1},
    {Op::Popcount, "popcount", nullptr, OpRule::Int, 1, 1},
    {Op::Clz, "clz", nullptr, OpRule::Int, 1, 1},
    {Op::MulHi, "mulhi", nullptr, OpRule::Int, 2, 2},
    {Op::DivFactor, "divfactor", nullptr, OpRule::Int, 1, 1},
    {Op::DivAddend, "divaddend", nullptr, OpRule::Int, 1, 1},
    {Op::DivShift, "divshift", nullptr, OpRule::Int, 1, 1},
    {Op::Cast, "cast", nullptr, OpRule::Cast, 1, 1},
    {Op::Fma, "fma", nullptr, OpRule::Float, 3, 3},
    {Op::Sqrt, "sqrt", nullptr, OpRule::Float, 1, 1},
    {Op::Rsqrt, "rsqrt", nullptr, OpRule::Float, 1, 1},
    {Op::Exp, "exp", nullptr, OpRule::Float, 1, 1},
    {Op::Exp2, "exp2", nullptr, OpRule::Float, 1, 1},
    {Op::Log, "log", nullptr, OpRule::Float, 1, 1},
    {Op::Log2, "log2", nullptr, OpRule::Float, 1, 1},
    {Op::Pow, "pow", nullptr, OpRule::Float, 2, 2},
    {Op::Sin, "sin", nullptr, OpRule::Float, 1, 1},
    {Op::Cos, "cos", nullptr, OpRule::Float, 1, 1},
    {Op::Tanh, "tanh", nullptr, OpRule::Float, 1, 1},
    {Op::Erf, "erf", nullptr, OpRule::Float, 1, 1},
    {Op::Sigmoid, "sigmoid", nullptr, OpRule::Float, 1, 1},
    {Op::Floor, "floor", nullptr, OpRule::Float, 1, 1},
    {Op::Ceil, "ceil", nullptr, OpRule::Float, 1, 1},
    {Op::Round, "round", nullptr, OpRule::Float, 1, 1},
    {Op::Trunc, "trunc", nullptr, OpRule::Float, 1, 1},
    {Op::IsNan, "isnan", nullptr, OpRule::FloatTest, 1, 1},
    {Op::IsInf, "isinf", nullptr, OpRule::FloatTest, 1, 1},
    {Op::IsFinite, "isfinite", nullptr, OpRule::FloatTest, 1, 1},
};

const OpInfo *infoOf(Op op) {
  for (const OpInfo &info : kOps) {
    if (info.op == op) {
      return &info;
    }
  }
  return nullptr;
}

std::string leafText(const Expr &expr) {
  switch (expr.op) {
  case Op::Const:
    return valueText(expr.constant);
  case Op::Extent:
    return "extent(" + expr.name + ", " + std::to_string(expr.detail) + ")";
  case Op::Stride:
    return "stride(" + expr.name + ", " + std::to_string(expr.detail) + ")";
  case Op::Present:
    return "present(" + expr.name + ")";
  case Op::Aligned:
    return "aligned(" + expr.name + ", " + std::to_string(expr.detail) + ")";
  case Op::SmCount:
    return "sm_count()";
  case Op::Grid:
    return "grid(" + std::to_string(expr.index) + ")";
  case Op::GridPoints:
    return "grid_points";
  default:
    return expr.name;
  }
}

std::string operandText(const Expr &expr) {
  const OpInfo *info = infoOf(expr.op);
  bool bare =
      !info || (!info->infix && expr.op != Op::Select && expr.op != Op::Neg && expr.op != Op::Not);
  return bare ? exprText(expr) : "(" + exprText(expr) + ")";
}
} // namespace

const OpInfo *findOp(std::string_view name) {
  const OpInfo *end = std::end(kOps);
  const OpInfo *found =
      std::find_if(std::begin(kOps), end, [&](const OpInfo &info) { return name == info.name; });
  return found == end ? nullptr : found;
}

std::string exprText(const Expr &expr) {
  const OpInfo *info = infoOf(expr.op);
  if (!info) {
    return leafText(expr);
  }
  if (expr.op == Op::Neg || expr.op == Op::Not) {
    return (expr.op == Op::Neg ? "-" : "!") + operandText(expr.args[0]);
  }
  if (expr.op == Op::Select) {
    return operandText(expr.args[0]) + " ? " + operandText(expr.args[1]) + " : " +
           operandText(expr.args[2]);
  }
  std::string text =
      info->infix ? ""
                  : std::string(expr.op == Op::Cast ? dtypeName(*expr.type) : info->name) + "(";
  for (size_t i = 0; i < expr.args.size(); ++i) {
    if (i) {
      text += info->infix ? std::string(" ") + info->infix + " " : ", ";
    }
    text += info->infix ? operandText(expr.args[i]) : exprText(expr.args[i]);
  }
  return info->infix ? text : text + ")";
}

std::string intText(Int value) {
  if (value == 0) {
    return "0";
  }
  std::string digits;
  for (unsigned __int128 rest = value < 0 ? -static_cast<unsigned __int128>(value) : value; rest;
       rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
  }
  if (value < 0) {
    digits += '-';
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string valueText(const Value &value) {
  switch (value.kind) {
  case ValueKind::Bool:
    return value.integer ? "true" : "false";
  case ValueKind::Int:
    return intText(value.integer);
  case ValueKind::Float:
    break;
  }
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.9g", value.real);
  return buffer;
}

void collectDims(const Expr &expr, std::vector<unsigned> &dims) {
  if (expr.op == Op::Dim && std::find(dims.begin(), dims.end(), expr.index) == dims.end()) {
    dims.push_back(expr.index);
  }
  for (const Expr &arg : expr.args) {
    collectDims(arg, dims);
  }
}

} // namespace tile_rt
