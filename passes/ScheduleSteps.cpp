//===- ScheduleSteps.cpp - one step of an expanded loop -------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/ScheduleExpander.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

Value ScheduleExpander::iterationOf(Step &step, int64_t stage) {
  APInt number;
  if (matchPattern(step.number, m_ConstantInt(&number))) {
    return constantI32(builder, loc, number.getSExtValue() - stage);
  }
  return stage == 0 ? step.number
                    : emitSum(builder, loc, step.number, constantI32(builder, loc, -stage));
}

/// `value` as an operation of stage `stage` uses it in this step. `mapping` has what was computed for
/// this stage so far.
Value ScheduleExpander::resolve(Step &step, Value value, int64_t stage, IRMapping &mapping) {
  if (value.getParentBlock() != loop.getBody()) {
    return value;
  }
  if (Value known = mapping.lookupOrNull(value)) {
    return known;
  }
  if (value == loop.getInductionVar()) {
    Value number = iterationOf(step, stage);
    mapping.map(value, number);
    return number;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
    const int64_t distance = 1 + stage - stageOfArgument(number);
    if (distance > 0) {
      return step.before.values[carriedIndex(number)][distance - 1];
    }
    // In step 0 stage 1 has not run: it is what the loop begins with.
    Value next = loop.getBody()->getTerminator()->getOperand(number);
    Value current = step.values[stageOfArgument(number)].lookupOrNull(next);
    return current ? current : loop.getInitArgs()[number];
  }
  Operation *definition = value.getDefiningOp();
  if (std::optional<unsigned> unit = graph.unitOf(definition)) {
    const int64_t distance = stage - stageOf(*unit);
    return distance == 0 ? step.values[stage].lookup(value)
                         : step.before.values[carriedIndex(value)][distance - 1];
  }
  for (Value operand : definition->getOperands()) {
    Value resolved = resolve(step, operand, stage, mapping);
    mapping.map(operand, resolved);
  }
  Operation *clone = builder.clone(*definition, mapping);
  tgpu::kSchedule.remove(clone); // that a tile of indices has where it stands alone
  step.hasFence &= !isa<RankedTensorType>(value.getType());
  return mapping.lookup(value);
}

void ScheduleExpander::resolveOperands(Step &step, Operation *op, int64_t stage,
                                       IRMapping &mapping) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    Value resolved = resolve(step, value, stage, mapping);
    if (resolved != value) {
      mapping.map(value, resolved);
    }
  }
}

void ScheduleExpander::emitPlain(Step &step, Operation *op, int64_t stage, IRMapping &mapping) {
  resolveOperands(step, op, stage, mapping);
  Operation *clone = builder.clone(*op, mapping);
  tgpu::kSchedule.remove(clone);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), clone->getResults())) {
    step.values[stage].map(from, to);
  }
}

/// What runs ahead does so only for iterations that there are. A fragment that none will use is zero.
void ScheduleExpander::emitAhead(Step &step, Operation *op, int64_t stage) {
  Value number = iterationOf(step, stage);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, trips);
  auto branch = scf::IfOp::create(builder, loc, op->getResultTypes(), exists,
                                  /*withElseRegion=*/op->getNumResults() != 0);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping; // of what is computed in the branch alone
  mapping.map(loop.getInductionVar(), number);
  resolveOperands(step, op, stage, mapping);
  Operation *clone = builder.clone(*op, mapping);
  tgpu::kSchedule.remove(clone);
  if (op->getNumResults() == 0) {
    return;
  }
  step.hasFence = false;
  scf::YieldOp::create(builder, loc, clone->getResults());
  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> zeros = llvm::map_to_vector(op->getResultTypes(), [&](Type type) -> Value {
    Type element = cast<RankedTensorType>(type).getElementType();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    return tile::SplatOp::create(builder, loc, type, zero);
  });
  scf::YieldOp::create(builder, loc, zeros);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), branch.getResults())) {
    step.values[stage].map(from, to);
  }
}

void ScheduleExpander::emitProduct(Step &step, tgpu::WgmmaOp product, int64_t stage) {
  IRMapping &mapping = step.values[stage];
  if (isChainArgument(product.getAcc())) {
    mapping.map(product.getAcc(), step.before.values[carriedIndex(product.getResult())].front());
  }
  emitPlain(step, product, stage, mapping);
  step.open.push_back(product.getResult());
}

