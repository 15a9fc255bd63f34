//===- LayoutPrices.cpp - what conversions of fragments cost -------------===//
#include "passes/LayoutPrices.h"

#include "dialects/layout/Reduction.h"
#include "dialects/layout/Scan.h"
#include "dialects/support/Target.h"
#include "passes/Analysis.h"
#include "passes/LayoutTies.h"

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::ConversionPrice;
using layout::RegisterLayout;

Answer<ConversionPrice> tilec::priceOfConversion(tgpu::KernelOp kernel, RankedTensorType type,
                                                 const RegisterLayout &from,
                                                 const RegisterLayout &to) {
  const unsigned bits = std::max(8u, tile::getStorageBits(type.getElementType()));
  Answer<layout::Conversion> plan = tgpu::planConversion(kernel.getContext(), from, to, bits);
  if (!plan) {
    return layout::Refusal{plan.reason()};
  }
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  return layout::priceOf(*plan, from, to, bits, target && target->arch >= 90);
}

std::string tilec::describePrice(tgpu::KernelOp kernel, RankedTensorType from,
                                 const RegisterLayout &to) {
  Answer<ConversionPrice> price = priceOfConversion(kernel, from, *tgpu::getLayout(from), to);
  return price ? ": " + price->str() : std::string();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// No more meeting places than this are tried, and no more of them are changed: trials cost time.
static constexpr size_t kMostMeetings = 8;
static constexpr int kMostPins = 3;

namespace {

/// Layouts that might save what a use of a fragment costs: each is tried for itself.
using Meeting = SmallVector<LayoutPin, 0>;

/// The price of a kernel under an assignment.
class Pricing {
public:
  Pricing(tgpu::KernelOp kernel, LayoutAssignment &layouts) : kernel(kernel), layouts(layouts) {}

  void run();
  int64_t total() const { return cycles; }
  ArrayRef<Meeting> meetings() const { return found; }

private:
  void addConversion(OpOperand &operand, const RegisterLayout &wanted);
  void addReduction(Operation *reduce, MutableArrayRef<OpOperand> inputs, uint32_t axis);
  void addScan(Operation *scan, Value input, uint32_t axis);
  void addRowsInWarps(Value value);
  void addSpread(tile::BroadcastOp broadcast);
  Meeting pinsOf(OpOperand &operand, const RegisterLayout &wanted) const;
  void addAccess(Operation *op, Value fragment, std::optional<uint32_t> bytes);
  bool isDemandedBy(OpOperand &operand) const;
  int64_t timesOf(Operation *op) const;

  tgpu::KernelOp kernel;
  LayoutAssignment &layouts;
  int64_t cycles = 0;
  SmallVector<Meeting, 0> found;
};

} // namespace

/// An estimate of how often an operation runs: loops go round eight times, three of them count.
int64_t Pricing::timesOf(Operation *op) const {
  int64_t times = 1;
  for (; op && !isa<tgpu::KernelOp>(op); op = op->getParentOp()) {
    times *= isa<LoopLikeOpInterface>(op->getParentOp()) && times < 512 ? 8 : 1;
  }
  return times;
}

/// Whether what takes an operand is demanded, too.
bool Pricing::isDemandedBy(OpOperand &operand) const {
  bool isDemanded = true;
  auto see = [&](Value value) {
    isDemanded &= !isFragment(value) || isFree(value) || layouts.isDemanded(value);
  };
  bool flows = false;
  forEachFlow(operand.getOwner(), [&](OpOperand &other, Value place) {
    if (&other == &operand) {
      flows = true;
      see(place);
    }
  });
  if (!flows) {
    llvm::for_each(operand.getOwner()->getResults(), see);
  }
  return isDemanded;
}

void Pricing::addConversion(OpOperand &operand, const RegisterLayout &wanted) {
  Value value = operand.get();
  if (isFree(value) || layouts.of(value) == wanted) {
    return;
  }
  Answer<ConversionPrice> price =
      priceOfConversion(kernel, cast<RankedTensorType>(value.getType()), layouts.of(value), wanted);
  if (!price || price->isFree()) {
    return;
  }
  // Where the program wants no exchange there is to be none, at any price.
  const bool isForbidden = isRequired(operand.getOwner(), "no_exchange");
  cycles += isForbidden ? int64_t(1) << 40
                        : price->cost(kernel.getNumWarps()) * timesOf(operand.getOwner());
  if (layouts.isDemanded(value) && isDemandedBy(operand)) {
    found.push_back(pinsOf(operand, wanted));
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(operand.getOwner());
             broadcast && price->barriers > 0) {
    addSpread(broadcast);
  }
}

/// Combines what lies along `axis`, of each of `inputs`.
void Pricing::addReduction(Operation *reduce, MutableArrayRef<OpOperand> inputs, uint32_t axis) {
  Value input = inputs.front().get();
  if (!isFragment(input) || isFree(input)) {
    return;
  }
  Answer<layout::ReductionPlan> plan = layout::planReduction(layouts.of(input), axis);
  ConversionPrice price;
  if (plan) {
    price.shuffles = plan->result.registersPerThread() * llvm::popcount(plan->laneMask);
    price.instructions = 2 * price.shuffles + layouts.of(input).registersPerThread();
    price.shuffles *= int64_t(inputs.size());
    price.instructions *= int64_t(inputs.size());
    price.barriers = plan->warpOffsets != 1 ? 1 : 0;
  } else {
    price.barriers = 2; // a conversion goes before it
  }
  cycles += price.cost(kernel.getNumWarps()) * timesOf(reduce);
  if (price.barriers > 0 && axis + 1 == layouts.of(input).rank()) {
    addRowsInWarps(input);
  }
}

/// In the layout that it has, or in another and back (LowerScans).
void Pricing::addScan(Operation *scan, Value input, uint32_t axis) {
  if (isFree(input)) {
    return;
  }
  const int64_t warps = kernel.getNumWarps();
  const RegisterLayout &now = layouts.of(input);
  Answer<int64_t> direct = layout::exchangesOfScan(now, axis);
  Answer<RegisterLayout> blocked = layout::blockedForScan(now.shape(), axis, warps);
  Answer<int64_t> runs = blocked ? layout::exchangesOfScan(*blocked, axis)
                                 : Answer<int64_t>(layout::Refusal{blocked.reason()});
  const bool isDirect = direct && (!runs || *direct <= *runs + 2 * blocked->registersPerThread());
  if (!isDirect && !runs) {
    return;
  }
  ConversionPrice price;
  price.instructions = 3 * (isDirect ? *direct : *runs);
  price.barriers = 1;
  int64_t cost = price.cost(warps);
  if (!isDirect) {
    auto type = cast<RankedTensorType>(input.getType());
    for (const auto &[from, to] : {std::pair(now, *blocked), std::pair(*blocked, now)}) {
      if (Answer<ConversionPrice> way = priceOfConversion(kernel, type, from, to)) {
        cost += way->cost(warps);
      }
    }
  }
  cycles += cost * timesOf(scan);
}

/// What warps exchange about rows of a tile they need not if each row is in one of them. No access is narrower for that.
void Pricing::addRowsInWarps(Value value) {
  if (isFree(value)) {
    return;
  }
  const RegisterLayout &now = layouts.of(value);
  RegisterLayout::BlockedOptions options;
  options.warpsTakeRows = true;
  const auto vec = int64_t(llvm::bit_floor(uint64_t(now.contiguousElements(now.rank() - 1))));
  Answer<RegisterLayout> wanted =
      RegisterLayout::blocked(now.shape(), vec, kernel.getNumWarps(), options);
  if (wanted && *wanted != now) {
    found.push_back({{value, *wanted}});
  }
}

/// What is broadcast might go to where it lies already.
void Pricing::addSpread(tile::BroadcastOp broadcast) {
  Value result = broadcast.getResult();
  if (broadcast.getAxes().size() != 1 || isFree(result)) {
    return;
  }
  const auto axis = unsigned(broadcast.getAxes().front());
  const int64_t extent = cast<RankedTensorType>(result.getType()).getDimSize(axis);
  if (Answer<RegisterLayout> wanted = layouts.of(broadcast.getInput()).spreadDim(axis, extent)) {
    found.push_back({{result, *wanted}});
  }
}

/// The layouts that could end at a meeting instead: that which arrives where it is needed goes on to the
/// producer, or the producer's goes on to what takes it.
Meeting Pricing::pinsOf(OpOperand &operand, const RegisterLayout &wanted) const {
  Value value = operand.get();
  Meeting pins = {{value, wanted}};
  Operation *user = operand.getOwner();
  forEachFlow(user, [&](OpOperand &other, Value place) {
    if (&other == &operand) {
      pins.push_back({place, layouts.of(value)});
    }
  });
  if (sharesLayout(user)) {
    for (Value result : user->getResults()) {
      if (isFragment(result)) {
        pins.push_back({result, layouts.of(value)});
      }
    }
  }
  return pins;
}

/// Accesses of global memory: narrow ones are more instructions.
void Pricing::addAccess(Operation *op, Value fragment, std::optional<uint32_t> bytes) {
  auto type = cast<RankedTensorType>(fragment.getType());
  if (isFree(fragment) || type.getRank() == 0) {
    return;
  }
  const RegisterLayout &layout = layouts.of(fragment);
  const int64_t most =
      std::max<int64_t>(1, bytes.value_or(16) * 8 / tile::getStorageBits(type.getElementType()));
  const int64_t width = std::min(most, layout.contiguousElements(type.getRank() - 1));
  cycles += layout.registersPerThread() / width * kernel.getNumWarps() * timesOf(op);
}

void Pricing::run() {
  kernel.walk([&](Operation *op) {
    (void)layouts.forEachDemand(op, [&](OpOperand &operand, const RegisterLayout &wanted) {
      addConversion(operand, wanted);
    });
    if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && reduce.getAxis()) {
      addReduction(op, reduce.getInputMutable(), *reduce.getAxis());
    } else if (auto with = dyn_cast<tile::ReduceWithOp>(op); with && with.getAxis()) {
      addReduction(op, op->getOpOperands().take_front(with.getInputs().size()), *with.getAxis());
    } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
      addScan(op, scan.getInput(), scan.getAxis());
    } else if (auto scanWith = dyn_cast<tile::ScanWithOp>(op)) {
      addScan(op, scanWith.getInputs().front(), scanWith.getAxis());
    } else if (auto load = dyn_cast<tgpu::LoadOp>(op)) {
      addAccess(op, load.getResult(), load.getBytes());
    } else if (auto store = dyn_cast<tgpu::StoreOp>(op)) {
      addAccess(op, store.getValue(), store.getBytes());
    }
  });
}

