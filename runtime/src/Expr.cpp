#include "Expr.h"

#include <algorithm>
#include <cstdio>

namespace tile_rt {

namespace {
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
