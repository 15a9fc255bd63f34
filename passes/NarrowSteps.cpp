//===- NarrowSteps.cpp - steps of which a mask leaves a warpgroup few columns ===//
//
// A step of a loop multiplies and then masks what lies beyond an edge. Of a block's rows the edge may leave those of one
// warpgroup half of the columns, or none (causal attention, on the diagonal), and products and element-wise work for the
// others are for nothing. For each warpgroup the step becomes
//     if (nothing is left) {step without the product} else if (the first half is) {step by half of the product} else {step}
// (the first only for steps of fewer columns than the block has rows), where what is masked is not computed but is what
// the mask puts there. So nothing is assumed of what follows: it sees the same values. That work on equal values is the
// same, and need not be done for each element, LLVM finds.
//
// The whole step is repeated, with its waits, releases and barriers: ptxas serialises products one of which is under a
// condition. Each thread passes the same sequence of them in any copy, and barriers know numbers of threads, not
// places in the code. The passes that place and check them could not see that, so this comes behind them all.
//
// What is masked is known from bounds of the mask's terms over the rows and columns in question, which are computed with 64 bits:
// a term that might wrap there is no reason to leave anything out. Masks that are the same in all rows are left alone: they
// are on in one step of a loop, and a copy is code and registers.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"
#include "passes/Registers.h"

namespace tilec {
#define GEN_PASS_DEF_NARROWSTEPS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Scores of a thread from which on a copy of the step is worth its code.
constexpr int64_t kLeastSums = 32;
/// Percent of a thread's registers that the step's fragments may take. Of 281 random kernels (not kept) of 257 below that 12 spilled more
/// with copies and 13 less, of 24 above it 11 and 9.
constexpr int64_t kMostOfRegisters = 85;
/// Terms of a mask; more may be one value again and again.
constexpr unsigned kMostMaskTerms = 64;
constexpr int64_t kWarpgroupWarps = 4;
/// Columns of an instruction are a multiple of this, whatever the types.
constexpr int64_t kColumnUnit = 16;

/// The indices [low, high] of a dimension, i64.
struct BoxSide {
  Value low, high;
  bool isOfRows = false;
};

/// Bounds of an integer tile's elements over a box of indices, i64.
struct ElementBounds {
  Value low, high;
  explicit operator bool() const { return bool(low); }
};

/// A product whose result a branch of the loop's body masks.
struct MaskedProduct {
  tgpu::WgmmaOp product;
  tgpu::WgmmaWaitOp wait; ///< gives the sums
  unsigned number = 0;    ///< the sums among what it gives
  scf::IfOp guard;        ///< masks in its first region, or leaves what it masks as it is
  unsigned masked = 0;    ///< what is masked among its results
  arith::SelectOp mask;
  bool isFilledIfTrue = true;
  Value fill; ///< a scalar from outside of the guard

  Value sums() { return wait.getResult(number); }
};

//===----------------------------------------------------------------------===//
// What is masked
//===----------------------------------------------------------------------===//

/// Whether a condition surely holds for a box of rows and columns, as code at the begin of a loop's body.
class Certainty {
public:
  Certainty(OpBuilder &builder, Location loc, scf::ForOp loop)
      : builder(builder), loc(loc), loop(loop) {}

  /// `condition` is `truth` for all elements of the box, i1; null where nothing is known.
  Value holds(Value condition, bool truth, ArrayRef<BoxSide> box);
  /// What a scalar of the body is, computed where the builder stands; null where it depends on more than scalars.
  Value here(Value scalar);

  Value wide(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 64); }
  Value wide(Value value) {
    return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value);
  }
  /// Whether what was asked differs between rows.
  bool differsByRow() const { return asksForRows; }
  Value both(Value left, Value right) {
    return left && right ? Value(arith::AndIOp::create(builder, loc, left, right)) : Value();
  }

