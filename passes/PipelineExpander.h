//===- PipelineExpander.h - carries out the schedule of one loop -*- C++ -*-===//
//
// PipelineRings.cpp makes and fills rings, PipelineRegisters.cpp loads into fragments, ExpandPipeline.cpp
// puts the iterations together.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_PIPELINEEXPANDER_H
#define TILEC_PASSES_PIPELINEEXPANDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Pipeline.h"
#include "passes/ViewBounds.h"

namespace tilec {

class Expander {
public:
  Expander(tgpu::KernelOp kernel, mlir::scf::ForOp loop)
      : kernel(kernel), loop(loop), builder(loop), loc(loop.getLoc()),
        stages(tgpu::kPipeline.get(loop).getStages()), path(tgpu::kPipeline.get(loop).getPath()) {}

  mlir::LogicalResult run();

private:
  struct Load {
    tgpu::CopyOp copy;
    mlir::Value ring;
    int64_t map = 0; // tensor map, for TMA
    /// Bounds that TMA does not know, and the part of each tile inside them where it is the same in
    /// all iterations.
    llvm::SmallVector<OwnBound> bounds;
    std::optional<InnerBox> box;

    bool byTma() { return copy.getPath() == tgpu::CopyPath::Tma; }
  };
  /// What fills the slots of the channel: all loads by TMA.
  struct Fill {
    llvm::SmallVector<Load *> loads;
    mlir::Value channel;
  };

  /// A load of global memory into a fragment, and how many iterations ahead it runs.
  struct EarlyLoad {
    mlir::Operation *op;
    int64_t ahead;
  };

  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  mlir::Value plus(mlir::Value a, mlir::Value b);
  mlir::LogicalResult makeRings();
  void makeChannels(mlir::OpBuilder &entry);
  /// Value computed in the loop for another iteration, which `mayBeBeyond` the last one: loads then look where their tensor ends.
  mlir::Value recompute(mlir::Value value, mlir::IRMapping &mapping, bool mayBeBeyond = false);
  void recomputeReads(mlir::Value value, mlir::IRMapping &mapping);
  mlir::IRMapping readPlaces(llvm::ArrayRef<Load *> some, mlir::Value number);
  /// The slot of a load's ring that iteration `number` reads.
  mlir::Value slotOf(Load &load, mlir::Value number);
  void emitLoad(Load &load, mlir::Value number, mlir::IRMapping &places, mlir::Value channel = {});
  void findBoxes();
  void zeroBeyondBounds(Load &load, mlir::IRMapping &mapping);
  /// `then` runs if there is an iteration of this number.
  void ifInside(mlir::Value number, llvm::function_ref<void()> then);
  bool mayReadPastEnd();
  void fillGroup(mlir::Value number);
  void fillByTma(const Fill &fill, mlir::Value number);
  void fillByTma(mlir::Value number);
  void wait(const Fill &fill, mlir::Value position);
  void release(const Fill &fill, mlir::Value position);
  void takeFirstReads();
  mlir::LogicalResult checkSchedule();
  void awaitCopies();
  llvm::SmallVector<mlir::Value> readFirst(mlir::Value number);
  void findEarlyLoads();
  int64_t furthestAhead();
  llvm::SmallVector<mlir::Value> loadEarly(int64_t ahead, mlir::Value number);
  llvm::SmallVector<mlir::Value> loadEarlyIfInside(int64_t ahead, mlir::Value number,
                                                   int64_t further);
  llvm::SmallVector<mlir::Value> loadEarly(mlir::Value number, bool inside);
  llvm::SmallVector<mlir::Value> loadFirst();
  llvm::SmallVector<mlir::Value> emitBody(llvm::ArrayRef<mlir::Value> carried, mlir::Value number,
                                          mlir::Value position);
  llvm::SmallVector<mlir::Value> emitIteration(llvm::ArrayRef<mlir::Value> carried,
                                               mlir::Value number, bool loadsInside);
  mlir::scf::ForOp emitIterations(mlir::Value from, mlir::Value to, int64_t bodies,
                                  llvm::ArrayRef<mlir::Value> inits);
  void emitPrologue();
  void emitLoop();
  void emitEpilogue(mlir::scf::ForOp fresh);

  tgpu::KernelOp kernel;
  mlir::scf::ForOp loop;
  mlir::OpBuilder builder;
  mlir::Location loc;
  int64_t stages;
  /// Copies by cp.async, of which some of TMA may be beside; vector: there are no rings.
  tgpu::CopyPath path;
  bool usesTma = false;
  llvm::SmallVector<Load> loads;
  llvm::SmallVector<Fill> fills; // by TMA
  mlir::Value base;              // ring position of iteration 0
  mlir::Value trips;             // number of iterations, i32
  /// In the order of the body. Behind the loop's own values each iteration hands on, for each of them,
  /// what it has loaded for the next iterations.
  llvm::SmallVector<EarlyLoad> early;
  tgpu::MmaOp firstProduct, lastProduct; // of mma.sync, when the reads of the first run ahead
  llvm::SetVector<mlir::Operation *>
      firstReads; // what reads the first product's operands, in order
};

} // namespace tilec

#endif // TILEC_PASSES_PIPELINEEXPANDER_H