void ScheduleExpander::emitRetire(Step &step, tgpu::WgmmaWaitOp wait, int64_t stage) {
  Value pending = wait.getInputs().front();
  const unsigned product = *graph.unitOf(pending.getDefiningOp());
  const int64_t ago = stage - stageOf(product);
  const auto isOwn = [&](ArrayRef<InFlight> group) {
    return llvm::is_contained(group, InFlight{pending, ago});
  };
  auto *own = llvm::find_if(step.groups, isOwn);
  const int64_t younger = step.groups.end() - own - 1;
  // What is still in flight passes through, but for a sum that the next product has taken.
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  SmallVector<std::pair<Value, int64_t>> passed; // a product, and the stage whose value it is
  // By the same product of the next iteration, or by the next piece of one product.
  auto isTakenOn = [&](const InFlight &flight) {
    const bool isChain =
        llvm::any_of(chains, [&](const auto &chain) { return chain.second == flight.pending; });
    return llvm::any_of(step.groups, [&](ArrayRef<InFlight> group) {
      return llvm::any_of(group, [&](const InFlight &other) {
        auto piece = other.pending.getDefiningOp<tgpu::WgmmaOp>();
        return (isChain && other == InFlight{flight.pending, flight.ago - 1}) ||
               (piece.getAcc() == flight.pending && other.ago == flight.ago);
      });
    });
  };
  const bool isTaken = isTakenOn({pending, ago});
  auto valueOf = [&](const InFlight &flight) {
    const int64_t issued = stageOf(*graph.unitOf(flight.pending.getDefiningOp()));
    return flight.ago == 0 ? step.values[issued].lookup(flight.pending)
                           : step.before.values[carriedIndex(flight.pending)][flight.ago - 1];
  };
  if (!isTaken) {
    inputs.push_back(valueOf({pending, ago}));
    types.push_back(cast<tgpu::PendingType>(pending.getType()).getFragment());
  }
  SmallVector<InFlight> through;
  for (auto *group = own + 1; group != step.groups.end(); ++group) {
    for (const InFlight &flight : *group) {
      if (isTakenOn(flight)) {
        continue;
      }
      through.push_back(flight);
      inputs.push_back(valueOf(flight));
      types.push_back(inputs.back().getType());
    }
  }
  SmallVector<Value> fragments = llvm::map_to_vector(wait.getFragments(), [&](Value fragment) {
    return resolve(step, fragment, stage, step.values[stage]);
  });
  // Groups end in order: what was committed before and reads registers ends here, too.
  for (auto *group = step.groups.begin(); group != own; ++group) {
    for (const InFlight &flight : *group) {
      Value operand = flight.pending.getDefiningOp<tgpu::WgmmaOp>().getA();
      const int64_t issued = stageOf(*graph.unitOf(flight.pending.getDefiningOp()));
      if (isa<RankedTensorType>(operand.getType()) && flight.ago == 0) {
        fragments.push_back(resolve(step, operand, issued, step.values[issued]));
      }
    }
  }
  auto fresh = tgpu::WgmmaWaitOp::create(builder, wait.getLoc(), types, younger, inputs, fragments);
  ValueRange results = fresh.getResults();
  if (!isTaken) {
    step.values[stage].map(wait.getResult(0), results.front());
    results = results.drop_front();
  }
  for (auto [flight, value] : llvm::zip_equal(through, results)) {
    if (flight.ago == 0) {
      step.values[stageOf(*graph.unitOf(flight.pending.getDefiningOp()))].map(flight.pending,
                                                                              value);
    } else {
      step.before.values[carriedIndex(flight.pending)][flight.ago - 1] = value;
    }
  }
  step.groups.erase(own);
}

