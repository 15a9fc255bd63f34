//===- Threads.cpp - regions of single threads, lanes of a warp ----------===//
//
// A region needs no form of its own: a kernel is lowered to the code of one thread anyway. What
// differs is that control may diverge. Operations among lanes name all 32 of them and wait for
// those that are behind; the language asks that all arrive. Behind a region the warp is brought
// together again, as block code wants it (ldmatrix, mma.sync, wgmma).
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilec::lowering {

LogicalResult KernelLowering::lowerThreads(tile::ThreadsOp op) {
  int64_t threads = 1;
  for (int32_t axis : op.getAxes()) {
    threads *= axis;
  }
  if (threads != warps.count * 32) {
    return op.emitOpError("axes make ")
           << threads << " threads, but " << warps.count * 32 << " run it";
  }
  // The warp's number is known to be one for all of its lanes.
  Value rest = add(threadId, -warps.first * 32);
  for (auto [i, axis] : llvm::enumerate(op.getAxes())) {
    Value index = rest;
    if (i == 0 && axis == 32) {
      index = laneId;
      rest = warpFrom(warps.first);
    } else if (i + 1 < op.getAxes().size()) {
      index = b.createOrFold<arith::RemUIOp>(loc, rest, i32(axis));
      rest = b.createOrFold<arith::DivUIOp>(loc, rest, i32(axis));
    }
    scalars[op.getBody().getArgument(i)] = {index};
  }
  if (failed(lowerBlock(op.getBody().front()))) {
    return failure();
  }
  loc = op.getLoc();
  Operation *next = op->getNextNode();
  if (!isa_and_nonnull<tgpu::ReturnOp>(next)) {
    NVVM::SyncWarpOp::create(b, loc, i32(-1));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Partners across each bit of the lane combine the same two values, and the operations are
/// commutative to the last bit: all lanes of a group end with the same number.
Value KernelLowering::reduceLanes(tile::WarpOp op, Value own) {
  layout::Combine kind = op.getKind() == tile::WarpOpKind::Sum   ? layout::Combine::Sum
                         : op.getKind() == tile::WarpOpKind::Min ? layout::Combine::Min
                                                                 : layout::Combine::Max;
  for (int64_t distance = op.getWidth() / 2; distance > 0; distance /= 2) {
    Value other = shuffle(NVVM::ShflKind::bfly, own, i32(distance));
    own = combine(kind, own, other, op.getIsUnsigned());
  }
  return own;
}

Value KernelLowering::voteLanes(tile::WarpOp op) {
  const bool isAny = op.getKind() == tile::WarpOpKind::Any;
  Value condition = scalars[op.getValue()][0];
  if (op.getWidth() == 32) {
    return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), i32(-1), condition,
                                    isAny ? NVVM::VoteSyncKind::any : NVVM::VoteSyncKind::all);
  }
  Value votes = NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), i32(-1), condition,
                                         NVVM::VoteSyncKind::ballot);
  Value group = i32(llvm::maskTrailingOnes<uint32_t>(op.getWidth()));
  Value first = b.createOrFold<arith::AndIOp>(loc, laneId, i32(-int64_t(op.getWidth())));
  votes = b.createOrFold<arith::ShRUIOp>(loc, votes, first);
  votes = b.createOrFold<arith::AndIOp>(loc, votes, group);
  return isAny ? compare(arith::CmpIPredicate::ne, votes, i32(0))
               : compare(arith::CmpIPredicate::eq, votes, group);
}

/// The lane that is read from is computed, as PTX's own arithmetic takes a number modulo 32: what
/// lies outside of the group is the lane itself.
Value KernelLowering::shuffleLanes(tile::ShuffleOp op) {
  Value value = scalars[op.getValue()][0], by = scalars[op.getLane()][0];
  const int64_t width = op.getWidth();
  const IntegerRange range = integers.range(op.getLane());
  if (op.getKind() == tile::WarpOpKind::ShuffleXor && range.low >= 0 && range.high < width) {
    return shuffle(NVVM::ShflKind::bfly, value, toInteger(by, b.getI32Type()));
  }
  Type type = by.getType().isInteger(64) ? by.getType() : Type(b.getI32Type());
  by = toInteger(by, type);
  Value lane = toInteger(laneId, type);
  Value first = b.createOrFold<arith::AndIOp>(loc, lane, constant(-width, type));
  Value from;
  switch (op.getKind()) {
  case tile::WarpOpKind::ShuffleXor:
    from = b.createOrFold<arith::XOrIOp>(loc, lane, by);
    break;
  case tile::WarpOpKind::ShuffleUp:
    from = b.createOrFold<arith::SubIOp>(loc, lane, by);
    break;
  case tile::WarpOpKind::ShuffleDown:
    from = add(lane, by);
    break;
  default: // counted from the group's first, modulo its width
    by = b.createOrFold<arith::AndIOp>(loc, by, constant(width - 1, type));
    from = add(first, by);
    return shuffle(NVVM::ShflKind::idx, value, toInteger(from, b.getI32Type()));
  }
  Value offset = b.createOrFold<arith::SubIOp>(loc, from, first);
  Value inside = compare(arith::CmpIPredicate::ult, offset, constant(width, type));
  from = b.createOrFold<arith::SelectOp>(loc, inside, from, lane);
  return shuffle(NVVM::ShflKind::idx, value, toInteger(from, b.getI32Type()));
}

LogicalResult KernelLowering::lowerWarpOp(Operation *op) {
  if (failed(flatten(op, op->getOperands()))) {
    return failure();
  }
  if (isa<tile::SyncWarpOp>(op)) {
    NVVM::SyncWarpOp::create(b, loc, i32(-1));
    return success();
  }
  // Narrow floats accumulate in f32, as in reductions of tiles: one rounding.
  auto accumulated = [&](auto lanes) -> FailureOr<Value> {
    Type type = op->getOperand(0).getType();
    Type inner = type.isF16() || type.isBF16() ? Type(b.getF32Type()) : type;
    FailureOr<Fragment> value =
        convertAll(op, scalars[op->getOperand(0)], type, inner, false, false);
    if (succeeded(value)) {
      value = convertAll(op, {lanes((*value)[0])}, inner, type, false, false);
    }
    return failed(value) ? FailureOr<Value>() : FailureOr<Value>((*value)[0]);
  };
  FailureOr<Value> result;
  if (auto shuffled = dyn_cast<tile::ShuffleOp>(op)) {
    result = shuffleLanes(shuffled);
  } else if (auto ballot = dyn_cast<tile::BallotOp>(op)) {
    result = Value(NVVM::VoteSyncOp::create(b, loc, b.getI32Type(), i32(-1),
                                            scalars[ballot.getCondition()][0],
                                            NVVM::VoteSyncKind::ballot));
  } else if (auto warp = dyn_cast<tile::WarpOp>(op)) {
    const bool votes = warp.getValue().getType().isInteger(1);
    result = votes ? FailureOr<Value>(voteLanes(warp))
                   : accumulated([&](Value own) { return reduceLanes(warp, own); });
  } else if (auto scan = dyn_cast<tile::WarpScanOp>(op)) {
    result = accumulated([&](Value own) { return scanLanes(scan, own); });
  } else {
    result = laneId;
  }
  if (failed(result)) {
    return failure();
  }
  scalars[op->getResult(0)] = {*result};
  return success();
}

} // namespace tilec::lowering
