//===- PlanSchedule.cpp - stages and order of loops with channels ---------===//
//
// A schedule is found by rules that were measured on kernels written by hand, on the graph of what must
// stay in order (LoopGraph.h):
// - Stages. Between two products that depend on each other through much element-wise work the tensor
//   cores would idle: the second one runs an iteration behind, under the next of the first. A product whose
//   sum only the next one takes is waited for one iteration behind.
// - Order. Products first, then work on values, then the wait for the oldest product in flight.
// - A wait for a product moves back into the exponentials before it, so far that tensor cores and
//   exponentials end together; waits for slots of products of the iteration behind go with it.
// - A slot is awaited before its first reader, given back behind its last, and filled again at once.
// What registers do not hold is given up: first the iterations behind, then all of the order.
//
// Every schedule is checked as it will be before it is carried out (Schedule.h): what does not keep the
// meaning of the loop, or cannot be emitted, is given up like what registers do not hold. So the choice is
// about speed alone. Each loop is planned once, those that give slots back before those that only fill them.
//
// Before: loops as tgpu-make-channels leaves them; of their schedule only the loads stand there that are to
// run ahead. After: each operation of a unit has its place in `tgpu.schedule`, and nothing else has changed.
// - Behind `solve` stages are 0 or 1, but for those loads, and keep every edge at which no fill is, as far as
//   stages tell. Behind `planOrder` each unit that is no slot's stands once, behind what it needs in the step.
// - Of what moves afterwards, waits into streams, slots, loads ahead, nothing is proved here. A schedule has
//   passed the check, where roles share a serial program one of their progress, too, or is taken back. Fills
//   alone and loops that keep their order have but one schedule, which is left to tgpu-expand-schedule.
//
// Why this ends: a loop has eight attempts at most, and as many again without loads that run ahead, whose
// marks are gone then. `solve` only raises stages, to 1 at most, and gives up after as many rounds as there
// are units; in `findGaps` who needs whom only grows; each turn of `planOrder` and `orderSerially` places a
// unit for good, or gives up; each of `holdRetires` goes on by a place or takes one out.
//
//===----------------------------------------------------------------------===//
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/Progress.h"
#include "passes/Registers.h"
#include "passes/SchedulePlanner.h"

