//===- Prints.cpp - messages of `print` ----------------------------------===//
//
// Messages stand in a ring that the host reads while kernels run. Who prints reserves room by moving
// the end of what is reserved with compare-and-swap, writes, and at last stores the message's head,
// which the host waits for. Where there is no room the message is counted as lost: what the host has
// not read is never overwritten, and nobody waits for the host. A thread that loses the exchange has
// seen another one's succeed, so the loop ends. An exchange takes a microsecond and one of all that
// try at a time succeeds: where single threads print, those of a warp that do reserve together, or a
// hundred thousand messages would take minutes.
//
// In block code the first thread reserves, one message after the other, which is the order of the
// program. Of a tile each thread writes what it holds: the place of the message reaches all through
// a word of shared memory.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/Shared.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

using Buffer = tile::PrintBuffer;

Value KernelLowering::printField(Value offset) {
  return LLVM::GEPOp::create(b, loc, printBuffer.getType(), b.getI8Type(), printBuffer, offset);
}

/// The address `bytes` (i32) behind the place `at` (i32) of the ring.
Value KernelLowering::ringPointer(Value at, Value bytes) {
  Value place = b.createOrFold<arith::AndIOp>(loc, add(at, bytes), i32(Buffer::kRingBytes - 1));
  return printField(add(place, Buffer::kRing));
}

/// Room for `count` (i32) messages: the place of the first in the ring (i32), or -1.
Value KernelLowering::reserveMessages(Value count, int64_t bytesOfOne) {
  Type word = b.getI64Type(), flag = b.getI1Type();
  const LLVM::AtomicOrdering relaxed = LLVM::AtomicOrdering::monotonic;
  Value reserved = printField(i32(Buffer::kReserved));
  Value bytes = mul(toInteger(count, word), bytesOfOne);
  // Acquire: what the host has read it has also cleared, before it said so.
  auto load = [&](Value pointer, LLVM::AtomicOrdering order) -> Value {
    return LLVM::LoadOp::create(b, loc, word, pointer, /*alignment=*/8, /*isVolatile=*/false,
                                /*isNonTemporal=*/false, /*isInvariant=*/false,
                                /*isInvariantGroup=*/false, order);
  };
  Value seen = load(reserved, relaxed);
  auto loop = scf::WhileOp::create(b, loc, {word, flag}, ValueRange(seen));
  OpBuilder::InsertionGuard guard(b);
  Value end = b.createBlock(&loop.getBefore(), {}, word, loc)->getArgument(0);
  Value read = load(printField(i32(Buffer::kConsumed)), LLVM::AtomicOrdering::acquire);
  Value taken = arith::SubIOp::create(b, loc, end, read);
  // With a sign: an end that is old may lie before what the host has read since, and the exchange fails.
  Value fits = compare(arith::CmpIPredicate::sle, add(taken, bytes), i64(Buffer::kRingBytes));
  auto attempt = scf::IfOp::create(b, loc, {word, flag}, fits, /*withElseRegion=*/true);
  b.setInsertionPointToStart(attempt.thenBlock());
  Value exchange =
      LLVM::AtomicCmpXchgOp::create(b, loc, reserved, end, add(end, bytes), relaxed, relaxed);
  Value found = LLVM::ExtractValueOp::create(b, loc, exchange, 0);
  scf::YieldOp::create(b, loc, {found, compare(arith::CmpIPredicate::ne, found, end)});
  b.setInsertionPointToStart(attempt.elseBlock());
  scf::YieldOp::create(b, loc, {end, constant(0, flag)});
  b.setInsertionPointAfter(attempt);
  scf::ConditionOp::create(b, loc, attempt.getResult(1), {attempt.getResult(0), fits});
  Block *again = b.createBlock(&loop.getAfter(), {}, {word, flag}, {loc, loc});
  scf::YieldOp::create(b, loc, again->getArgument(0));
  b.setInsertionPointAfter(loop);
  auto place = scf::IfOp::create(b, loc, b.getI32Type(), loop.getResult(1), true);
  b.setInsertionPointToStart(place.thenBlock());
  Value low = arith::TruncIOp::create(b, loc, b.getI32Type(), loop.getResult(0));
  scf::YieldOp::create(b, loc,
                       b.createOrFold<arith::AndIOp>(loc, low, i32(Buffer::kRingBytes - 1)));
  b.setInsertionPointToStart(place.elseBlock());
  LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, printField(i32(Buffer::kLost)),
                            toInteger(count, word), relaxed);
  scf::YieldOp::create(b, loc, i32(-1));
  return place.getResult(0);
}

