//===- DeferReductions.cpp - loops that carry partial values -------------===//
//
// A value that a loop only ever combines with reductions can stay in parts while the loop runs:
// combining is associative and commutative, so each thread may collect what it holds itself, and one
// combination of the threads' parts behind the loop gives what one in each iteration would have
// given. Factors distribute over sums: each thread scales its own part. Branches may combine and scale, or
// leave the value as it is.
//
// The parts begin with the neutral element, and what the loop began with is combined with what it
// gives. Where factors scale it too it is one of the parts, unless it is zero.
//
// The type says that a value is partial, and the verifier of the kernel that nothing takes it for a
// complete one. So a value that anything else in the loop reads, the online softmax's row maximum
// say, stays as it is.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/PartialReduction.h"
#include "passes/Analysis.h"
#include "passes/CompleteReductions.h"
#include "passes/FragmentSteps.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <vector>

namespace tilec {
#define GEN_PASS_DEF_DEFERREDUCTIONS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using layout::PartialReduction;
using layout::RegisterLayout;
using tile::CombineKind;

namespace {

/// A step of the body from what the loop carries to what it hands on: a combination, a scale, or a branch
/// whose regions take steps of their own, perhaps none, to one result.
struct Step {
  Operation *op = nullptr;
  std::vector<Step> branches[2];    // of an scf.if
  unsigned result = 0;              // of the branch, or of `op`
  Value factor;                     // a scale's
  tile::ReduceOp reduce;            // else what it is combined with
  tgpu::ConvertLayoutOp conversion; // of that, if any
  std::optional<PartialReduction> plan;
};

} // namespace

std::optional<Combination> tilec::combinationOf(Operation *op) {
  using Found = std::optional<Combination>;
  return llvm::TypeSwitch<Operation *, Found>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Found({CombineKind::Sum}); })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Found({CombineKind::Prod}); })
      .Case<arith::MaxNumFOp, arith::MaxSIOp>([](auto) { return Found({CombineKind::Max}); })
      .Case<arith::MinNumFOp, arith::MinSIOp>([](auto) { return Found({CombineKind::Min}); })
      .Case<arith::MaxUIOp>([](auto) { return Found({CombineKind::Max, true}); })
      .Case<arith::MinUIOp>([](auto) { return Found({CombineKind::Min, true}); })
      .Case<arith::AndIOp>([](auto) { return Found({CombineKind::And}); })
      .Case<arith::OrIOp>([](auto) { return Found({CombineKind::Or}); })
      .Case<arith::XOrIOp>([](auto) { return Found({CombineKind::Xor}); })
      .Default([](Operation *) { return Found(); });
}

bool tilec::combinesAs(tile::ReduceOp reduce, const Combination &how) {
  const bool isExtreme = how.kind == CombineKind::Max || how.kind == CombineKind::Min;
  return reduce.getKind() == how.kind && (!isExtreme || reduce.getIsUnsigned() == how.isUnsigned ||
                                          isa<FloatType>(getElementTypeOrSelf(reduce.getResult())));
}

static SmallVector<int64_t> axesOf(tile::ReduceOp reduce) {
  return reducedAxes(reduce.getInput(), reduce.getAxis());
}

/// Fills in what `op` combines the carried value with, if that is a reduction of the same block that
/// nothing else uses.
static bool isAccumulation(Step &step, Value other) {
  step.conversion = other.getDefiningOp<tgpu::ConvertLayoutOp>();
  Value reduced = step.conversion ? step.conversion.getSource() : other;
  step.reduce = reduced.getDefiningOp<tile::ReduceOp>();
  if (!step.reduce || !other.hasOneUse() || !reduced.hasOneUse() ||
      step.reduce->getBlock() != step.op->getBlock()) {
    return false;
  }
  return combinesAs(step.reduce, *combinationOf(step.op)) &&
         isa<RankedTensorType>(step.reduce.getInput().getType()) &&
         tgpu::getLayout(step.reduce.getInput().getType());
}

namespace {
/// The steps that a value takes through a block, each the only reader of what is before it, and where the
/// block's last operation hands it on.
struct Path {
  std::vector<Step> steps;
  OpOperand *end = nullptr;
};
} // namespace

static std::optional<Path> pathOf(Value value, Block &block);

