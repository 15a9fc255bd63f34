//===- GridPoint.cpp - from numbers of grid points to indices -------------===//
#include "dialects/tgpu/GridPoint.h"

#include "dialects/tgpu/Tgpu.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::tgpu;

void GridPointOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (auto kernel = dyn_cast_or_null<KernelOp>((*this)->getParentOp());
      kernel && kernel.getPersistent()) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

SmallVector<PointDivisor> tilec::tgpu::pointDivisors(unsigned rank, bool hasGroup) {
  SmallVector<PointDivisor> list;
  unsigned dim = 0;
  if (hasGroup && rank >= 2) {
    if (rank > 2) {
      list.push_back({PointDivisor::Plane});
    }
    list.append({{PointDivisor::Panel}, {PointDivisor::Height}, {PointDivisor::LastHeight}});
    dim = 2;
  }
  for (; dim + 1 < rank; ++dim) {
    list.push_back({PointDivisor::Extent, dim});
  }
  return list;
}

LogicalResult GridPointOp::verify() {
  if (getInverses().empty()) {
    return success();
  }
  if (getCluster() ||
      getInverses().size() != pointDivisors(getExtents().size(), bool(getGroup())).size()) {
    return emitOpError("has one inverse for each divisor, and none with clusters");
  }
  return success();
}

/// A kernel runs only if all extents are positive.
void GridPointOp::inferResultRanges(ArrayRef<ConstantIntRanges> args, SetIntRangeFn setRange) {
  for (auto [index, extent] : llvm::zip_equal(getIndices(), args.slice(1, getExtents().size()))) {
    int64_t last = std::max<int64_t>(extent.smax().getSExtValue() - 1, 0);
    setRange(index, ConstantIntRanges::fromSigned(APInt(32, 0), APInt(32, last)));
  }
}
