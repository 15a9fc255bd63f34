//===- Shared.h - building blocks of the passes that move data -*- C++ -*-===//
#ifndef TILEC_PASSES_SHARED_H
#define TILEC_PASSES_SHARED_H

#include "passes/Analysis.h"

namespace tilec {

/// The number of a tensor map in `kernel` that moves boxes between `slice` and buffers with
/// `layout` (without leading dimensions), for so many `sharers` (layout::tmaBoxes); appended to `tensor_maps` unless
/// it is there. Fails, with an error at `op`, when the layout has no boxes or the view's extents and strides are not
/// kernel arguments or constants.
mlir::FailureOr<int64_t> getTensorMap(tgpu::KernelOp kernel, mlir::Operation *op, GlobalSlice slice,
                                      const layout::SharedLayout &layout, int64_t sharers = 1);

/// Bytes that TMA writes to fill one buffer with `layout`, as its mbarrier counts them; 0 when TMA
/// cannot.
int64_t tmaBytes(const layout::SharedLayout &layout);

/// The type of a ring of `count` buffers of `type`.
tgpu::SmemType ringType(tgpu::SmemType type, int64_t count);

/// Bytes of shared memory of a buffer type; without a layout those of its elements.
int64_t sharedBytes(tgpu::SmemType type);

/// Bytes of shared memory through which threads learn where the message of a tile stands.
constexpr int64_t kPrintScratch = 4;

/// Replaces a copy that nothing overlaps: loads become cp.async with its wait where accesses are
/// wide enough, the rest stays with path `vector`: an error where `@require(cp_async)` is for it.
llvm::LogicalResult makeSynchronous(tgpu::CopyOp copy);

} // namespace tilec

#endif // TILEC_PASSES_SHARED_H
