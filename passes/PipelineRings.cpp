//===- PipelineRings.cpp - the rings of a pipelined loop, and how they fill ===//
#include "mlir/IR/Matchers.h"
#include "passes/GlobalAccess.h"
#include "passes/PipelineExpander.h"
#include "passes/Shared.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

Value Expander::plus(Value a, Value b) {
  if (matchPattern(a, m_Zero())) {
    return b;
  }
  return matchPattern(b, m_Zero()) ? a : Value(arith::AddIOp::create(builder, loc, a, b));
}

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

/// What has to stay together with `op`, from its first operation on: registers of a product are
/// ready from its fence on, which nothing may part from it.
static Operation *startOf(Operation *op) {
  if (!isa<tgpu::WgmmaOp>(op)) {
    return op;
  }
  for (Operation *before = op; before; before = before->getPrevNode()) {
    if (isa<tgpu::WgmmaFenceOp>(before)) {
      return before;
    }
  }
  return op;
}

/// The first and the last operation of the body that use the buffer of a load; a product does until
/// it is waited for.
void Expander::findUses(Load &load, Fill &fill) {
  Operation *buffer = load.copy.getDest().getDefiningOp();
  auto uses = [&](Operation *op) {
    return op != load.copy && llvm::any_of(sync::accessesOf(op), [&](const sync::Access &access) {
             return access.memory.alloc == buffer;
           });
  };
  auto note = [&](Operation *op) {
    Operation *top = loop.getBody()->findAncestorOpInBlock(*op);
    fill.first = fill.first ? fill.first : startOf(top);
    if (top && (!fill.last || fill.last->isBeforeInBlock(top))) {
      fill.last = top;
    }
  };
  loop.getBody()->walk([&](Operation *op) {
    if (uses(op)) {
      note(op);
      if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
        llvm::for_each(product.getResult().getUsers(), note);
      }
    }
  });
}

void Expander::makeChannels(OpBuilder &entry) {
  for (Load &load : loads) {
    if (!load.byTma()) {
      continue;
    }
    Fill fill;
    if (refills()) {
      findUses(load, fill);
    }
    auto *same = llvm::find_if(fills, [&](const Fill &other) {
      return other.first == fill.first && other.last == fill.last;
    });
    (same == fills.end() ? fills.emplace_back(fill) : *same).loads.push_back(&load);
  }
  for (Fill &fill : fills) {
    auto names = llvm::map_range(fill.loads, [](Load *load) {
      return load->copy.getDest().getDefiningOp<tgpu::AllocSharedOp>().getName().value_or("buffer");
    });
    auto type = tgpu::ChannelType::get(kernel.getContext(), stages);
    fill.channel =
        tgpu::ChannelOp::create(entry, loc, type, builder.getStringAttr(llvm::join(names, "+")), 1,
                                kernel.getNumWarps(), IntegerAttr());
  }
}

//===----------------------------------------------------------------------===//
// The position of a ring, through all that is around its loop
//===----------------------------------------------------------------------===//

/// `op` with one more value that it carries, which begins as `base`. The paths that do not lead to
/// `place` hand it on; on the others `storePosition` says what it becomes. `base` is then what it
/// is inside.
static Operation *carryThrough(Operation *op, Operation *place, Value &base) {
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  const Location loc = op->getLoc(); // `op` is gone once it is replaced
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
        rewriter, ValueRange{base}, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> fresh) {
          return SmallVector<Value>{fresh.back()};
        });
    base = cast<scf::ForOp>(*replaced).getRegionIterArgs().back();
    return *replaced;
  }
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(base.getType());
  auto moveInto = [&](Operation *fresh) {
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), fresh->getRegions())) {
      to.takeBody(from);
    }
    rewriter.replaceOp(op, fresh->getResults().drop_back());
    return fresh;
  };
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    auto fresh = scf::IfOp::create(rewriter, loc, types, branch.getCondition(),
                                   /*addThenBlock=*/false, /*addElseBlock=*/false);
    moveInto(fresh);
    for (Region &region : fresh->getRegions()) {
      if (region.empty()) {
        rewriter.createBlock(&region);
        scf::YieldOp::create(rewriter, loc);
      }
      Operation *yield = region.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), base);
    }
    return fresh;
  }
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(base);
  auto fresh = scf::WhileOp::create(rewriter, loc, types, inits);
  moveInto(fresh);
  for (Region &region : fresh->getRegions()) {
    Value carried = region.front().addArgument(base.getType(), loc);
    Operation *end = region.front().getTerminator();
    end->insertOperands(end->getNumOperands(), carried);
  }
  base = fresh->getRegions()[fresh.getAfter().isAncestor(place->getParentRegion()) ? 1 : 0]
             .front()
             .getArguments()
             .back();
  return fresh;
}

