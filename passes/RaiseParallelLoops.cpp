//===- RaiseParallelLoops.cpp - loops inside of `parallel` ---------------===//
//
// A loop that all iterations go around equally often stays one. Else it goes on until the last of
// them is done, and carries which of them are still in it: those that have left keep what they left
// with.
//
// Which indices a carried value depends on is not known before the body is raised. So the body is
// raised with what its first value depends on, and again with more where that was too little; it grows
// each time, and ends at all of them.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/RaiseParallel.h"

using namespace mlir;
using namespace tilec;

/// Enlarges `axes` by those of `more`; false if they are all there.
static bool enlarge(Axes &axes, const Axes &more) {
  bool grew = false;
  for (unsigned axis : more) {
    if (!llvm::is_contained(axes, axis)) {
      axes.push_back(axis);
      grew = true;
    }
  }
  llvm::sort(axes);
  return grew;
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

LogicalResult ParallelRaiser::raiseFor(scf::ForOp op) {
  SmallVector<Raised> bounds =
      lookup(ValueRange{op.getLowerBound(), op.getUpperBound(), op.getStep()});
  if (!unite(bounds).empty()) {
    return raiseUnevenFor(op);
  }
  SmallVector<Raised> inits = lookup(op.getInitArgs());
  SmallVector<Axes> carried =
      llvm::map_to_vector(inits, [](const Raised &init) { return init.axes; });
  while (true) {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Value> first;
    for (auto [init, axes] : llvm::zip_equal(inits, carried)) {
      first.push_back(over(init, axes));
    }
    auto fresh =
        scf::ForOp::create(b, op.getLoc(), bounds[0].value, bounds[1].value, bounds[2].value, first,
                           /*bodyBuilder=*/nullptr, op.getUnsignedCmp());
    fresh->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (!fresh.getBody()->empty()) {
      fresh.getBody()->getTerminator()->erase();
    }
    define(op.getInductionVar(), {fresh.getInductionVar(), {}});
    for (auto [old, argument, axes] :
         llvm::zip_equal(op.getRegionIterArgs(), fresh.getRegionIterArgs(), carried)) {
      define(old, {argument, axes});
    }
    b.setInsertionPointToEnd(fresh.getBody());
    if (failed(raiseBlock(*op.getBody()))) {
      return failure();
    }
    bool grew = false;
    SmallVector<Raised> yielded = lookup(op.getYieldedValues());
    for (auto [axes, next] : llvm::zip_equal(carried, yielded)) {
      grew |= enlarge(axes, next.axes);
    }
    if (grew) {
      fresh.erase();
      continue;
    }
    SmallVector<Value> next;
    for (auto [value, axes] : llvm::zip_equal(yielded, carried)) {
      next.push_back(over(value, axes));
    }
    scf::YieldOp::create(b, op.getLoc(), next);
    for (auto [old, result, axes] : llvm::zip_equal(op.getResults(), fresh.getResults(), carried)) {
      define(old, {result, axes});
    }
    return success();
  }
}

/// As a `while` that counts; the program's loop becomes that first.
LogicalResult ParallelRaiser::raiseUnevenFor(scf::ForOp op) {
  Location at = op.getLoc();
  OpBuilder old(op);
  SmallVector<Value> inits = {op.getLowerBound()};
  llvm::append_range(inits, op.getInitArgs());
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> locs(types.size(), at);
  auto counting = scf::WhileOp::create(old, at, types, inits);
  Block *before = old.createBlock(&counting.getBefore(), {}, types, locs);
  const bool isUnsigned = op.getUnsignedCmp();
  auto less = isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs = arith::CmpIOp::create(old, at, less, before->getArgument(0), op.getUpperBound());
  // A step of 0 makes no trips (docs/language.md has it an error of the program).
  Value zero = arith::ConstantOp::create(old, at, old.getZeroAttr(types[0]));
  Value moves = arith::CmpIOp::create(old, at, arith::CmpIPredicate::ne, op.getStep(), zero);
  Value goesOn = arith::AndIOp::create(old, at, runs, moves);
  scf::ConditionOp::create(old, at, goesOn, before->getArguments());

  Block *after = old.createBlock(&counting.getAfter(), {}, types, locs);
  Value index = after->getArgument(0);
  auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
  SmallVector<Value> next(yield.getOperands());
  for (auto [argument, fresh] :
       llvm::zip_equal(op.getBody()->getArguments(), after->getArguments())) {
    argument.replaceAllUsesWith(fresh);
    for (Value &value : next) {
      value = value == argument ? fresh : value;
    }
  }
  yield.erase();
  after->getOperations().splice(after->end(), op.getBody()->getOperations());
  old.setInsertionPointToEnd(after);
  // The end where that is nearer than a step, so that no type is too small for what comes next.
  Value room = arith::SubIOp::create(old, at, op.getUpperBound(), index);
  Value isInside = arith::CmpIOp::create(old, at, arith::CmpIPredicate::ugt, room, op.getStep());
  Value sum = arith::AddIOp::create(old, at, index, op.getStep());
  next.insert(next.begin(),
              arith::SelectOp::create(old, at, isInside, sum, op.getUpperBound()).getResult());
  scf::YieldOp::create(old, at, next);
  op.replaceAllUsesWith(counting.getResults().drop_front());
  op.erase();
  return raiseWhile(counting);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

struct ParallelRaiser::WhileShape {
  SmallVector<Axes> carried; ///< from the end of the body to the condition
  SmallVector<Axes> passed;  ///< from the condition to the body, and out of the loop
  Axes inside;               ///< what tells the iterations that are still in the loop
  bool isUneven = false;     ///< they do not all leave at once
};

LogicalResult ParallelRaiser::raiseWhile(scf::WhileOp op) {
  WhileShape shape;
  for (Value init : op.getInits()) {
    shape.carried.push_back(lookup(init).axes);
  }
  shape.passed.resize(op.getNumResults());
  // Under a mask nobody may be here at all, and the loop would have no reason to end.
  shape.isUneven = bool(mask.value);
  shape.inside = mask.axes;
  bool fits = false;
  while (!fits) {
    if (failed(tryWhile(op, shape, fits))) {
      return failure();
    }
  }
  return success();
}

/// The loop of such a shape, with empty blocks. What goes around: the carried values, then in uneven
/// loops what was passed last and who is in.
scf::WhileOp ParallelRaiser::openWhile(scf::WhileOp op, const WhileShape &shape) {
  Location at = op.getLoc();
  SmallVector<Value> inits;
  for (auto [init, axes] : llvm::zip_equal(lookup(op.getInits()), shape.carried)) {
    inits.push_back(over(init, axes));
  }
  if (shape.isUneven) {
    for (auto [result, axes] : llvm::zip_equal(op.getResults(), shape.passed)) {
      Value zero = arith::ConstantOp::create(b, at, b.getZeroAttr(result.getType()));
      inits.push_back(over({zero, {}}, axes));
    }
    Value all = arith::ConstantOp::create(b, at, b.getBoolAttr(true));
    inits.push_back(over(mask.value ? mask : Raised{all, {}}, shape.inside));
  }
  SmallVector<Type> passedTypes;
  for (auto [result, axes] : llvm::zip_equal(op.getResults(), shape.passed)) {
    passedTypes.push_back(axes.empty() ? result.getType() : Type(tileType(axes, result.getType())));
  }
  if (shape.isUneven) {
    passedTypes.push_back(inits.back().getType());
  }
  auto fresh = scf::WhileOp::create(b, at, passedTypes, inits);
  SmallVector<Type> types(ValueRange(inits).getTypes());
  b.createBlock(&fresh.getBefore(), {}, types, SmallVector<Location>(types.size(), at));
  b.createBlock(&fresh.getAfter(), {}, passedTypes, SmallVector<Location>(passedTypes.size(), at));
  return fresh;
}

void ParallelRaiser::defineArguments(ValueRange old, Block *block, ArrayRef<Axes> axes) {
  for (auto [i, value] : llvm::enumerate(old)) {
    define(value, {block->getArgument(i), axes[i]});
  }
}

LogicalResult ParallelRaiser::raiseCondition(scf::WhileOp op, Block *before, WhileShape &shape,
                                             bool &fits) {
  b.setInsertionPointToEnd(before);
  defineArguments(op.getBeforeArguments(), before, shape.carried);
  Raised inside;
  if (shape.isUneven) {
    inside = {before->getArguments().back(), shape.inside};
    mask = inside;
  }
  if (failed(raiseBlock(*op.getBeforeBody()))) {
    return failure();
  }
  loc = op.getLoc();
  Raised condition = lookup(op.getConditionOp().getCondition());
  if (!shape.isUneven && !condition.axes.empty()) {
    shape.isUneven = true;
    fits = false;
    return success();
  }
  bool grew = shape.isUneven && enlarge(shape.inside, condition.axes);
  SmallVector<Raised> passed;
  for (auto [i, value] : llvm::enumerate(op.getConditionOp().getArgs())) {
    passed.push_back(lookup(value));
    if (shape.isUneven) {
      Raised last = {before->getArgument(shape.carried.size() + i), shape.passed[i]};
      passed.back() = select(inside, passed.back(), last);
    }
    grew |= enlarge(shape.passed[i], passed.back().axes);
  }
  if (grew) {
    fits = false;
    return success();
  }
  Raised goesOn = shape.isUneven ? both(inside, condition) : condition;
  Value once = any(goesOn);
  SmallVector<Value> out;
  for (auto [value, axes] : llvm::zip_equal(passed, shape.passed)) {
    out.push_back(over(value, axes));
  }
  if (shape.isUneven) {
    out.push_back(over(goesOn, shape.inside));
  }
  scf::ConditionOp::create(b, loc, once, out);
  return success();
}

LogicalResult ParallelRaiser::raiseWhileBody(scf::WhileOp op, Block *after, WhileShape &shape,
                                             bool &fits) {
  b.setInsertionPointToEnd(after);
  defineArguments(op.getAfterArguments(), after, shape.passed);
  if (shape.isUneven) {
    mask = {after->getArguments().back(), shape.inside};
  }
  if (failed(raiseBlock(*op.getAfterBody()))) {
    return failure();
  }
  loc = op.getLoc();
  SmallVector<Raised> yielded = lookup(op.getYieldOp().getOperands());
  for (auto [axes, next] : llvm::zip_equal(shape.carried, yielded)) {
    fits &= !enlarge(axes, next.axes);
  }
  if (!fits) {
    return success();
  }
  SmallVector<Value> next;
  for (auto [value, axes] : llvm::zip_equal(yielded, shape.carried)) {
    next.push_back(over(value, axes));
  }
  if (shape.isUneven) {
    llvm::append_range(next, after->getArguments());
  }
  scf::YieldOp::create(b, loc, next);
  return success();
}

LogicalResult ParallelRaiser::tryWhile(scf::WhileOp op, WhileShape &shape, bool &fits) {
  OpBuilder::InsertionGuard guard(b);
  const Raised outer = mask;
  scf::WhileOp fresh = openWhile(op, shape);
  fits = true;
  if (failed(raiseCondition(op, fresh.getBeforeBody(), shape, fits)) ||
      (fits && failed(raiseWhileBody(op, fresh.getAfterBody(), shape, fits)))) {
    return failure();
  }
  mask = outer;
  if (!fits) { // again, with a larger shape
    fresh.erase();
    return success();
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    define(result, {fresh.getResult(i), shape.passed[i]});
  }
  return success();
}
