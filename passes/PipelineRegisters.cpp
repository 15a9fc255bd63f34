//===- PipelineRegisters.cpp - loads into fragments that run ahead -------===//
#include "passes/PipelineExpander.h"
#include "passes/RingPositions.h"

using namespace mlir;
using namespace tilec;

void Expander::findEarlyLoads() {
  const int64_t stages = scheduledStages(this->stages);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isEarlyLoad(&op, stages)) {
      early.push_back({&op, stages - 1 - stageOf(&op, stages)});
    }
  }
}

int64_t Expander::furthestAhead() {
  int64_t furthest = 0;
  for (const EarlyLoad &load : early) {
    furthest = std::max(furthest, load.ahead);
  }
  return furthest;
}

/// What the loads that run `ahead` iterations ahead read for iteration `number`, which there is.
SmallVector<Value> Expander::loadEarly(int64_t ahead, Value number) {
  IRMapping places;
  places.map(loop.getInductionVar(), emitInduction(builder, loop, number));
  SmallVector<Value> loaded;
  for (const EarlyLoad &load : early) {
    if (load.ahead == ahead) {
      loaded.push_back(recompute(load.op->getResult(0), places));
    }
  }
  return loaded;
}

/// The same for iteration `number` + `further`, or zeros if there is no such iteration: each load reads
/// what it reads in the serial loop, so that what is known of its places holds.
SmallVector<Value> Expander::loadEarlyIfInside(int64_t ahead, Value number, int64_t further) {
  SmallVector<Type> types;
  for (const EarlyLoad &load : early) {
    if (load.ahead == ahead) {
      types.push_back(load.op->getResult(0).getType());
    }
  }
  if (types.empty()) {
    return {};
  }
  // The difference, of a number that is not negative, does not overflow.
  Value end = plus(trips, constant(-further));
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, end);
  auto branch = scf::IfOp::create(builder, loc, types, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, loadEarly(ahead, plus(number, constant(further))));
  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> zeros = llvm::map_to_vector(types, [&](Type type) -> Value {
    Type element = cast<RankedTensorType>(type).getElementType();
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    return tile::SplatOp::create(builder, loc, type, zero);
  });
  scf::YieldOp::create(builder, loc, zeros);
  return SmallVector<Value>(branch.getResults());
}

/// What iteration `number` loads for later ones: a value for each early load.
SmallVector<Value> Expander::loadEarly(Value number, bool inside) {
  SmallVector<Value> loaded(early.size());
  for (int64_t ahead = 1; ahead <= furthestAhead(); ++ahead) {
    SmallVector<Value> some = inside ? loadEarly(ahead, plus(number, constant(ahead)))
                                     : loadEarlyIfInside(ahead, number, ahead);
    auto next = some.begin();
    for (auto [value, load] : llvm::zip_equal(loaded, early)) {
      if (load.ahead == ahead) {
        value = *next++;
      }
    }
  }
  return loaded;
}

/// What the first iterations find loaded.
SmallVector<Value> Expander::loadFirst() {
  llvm::DenseMap<std::pair<size_t, int64_t>, Value> loaded; // looked up, never iterated
  for (int64_t number = 0; number < furthestAhead(); ++number) {
    for (int64_t ahead = number + 1; ahead <= furthestAhead(); ++ahead) {
      SmallVector<Value> some = loadEarlyIfInside(ahead, constant(number), 0);
      auto next = some.begin();
      for (auto [index, load] : llvm::enumerate(early)) {
        if (load.ahead == ahead) {
          loaded[{index, number}] = *next++;
        }
      }
    }
  }
  SmallVector<Value> queues;
  for (auto [index, load] : llvm::enumerate(early)) {
    for (int64_t number = 0; number < load.ahead; ++number) {
      queues.push_back(loaded.lookup({index, number}));
    }
  }
  return queues;
}