/// The same for one message of each thread that is here, in one step for those of a warp that happen
/// to be here together: they stand behind one another.
Value KernelLowering::reserveByWarp(int64_t bytes) {
  if (bytes * 32 > Buffer::kRingBytes / 2) {
    return reserveMessages(i32(1), bytes);
  }
  Type word = b.getI32Type();
  Value here = LLVM::CallIntrinsicOp::create(b, loc, word, b.getStringAttr("llvm.nvvm.activemask"),
                                             ValueRange())
                   .getResult(0);
  Value below = add(b.createOrFold<arith::ShLIOp>(loc, i32(1), laneId), -1);
  auto countOf = [&](Value mask) -> Value { return LLVM::CtPopOp::create(b, loc, word, mask); };
  Value before = countOf(b.createOrFold<arith::AndIOp>(loc, here, below));
  Value isFirst = compare(arith::CmpIPredicate::eq, before, i32(0));
  auto reserve = scf::IfOp::create(b, loc, word, isFirst, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(reserve.thenBlock());
    scf::YieldOp::create(b, loc, reserveMessages(countOf(here), bytes));
    b.setInsertionPointToStart(reserve.elseBlock());
    scf::YieldOp::create(b, loc, i32(-1));
  }
  Value first = LLVM::CountTrailingZerosOp::create(b, loc, word, here, /*is_zero_poison=*/true);
  Value at = NVVM::ShflOp::create(b, loc, word, here, reserve.getResult(0), first, i32(31),
                                  NVVM::ShflKind::idx, UnitAttr());
  Value mine = add(at, mul(before, bytes));
  return arith::SelectOp::create(b, loc, compare(arith::CmpIPredicate::sge, at, i32(0)), mine, at);
}

/// Neighbours of a message, from `offset` on.
void KernelLowering::writeElements(Value at, int64_t offset, Type element, ArrayRef<Value> values) {
  const int64_t bytes = memoryBytes(element);
  for (auto [i, value] : llvm::enumerate(values)) {
    storeElements(ringPointer(at, i32(offset + int64_t(i) * bytes)), element, value, bytes);
  }
}

/// What the calling thread holds of a tile, whose elements stand in the order of their indices.
void KernelLowering::writeTile(Value at, int64_t offset, Type element,
                               const layout::RegisterLayout &layout, ArrayRef<Value> slots) {
  const int64_t bytes = memoryBytes(element);
  SmallVector<int64_t> strides(layout.rank(), bytes);
  for (int64_t dim = int64_t(layout.rank()) - 2; dim >= 0; --dim) {
    strides[dim] = strides[dim + 1] * layout.shape()[dim + 1];
  }
  Value first = i32(offset);
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    first = add(first, mul(threadCoordinate(layout, dim), strides[dim]));
  }
  for (auto [slot, value] : llvm::enumerate(slots)) {
    int64_t behind = 0;
    layout::Coords coordinates = layout.registerOffset(slot);
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      behind += coordinates[dim] * strides[dim];
    }
    guarded(slotInTile(layout, slot),
            [&] { storeElements(ringPointer(at, add(first, behind)), element, value, bytes); });
  }
}

/// The head: the number of bytes, by which the host sees that they are there, and of the print.
void KernelLowering::publishMessage(tile::PrintOp op, Value at, int64_t bytes) {
  Value number = arith::ExtUIOp::create(b, loc, b.getI64Type(), add(printBase, *op.getPlace()));
  Value head = arith::ShLIOp::create(b, loc, number, i64(32));
  head = arith::OrIOp::create(b, loc, head, i64(bytes));
  LLVM::StoreOp::create(b, loc, head, ringPointer(at, i32(0)), /*alignment=*/8,
                        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::release);
}

