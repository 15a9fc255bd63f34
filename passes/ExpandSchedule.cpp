//===- ExpandSchedule.cpp - carries out the schedules of loops with channels ===//
//
// A unit of stage s does in step j the work of iteration j - s. With F the least stage below 0 and S,
// 0 or 1, the greatest one, T iterations become
//     prologue: what has a stage below 0, on the iterations 0 to F - 1, as far as there are any
//     for j in 0..T: step j, all units in their order; what is ahead, if its iteration exists
// where S is 0, and where it is 1
//     if T > 0:
//       step 0, without stage 1
//       for j in 1..T: step j
//       step T, stage 1 alone
// Where only waits of chained products, and what they let go, have stage 1, a product is in flight from step
// to step. Nothing may move its registers, as the entry of a loop does, so that the loop has all steps:
//     for j in 0..T: step j; what is behind, if its iteration exists
//     step T, stage 1 alone
// The expander decides nothing: stages, order and places of waits in streams are attributes.
//
// Values. What a unit computes is used k steps later, where k = d + s(user) - s(unit) and d is 1 for what
// the loop carries: with k = 0 directly, else from a window of the last steps that the expanded loop
// carries. A value that the loop carries has been, before iteration 0, what the loop begins with.
//
// Products. How many groups a wgmma_wait leaves in flight is counted here: those that were committed
// behind its own. Their accumulators pass through the wait, so that none of their registers moves. A
// product that goes on with its own sum (LoopGraph::isChained) takes it in flight; its wait then
// gives no value but behind the loop.
//
// Invariants: the graph's edges are kept (checked first), so each value that is looked up is there; the
// groups in flight at the end of a step are those at the start of the next (checked).
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/ScheduleExpander.h"
#include "passes/TakeTurns.h"

namespace tilec {
#define GEN_PASS_DEF_EXPANDSCHEDULE
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int64_t ScheduleExpander::stageOfArgument(unsigned argument) const {
  std::optional<unsigned> unit = graph.carrierOf(argument);
  return unit ? stageOf(*unit) : 0;
}

unsigned ScheduleExpander::carriedIndex(Value value) const {
  return llvm::find_if(carried, [&](const Carried &c) { return c.value == value; }) -
         carried.begin();
}

unsigned ScheduleExpander::carriedIndex(unsigned argument) const {
  return llvm::find_if(carried,
                       [&](const Carried &c) { return !c.value && c.argument == argument; }) -
         carried.begin();
}

void ScheduleExpander::needArgument(unsigned argument, int64_t distance) {
  if (distance < 1) {
    return;
  }
  const unsigned index = carriedIndex(argument);
  if (index == carried.size()) {
    carried.push_back({Value(), argument, stageOfArgument(argument), 0});
  }
  carried[index].most = std::max(carried[index].most, distance);
}

/// Notes that an operation of stage `user` uses `value`.
void ScheduleExpander::need(Value value, int64_t user) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == loop.getBody() && argument != loop.getInductionVar()) {
      const unsigned number = argument.getArgNumber() - loop.getNumInductionVars();
      needArgument(number, 1 + user - stageOfArgument(number));
    }
    return;
  }
  std::optional<unsigned> unit = graph.unitOf(value.getDefiningOp());
  if (!unit || user == stageOf(*unit)) {
    return;
  }
  const unsigned index = carriedIndex(value);
  if (index == carried.size()) {
    carried.push_back({value, 0, stageOf(*unit), 0});
  }
  carried[index].most = std::max(carried[index].most, user - stageOf(*unit));
}

/// True for the sum that a product takes from itself, in flight.
bool ScheduleExpander::isChainArgument(Value value) const { return chains.contains(value); }

