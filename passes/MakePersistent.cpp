//===- MakePersistent.cpp - blocks that work through grid points ---------===//
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_MAKEPERSISTENT
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// The only use of the block's number in a kernel is to find its grid point.
tgpu::GridPointOp findGridPoint(tgpu::KernelOp kernel) {
  tgpu::GridPointOp found;
  kernel.walk([&](tgpu::GridPointOp point) { found = point; });
  return found;
}

struct MakePersistent : tilec::impl::MakePersistentBase<MakePersistent> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    tgpu::GridPointOp point = findGridPoint(kernel);
    if (!kernel.getPersistent() || !point || point->getParentOp() != kernel ||
        point.getExtents().empty()) {
      return;
    }
    OpBuilder builder(point);
    Location loc = point.getLoc();
    Value total = point.getExtents().front();
    for (Value extent : point.getExtents().drop_front()) {
      total = arith::MulIOp::create(builder, loc, total, extent);
    }
    Value stride = tgpu::NumBlocksOp::create(builder, loc, builder.getI32Type());
    // There are less than 2^31 points, and no more blocks than points: what follows the last point
    // may pass the end of i32, but not of u32.
    auto loop = scf::ForOp::create(builder, loc, point.getLinear(), total, stride, ValueRange(),
                                   /*bodyBuilder=*/nullptr, /*unsignedCmp=*/true);

    // Everything from the grid point to the end of the kernel is the work of one point.
    Block &body = *loop.getBody();
    Block &entry = kernel.getBody().front();
    SmallVector<Operation *> work;
    for (Operation &op :
         llvm::make_range(point->getIterator(), entry.getTerminator()->getIterator())) {
      if (&op != loop.getOperation()) {
        work.push_back(&op);
      }
    }
    for (Operation *op : work) {
      op->moveBefore(body.getTerminator());
    }
    point.getLinearMutable().assign(loop.getInductionVar());
  }
};

} // namespace
