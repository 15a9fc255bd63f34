//===- Shared.cpp - building blocks of the passes that move data ---------===//
#include "passes/Shared.h"

#include "dialects/layout/Compatibility.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

/// How a TensorMapAttr names a value: the number of a kernel argument, or -1 - c for a constant c.
static std::optional<int64_t> mapOperand(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return -1 - constant.getSExtValue();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<tgpu::KernelOp>(argument.getOwner()->getParentOp())) {
    return argument.getArgNumber();
  }
  return std::nullopt;
}

FailureOr<int64_t> tilec::getTensorMap(tgpu::KernelOp kernel, Operation *op, GlobalSlice slice,
                                       const layout::SharedLayout &layout, int64_t sharers) {
  layout::Answer<layout::TmaBoxes> boxes = layout::tmaBoxes(layout, sharers);
  if (!boxes) {
    return op->emitError("TMA cannot move this buffer: ") << boxes.reason();
  }
  auto base = slice.view ? dyn_cast<BlockArgument>(slice.view.getBase()) : BlockArgument();
  if (!base) {
    return op->emitError("TMA needs a view of a kernel argument");
  }
  unsigned rank = slice.offset.size();
  SmallVector<int64_t> extents, strides = {-1 - 1}, box(rank, 1);
  for (unsigned i = 0; i < rank; ++i) {
    std::optional<int64_t> extent = mapOperand(slice.view.getExtents()[rank - 1 - i]);
    if (!extent) {
      return op->emitError("TMA needs extents known on the host");
    }
    extents.push_back(*extent);
    if (i + 1 < rank) {
      std::optional<int64_t> stride = mapOperand(slice.view.getStrides()[rank - 2 - i]);
      if (!stride) {
        return op->emitError("TMA needs strides known on the host");
      }
      strides.push_back(*stride);
    }
  }
  for (auto [position, dim] : llvm::enumerate(slice.kept)) {
    box[rank - 1 - dim] = boxes->extents[position];
  }
  auto map = tgpu::TensorMapAttr::get(op->getContext(), base.getArgNumber(), extents, strides, box,
                                      boxes->swizzle);
  SmallVector<Attribute> maps;
  if (ArrayAttr known = kernel.getTensorMapsAttr()) {
    maps.append(known.begin(), known.end());
  }
  auto *it = llvm::find(maps, map);
  int64_t index = it - maps.begin();
  if (it == maps.end()) {
    maps.push_back(map);
    kernel.setTensorMapsAttr(ArrayAttr::get(op->getContext(), maps));
  }
  return index;
}

int64_t tilec::tmaBytes(const layout::SharedLayout &layout) {
  layout::Answer<layout::TmaBoxes> boxes = layout::tmaBoxes(layout);
  return boxes ? boxes->bytesPerBox * (int64_t)boxes->boxes.size() : 0;
}

tgpu::SmemType tilec::ringType(tgpu::SmemType type, int64_t count) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, type.getShape());
  tgpu::SharedAttr layout;
  if (type.getLayout()) {
    layout =
        tgpu::SharedAttr::get(type.getContext(), *type.getLayout().getLayout().withLeading(count));
  }
  return tgpu::SmemType::get(type.getContext(), shape, type.getElementType(), layout);
}

int64_t tilec::sharedBytes(tgpu::SmemType type) {
  return type.getLayout() ? type.getLayout().getLayout().sizeBytes()
                          : ShapedType::getNumElements(type.getShape()) *
                                tile::getStorageBits(type.getElementType()) / 8;
}

LogicalResult tilec::makeSynchronous(tgpu::CopyOp copy) {
  bool loads = isa<tile::GlobalType>(copy.getSource().getType());
  // cp.async moves 4, 8 or 16 bytes (PTX ISA 9.7.9.25).
  if (!loads || copy.getPath() == tgpu::CopyPath::Vector || copy.getBytes().value_or(0) < 4) {
    copy.setPathAttr(tgpu::CopyPathAttr::get(copy.getContext(), tgpu::CopyPath::Vector));
    return loads ? checkRequired(copy, "cp_async", "its accesses are not wide enough") : success();
  }
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto load = tgpu::CpAsyncOp::create(builder, loc, copy.getSource(), copy.getDest(),
                                      *copy.getBytes(), copy.getCache());
  if (DenseBoolArrayAttr inBounds = tgpu::kInBounds.get(copy)) {
    tgpu::kInBounds.set(load, inBounds);
  }
  tgpu::CpAsyncCommitOp::create(builder, loc);
  tgpu::CpAsyncWaitOp::create(builder, loc, 0);
  copy.erase();
  return success();
}
