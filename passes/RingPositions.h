//===- RingPositions.h - numbers of iterations and positions in rings -*- C++ -*-===//
//
// What fills and uses a ring counts its iterations from 0. The position in a ring that mbarriers
// guard runs on across all that is around its loop, since the parity of a barrier never starts anew.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_RINGPOSITIONS_H
#define TILEC_PASSES_RINGPOSITIONS_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// A constant of 32 bits.
mlir::Value constantI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// a + b; one of them where the other is the constant 0.
mlir::Value emitSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// The number of iterations of `loop`, i32, computed where `builder` stands.
mlir::Value emitTripCount(mlir::OpBuilder &builder, mlir::scf::ForOp loop);

/// The induction variable of iteration `number` (i32) of `loop`.
mlir::Value emitInduction(mlir::OpBuilder &builder, mlir::scf::ForOp loop, mlir::Value number);

/// A position that all loops and branches around `place`, a loop or what is filled once in its block, carry, from 0
/// at the start of the kernel. Adding it replaces these operations, not `place` itself.
class RingPosition {
public:
  RingPosition(tgpu::KernelOp kernel, mlir::Operation *place);

  /// The position of iteration 0 of the loop.
  mlir::Value base() const { return first; }
  /// Says what the position is at the end of the block of `last`, which stands where `place` did; once.
  void store(mlir::Operation *last, mlir::Value end);

private:
  mlir::Value first;
  llvm::SmallVector<mlir::Operation *> around; ///< loops and branches, innermost first
};

} // namespace tilec

#endif // TILEC_PASSES_RINGPOSITIONS_H
