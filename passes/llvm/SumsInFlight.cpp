//===- SumsInFlight.cpp - where LLVM might copy the sums of products ------===//
#include "passes/llvm/SumsInFlight.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace tilec::lowering {

/// What the body or an event of a stream gives as `result`.
static Value yieldedTo(tgpu::StreamOp stream, Value result) {
  for (Region &region : stream->getRegions()) {
    Operation *yield = region.front().getTerminator();
    for (auto [given, operand] :
         llvm::zip_equal(stream.getResultsOf(yield), yield->getOperands())) {
      if (given == result) {
        return operand;
      }
    }
  }
  llvm_unreachable("every result of a stream is given by its body or an event");
}

/// The product that a sum, complete or in flight, comes from last; null where that is one of another trip of a loop, or branch.
static tgpu::WgmmaOp productOf(Value sum) {
  while (Operation *definition = sum.getDefiningOp()) {
    if (auto wait = dyn_cast<tgpu::WgmmaWaitOp>(definition)) {
      sum = wait.getInputs()[cast<OpResult>(sum).getResultNumber()];
    } else if (auto stream = dyn_cast<tgpu::StreamOp>(definition)) {
      sum = yieldedTo(stream, sum);
    } else {
      return dyn_cast<tgpu::WgmmaOp>(definition);
    }
  }
  return {};
}

/// The product before of those that go on with each other's sums in flight; null for the first.
static tgpu::WgmmaOp before(tgpu::WgmmaOp product) {
  return isa<tgpu::PendingType>(product.getAcc().getType()) ? productOf(product.getAcc())
                                                            : tgpu::WgmmaOp();
}

/// The product that a sum in flight begins with; null where it was begun in another trip of a loop, or a branch.
static tgpu::WgmmaOp beginOf(Value sum) {
  tgpu::WgmmaOp product = productOf(sum);
  while (tgpu::WgmmaOp earlier = product ? before(product) : tgpu::WgmmaOp()) {
    product = earlier;
  }
  const bool isBegun = product && !isa<tgpu::PendingType>(product.getAcc().getType());
  return isBegun ? product : tgpu::WgmmaOp();
}

/// Whether `value` is the sum of `product`, or of those that go on with it, as it is.
static bool isSumOf(Value value, tgpu::WgmmaOp product) {
  tgpu::WgmmaOp last = productOf(value);
  while (last && last != product) {
    last = before(last);
  }
  return last != nullptr;
}

/// Whether `next` takes what becomes of the sum of `product` alone, step by step: then each register of it does.
static bool goesOnAs(tgpu::WgmmaOp product, OpOperand &next) {
  Value sum = product.getResult();
  while (sum.hasOneUse()) {
    OpOperand &use = *sum.getUses().begin();
    Operation *user = use.getOwner();
    const unsigned number = use.getOperandNumber();
    auto wait = dyn_cast<tgpu::WgmmaWaitOp>(user);
    auto stream = dyn_cast<tgpu::StreamOp>(user->getParentOp());
    if (&use == &next) {
      return true;
    }
    if (wait && number < wait.getInputs().size()) {
      sum = wait.getResult(number);
    } else if (stream && user->hasTrait<OpTrait::IsTerminator>()) {
      sum = stream.getResultsOf(user)[number];
    } else if (auto product = dyn_cast<tgpu::WgmmaOp>(user);
               (product && product.getAcc() == sum && product.getA() != sum) ||
               (user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1)) {
      sum = user->getResult(0);
    } else {
      return false;
    }
  }
  return false;
}

/// Whether a branch or a loop inside hands on, as `value` or in its place, what a loop around carries.
static bool isCarried(Value value) {
  if (isa<BlockArgument>(value)) {
    return true;
  }
  const unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto branch = value.getDefiningOp<scf::IfOp>()) {
    return isCarried(branch.thenYield().getOperand(number)) ||
           isCarried(branch.elseYield().getOperand(number));
  }
  if (auto loop = value.getDefiningOp<scf::ForOp>()) {
    return isCarried(loop.getInitArgs()[number]);
  }
  return value.getDefiningOp<scf::WhileOp>() != nullptr;
}

