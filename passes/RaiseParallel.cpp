//===- RaiseParallel.cpp - `parallel` loops to operations on tiles -------===//
//
// Iterations are independent (docs/language.md section 11), so that all of them may make each step
// of the body together, whatever order that puts their accesses in. What they may not do is to access
// memory where the program does not: stores, and loads of what has no bounds, happen under the mask.
//
// Pure operations run for all, masked or not: none of them is undefined for any operand.
//
//===----------------------------------------------------------------------===//
#include "passes/RaiseParallel.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/FragmentSteps.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_RAISEPARALLEL
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Raised values
//===----------------------------------------------------------------------===//

ParallelRaiser::ParallelRaiser(tile::ParallelOp loop) : loop(loop), b(loop), loc(loop.getLoc()) {}

Raised ParallelRaiser::lookup(Value old) {
  auto it = values.find(old);
  return it == values.end() ? Raised{old, {}} : it->second;
}

SmallVector<Raised> ParallelRaiser::lookup(ValueRange old) {
  return llvm::map_to_vector(old, [&](Value value) { return lookup(value); });
}

void ParallelRaiser::defineAll(ValueRange old, ValueRange fresh, const Axes &axes) {
  for (auto [from, to] : llvm::zip_equal(old, fresh)) {
    define(from, {to, axes});
  }
}

Axes ParallelRaiser::allAxes() { return llvm::to_vector<3>(llvm::seq<unsigned>(0, axes.size())); }

Axes ParallelRaiser::unite(ArrayRef<Raised> items) {
  Axes result;
  for (const Raised &item : items) {
    for (unsigned axis : item.axes) {
      if (item.value && !llvm::is_contained(result, axis)) {
        result.push_back(axis);
      }
    }
  }
  llvm::sort(result);
  return result;
}

RankedTensorType ParallelRaiser::tileType(const Axes &over, Type element) {
  return RankedTensorType::get(
      llvm::map_to_vector(over, [&](unsigned axis) { return axes[axis].size; }), element);
}

Value ParallelRaiser::over(const Raised &raised, const Axes &target) {
  if (raised.axes == target) {
    return raised.value;
  }
  RankedTensorType type = tileType(target, getElementTypeOrSelf(raised.value.getType()));
  if (raised.axes.empty()) {
    return tile::SplatOp::create(b, loc, type, raised.value);
  }
  SmallVector<int64_t> missing;
  for (auto [dim, axis] : llvm::enumerate(target)) {
    if (!llvm::is_contained(raised.axes, axis)) {
      missing.push_back(dim);
    }
  }
  return tile::BroadcastOp::create(b, loc, type, raised.value, missing);
}

SmallVector<Value> ParallelRaiser::over(ArrayRef<Raised> items, const Axes &target) {
  return llvm::map_to_vector(items, [&](const Raised &item) { return over(item, target); });
}

Raised ParallelRaiser::both(const Raised &x, const Raised &y) {
  if (!x.value || !y.value) {
    return x.value ? x : y;
  }
  Axes united = unite({x, y});
  Value left = over(x, united), right = over(y, united);
  return {arith::AndIOp::create(b, loc, left, right), united};
}

Raised ParallelRaiser::negated(const Raised &x) {
  Value one = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  Value ones = over({one, {}}, x.axes);
  return {arith::XOrIOp::create(b, loc, x.value, ones), x.axes};
}

Raised ParallelRaiser::select(const Raised &condition, const Raised &then,
                              const Raised &otherwise) {
  Axes united = unite({condition, then, otherwise});
  // One scalar chooses between tiles as well.
  Value choice = condition.axes.empty() ? condition.value : over(condition, united);
  Value first = over(then, united), second = over(otherwise, united);
  return {arith::SelectOp::create(b, loc, choice, first, second), united};
}

