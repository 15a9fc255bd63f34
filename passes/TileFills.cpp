//===- TileFills.cpp - copies outside of pipelined loops that TMA makes ---===//
#include "passes/TileFills.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Analysis.h"
#include "passes/GlobalAccess.h"
#include "passes/Shared.h"
#include "passes/Sync.h"
#include "passes/ViewBounds.h"

using namespace mlir;
using namespace tilec;
using layout::Answer;

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

std::string tilec::refusePlaceOfFill(tgpu::CopyOp copy) {
  auto kernel = copy->getParentOfType<tgpu::KernelOp>();
  auto buffer = copy.getDest().getDefiningOp<tgpu::AllocSharedOp>();
  if (!buffer || buffer->getBlock() != copy->getBlock()) {
    return "it fills part of a buffer, or one that is declared in a block around";
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

std::string tilec::refuseTileFill(tgpu::CopyOp copy) {
  if (std::string reason = refusePlaceOfFill(copy); !reason.empty()) {
    return reason;
  }
  tgpu::SharedAttr layout = cast<tgpu::SmemType>(copy.getDest().getType()).getLayout();
  return layout && layout.getLayout().withLeading(1)
             ? ""
             : "its buffer has a layout that cannot be repeated";
}

/// Whether a pipelined loop reads `buffer` that loads something else by TMA.
static bool isReadBesideTma(Value buffer) {
  auto loadsByTma = [](scf::ForOp loop) {
    return tile::kStages.has(loop) && llvm::any_of(loop.getOps<tgpu::CopyOp>(), [](auto copy) {
             return copy.getPath() == tgpu::CopyPath::Tma &&
                    isa<tgpu::SmemType>(copy.getDest().getType());
           });
  };
  for (Value part : partsOf(buffer)) {
    for (Operation *user : part.getUsers()) {
      for (auto loop = user->getParentOfType<scf::ForOp>(); loop;
           loop = loop->getParentOfType<scf::ForOp>()) {
        if (loadsByTma(loop)) {
          return true;
        }
      }
    }
  }
  return false;
}

// Measured on an H200: tiles of 128 x 128 that a loop by TMA reads, attention's backward pass, 6 % of the kernel
// faster than by cp.async, whose wait stands before the loop's first loads; tiles that a view may clip, which
// threads zero behind their landing, 1 % slower; tiles that nothing else is loaded beside 0.975 to 1.04
// times as fast, and in loops that are not pipelined 0.94 to 1.07.
std::string tilec::avoidTileFill(tgpu::CopyOp copy) {
  if (asksForRoles(copy->getParentOfType<tgpu::KernelOp>()) || isRequired(copy, "tma")) {
    return "";
  }
  if (copy->getParentOfType<LoopLikeOpInterface>()) {
    return "a tile that a loop loads anew in each iteration, not pipelined, comes as fast by "
           "cp.async";
  }
  if (!isReadBesideTma(copy.getDest())) {
    return "a tile that no pipelined loop reads whose loads are by TMA comes as fast by cp.async";
  }
  return ownBounds(copy.getSource()).empty()
             ? ""
             : "threads would zero what lies behind the view's end, which cp.async does itself";
}

std::string tilec::refuseTileStore(tgpu::CopyOp copy) {
  auto buffer = copy.getSource().getDefiningOp<tgpu::AllocSharedOp>();
  if (!buffer) {
    return "it stores part of a buffer";
  }
  tgpu::SharedAttr layout = buffer.getResult().getType().getLayout();
  Answer<layout::TmaBoxes> boxes =
      layout ? layout::tmaBoxes(layout.getLayout()) : layout::Refusal{"it has no layout"};
  if (!boxes || boxes->overhang) {
    return "its buffer is no whole number of TMA boxes";
  }
  for (Operation *op = copy; op != copy->getParentOfType<tgpu::KernelOp>();
       op = op->getParentOp()) {
    if (tile::kStages.has(op) || !isa<tgpu::CopyOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      return "it is in a pipelined loop, whose slots go back to the loads when threads have read "
             "them";
    }
  }
  return "";
}

// Measured on an H200, beside threads: 0.995 to 1.03 of the speed where the block does nothing afterwards, 0.94 to
// 0.98 in loops, which wait for the store before they fill the buffer again.
std::string tilec::avoidTileStore(tgpu::CopyOp copy) {
  return copy->getParentOfType<LoopLikeOpInterface>() && !isRequired(copy, "tma")
             ? "in a loop the next iteration would wait until the buffer has been read"
             : "";
}