namespace {
/// What LLVM may find the registers of a fragment to hold.
enum class Numbers {
  Unknown,
  Same,    ///< the same constant in all: what that folds to is folded by now
  ByPlace, ///< constants that follow from places, or that something chooses
  Chosen   ///< a constant where a choice is known to be one, else what is not known
};

bool isNumber(Numbers numbers) { return numbers == Numbers::Same || numbers == Numbers::ByPlace; }

/// Finds that of values, each once.
class NumbersOf {
public:
  Numbers operator()(Value value) {
    auto [known, isNew] = values.insert({value, Numbers::Unknown});
    if (!isNew) {
      return known->second;
    }
    const Numbers found = find(value.getDefiningOp());
    values[value] = found;
    return found;
  }

private:
  Numbers find(Operation *definition) {
    if (!definition || definition->getNumRegions() != 0 || !isMemoryEffectFree(definition) ||
        isa<tgpu::WgmmaWaitOp>(definition)) {
      return Numbers::Unknown;
    }
    if (definition->hasTrait<OpTrait::ConstantLike>()) {
      return Numbers::Same;
    }
    if (isa<tgpu::CoordinateOp>(definition)) {
      return Numbers::ByPlace;
    }
    if (auto choice = dyn_cast<arith::SelectOp>(definition)) {
      const Numbers one = (*this)(choice.getTrueValue()), other = (*this)(choice.getFalseValue());
      if (isNumber(one) && isNumber(other)) {
        return Numbers::ByPlace;
      }
      return one == other ? one : Numbers::Chosen;
    }
    const auto parts = llvm::map_to_vector(definition->getOperands(),
                                           [this](Value operand) { return (*this)(operand); });
    if (parts.empty() || llvm::is_contained(parts, Numbers::Unknown)) {
      return Numbers::Unknown;
    }
    if (llvm::is_contained(parts, Numbers::Chosen)) {
      return Numbers::Chosen;
    }
    return llvm::is_contained(parts, Numbers::ByPlace) ? Numbers::ByPlace : Numbers::Same;
  }

  llvm::DenseMap<Value, Numbers> values; ///< looked up only
};
} // namespace

/// Adds the values that some registers of `sums` may hold unchanged once LLVM knows more: of a choice either, and what meets a number
/// that may be neutral.
static void addUnchanged(Value sums, NumbersOf &numbersOf, llvm::SmallSetVector<Value, 4> &values) {
  Operation *definition = sums.getDefiningOp();
  if (!values.insert(sums) || !definition || !definition->hasTrait<OpTrait::Elementwise>()) {
    return;
  }
  const auto parts = llvm::map_to_vector(definition->getOperands(),
                                         [&](Value operand) { return numbersOf(operand); });
  const bool meetsNumbers = llvm::any_of(
      parts, [](Numbers part) { return part == Numbers::ByPlace || part == Numbers::Chosen; });
  if (!isa<arith::SelectOp>(definition) && !meetsNumbers) {
    return;
  }
  for (auto [operand, part] : llvm::zip_equal(definition->getOperands(), parts)) {
    if (operand.getType() == sums.getType() && !isNumber(part)) {
      addUnchanged(operand, numbersOf, values);
    }
  }
}

static bool outlivesProduct(Value sums, tgpu::WgmmaOp product);

bool outlivesProduct(tgpu::WgmmaOp product) {
  llvm::SmallSetVector<Value, 4> values;
  NumbersOf numbersOf;
  addUnchanged(product.getAcc(), numbersOf, values);
  return llvm::any_of(values, [&](Value value) { return outlivesProduct(value, product); });
}

/// The same of a value that the product may begin with.
static bool outlivesProduct(Value sums, tgpu::WgmmaOp product) {
  Block *block = product->getBlock();
  auto around = product->getParentOfType<LoopLikeOpInterface>();
  if (around && !around->isAncestor(sums.getParentBlock()->getParentOp())) {
    return true;
  }
  auto argument = dyn_cast<BlockArgument>(sums);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (loop) {
    OpOperand &next = *loop.getTiedLoopYieldedValue(argument);
    if (!isSumOf(next.get(), product) && !goesOnAs(product, next)) {
      return true;
    }
  } else if (argument || isCarried(sums)) {
    return true; // in a register of another loop's or a branch's choice
  }
  return llvm::any_of(sums.getUsers(), [&](Operation *user) {
    Operation *here = block->findAncestorOpInBlock(*user);
    return user != product && !(here && here->isBeforeInBlock(product));
  });
}

namespace {

/// What LLVM has to compute before a product begins. It keeps the order of what has effects, and what a product reads
/// is there before the fence, but work on values alone may sink to where it is needed.
class Forced {
public:
  explicit Forced(Operation *product) : product(product) {}

