//===- PipelineRings.cpp - the rings of a pipelined loop, and how they fill ===//
//
// Before: the schedule is checked (Expander::checkSchedule). So there are two slots or more, each buffer that
// a ring replaces is filled by one copy of the body, ahead of its readers, and what tells that copy where to
// read follows from the number of an iteration, values from outside and global memory that the loop does not
// write. After: rings, and code for iteration j in front of the loop; its body has not changed.
// - Who fills a slot and who reads it take it from one function, `slotOf`, of the number j of the iteration.
// - TMA fills a slot for each j below the number of trips and for no other, and all bytes that its channel
//   expects: an mbarrier has as many phases as are awaited. An acquire waits for the release of j - n.
// - `fillGroup` closes one group each time, filled or not, so that how many are in flight is a constant. It
//   fills a slot past the last iteration only where nothing in the kernel may write what it reads.
// - What the thread that issues copies reads to find their places is read by all, in front of its branch.
//
// Why this ends: `recompute` and `recomputeReads` go from a value to operands in the same body, which stand
// before it, and leave out what the mapping has. All else walks over lists.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/GlobalAccess.h"
#include "passes/PipelineExpander.h"
#include "passes/RingPositions.h"
#include "passes/Shared.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

Value Expander::plus(Value a, Value b) { return emitSum(builder, loc, a, b); }

/// Rings, and for TMA their channel, at the start of the kernel: they outlive the loops around.
LogicalResult Expander::makeRings() {
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (auto copy : loop.getBody()->getOps<tgpu::CopyOp>()) {
    if (!isFill(copy, stages)) {
      continue;
    }
    auto alloc = copy.getDest().getDefiningOp<tgpu::AllocSharedOp>();
    if (!alloc || !alloc.getResult().getType().getLayout()) {
      return copy.emitError("has stage 0 but fills no whole buffer with a layout");
    }
    Load load;
    load.copy = copy;
    load.ring = tgpu::AllocSharedOp::create(entry, alloc.getLoc(),
                                            ringType(alloc.getResult().getType(), stages),
                                            alloc.getNameAttr(), StringAttr(), IntegerAttr());
    if (load.byTma()) {
      FailureOr<int64_t> map = getTensorMap(kernel, copy, analyseSlice(copy.getSource()),
                                            alloc.getResult().getType().getLayout().getLayout());
      if (failed(map)) {
        return failure();
      }
      load.map = *map;
    }
    loads.push_back(load);
  }
  makeChannels(entry);
  return success();
}

void Expander::makeChannels(OpBuilder &entry) {
  Fill all;
  for (Load &load : loads) {
    if (load.byTma()) {
      all.loads.push_back(&load);
    }
  }
  if (!all.loads.empty()) {
    fills.push_back(all);
  }
  for (Fill &fill : fills) {
    auto names = llvm::map_range(fill.loads, [](Load *load) {
      return load->copy.getDest().getDefiningOp<tgpu::AllocSharedOp>().getName().value_or("buffer");
    });
    auto type = tgpu::ChannelType::get(kernel.getContext(), stages);
    fill.channel = tgpu::ChannelOp::create(
        entry, loc, type, builder.getStringAttr(llvm::join(names, "+")), 1, kernel.getNumWarps(),
        IntegerAttr(), DenseI32ArrayAttr(), ValueRange());
  }
}

Value Expander::recompute(Value value, IRMapping &mapping, bool mayBeBeyond) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()) || mapping.contains(value)) {
    return mapping.lookupOrDefault(value);
  }
  Operation *definition = value.getDefiningOp();
  for (Value operand : definition->getOperands()) {
    recompute(operand, mapping, mayBeBeyond);
  }
  Operation *clone = builder.clone(*definition, mapping);
  tgpu::kSchedule.remove(clone);
  if (mayBeBeyond) { // what lies inside its tensor does so in the iterations that there are
    tgpu::kInBounds.remove(clone);
  }
  return mapping.lookup(value);
}

/// Positions of TMA run on from loop to loop, those of cp.async begin at 0.
Value Expander::slotOf(Load &load, Value number) {
  return tgpu::SlotOp::create(builder, load.copy.getLoc(), load.copy.getDest().getType(), load.ring,
                              load.byTma() ? plus(base, number) : number);
}

/// What tells, in global memory, where copies by TMA read from. All threads read it: nothing branches
/// where one thread alone issues copies.
IRMapping Expander::readPlaces(ArrayRef<Load *> some, Value number) {
  IRMapping mapping;
  for (Load *load : some) {
    if (globalReads(load->copy, loop).size() == 1) {
      continue;
    }
    if (!mapping.contains(loop.getInductionVar())) {
      mapping.map(loop.getInductionVar(), emitInduction(builder, loop, number));
    }
    recomputeReads(load->copy.getSource(), mapping);
  }
  return mapping;
}

void Expander::recomputeReads(Value value, IRMapping &mapping) {
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != loop.getBody() || mapping.contains(value)) {
    return;
  }
  for (Value operand : definition->getOperands()) {
    recomputeReads(operand, mapping);
  }
  if (globalRead(definition)) {
    recompute(value, mapping, /*mayBeBeyond=*/true);
  }
}