/// Adds the ring position to the values that the loops and branches around carry, and reads it.
void Expander::carryPosition() {
  for (Operation *op = loop->getParentOp(); !isa<tgpu::KernelOp>(op); op = op->getParentOp()) {
    around.push_back(op);
  }
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  base = arith::ConstantIntOp::create(entry, loc, 0, 32);
  for (Operation *&outer : llvm::reverse(around)) {
    outer = carryThrough(outer, loop, base);
  }
}

void Expander::storePosition(Value end) {
  Operation *inner = loop;
  for (Operation *outer : around) {
    Operation *yield = inner->getBlock()->getTerminator();
    yield->setOperand(yield->getNumOperands() - 1, end);
    end = outer->getResults().back();
    inner = outer;
  }
}

/// The distance between two bounds of one type may pass its end; where there are trips it fits
/// without sign.
Value Expander::tripCount() {
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  const bool byOne = matchPattern(step, m_One());
  Type type = lower.getType();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)), trips;
  if (matchPattern(lower, m_Zero())) {
    trips = byOne ? upper : arith::CeilDivSIOp::create(builder, loc, upper, step).getResult();
    trips = arith::MaxSIOp::create(builder, loc, trips, zero);
  } else {
    Value runs = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lower, upper);
    trips = arith::SubIOp::create(builder, loc, upper, lower);
    if (!byOne) {
      trips = arith::CeilDivUIOp::create(builder, loc, trips, step);
    }
    trips = arith::SelectOp::create(builder, loc, runs, trips, zero);
  }
  Type i32 = builder.getI32Type();
  return type.isIndex()       ? arith::IndexCastOp::create(builder, loc, i32, trips).getResult()
         : type.isInteger(32) ? trips
                              : arith::TruncIOp::create(builder, loc, i32, trips).getResult();
}

Value Expander::inductionOf(Value number) {
  Type type = loop.getInductionVar().getType();
  Value value = number;
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(builder, loc, type, number);
  } else if (!type.isInteger(32)) {
    value = arith::ExtSIOp::create(builder, loc, type, number);
  }
  if (!matchPattern(loop.getStep(), m_One())) {
    value = arith::MulIOp::create(builder, loc, value, loop.getStep());
  }
  return plus(loop.getLowerBound(), value);
}

Value Expander::recompute(Value value, IRMapping &mapping) {
  if (!loop->isAncestor(value.getParentBlock()->getParentOp()) || mapping.contains(value)) {
    return mapping.lookupOrDefault(value);
  }
  Operation *definition = value.getDefiningOp();
  for (Value operand : definition->getOperands()) {
    recompute(operand, mapping);
  }
  tgpu::kSchedule.remove(builder.clone(*definition, mapping));
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
      mapping.map(loop.getInductionVar(), inductionOf(number));
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
    recompute(value, mapping);
  }
}

void Expander::emitLoad(Load &load, Value number, IRMapping &places, Value channel) {
  if (!places.contains(loop.getInductionVar())) {
    places.map(loop.getInductionVar(), inductionOf(number));
  }
  Value source = recompute(load.copy.getSource(), places);
  Value slot = slotOf(load, number);
  if (channel) {
    tgpu::TmaLoadOp::create(builder, load.copy.getLoc(), source, slot, channel, plus(base, number),
                            load.map, load.copy.getCache());
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
