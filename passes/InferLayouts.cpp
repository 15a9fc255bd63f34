//===- InferLayouts.cpp - a layout for each fragment ---------------------===//
//
// 1. Anchors: the accumulators of matrix products; then the index tiles of copies between global and
// shared memory, of which each thread needs what it moves. 2. Spread: element-wise operations, loops
// and branches tie values of one shape together; reductions, transposes and bytes of packed elements
// derive a layout. The first to arrive wins. Operands of products that nothing has reached, say those
// decoded from shared memory, are anchors behind them, and so are tiles moved on both sides of a
// transpose. 3. What is left is chosen, loads first, of these the largest, for the widest coalesced
// access, and spread again. 4. Types are rewritten; where an operand's layout is not the one its
// user needs, a conversion is inserted. A splat costs nothing in any layout, nor do coordinates, so
// they tie nothing and are repeated where needed.
//
//===----------------------------------------------------------------------===//
#include "dialects/layout/Conversion.h"
#include "dialects/support/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/GatheringAccess.h"
#include "passes/LayoutTies.h"
#include "passes/Passes.h"
#include "passes/ProductLayouts.h"
#include "passes/TransposedAccess.h"

#include "llvm/ADT/MapVector.h"

#include <deque>

namespace tilec {
#define GEN_PASS_DEF_INFERLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tilec

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

namespace {

class Inference {
public:
  Inference(tgpu::KernelOp kernel, int64_t warps)
      : kernel(kernel), warps(warps), builder(kernel.getContext()) {}

  LogicalResult run();

private:
  void replaceTensorConstants();
  void collectTies();
  LogicalResult addAnchors();
  LogicalResult addGatherAnchors();
  void addOperandAnchors();
  void addTransposeAnchors();
  void assign(Value value, const RegisterLayout &layout);
  void assignAll(ValueRange values, const RegisterLayout &layout);
  void spread();
  void spreadFrom(Value value);
  void spreadAcross(Operation *op, Value from);
  LogicalResult chooseFree();
  FailureOr<RegisterLayout> freeLayout(Value value);
  LogicalResult tooLarge(Value value, StringRef reason);
  void setTypes();
  FailureOr<std::optional<RegisterLayout>> commonLayout(Operation *op);
  LogicalResult convertOperands(Operation *op);
  LogicalResult convertInputs(tile::ReduceWithOp reduce);
  void convertIndices(Operation *op);
  /// Replaces `operand` by a value of layout `wanted`, computed before `place` (null: its user).
  void demand(OpOperand &operand, const RegisterLayout &wanted, Operation *place = nullptr);

  tgpu::KernelOp kernel;
  int64_t warps;
  OpBuilder builder;
  bool refused = false; // a conversion that `@require` forbids
  llvm::MapVector<Value, RegisterLayout> layouts;
  LayoutTies tied;             // looked up by value, never iterated
  DenseSet<Operation *> turns; // transposes between layouts that do not follow from each other
  std::deque<Value> work;
};

} // namespace

/// Tensor constants become splats of scalar ones, which take any layout.
void Inference::replaceTensorConstants() {
  kernel.walk([&](arith::ConstantOp constant) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || !isFragment(constant.getResult())) {
      return;
    }
    OpBuilder at(constant);
    Value scalar = arith::ConstantOp::create(at, constant.getLoc(),
                                             cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    Value tile = tile::SplatOp::create(at, constant.getLoc(), constant.getType(), scalar);
    constant.getResult().replaceAllUsesWith(tile);
    constant.erase();
  });
}

/// True for what each thread has in any layout without an operation on others: a splat, coordinates.
static bool isFree(Value value) {
  return isa_and_nonnull<tile::SplatOp, tgpu::CoordinateOp>(value.getDefiningOp());
}

void Inference::collectTies() {
  kernel.walk([&](Operation *op) {
    for (auto [from, to] : flowTies(op)) {
      if (!isFree(from)) {
        tied[from].push_back(to);
        tied[to].push_back(from);
      }
    }
  });
}

