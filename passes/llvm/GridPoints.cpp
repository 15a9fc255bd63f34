//===- GridPoints.cpp - indices of the point that a block works on --------===//
#include "mlir/IR/Matchers.h"
#include "passes/llvm/Clusters.h"

using namespace mlir;

namespace tilec::lowering {

/// n / d for n and d from 0 and 1 to 2^31 - 1: of n and 2^62 / d + 1, rounded down, the product is less than n * 2^62 / d + 2^31, and so less than
/// 2^62 / d beyond that of the next lower multiple of d and d - 1.
static Value timesInverse(OpBuilder &b, Location loc, Value n, Value inverse) {
  auto wide = [&](Value value) { return arith::ExtUIOp::create(b, loc, b.getI64Type(), value); };
  auto shifted = [&](Value value, int64_t bits) {
    return arith::ShRUIOp::create(b, loc, value, arith::ConstantIntOp::create(b, loc, bits, 64));
  };
  auto low32 = [&](Value value) { return arith::TruncIOp::create(b, loc, b.getI32Type(), value); };
  Value high = arith::MulIOp::create(b, loc, wide(n), wide(low32(shifted(inverse, 32))));
  Value low = arith::MulIOp::create(b, loc, wide(n), wide(low32(inverse)));
  Value product = arith::AddIOp::create(b, loc, high, shifted(low, 32)); // without its 32 low bits
  return low32(shifted(product, 30));
}

LogicalResult KernelLowering::lowerGridPoint(tgpu::GridPointOp op) {
  Value rest = scalars[op.getLinear()][0];
  auto boxed = [&](size_t dim) -> int64_t { // points of a cluster's box along this dimension
    const ArrayRef<int32_t> cluster = op.getCluster().value_or(ArrayRef<int32_t>());
    return dim < cluster.size() ? cluster[dim] : 1;
  };
  SmallVector<Value> extents; // in boxes
  for (auto [dim, extent] : llvm::enumerate(op.getExtents())) {
    extents.push_back(b.createOrFold<arith::DivUIOp>(loc, scalars[extent][0], i32(boxed(dim))));
  }
  auto times = [&](Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); };
  auto minus = [&](Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); };
  auto inverse = op.getInverses().begin();
  auto next = [&]() { return op.getInverses().empty() ? Value() : scalars[*inverse++][0]; };
  // Quotient and rest.
  auto divide = [&](Value x, Value by, Value inverse) {
    Value quotient = inverse && !matchPattern(by, m_Constant())
                         ? timesInverse(b, loc, x, inverse)
                         : b.createOrFold<arith::DivUIOp>(loc, x, by);
    return std::pair(quotient, minus(x, times(quotient, by)));
  };
  SmallVector<Value> indices;
  size_t dim = 0;
  if (op.getGroup() && extents.size() >= 2) {
    // Panels of `group` along the second index; inside, the second index runs fastest. No panel is higher than the grid, so that it has no
    // more points than that.
    Value group = b.createOrFold<arith::MinUIOp>(
        loc, b.createOrFold<arith::CeilDivUIOp>(loc, scalars[op.getGroup()][0], i32(boxed(1))),
        extents[1]);
    Value inPlane = rest;
    if (extents.size() > 2) {
      std::tie(rest, inPlane) = divide(rest, times(extents[0], extents[1]), next());
    }
    auto [panel, inPanel] = divide(inPlane, times(extents[0], group), next());
    Value first = times(panel, group), left = minus(extents[1], first);
    Value height = b.createOrFold<arith::MinUIOp>(loc, group, left);
    Value ofHeight = next(), ofLast = next();
    if (ofHeight) {
      Value isFull = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, left, group);
      ofHeight = arith::SelectOp::create(b, loc, isFull, ofHeight, ofLast);
    }
    auto [column, inColumn] = divide(inPanel, height, ofHeight);
    indices = {column, add(first, inColumn)};
    dim = 2;
  }
  for (; dim + 1 < extents.size(); ++dim) {
    auto [others, index] = divide(rest, extents[dim], next());
    indices.push_back(index);
    rest = others;
  }
  if (dim < extents.size()) {
    indices.push_back(rest);
  }
  for (auto [dim, result] : llvm::enumerate(op.getIndices())) {
    Value index = mul(indices[dim], boxed(dim));
    scalars[result] = {op.getCluster() ? add(index, clusters->coordinate(dim)) : index};
  }
  return success();
}

} // namespace tilec::lowering
