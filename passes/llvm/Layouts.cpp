//===- Layouts.cpp - values that move between threads --------------------===//
//
// A fragment is, in each thread, one value for each slot of its layout, in the order of the slots.
// What every function here takes for granted, and keeps:
// - a slot whose element several threads hold has the same bits in all of them;
// - a slot that lies outside of the tile has some value, which no result inside depends on. So any
//   value will do where a conversion brings none;
// - all threads of a warp (of the role, where shared memory is used) run the operation together:
//   control in block code is uniform.
// Which slot goes where is decided by dialects/layout, which proves that every slot inside of the
// tile is filled; here the plans are only carried out.
//
// Shuffles: a step gives one slot of each lane to lanes that choose from whom they read. Where lanes
// need different slots for one target, several steps write it. Each lane wants what exactly one of
// them brings; the first may write without asking, as another that is wanted comes later and
// writes over it. Source slots are never written, so that the order is free otherwise.
//
// Shared memory: a barrier between writes and reads. That the space is not written while threads that
// are behind still use it, for this conversion or for another one, is the business of
// `tgpu-insert-sync`, which knows what a conversion accesses.
//
// Nothing repeats until something holds: each loop runs over a plan or the slots.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Addresses.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilec::lowering {

Value KernelLowering::shuffle(NVVM::ShflKind kind, Value value, Value lane, int64_t reach,
                              Value *isReached) {
  Type type = value.getType();
  const unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 64) {
    Value vector = LLVM::BitcastOp::create(b, loc, VectorType::get({2}, b.getI32Type()), value);
    for (int64_t i = 0; i < 2; ++i) {
      Value index = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
      Value word = LLVM::ExtractElementOp::create(b, loc, vector, index);
      word = shuffle(kind, word, lane, reach, isReached);
      vector = LLVM::InsertElementOp::create(b, loc, vector, word, index);
    }
    return LLVM::BitcastOp::create(b, loc, type, vector);
  }
  Value word = value;
  if (bits < 32) {
    Type integer = b.getIntegerType(bits);
    if (type != integer) {
      word = LLVM::BitcastOp::create(b, loc, integer, word);
    }
    word = arith::ExtUIOp::create(b, loc, b.getI32Type(), word);
  }
  Type type32 = word.getType();
  Type result =
      isReached ? Type(LLVM::LLVMStructType::getLiteral(b.getContext(), {type32, b.getI1Type()}))
                : type32;
  word = NVVM::ShflOp::create(b, loc, result, i32(-1), word, lane, i32(reach), kind,
                              isReached ? b.getUnitAttr() : UnitAttr());
  if (isReached) {
    *isReached = LLVM::ExtractValueOp::create(b, loc, word, 1);
    word = LLVM::ExtractValueOp::create(b, loc, word, 0);
  }
  if (bits < 32) {
    Type integer = b.getIntegerType(bits);
    word = arith::TruncIOp::create(b, loc, integer, word);
    if (type != integer) {
      word = LLVM::BitcastOp::create(b, loc, type, word);
    }
  }
  return word;
}

Value KernelLowering::laneFunction(const layout::LaneFunction &function) {
  Value result = i32(function.base);
  for (auto [i, mask] : llvm::enumerate(function.masks)) {
    if (mask == 0) {
      continue;
    }
    Value bit = b.createOrFold<arith::ShRUIOp>(loc, laneId, i32(i));
    bit = b.createOrFold<arith::AndIOp>(loc, bit, i32(1));
    result = b.createOrFold<arith::XOrIOp>(loc, result, mul(bit, mask));
  }
  return result;
}

/// Neighbouring slots as words of their bits; `slots` are those of one word.
static Value joinWord(OpBuilder &b, Location loc, ArrayRef<Value> slots) {
  Type element = slots.front().getType();
  const unsigned bits = element.getIntOrFloatBitWidth() * slots.size();
  if (slots.size() == 1) {
    return isa<IntegerType>(element)
               ? slots.front()
               : LLVM::BitcastOp::create(b, loc, b.getIntegerType(bits), slots.front()).getResult();
  }
  Value vector = LLVM::PoisonOp::create(b, loc, VectorType::get({int64_t(slots.size())}, element));
  for (auto [i, slot] : llvm::enumerate(slots)) {
    Value index = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    vector = LLVM::InsertElementOp::create(b, loc, vector, slot, index);
  }
  return LLVM::BitcastOp::create(b, loc, b.getIntegerType(bits), vector);
}

