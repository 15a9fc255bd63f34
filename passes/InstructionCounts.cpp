//===- InstructionCounts.cpp - instructions of scalar code ---------------===//
//
// Counted in what ptxas 13.0 makes of single operations for sm_90a, rounded. Half-rate instructions (integers beside
// floats, conversions) count as what they keep a scheduler's pipe busy.
//
//===----------------------------------------------------------------------===//
#include "passes/InstructionCounts.h"

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

static bool isFast(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags &&
         bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

/// Whether a product joins the sum that takes it: one instruction for both.
static bool joinsSum(arith::MulFOp product) {
  return product->hasOneUse() && isa<arith::AddFOp, arith::SubFOp>(*product->user_begin()) &&
         bitEnumContainsAll(product.getFastmath(), arith::FastMathFlags::contract);
}

static Instructions ofConversion(tile::ConvertOp convert) {
  Type from = getElementTypeOrSelf(convert.getInput().getType()),
       to = getElementTypeOrSelf(convert.getType());
  const unsigned fromBits = tile::getStorageBits(from), toBits = tile::getStorageBits(to);
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    const double narrow = std::min(fromBits, toBits) < 16 ? 1.5 : 0;
    return {(toBits < fromBits ? 0.5 : 1) + narrow, 0};
  }
  if (isa<IntegerType>(from) && isa<IntegerType>(to)) {
    return {toBits < fromBits || fromBits >= 32 ? 0.5 : 1, 0};
  }
  return {fromBits <= 8 || toBits <= 8 ? 3.0 : 2.0, 0};
}

static Instructions ofFloatDivision(Operation *op) {
  return isFast(op) ? Instructions{2, 1} : Instructions{13, 1};
}

static bool isWide(Operation *op) {
  Type type = op->getNumResults() == 0 ? Type() : getElementTypeOrSelf(op->getResult(0).getType());
  return type && type.isIntOrFloat() && type.getIntOrFloatBitWidth() > 32;
}

/// A division by a constant is a multiplication and a shift.
static Instructions ofIntegerDivision(Operation *op) {
  Value divisor = op->getOperand(1);
  if (auto splat = divisor.getDefiningOp<tile::SplatOp>()) {
    divisor = splat.getInput();
  }
  const bool isKnown = matchPattern(divisor, m_Constant());
  return {(isKnown ? 4.0 : 16.0) * (isWide(op) ? 4 : 1), 0};
}

/// Operations that only say where data is, or that have no code of their own.
static bool isFree(Operation *op) {
  return isa<arith::ConstantOp, tile::SplatOp, tile::BroadcastOp, tile::SliceOp, tile::ReshapeOp,
             tile::BitcastViewOp, tile::TransposeOp, tgpu::ViewOp, tgpu::SubviewOp, tgpu::SlotOp,
             tgpu::AllocSharedOp, tgpu::ReturnOp, tgpu::YieldOp, tile::YieldOp, scf::YieldOp,
             scf::ConditionOp, tile::ConstantArrayOp, arith::BitcastOp, arith::IndexCastOp,
             arith::IndexCastUIOp, arith::TruncIOp, tgpu::FragmentSliceOp, tgpu::FragmentInsertOp>(
             op) ||
         op->getName().getDialectNamespace() == "vector"; // elements of what a thread holds
}

Instructions tilec::instructionsOf(Operation *op) {
  if (isFree(op)) {
    return {};
  }
  const double wide = isWide(op) ? 2 : 1;
  return llvm::TypeSwitch<Operation *, Instructions>(op)
      .Case([&](tile::ConvertOp convert) { return ofConversion(convert); })
      .Case([&](arith::MulFOp product) { return Instructions{joinsSum(product) ? 0 : wide, 0}; })
      .Case<arith::DivFOp>([&](auto) { return ofFloatDivision(op); })
      .Case<arith::RemFOp, math::PowFOp>([](auto) { return Instructions{40, 2}; })
      .Case<math::Exp2Op, math::LogOp, math::Log2Op, math::RsqrtOp>(
          [&](auto) { return Instructions{isFast(op) ? 2.0 : 4.0, 1}; })
      .Case<math::ExpOp, math::SqrtOp, math::Log10Op>(
          [&](auto) { return Instructions{isFast(op) ? 3.0 : 6.0, 1}; })
      .Case<math::SinOp, math::CosOp>(
          [&](auto) { return isFast(op) ? Instructions{3, 1} : Instructions{30, 0}; })
      .Case<math::TanhOp>(
          [&](auto) { return isFast(op) ? Instructions{1, 1} : Instructions{14, 2}; })
      .Case<math::ErfOp>([](auto) { return Instructions{20, 1}; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
            arith::CeilDivUIOp, arith::FloorDivSIOp, tile::DivOp, tile::RemOp>(
          [&](auto) { return ofIntegerDivision(op); })
      .Case<arith::MulIOp>([&](auto) { return Instructions{wide > 1 ? 4.0 : 2.0, 0}; })
      .Case<tile::ShuffleOp>([](auto) { return Instructions{2, 0}; })
      .Case([](tile::WarpOp warp) { // a shuffle and a combination for each halving
        return Instructions{3.0 * llvm::Log2_32(std::max(2u, warp.getWidth())), 0};
      })
      .Case([](tile::WarpScanOp scan) { // some lanes keep what they have; exclusive: a step more
        const double steps = llvm::Log2_32(std::max(2u, scan.getWidth()));
        return Instructions{4.0 * steps + (scan.getExclusive() ? 3 : 0), 0};
      })
      .Case<tgpu::LookupOp, tgpu::UnpackOp, tgpu::PackOp>([](auto) { return Instructions{3, 0}; })
      .Default([&](Operation *) { return Instructions{wide, 0}; });
}

Instructions tilec::instructionsOf(Region &region) {
  Instructions total;
  region.walk([&](Operation *op) { total.add(instructionsOf(op)); });
  return total;
}