/// A branch's regions hand on the same result of what they get.
static bool isBranch(Step &step, Value value) {
  auto branch = dyn_cast<scf::IfOp>(step.op);
  if (!branch || branch.getNumResults() == 0 || branch.getCondition() == value) {
    return false;
  }
  std::optional<Path> paths[] = {pathOf(value, *branch.thenBlock()),
                                 pathOf(value, *branch.elseBlock())};
  if (!paths[0] || !paths[1] ||
      paths[0]->end->getOperandNumber() != paths[1]->end->getOperandNumber()) {
    return false;
  }
  step.result = paths[0]->end->getOperandNumber();
  step.branches[0] = std::move(paths[0]->steps);
  step.branches[1] = std::move(paths[1]->steps);
  return true;
}

/// Nothing where there is another reader in the block or another step.
static std::optional<Path> pathOf(Value value, Block &block) {
  Path path;
  while (true) {
    SmallVector<OpOperand *, 2> uses;
    Step step;
    for (OpOperand &use : value.getUses()) {
      if (Operation *user = block.findAncestorOpInBlock(*use.getOwner())) {
        uses.push_back(&use);
        if (step.op && step.op != user) {
          return std::nullopt;
        }
        step.op = user;
      }
    }
    if (uses.empty()) {
      return std::nullopt;
    }
    if (!isBranch(step, value)) {
      if (uses.size() != 1 || uses[0]->getOwner() != step.op) {
        return std::nullopt;
      }
      if (step.op == block.getTerminator()) {
        path.end = uses[0];
        return path;
      }
      const std::optional<Combination> how = combinationOf(step.op);
      if (!how) {
        return std::nullopt;
      }
      Value other = step.op->getOperand(1 - uses[0]->getOperandNumber());
      if (!isAccumulation(step, other)) {
        if (how->kind != CombineKind::Prod) {
          return std::nullopt;
        }
        step.factor = other;
        step.reduce = {};
      }
    }
    value = step.op->getResult(step.result);
    path.steps.push_back(std::move(step));
  }
}

/// The combinations and scales, those in branches too.
template <typename Steps, typename Visit>
static void forEachStep(Steps &steps, Visit visit) {
  for (auto &step : steps) {
    forEachStep(step.branches[0], visit);
    forEachStep(step.branches[1], visit);
    if (!isa<scf::IfOp>(step.op)) {
      visit(step);
    }
  }
}

static std::optional<CarriedValue> carriedBy(scf::ForOp loop, unsigned index) {
  CarriedValue carried;
  carried.loop = loop;
  carried.init = &loop.getInitArgsMutable()[index];
  carried.first = loop.getRegionIterArg(index);
  carried.next = &loop.getYieldedValuesMutable()->slice(index, 1)[0];
  carried.places = {carried.first, loop.getResult(index)};
  return carried;
}

/// Of a `while`: a value that passes through its condition.
static std::optional<CarriedValue> carriedBy(scf::WhileOp loop, unsigned index) {
  CarriedValue carried;
  carried.loop = loop;
  carried.init = &loop.getInitsMutable()[index];
  BlockArgument before = loop.getBeforeArguments()[index];
  ValueRange handed = loop.getConditionOp().getArgs();
  const unsigned place = llvm::find(handed, before) - handed.begin();
  if (place == handed.size()) {
    return std::nullopt;
  }
  carried.isReadByCondition = !before.hasOneUse();
  carried.first = loop.getAfterArguments()[place];
  carried.next = &loop.getYieldOp()->getOpOperand(index);
  carried.places = {before, carried.first, loop.getResult(place)};
  return carried;
}

namespace {

/// Makes what a loop carries partial, if its steps and layouts admit it.
class Deferral {
public:
  Deferral(const CarriedValue &carried, std::vector<Step> steps)
      : carried(carried), steps(std::move(steps)) {
    forEachStep(this->steps, [&](Step &step) { flat.push_back(&step); });
  }

  /// Whether the loop combines the value with reductions at all.
  bool isCombined() const {
    return llvm::any_of(flat, [](const Step *step) { return step->reduce != nullptr; });
  }
  /// Why it cannot be done or saves nothing; empty where it can.
  std::string refusal();
  void run();

private:
  bool isScaled() const {
    return llvm::any_of(flat, [](const Step *step) { return bool(step->factor); });
  }
  std::string refuse(Step &step);
  std::string refuseFactors() const;
  Value begin();
  Value replaceSteps(ArrayRef<Step> path, Value value);
  Value combined();
  struct Savings {
    int64_t shuffles = 0;
    bool exchanges = false;
  };
  Savings savings(ArrayRef<Step> path) const;
  void remark();

  CarriedValue carried;
  std::vector<Step> steps;
  SmallVector<Step *> flat; // without the branches themselves
  Step *main = nullptr;     // whose reduction stands for all of them
  bool isUnsigned = false;
  RankedTensorType type; // partial
};

} // namespace

