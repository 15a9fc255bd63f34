//===- ZeroBeyond.cpp - zeros in a buffer outside a box ------------------===//
//
// Few tiles need it, and it stands where products keep most registers: so it is a loop of short
// code, in which a thread computes where its store goes, and not an unrolled one with addresses kept.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/llvm/Addresses.h"

#include <numeric>

using namespace mlir;

namespace tilec::lowering {

/// Elements along the contiguous dimension that one store takes: all in the box or none.
static int64_t storeLength(const IntegerAnalysis &integers, const Shared &buffer, Value low,
                           Value high, int64_t run) {
  const unsigned dim = buffer.layout.contiguousDim();
  const int64_t bytes = memoryBytes(buffer.element);
  int64_t unit = run;
  for (int64_t multiple :
       {buffer.origin[dim], buffer.shape[dim], integers.divisor(low), integers.divisor(high)}) {
    unit = std::gcd(unit, multiple * bytes);
  }
  return std::max<int64_t>(1, unit / bytes);
}

LogicalResult KernelLowering::lowerZeroBeyond(tgpu::ZeroBeyondOp op) {
  const Shared &buffer = buffers[op.getDest()];
  const unsigned rank = buffer.shape.size();
  if (rank == 0) {
    return success();
  }
  const unsigned contiguous = buffer.layout.contiguousDim();
  const int64_t count = storeLength(integers, buffer, op.getLow()[contiguous],
                                    op.getHigh()[contiguous], alignedRun(buffer));
  SmallVector<unsigned> order = {contiguous}; // neighbours to neighbouring threads
  int64_t stores = 1;
  for (int d = int(rank) - 1; d >= 0; --d) {
    stores *= buffer.shape[d];
    if (unsigned(d) != contiguous) {
      order.push_back(d);
    }
  }
  stores /= count;
  const int64_t threads = warps.count * 32;
  auto loop = scf::ForOp::create(b, loc, i32(0), i32(llvm::divideCeil(stores, threads)), i32(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value number = add(mul(loop.getInductionVar(), threads), add(threadId, -warps.first * 32));
  Value exists =
      stores % threads == 0 ? Value() : compare(arith::CmpIPredicate::ult, number, i32(stores));
  SmallVector<Value> at(rank);
  Value inside, rest = number;
  for (unsigned d : order) {
    const int64_t length = d == contiguous ? buffer.shape[d] / count : buffer.shape[d];
    Value index = d == order.back() ? rest : b.createOrFold<arith::RemUIOp>(loc, rest, i32(length));
    rest = b.createOrFold<arith::DivUIOp>(loc, rest, i32(length));
    at[d] = d == contiguous ? mul(index, count) : index;
    if (!matchPattern(op.getLow()[d], m_Zero())) {
      inside = both(inside, compare(arith::CmpIPredicate::sge, at[d], scalars[op.getLow()[d]][0]));
    }
    APInt high;
    if (!matchPattern(op.getHigh()[d], m_ConstantInt(&high)) ||
        high.getSExtValue() < buffer.shape[d]) {
      inside = both(inside, compare(arith::CmpIPredicate::slt, at[d], scalars[op.getHigh()[d]][0]));
    }
  }
  guarded(both(exists, inside ? negated(inside) : constant(0, b.getI1Type())), [&] {
    Type slot = slotType(buffer.element);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(slot));
    storeElements(sharedElement(buffer, at, 0), buffer.element, Fragment(count, zero),
                  count * memoryBytes(buffer.element));
  });
  return success();
}

} // namespace tilec::lowering
