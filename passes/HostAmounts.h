//===- HostAmounts.h - numbers that host code will compute ------*- C++ -*-===//
//
// The cost of a launch is an expression of its operands. HostMath writes it as operations of host code, as few as it
// can: what is known is folded, what has been written is not written again.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_HOSTAMOUNTS_H
#define TILEC_PASSES_HOSTAMOUNTS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <map>

namespace tilec {

/// A number, known now or when the host runs.
struct Amount {
  double constant = 0;
  mlir::Value value; ///< f64; null: `constant`

  Amount(double constant = 0) : constant(constant) {}
  Amount(mlir::Value value) : value(value) {}
  bool isConstant() const { return !value; }
  bool is(double number) const { return !value && constant == number; }
  bool operator==(const Amount &) const = default;
};

/// constant + sum of coefficient * value, all values and coefficients at least 0.
struct Linear {
  double constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, double>, 2> terms;

  Linear(double constant = 0) : constant(constant) {}
  bool isConstant() const { return terms.empty(); }
  bool isZero() const { return terms.empty() && constant == 0; }
  void add(const Linear &other, double factor = 1);
  /// Whether it is at least `other` whatever the values are.
  bool covers(const Linear &other) const;
};

/// Writes arithmetic on f64 at a place in host code.
class HostMath {
public:
  explicit HostMath(mlir::ImplicitLocOpBuilder &builder) : b(builder) {}

  Amount add(Amount x, Amount y);
  Amount sub(Amount x, Amount y);
  Amount mul(Amount x, Amount y);
  Amount div(Amount x, Amount y);
  Amount max(Amount x, Amount y);
  Amount min(Amount x, Amount y);
  Amount ceil(Amount x);
  Amount floor(Amount x);
  Amount log2(Amount x);
  /// 1 where `x`, a whole number, is no multiple of `unit`, else 0.
  Amount isNoMultiple(Amount x, double unit);
  /// 1 where the condition, an i1 of host code, holds, else 0.
  Amount indicator(mlir::Value condition);
  /// An integer or float of host code.
  Amount of(mlir::Value number);

  Linear scale(const Linear &x, Amount factor);
  Amount sum(const Linear &x);
  /// The greatest of some; those that another one covers are not computed.
  Amount max(llvm::ArrayRef<Linear> list);

  mlir::Value materialise(Amount x);

private:
  template <typename Op>
  Amount make(llvm::ArrayRef<mlir::Value> operands);

  mlir::ImplicitLocOpBuilder &b;
  std::map<std::array<const void *, 4>, mlir::Value> made; // looked up only
  std::map<double, mlir::Value> constants;                 // likewise
};

} // namespace tilec

#endif // TILEC_PASSES_HOSTAMOUNTS_H
