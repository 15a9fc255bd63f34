// The formulas of --bench: "flops = 2 * M * N * K; bytes = bits(T) / 8 * (M * K + K * N)".
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace tile_run {

/// A formula that cannot be read; the text says why.
struct ArithmeticError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Names {
  std::map<std::string, double> values;     ///< dimensions, scalars, numeric parameters
  std::map<std::string, std::string> types; ///< parameters and arguments whose value is a type
};

/// + - * / with parentheses over numbers, names, and `bits(T)` of a type or the name of one; in
/// double.
double evaluateArithmetic(const std::string &text, const Names &names);

/// Splits "a = ..; b = .." and evaluates each formula.
std::map<std::string, double> evaluateFormulas(const std::string &text, const Names &names);

} // namespace tile_run