/// The inverse.
static void splitWord(OpBuilder &b, Location loc, Value word, MutableArrayRef<Value> slots,
                      Type element) {
  if (slots.size() == 1) {
    slots.front() = word.getType() == element
                        ? word
                        : LLVM::BitcastOp::create(b, loc, element, word).getResult();
    return;
  }
  Value vector =
      LLVM::BitcastOp::create(b, loc, VectorType::get({int64_t(slots.size())}, element), word);
  for (auto [i, slot] : llvm::enumerate(slots)) {
    Value index = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
    slot = LLVM::ExtractElementOp::create(b, loc, vector, index);
  }
}

Fragment KernelLowering::swapLanes(ArrayRef<Value> slots, const layout::LaneSwaps &plan) {
  const int64_t together = plan.together;
  SmallVector<Value> words;
  for (size_t first = 0; first < slots.size(); first += together) {
    words.push_back(joinWord(b, loc, slots.slice(first, together)));
  }
  for (const layout::LaneSwap &step : plan.steps) {
    const int64_t distance = int64_t(1) << step.registerBit;
    Value bit = b.createOrFold<arith::AndIOp>(loc, laneId, i32(int64_t(1) << step.laneBit));
    Value isOdd = compare(arith::CmpIPredicate::ne, bit, i32(0));
    for (int64_t low = 0; low < int64_t(words.size()); ++low) {
      if ((low & distance) != 0) {
        continue;
      }
      Value &even = words[low], &odd = words[low + distance];
      Value given = arith::SelectOp::create(b, loc, isOdd, even, odd);
      Value taken = shuffle(NVVM::ShflKind::bfly, given, i32(int64_t(1) << step.laneBit));
      Value first = arith::SelectOp::create(b, loc, isOdd, taken, even);
      odd = arith::SelectOp::create(b, loc, isOdd, odd, taken);
      even = first;
    }
  }
  Fragment result(slots.size());
  for (auto [i, from] : llvm::enumerate(plan.registers)) {
    splitWord(b, loc, words[from], MutableArrayRef<Value>(result).slice(i * together, together),
              slots.front().getType());
  }
  return result;
}

FailureOr<Fragment> KernelLowering::convertLayout(Operation *op, ArrayRef<Value> slots,
                                                  Type element, const layout::RegisterLayout &from,
                                                  const layout::RegisterLayout &to,
                                                  std::optional<int64_t> scratch) {
  const unsigned bits = memoryBytes(element) * 8;
  auto plan = tgpu::planConversion(op->getContext(), from, to, bits);
  if (!plan) {
    return unsupported(op, "a conversion of layouts: " + plan.reason());
  }
  Fragment result(to.registersPerThread());
  switch (plan->kind) {
  case layout::Conversion::Kind::None:
    return Fragment(slots);
  case layout::Conversion::Kind::Registers:
    for (auto [i, source] : llvm::enumerate(plan->registers)) {
      result[i] = slots[source];
    }
    return result;
  case layout::Conversion::Kind::Shuffles:
    for (const layout::ShuffleStep &step : plan->shuffles) {
      Value got = slots[step.source];
      if (!step.sourceLane.isIdentity()) {
        got = shuffle(NVVM::ShflKind::idx, got, laneFunction(step.sourceLane));
      }
      Value &target = result[step.target];
      if (step.select >= 0 && target) {
        Value chosen =
            compare(arith::CmpIPredicate::eq, laneFunction(step.selector), i32(step.select));
        got = arith::SelectOp::create(b, loc, chosen, got, target);
      }
      target = got;
    }
    for (Value &slot : result) {
      if (!slot) {
        slot = slots[0]; // padding
      }
    }
    return result;
  case layout::Conversion::Kind::Swaps:
    return swapLanes(slots, plan->swaps);
  case layout::Conversion::Kind::Shared:
    break;
  }
  if (!scratch) {
    return unsupported(op, "a conversion of layouts through shared memory without scratch space");
  }
  Shared buffer;
  buffer.bytes = *scratch;
  buffer.layout = plan->shared;
  buffer.origin.assign(plan->shared.rank(), 0);
  buffer.shape.assign(from.shape().begin(), from.shape().end());
  buffer.element = element;
  if (runningTeam) {
    buffer.steps.push_back({runningTeam, teamBytes});
  }
  llvm::SaveAndRestore lane(laneId), warp(warpId);
  if (standsBesideLoops(op)) {
    laneId = arith::AndIOp::create(b, loc, fromHere(threadId), i32(31));
    warpId = fromHere(warpId);
  }
  // All warps convert, whichever of them the layouts tell apart.
  if (failed(storeShared(op, buffer, from, slots)) || failed(synchronise(op))) {
    return failure();
  }
  return loadShared(op, buffer, to);
}