Value ParallelRaiser::any(const Raised &condition) {
  if (condition.axes.empty()) {
    return condition.value;
  }
  return tile::ReduceOp::create(b, loc, b.getI1Type(), tile::CombineKind::Or, condition.value,
                                IntegerAttr(), /*is_unsigned=*/false);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether a dimension of a fragment or tile runs along the index: its extent, the largest of
/// several, is that of the tiles.
bool ParallelRaiser::indexesTile(unsigned axis, int64_t &extent) {
  bool found = false;
  auto look = [&](Type storage, ValueRange indices) {
    auto buffer = dyn_cast<tile::BufferType>(storage);
    auto tensor = dyn_cast<RankedTensorType>(storage);
    if (!tensor && (!buffer || buffer.getScope() != tile::Scope::Fragment)) {
      return;
    }
    ArrayRef<int64_t> shape = buffer ? buffer.getShape() : tensor.getShape();
    for (auto [size, index] : llvm::zip(shape, indices)) {
      if (index == loop.getBody().getArgument(axis)) {
        extent = found ? std::max(extent, size) : size;
        found = true;
      }
    }
  };
  loop.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      look(load.getSource().getType(), load.getIndices());
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      look(store.getDest().getType(), store.getIndices());
    }
  });
  return found;
}

/// How many elements of a tile a thread works on at a time, where the program says no size.
static constexpr int64_t kElementsPerThread = 16;

/// The tiles' sizes. What no tile is indexed by may be gone over piece by piece; that is done where
/// the size is not known, or where it would be more than a thread holds well.
void ParallelRaiser::choosePieces() {
  const int64_t threads = loop->getParentOfType<tgpu::KernelOp>().getThreads();
  int64_t whole = 1;
  SmallVector<bool> fixed;
  for (auto [axis, extent] : llvm::enumerate(loop.getExtents())) {
    APInt known;
    const bool isKnown = matchPattern(extent, m_ConstantInt(&known));
    int64_t size = isKnown ? std::max<int64_t>(known.getSExtValue(), 1) : 0, tile = 0;
    fixed.push_back(indexesTile(axis, tile));
    axes.push_back({fixed.back() ? std::max(size, tile) : size, Value(), Value()});
    whole = llvm::SaturatingMultiply<uint64_t>(whole, axes.back().size);
  }
  if (whole != 0 && whole <= threads * 4 * kElementsPerThread) {
    return;
  }
  int64_t room = threads * kElementsPerThread;
  for (auto [axis, isFixed] : llvm::zip(axes, fixed)) {
    room = isFixed ? std::max<int64_t>(1, room / axis.size) : room;
  }
  for (auto [axis, isFixed] : llvm::reverse(llvm::zip_equal(axes, fixed))) {
    if (!isFixed) {
      axis.size = axis.size == 0 ? room : std::min(axis.size, room);
      room = std::max<int64_t>(1, room / axis.size);
    }
  }
}

/// Opens a loop over the pieces of each index that is cut, and finds out how much of a piece is in
/// range.
void ParallelRaiser::openPieces() {
  for (auto [axis, extent] : llvm::zip_equal(axes, loop.getExtents())) {
    Type type = extent.getType();
    APInt known;
    const bool isKnown = matchPattern(extent, m_ConstantInt(&known));
    if (isKnown && known == uint64_t(axis.size)) {
      continue;
    }
    axis.left = extent;
    if (isKnown && known.sle(axis.size)) {
      continue; // tiles larger than the loop
    }
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    Value step = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, axis.size));
    auto pieces = scf::ForOp::create(b, loc, zero, extent, step);
    b.setInsertionPointToStart(pieces.getBody());
    axis.start = pieces.getInductionVar();
    axis.left = isKnown && known.urem(axis.size) == 0
                    ? Value()
                    : arith::SubIOp::create(b, loc, extent, axis.start).getResult();
  }
}

void ParallelRaiser::defineIndices() {
  for (auto [number, index] : llvm::enumerate(loop.getBody().getArguments())) {
    const LoopAxis &axis = axes[number];
    Axes own = {unsigned(number)};
    RankedTensorType type = tileType(own, index.getType());
    Value coordinate = tgpu::CoordinateOp::create(b, loc, type);
    if (axis.left) {
      Value left = over({axis.left, {}}, own);
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, coordinate, left);
      mask = both(mask, {inside, own});
    }
    if (axis.start) {
      Value start = over({axis.start, {}}, own);
      coordinate = arith::AddIOp::create(b, loc, coordinate, start);
    }
    define(index, {coordinate, own});
  }
  padding = mask;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The same operation on tiles, if one of its operands is one.
