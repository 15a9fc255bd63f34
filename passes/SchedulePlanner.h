//===- SchedulePlanner.h - finds the schedule of one loop ------*- C++ -*-===//
//
// See PlanSchedule.cpp for the rules. ScheduleStages.cpp finds stages, ScheduleOrder.cpp the order.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_SCHEDULEPLANNER_H
#define TILEC_PASSES_SCHEDULEPLANNER_H

#include "passes/Schedule.h"

#include <random>

namespace tilec {

/// What a schedule gives up.
struct Freedom {
  bool gaps, deferred, reordered;
};

class SchedulePlanner {
public:
  /// With a `seed` the schedule is drawn.
  SchedulePlanner(mlir::scf::ForOp loop, int64_t registers, unsigned seed)
      : loop(loop), graph(loop), available(registers), isDrawn(seed != 0), random(seed),
        stage(graph.units().size(), 0) {
    for (const Unit &unit : graph.units()) {
      tgpu::StageAttr place = tgpu::kSchedule.get(unit.ops.front());
      fixed.push_back(place ? std::optional(place.getStage()) : std::nullopt);
    }
    inEdges.resize(graph.units().size());
    for (const Edge &edge : graph.edges()) {
      inEdges[edge.to].push_back(edge);
    }
  }

  mlir::LogicalResult run();

  /// Registers that fragments take of a thread with the schedule that is chosen where there are enough; 0 for a
  /// loop without one.
  int64_t registersWanted();

private:
  struct Bound {
    unsigned from, to;
    int64_t least; ///< stage(to) >= stage(from) + least
  };
  /// A place in the order: a unit, or a stream and what interrupts it after so many percent.
  struct Place {
    unsigned unit;
    llvm::SmallVector<unsigned> events;
    int64_t hold = 0;
  };

  bool plan(Freedom freedom);
  bool solve(llvm::ArrayRef<Bound> bounds);
  llvm::SmallVector<std::pair<unsigned, unsigned>> findGaps();
  bool planStages(Freedom freedom);
  void drawStages(llvm::SmallVector<Bound> &bounds);
  bool draws(unsigned times, unsigned of) { return isDrawn && random() % of < times; }
  bool isMain(unsigned unit) const;
  bool isPreparation(unsigned unit) const;
  void delayPreparations();
  bool planOrder(bool reordered);
  void placeSlots();
  bool isFenced(unsigned number) const;
  void placeLoadsAhead();
  void holdRetires();
  bool planFills();
  bool planInOrder();
  int64_t kernelDistance(const Edge &edge) const {
    return edge.distance + stage[edge.to] - stage[edge.from];
  }
  mlir::Block *loopBody() const { return graph.getLoop().getBody(); }
  int64_t lastUse(mlir::Value value, unsigned unit, llvm::ArrayRef<int64_t> position) const;
  int64_t registersNeeded() const;
  void write();
  void erase();
  bool dropEarlyLoads();
  bool planFreely();
  bool planSerially();
  void orderSerially(bool isEager);
  bool mayStandStill() const;
  void remark();

  mlir::scf::ForOp loop;
  LoopGraph graph;
  int64_t available; ///< registers of a thread
  bool isDrawn;
  std::mt19937 random;
  llvm::SmallDenseSet<unsigned> behind; ///< units that were drawn to run an iteration behind
  llvm::SmallVector<std::optional<int64_t>>
      fixed; ///< stages of loads that an earlier pass lets run ahead
  llvm::SmallVector<llvm::SmallVector<Edge, 4>, 0> inEdges;
  llvm::SmallVector<int64_t> stage;
  llvm::SmallVector<Place> order;
  llvm::SmallVector<std::pair<unsigned, unsigned>> gaps;
  llvm::SmallVector<unsigned> deferred; ///< products that are waited for an iteration later
  llvm::SmallVector<unsigned> held; ///< waits that stay, though the product's sum would allow it
};

} // namespace tilec

#endif // TILEC_PASSES_SCHEDULEPLANNER_H
