//===- KeepVariants.cpp - leave some variants of each kernel -------------===//
#include "dialects/support/RowKind.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_KEEPVARIANTS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct KeepVariants : tilec::impl::KeepVariantsBase<KeepVariants> {
  using KeepVariantsBase::KeepVariantsBase;

  void runOnOperation() override {
    if (only.empty()) {
      return;
    }
    for (const std::string &name : only) {
      if (llvm::none_of(kRowKinds, [&](RowKind rows) { return variantOf(rows) == name; })) {
        emitError(getOperation().getLoc(), "`only` is of `aligned`, `words` and `any`");
        return signalPassFailure();
      }
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
    const std::optional<StringRef> variant = kernel.getVariant();
    // Clusters assume no less than aligned rows.
    return variant && !llvm::is_contained(
                          only, *variant == "clustered" ? variantOf(RowKind::Aligned) : *variant);
  }
};
} // namespace