LogicalResult ParallelRaiser::raisePure(Operation *op) {
  SmallVector<Raised> operands = lookup(op->getOperands());
  Axes united = unite(operands);
  SmallVector<Type> types(op->getResultTypes());
  if (!united.empty()) {
    if (!op->hasTrait<OpTrait::Elementwise>() ||
        !llvm::all_of(types, [](Type type) { return type.isIntOrFloat(); })) {
      // The place of an element in a `vec` is the only number of type index.
      return emitUnsupported(op, isa<arith::IndexCastOp>(op) ? kChosenElement
                                                             : "this in a `parallel` loop");
    }
    for (Type &type : types) {
      type = tileType(united, type);
    }
  }
  OperationState state(op->getLoc(), op->getName(), over(operands, united), types, op->getAttrs());
  defineAll(op->getResults(), b.create(state)->getResults(), united);
  return success();
}

LogicalResult ParallelRaiser::raiseIf(scf::IfOp op) {
  Raised condition = lookup(op.getCondition());
  if (condition.axes.empty()) {
    return raiseBranch(op, condition.value);
  }
  const Raised outer = mask;
  mask = both(outer, condition);
  if (failed(raiseBlock(*op.thenBlock()))) {
    return failure();
  }
  if (op.elseBlock()) {
    mask = both(outer, negated(condition));
    if (failed(raiseBlock(*op.elseBlock()))) {
      return failure();
    }
  }
  mask = outer;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    define(result, select(condition, lookup(op.thenYield().getOperand(i)),
                          lookup(op.elseYield().getOperand(i))));
  }
  return success();
}

/// A branch that all iterations take alike stays one.
LogicalResult ParallelRaiser::raiseBranch(scf::IfOp op, Value condition) {
  OpBuilder::InsertionGuard guard(b);
  // Its results are known once its blocks are raised.
  auto draft = scf::IfOp::create(b, loc, TypeRange(), condition, /*addThenBlock=*/true,
                                 /*addElseBlock=*/true);
  auto fill = [&](Block *from, Block *to) {
    to->clear();
    b.setInsertionPointToEnd(to);
    return from ? raiseBlock(*from) : success();
  };
  if (failed(fill(op.thenBlock(), draft.thenBlock())) ||
      failed(fill(op.elseBlock(), draft.elseBlock()))) {
    return failure();
  }
  SmallVector<Axes> united;
  SmallVector<Type> types;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Axes axes = unite({lookup(op.thenYield().getOperand(i)), lookup(op.elseYield().getOperand(i))});
    types.push_back(axes.empty() ? result.getType() : Type(tileType(axes, result.getType())));
    united.push_back(axes);
  }
  auto finish = [&](Block *from, Block *to) {
    b.setInsertionPointToEnd(to);
    SmallVector<Value> results;
    for (auto [i, axes] : llvm::enumerate(united)) {
      results.push_back(over(lookup(from->getTerminator()->getOperand(i)), axes));
    }
    scf::YieldOp::create(b, loc, results);
  };
  finish(op.thenBlock(), draft.thenBlock());
  finish(op.elseBlock(), draft.elseBlock());
  b.setInsertionPoint(draft);
  auto branch = scf::IfOp::create(b, op.getLoc(), types, condition);
  branch->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  for (auto [old, fresh, axes] : llvm::zip_equal(op.getResults(), branch.getResults(), united)) {
    define(old, {fresh, axes});
  }
  return success();
}

/// A check of all iterations that get here.
LogicalResult ParallelRaiser::raiseVerify(tile::VerifyOp op) {
  SmallVector<Raised> operands = lookup(op->getOperands());
  if (mask.value) { // fails where it is reached and false
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    operands[0] = select(mask, operands[0], {yes, {}});
  }
  Axes united = unite(operands);
  if (united.empty()) {
    return raisePure(op);
  }
  SmallVector<Value> inputs = over(operands, united);
  auto map = tile::MapOp::create(b, op.getLoc(), TypeRange(), inputs);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(op->getOperandTypes());
  Block *body =
      b.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), op.getLoc()));
  OperationState state(op.getLoc(), op->getName(), ValueRange(body->getArguments()), {},
                       op->getAttrs());
  b.create(state);
  tile::YieldOp::create(b, op.getLoc());
  return success();
}