private:
  Value compared(arith::CmpIOp compare, bool truth, ArrayRef<BoxSide> box);
  ElementBounds boundsOf(Value value, ArrayRef<BoxSide> box);
  ElementBounds exact(ElementBounds bounds);
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(builder, loc, predicate, left, right);
  }
  template <typename Op>
  ElementBounds each(ElementBounds left, ElementBounds right) {
    return left && right ? ElementBounds{Op::create(builder, loc, left.low, right.low),
                                         Op::create(builder, loc, left.high, right.high)}
                         : ElementBounds{};
  }

  OpBuilder &builder;
  Location loc;
  scf::ForOp loop;
  IRMapping copies;
  Value isExact; ///< no term of the comparison at hand wraps; null: none can
  bool asksForRows = false;
  unsigned visits = 0;
};

Value Certainty::here(Value scalar) {
  if (loop.isDefinedOutsideOfLoop(scalar) || scalar == loop.getInductionVar()) {
    return scalar;
  }
  if (Value copy = copies.lookupOrNull(scalar)) {
    return copy;
  }
  Operation *op = scalar.getDefiningOp();
  if (!op || ++visits > kMostMaskTerms || op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isa<arith::ArithDialect>(op->getDialect()) || !isPure(op) ||
      !llvm::all_of(op->getOperands(), [&](Value operand) {
        return operand.getType().isSignlessInteger() && bool(here(operand));
      })) {
    return {};
  }
  return builder.clone(*op, copies)->getResult(0);
}

/// Bounds of a sum, which are those of the wrapped one only where it does not wrap.
ElementBounds Certainty::exact(ElementBounds bounds) {
  if (!bounds) {
    return bounds;
  }
  Value stays = both(compare(arith::CmpIPredicate::sge, bounds.low, wide(int64_t(INT32_MIN))),
                     compare(arith::CmpIPredicate::sle, bounds.high, wide(int64_t(INT32_MAX))));
  isExact = isExact ? both(isExact, stays) : stays;
  return bounds;
}

ElementBounds Certainty::boundsOf(Value value, ArrayRef<BoxSide> box) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !op || !type.getElementType().isInteger(32) || ++visits > kMostMaskTerms) {
    return {};
  }
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
    Value element = wide(constant.getSplatValue<APInt>().getSExtValue());
    return {element, element};
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    Value scalar = here(splat.getInput());
    Value element = scalar ? wide(scalar) : Value();
    return {element, element};
  }
  if (isa<tgpu::CoordinateOp>(op)) {
    asksForRows |= box[0].isOfRows;
    return {box[0].low, box[0].high};
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    SmallVector<BoxSide> left;
    for (auto [dim, indices] : llvm::enumerate(box)) {
      if (!llvm::is_contained(broadcast.getAxes(), int64_t(dim))) {
        left.push_back(indices);
      }
    }
    return boundsOf(broadcast.getInput(), left);
  }
  if (op->getNumOperands() != 2) {
    return {};
  }
  const ElementBounds left = boundsOf(op->getOperand(0), box),
                      right = boundsOf(op->getOperand(1), box);
  if (isa<arith::AddIOp>(op)) {
    return exact(each<arith::AddIOp>(left, right));
  }
  if (isa<arith::SubIOp>(op)) {
    return exact(each<arith::SubIOp>(left, {right.high, right.low}));
  }
  if (isa<arith::MinSIOp>(op)) {
    return each<arith::MinSIOp>(left, right);
  }
  return isa<arith::MaxSIOp>(op) ? each<arith::MaxSIOp>(left, right) : ElementBounds{};
}

Value Certainty::compared(arith::CmpIOp compare, bool truth, ArrayRef<BoxSide> box) {
  using P = arith::CmpIPredicate;
  P predicate = truth ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  isExact = {};
  ElementBounds left = boundsOf(compare.getLhs(), box), right = boundsOf(compare.getRhs(), box);
  if (!left || !right) {
    return {};
  }
  Value result;
  if (predicate == P::sgt ||
      predicate == P::sge) { // the least on the left with the greatest on the right
    result = this->compare(predicate, left.low, right.high);
  } else if (predicate == P::slt || predicate == P::sle) {
    result = this->compare(predicate, left.high, right.low);
  }
  return result && isExact ? both(result, isExact) : result;
}

