//===- GatheringAccess.cpp - tiles at places that index tiles give -------===//
#include "passes/GatheringAccess.h"

#include "passes/Analysis.h"

using namespace mlir;
using namespace tilec;

std::optional<GatheringAccess> GatheringAccess::of(Operation *op) {
  OpOperand *view = nullptr;
  Value fragment;
  if (auto copy = dyn_cast<tgpu::CopyOp>(op)) {
    const bool loads = isa<tile::GlobalType>(copy.getSource().getType());
    view = loads ? &copy.getSourceMutable() : &copy.getDestMutable();
  } else if (auto load = dyn_cast<tgpu::LoadOp>(op)) {
    view = &load.getSourceMutable();
    fragment = load.getResult();
  } else if (auto store = dyn_cast<tgpu::StoreOp>(op)) {
    view = &store.getDestMutable();
    fragment = store.getValue();
  } else if (auto atomic = dyn_cast<tgpu::AtomicTileOp>(op)) {
    view = &atomic.getDestMutable();
    fragment = atomic.getValue();
  }
  return view && isGather(view->get()) ? std::optional(GatheringAccess{view, fragment})
                                       : std::nullopt;
}

SmallVector<GatheringAccess::Indices, 2> GatheringAccess::indices() const {
  SmallVector<Indices, 2> result;
  SmallVector<int64_t> dims; // of the tile, for each dimension of the slice that is kept
  llvm::append_range(
      dims, llvm::seq<int64_t>(0, cast<tile::GlobalType>(view->get().getType()).getRank()));
  for (auto slice = view->get().getDefiningOp<tile::SliceOp>(); slice;
       slice = slice.getSource().getDefiningOp<tile::SliceOp>()) {
    SmallVector<int64_t> ofSource;
    for (unsigned axis = 0, kept = 0; axis < slice.getStaticSizes().size(); ++axis) {
      ofSource.push_back(slice.isDropped(axis) ? -1 : dims[kept++]);
      if (slice.isGather(axis)) {
        result.push_back({&slice.getOffsetsMutable()[axis], unsigned(ofSource.back())});
      }
    }
    dims = ofSource;
  }
  return result;
}

layout::Answer<layout::RegisterLayout> tilec::layoutOfCopy(tgpu::CopyOp copy, int64_t warps) {
  const bool loads = isa<tgpu::SmemType>(copy.getDest().getType());
  auto buffer = cast<tgpu::SmemType>((loads ? copy.getDest() : copy.getSource()).getType());
  return tgpu::copyLayout(buffer.getShape(), buffer.getElementType(), copy.getBytes().value_or(0),
                          warps);
}
