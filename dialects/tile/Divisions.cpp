//===- Divisions.cpp -----------------------------------------------------===//
#include "dialects/tile/Divisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilec::tile {

std::optional<Division> divisionOf(Operation *op) {
  using Result = std::optional<Division>;
  auto quotient = [](Rounding rounding, bool isUnsigned) {
    return [=](auto) -> Result { return Division{rounding, isUnsigned, /*remainder=*/false}; };
  };
  auto rest = [](bool isUnsigned) {
    return [=](auto) -> Result { return Division{Rounding::Zero, isUnsigned, /*remainder=*/true}; };
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<DivOp>([](DivOp o) { return Division{o.getRounding(), o.getIsUnsigned(), false}; })
      .Case<RemOp>([](RemOp o) { return Division{o.getRounding(), o.getIsUnsigned(), true}; })
      .Case<arith::DivSIOp>(quotient(Rounding::Zero, false))
      .Case<arith::DivUIOp>(quotient(Rounding::Zero, true))
      .Case<arith::CeilDivSIOp>(quotient(Rounding::Up, false))
      .Case<arith::CeilDivUIOp>(quotient(Rounding::Up, true))
      .Case<arith::FloorDivSIOp>(quotient(Rounding::Down, false))
      .Case<arith::RemSIOp>(rest(false))
      .Case<arith::RemUIOp>(rest(true))
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace tilec::tile
