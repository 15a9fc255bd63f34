//===- LayoutTies.cpp - which fragments share a layout -------------------===//
#include "passes/LayoutTies.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

bool tilec::sharesLayout(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<tile::MapOp, tile::ScanOp, tile::ScanWithOp, tgpu::GatherOp, tgpu::ScatterOp,
             tgpu::AtomicOp>(op);
}

/// The values that a region operation ties to each other: each pair must share a layout.
using Tie = std::pair<Value, Value>;

static void appendTies(ValueRange left, ValueRange right, SmallVectorImpl<Tie> &ties) {
  for (auto [a, b] : llvm::zip(left, right)) {
    if (isFragment(a) && isFragment(b)) {
      ties.push_back({a, b});
    }
  }
}

SmallVector<Tie> tilec::flowTies(Operation *op) {
  SmallVector<Tie> ties;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    appendTies(loop.getInitArgs(), loop.getRegionIterArgs(), ties);
    appendTies(loop.getYieldedValues(), loop.getRegionIterArgs(), ties);
    appendTies(loop.getRegionIterArgs(), loop.getResults(), ties);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() > 0) {
      appendTies(branch.thenYield().getOperands(), branch.getResults(), ties);
      appendTies(branch.elseYield().getOperands(), branch.getResults(), ties);
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    appendTies(loop.getInits(), loop.getBeforeArguments(), ties);
    appendTies(loop.getYieldOp().getOperands(), loop.getBeforeArguments(), ties);
    appendTies(loop.getConditionOp().getArgs(), loop.getAfterArguments(), ties);
    appendTies(loop.getConditionOp().getArgs(), loop.getResults(), ties);
  }
  return ties;
}

SmallVector<Value> tilec::sameAs(Value value) {
  auto other = [](ValueRange values, unsigned number) {
    return SmallVector<Value>{values[number]};
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      return other(loop.getResults(), argument.getArgNumber() - 1);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(parent);
        loop && argument.getOwner() == loop.getAfterBody()) {
      return other(loop.getResults(), argument.getArgNumber());
    }
    return {};
  }
  Operation *definition = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(definition)) {
    return other(loop.getRegionIterArgs(), number);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(definition)) {
    return other(loop.getAfterArguments(), number);
  }
  return sharesLayout(definition) ? SmallVector<Value>(definition->getResults())
                                  : SmallVector<Value>();
}

void tilec::forEachFlow(Operation *op, function_ref<void(OpOperand &, Value)> see) {
  auto each = [&](MutableArrayRef<OpOperand> operands, ValueRange places) {
    for (auto [operand, place] : llvm::zip(operands, places)) {
      if (isFragment(operand.get())) {
        see(operand, place);
      }
    }
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    each(loop.getInitArgsMutable(), loop.getRegionIterArgs());
    each(loop.getBody()->getTerminator()->getOpOperands(), loop.getRegionIterArgs());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() > 0) {
      each(branch.thenYield()->getOpOperands(), branch.getResults());
      each(branch.elseYield()->getOpOperands(), branch.getResults());
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    each(loop.getInitsMutable(), loop.getBeforeArguments());
    each(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments());
    each(loop.getConditionOp().getArgsMutable(), loop.getAfterArguments());
  }
}

bool tilec::isLoaded(Value value) {
  llvm::SetVector<Value> sources;
  sources.insert(value);
  for (size_t i = 0; i < sources.size(); ++i) {
    Operation *definition = sources[i].getDefiningOp();
    if (isa_and_nonnull<tgpu::LoadOp, tgpu::GatherOp>(definition)) {
      return true;
    }
    if (definition && (sharesLayout(definition) || isa<tgpu::UnpackOp>(definition))) {
      llvm::for_each(definition->getOperands(), [&](Value operand) {
        if (isFragment(operand)) {
          sources.insert(operand);
        }
      });
    }
  }
  return false;
}