void Expander::emitLoad(Load &load, Value number, IRMapping &places, Value channel) {
  if (!places.contains(loop.getInductionVar())) {
    places.map(loop.getInductionVar(), emitInduction(builder, loop, number));
  }
  Value source = recompute(load.copy.getSource(), places, /*mayBeBeyond=*/true);
  Value slot = slotOf(load, number);
  if (channel) {
    tgpu::TmaLoadOp::create(builder, load.copy.getLoc(), source, slot, channel, plus(base, number),
                            load.map, DenseI32ArrayAttr(), load.copy.getCache());
  } else {
    tgpu::CpAsyncOp::create(builder, load.copy.getLoc(), source, slot, *load.copy.getBytes(),
                            load.copy.getCache());
  }
}

/// The bounds of views that copies by TMA read across and, where they are the same in every iteration,
/// before the loop what lies inside of them. The loops around stand by now: those that carry the
/// position have replaced others, with their induction variables.
void Expander::findBoxes() {
  auto isOutside = [&](Value value) {
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  for (Load &load : loads) {
    auto isFixed = [&](const OwnBound &bound) {
      auto size = dyn_cast<Value>(bound.size);
      return (!size || isOutside(size)) && llvm::all_of(bound.begin, isOutside);
    };
    if (load.byTma()) {
      load.bounds = ownBounds(load.copy.getSource());
    }
    if (load.bounds.empty()) {
      continue;
    }
    load.copy.emitRemark("what TMA loads from beyond the bounds of the view is set to zero when it "
                         "has landed");
    if (llvm::all_of(load.bounds, isFixed)) {
      load.box = emitInnerBox(builder, load.copy.getLoc(), analyseSlice(load.copy.getSource()),
                              load.bounds, [](Value value) { return value; });
    }
  }
}

/// Where the copy stands in the body, its data has landed: what TMA has read from beyond the bounds of
/// a view becomes zero. Few tiles reach there, all others only branch; so what orders the zeros
/// before other accesses of the slot belongs into the branch (tgpu-insert-sync).
void Expander::zeroBeyondBounds(Load &load, IRMapping &mapping) {
  if (load.bounds.empty()) {
    return;
  }
  const Location at = load.copy.getLoc();
  InnerBox box = load.box
                     ? *load.box
                     : emitInnerBox(builder, at, analyseSlice(load.copy.getSource()), load.bounds,
                                    [&](Value value) { return mapping.lookupOrDefault(value); });
  auto branch = scf::IfOp::create(builder, at, box.isPart, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  tgpu::ZeroBeyondOp::create(builder, at, mapping.lookup(load.copy.getDest()), box.low, box.high);
}

void Expander::ifInside(Value number, llvm::function_ref<void()> then) {
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, trips);
  auto branch = scf::IfOp::create(builder, loc, inside, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}

/// Starts to fill the slots of iteration `number` by TMA, if there is one.
void Expander::fillByTma(const Fill &fill, Value number) {
  Value position = plus(base, number);
  ifInside(number, [&] {
    IRMapping places = readPlaces(fill.loads, number);
    auto one = tgpu::OneThreadOp::create(builder, loc);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&one.getBody().emplaceBlock());
    int64_t bytes = 0;
    for (Load *load : fill.loads) {
      auto buffer = cast<tgpu::SmemType>(load->copy.getDest().getType());
      bytes += tmaBytes(buffer.getLayout().getLayout());
    }
    tgpu::AcquireOp::create(builder, loc, fill.channel, position);
    tgpu::ExpectOp::create(builder, loc, fill.channel, position, bytes);
    for (Load *load : fill.loads) {
      emitLoad(*load, number, places, fill.channel);
    }
  });
}

void Expander::fillByTma(Value number) {
  for (const Fill &fill : fills) {
    fillByTma(fill, number);
  }
}

void Expander::wait(const Fill &fill, Value position) {
  tgpu::WaitOp::create(builder, loc, fill.channel, position);
}

void Expander::release(const Fill &fill, Value position) {
  tgpu::ReleaseOp::create(builder, loc, fill.channel, position);
}

/// What a copy past the last iteration reads is of no use, but another block may be writing it.
bool Expander::mayReadPastEnd() {
  SmallVector<Value> reads;
  for (Load &load : loads) {
    llvm::append_range(reads, globalReads(load.copy, loop));
  }
  return !kernel
              .walk([&](Operation *op) {
                bool meets = llvm::any_of(reads, [&](Value read) { return mayChange(op, read); });
                return meets ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// cp.async of iteration `number`, as a group of its own. Past the last iteration, where it may, it
/// fills a slot that nobody reads: cheaper than a branch that would cut the products of an
/// iteration in two.
void Expander::fillGroup(Value number) {
  auto load = [&] {
    IRMapping places;
    for (Load &load : loads) {
      if (!load.byTma()) {
        emitLoad(load, number, places);
      }
    }
  };
  if (mayReadPastEnd()) {
    load();
  } else {
    ifInside(number, load);
  }
  tgpu::CpAsyncCommitOp::create(builder, loc);
}