namespace tilec {
#define GEN_PASS_DEF_PLANSCHEDULE
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Where a value of a unit is used last, in places of the order from the start of its iteration's step on.
int64_t SchedulePlanner::lastUse(Value value, unsigned unit, ArrayRef<int64_t> position) const {
  const auto length = int64_t(order.size());
  // The next product takes the sum of one in flight over, and the registers with it.
  if (llvm::is_contained(deferred, unit)) {
    return position[unit] + length;
  }
  if (llvm::any_of(deferred, [&](unsigned p) { return graph.retireOf(p) == unit; })) {
    return position[unit];
  }
  int64_t last = position[unit];
  auto use = [&](Operation *user, int64_t distance) {
    Operation *top = loopBody()->findAncestorOpInBlock(*user);
    std::optional<unsigned> by = top ? graph.unitOf(top) : std::nullopt;
    if (by && (*by != unit || distance != 0)) { // a sum goes on in its own registers
      last = std::max(last, position[*by] + (distance + stage[*by] - stage[unit]) * length);
    }
  };
  for (OpOperand &operand : value.getUses()) {
    if (operand.getOwner() != loopBody()->getTerminator()) {
      use(operand.getOwner(), 0);
      continue;
    }
    const unsigned number = operand.getOperandNumber();
    for (Operation *user : graph.getLoop().getRegionIterArg(number).getUsers()) {
      use(user, 1);
    }
    // What the last iteration leaves lives to the end of its step; what runs behind, runs behind the loop then.
    if (stage[unit] <= 0 && !graph.getLoop().getResult(number).use_empty()) {
      last = std::max(last, length);
    }
  }
  return last;
}

/// The most registers that fragments take at one place of an iteration of the expanded loop: each from where
/// it is computed to its last use, which may be in a later iteration.
int64_t SchedulePlanner::registersNeeded() const {
  SmallVector<int64_t> position(graph.units().size(), 0);
  for (auto [at, place] : llvm::enumerate(order)) {
    position[place.unit] = at;
    for (unsigned event : place.events) {
      position[event] = at;
    }
  }
  const auto length = int64_t(order.size());
  SmallVector<int64_t> live(length, 0);
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    for (Operation *op : unit.ops) {
      for (Value result : op->getResults()) {
        const int64_t registers = isa<tile::BroadcastOp>(op) ? 0 : registersOf(result);
        const int64_t end = registers == 0 ? 0 : lastUse(result, number, position);
        for (int64_t at = position[number]; at < end; ++at) {
          live[at % length] += registers;
        }
      }
    }
  }
  const int64_t most = live.empty() ? 0 : *llvm::max_element(live);
  return most + registersThrough(graph.getLoop());
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

void SchedulePlanner::write() {
  int64_t number = 0;
  for (const Place &place : order) {
    const Unit &unit = graph.units()[place.unit];
    const bool isStream = unit.kind == Unit::Kind::Stream;
    for (Operation *op : unit.ops) {
      tgpu::kSchedule.set(op, tgpu::StageAttr::get(op->getContext(), stage[place.unit], number, 0));
      number += !isStream;
    }
    for (unsigned event : place.events) {
      for (Operation *op : graph.units()[event].ops) {
        tgpu::kSchedule.set(
            op, tgpu::StageAttr::get(op->getContext(), stage[event], number, place.hold));
      }
    }
    number += isStream;
  }
}

bool SchedulePlanner::plan(Freedom freedom) {
  if (!planStages(freedom) || !planOrder(freedom.reordered)) {
    return false;
  }
  if (freedom.reordered) {
    holdRetires();
  }
  placeSlots();
  if (!isDrawn) {
    placeLoadsAhead();
  }
  return true;
}

void SchedulePlanner::remark() {
  for (auto [first, second] : gaps) {
    graph.units()[second].ops.front()->emitRemark(
        "product runs one iteration behind: between it and the product that it needs there is "
        "element-wise work");
  }
  for (const Place &place : order) {
    for (unsigned event : place.events) {
      if (graph.units()[event].kind == Unit::Kind::Retire) {
        graph.units()[event].ops.front()->emitRemark("product is waited for after ")
            << place.hold << " % of the element-wise work before it";
      }
    }
  }
  for (unsigned retire : held) {
    graph.units()[retire].ops.front()->emitRemark(
        "product is not in flight across iterations: the loop also writes what it reads");
  }
  const bool isHeld = llvm::any_of(order, [](const Place &place) { return !place.events.empty(); });
  if (tile::kHold.has(loop) && !isHeld) {
    loop.emitRemark("`hold` has no effect: no product ends beside exponentials");
  }
  if (!deferred.empty()) {
    loop.emitRemark("one product in flight across iterations");
  }
}

/// Takes back what was written.
void SchedulePlanner::erase() {
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    for (Operation *op : unit.ops) {
      tgpu::kSchedule.remove(op);
      if (fixed[number]) {
        setStage(op, *fixed[number], 0);
      }
    }
  }
}

/// The first schedule, of those that give up less and less of what is fast, that registers hold and that
/// can be carried out.
bool SchedulePlanner::planFreely() {
  constexpr Freedom kFreedoms[] = {
      {true, true, true}, {false, true, true}, {false, true, false}, {false, false, false}};
  const bool hasProducts = isDrawn || llvm::any_of(graph.units(), [](const Unit &unit) {
                             return unit.kind == Unit::Kind::Product;
                           });
  const int64_t beside = loop->getParentOfType<tgpu::RolesOp>() ? kRegistersBesideFragmentsOfRole
                                                                : kRegistersBesideFragments;
  int64_t wanted = 0;
  for (const Freedom &freedom : kFreedoms) {
    const bool isLast = &freedom == std::end(kFreedoms) - 1;
    if (((!graph.irregular().empty() || !hasProducts) && !isLast) || !plan(freedom)) {
      continue;
    }
    const int64_t needed = registersNeeded() + beside;
    const bool isSame = gaps.empty() && deferred.empty() && !freedom.reordered;
    if (needed > available && !isLast && !isSame && !isDrawn) {
      wanted = wanted == 0 ? needed : wanted;
      continue;
    }
    write();
    if (Schedule(graph).read() || mayStandStill()) {
      erase();
      continue;
    }
    if (wanted != 0) {
      loop.emitRemark("products keep more of their order: another would take ")
          << wanted << " of " << available << " registers";
    }
    remark();
    return true;
  }
  return false;
}

int64_t SchedulePlanner::registersWanted() {
  const bool isFree = graph.irregular().empty() && plan({true, true, true});
  return isFree ? registersNeeded() : 0;
}

/// Whether roles that share a serial program might wait for each other, as far as they are planned. (A role that only loads
/// never does: it comes behind those that compute.)
bool SchedulePlanner::mayStandStill() const {
  auto kernel = loop->getParentOfType<tgpu::KernelOp>();
  return kernel.getWarpSpecialize() == "operations" && !provesProgress(kernel);
}

