//===- GridDivision.cpp - indices of grid points without divisions --------===//
#include "passes/GridDivision.h"

#include "dialects/tgpu/GridPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilec;
using tgpu::PointDivisor;

SmallVector<Value> tilec::inversesOfDivisors(tile::LaunchOp launch, OpBuilder &hostBuilder) {
  ImplicitLocOpBuilder b(launch.getLoc(), hostBuilder);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  const Value one = number(1);
  // Extents that no grid has are refused when it is launched; until then nothing overflows.
  auto wide = [&](Value value) {
    if (!value.getType().isInteger(64)) {
      value = b.createOrFold<arith::ExtSIOp>(b.getI64Type(), value);
    }
    value = b.createOrFold<arith::MinSIOp>(value, number(INT32_MAX));
    return b.createOrFold<arith::MaxSIOp>(value, one);
  };
  const SmallVector<Value> extents = llvm::map_to_vector(launch.getGrid(), wide);
  const bool hasGroup = bool(launch.getRasterize());
  Value height, last;
  if (hasGroup && extents.size() >= 2) {
    height = b.createOrFold<arith::MinSIOp>(wide(launch.getRasterize()), extents[1]);
    last = b.createOrFold<arith::RemSIOp>(b.createOrFold<arith::SubIOp>(extents[1], one), height);
    last = b.createOrFold<arith::AddIOp>(last, one);
  }
  auto valueOf = [&](const PointDivisor &divisor) {
    switch (divisor.kind) {
    case PointDivisor::Plane:
      return b.createOrFold<arith::MulIOp>(extents[0], extents[1]);
    case PointDivisor::Panel:
      return b.createOrFold<arith::MulIOp>(extents[0], height);
    case PointDivisor::Height:
      return height;
    case PointDivisor::LastHeight:
      return last;
    case PointDivisor::Extent:
      return extents[divisor.dim];
    }
    llvm_unreachable("no such divisor");
  };
  const Value dividend = number(int64_t(1) << 62);
  return llvm::map_to_vector(
      tgpu::pointDivisors(extents.size(), hasGroup), [&](const PointDivisor &divisor) {
        Value quotient = b.createOrFold<arith::DivSIOp>(dividend, valueOf(divisor));
        return b.createOrFold<arith::AddIOp>(quotient, one);
      });
}
