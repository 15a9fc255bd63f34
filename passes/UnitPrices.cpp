//===- UnitPrices.cpp - clocks that units of a loop take ------------------===//
#include "passes/UnitPrices.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;

/// Slots of a thread of what a unit computes.
static int64_t slotsOf(Operation *op) {
  int64_t slots = 0;
  for (Type type : op->getResultTypes()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    const layout::RegisterLayout *layout = tile ? tgpu::getLayout(tile) : nullptr;
    slots = std::max<int64_t>(slots, layout ? layout->registersPerThread() : 0);
  }
  return slots;
}

/// True for what the unit for special functions computes.
static bool isSpecial(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) &&
         !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(op);
}

int64_t tilec::issueClocks(const Unit &unit) {
  int64_t clocks = 0;
  if (unit.kind == Unit::Kind::Stream || unit.kind == Unit::Kind::Row) {
    for (Operation *op : unit.ops) {
      clocks += isa<tile::BroadcastOp>(op) ? 0 : slotsOf(op);
    }
  }
  return clocks;
}

int64_t tilec::specialClocks(const Unit &unit) {
  int64_t clocks = 0;
  for (Operation *op : unit.ops) {
    clocks += isSpecial(op) ? slotsOf(op) * 128 / 16 : 0;
  }
  return clocks;
}

int64_t tilec::tensorClocks(const Unit &unit) {
  int64_t clocks = 0;
  for (Operation *op : unit.ops) {
    auto product = dyn_cast<tgpu::WgmmaOp>(op);
    if (!product) {
      continue;
    }
    auto acc = cast<tgpu::PendingType>(product.getResult().getType()).getFragment();
    tgpu::MmaAttr mma = product.getMma();
    Type a = product.getA().getType();
    const bool inRegisters = isa<RankedTensorType>(a);
    ArrayRef<int64_t> shape =
        inRegisters ? cast<RankedTensorType>(a).getShape() : cast<tgpu::SmemType>(a).getShape();
    const int64_t k = shape[product.getTransposeA() ? 0 : 1];
    const int64_t n = mma.getN();
    const int64_t each = inRegisters ? n / 2 : std::max(n / 2, (64 + n) / 4);
    const int64_t tiles = std::max<int64_t>(1, acc.getShape()[0] / (64 * mma.getWarpsM())) *
                          std::max<int64_t>(1, acc.getShape()[1] / (n * mma.getWarpsN()));
    clocks += each * tiles * std::max<int64_t>(1, k / mma.getK());
  }
  return clocks;
}
