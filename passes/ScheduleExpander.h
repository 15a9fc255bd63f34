//===- ScheduleExpander.h - carries out the schedule of one loop -*- C++ -*-===//
//
// See ExpandSchedule.cpp for what comes out. ScheduleSteps.cpp emits single steps.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_SCHEDULEEXPANDER_H
#define TILEC_PASSES_SCHEDULEEXPANDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/RingPositions.h"
#include "passes/Schedule.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace tilec {

/// What later steps use: a value of the body, or what an argument of it is in the next iteration.
struct Carried {
  mlir::Value value; ///< of the body; null for an argument
  unsigned argument = 0;
  int64_t stage = 0;
  int64_t most = 0; ///< steps that it is carried
};

/// A product in flight: its value in the body, and in which step it was issued, counted back.
struct InFlight {
  mlir::Value pending;
  int64_t ago = 0;
  bool operator==(const InFlight &) const = default;
};

/// What one step knows of those before it.
struct Window {
  llvm::SmallVector<llvm::SmallVector<mlir::Value>>
      values; ///< by Carried; the last step's first, null where unknown
  llvm::SmallVector<llvm::SmallVector<InFlight, 1>> groups; ///< in the order of their commits
};

class ScheduleExpander {
public:
  explicit ScheduleExpander(mlir::scf::ForOp loop)
      : loop(loop), graph(loop), schedule(graph), builder(loop), loc(loop.getLoc()) {}

  mlir::LogicalResult run();

private:
  int64_t stageOf(unsigned unit) const { return schedule.stageOf(unit); }

  // Values.
  void findCarried();
  void need(mlir::Value value, int64_t user);
  void needArgument(unsigned argument, int64_t distance);
  unsigned carriedIndex(mlir::Value value) const;
  unsigned carriedIndex(unsigned argument) const;
  int64_t stageOfArgument(unsigned argument) const;
  bool isChainArgument(mlir::Value value) const;

  // A step.
  struct Step {
    mlir::Value number; ///< of the step
    Window before;
    std::map<int64_t, mlir::IRMapping> values; ///< by stage
    llvm::SmallVector<llvm::SmallVector<InFlight, 1>> groups;
    llvm::SmallVector<mlir::Value> open; ///< products since the last commit
    bool hasFence = false;
  };
  mlir::Value iterationOf(Step &step, int64_t stage);
  mlir::Value resolve(Step &step, mlir::Value value, int64_t stage, mlir::IRMapping &mapping);
  void resolveOperands(Step &step, mlir::Operation *op, int64_t stage, mlir::IRMapping &mapping);
  void emit(Step &step, mlir::Operation *op, int64_t stage);
  void emitPlain(Step &step, mlir::Operation *op, int64_t stage, mlir::IRMapping &mapping);
  void emitAhead(Step &step, mlir::Operation *op, int64_t stage);
  void emitBehind(Step &step, mlir::Operation *op);
  void emitProduct(Step &step, tgpu::WgmmaOp product, int64_t stage);
  void emitRetire(Step &step, tgpu::WgmmaWaitOp wait, int64_t stage);
  struct Stream;
  void resolveBefore(Step &step, llvm::ArrayRef<mlir::Operation *> ops,
                     llvm::ArrayRef<mlir::Operation *> body);
  void emitStreamBody(Step &step, llvm::ArrayRef<mlir::Operation *> body, Stream &stream);
  void emitEvent(Step &step, llvm::ArrayRef<mlir::Operation *> ops, Stream &stream);
  void emitStream(Step &step, llvm::ArrayRef<mlir::Operation *> ops, int64_t least, int64_t most);
  void emitUnits(Step &step, int64_t least, int64_t most);
  Window emitStep(mlir::Value number, const Window &before, int64_t least, int64_t most);
  void emitLastStep(const Window &before, llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::Value valueBehind(Step &step, const Carried &carried);
  Window firstWindow();
  void emitPrologue(Window &window);
  void beginFlights(Window &window);
  llvm::SmallVector<mlir::Value> emitLoops(Window window);

  mlir::scf::ForOp loop;
  LoopGraph graph;
  Schedule schedule;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<Carried> carried;
  llvm::MapVector<mlir::Value, mlir::Value>
      chains; ///< a carried sum to the product in flight that it is
  mlir::Value trips;
};

} // namespace tilec

#endif // TILEC_PASSES_SCHEDULEEXPANDER_H
