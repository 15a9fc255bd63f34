//===- LayoutAssignment.cpp - which fragment gets which layout -----------===//
//
// 1. Anchors: the accumulators of matrix products, and what was decided against the order of arrival
// (chooseLayouts); then the index tiles of copies between global and shared memory, of which each
// thread needs what it moves. 2. Spread: element-wise operations, loops and branches tie values of
// one shape together; reductions, transposes and bytes of packed elements derive a layout. The first
// to arrive wins. Operands of products that nothing has reached, say those decoded from shared
// memory, are anchors behind them, and so are tiles moved on both sides of a transpose. 3. What is
// left is chosen, loads first, of these the largest, for the widest coalesced access, and spread
// again. A splat costs nothing in any layout, nor do coordinates, so they tie nothing and are
// repeated where needed.
//
//===----------------------------------------------------------------------===//
#include "passes/LayoutAssignment.h"

#include "dialects/support/Diagnostics.h"
#include "passes/Analysis.h"
#include "passes/GatheringAccess.h"
#include "passes/LayoutTies.h"
#include "passes/ProductLayouts.h"

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::RegisterLayout;
using tgpu::DotOp;

/// What a layout says of a tile that lacks some of the dimensions (rising).
static RegisterLayout layoutWithout(RegisterLayout layout, ArrayRef<int64_t> axes) {
  for (int64_t axis : llvm::reverse(axes)) {
    layout = layout.sliceDim(axis);
  }
  return layout;
}

bool tilec::isFree(Value value) {
  return isa_and_nonnull<tile::SplatOp, tgpu::CoordinateOp>(value.getDefiningOp());
}

LayoutAssignment::LayoutAssignment(tgpu::KernelOp kernel, int64_t warps)
    : kernel(kernel), warps(warps) {
  kernel.walk([&](Operation *op) {
    for (auto [from, to] : flowTies(op)) {
      if (!isFree(from)) {
        tied[from].push_back(to);
        tied[to].push_back(from);
      }
    }
  });
}

