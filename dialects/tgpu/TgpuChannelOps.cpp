//===- TgpuChannelOps.cpp - verifiers of channels and what fills them ----===//
#include "dialects/tgpu/Tgpu.h"

#include <functional>

using namespace mlir;
using namespace tilec::tgpu;

/// Dimensions of the kernel's cluster, ascending, and more than one block along them.
static LogicalResult verifyAcross(Operation *op, std::optional<ArrayRef<int32_t>> dims) {
  if (!dims) {
    return success();
  }
  auto kernel = op->getParentOfType<KernelOp>();
  const ArrayRef<int32_t> cluster =
      kernel ? kernel.getCluster().value_or(ArrayRef<int32_t>()) : ArrayRef<int32_t>();
  bool isRight = !dims->empty() && llvm::is_sorted(*dims, std::less_equal<>());
  for (int32_t dim : *dims) {
    isRight = isRight && dim >= 0 && size_t(dim) < cluster.size() && cluster[dim] > 1;
  }
  return isRight ? success()
                 : op->emitOpError("is `across` dimensions of its kernel's cluster, ascending, "
                                   "each of several blocks");
}

LogicalResult TmaLoadOp::verify() {
  if (!getAcross()) {
    return success();
  }
  auto channel = getChannel().getDefiningOp<ChannelOp>();
  const ArrayRef<int32_t> whole =
      channel ? channel.getAcross().value_or(ArrayRef<int32_t>()) : ArrayRef<int32_t>();
  if (!llvm::all_of(*getAcross(), [&](int32_t dim) { return llvm::is_contained(whole, dim); })) {
    return emitOpError("is `across` more dimensions than its channel");
  }
  return verifyAcross(*this, getAcross());
}

LogicalResult ChannelOp::verify() {
  const int64_t slots = getResult().getType().getSlots();
  if (failed(verifyAcross(*this, getAcross()))) {
    return failure();
  }
  if (getAcross() && getConsumers() == 0) {
    return emitOpError("has slots that other blocks fill and nobody gives back");
  }
  for (Value ring : getGuards()) {
    auto type = cast<SmemType>(ring.getType());
    if (!ring.getDefiningOp<AllocSharedOp>() || type.getRank() == 0 ||
        type.getShape().front() != slots) {
      return emitOpError("guards rings of as many slots as it has");
    }
  }
  return success();
}
