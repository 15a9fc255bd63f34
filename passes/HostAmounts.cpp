//===- HostAmounts.cpp - numbers that host code will compute -------------===//
#include "passes/HostAmounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace tilec;

void Linear::add(const Linear &other, double factor) {
  constant += factor * other.constant;
  for (auto [value, coefficient] : other.terms) {
    auto *it = llvm::find_if(terms, [&](const auto &term) { return term.first == value; });
    if (it == terms.end()) {
      terms.emplace_back(value, factor * coefficient);
    } else {
      it->second += factor * coefficient;
    }
  }
}

bool Linear::covers(const Linear &other) const {
  return constant >= other.constant && llvm::all_of(other.terms, [&](const auto &term) {
           return llvm::any_of(terms, [&](const auto &mine) {
             return mine.first == term.first && mine.second >= term.second;
           });
         });
}

template <typename Op>
Amount HostMath::make(ArrayRef<Value> operands) {
  std::array<const void *, 4> key = {TypeID::get<Op>().getAsOpaquePointer()};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    key[i + 1] = operand.getAsOpaquePointer();
  }
  Value &value = made[key];
  if (!value) {
    if constexpr (std::is_same_v<Op, arith::SIToFPOp> || std::is_same_v<Op, arith::UIToFPOp> ||
                  std::is_same_v<Op, arith::ExtFOp>) {
      value = Op::create(b, b.getF64Type(), operands.front());
    } else {
      value = Op::create(b, b.getF64Type(), operands);
    }
  }
  return value;
}

Value HostMath::materialise(Amount x) {
  if (!x.isConstant()) {
    return x.value;
  }
  Value &value = constants[x.constant];
  if (!value) {
    value = arith::ConstantOp::create(b, b.getF64FloatAttr(x.constant));
  }
  return value;
}

Amount HostMath::add(Amount x, Amount y) {
  if (x.isConstant() && y.isConstant()) {
    return x.constant + y.constant;
  }
  if (x.is(0) || y.is(0)) {
    return x.is(0) ? y : x;
  }
  return make<arith::AddFOp>({materialise(x), materialise(y)});
}

Amount HostMath::sub(Amount x, Amount y) {
  if (x.isConstant() && y.isConstant()) {
    return x.constant - y.constant;
  }
  if (y.is(0)) {
    return x;
  }
  return x == y ? Amount(0) : make<arith::SubFOp>({materialise(x), materialise(y)});
}

Amount HostMath::mul(Amount x, Amount y) {
  if (x.isConstant() && y.isConstant()) {
    return x.constant * y.constant;
  }
  if (x.is(0) || y.is(0)) {
    return 0.0;
  }
  if (x.is(1) || y.is(1)) {
    return x.is(1) ? y : x;
  }
  return make<arith::MulFOp>({materialise(x), materialise(y)});
}

Amount HostMath::div(Amount x, Amount y) {
  if (y.isConstant() && y.constant != 0) {
    return mul(x, 1 / y.constant);
  }
  return make<arith::DivFOp>({materialise(x), materialise(y)});
}

Amount HostMath::max(Amount x, Amount y) {
  if (x.isConstant() && y.isConstant()) {
    return std::max(x.constant, y.constant);
  }
  return x == y ? x : make<arith::MaxNumFOp>({materialise(x), materialise(y)});
}

Amount HostMath::min(Amount x, Amount y) {
  if (x.isConstant() && y.isConstant()) {
    return std::min(x.constant, y.constant);
  }
  return x == y ? x : make<arith::MinNumFOp>({materialise(x), materialise(y)});
}

Amount HostMath::ceil(Amount x) {
  return x.isConstant() ? Amount(std::ceil(x.constant)) : make<math::CeilOp>({x.value});
}

Amount HostMath::floor(Amount x) {
  return x.isConstant() ? Amount(std::floor(x.constant)) : make<math::FloorOp>({x.value});
}

Amount HostMath::log2(Amount x) {
  return x.isConstant() ? Amount(std::log2(x.constant)) : make<math::Log2Op>({x.value});
}

Amount HostMath::indicator(Value condition) {
  if (auto known = condition.getDefiningOp<arith::ConstantOp>()) {
    return cast<IntegerAttr>(known.getValue()).getValue().isZero() ? 0.0 : 1.0;
  }
  return make<arith::SelectOp>({condition, materialise(1), materialise(0)});
}

Amount HostMath::of(Value number) {
  if (auto known = number.getDefiningOp<arith::ConstantOp>()) {
    if (auto integer = dyn_cast<IntegerAttr>(known.getValue())) {
      return double(integer.getValue().getSExtValue());
    }
    if (auto real = dyn_cast<FloatAttr>(known.getValue())) {
      return real.getValueAsDouble();
    }
  }
  Type type = number.getType();
  if (type.isF64()) {
    return number;
  }
  if (isa<FloatType>(type)) {
    return make<arith::ExtFOp>({number});
  }
  return type.isInteger(1) ? indicator(number) : make<arith::SIToFPOp>({number});
}

Amount HostMath::isNoMultiple(Amount x, double unit) {
  Amount units = div(x, unit);
  return min(mul(sub(units, floor(units)), unit), 1);
}

Linear HostMath::scale(const Linear &x, Amount factor) {
  Linear result;
  if (factor.isConstant()) {
    result.add(x, factor.constant);
    return result;
  }
  Linear one;
  one.terms.emplace_back(factor.value, 1.0);
  result.add(one, x.constant);
  for (auto [value, coefficient] : x.terms) {
    Linear product;
    product.terms.emplace_back(materialise(mul(value, factor)), 1.0);
    result.add(product, coefficient);
  }
  llvm::erase_if(result.terms, [](const auto &term) { return term.second == 0; });
  return result;
}

Amount HostMath::sum(const Linear &x) {
  Amount result = 0.0;
  for (auto [value, coefficient] : x.terms) {
    result = add(result, mul(value, coefficient));
  }
  return add(result, x.constant);
}

Amount HostMath::max(ArrayRef<Linear> list) {
  Amount result;
  bool isFirst = true;
  for (auto [i, x] : llvm::enumerate(list)) {
    bool isNeedless = false;
    for (auto [j, other] : llvm::enumerate(list)) {
      isNeedless |= j != i && other.covers(x) && (j < i || !x.covers(other));
    }
    if (!isNeedless) {
      result = isFirst ? sum(x) : max(result, sum(x));
      isFirst = false;
    }
  }
  return result;
}