void ScheduleExpander::emit(Step &step, Operation *op, int64_t stage) {
  if (stage < 0) {
    return emitAhead(step, op, stage);
  }
  if (isa<tgpu::WgmmaFenceOp>(op)) {
    // What its product reads is there before it. One orders all registers that were written so far.
    const unsigned product = *graph.unitOf(op);
    for (Operation *part : graph.units()[product].ops) {
      for (Value operand : part->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        const bool isOwn = definition && graph.unitOf(definition) == product;
        if (!isOwn && !isChainArgument(operand)) {
          step.values[stage].map(operand, resolve(step, operand, stage, step.values[stage]));
        }
      }
    }
    if (!step.hasFence) {
      tgpu::WgmmaFenceOp::create(builder, op->getLoc());
    }
    step.hasFence = true;
    return;
  }
  if (isa<tgpu::WgmmaCommitOp>(op)) {
    tgpu::WgmmaCommitOp::create(builder, op->getLoc());
    step.groups.emplace_back();
    for (Value pending : step.open) {
      step.groups.back().push_back({pending, 0});
    }
    step.open.clear();
    return;
  }
  if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
    return emitProduct(step, product, stage);
  }
  if (auto wait = dyn_cast<tgpu::WgmmaWaitOp>(op); wait && graph.productOf(*graph.unitOf(op))) {
    step.hasFence = false;
    return emitRetire(step, wait, stage);
  }
  step.hasFence &= isa<tgpu::WaitOp, tgpu::ReleaseOp>(op);
  if (schedule.hasFlights() && stage == 1) {
    return emitBehind(step, op);
  }
  emitPlain(step, op, stage, step.values[stage]);
}

/// A release for the iteration behind, if there is one.
void ScheduleExpander::emitBehind(Step &step, Operation *op) {
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, step.number,
                                       constantI32(builder, loc, 0));
  auto branch = scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping; // of what is computed in the branch alone
  resolveOperands(step, op, 1, mapping);
  tgpu::kSchedule.remove(builder.clone(*op, mapping));
}

/// A stream while it is made: the regions first, since they tell what it gives.
struct ScheduleExpander::Stream {
  SmallVector<std::unique_ptr<Region>> regions;
  SmallVector<int64_t> percents;
  SmallVector<Type> types;
  /// Who takes a result, by what it is in the loop.
  SmallVector<std::function<void(Value)>> targets;

  Region *begin(OpBuilder &builder) {
    regions.push_back(std::make_unique<Region>());
    builder.setInsertionPointToStart(&regions.back()->emplaceBlock());
    return regions.back().get();
  }
  void end(OpBuilder &builder, Location loc, ArrayRef<Value> values) {
    tgpu::YieldOp::create(builder, loc, values);
    llvm::append_range(types, ValueRange(values).getTypes());
  }
};

/// The values that operations of a stream need are computed in front of it.
void ScheduleExpander::resolveBefore(Step &step, ArrayRef<Operation *> ops,
                                     ArrayRef<Operation *> body) {
  for (Operation *op : ops) {
    const int64_t stage = stageOf(*graph.unitOf(op));
    for (Value operand : op->getOperands()) {
      if (!isa<tgpu::PendingType>(operand.getType()) &&
          !llvm::is_contained(body, operand.getDefiningOp())) {
        Value resolved = resolve(step, operand, stage, step.values[stage]);
        step.values[stage].map(operand, resolved);
      }
    }
  }
}

void ScheduleExpander::emitStreamBody(Step &step, ArrayRef<Operation *> body, Stream &stream) {
  auto stageOfOp = [&](Operation *op) { return stageOf(*graph.unitOf(op)); };
  stream.begin(builder);
  for (Operation *op : body) {
    tgpu::kSchedule.remove(builder.clone(*op, step.values[stageOfOp(op)]));
  }
  SmallVector<Value> yielded;
  for (Operation *op : body) {
    const int64_t stage = stageOfOp(op);
    const bool isUsed = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !llvm::is_contained(body, user) || stageOfOp(user) != stage;
    });
    if (isUsed) {
      Value result = op->getResult(0);
      yielded.push_back(step.values[stage].lookup(result));
      stream.targets.emplace_back(
          [&step, stage, result](Value v) { step.values[stage].map(result, v); });
    }
  }
  stream.end(builder, loc, yielded);
}

/// An event; what it computes, accumulators that are complete or still in flight, is for later, and so
/// becomes a result.
void ScheduleExpander::emitEvent(Step &step, ArrayRef<Operation *> ops, Stream &stream) {
  Region *region = stream.begin(builder);
  stream.percents.push_back(tgpu::kSchedule.get(ops.front()).getHold());
  for (Operation *op : ops) {
    emit(step, op, stageOf(*graph.unitOf(op)));
  }
  SmallVector<Value> yielded;
  for (auto &[stage, mapping] : step.values) {
    for (Operation *op : schedule.order()) {
      for (Value from : op->getResults()) {
        Value to = mapping.lookupOrNull(from);
        if (to && to.getParentRegion() == region) {
          yielded.push_back(to);
          stream.targets.emplace_back(
              [&step, stage = stage, from](Value v) { step.values[stage].map(from, v); });
        }
      }
    }
  }
  for (auto [entry, values] : llvm::enumerate(step.before.values)) {
    for (auto [back, value] : llvm::enumerate(values)) {
      if (value && value.getParentRegion() == region) {
        yielded.push_back(value);
        stream.targets.emplace_back(
            [&step, entry = entry, back = back](Value v) { step.before.values[entry][back] = v; });
      }
    }
  }
  stream.end(builder, loc, yielded);
}

