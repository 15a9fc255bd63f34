//===- RoleSlice.cpp - part of a kernel as the program of a role ----------===//
#include "passes/RoleSlice.h"

#include "mlir/Transforms/RegionUtils.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

void RoleSlice::needOp(Operation *op) {
  for (; ops.insert(op).second; op = op->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      needValue(loop.getLowerBound());
      needValue(loop.getUpperBound());
      needValue(loop.getStep());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      needValue(branch.getCondition());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      needValue(loop.getConditionOp().getCondition());
    } else if (op->getNumRegions() != 0) {
      refuse(refuseRegion(op));
    }
    if (isa<tgpu::KernelOp>(op->getParentOp())) {
      break;
    }
  }
}

void RoleSlice::needWhole(Operation *op) {
  needOp(op);
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  llvm::for_each(used, [&](Value value) { needValue(value); });
}

void RoleSlice::needCarried(scf::ForOp loop, unsigned number) {
  needOp(loop);
  if (values.insert(loop.getRegionIterArg(number)).second) {
    needValue(loop.getInitArgs()[number]);
    needValue(loop.getBody()->getTerminator()->getOperand(number));
  }
  values.insert(loop.getResult(number));
}

/// What a loop that ends on a condition hands to its iterations, and to what follows it.
void RoleSlice::needPassed(scf::WhileOp loop, unsigned number) {
  needOp(loop);
  values.insert(loop.getResult(number));
  if (values.insert(loop.getAfterArguments()[number]).second) {
    needValue(loop.getConditionOp().getArgs()[number]);
  }
}

void RoleSlice::needTested(scf::WhileOp loop, unsigned number) {
  needOp(loop);
  if (values.insert(loop.getBeforeArguments()[number]).second) {
    needValue(loop.getInits()[number]);
    needValue(loop.getYieldOp().getResults()[number]);
  }
}

void RoleSlice::needValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(owner)) {
      needOp(loop);
      if (argument != loop.getInductionVar()) {
        needCarried(loop, argument.getArgNumber() - loop.getNumInductionVars());
      }
    } else if (auto loop = dyn_cast<scf::WhileOp>(owner)) {
      const bool isTested = argument.getOwner() == loop.getBeforeBody();
      isTested ? needTested(loop, argument.getArgNumber())
               : needPassed(loop, argument.getArgNumber());
    } else if (!isa<tgpu::KernelOp>(owner)) {
      refuse(refuseRegion(owner));
    }
    return;
  }
  if (!values.insert(value).second) {
    return;
  }
  Operation *definition = value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(definition)) {
    return needCarried(loop, cast<OpResult>(value).getResultNumber());
  }
  if (auto loop = dyn_cast<scf::WhileOp>(definition)) {
    return needPassed(loop, cast<OpResult>(value).getResultNumber());
  }
  if (auto branch = dyn_cast<scf::IfOp>(definition)) {
    needOp(branch);
    const unsigned number = cast<OpResult>(value).getResultNumber();
    needValue(branch.thenYield().getOperand(number));
    needValue(branch.elseYield().getOperand(number));
    return;
  }
  needDefinition(definition);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void RoleProgram::clone(llvm::iterator_range<Block::iterator> from, OpBuilder &builder) {
  for (Operation &op : from) {
    if (slice.needs(&op)) {
      clone(op, builder);
    }
  }
}

void RoleProgram::clone(Operation &op, OpBuilder &builder) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return cloneLoop(loop, builder);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return cloneBranch(branch, builder);
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    return cloneWhile(loop, builder);
  }
  placed(&op, builder.clone(op, mapping));
}

SmallVector<Value> RoleProgram::kept(ValueRange from, ValueRange results) {
  SmallVector<Value> values;
  for (auto [value, result] : llvm::zip_equal(from, results)) {
    if (slice.needs(result)) {
      values.push_back(mapping.lookupOrDefault(value));
    }
  }
  return values;
}

void RoleProgram::bind(ValueRange from, ValueRange to) {
  size_t at = 0;
  for (Value value : from) {
    if (slice.needs(value)) {
      mapping.map(value, to[at++]);
    }
  }
}

void RoleProgram::cloneLoop(scf::ForOp loop, OpBuilder &builder) {
  auto copy = scf::ForOp::create(
      builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
      mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()),
      kept(loop.getInitArgs(), loop.getResults()), nullptr, loop.getUnsignedCmp());
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (copy.getBody()->mightHaveTerminator()) {
    copy.getBody()->getTerminator()->erase();
  }
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  bind(loop.getRegionIterArgs(), copy.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(copy.getBody());
  clone(*loop.getBody(), builder);
  scf::YieldOp::create(builder, loop.getLoc(),
                       kept(loop.getBody()->getTerminator()->getOperands(), loop.getResults()));
  bind(loop.getResults(), copy.getResults());
}

void RoleProgram::cloneWhile(scf::WhileOp loop, OpBuilder &builder) {
  auto typesOf = [&](ValueRange values) {
    SmallVector<Type> types;
    for (Value value : values) {
      if (slice.needs(value)) {
        types.push_back(value.getType());
      }
    }
    return types;
  };
  const Location loc = loop.getLoc();
  auto copy = scf::WhileOp::create(builder, loc, typesOf(loop.getResults()),
                                   kept(loop.getInits(), loop.getBeforeArguments()));
  OpBuilder::InsertionGuard guard(builder);
  auto fill = [&](Block *from, Region &to) {
    const SmallVector<Type> types = typesOf(from->getArguments());
    Block *block = builder.createBlock(&to, {}, types, SmallVector<Location>(types.size(), loc));
    bind(from->getArguments(), block->getArguments());
    clone(*from, builder);
  };
  fill(loop.getBeforeBody(), copy.getBefore());
  scf::ConditionOp test = loop.getConditionOp();
  scf::ConditionOp::create(builder, loc, mapping.lookupOrDefault(test.getCondition()),
                           kept(test.getArgs(), loop.getResults()));
  fill(loop.getAfterBody(), copy.getAfter());
  scf::YieldOp::create(builder, loc,
                       kept(loop.getYieldOp().getResults(), loop.getBeforeArguments()));
  bind(loop.getResults(), copy.getResults());
}

void RoleProgram::cloneBranch(scf::IfOp branch, OpBuilder &builder) {
  SmallVector<Type> types;
  for (Value result : branch.getResults()) {
    if (slice.needs(result)) {
      types.push_back(result.getType());
    }
  }
  const bool hasElse = branch.elseBlock() != nullptr;
  auto copy = scf::IfOp::create(builder, branch.getLoc(), types,
                                mapping.lookupOrDefault(branch.getCondition()),
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  OpBuilder::InsertionGuard guard(builder);
  auto fill = [&](Block *from, Region &to, Operation *yield) {
    builder.createBlock(&to);
    clone(*from, builder);
    scf::YieldOp::create(builder, branch.getLoc(), kept(yield->getOperands(), branch.getResults()));
  };
  fill(branch.thenBlock(), copy.getThenRegion(), branch.thenYield());
  if (hasElse) {
    fill(branch.elseBlock(), copy.getElseRegion(), branch.elseYield());
  }
  bind(branch.getResults(), copy.getResults());
}