/// Whether each thread has the factor of each element that it has a part of.
static bool isFactorOf(Value factor, const RegisterLayout &partial) {
  const RegisterLayout *layout = tgpu::getLayout(factor.getType());
  return layout ? layout->sameMap(partial.combined()) : partial.rank() == 0;
}

/// Why a step's reduction may not stay in the same parts as the other steps'; what is not partial is refused.
std::string Deferral::refuse(Step &step) {
  const CombineKind kind = step.reduce.getKind();
  step.plan.reset();
  auto plan = layout::planPartialReduction(*tgpu::getLayout(step.reduce.getInput().getType()),
                                           axesOf(step.reduce), layout::Combine(kind));
  if (!plan) {
    return plan.reason();
  }
  std::string reason = refuseParts(kind, getElementTypeOrSelf(carried.first.getType()));
  if (!reason.empty()) {
    return reason;
  }
  const bool isFirst = !main;
  main = main ? main : &step;
  if (kind != main->reduce.getKind()) {
    return "the loop combines reductions of different kinds in one value";
  }
  if (!plan->isPartial() ||
      (!isFirst && (plan->result.partial() != main->plan->result.partial() ||
                    !plan->result.combined().sameMap(main->plan->result.combined())))) {
    return "the reductions that the loop combines in one value leave their parts in different "
           "threads";
  }
  step.plan = *plan;
  return "";
}

/// Why the factors may not scale each thread's parts.
std::string Deferral::refuseFactors() const {
  if (!isScaled()) {
    return "";
  }
  if (main->reduce.getKind() != CombineKind::Sum) {
    return "the loop multiplies the value, too, and factors distribute over sums only";
  }
  const bool isEverywhere = llvm::all_of(flat, [&](const Step *step) {
    return !step->factor || isFactorOf(step->factor, main->plan->result);
  });
  return isEverywhere ? "" : "a factor of the value lies in other threads than the parts";
}

std::string Deferral::refusal() {
  for (Step *step : flat) {
    if (std::string reason = step->reduce ? refuse(*step) : ""; !reason.empty()) {
      return reason;
    }
  }
  if (std::string reason = refuseFactors(); !reason.empty()) {
    return reason;
  }
  const RegisterLayout &partial = main->plan->result;
  isUnsigned = main->reduce.getIsUnsigned();
  type = tgpu::withLayout(
      RankedTensorType::get(partial.shape(), getElementTypeOrSelf(carried.first.getType())),
      partial);
  return "";
}

static bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>()) {
    value = splat.getInput();
  }
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// The parts that the loop begins with. They stand for what it began with only where that is scaled.
Value Deferral::begin() {
  OpBuilder builder(carried.loop);
  Value start = carried.init->get();
  const bool isPart = isScaled() && !isZero(start);
  return tgpu::BeginPartialOp::create(builder, carried.loop->getLoc(), type,
                                      isPart ? start : Value(), isUnsigned);
}

/// The partial value that `path` makes of one; what made complete ones still stands, unused.
Value Deferral::replaceSteps(ArrayRef<Step> path, Value value) {
  for (const Step &step : path) {
    OpBuilder builder(step.op);
    Location loc = step.op->getLoc();
    if (auto branch = dyn_cast<scf::IfOp>(step.op)) {
      branch.thenYield()->setOperand(step.result, replaceSteps(step.branches[0], value));
      branch.elseYield()->setOperand(step.result, replaceSteps(step.branches[1], value));
      value = branch.getResult(step.result);
      value.setType(type);
    } else if (step.factor) {
      value = tgpu::ScalePartialOp::create(builder, loc, type, value, step.factor);
    } else {
      tile::ReduceOp reduce = step.reduce;
      value = tgpu::AccumulatePartialOp::create(builder, reduce.getLoc(), type, reduce.getInput(),
                                                axesOf(reduce), value, isUnsigned);
    }
  }
  return value;
}

/// The complete values behind the loop, without what it began with.
Value Deferral::combined() {
  OpBuilder builder(carried.loop->getContext());
  builder.setInsertionPointAfter(carried.loop);
  tile::ReduceOp reduce = main->reduce;
  const RegisterLayout &layout = main->plan->parts;
  RankedTensorType tile =
      tgpu::withLayout(RankedTensorType::get(layout.shape(), type.getElementType()), layout);
  Value parts = tgpu::PartialPartsOp::create(builder, reduce.getLoc(), tile, carried.result(),
                                             axesOf(reduce));
  auto whole = cast<tile::ReduceOp>(builder.clone(*reduce));
  whole.getInputMutable().set(parts);
  if (tgpu::ConvertLayoutOp conversion = main->conversion) {
    auto converted = cast<tgpu::ConvertLayoutOp>(builder.clone(*conversion));
    converted.getSourceMutable().set(whole.getResult());
    return converted;
  }
  return whole.getResult();
}

