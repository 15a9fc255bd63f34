//===- CopiesAhead.h - copies that a pipelined loop makes early -*- C++ -*-===//
#ifndef TILEC_PASSES_COPIESAHEAD_H
#define TILEC_PASSES_COPIESAHEAD_H

#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// The copies from global memory of a loop's body: those that can run ahead, and the others with the reason.
struct CopiesOfLoop {
  llvm::SmallVector<tgpu::CopyOp> ahead;
  llvm::SmallVector<std::pair<tgpu::CopyOp, std::string>> serial;
};

/// Sorts them for a pipeline of so many stages. The loop has no schedule, before and after.
CopiesOfLoop sortCopies(mlir::scf::ForOp loop, int64_t stages);

/// Gives `copies` stage 0 and all other work of the loop's body the last one.
void setStages(mlir::scf::ForOp loop, llvm::ArrayRef<tgpu::CopyOp> copies, int64_t stages);
/// Takes the stages from the loop's body.
void clearStages(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_PASSES_COPIESAHEAD_H