LogicalResult tilec::chooseLayouts(tgpu::KernelOp kernel, LayoutAssignment &layouts) {
  SmallVector<LayoutPin, 0> chosen;
  if (failed(layouts.run({}, /*isTrial=*/false))) {
    return failure();
  }
  layouts.setQuiet(true); // what cannot be demanded is an error when the layouts are carried out
  for (int round = 0; round < kMostPins; ++round) {
    Pricing now(kernel, layouts);
    now.run();
    if (now.meetings().empty()) {
      layouts.setQuiet(false);
      return success();
    }
    SmallVector<LayoutPin, 0> candidates;
    for (const Meeting &meeting : now.meetings().take_front(kMostMeetings)) {
      llvm::append_range(candidates, meeting);
    }
    std::optional<LayoutPin> best;
    int64_t least = now.total();
    for (const LayoutPin &candidate : candidates) {
      SmallVector<LayoutPin, 0> pins = chosen;
      pins.push_back(candidate);
      if (failed(layouts.run(pins, /*isTrial=*/true)) ||
          layouts.of(candidate.first) != candidate.second) {
        continue; // an anchor, which stays what it is
      }
      Pricing then(kernel, layouts);
      then.run();
      if (then.total() < least) {
        least = then.total();
        best = candidate;
      }
    }
    if (!best) {
      break;
    }
    chosen.push_back(*best);
    emitRemark(best->first.getLoc())
        << "this fragment has the layout with which conversions, reductions and accesses cost "
           "least: an "
           "estimated "
        << least << " cycles of a block, " << now.total() << " with that of the first demand";
    if (failed(layouts.run(chosen, /*isTrial=*/true))) {
      return failure();
    }
  }
  return layouts.run(chosen, /*isTrial=*/false);
}