  bool isUseForced(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto stream = dyn_cast<tgpu::StreamOp>(user->getParentOp());
        stream && user->hasTrait<OpTrait::IsTerminator>()) {
      return isValueForced(stream.getResultsOf(user)[use.getOperandNumber()]);
    }
    if (user == product) {
      return true;
    }
    Operation *top = nullptr, *around = product;
    while (!(top = around->getBlock()->findAncestorOpInBlock(*user))) {
      around = around->getParentOp();
    }
    if (top == around) {
      return true; // in the other branch
    }
    if (!top->isBeforeInBlock(around)) {
      return false;
    }
    if (isa<LoopLikeOpInterface>(top)) {
      return true;
    }
    // Of a slice some elements are not used, and a comparison may be made again where it is needed.
    if (isa<tgpu::FragmentSliceOp, arith::CmpFOp, arith::CmpIOp>(user) ||
        (top != user && !isa<tgpu::StreamOp>(top) && !isMemoryEffectFree(top))) {
      return false;
    }
    if (!isMemoryEffectFree(user)) {
      return user->getNumRegions() == 0;
    }
    return llvm::any_of(user->getResults(), [&](Value result) { return isValueForced(result); });
  }

private:
  bool isValueForced(Value value) {
    auto [known, isNew] = values.insert({value, false});
    if (isNew) {
      const bool isForced =
          llvm::any_of(value.getUses(), [&](OpOperand &use) { return isUseForced(use); });
      values[value] = isForced;
      return isForced;
    }
    return known->second;
  }

  Operation *product;
  llvm::DenseMap<Value, bool> values; ///< looked up only
};

} // namespace

/// The values that LLVM may want in the register of `value` because a loop or branch goes on with either; nothing
/// where that is not known.
static LogicalResult findPlacesOf(Value value, llvm::SetVector<Value> &places) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner(), *around = user->getParentOp();
    const unsigned number = use.getOperandNumber();
    if (isa<tile::TransposeOp, tgpu::ConvertLayoutOp, tgpu::FragmentSliceOp,
            tgpu::FragmentInsertOp>(user)) {
      if (failed(findPlacesOf(user->getResult(0), places))) { // only names its elements anew
        return failure();
      }
    }
    if (!user->hasTrait<OpTrait::IsTerminator>()) {
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(around)) {
      places.insert(loop.getRegionIterArg(number));
      continue;
    }
    Value result;
    if (auto branch = dyn_cast<scf::IfOp>(around)) {
      Region &other = user->getParentRegion() == &branch.getThenRegion() ? branch.getElseRegion()
                                                                         : branch.getThenRegion();
      Value otherwise = other.front().getTerminator()->getOperand(number);
      // What is made there is not in a register here, and neither are copies of one value.
      if (!other.isAncestor(otherwise.getParentRegion()) &&
          !isa_and_nonnull<tile::SplatOp>(otherwise.getDefiningOp())) {
        places.insert(otherwise);
      }
      result = branch.getResult(number);
    } else if (auto stream = dyn_cast<tgpu::StreamOp>(around)) {
      result = stream.getResultsOf(user)[number];
    }
    if (!result || failed(findPlacesOf(result, places))) {
      return failure();
    }
  }
  return success();
}

/// Whether a product adds to what becomes of `before` alone, step by step: then that needs no register but this one's.
static bool goesOn(Value before, tgpu::WgmmaOp product) {
  while (before != product.getAcc()) {
    if (!before.hasOneUse()) {
      return false;
    }
    OpOperand &use = *before.getUses().begin();
    Operation *user = use.getOwner();
    auto stream = dyn_cast<tgpu::StreamOp>(user->getParentOp());
    if (stream && user->hasTrait<OpTrait::IsTerminator>()) {
      before = stream.getResultsOf(user)[use.getOperandNumber()];
    } else if (user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1 &&
               (stream || user->getBlock() == product->getBlock())) {
      before = user->getResult(0);
    } else {
      return false;
    }
  }
  return before.hasOneUse();
}

bool outlivesWait(tgpu::WgmmaWaitOp wait, unsigned result) {
  llvm::SetVector<Value> places;
  if (failed(findPlacesOf(wait.getResult(result), places))) {
    return true;
  }
  tgpu::WgmmaOp product = beginOf(wait.getInputs()[result]);
  if (!product) {
    return !places.empty();
  }
  Forced forced(product);
  return !llvm::all_of(places, [&](Value before) {
    // What a product begins with has registers from where it is computed on.
    if (product.getAccumulate()) {
      return goesOn(before, product);
    }
    return llvm::all_of(before.getUses(), [&](OpOperand &use) { return forced.isUseForced(use); });
  });
}

} // namespace tilec::lowering
