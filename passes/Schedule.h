//===- Schedule.h - the schedule of a loop, read and checked ---*- C++ -*-===//
//
// What `tgpu.schedule` says of the operations of a loop with channels: their stages and their order. The
// planner asks whether what it has written can be carried out, the expander before it does.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_SCHEDULE_H
#define TILEC_PASSES_SCHEDULE_H

#include "passes/LoopGraph.h"

namespace tilec {

/// Why a schedule cannot be carried out: `op` and then `reason` are a sentence; `other` has a part in it.
struct ScheduleFault {
  mlir::Operation *op = nullptr;
  std::string reason;
  mlir::Operation *other = nullptr;
};

class Schedule {
public:
  /// `graph` outlives the schedule.
  explicit Schedule(const LoopGraph &graph) : graph(graph) {}

  /// Reads the attributes; once. What is wrong with them, if anything is.
  std::optional<ScheduleFault> read();

  int64_t stageOf(unsigned unit) const { return stages[unit]; }
  /// All operations with a place, in the order of a step.
  llvm::ArrayRef<mlir::Operation *> order() const { return ordered; }
  /// Iterations that something runs ahead; whether something runs behind (1) or nothing does (0).
  int64_t ahead() const { return mostAhead; }
  int64_t behind() const { return mostBehind; }
  /// True if from step to step there is a product in flight.
  bool hasFlights() const { return inFlight; }
  /// True for the wait for a product that is in flight from step to step.
  bool isDeferred(unsigned retire) const;

private:
  std::optional<ScheduleFault> readStages();
  std::optional<ScheduleFault> checkAhead(unsigned unit) const;
  std::optional<ScheduleFault> checkEdges() const;
  std::optional<ScheduleFault> checkFlights();
  std::optional<ScheduleFault> checkHolds() const;

  const LoopGraph &graph;
  llvm::SmallVector<int64_t> stages; ///< by unit
  llvm::SmallVector<mlir::Operation *> ordered;
  int64_t mostAhead = 0, mostBehind = 0;
  bool inFlight = false;
};

} // namespace tilec

#endif // TILEC_PASSES_SCHEDULE_H
