//===- KeepVariant.cpp - leave one variant of each kernel ----------------===//
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_KEEPVARIANT
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct KeepVariant : tilec::impl::KeepVariantBase<KeepVariant> {
  using KeepVariantBase::KeepVariantBase;

  void runOnOperation() override {
    if (only.empty()) {
      return;
    }
    if (only != "aligned" && only != "any") {
      emitError(getOperation().getLoc(), "`only` is `aligned` or `any`");
      return signalPassFailure();
    }
    SmallVector<Operation *> erased;
    getOperation().walk([&](tgpu::CostOp cost) {
      auto kernel = getOperation().lookupSymbol<tgpu::KernelOp>(cost.getEntryAttr().getAttr());
      if (kernel && isOther(kernel)) {
        erased.push_back(cost);
      }
    });
    for (auto kernel : getOperation().getOps<tgpu::KernelOp>()) {
      if (isOther(kernel)) {
        erased.push_back(kernel);
      }
    }
    for (Operation *op : erased) {
      op->erase();
    }
  }

  bool isOther(tgpu::KernelOp kernel) const {
    const StringRef variant = kernel.getVariant().value_or(only);
    return (variant == "clustered" ? "aligned" : variant) != only; // clusters assume no less
  }
};
} // namespace
