//===- TgpuDependentOps.cpp - launches of a call that overlap -------------===//
#include "dialects/tgpu/Tgpu.h"

using namespace mlir;
using namespace tilec::tgpu;

/// What only says where something lies; all else that has a region of global memory as operand may be at its bytes.
static bool isPlace(Operation *op) {
  using namespace tilec::tile;
  return isa<ViewOp, SliceOp, ReshapeOp, BitcastViewOp, ExtentOp, StrideOp>(op);
}

bool tilec::tgpu::accessesGlobal(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        // Records of failed checks and messages are global memory that is no operand.
        const bool accesses = isa<tile::VerifyOp, tile::PrintOp>(inner) ||
                              (!isPlace(inner) && llvm::any_of(inner->getOperandTypes(),
                                                               llvm::IsaPred<tile::GlobalType>));
        return accesses ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tilec::tgpu::waitsForLaunches(KernelOp kernel) {
  return !kernel.getBody().empty() && !kernel.getBody().front().getOps<WaitForLaunchesOp>().empty();
}

bool tilec::tgpu::letsLaunchesBegin(KernelOp kernel) {
  return !kernel.getBody().empty() &&
         !kernel.getBody().front().getOps<LaunchDependentsOp>().empty();
}

LogicalResult WaitForLaunchesOp::verify() {
  // Blocks behind the first one are not on every path.
  if (!getOperation()->getBlock()->isEntryBlock()) {
    return emitOpError("stands where every thread comes: in the first block of the kernel");
  }
  for (Operation &before : *getOperation()->getBlock()) {
    if (&before == getOperation()) {
      break;
    }
    if (accessesGlobal(&before)) {
      InFlightDiagnostic error = emitOpError("stands in front of every access of global memory");
      error.attachNote(before.getLoc()) << "this is one before it";
      return error;
    }
  }
  return success();
}