/// In such a role, the order of the body, with fills behind what makes room for them. In the serial program whatever one waits
/// for comes first; so where each of them has its order none waits for ever.
bool SchedulePlanner::planSerially() {
  auto kernel = loop->getParentOfType<tgpu::KernelOp>();
  if (kernel.getWarpSpecialize() != "operations") {
    return false;
  }
  for (bool isEager : {true, false}) {
    if (!solve({})) {
      return false;
    }
    orderSerially(isEager);
    if (order.size() != graph.units().size()) {
      continue;
    }
    write();
    if (!Schedule(graph).read() && findDeadlock(kernel).empty()) {
      loop.emitRemark("products keep their order: a role might wait for another that waits for it");
      return true;
    }
    erase();
  }
  return false;
}

/// `isEager`: fills stand behind what makes room for them, else where they stood. Streams stand in front of the first that needs
/// them.
void SchedulePlanner::orderSerially(bool isEager) {
  order.clear();
  llvm::SmallDenseSet<unsigned> placed;
  auto isEarly = [&](unsigned unit) {
    return isEager && graph.units()[unit].kind == Unit::Kind::Fill;
  };
  auto place = [&](unsigned unit, auto &self) -> void {
    if (!placed.insert(unit).second) {
      return;
    }
    for (const Edge &edge : inEdges[unit]) {
      if (kernelDistance(edge) == 0 && !isEarly(edge.from)) {
        self(edge.from, self);
      }
    }
    order.push_back({unit, {}, 0});
  };
  for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
    if (isEarly(unit)) {
      continue;
    }
    place(unit, place);
    for (const Edge &edge : graph.edges()) {
      if (edge.from == unit && isEarly(edge.to) &&
          graph.units()[unit].kind == Unit::Kind::Release) {
        stage[edge.to] = stage[unit] - edge.distance;
        place(edge.to, place);
      }
    }
  }
}

/// Loads into fragments stay in their iteration, where they stand in the way of every schedule. False if there
/// are none.
bool SchedulePlanner::dropEarlyLoads() {
  bool any = false;
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    if (fixed[number]) {
      unit.ops.front()->emitRemark(
          "load stays in its iteration: it needs what comes before it there");
      tgpu::kSchedule.remove(unit.ops.front());
      fixed[number].reset();
      any = true;
    }
  }
  return any;
}

LogicalResult SchedulePlanner::run() {
  if (planFills()) {
    write();
    return success();
  }
  if (!graph.irregular().empty()) {
    loop.emitRemark("products keep their order: ") << graph.irregular();
  }
  if (planInOrder()) {
    write();
    return success();
  }
  if (planFreely() || planSerially()) {
    return success();
  }
  if (dropEarlyLoads()) {
    // What they needed early has a place of its own now: another graph.
    return SchedulePlanner(loop, available, isDrawn ? random() | 1 : 0).run();
  }
  return loop.emitError("has no schedule");
}

namespace {

/// Registers that setmaxnreg gives the role of a loop; 0: none.
int64_t registersOfRole(scf::ForOp loop) {
  auto roles = loop->getParentOfType<tgpu::RolesOp>();
  return roles ? roles.getRegisters()[roles.getRoleOf(loop)] : 0;
}

bool hasReleases(scf::ForOp loop) { return !loop.getBody()->getOps<tgpu::ReleaseOp>().empty(); }

struct PlanSchedule : tilec::impl::PlanScheduleBase<PlanSchedule> {
  using PlanScheduleBase::PlanScheduleBase;

  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = getTarget(kernel);
    if (!target) {
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    kernel.walk([&](scf::ForOp loop) {
      tgpu::PipelineAttr plan = tgpu::kPipeline.get(loop);
      if (plan && plan.getPath() == tgpu::CopyPath::Tma && countsIterations(loop)) {
        loops.push_back(loop);
      }
    });
    int64_t registers = registersPerThread(kernel, *target,
                                           std::max<int64_t>(1, kernel.getMinBlocks().value_or(1)));
    registers = std::min<int64_t>(registers, kernel.getMaxRegisters().value_or(registers));
    // Who fills slots alone comes behind who gives them back.
    SmallVector<scf::ForOp> ordered(llvm::make_filter_range(loops, hasReleases));
    llvm::append_range(ordered, llvm::make_filter_range(loops, std::not_fn(hasReleases)));
    for (scf::ForOp loop : ordered) {
      const int64_t ofRole = registersOfRole(loop);
      if (failed(SchedulePlanner(loop, ofRole == 0 ? registers : ofRole, randomSeed).run())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
