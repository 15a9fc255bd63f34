//===- CompleteReductions.cpp - what is combined in each iteration -------===//
//
// What becomes of a value is followed from where the body begins with it, through all that combines it
// with anything, and through branches. If it comes to where the body hands it on, and a reduction is
// among what it was combined with, a reader may ask why the loop does not put that off.
//
//===----------------------------------------------------------------------===//
#include "passes/CompleteReductions.h"

#include "dialects/layout/PartialReduction.h"
#include "dialects/tile/ElementNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilec;
using tile::CombineKind;

SmallVector<int64_t> tilec::reducedAxes(Value tile, std::optional<uint64_t> axis) {
  if (axis) {
    return {int64_t(*axis)};
  }
  return llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(tile.getType()).getRank()));
}

/// Integers are exact, and so are extremes. Of floats a sum is rounded where the program rounds it, and
/// reductions sum narrow ones in f32.
std::string tilec::refuseParts(CombineKind kind, Type element) {
  const bool isExtreme = kind == CombineKind::Max || kind == CombineKind::Min;
  const bool isWide = element.isF32() || element.isF64();
  if (isa<IntegerType>(element) || (isExtreme && (isWide || element.isF16() || element.isBF16())) ||
      (kind == CombineKind::Sum && isWide)) {
    return "";
  }
  if (kind == CombineKind::Prod) {
    return "a product of one thread's floats may overflow where the whole does not";
  }
  const std::string name = tile::elementName(element);
  return kind == CombineKind::Sum ? "each iteration rounds to " + name +
                                        ": a sum of f32, `reduce_sum(f32(x))`, could wait"
                                  : "values of " + name + " are kept whole";
}

static Value withoutConversion(Value value) {
  auto conversion = value.getDefiningOp<tgpu::ConvertLayoutOp>();
  return conversion ? conversion.getSource() : value;
}

/// Whether several threads have what a reduction of this tile combines, or nobody knows.
static bool leavesParts(Value tile, std::optional<uint64_t> axis) {
  auto plan = layout::planPartialReduction(*tgpu::getLayout(tile.getType()),
                                           reducedAxes(tile, axis), layout::Combine::Sum);
  return !plan || plan->isPartial();
}

static void remarkAt(Operation *reduction, const Twine &reason) {
  reduction->emitRemark("the loop completes this reduction in each iteration, not once behind it: ")
      << reason.str();
}

static const char *const kWithinThread =
    "each thread has all the elements, so that nothing would be saved";

//===----------------------------------------------------------------------===//
// Built-in reductions
//===----------------------------------------------------------------------===//

namespace {

/// The reduction that a value comes from, and how.
struct Source {
  tile::ReduceOp reduce;
  bool isConverted = false; // to another type of elements
  bool isScaled = false;
  explicit operator bool() const { return reduce != nullptr; }
};

/// The steps from what the body begins with to what it hands on.
class CarriedPath {
public:
  explicit CarriedPath(const CarriedValue &carried) : carried(carried) {
    followUses();
    followBack();
    findReductions();
  }

  /// What it is combined with, as it stands in the loop.
  ArrayRef<tile::ReduceOp> reductions() const { return found; }
  /// Empty where nothing is wrong with the steps.
  std::string refusal() const;

private:
  bool isInLoop(Operation *op) const { return carried.loop->isProperAncestor(op); }
  void followUses();
  void followBack();
  void stepBack(Operation *op);
  void branchBack(scf::IfOp branch, unsigned result);
  void findReductions();
  Source sourceOf(Value value, const Combination &how) const;
  std::string place(Operation *op) const;
  std::string refuseReaders() const;
  std::string refuseStep(Operation *op) const;

  const CarriedValue &carried;
  llvm::SmallPtrSet<Value, 8> derived;     // from the first one, by steps
  llvm::SmallPtrSet<OpOperand *, 8> taken; // by the steps that end where the body hands it on
  SmallVector<Value> values;               // before and behind these
  SmallVector<Operation *> steps;
  SmallVector<Operation *> anew; // branches that may set the value to something else
  SmallVector<tile::ReduceOp> found;
};

} // namespace

/// What the operation makes of a combined value, if it combines it with something; differences count.
static Value stepFrom(OpOperand &use) {
  Operation *op = use.getOwner();
  const bool isDifference = isa<arith::SubFOp, arith::SubIOp>(op) && use.getOperandNumber() == 0;
  return isDifference || combinationOf(op) ? op->getResult(0) : Value();
}

