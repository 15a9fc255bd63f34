//===- BlockFootprint.h - registers and shared memory of a block -*- C++ -*-===//
//
// What a block will take of a multiprocessor, estimated before there are layouts and schedules.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_PASSES_BLOCKFOOTPRINT_H
#define TILEC_PASSES_BLOCKFOOTPRINT_H

#include "dialects/support/Target.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tilec {

/// How a pipelined loop will run: as tgpu-plan-pipeline does it where nothing stands in its way.
struct LoopStages {
  llvm::SmallVector<mlir::Operation *> copies; ///< that run ahead
  int64_t stages = 1;
  bool allTma = false;
};
/// Nothing for a loop that stays serial.
std::optional<LoopStages> stagesOf(mlir::scf::ForOp loop, const Target &target);

/// Registers of a thread: the fragments that live at once, and some for addresses.
int64_t estimateRegisters(tgpu::KernelOp kernel);
/// Bytes of shared memory that some pipelined loop needs at least: its buffers, once.
int64_t leastShared(tgpu::KernelOp kernel);
/// Bytes of shared memory, with the stages that fit.
int64_t estimateShared(tgpu::KernelOp kernel, const Target &target);
/// Whether tensor cores sum products of 8-bit floats, and threads add what they have every so many elements (`promote`).
bool promotesSums(tgpu::DotOp dot);
/// Blocks that are resident on a multiprocessor at a time, at least one.
int64_t estimateResident(tgpu::KernelOp kernel, const Target &target);

} // namespace tilec

#endif // TILEC_PASSES_BLOCKFOOTPRINT_H
