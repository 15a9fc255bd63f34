//===- Checks.cpp - what `--check` tests, at run time --------------------===//
//
// Where a check fails one thread claims the record of the device, the first one to do so, and fills
// it in; the rest go on as if nothing had been. No trap: the context lives on, and no barrier waits
// for threads that are gone. The branch holds no barrier and no call, so that it neither parts the
// lanes of a warp for longer than itself, nor makes ptxas serialise a wgmma around it.
//
//===----------------------------------------------------------------------===//
#include "dialects/tile/FailureRecord.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

using Record = tile::FailureRecord;

/// The address of a field of the record.
Value KernelLowering::failureField(int32_t offset) {
  return LLVM::GEPOp::create(b, loc, failureRecord.getType(), b.getI8Type(), failureRecord,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// The bits of a scalar, with zeros above them (i64).
static Value bitsOf(OpBuilder &b, Location loc, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (!value.getType().isSignlessInteger()) {
    value = arith::BitcastOp::create(b, loc, b.getIntegerType(width), value);
  }
  return width == 64 ? value : arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
}

void KernelLowering::recordFailure(tile::VerifyOp op, ArrayRef<Value> values) {
  // Relaxed: what makes the record visible is the release below. At system scope, as the host
  // reads.
  Value claimed = LLVM::AtomicCmpXchgOp::create(b, loc, failureField(Record::kClaimed), i32(0),
                                                i32(1), LLVM::AtomicOrdering::monotonic,
                                                LLVM::AtomicOrdering::monotonic);
  Value old = LLVM::ExtractValueOp::create(b, loc, claimed, 0);
  guarded(compare(arith::CmpIPredicate::eq, old, i32(0)), [&] {
    auto store = [&](int32_t offset, Value value) {
      LLVM::StoreOp::create(b, loc, value, failureField(offset));
    };
    store(Record::kPlace, add(failureBase, op.getPlace()));
    store(Record::kBlock, NVVM::BlockIdXOp::create(b, loc, b.getI32Type()));
    store(Record::kThread, threadId);
    for (auto [i, value] : llvm::enumerate(values)) {
      store(Record::kValues + 8 * int32_t(i), bitsOf(b, loc, value));
    }
    LLVM::StoreOp::create(b, loc, i32(1), failureField(Record::kComplete), /*alignment=*/4,
                          /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::release);
  });
}

static bool isInElementBody(Operation *op) {
  while (op && !tgpu::hasElementBody(op)) {
    op = op->getParentOp();
  }
  return op != nullptr;
}

/// Lanes differ: the warp goes into the branch and out of it as a whole.
void KernelLowering::recordFailureOfLanes(tile::VerifyOp op, Value fails, ArrayRef<Value> values) {
  Value any =
      NVVM::VoteSyncOp::create(b, loc, b.getI1Type(), i32(-1), fails, NVVM::VoteSyncKind::any);
  guarded(any, [&] {
    guarded(fails, [&] { recordFailure(op, values); });
    NVVM::SyncWarpOp::create(b, loc, i32(-1));
  });
}

void KernelLowering::recordFailuresOfMap() {
  const Location after = loc;
  for (auto &[op, failure] : mapFailures) {
    loc = op->getLoc();
    recordFailureOfLanes(cast<tile::VerifyOp>(op), failure.fails, failure.values);
  }
  mapFailures.clear();
  loc = after;
}

LogicalResult KernelLowering::lowerVerify(tile::VerifyOp op) {
  FailureOr<Fragment> holds = flatten(op, op.getCondition());
  FailureOr<Fragment> values = flatten(op, op.getValues());
  if (failed(holds) || failed(values) || values->size() != op.getValues().size()) {
    return unsupported(op, "a check of such values");
  }
  // What pads a layout, or a tile that a map runs over, is no element of the program's.
  const layout::RegisterLayout *layout = tgpu::getLayout(op.getCondition().getType());
  Value fails;
  for (auto [reg, condition] : llvm::enumerate(*holds)) {
    Value fault = compare(arith::CmpIPredicate::eq, condition, constant(0, b.getI1Type()));
    fault = both(fault, layout ? slotInTile(*layout, reg) : mappedSlotInTile);
    fails = fails ? b.createOrFold<arith::OrIOp>(loc, fails, fault) : fault;
  }
  if (layout) {
    recordFailureOfLanes(op, fails, *values);
    return success();
  }
  if (gathersMapFailures && isa<tile::MapOp>(op->getParentOp())) {
    auto [found, isFirst] = mapFailures.try_emplace(op, MapFailure{fails, *values});
    if (!isFirst) {
      MapFailure &before = found->second;
      for (auto [old, value] : llvm::zip_equal(before.values, *values)) {
        old = b.createOrFold<arith::SelectOp>(loc, before.fails, old, value);
      }
      before.fails = b.createOrFold<arith::OrIOp>(loc, before.fails, fails);
    }
    return success();
  }
  // Scalars of block code are uniform: all lanes go into the branch, where one of them does more.
  // Those of a map, a combination or a region are a lane's own.
  const bool isUniform = !isInElementBody(op) && !op->getParentOfType<tile::ThreadsOp>();
  guarded(fails, [&] {
    recordFailure(op, *values);
    if (isUniform) {
      NVVM::SyncWarpOp::create(b, loc, i32(-1));
    }
  });
  return success();
}

} // namespace tilec::lowering