/// Element-wise operations of one place in the order, and what interrupts them.
void ScheduleExpander::emitStream(Step &step, ArrayRef<Operation *> ops, int64_t least,
                                  int64_t most) {
  SmallVector<Operation *> body, events, all;
  for (Operation *op : ops) {
    const int64_t stage = stageOf(*graph.unitOf(op));
    if (stage >= least && stage <= most) {
      (tgpu::kSchedule.get(op).getHold() == 0 ? body : events).push_back(op);
      all.push_back(op);
    }
  }
  if (body.empty() || events.empty()) {
    for (Operation *op : all) {
      emit(step, op, stageOf(*graph.unitOf(op)));
    }
    return;
  }
  step.hasFence = false;
  resolveBefore(step, body, body);
  resolveBefore(step, events, {});
  const OpBuilder::InsertPoint place = builder.saveInsertionPoint();
  Stream stream;
  emitStreamBody(step, body, stream);
  for (ArrayRef<Operation *> rest = events; !rest.empty();) {
    const int64_t hold = tgpu::kSchedule.get(rest.front()).getHold();
    const ArrayRef<Operation *> event =
        rest.take_while([&](Operation *op) { return tgpu::kSchedule.get(op).getHold() == hold; });
    emitEvent(step, event, stream);
    rest = rest.drop_front(event.size());
  }
  builder.restoreInsertionPoint(place);
  OperationState state(loc, tgpu::StreamOp::getOperationName());
  state.addTypes(stream.types);
  state.addAttribute("percents", builder.getDenseI64ArrayAttr(stream.percents));
  for (std::unique_ptr<Region> &region : stream.regions) {
    state.addRegion(std::move(region));
  }
  Operation *made = builder.create(state);
  for (auto [target, result] : llvm::zip_equal(stream.targets, made->getResults())) {
    target(result);
  }
}

/// What a step hands on for a value that later steps use; null where there is none yet.
Value ScheduleExpander::valueBehind(Step &step, const Carried &entry) {
  if (entry.value) {
    return step.values[entry.stage].lookupOrNull(entry.value);
  }
  Value next = loop.getBody()->getTerminator()->getOperand(entry.argument);
  if (graph.carrierOf(entry.argument)) {
    return step.values[entry.stage].lookupOrNull(next);
  }
  return resolve(step, next, 0, step.values[0]);
}

/// The units of stages from `least` to `most`.
void ScheduleExpander::emitUnits(Step &step, int64_t least, int64_t most) {
  step.groups = step.before.groups;
  const ArrayRef<Operation *> order = schedule.order();
  for (size_t at = 0; at < order.size();) {
    // Operations of one place stand beside each other.
    size_t end = at + 1;
    while (end < order.size() && tgpu::kSchedule.get(order[end]).getOrder() ==
                                     tgpu::kSchedule.get(order[at]).getOrder()) {
      ++end;
    }
    emitStream(step, order.slice(at, end - at), least, most);
    at = end;
  }
}

/// Step `number`, without stages above `most`.
Window ScheduleExpander::emitStep(Value number, const Window &before, int64_t least, int64_t most) {
  Step step;
  step.number = number;
  step.before = before;
  emitUnits(step, least, most);
  Window result;
  for (auto [entry, window] : llvm::zip_equal(carried, step.before.values)) {
    SmallVector<Value> values;
    const bool runs = entry.stage >= least && entry.stage <= most;
    Value fresh = runs ? valueBehind(step, entry) : Value();
    APInt at;
    if (!fresh && !entry.value && matchPattern(number, m_ConstantInt(&at)) &&
        at.getSExtValue() - entry.stage == -1) {
      fresh = loop.getInitArgs()[entry.argument];
    }
    values.push_back(fresh);
    llvm::append_range(values, ArrayRef<Value>(window).drop_back());
    result.values.push_back(values);
  }
  for (SmallVector<InFlight, 1> group : step.groups) {
    for (InFlight &flight : group) {
      ++flight.ago;
    }
    result.groups.push_back(group);
  }
  return result;
}
