//===- TileFills.cpp - copies outside of pipelined loops that TMA makes ---===//
#include "passes/TileFills.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/Shared.h"
#include "passes/Sync.h"

using namespace mlir;
using namespace tilec;

/// Values that are `buffer` or a part of it.
static SmallVector<Value> partsOf(Value buffer) {
  SmallVector<Value> parts = {buffer};
  for (size_t i = 0; i < parts.size(); ++i) {
    for (Operation *user : parts[i].getUsers()) {
      llvm::copy_if(user->getResults(), std::back_inserter(parts),
                    [](Value result) { return isa<tgpu::SmemType>(result.getType()); });
    }
  }
  return parts;
}

std::string tilec::refuseTileFill(tgpu::CopyOp copy) {
  auto kernel = copy->getParentOfType<tgpu::KernelOp>();
  if (!asksForRoles(kernel)) {
    return "only copies in a pipelined loop of several iterations do, or of kernels with warps "
           "that load, "
           "`@warp_specialize(producer)`";
  }
  auto buffer = copy.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  if (!buffer || buffer->getBlock() != copy->getBlock()) {
    return "it fills part of a buffer, or one that is declared in a block around";
  }
  tgpu::SharedAttr layout = buffer.getResult().getType().getLayout();
  if (!layout || !layout.getLayout().withLeading(1)) {
    return "its buffer has a layout that cannot be repeated";
  }
  for (Operation *op = copy->getParentOp(); op != kernel; op = op->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) || tile::kStages.has(op)) {
      return "it is in a pipelined loop, or in code of single threads";
    }
  }
  // It is waited for where its buffer is read first, and a role of its own would be ahead of the others.
  const WalkResult changes = kernel.walk([&](Operation *op) {
    return mayChange(op, copy.getSource()) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (changes.wasInterrupted()) {
    return "the kernel writes to the tensor, or orders its accesses of global memory";
  }
  for (Value part : partsOf(buffer.getResult())) {
    for (Operation *user : part.getUsers()) {
      Operation *top = copy->getBlock()->findAncestorOpInBlock(*user);
      if (user != copy && (!top || top->isBeforeInBlock(copy))) {
        return "its buffer is used before it";
      }
      const bool writes = llvm::any_of(sync::accessesOf(user), [&](const sync::Access &access) {
        return access.memory.alloc == buffer && access.write;
      });
      if (user != copy && (writes || user->getParentOfType<tile::ThreadsOp>())) {
        return "something else writes its buffer, or single threads read it";
      }
    }
  }
  return "";
}