/// Of an `or` that is to hold, one of the terms; otherwise both.
Value Certainty::holds(Value condition, bool truth, ArrayRef<BoxSide> box) {
  Operation *op = condition.getDefiningOp();
  if (++visits > kMostMaskTerms) {
    return {};
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    return compared(compare, truth, box);
  }
  if (!isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    return {};
  }
  Value left = holds(op->getOperand(0), truth, box), right = holds(op->getOperand(1), truth, box);
  if (isa<arith::AndIOp>(op) == truth) {
    return both(left, right);
  }
  return left && right ? Value(arith::OrIOp::create(builder, loc, left, right))
         : left        ? left
                       : right;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether `op` computes each element of its result from those in its place, whatever they are: it ends, and has no other effect, for
/// sums that count as 0 because nobody computed them.
bool isOfEachElement(Operation *op) {
  if (auto map = dyn_cast<tile::MapOp>(op)) {
    return op->getNumResults() == 1 &&
           llvm::all_of(map.getBody().front().without_terminator(), [](Operation &inner) {
             return inner.getNumRegions() == 0 && isPure(&inner);
           });
  }
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && isPure(op);
}

/// The branch of the loop's body that masks what becomes of the sums, and whether it alone sees it: what is computed of
/// each sum by itself goes into the mask, or through the branch's other side.
class MaskFinder {
public:
  explicit MaskFinder(MaskedProduct &step) : step(step) {}

  bool find() {
    for (auto branch : step.product->getBlock()->getOps<scf::IfOp>()) {
      for (unsigned number = 0; number < branch.getNumResults(); ++number) {
        if (isMask(branch, number) && isAllMasked()) {
          return true;
        }
      }
    }
    return false;
  }

private:
  /// Takes result `number` of `branch` for the masked one, if it is: a choice between a scalar and something else.
  bool isMask(scf::IfOp branch, unsigned number) {
    if (branch.getResult(number).getType() != step.sums().getType()) {
      return false;
    }
    step.guard = branch;
    step.masked = number;
    step.mask = branch.thenYield().getOperand(number).getDefiningOp<arith::SelectOp>();
    if (!step.mask || step.mask->getBlock() != branch.thenBlock()) {
      return false;
    }
    for (bool ifTrue : {true, false}) {
      auto fill = (ifTrue ? step.mask.getTrueValue() : step.mask.getFalseValue())
                      .getDefiningOp<tile::SplatOp>();
      if (fill && !branch->isAncestor(fill.getInput().getParentRegion()->getParentOp())) {
        step.isFilledIfTrue = ifTrue;
        step.fill = fill.getInput();
        return true;
      }
    }
    return false;
  }

  bool isAllMasked() {
    llvm::SetVector<Value> values;
    values.insert(step.sums());
    for (unsigned next = 0; next < values.size(); ++next) {
      for (OpOperand &use : values[next].getUses()) {
        Operation *user = use.getOwner();
        const bool isOtherSide =
            user == step.guard.elseYield() && use.getOperandNumber() == step.masked;
        if (user == step.mask || isOtherSide) {
          continue;
        }
        const bool isInStep = user->getBlock() == step.guard->getBlock() ||
                              user->getBlock() == step.guard.thenBlock();
        if (!isInStep || !isOfEachElement(user)) {
          return false;
        }
        values.insert(user->getResult(0));
      }
    }
    return values.contains(step.isFilledIfTrue ? step.mask.getFalseValue()
                                               : step.mask.getTrueValue());
  }

  MaskedProduct &step;
};

/// The masked product of a loop's steps; without `product` where there is none, or several.
MaskedProduct findStep(scf::ForOp loop) {
  MaskedProduct found;
  for (auto product : loop.getBody()->getOps<tgpu::WgmmaOp>()) {
    MaskedProduct step;
    step.product = product;
    if (product.getAccumulate() || product.getUseAcc() || !product.getResult().hasOneUse() ||
        !product.getAcc().getDefiningOp<tile::SplatOp>()) {
      continue;
    }
    OpOperand &use = *product.getResult().getUses().begin();
    step.wait = dyn_cast<tgpu::WgmmaWaitOp>(use.getOwner());
    if (!step.wait || step.wait->getBlock() != product->getBlock()) {
      continue;
    }
    step.number = use.getOperandNumber();
    if (!isa<RankedTensorType>(step.sums().getType()) || !MaskFinder(step).find()) {
      continue;
    }
    if (found.product) {
      return {};
    }
    found = step;
  }
  return found;
}

class Narrowing {
public:
  Narrowing(scf::ForOp loop, MaskedProduct step)
      : loop(loop), step(step), type(cast<RankedTensorType>(step.sums().getType())),
        builder(loop.getContext()), loc(loop.getLoc()) {}

  bool isPossible();
  bool hasRegisters();
  void run();

private:
  Value whereLeft(Certainty &certainty, int64_t columns);
  std::optional<RankedTensorType> typeOf(int64_t columns) const;
  void copyStep(ArrayRef<Operation *> operations, int64_t columns);
  void copyProduct(int64_t columns, IRMapping &mapping);
  void copyWait(int64_t columns, IRMapping &mapping);
  void copyGuard(int64_t columns, IRMapping &mapping);
  Value insert(Value part, Value whole);

  scf::ForOp loop;
  MaskedProduct step;
  RankedTensorType type; ///< of the sums
  OpBuilder builder;
  Location loc;
};

/// The sums' first columns: whole registers of each thread, by instructions of that many columns. Empty where they are not.
std::optional<RankedTensorType> Narrowing::typeOf(int64_t columns) const {
  auto part = layout::sliceTile(*tgpu::getLayout(type), 1, 0, columns);
  if (!part) {
    return std::nullopt;
  }
  const layout::RegisterLayout &whole = *tgpu::getLayout(type);
  if (!layout::replacedRegisters(whole, part->layout, {0, 0})) {
    return std::nullopt;
  }
  return tgpu::withLayout(
      RankedTensorType::get({type.getDimSize(0), columns}, type.getElementType()), part->layout);
}

/// Of the calling warpgroup's rows the mask leaves the first `columns` columns at most; i1, or null.
Value Narrowing::whereLeft(Certainty &certainty, int64_t columns) {
  const layout::RegisterLayout &layout = *tgpu::getLayout(type);
  const int64_t groups = step.product.getMma().getWarpsM(), rows = type.getDimSize(0) / groups;
  Value group = tgpu::WarpIdOp::create(builder, loc, builder.getI32Type());
  const auto i32 = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  group = arith::SubIOp::create(builder, loc, group, i32(layout.firstWarp()));
  group = arith::DivUIOp::create(builder, loc, group, i32(kWarpgroupWarps));
  Value first = certainty.wide(arith::MulIOp::create(builder, loc, group, i32(rows)));
  Value last = arith::AddIOp::create(builder, loc, first, certainty.wide(rows - 1));
  return certainty.holds(
      step.mask.getCondition(), step.isFilledIfTrue,
      {{first, last, true},
       {certainty.wide(columns), certainty.wide(type.getDimSize(1) - 1), false}});
}

/// The product of the columns that are left, in place of that of all.
void Narrowing::copyProduct(int64_t columns, IRMapping &mapping) {
  if (columns == 0) {
    return;
  }
  tgpu::WgmmaOp product = step.product;
  const RankedTensorType narrow = *typeOf(columns);
  auto all = cast<tgpu::SmemType>(product.getB().getType());
  SmallVector<int64_t> shape(all.getShape());
  shape[product.getTransposeB() ? 0 : 1] = columns;
  auto left = tgpu::SmemType::get(all.getContext(), shape, all.getElementType(), all.getLayout());
  Value b = tgpu::SubviewOp::create(builder, loc, left, mapping.lookupOrDefault(product.getB()),
                                    SmallVector<int64_t>(shape.size(), 0));
  Value zero = product.getAcc().getDefiningOp<tile::SplatOp>().getInput();
  Value zeros = tile::SplatOp::create(builder, loc, narrow, mapping.lookupOrDefault(zero));
  auto mma = product.getMma();
  auto copy = cast<tgpu::WgmmaOp>(builder.clone(*product, mapping));
  copy.getBMutable().assign(b);
  copy.getAccMutable().assign(zeros);
  copy.setMmaAttr(tgpu::MmaAttr::get(mma.getContext(), mma.getKind(), mma.getM(), columns,
                                     mma.getK(), mma.getWarpsM(), mma.getWarpsN()));
  copy.getResult().setType(tgpu::PendingType::get(narrow.getContext(), narrow));
}

/// The wait. Sums that are not computed count as 0; the mask takes no notice of them.
void Narrowing::copyWait(int64_t columns, IRMapping &mapping) {
  tgpu::WgmmaWaitOp wait = step.wait;
  SmallVector<Value> inputs;
  SmallVector<Type> types;
  for (auto [number, input] : llvm::enumerate(wait.getInputs())) {
    if (number != step.number) {
      inputs.push_back(mapping.lookupOrDefault(input));
      types.push_back(wait.getResult(number).getType());
    } else if (columns != 0) {
      inputs.push_back(mapping.lookup(input));
      types.push_back(*typeOf(columns));
    }
  }
  auto fragments = llvm::map_to_vector(
      wait.getFragments(), [&](Value fragment) { return mapping.lookupOrDefault(fragment); });
  auto copy = tgpu::WgmmaWaitOp::create(builder, wait.getLoc(), types, wait.getPending(), inputs,
                                        fragments);
  Value sums = mapping.lookupOrDefault(step.product.getAcc());
  auto results = copy.getResults().begin();
  for (auto [number, result] : llvm::enumerate(wait.getResults())) {
    if (number != step.number) {
      mapping.map(result, *results++);
    } else if (columns != 0) {
      sums = insert(*results++, sums);
    }
  }
  mapping.map(step.sums(), sums);
}

Value Narrowing::insert(Value part, Value whole) {
  return tgpu::FragmentInsertOp::create(builder, loc, type, part, whole,
                                        builder.getDenseI64ArrayAttr({0, 0}));
}

/// The mask, which is on: what it leaves, and behind that the fill.
void Narrowing::copyGuard(int64_t columns, IRMapping &mapping) {
  scf::IfOp guard = step.guard;
  for (Operation &op : guard.thenBlock()->without_terminator()) {
    builder.clone(op, mapping);
  }
  for (auto [number, value] : llvm::enumerate(guard.thenYield().getOperands())) {
    Value result = mapping.lookupOrDefault(value);
    if (number == step.masked) {
      Value fill = tile::SplatOp::create(builder, loc, type, mapping.lookupOrDefault(step.fill));
      result = columns == 0
                   ? fill
                   : insert(tgpu::FragmentSliceOp::create(builder, loc, *typeOf(columns), result,
                                                          builder.getDenseI64ArrayAttr({0, 0})),
                            fill);
    }
    mapping.map(guard.getResult(number), result);
  }
}

/// The step, where the builder stands, for warpgroups to which the mask leaves so many columns.
void Narrowing::copyStep(ArrayRef<Operation *> operations, int64_t columns) {
  IRMapping mapping;
  for (Operation *op : operations) {
    if (op == step.product) {
      copyProduct(columns, mapping);
    } else if (op == step.wait) {
      copyWait(columns, mapping);
    } else if (op == step.guard) {
      copyGuard(columns, mapping);
    } else {
      builder.clone(*op, mapping);
    }
  }
  auto given = llvm::map_to_vector(loop.getBody()->getTerminator()->getOperands(),
                                   [&](Value value) { return mapping.lookupOrDefault(value); });
  scf::YieldOp::create(builder, loc, given);
}

/// Whether what is live in the step leaves ptxas room: values that copies give come together behind them.
bool Narrowing::hasRegisters() {
  auto kernel = loop->getParentOfType<tgpu::KernelOp>();
  auto roles = loop->getParentOfType<tgpu::RolesOp>();
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  if (!target) {
    return false;
  }
  const int64_t ofRole = roles ? roles.getRegisters()[roles.getRoleOf(loop)] : 0;
  const int64_t most = std::min<int64_t>(
      ofRole != 0 ? ofRole : registersPerThread(kernel, *target, kernel.getMinBlocks().value_or(1)),
      kernel.getMaxRegisters().value_or(target->registersPerThread));
  return 100 * registersInUse(loop) <= kMostOfRegisters * most;
}

bool Narrowing::isPossible() {
  const tgpu::MmaAttr mma = step.product.getMma();
  const int64_t columns = type.getDimSize(1);
  return registersOf(step.sums()) >= kLeastSums &&
         isa<tgpu::SmemType>(step.product.getA().getType()) && hasRegisters() &&
         mma.getWarpsN() == 1 && mma.getN() == columns && columns % (2 * kColumnUnit) == 0 &&
         tgpu::getLayout(type)->hasRowGroups(mma.getWarpsM()) && typeOf(columns / 2) &&
         !loop.getBody()
              ->walk([](Operation *op) {
                return isa<tgpu::AllocSharedOp, tgpu::ChannelOp>(op) ? WalkResult::interrupt()
                                                                     : WalkResult::advance();
              })
              .wasInterrupted();
}

void Narrowing::run() {
  Block *body = loop.getBody();
  Operation *yield = body->getTerminator();
  SmallVector<Operation *> operations;
  for (Operation &op : body->without_terminator()) {
    operations.push_back(&op);
  }
  builder.setInsertionPointToStart(body);
  SmallVector<std::pair<int64_t, Value>, 2> cuts;
  for (int64_t left : {int64_t(0), type.getDimSize(1) / 2}) {
    if (left == 0 && type.getDimSize(0) <= type.getDimSize(1)) {
      continue; // of an edge that begins where the block's rows do, each of its steps leaves each row something
    }
    Certainty certainty(builder, loc, loop);
    Value guard = certainty.here(step.guard.getCondition());
    Value where = certainty.both(guard, guard ? whereLeft(certainty, left) : Value());
    if (where && certainty.differsByRow()) {
      cuts.emplace_back(left, where);
    }
  }
  if (cuts.empty()) {
    return;
  }
  step.product.emitRemark("warpgroups to whose rows the mask leaves half of the columns, or none, "
                          "compute no others");
  SmallVector<scf::IfOp> branches;
  for (auto [left, where] : cuts) {
    auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), where, true, true);
    if (!branches.empty()) {
      scf::YieldOp::create(builder, loc, branch.getResults());
    }
    branches.push_back(branch);
    builder.setInsertionPointToStart(branch.thenBlock());
    copyStep(operations, left);
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  for (Operation *op : operations) {
    op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  }
  scf::YieldOp::create(builder, loc, yield->getOperands());
  yield->setOperands(branches.front().getResults());
}

struct NarrowSteps : tilec::impl::NarrowStepsBase<NarrowSteps> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      if (MaskedProduct step = findStep(loop); step.product && !isRequired(loop, "no_narrow")) {
        if (Narrowing narrowing(loop, step); narrowing.isPossible()) {
          narrowing.run();
        }
      }
    }
  }
};

} // namespace