LogicalResult LayoutAssignment::addAnchors() {
  WalkResult result = kernel.walk([&](DotOp dot) {
    if (!dot.getMma()) {
      return WalkResult(complain(dot, "has no instruction: run tgpu-select-mma first"));
    }
    Answer<RegisterLayout> layout = accumulatorLayout(dot, warps);
    if (!layout) {
      return WalkResult(tooLarge(dot.getResult(), layout.reason()));
    }
    assign(dot.getResult(), *layout);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult LayoutAssignment::addGatherAnchors() {
  WalkResult result = kernel.walk([&](tgpu::CopyOp copy) {
    std::optional<GatheringAccess> access = GatheringAccess::of(copy);
    if (!access) {
      return WalkResult::advance();
    }
    Answer<RegisterLayout> layout = layoutOfCopy(copy, warps);
    if (!layout) {
      return WalkResult(complain(copy, "no layout for the indices of a copy: " + layout.reason()));
    }
    for (auto [index, dim] : access->indices()) {
      assign(index->get(), layout->along(dim));
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void LayoutAssignment::addOperandAnchors() {
  kernel.walk([&](DotOp dot) {
    for (bool isA : {true, false}) {
      Value operand = isA ? dot.getA() : dot.getB();
      if (!isFragment(operand) || layouts.count(operand) || isLoaded(operand)) {
        continue;
      }
      if (Answer<RegisterLayout> layout = operandLayout(dot, isA)) {
        assign(operand, *layout);
        spread();
      }
    }
  });
}

void LayoutAssignment::addTransposeAnchors() {
  kernel.walk([&](tile::TransposeOp op) {
    if (!layouts.count(op.getInput()) && !layouts.count(op.getResult())) {
      const TransposedLayouts wanted = layoutsAcross(op, tied, warps);
      if (wanted.input && wanted.result) {
        turns.insert(op);
      }
      if (wanted.input) {
        assign(op.getInput(), *wanted.input);
      }
      if (wanted.result) {
        assign(op.getResult(), *wanted.result);
      }
      spread();
    }
  });
}

/// Both elements of a byte are in one thread: what is unpacked can have no other layout.
static bool admits(Value value, const RegisterLayout &layout) {
  return !value.getDefiningOp<tgpu::UnpackOp>() || layout.pairs();
}

void LayoutAssignment::assign(Value value, const RegisterLayout &layout) {
  if (isFree(value) || !admits(value, layout) || !layouts.insert({value, layout}).second) {
    return;
  }
  work.push_back(value);
  for (Value same : sameAs(value)) {
    if (isFragment(same)) {
      assign(same, layout);
    }
  }
}

void LayoutAssignment::spread() {
  while (!work.empty()) {
    Value value = work.front();
    work.pop_front();
    spreadFrom(value);
  }
}

void LayoutAssignment::spreadFrom(Value value) {
  const RegisterLayout layout = layouts.find(value)->second;
  auto it = tied.find(value);
  if (it != tied.end()) {
    for (Value other : it->second) {
      assign(other, layout);
    }
  }
  if (Operation *definition = value.getDefiningOp()) {
    spreadAcross(definition, value);
  }
  for (Operation *user : value.getUsers()) {
    spreadAcross(user, value);
  }
}

void LayoutAssignment::spreadAcross(Operation *op, Value from) {
  const RegisterLayout layout = layouts.find(from)->second;
  if (sharesLayout(op)) {
    assignAll(op->getOperands(), layout);
    assignAll(op->getResults(), layout);
  } else if (auto access = GatheringAccess::of(op)) {
    for (auto [index, dim] : access->indices()) {
      assign(index->get(), layout.along(dim));
    }
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    if (from == dot.getResult()) {
      assign(dot.getAcc(), layout);
    }
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op); transpose && !turns.contains(op)) {
    assign(from == transpose.getInput() ? transpose.getResult() : transpose.getInput(),
           layout.transposed());
  } else if (isa<tgpu::UnpackOp, tgpu::PackOp>(op)) {
    const bool isUnpacked = (op->getOperand(0) == from) == isa<tgpu::PackOp>(op);
    if (Answer<RegisterLayout> other = isUnpacked ? layout.pairs() : layout.unpaired()) {
      assign(from == op->getOperand(0) ? op->getResult(0) : op->getOperand(0), *other);
    }
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    if (from == broadcast.getResult()) {
      assign(broadcast.getInput(), layoutWithout(layout, broadcast.getAxes()));
    }
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    if (from == reduce.getInput() && reduce.getAxis() && isFragment(reduce.getResult())) {
      assign(reduce.getResult(), layout.sliceDim(*reduce.getAxis()));
    }
  } else if (auto reduce = dyn_cast<tile::ReduceWithOp>(op)) {
    if (llvm::is_contained(reduce.getInputs(), from)) {
      assignAll(reduce.getInputs(), layout);
      if (reduce.getAxis()) {
        assignAll(reduce.getResults(), layout.sliceDim(*reduce.getAxis()));
      }
    }
  }
}

void LayoutAssignment::assignAll(ValueRange values, const RegisterLayout &layout) {
  for (Value value : values) {
    if (isFragment(value)) {
      assign(value, layout);
    }
  }
}

/// An error about a fragment that has no layout because it is too large for any.
LogicalResult LayoutAssignment::tooLarge(Value value, StringRef reason) const {
  if (quiet) {
    return failure();
  }
  auto type = cast<RankedTensorType>(value.getType());
  const Target *target = getTarget(kernel);
  if (!target) {
    return failure();
  }
  const int64_t bits = type.getNumElements() * tile::getStorageBits(type.getElementType());
  InFlightDiagnostic error =
      emitError(value.getLoc(), diag::formatDiagnostic(diag::Id::FragmentTooLarge,
                                                       llvm::divideCeil(bits, 32 * 32 * warps),
                                                       target->registersPerThread));
  error.attachNote(value.getLoc()) << reason;
  return error;
}

/// For a value that nothing constrains: the widest accesses its source or destination admits.
FailureOr<RegisterLayout> LayoutAssignment::freeLayout(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned bits = tile::getStorageBits(type.getElementType());
  int64_t bytes = 16;
  if (auto load = value.getDefiningOp<tgpu::LoadOp>()) {
    bytes = load.getBytes().value_or(bytes);
  } else if (value.getDefiningOp<tgpu::GatherOp>()) {
    bytes = 1; // element by element: neighbours in neighbouring lanes
  }
  for (Operation *user : value.getUsers()) {
    if (auto store = dyn_cast<tgpu::StoreOp>(user)) {
      bytes = std::min<int64_t>(bytes, store.getBytes().value_or(bytes));
    } else if (auto atomic = dyn_cast<tgpu::AtomicTileOp>(user)) {
      bytes = std::min<int64_t>(bytes, atomic.getBytes().value_or(bytes));
    } else if (isa<tgpu::GatherOp, tgpu::ScatterOp, tgpu::AtomicOp>(user)) {
      bytes = 1;
    }
  }
  const int64_t least = value.getDefiningOp<tgpu::UnpackOp>() ? 2 : 1;
  int64_t vec = std::max<int64_t>(least, bytes * 8 / bits);
  // Small tiles: rather use all threads than wide accesses.
  while (vec > least && type.getNumElements() < vec * warps * 32) {
    vec /= 2;
  }
  Answer<RegisterLayout> layout = RegisterLayout::blocked(type.getShape(), vec, warps);
  if (!layout) {
    layout = RegisterLayout::replicated(type.getShape(), warps); // of many dimensions
  }
  if (!layout) {
    return tooLarge(value, layout.reason());
  }
  return *layout;
}

static bool isLarger(Value a, Value b) {
  return cast<RankedTensorType>(a.getType()).getNumElements() >
         cast<RankedTensorType>(b.getType()).getNumElements();
}

LogicalResult LayoutAssignment::chooseFree() {
  SmallVector<Value> loads, others;
  kernel.walk([&](Operation *op) {
    auto collect = [&](ValueRange values) {
      for (Value value : values) {
        if (!isFragment(value) || isFree(value) || layouts.count(value)) {
          continue;
        }
        if (isa<tgpu::LoadOp>(op)) {
          // The largest first: what is repeated beside it is rather loaded as it lies there.
          loads.insert(llvm::upper_bound(loads, value, isLarger), value);
        } else {
          others.push_back(value);
        }
      }
    };
    collect(op->getResults());
    for (Region &region : op->getRegions()) {
      for (Block &block : region) {
        collect(block.getArguments());
      }
    }
  });
  for (ArrayRef<Value> group : {ArrayRef<Value>(loads), ArrayRef<Value>(others)}) {
    for (Value value : group) {
      if (!layouts.count(value)) {
        FailureOr<RegisterLayout> layout = freeLayout(value);
        if (failed(layout)) {
          return failure();
        }
        assign(value, *layout);
        spread();
      }
    }
  }
  return success();
}

/// The layout of all tiles of an element-wise operation: its result's, or if it has none, that of the
/// first operand that is not free. Nothing if it has no tiles.
FailureOr<std::optional<RegisterLayout>> LayoutAssignment::commonLayout(Operation *op) const {
  Value free;
  for (ValueRange values : {ValueRange(op->getResults()), ValueRange(op->getOperands())}) {
    for (Value value : values) {
      if (isFragment(value) && !isFree(value)) {
        return std::optional<RegisterLayout>(layouts.find(value)->second);
      }
      free = isFragment(value) ? value : free;
    }
  }
  if (!free) {
    return std::optional<RegisterLayout>();
  }
  FailureOr<RegisterLayout> layout = freeLayout(free);
  if (failed(layout)) {
    return failure();
  }
  return std::optional<RegisterLayout>(std::in_place, *layout);
}

LogicalResult LayoutAssignment::forEachDemand(Operation *op, See see) {
  forEachFlow(op, [&](OpOperand &operand, Value place) {
    if (auto it = layouts.find(place); it != layouts.end()) {
      see(operand, it->second);
    }
  });
  if (sharesLayout(op)) {
    FailureOr<std::optional<RegisterLayout>> wanted = commonLayout(op);
    if (failed(wanted)) {
      return failure();
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (*wanted && isFragment(operand.get())) {
        see(operand, **wanted);
      }
    }
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    see(dot.getAccMutable(), layouts.find(dot.getResult())->second);
    for (bool isA : {true, false}) {
      OpOperand &operand = isA ? dot.getAMutable() : dot.getBMutable();
      if (isFragment(operand.get())) {
        Answer<RegisterLayout> wanted = operandLayout(dot, isA);
        if (!wanted) {
          return complain(dot, "no layout for an operand in registers: " + wanted.reason());
        }
        see(operand, *wanted);
      }
    }
  } else if (isa<tgpu::UnpackOp, tgpu::PackOp>(op) && isFragment(op->getResult(0))) {
    const RegisterLayout &result = layouts.find(op->getResult(0))->second;
    Answer<RegisterLayout> wanted = isa<tgpu::PackOp>(op) ? result.unpaired() : result.pairs();
    if (!wanted) {
      return complain(op, "no layout for packed elements: " + wanted.reason());
    }
    see(op->getOpOperand(0), *wanted);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    see(broadcast.getInputMutable(),
        layoutWithout(layouts.find(broadcast.getResult())->second, broadcast.getAxes()));
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    see(transpose.getInputMutable(), layouts.find(transpose.getResult())->second.transposed());
  } else if (auto reduce = dyn_cast<tile::ReduceWithOp>(op)) {
    return seeInputs(reduce, see);
  } else {
    // A splat that meets a consumer without demands (a store, a reduction) still needs some layout.
    for (OpOperand &operand : op->getOpOperands()) {
      bool flows = isa<scf::YieldOp, scf::ForOp, scf::WhileOp, scf::ConditionOp>(op);
      if (isFragment(operand.get()) && isFree(operand.get()) && !flows) {
        FailureOr<RegisterLayout> layout = freeLayout(operand.get());
        if (failed(layout)) {
          return failure();
        }
        see(operand, *layout);
      }
    }
  }
  return success();
}

/// Elements that are combined together are held by one thread.
LogicalResult LayoutAssignment::seeInputs(tile::ReduceWithOp reduce, See see) {
  auto known = llvm::find_if(reduce.getInputs(), [&](Value input) { return !isFree(input); });
  FailureOr<RegisterLayout> wanted = known == reduce.getInputs().end()
                                         ? freeLayout(reduce.getInputs().front())
                                         : FailureOr(of(*known));
  if (failed(wanted)) {
    return failure();
  }
  for (OpOperand &input : reduce->getOpOperands()) {
    see(input, *wanted);
  }
  return success();
}

LogicalResult LayoutAssignment::run(ArrayRef<LayoutPin> pins, bool isTrial) {
  quiet = isTrial;
  layouts.clear();
  turns.clear();
  if (failed(addAnchors())) {
    return failure();
  }
  for (const auto &[value, layout] : pins) {
    assign(value, layout);
  }
  spread();
  if (failed(addGatherAnchors())) {
    return failure();
  }
  spread();
  addOperandAnchors();
  demanded = layouts.size();
  addTransposeAnchors();
  return chooseFree();
}

const RegisterLayout &LayoutAssignment::of(Value value) const {
  return layouts.find(value)->second;
}

bool LayoutAssignment::isDemanded(Value value) const {
  return layouts.find(value) < layouts.begin() + demanded;
}

LogicalResult LayoutAssignment::complain(Operation *op, const Twine &text) const {
  return quiet ? failure() : LogicalResult(op->emitError(text));
}