void ScheduleExpander::findCarried() {
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    std::optional<unsigned> retire = graph.retireOf(number);
    if (unit.kind == Unit::Kind::Product && graph.isChained(number) &&
        stageOf(*retire) > stageOf(number)) {
      for (Operation *op : unit.ops) {
        if (auto product = dyn_cast<tgpu::WgmmaOp>(op)) {
          chains[product.getAcc()] = product.getResult();
        }
      }
    }
  }
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    for (Operation *op : unit.ops) {
      for (Value value : graph.usedBy(op)) {
        if (!isChainArgument(value)) {
          need(value, stageOf(number));
        }
      }
    }
  }
  // What the loop gives, as an iteration behind the last would use it.
  for (unsigned argument = 0; argument < loop.getNumRegionIterArgs(); ++argument) {
    const bool isChain = isChainArgument(loop.getRegionIterArg(argument));
    const bool isNeeded = !loop.getResult(argument).use_empty() || !graph.carrierOf(argument);
    if (isNeeded && !isChain) {
      needArgument(argument, 1 - stageOfArgument(argument));
    }
  }
  // An argument that another one becomes has to be there for it.
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < carried.size(); ++i) {
      const Carried entry = carried[i];
      if (entry.value || graph.carrierOf(entry.argument)) {
        continue;
      }
      Value next = loop.getBody()->getTerminator()->getOperand(entry.argument);
      auto other = dyn_cast<BlockArgument>(next);
      if (other && other.getOwner() == loop.getBody() && other != loop.getInductionVar()) {
        const size_t before = carried.size();
        need(other, 0);
        changed |= carried.size() != before;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// The whole loop
//===----------------------------------------------------------------------===//

/// What is known before the first step, number -F.
Window ScheduleExpander::firstWindow() {
  Window window;
  for (const Carried &entry : carried) {
    SmallVector<Value> values(entry.most);
    for (auto [back, value] : llvm::enumerate(values)) {
      if (!entry.value && -schedule.ahead() - int64_t(back) - 1 - entry.stage == -1) {
        value = loop.getInitArgs()[entry.argument];
      }
    }
    window.values.push_back(values);
  }
  return window;
}

/// The first iterations of what runs ahead: iteration after iteration, so that what the first one waits
/// for comes first. Values move on step by step.
void ScheduleExpander::emitPrologue(Window &window) {
  for (int64_t number = 0; number < schedule.ahead(); ++number) {
    for (Operation *op : schedule.order()) {
      const int64_t stage = stageOf(*graph.unitOf(op));
      if (stage <= -(number + 1) && op->getNumResults() == 0) {
        Step step;
        step.number = constantI32(builder, loc, number + stage);
        emitAhead(step, op, stage);
      }
    }
  }
  for (int64_t at = -schedule.ahead(); at < 0; ++at) {
    Step step;
    step.number = constantI32(builder, loc, at);
    for (Operation *op : schedule.order()) {
      const int64_t stage = stageOf(*graph.unitOf(op));
      if (stage <= at && op->getNumResults() != 0) {
        emitAhead(step, op, stage);
      }
    }
    for (auto [entry, values] : llvm::zip_equal(carried, window.values)) {
      Value fresh = entry.value ? step.values[entry.stage].lookupOrNull(entry.value) : Value();
      if (!entry.value && graph.carrierOf(entry.argument) && entry.stage <= at) {
        fresh = step.values[entry.stage].lookupOrNull(
            loop.getBody()->getTerminator()->getOperand(entry.argument));
      } else if (!entry.value && at - entry.stage == -1) {
        fresh = loop.getInitArgs()[entry.argument];
      }
      values.insert(values.begin(), fresh);
      values.pop_back();
    }
  }
}

/// Before the first step a product in flight is what the loop begins with.
void ScheduleExpander::beginFlights(Window &window) {
  for (auto [argument, pending] : chains) {
    const unsigned number =
        cast<BlockArgument>(argument).getArgNumber() - loop.getNumInductionVars();
    window.values[carriedIndex(pending)].front() =
        tgpu::WgmmaBeginOp::create(builder, loc, pending.getType(), loop.getInitArgs()[number]);
  }
  // In the order of their commits.
  for (Operation *op : schedule.order()) {
    auto product = dyn_cast<tgpu::WgmmaOp>(op);
    std::optional<unsigned> retire =
        product ? graph.retireOf(*graph.unitOf(product)) : std::nullopt;
    if (retire && schedule.isDeferred(*retire)) {
      window.groups.push_back({InFlight{product.getResult(), 1}});
    }
  }
}

/// Steps 0 to the last. Gives what the loop gives.
SmallVector<Value> ScheduleExpander::emitLoops(Window window) {
  if (schedule.hasFlights()) {
    beginFlights(window);
  } else if (schedule.behind() > 0) {
    window = emitStep(constantI32(builder, loc, 0), window, -schedule.ahead(), 0);
  }
  SmallVector<Value> inits;
  for (ArrayRef<Value> values : window.values) {
    llvm::append_range(inits, values);
  }
  const int64_t first = schedule.hasFlights() ? 0 : schedule.behind();
  auto steps = scf::ForOp::create(builder, loc, constantI32(builder, loc, first), trips,
                                  constantI32(builder, loc, 1), inits);
  if (ArrayAttr require = tile::kRequire.get(loop)) {
    tile::kRequire.set(steps, require);
  }
  if (tile::kTurns.has(loop)) {
    tile::kTurns.set(steps, UnitAttr::get(loop.getContext()));
  }
  if (steps.getBody()->mightHaveTerminator()) {
    steps.getBody()->getTerminator()->erase();
  }
  auto windowOf = [&](ValueRange flat) {
    Window result;
    result.groups = window.groups;
    for (const Carried &entry : carried) {
      result.values.emplace_back(flat.take_front(entry.most));
      flat = flat.drop_front(entry.most);
    }
    return result;
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(steps.getBody());
    Window after = emitStep(steps.getInductionVar(), windowOf(steps.getRegionIterArgs()),
                            -schedule.ahead(), schedule.behind());
    SmallVector<Value> next;
    for (ArrayRef<Value> values : after.values) {
      llvm::append_range(next, values);
    }
    scf::YieldOp::create(builder, loc, next);
    assert(after.groups == window.groups && "a step hands on the products that it found");
  }
  Window last = windowOf(steps.getResults());
  SmallVector<Value> results(loop.getNumResults());
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    const unsigned index = carriedIndex(number);
    if (index < carried.size() && carried[index].stage < 1) {
      results[number] = last.values[index][-carried[index].stage];
    }
  }
  if (schedule.behind() > 0) {
    emitLastStep(last, results);
  }
  return results;
}

/// Stage 1 of the last iteration, and what the loop gives of it.
void ScheduleExpander::emitLastStep(const Window &before, SmallVectorImpl<Value> &results) {
  Step step;
  step.number = trips;
  step.before = before;
  emitUnits(step, 1, 1);
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    if (graph.carrierOf(number) && stageOfArgument(number) == 1) {
      results[number] =
          step.values[1].lookupOrNull(loop.getBody()->getTerminator()->getOperand(number));
    }
  }
}

