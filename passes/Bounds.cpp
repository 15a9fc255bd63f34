//===- Bounds.cpp - which dimensions of an access stay inside its tensor -===//
//
// A slice is inside where the range of its offset (IntegerAnalysis.h) ends a slice's size before
// the least extent that the tensor may have. Indices are bounded by the grid (tgpu.grid_point) and
// by loops (scf.for). So fixed dimensions that the tiles divide need no guards.
//
//===----------------------------------------------------------------------===//
#include "passes/Analysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_BOUNDS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

struct Bounds : tilec::impl::BoundsBase<Bounds> {
  void runOnOperation() override {
    const auto &integers = getAnalysis<IntegerAnalysis>();
    getOperation().walk([&](Operation *op) {
      if (!isa<tgpu::CopyOp, tgpu::LoadOp, tgpu::StoreOp, tgpu::AtomicTileOp>(op)) {
        return;
      }
      for (Value operand : op->getOperands()) {
        if (isa<tile::GlobalType>(operand.getType())) {
          annotate(op, analyseSliceOrGather(operand), integers);
        }
      }
    });
  }

  /// Notes for each dimension of the slice whether it stays inside the tensor.
  void annotate(Operation *op, GlobalSlice slice, const IntegerAnalysis &integers) {
    if (!slice.view || slice.hasInnerBounds) {
      return;
    }
    SmallVector<bool> inside;
    for (int64_t dim : slice.kept) {
      const IntegerRange extent = integers.range(slice.view.getExtents()[dim]);
      const IntegerRange first = rangeOfSum(slice.offset[dim], integers);
      const int64_t size = slice.sizes[dim];
      inside.push_back(!slice.gathered[dim] && !ShapedType::isDynamic(size) && first.low >= 0 &&
                       extent.low >= size && first.high <= extent.low - size);
    }
    if (llvm::is_contained(inside, true)) {
      tgpu::kInBounds.set(op, DenseBoolArrayAttr::get(op->getContext(), inside));
    }
  }
};

} // namespace
