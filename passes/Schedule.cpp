//===- Schedule.cpp - the schedule of a loop, read and checked ------------===//
#include "passes/Schedule.h"

#include "passes/GlobalAccess.h"
#include "passes/Pipeline.h"

using namespace mlir;
using namespace tilec;

std::optional<ScheduleFault> Schedule::read() {
  if (auto fault = readStages()) {
    return fault;
  }
  for (unsigned unit = 0; unit < graph.units().size(); ++unit) {
    if (stages[unit] < 0) {
      if (auto fault = checkAhead(unit)) {
        return fault;
      }
    }
  }
  if (auto fault = checkEdges()) {
    return fault;
  }
  if (mostBehind > 0 && !graph.irregular().empty()) {
    return ScheduleFault{graph.getLoop(), "cannot be taken apart: " + graph.irregular().str()};
  }
  if (auto fault = checkFlights()) {
    return fault;
  }
  return checkHolds();
}

std::optional<ScheduleFault> Schedule::readStages() {
  for (const Unit &unit : graph.units()) {
    tgpu::StageAttr first = tgpu::kSchedule.get(unit.ops.front());
    for (Operation *op : unit.ops) {
      tgpu::StageAttr place = tgpu::kSchedule.get(op);
      if (!place) {
        return ScheduleFault{op, "has no place in the schedule of its loop"};
      }
      if (place.getStage() != first.getStage()) {
        return ScheduleFault{op, "has another stage than what it belongs to"};
      }
      ordered.push_back(op);
    }
    if (first.getStage() > 1) {
      return ScheduleFault{unit.ops.front(), "runs more than one iteration behind"};
    }
    stages.push_back(first.getStage());
    mostAhead = std::max(mostAhead, -first.getStage());
    mostBehind = std::max(mostBehind, first.getStage());
  }
  auto key = [](Operation *op) {
    tgpu::StageAttr place = tgpu::kSchedule.get(op);
    return std::pair(place.getOrder(), place.getHold());
  };
  llvm::sort(ordered, [&](Operation *a, Operation *b) {
    return key(a) != key(b) ? key(a) < key(b) : a->isBeforeInBlock(b);
  });
  return std::nullopt;
}

/// What runs ahead reads what it would read in its own iteration.
std::optional<ScheduleFault> Schedule::checkAhead(unsigned number) const {
  const Unit &unit = graph.units()[number];
  Operation *top = unit.ops.front();
  if (unit.kind != Unit::Kind::Fill && (unit.ops.size() != 1 || !loadsFragment(top))) {
    return ScheduleFault{top, "runs ahead, which only loads of global memory may"};
  }
  std::string refused;
  top->walk([&](Operation *op) {
    if (!isa<tgpu::TmaLoadOp>(op) && !loadsFragment(op)) {
      return;
    }
    auto load = dyn_cast<tgpu::TmaLoadOp>(op);
    Value source = load ? load.getSource() : globalRead(op);
    graph.getLoop()->walk([&](Operation *other) {
      if (mayChange(other, source)) {
        refused = "the loop writes to the tensor that it reads";
      }
    });
  });
  for (Value value : graph.usedBy(top)) {
    Operation *definition = value.getDefiningOp();
    const bool isArgument = isa<BlockArgument>(value) &&
                            value.getParentBlock() == graph.getLoop().getBody() &&
                            value != graph.getLoop().getInductionVar();
    if (isArgument || (definition && graph.unitOf(definition))) {
      refused = "where it reads from depends on what the loop computes";
    }
  }
  if (refused.empty()) {
    return std::nullopt;
  }
  return ScheduleFault{top, "cannot run ahead: " + refused};
}

std::optional<ScheduleFault> Schedule::checkEdges() const {
  llvm::DenseMap<Operation *, size_t> position;
  for (auto [at, op] : llvm::enumerate(ordered)) {
    position[op] = at;
  }
  for (const Unit &unit : graph.units()) {
    for (auto [before, op] : llvm::zip(unit.ops, llvm::drop_begin(unit.ops))) {
      const size_t from = position.lookup(before), to = position.lookup(op);
      if (to < from) {
        return ScheduleFault{op, "stands before what it comes behind in the loop", before};
      }
      if (unit.kind == Unit::Kind::Product && to != from + 1) {
        return ScheduleFault{op,
                             "is parted from its product: between its fence and its commit "
                             "nothing else may stand",
                             before};
      }
    }
  }
  for (const Edge &edge : graph.edges()) {
    const Unit &from = graph.units()[edge.from], &to = graph.units()[edge.to];
    const int64_t distance = edge.distance + stageOf(edge.to) - stageOf(edge.from);
    const bool isBefore = position.lookup(from.ops.back()) < position.lookup(to.ops.front());
    if (distance < 0 || (distance == 0 && !isBefore)) {
      return ScheduleFault{to.ops.front(),
                           "has a place in the schedule that changes what the loop means: " +
                               std::string(edge.reason),
                           from.ops.front()};
    }
  }
  return std::nullopt;
}

bool Schedule::isDeferred(unsigned retire) const {
  std::optional<unsigned> product = graph.productOf(retire);
  return product && stageOf(retire) > stageOf(*product);
}

std::optional<ScheduleFault> Schedule::checkFlights() {
  Operation *other = nullptr;
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    Operation *top = unit.ops.front();
    std::optional<unsigned> product = graph.productOf(number);
    const bool isChained = product && graph.isChained(*product);
    if (isDeferred(number)) {
      inFlight = true;
      if (!isChained) {
        return ScheduleFault{
            top, "lets a product be in flight across iterations whose sum something else takes"};
      }
      auto orderOf = [&](unsigned u) {
        return tgpu::kSchedule.get(graph.units()[u].ops.front()).getOrder();
      };
      if (orderOf(number) < orderOf(*product)) {
        return ScheduleFault{top, "waits for a product before the next one has taken its sum"};
      }
    }
    if (stageOf(number) == 1 && unit.kind != Unit::Kind::Release && !isChained) {
      other = top;
    }
  }
  if (inFlight && other) {
    return ScheduleFault{
        other, "runs an iteration behind in a loop that has a product in flight across iterations"};
  }
  return std::nullopt;
}

std::optional<ScheduleFault> Schedule::checkHolds() const {
  for (auto [number, unit] : llvm::enumerate(graph.units())) {
    Operation *top = unit.ops.front();
    if (tgpu::kSchedule.get(top).getHold() == 0) {
      continue;
    }
    if (unit.kind != Unit::Kind::Wait && unit.kind != Unit::Kind::Retire &&
        unit.kind != Unit::Kind::Release) {
      return ScheduleFault{top, "cannot interrupt element-wise work"};
    }
    // Late slots are tied to the sum that is complete, by which no other product may have it yet.
    if (unit.kind == Unit::Kind::Retire && (isDeferred(number) || graph.passesSumOn(number))) {
      return ScheduleFault{top,
                           "cannot interrupt element-wise work: another product takes the sum"};
    }
    if (inFlight && unit.kind == Unit::Kind::Release && stageOf(number) == 1) {
      return ScheduleFault{
          top, "cannot interrupt element-wise work, since there may be no such iteration"};
    }
  }
  return std::nullopt;
}