void CarriedPath::followUses() {
  SmallVector<Value> open = {carried.first};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!derived.insert(value).second) {
      continue;
    }
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      auto branch = dyn_cast<scf::IfOp>(user->getParentOp());
      if (branch && isa<scf::YieldOp>(user) && isInLoop(branch)) {
        open.push_back(branch.getResult(use.getOperandNumber()));
      } else if (Value next = stepFrom(use); next && isInLoop(user)) {
        open.push_back(next);
      }
    }
  }
}

void CarriedPath::followBack() {
  if (!derived.contains(carried.next->get())) {
    return;
  }
  taken.insert(carried.next);
  llvm::SmallPtrSet<Value, 8> seen;
  SmallVector<Value> &open = values; // also those that are done
  open.push_back(carried.next->get());
  for (size_t i = 0; i < open.size(); ++i) {
    Value value = open[i];
    if (value == carried.first || !seen.insert(value).second) {
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      branchBack(branch, cast<OpResult>(value).getResultNumber());
    } else {
      stepBack(op);
    }
  }
}

void CarriedPath::branchBack(scf::IfOp branch, unsigned result) {
  for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()}) {
    OpOperand &handed = yield->getOpOperand(result);
    if (derived.contains(handed.get())) {
      taken.insert(&handed);
      values.push_back(handed.get());
    } else {
      anew.push_back(branch);
    }
  }
}

void CarriedPath::stepBack(Operation *op) {
  steps.push_back(op);
  OpOperand &operand = op->getOpOperand(derived.contains(op->getOperand(0)) ? 0 : 1);
  taken.insert(&operand);
  values.push_back(operand.get());
}

/// Of a sum also factors of the reduction, since they could be inside.
Source CarriedPath::sourceOf(Value value, const Combination &how) const {
  Source source;
  while (Operation *op = value.getDefiningOp()) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      const bool isTile = tgpu::getLayout(reduce.getInput().getType()) != nullptr;
      source.reduce = isTile && isInLoop(op) && combinesAs(reduce, how) ? reduce : nullptr;
      break;
    }
    Value other;
    if (isa<tile::ConvertOp, arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(
            op)) {
      source.isConverted = true;
    } else if (how.kind == CombineKind::Sum && isa<arith::MulFOp, arith::MulIOp>(op)) {
      source.isScaled = true;
      other = op->getOperand(1);
    } else if (!isa<tgpu::ConvertLayoutOp>(op)) {
      break;
    }
    value = op->getOperand(0);
    if (other && withoutConversion(other).getDefiningOp<tile::ReduceOp>()) {
      value = other;
    }
  }
  return source;
}

/// The operand of a step that is not the value; its kind, sums for differences.
static std::pair<Value, Combination> otherOperand(Operation *step,
                                                  const llvm::SmallPtrSetImpl<OpOperand *> &taken) {
  Value other = step->getOperand(taken.contains(&step->getOpOperand(0)) ? 1 : 0);
  return {other, combinationOf(step).value_or(Combination{CombineKind::Sum})};
}

void CarriedPath::findReductions() {
  llvm::SmallPtrSet<Operation *, 4> sources;
  for (Operation *step : steps) {
    auto [other, how] = otherOperand(step, taken);
    if (Source source = sourceOf(other, how)) {
      sources.insert(source.reduce);
    }
  }
  carried.loop->walk([&](tile::ReduceOp reduce) {
    if (sources.contains(reduce)) {
      found.push_back(reduce);
    }
  });
}

/// Where in the program, for one who is told so where the first reduction stands.
std::string CarriedPath::place(Operation *op) const {
  auto at = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (!at) {
    return "another operation";
  }
  tile::ReduceOp first = found.front();
  auto here = first.getLoc()->findInstanceOf<FileLineColLoc>();
  const bool isSameFile = here && here.getFilename() == at.getFilename();
  return llvm::formatv("line {0}{1}{2}", at.getLine(), isSameFile ? "" : " of ",
                       isSameFile ? "" : at.getFilename().getValue())
      .str();
}

std::string CarriedPath::refuseReaders() const {
  if (carried.isReadByCondition) {
    return "the loop's condition reads what it has combined so far";
  }
  llvm::SmallPtrSet<OpOperand *, 8> readers;
  for (Value value : values) {
    for (OpOperand &use : value.getUses()) {
      if (isInLoop(use.getOwner()) && !taken.contains(&use)) {
        readers.insert(&use);
      }
    }
  }
  std::string reason;
  carried.loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (llvm::none_of(op->getOpOperands(),
                      [&](OpOperand &use) { return readers.contains(&use); })) {
      return WalkResult::advance();
    }
    reason = op->hasTrait<OpTrait::IsTerminator>()
                 ? "another variable takes what the loop has combined so far"
                 : place(op) + " reads what the loop has combined so far";
    return WalkResult::interrupt();
  });
  return reason;
}