/// Ends a block of a branch: without results it has its end already.
static void finish(OpBuilder &builder, Block *block, ValueRange values) {
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>()) {
    block->back().erase();
  }
  builder.setInsertionPointToEnd(block);
  scf::YieldOp::create(builder, builder.getUnknownLoc(), values);
}

LogicalResult ScheduleExpander::run() {
  if (std::optional<ScheduleFault> fault = schedule.read()) {
    InFlightDiagnostic error = fault->op->emitOpError(fault->reason);
    if (fault->other) {
      error.attachNote(fault->other->getLoc()) << "it should stay behind this";
    }
    return failure();
  }
  findCarried();
  trips = loop.getUpperBound();
  Window window = firstWindow();
  emitPrologue(window);
  SmallVector<Value> results;
  if (schedule.behind() == 0 || schedule.hasFlights()) {
    results = emitLoops(window);
  } else {
    Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, trips,
                                      constantI32(builder, loc, 0));
    auto branch =
        scf::IfOp::create(builder, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    results = emitLoops(window);
    for (auto [result, init] : llvm::zip_equal(results, loop.getInitArgs())) {
      result = result ? result : init; // nobody uses it
    }
    finish(builder, branch.thenBlock(), results);
    builder.setInsertionPointToStart(branch.elseBlock());
    finish(builder, branch.elseBlock(), loop.getInitArgs());
    results.assign(branch.result_begin(), branch.result_end());
  }
  for (auto [from, to] : llvm::zip_equal(loop.getResults(), results)) {
    if (to) {
      from.replaceAllUsesWith(to);
    }
  }
  loop.erase();
  return success();
}

namespace {
struct ExpandSchedule : tilec::impl::ExpandScheduleBase<ExpandSchedule> {
  void runOnOperation() override {
    // Outer loops first: loops inside are parts of their units, and are copied with them.
    auto next = [&] {
      scf::ForOp found;
      getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        tgpu::PipelineAttr plan = tgpu::kPipeline.get(loop);
        if (plan && plan.getPath() == tgpu::CopyPath::Tma) {
          found = loop;
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
      return found;
    };
    while (scf::ForOp loop = next()) {
      if (!countsIterations(loop)) {
        loop.emitOpError("has a schedule, but does not count its iterations from 0");
        return signalPassFailure();
      }
      if (failed(ScheduleExpander(loop).run())) {
        return signalPassFailure();
      }
    }
    Turns::handOnEarly(getOperation());
  }
};

} // namespace