LogicalResult KernelLowering::lowerConvertLayout(tgpu::ConvertLayoutOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  const layout::RegisterLayout *from = tgpu::getLayout(type);
  const layout::RegisterLayout *to = tgpu::getLayout(op.getResult().getType());
  if (!from || !to) {
    return unsupported(op, "a fragment without a layout");
  }
  std::optional<int64_t> scratch;
  if (op.getScratch()) {
    scratch = int64_t(*op.getScratch());
  }
  FailureOr<Fragment> result =
      convertLayout(op, scalars[op.getSource()], type.getElementType(), *from, *to, scratch);
  if (failed(result)) {
    return failure();
  }
  scalars[op.getResult()] = *result;
  return success();
}

LogicalResult KernelLowering::lowerBroadcast(tile::BroadcastOp op) {
  const layout::RegisterLayout *narrow = tgpu::getLayout(op.getInput().getType());
  const layout::RegisterLayout *wide = tgpu::getLayout(op.getResult().getType());
  if (!narrow || !wide || narrow->partial()) {
    return unsupported(op, "a broadcast without layouts, or of partial values");
  }
  SmallVector<int> dims;
  for (unsigned dim = 0; dim < wide->rank(); ++dim) {
    if (!llvm::is_contained(op.getAxes(), int64_t(dim))) {
      dims.push_back(dim);
    }
  }
  auto slots = layout::broadcastRegisters(*narrow, *wide, dims);
  if (!slots) {
    return unsupported(op, "a broadcast between threads: " + slots.reason());
  }
  const Fragment source = scalars.lookup(op.getInput());
  Fragment result;
  for (int64_t slot : *slots) {
    result.push_back(source[slot]);
  }
  scalars[op.getResult()] = result;
  return success();
}

/// The slots of `whole` that a part of it has, or replaces.
static layout::Answer<SmallVector<int64_t, 16>>
slotsOfPart(Value whole, Value part, ArrayRef<int64_t> offsets, bool isReplaced) {
  const layout::RegisterLayout *outer = tgpu::getLayout(whole.getType());
  const layout::RegisterLayout *inner = tgpu::getLayout(part.getType());
  if (!outer || !inner) {
    return layout::Refusal{"it has no layout"};
  }
  return isReplaced ? layout::replacedRegisters(*outer, *inner, offsets)
                    : layout::partRegisters(*outer, *inner, offsets);
}

LogicalResult KernelLowering::lowerFragmentSlice(tgpu::FragmentSliceOp op) {
  auto slots = slotsOfPart(op.getSource(), op.getResult(), op.getOffsets(), /*isReplaced=*/false);
  if (!slots) {
    return unsupported(op, "a part of a fragment: " + slots.reason());
  }
  const Fragment whole = scalars.lookup(op.getSource());
  scalars[op.getResult()] =
      llvm::map_to_vector<8>(*slots, [&](int64_t slot) { return whole[slot]; });
  return success();
}

LogicalResult KernelLowering::lowerFragmentInsert(tgpu::FragmentInsertOp op) {
  auto slots = slotsOfPart(op.getResult(), op.getSource(), op.getOffsets(), /*isReplaced=*/true);
  if (!slots) {
    return unsupported(op, "a part of a fragment: " + slots.reason());
  }
  Fragment whole = scalars.lookup(op.getDest());
  for (auto [slot, element] : llvm::zip_equal(*slots, scalars.lookup(op.getSource()))) {
    whole[slot] = element;
  }
  scalars[op.getResult()] = whole;
  return success();
}

LogicalResult KernelLowering::lowerTranspose(tile::TransposeOp op) {
  const layout::RegisterLayout *from = tgpu::getLayout(op.getInput().getType());
  const layout::RegisterLayout *to = tgpu::getLayout(op.getResult().getType());
  if (!from || !to || !from->transposed().sameMap(*to)) {
    return unsupported(op, "a transposition that moves data between threads");
  }
  scalars[op.getResult()] = Fragment(scalars.lookup(op.getInput()));
  return success();
}

} // namespace tilec::lowering