std::string CarriedPath::refuseStep(Operation *step) const {
  auto [other, how] = otherOperand(step, taken);
  Source source = sourceOf(other, how);
  if (!source) {
    // Factors are steps; what they do to other kinds than sums is the parts' matter.
    return how.kind == CombineKind::Prod
               ? ""
               : place(step) + " changes the value by something else than a reduction or a factor";
  }
  if (std::string reason =
          refuseParts(how.kind, getElementTypeOrSelf(step->getResult(0).getType()));
      !reason.empty()) {
    return reason;
  }
  if (!combinationOf(step)) {
    return place(step) + " subtracts it: a sum of what is negated could wait";
  }
  if (source.isConverted) {
    return place(step) + " converts it: a reduction of what is converted could wait";
  }
  if (source.isScaled) {
    return place(step) +
           " multiplies it by a factor: with that inside of it or behind the loop it could wait";
  }
  tile::ReduceOp reduce = source.reduce;
  for (Value result : {reduce.getResult(), other}) {
    for (Operation *user : result.getUsers()) {
      if (user != step && user != other.getDefiningOp()) {
        return place(user) + " takes its result, too";
      }
    }
  }
  if (reduce->getBlock() != step->getBlock()) {
    return place(step) + " combines it in a branch: made there, it could wait";
  }
  return "";
}

std::string CarriedPath::refusal() const {
  if (std::string reason = refuseReaders(); !reason.empty()) {
    return reason;
  }
  if (!anew.empty()) {
    return "the branch of " + place(anew.back()) + " may set the value to something else";
  }
  for (Operation *step : llvm::reverse(steps)) {
    if (std::string reason = refuseStep(step); !reason.empty()) {
      return reason;
    }
  }
  return "";
}

void tilec::remarkComplete(const CarriedValue &carried, std::string reason) {
  CarriedPath path(carried);
  ArrayRef<tile::ReduceOp> reductions = path.reductions();
  if (reductions.empty()) {
    return;
  }
  if (llvm::none_of(reductions, [](tile::ReduceOp reduce) {
        return leavesParts(reduce.getInput(), reduce.getAxis());
      })) {
    reason = kWithinThread;
  } else if (reason.empty()) {
    reason = path.refusal();
  }
  if (reason.empty()) {
    reason = "the loop does more with the value than to combine it with reductions and to scale it";
  }
  tile::ReduceOp first = reductions.front();
  remarkAt(first, reason);
}

//===----------------------------------------------------------------------===//
// Functions of the program's own
//===----------------------------------------------------------------------===//

namespace {

/// Whether what a loop hands on is its own function of what it carries and of what the same function made of tiles.
class OwnCombine {
public:
  OwnCombine(tile::ReduceWithOp reduce, ArrayRef<CarriedValue> carried)
      : reduce(reduce), carried(carried), bound(2 * reduce.getNumResults()) {}

  bool isFound() { return findFrom(0); }

private:
  bool findFrom(unsigned part);
  bool isSame(Value outer, Value inner);
  bool isSameOperation(Operation *outer, Operation *inner);
  bool isBoundToResults(unsigned half);

  tile::ReduceWithOp reduce;
  ArrayRef<CarriedValue> carried;
  SmallVector<Value> bound; // what stands for each argument of the function
  unsigned budget = 10000;  // of comparisons; there are as many ways as commutative operations have
};

} // namespace

bool OwnCombine::isBoundToResults(unsigned half) {
  const unsigned parts = reduce.getNumResults();
  for (unsigned i = 0; i < parts; ++i) {
    Value value = bound[half * parts + i];
    if (value && value != reduce.getResult(i)) {
      return false;
    }
  }
  return true;
}

/// What is carried at one place for each part, from one on.
bool OwnCombine::findFrom(unsigned part) {
  const unsigned parts = reduce.getNumResults();
  if (part == parts) {
    return isBoundToResults(0) != isBoundToResults(1);
  }
  Value made = reduce.getCombine().front().getTerminator()->getOperand(part);
  for (const CarriedValue &place : carried) {
    if (place.next->getOwner()->getBlock() != reduce->getBlock()) {
      continue;
    }
    const SmallVector<Value> before = bound;
    for (unsigned half : {0, 1}) {
      Value &argument = bound[half * parts + part];
      if (!argument || argument == place.first) {
        argument = place.first;
        if (isSame(place.next->get(), made) && findFrom(part + 1)) {
          return true;
        }
      }
      bound = before;
    }
  }
  return false;
}