LogicalResult Inference::addAnchors() {
  WalkResult result = kernel.walk([&](DotOp dot) {
    if (!dot.getMma()) {
      dot.emitError("has no instruction: run tgpu-select-mma first");
      return WalkResult::interrupt();
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

LogicalResult Inference::addGatherAnchors() {
  WalkResult result = kernel.walk([&](tgpu::CopyOp copy) {
    std::optional<GatheringAccess> access = GatheringAccess::of(copy);
    if (!access) {
      return WalkResult::advance();
    }
    Answer<RegisterLayout> layout = layoutOfCopy(copy, warps);
    if (!layout) {
      copy.emitError("no layout for the indices of a copy: ") << layout.reason();
      return WalkResult::interrupt();
    }
    for (auto [index, dim] : access->indices()) {
      assign(index->get(), layout->along(dim));
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Inference::addOperandAnchors() {
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

void Inference::addTransposeAnchors() {
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

void Inference::assign(Value value, const RegisterLayout &layout) {
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

void Inference::spread() {
  while (!work.empty()) {
    Value value = work.front();
    work.pop_front();
    spreadFrom(value);
  }
}

void Inference::spreadFrom(Value value) {
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

void Inference::spreadAcross(Operation *op, Value from) {
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

void Inference::assignAll(ValueRange values, const RegisterLayout &layout) {
  for (Value value : values) {
    if (isFragment(value)) {
      assign(value, layout);
    }
  }
}

/// An error about a fragment that has no layout because it is too large for any.
LogicalResult Inference::tooLarge(Value value, StringRef reason) {
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
FailureOr<RegisterLayout> Inference::freeLayout(Value value) {
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

LogicalResult Inference::chooseFree() {
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

void Inference::setTypes() {
  for (auto &[value, layout] : layouts) {
    value.setType(tgpu::withLayout(cast<RankedTensorType>(value.getType()), layout));
  }
}

void Inference::demand(OpOperand &operand, const RegisterLayout &wanted, Operation *place) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  RankedTensorType target = tgpu::withLayout(type, wanted);
  if (type == target) {
    return;
  }
  Operation *user = operand.getOwner();
  builder.setInsertionPoint(place ? place : user);
  if (isFree(operand.get())) {
    Operation *again = builder.clone(*operand.get().getDefiningOp());
    again->getResult(0).setType(target);
    operand.set(again->getResult(0));
    return;
  }
  Answer<layout::Conversion> plan =
      tgpu::planConversion(type.getContext(), *tgpu::getLayout(type), wanted,
                           std::max(8u, tile::getStorageBits(type.getElementType())));
  if (plan && plan->kind != layout::Conversion::Kind::Registers &&
      failed(checkRequired(user, "no_exchange",
                           "a fragment's producer and this use need different layouts: the "
                           "conversion goes " +
                               plan->describe()))) {
    refused = true;
    return;
  }
  auto conversion =
      tgpu::ConvertLayoutOp::create(builder, user->getLoc(), target, operand.get(), IntegerAttr());
  operand.set(conversion);
  if (!plan || plan->kind != layout::Conversion::Kind::Registers) {
    conversion.emitRemark(
        "layout conversion of a fragment: its producer and this use need different layouts");
  }
}

/// The layout of all tiles of an element-wise operation: its result's, or if it has none, that of the
/// first operand that is not free. Nothing if it has no tiles.
FailureOr<std::optional<RegisterLayout>> Inference::commonLayout(Operation *op) {
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

LogicalResult Inference::convertOperands(Operation *op) {
  if (sharesLayout(op)) {
    FailureOr<std::optional<RegisterLayout>> wanted = commonLayout(op);
    if (failed(wanted)) {
      return failure();
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (*wanted && isFragment(operand.get())) {
        demand(operand, **wanted);
      }
    }
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    demand(dot.getAccMutable(), layouts.find(dot.getResult())->second);
    for (bool isA : {true, false}) {
      OpOperand &operand = isA ? dot.getAMutable() : dot.getBMutable();
      if (isFragment(operand.get())) {
        Answer<RegisterLayout> wanted = operandLayout(dot, isA);
        if (!wanted) {
          return dot.emitError("no layout for an operand in registers: ") << wanted.reason();
        }
        demand(operand, *wanted);
      }
    }
  } else if (isa<tgpu::UnpackOp, tgpu::PackOp>(op) && isFragment(op->getResult(0))) {
    const RegisterLayout &result = layouts.find(op->getResult(0))->second;
    Answer<RegisterLayout> wanted = isa<tgpu::PackOp>(op) ? result.unpaired() : result.pairs();
    if (!wanted) {
      return op->emitError("no layout for packed elements: ") << wanted.reason();
    }
    demand(op->getOpOperand(0), *wanted);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    demand(broadcast.getInputMutable(),
           layoutWithout(layouts.find(broadcast.getResult())->second, broadcast.getAxes()));
  } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    demand(transpose.getInputMutable(), layouts.find(transpose.getResult())->second.transposed());
  } else if (auto reduce = dyn_cast<tile::ReduceWithOp>(op)) {
    return convertInputs(reduce);
  } else {
    // A splat that meets a consumer without demands (a store, a reduction) still needs some layout.
    for (OpOperand &operand : op->getOpOperands()) {
      bool flows = isa<scf::YieldOp, scf::ForOp, scf::WhileOp, scf::ConditionOp>(op);
      if (isFragment(operand.get()) && isFree(operand.get()) && !flows) {
        FailureOr<RegisterLayout> layout = freeLayout(operand.get());
        if (failed(layout)) {
          return failure();
        }
        demand(operand, *layout);
      }
    }
  }
  return success();
}

/// Slices of its own for an operation that moves a tile, whose index tiles each thread has of what it
/// moves. What the loops around do not compute is converted in front of them.
void Inference::convertIndices(Operation *op) {
  std::optional<GatheringAccess> access = GatheringAccess::of(op);
  if (!access) {
    return;
  }
  SmallVector<tile::SliceOp> slices;
  for (auto slice = access->view->get().getDefiningOp<tile::SliceOp>(); slice;
       slice = slice.getSource().getDefiningOp<tile::SliceOp>()) {
    slices.push_back(slice);
  }
  builder.setInsertionPoint(op);
  IRMapping mapping;
  for (tile::SliceOp slice : llvm::reverse(slices)) {
    builder.clone(*slice, mapping);
  }
  access->view->set(mapping.lookup(access->view->get()));
  for (auto [index, dim] : access->indices()) {
    const RegisterLayout tile = access->fragment ? *tgpu::getLayout(access->fragment.getType())
                                                 : *layoutOfCopy(cast<tgpu::CopyOp>(op), warps);
    Operation *place = op;
    for (auto loop = op->getParentOfType<LoopLikeOpInterface>();
         loop && loop.isDefinedOutsideOfLoop(index->get());
         loop = loop->getParentOfType<LoopLikeOpInterface>()) {
      place = loop;
    }
    demand(*index, tile.along(dim), place == op ? nullptr : place);
  }
  for (tile::SliceOp slice : slices) {
    if (slice.use_empty()) {
      slice.erase();
    }
  }
}

/// Elements that are combined together are held by one thread.
LogicalResult Inference::convertInputs(tile::ReduceWithOp reduce) {
  auto known = llvm::find_if(reduce.getInputs(), [&](Value input) { return !isFree(input); });
  FailureOr<RegisterLayout> wanted = known == reduce.getInputs().end()
                                         ? freeLayout(reduce.getInputs().front())
                                         : FailureOr(*tgpu::getLayout((*known).getType()));
  if (failed(wanted)) {
    return failure();
  }
  for (OpOperand &input : reduce->getOpOperands()) {
    demand(input, *wanted);
  }
  return success();
}

LogicalResult Inference::run() {
  replaceTensorConstants();
  collectTies();
  if (failed(addAnchors())) {
    return failure();
  }
  spread();
  if (failed(addGatherAnchors())) {
    return failure();
  }
  spread();
  addOperandAnchors();
  addTransposeAnchors();
  if (failed(chooseFree())) {
    return failure();
  }
  setTypes();
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    forEachFlow(op, [&](OpOperand &operand, Value place) {
      if (const RegisterLayout *wanted = tgpu::getLayout(place.getType())) {
        demand(operand, *wanted);
      }
    });
    if (failed(convertOperands(op))) {
      return failure();
    }
    convertIndices(op);
    if (refused) {
      return failure();
    }
  }
  // Those without users in their unencoded form are dead now.
  kernel.walk([](Operation *op) {
    if (isa<tile::SplatOp, tgpu::CoordinateOp>(op) && op->use_empty()) {
      op->erase();
    }
  });
  return success();
}

namespace {
struct InferLayouts : tilec::impl::InferLayoutsBase<InferLayouts> {
  void runOnOperation() override {
    Inference inference(getOperation(), getOperation().getNumWarps());
    if (failed(inference.run())) {
      signalPassFailure();
    }
  }
};
} // namespace