/// A message of each iteration that gets here, also where all would say the same.
void ParallelRaiser::raisePrint(tile::PrintOp op) {
  const Axes all = allAxes();
  SmallVector<Raised> operands = {mask};
  if (!mask.value) {
    operands[0] = {arith::ConstantOp::create(b, loc, b.getBoolAttr(true)), {}};
  }
  llvm::append_range(operands, lookup(op.getValues()));
  auto map = tile::MapOp::create(b, loc, TypeRange(), over(operands, all));
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types = {b.getI1Type()};
  llvm::append_range(types, op.getValues().getTypes());
  Block *body =
      b.createBlock(&map.getBody(), {}, types, SmallVector<Location>(types.size(), op.getLoc()));
  auto branch = scf::IfOp::create(b, loc, body->getArgument(0), /*withElseRegion=*/false);
  tile::YieldOp::create(b, loc);
  b.setInsertionPointToStart(branch.thenBlock());
  OperationState state(loc, op->getName(), body->getArguments().drop_front(), {}, op->getAttrs());
  b.create(state);
}

LogicalResult ParallelRaiser::raise(Operation *op) {
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp load) { return raiseLoad(load); })
      .Case([&](tile::StoreOp store) { return raiseStore(store); })
      .Case([&](tile::VerifyOp verify) { return raiseVerify(verify); })
      .Case([&](scf::IfOp branch) { return raiseIf(branch); })
      .Case([&](scf::ForOp inner) { return raiseFor(inner); })
      .Case([&](scf::WhileOp inner) { return raiseWhile(inner); })
      .Case<tile::AssertOp, tile::AssumeOp>([](auto) { return success(); })
      .Case([](tile::ConstantArrayOp) { return success(); }) // read by those that index it
      .Case([&](tile::AtomicOp atomic) {
        raiseAtomic(op, atomic.getKind(), atomic.getValue(), Value(), atomic.getPlace(),
                    atomic.getIndices(), atomic.getOrder(), atomic.getIsUnsigned());
        return success();
      })
      .Case([&](tile::AtomicCasOp atomic) {
        raiseAtomic(op, tile::AtomicKind::Exchange, atomic.getValue(), atomic.getExpected(),
                    atomic.getPlace(), atomic.getIndices(), atomic.getOrder(),
                    /*isUnsigned=*/false);
        return success();
      })
      .Case([&](tile::PrintOp print) {
        raisePrint(print);
        return success();
      })
      // A variable of the block, which the loop only reads.
      .Case([&](tile::ReadOp read) -> LogicalResult {
        defineAll(read->getResults(), b.clone(*op)->getResults(), {});
        return success();
      })
      .Default([&](Operation *other) {
        if (other->getNumRegions() != 0 || !isMemoryEffectFree(other)) {
          return emitUnsupported(op, "this in a `parallel` loop");
        }
        return raisePure(other);
      });
}

LogicalResult ParallelRaiser::raiseBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (failed(raise(&op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ParallelRaiser::run() {
  choosePieces();
  openPieces();
  defineIndices();
  if (failed(raiseBlock(loop.getBody().front()))) {
    return failure();
  }
  for (const auto &[op, text] : remarks) {
    op->emitRemark(text);
  }
  return success();
}

namespace {
struct RaiseParallel : tilec::impl::RaiseParallelBase<RaiseParallel> {
  void runOnOperation() override {
    SmallVector<tile::ParallelOp> loops;
    getOperation().walk([&](tile::ParallelOp loop) { loops.push_back(loop); });
    for (tile::ParallelOp loop : loops) {
      if (failed(ParallelRaiser(loop).run())) {
        return signalPassFailure();
      }
      loop.erase();
    }
  }
};
} // namespace