/// What a value outside of the function is as it: without conversions of layouts, and where a function is applied to tiles,
/// what it takes and gives of an element.
static Value origin(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(value);
    if (auto map = dyn_cast_if_present<tile::MapOp>(op)) {
      value = map.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
    } else if (auto map = argument ? dyn_cast<tile::MapOp>(argument.getOwner()->getParentOp())
                                   : tile::MapOp()) {
      value = map->getOperand(argument.getArgNumber());
    } else if (isa_and_present<tgpu::ConvertLayoutOp, tile::SplatOp>(op)) {
      value = op->getOperand(0);
    } else {
      return value;
    }
  }
}

bool OwnCombine::isSame(Value outer, Value inner) {
  outer = origin(outer);
  if (budget == 0) {
    return false;
  }
  --budget;
  auto argument = dyn_cast<BlockArgument>(inner);
  if (argument && argument.getOwner() == &reduce.getCombine().front()) {
    Value &known = bound[argument.getArgNumber()];
    known = known ? known : outer;
    return known == outer;
  }
  if (outer == inner) {
    return true;
  }
  Operation *one = outer.getDefiningOp(), *other = inner.getDefiningOp();
  return one && other &&
         cast<OpResult>(outer).getResultNumber() == cast<OpResult>(inner).getResultNumber() &&
         isSameOperation(one, other);
}

/// A constant, as it is of each element.
static Attribute constantOf(Operation *op) {
  Attribute value;
  if (!matchPattern(op, m_Constant(&value))) {
    return {};
  }
  auto elements = dyn_cast<SplatElementsAttr>(value);
  return elements ? elements.getSplatValue<Attribute>() : value;
}

bool OwnCombine::isSameOperation(Operation *outer, Operation *inner) {
  if (outer->getName() != inner->getName() || outer->getNumRegions() != 0 ||
      outer->getNumOperands() != inner->getNumOperands()) {
    return false;
  }
  if (Attribute constant = constantOf(outer)) {
    return constant == constantOf(inner);
  }
  if (outer->getAttrDictionary() != inner->getAttrDictionary()) {
    return false;
  }
  const SmallVector<Value> before = bound;
  auto matches = [&](ArrayRef<Value> operands) {
    return llvm::all_of(llvm::zip(operands, inner->getOperands()),
                        [&](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
  };
  SmallVector<Value> operands(outer->getOperands());
  if (matches(operands)) {
    return true;
  }
  bound = before;
  std::reverse(operands.begin(), operands.end());
  return outer->hasTrait<OpTrait::IsCommutative>() && matches(operands);
}

/// The built-in kind that a function is; nothing if it is none.
static std::optional<CombineKind> builtInKind(tile::ReduceWithOp reduce) {
  Block &body = reduce.getCombine().front();
  Operation *op = body.getTerminator()->getOperand(0).getDefiningOp();
  std::optional<Combination> how = op ? combinationOf(op) : std::nullopt;
  const bool isPlain = how && body.getNumArguments() == 2 &&
                       llvm::all_of(body.getArguments(), [&](BlockArgument argument) {
                         return llvm::is_contained(op->getOperands(), argument);
                       });
  return isPlain ? std::optional(how->kind) : std::nullopt;
}

void tilec::remarkOwnCombines(ArrayRef<CarriedValue> carried) {
  if (carried.empty()) {
    return;
  }
  carried.front().loop->walk([&](tile::ReduceWithOp reduce) {
    if (!llvm::all_of(reduce.getInputs(),
                      [](Value tile) { return tgpu::getLayout(tile.getType()); }) ||
        !OwnCombine(reduce, carried).isFound()) {
      return;
    }
    if (!leavesParts(reduce.getInputs().front(), reduce.getAxis())) {
      remarkAt(reduce, kWithinThread);
    } else if (std::optional<CombineKind> kind = builtInKind(reduce)) {
      remarkAt(
          reduce,
          "parts would begin with a neutral element, which nobody knows of a function: `reduce_" +
              tile::stringifyCombineKind(*kind) + "` could wait");
    } else {
      remarkAt(reduce, "parts would begin with a neutral element, which nobody knows of a "
                       "function; it can be applied to "
                       "whole tiles in the loop, `t = f(t, x)`, and the tile be reduced behind it");
    }
  });
}