LogicalResult KernelLowering::lowerPrint(tile::PrintOp op) {
  if (!op.getPlace()) {
    return op.emitOpError("has no number in its kernel");
  }
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) ? printTiles(op)
                                                                              : printScalars(op);
}

LogicalResult KernelLowering::printScalars(tile::PrintOp op) {
  const tile::MessageShape shape = tile::messageShape(op->getOperandTypes());
  SmallVector<Fragment> values;
  for (Value value : op.getValues()) {
    FailureOr<Fragment> flat = flatten(op, value);
    if (failed(flat)) {
      return failure();
    }
    values.push_back(*flat);
  }
  const bool inMap = op->getParentOfType<tile::MapOp>() != nullptr;
  Value condition = inMap ? mappedSlotPrints : writes(op);
  if (condition && matchPattern(condition, m_Zero())) {
    return success();
  }
  const bool byOne = !inMap && !op->getParentOfType<tile::ThreadsOp>();
  guarded(condition, [&] {
    Value at = byOne ? reserveMessages(i32(1), shape.bytes) : reserveByWarp(shape.bytes);
    guarded(compare(arith::CmpIPredicate::sge, at, i32(0)), [&] {
      for (auto [value, slots, offset] : llvm::zip_equal(op.getValues(), values, shape.offsets)) {
        writeElements(at, offset, getElementTypeOrSelf(value.getType()), slots);
      }
      publishMessage(op, at, shape.bytes);
    });
  });
  // The warp goes on as a whole; in a map lanes may differ, and it is behind the map that they meet.
  if (byOne) {
    NVVM::SyncWarpOp::create(b, loc, i32(-1));
  }
  return success();
}

LogicalResult KernelLowering::printTiles(tile::PrintOp op) {
  const tile::MessageShape shape = tile::messageShape(op->getOperandTypes());
  SmallVector<std::pair<Fragment, Value>> values; // with who writes them
  for (Value value : op.getValues()) {
    FailureOr<Fragment> slots = flatten(op, value);
    FailureOr<Value> owner = writes(op);
    if (isa<RankedTensorType>(value.getType())) {
      const layout::RegisterLayout *layout = tgpu::getLayout(value.getType());
      if (!layout || !layout->isSeparable() || layout->partial()) {
        return unsupported(op, "a `print` of a fragment in such a layout");
      }
      owner = ownsSlots(op, *layout);
    }
    if (failed(slots) || failed(owner)) {
      return failure();
    }
    values.emplace_back(*slots, *owner);
  }
  if (!op.getScratch()) {
    return unsupported(op, "a `print` of a tile without scratch space");
  }
  Value word = sharedPointer(runningTeam ? mul(runningTeam, teamBytes) : Value(), *op.getScratch());
  guarded(writes(op), [&] {
    LLVM::StoreOp::create(b, loc, reserveMessages(i32(1), shape.bytes), word,
                          /*alignment=*/kPrintScratch);
  });
  if (failed(synchronise(op))) {
    return failure();
  }
  Value at = LLVM::LoadOp::create(b, loc, b.getI32Type(), word, /*alignment=*/kPrintScratch);
  Value isThere = compare(arith::CmpIPredicate::sge, at, i32(0));
  guarded(isThere, [&] {
    for (auto [i, value] : llvm::enumerate(op.getValues())) {
      guarded(values[i].second, [&] {
        Type element = getElementTypeOrSelf(value.getType());
        if (const layout::RegisterLayout *layout = tgpu::getLayout(value.getType())) {
          writeTile(at, shape.offsets[i], element, *layout, values[i].first);
        } else {
          writeElements(at, shape.offsets[i], element, values[i].first);
        }
      });
    }
  });
  // What all have written is there before the head.
  if (failed(synchronise(op))) {
    return failure();
  }
  guarded(both(writes(op), isThere), [&] { publishMessage(op, at, shape.bytes); });
  NVVM::SyncWarpOp::create(b, loc, i32(-1));
  return success();
}

} // namespace tilec::lowering