/// What an iteration need not do that goes through `path`; of a branch, the region that saves most.
Deferral::Savings Deferral::savings(ArrayRef<Step> path) const {
  Savings sum;
  for (const Step &step : path) {
    if (isa<scf::IfOp>(step.op)) {
      const Savings one = savings(step.branches[0]), other = savings(step.branches[1]);
      sum.shuffles += std::max(one.shuffles, other.shuffles);
      sum.exchanges |= one.exchanges || other.exchanges;
    } else if (step.plan) {
      const layout::Partial &partial = *step.plan->result.partial();
      const int64_t words = std::max(1u, type.getElementTypeBitWidth() / 32);
      sum.shuffles +=
          step.plan->result.registersPerThread() * llvm::popcount(partial.laneMask) * words;
      sum.exchanges |= partial.warpOffsets != 1;
    }
  }
  return sum;
}

void Deferral::remark() {
  const auto [shuffles, exchanges] = savings(steps);
  const bool branches =
      llvm::any_of(steps, [](const Step &step) { return isa<scf::IfOp>(step.op); });
  main->reduce.emitRemark(
      llvm::formatv("the loop carries partial values of this reduction, which are combined behind "
                    "it: each iteration saves {0}{1}{2}{3}",
                    branches ? "up to " : "",
                    shuffles ? llvm::formatv("{0} shuffle{1}", shuffles, shuffles == 1 ? "" : "s")
                             : std::string(),
                    shuffles && exchanges ? " and " : "",
                    exchanges ? "an exchange between warps through shared memory" : "")
          .str());
}

void Deferral::run() {
  remark();
  Value start = carried.init->get();
  Value parts = begin();
  carried.init->set(parts);
  SmallVector<OpOperand *> readers =
      llvm::map_to_vector(carried.result().getUses(), [](OpOperand &use) { return &use; });
  carried.next->set(replaceSteps(steps, carried.first));
  Value complete = combined();
  if (!parts.getDefiningOp<tgpu::BeginPartialOp>().getStart()) {
    OpBuilder builder(carried.loop->getContext());
    builder.setInsertionPointAfterValue(complete);
    Operation *both = builder.clone(*main->op);
    both->setOperands({start, complete});
    complete = both->getResult(0);
  }
  for (OpOperand *reader : readers) {
    reader->set(complete);
  }
  for (Value place : carried.places) {
    place.setType(type);
  }
  for (Step *step : llvm::reverse(flat)) {
    step->op->erase();
    if (step->conversion) {
      step->conversion.erase();
    }
    if (step->reduce) {
      step->reduce.erase();
    }
  }
}

/// Gives a remark on what was done, or why nothing was.
static void deferIn(const CarriedValue &carried) {
  std::optional<Path> path;
  if (!carried.isReadByCondition) {
    path = pathOf(carried.first, *carried.next->getOwner()->getBlock());
  }
  std::string reason;
  if (path && path->end == carried.next) {
    Deferral deferral(carried, std::move(path->steps));
    if (!deferral.isCombined()) {
      return;
    }
    reason = deferral.refusal();
    if (reason.empty() && !isRequired(carried.loop, "no_partial")) {
      deferral.run();
      return;
    }
    reason = reason.empty() ? "`@require(no_partial)` asks for it" : reason;
  }
  remarkComplete(carried, reason);
}

template <typename Loop>
static void deferAllOf(Loop loop, unsigned count) {
  SmallVector<CarriedValue> all;
  for (unsigned i = 0; i < count; ++i) {
    if (std::optional<CarriedValue> carried = carriedBy(loop, i)) {
      all.push_back(*carried);
    }
  }
  remarkOwnCombines(all);
  for (const CarriedValue &carried : all) {
    deferIn(carried);
  }
}

namespace {
struct DeferReductions : tilec::impl::DeferReductionsBase<DeferReductions> {
  void runOnOperation() override {
    // Inner loops before outer ones: what is combined behind them may be put off again.
    getOperation().walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        deferAllOf(loop, loop.getNumRegionIterArgs());
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        deferAllOf(loop, loop.getInits().size());
      }
    });
  }
};
} // namespace
