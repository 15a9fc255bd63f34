//===- OverlapLaunches.cpp - launches of a call that begin early ----------===//
//
// Programmatic dependent launch. A kernel lets the next one begin as soon as all of its blocks have: from then on the next one's
// blocks take the places that are left, and do what needs no memory. Theirs is to wait before they access any, all of them on
// every path: what a launch waits for includes then what that launch has waited for.
//
//===----------------------------------------------------------------------===//
#include "dialects/support/Target.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_OVERLAPLAUNCHES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {
struct OverlapLaunches : tilec::impl::OverlapLaunchesBase<OverlapLaunches> {
  void runOnOperation() override {
    tgpu::KernelOp kernel = getOperation();
    const Target *target = findTarget(kernel.getTarget().value_or(""));
    if (!target || !target->overlapsLaunches()) {
      return;
    }
    Block &entry = kernel.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    if (kernel.getPrecedes()) {
      tgpu::LaunchDependentsOp::create(builder, kernel.getLoc());
    }
    if (!kernel.getFollows()) {
      return;
    }
    auto first = llvm::find_if(entry.without_terminator(),
                               [](Operation &op) { return tgpu::accessesGlobal(&op); });
    builder.setInsertionPoint(&entry, first);
    tgpu::WaitForLaunchesOp::create(builder, kernel.getLoc());
  }
};
} // namespace
