//===- RoleMap.cpp - which role does what ----------------------------------===//
#include "passes/RoleMap.h"

#include "dialects/tgpu/Roles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilec;

/// `known`: operations that were asked about before.
static bool isMadeAnew(Value tile, llvm::SmallDenseMap<Operation *, bool> &known) {
  Operation *op = tile.getDefiningOp();
  if (!op) {
    return false;
  }
  auto [it, isNew] = known.insert({op, false});
  if (!isNew) {
    return it->second;
  }
  const bool isMade = op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                      !isa<tgpu::BeginPartialOp, tgpu::WgmmaBeginOp>(op) &&
                      llvm::all_of(op->getOperands(), [&](Value operand) {
                        return !isTile(operand) || isMadeAnew(operand, known);
                      });
  known[op] = isMade;
  return isMade;
}

bool tilec::isMadeAnew(Value tile) {
  llvm::SmallDenseMap<Operation *, bool> known;
  return ::isMadeAnew(tile, known);
}

static bool isControlFlow(Operation *op) { return isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op); }

/// Hands tiles on in control flow.
static bool isEnd(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() && isControlFlow(op->getParentOp());
}

SmallVector<Value> tilec::tilesOf(Operation *op) {
  SmallVector<Value> tiles;
  if (isControlFlow(op) || isEnd(op)) {
    return tiles;
  }
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  used.insert_range(op->getResults());
  llvm::copy_if(used, std::back_inserter(tiles),
                [](Value value) { return isTile(value) && !isMadeAnew(value); });
  return tiles;
}

unsigned RoleMap::number(Value value) {
  auto [it, isNew] = numbers.insert({value, unsigned(numbers.size())});
  if (isNew) {
    classes.grow(it->second + 1);
  }
  return it->second;
}

void RoleMap::join(Value a, Value b) {
  if (isTile(a) && isTile(b) && !isMadeAnew(a) && !isMadeAnew(b)) {
    const unsigned first = number(a), second = number(b); // both before the classes join
    classes.join(first, second);
  }
}

/// What loops and branches hand on is one tile.
void RoleMap::joinCarried(Operation *op) {
  auto joinAll = [&](ValueRange some, ValueRange others) {
    for (auto [a, b] : llvm::zip_equal(some, others)) {
      join(a, b);
    }
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    joinAll(loop.getInitArgs(), loop.getRegionIterArgs());
    joinAll(loop.getRegionIterArgs(), loop.getResults());
    joinAll(loop.getBody()->getTerminator()->getOperands(), loop.getResults());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : branch->getRegions()) {
      if (!region.empty() && op->getNumResults() != 0) {
        joinAll(region.front().getTerminator()->getOperands(), op->getResults());
      }
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    joinAll(loop.getInits(), loop.getBeforeArguments());
    joinAll(loop.getYieldOp().getResults(), loop.getBeforeArguments());
    joinAll(loop.getConditionOp().getArgs(), loop.getResults());
    joinAll(loop.getResults(), loop.getAfterArguments());
  }
}

RoleMap::RoleMap(tgpu::KernelOp kernel) {
  kernel.walk([&](Operation *op) {
    joinCarried(op);
    SmallVector<Value> tiles = tilesOf(op);
    for (Value tile : tiles) {
      join(tiles.front(), tile);
    }
  });
  kernel.walk([&](Operation *op) {
    IntegerAttr mark = tgpu::kRole.get(op);
    if (!mark) {
      return;
    }
    roles = std::max(roles, mark.getInt() + 1);
    for (Value tile : tilesOf(op)) {
      auto [it, isNew] = labels.insert({classes.findLeader(number(tile)), mark.getInt()});
      conflicting = it->second == mark.getInt() ? conflicting : op;
    }
  });
}

std::optional<int64_t> RoleMap::roleOf(Value tile) const {
  auto known = numbers.find(tile);
  if (known == numbers.end()) {
    return std::nullopt;
  }
  auto label = labels.find(classes.findLeader(known->second));
  return label == labels.end() ? std::nullopt : std::optional(label->second);
}

std::optional<int64_t> RoleMap::roleOf(Operation *op) const {
  if (IntegerAttr mark = tgpu::kRole.get(op)) {
    return mark.getInt();
  }
  // A product's fence is before it, its commit behind it.
  const bool isFence = isa<tgpu::WgmmaFenceOp>(op);
  if (isFence || isa<tgpu::WgmmaCommitOp>(op)) {
    while (op && !isa<tgpu::WgmmaOp>(op)) {
      op = isFence ? op->getNextNode() : op->getPrevNode();
    }
    if (!op) {
      return std::nullopt;
    }
  }
  for (Value tile : tilesOf(op)) {
    if (std::optional<int64_t> role = roleOf(tile)) {
      return role;
    }
  }
  return std::nullopt;
}
