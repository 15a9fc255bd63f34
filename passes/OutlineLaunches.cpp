//===- OutlineLaunches.cpp - make each launch's body a kernel of its own -===//
//
// 1. What only the host can compute (extents and strides of arguments, presence, multiprocessors)
//    moves in front of the launch.
// 2. The values that the body uses become operands; constants and host views are repeated inside.
// 3. A tensor becomes its base address, its extents (shared with the dimension names that a check
//    equates them with) and, if it is strided, its strides; `tgpu.view` puts them together again, of
//    packed elements as one of bytes.
// 4. What is known of integers on the host, ranges and divisors, is noted on the arguments.
// 5. Launches of a call that may overlap are told so, and which memory the earlier ones may write.
//
//===----------------------------------------------------------------------===//
#include "dialects/support/Diagnostics.h"
#include "dialects/tile/Remark.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/GridDivision.h"
#include "passes/IntegerAnalysis.h"
#include "passes/LaunchOrder.h"
#include "passes/Passes.h"
#include "passes/Reshape.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace tilec {
#define GEN_PASS_DEF_OUTLINELAUNCHES
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using tile::GlobalType;

namespace {

/// What the checks of a kernel say about its host values.
class HostFacts {
public:
  explicit HostFacts(tile::KernelOp kernel) {
    kernel.walk([&](tile::DimOp dim) {
      if (dim.getOffset() == 0) {
        extents.try_emplace({dim.getTensor(), dim.getAxis()}, dim.getResult());
      }
    });
    // The first of several equal strides stands for all.
    for (auto stride : kernel.getBody().front().getOps<tile::StrideOp>()) {
      strides.try_emplace({stride.getSource(), stride.getAxis()}, stride.getResult());
    }
    // What is checked on one path of the host's code only is no fact for the others.
    for (auto check : kernel.getBody().front().getOps<tile::CheckOp>()) {
      addCondition(check.getCondition(), check.getTensor());
    }
  }

  /// The value known to equal extent `axis` of `tensor`; null if there is none.
  Value extentOf(Value tensor, int64_t axis) const { return extents.lookup({tensor, axis}); }
  /// The value that checks on stride `axis` of `tensor` are about; null if there is none.
  Value strideOf(Value tensor, int64_t axis) const { return strides.lookup({tensor, axis}); }

private:
  /// `optional`: the condition holds only if this tensor is present; null if it always does.
  void addCondition(Value condition, Value optional) {
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      addCondition(both.getLhs(), optional);
      addCondition(both.getRhs(), optional);
      return;
    }
    auto equal = condition.getDefiningOp<arith::CmpIOp>();
    if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq) {
      return;
    }
    for (auto [left, right] :
         {std::pair(equal.getLhs(), equal.getRhs()), std::pair(equal.getRhs(), equal.getLhs())}) {
      auto extent = left.getDefiningOp<tile::ExtentOp>();
      if (extent && (!optional || extent.getSource() == optional)) {
        extents.try_emplace({extent.getSource(), extent.getAxis()}, right);
      }
    }
  }

  DenseMap<std::pair<Value, int64_t>, Value> extents, strides;
};

/// Outlines one launch.
class Outliner {
public:
  Outliner(tile::KernelOp host, tile::LaunchOp launch, const HostFacts &facts,
           const IntegerAnalysis &integers, std::string name)
      : host(host), launch(launch), facts(facts), integers(integers), name(std::move(name)),
        hostBuilder(launch), builder(launch.getContext()) {}

  /// The launch of what is then a kernel of its own.
  FailureOr<tgpu::LaunchOp> run();
  tgpu::KernelOp getKernel() const { return kernel; }
  bool mayOverlap() const { return overlaps; }

private:
  void hoistHostValues();
  tgpu::KernelOp createKernel();
  /// The kernel argument for host value `value`.
  Value argumentFor(Value value);
  /// The value inside the kernel that stands for host value `value`.
  FailureOr<Value> inside(Value value);
  Value viewOf(Value tensor);
  FailureOr<Value> reshaped(tile::ReshapeOp op);
  /// The view of another element type that `op` makes of a whole tensor; null for another one, which
  /// is left to the kernel.
  FailureOr<Value> reinterpreted(tile::BitcastViewOp op);
  Value scaledInside(Value value, int64_t times, int64_t by);
  /// True if `value` is known where the launch stands; false for null.
  bool isComputedBefore(Value value);
  Value extentInside(Value tensor, int64_t axis);
  /// The argument for half of a host value, or half of a constant: bytes of packed elements.
  Value halfInside(Value value);
  void copyLaunchAttributes();
  void addPointCounter();

  tile::KernelOp host;
  tile::LaunchOp launch;
  bool overlaps = false; // may begin before the launch before it has ended
  const HostFacts &facts;
  const IntegerAnalysis &integers; // of the host code as it was before any launch left it
  std::string name;
  OpBuilder hostBuilder;
  OpBuilder builder;
  tgpu::KernelOp kernel;
  IRMapping mapping;
  DenseMap<Value, Value> halves;                                // of host values; looked up only
  std::map<std::tuple<void *, int64_t, int64_t>, Value> scaled; // likewise
  DenseSet<Value> even; // host values that are even in every call
  llvm::SetVector<Value> operands;
};

} // namespace

/// Moves what is computed from host values alone, and only can be there, in front of the launch.
void Outliner::hoistHostValues() {
  launch.getBody().walk([&](Operation *op) {
    bool onHost = isa<tile::StrideOp, tile::PresentOp, tile::SmCountOp, tile::DimOp>(op);
    if (auto extent = dyn_cast<tile::ExtentOp>(op)) {
      onHost = isa<BlockArgument>(extent.getSource()) ||
               extent.getSource().getDefiningOp<tile::WorkspaceOp>();
    }
    bool movable = llvm::none_of(op->getOperands(), [&](Value operand) {
      return launch.getBody().isAncestor(operand.getParentRegion());
    });
    // What a tensor is reinterpreted as begins with its extents.
    onHost |= isa<tile::BitcastViewOp>(op) && isa<GlobalType>(op->getOperand(0).getType());
    if (onHost && movable) {
      op->moveBefore(launch);
    }
  });
}

Value Outliner::argumentFor(Value value) {
  if (Value known = mapping.lookupOrNull(value)) {
    return known;
  }
  operands.insert(value);
  NamedAttrList attributes;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && isa<GlobalType>(value.getType())) {
    IntegerAttr align = tile::kAlign.get(host, argument.getArgNumber());
    tgpu::kAlign.set(attributes, builder.getI64IntegerAttr(align ? align.getInt() : 16));
    for (StringRef copied :
         {tile::kName.name, tile::kDirection.name, tile::kMayAlias.name, tile::kDtype.name}) {
      if (Attribute attribute = host.getArgAttr(argument.getArgNumber(), copied)) {
        attributes.set(copied, attribute);
      }
    }
  } else if (auto workspace = value.getDefiningOp<tile::WorkspaceOp>()) {
    tgpu::kAlign.set(attributes, builder.getI64IntegerAttr(256));
    tile::kName.set(attributes, workspace.getNameAttr());
    tile::kDirection.set(attributes, builder.getStringAttr("inout"));
    tile::kDtype.set(attributes, workspace.getDtypeAttr());
    if (ShapedType::isDynamicShape(workspace.getResult().getType().getShape())) {
      tgpu::kMayBeEmpty.set(attributes, builder.getUnitAttr());
    }
  }
  unsigned index = kernel.getNumArguments();
  (void)kernel.insertArgument(index, value.getType(),
                              attributes.getDictionary(builder.getContext()), value.getLoc());
  Value argument = kernel.getArgument(index);
  if (!isa<GlobalType>(value.getType())) {
    mapping.map(value, argument);
  }
  return argument;
}

bool Outliner::isComputedBefore(Value value) {
  Operation *definition = value ? value.getDefiningOp() : nullptr;
  if (!definition) {
    return bool(value);
  }
  Operation *user = definition->getBlock()->findAncestorOpInBlock(*launch);
  return user && definition->isBeforeInBlock(user);
}

Value Outliner::extentInside(Value tensor, int64_t axis) {
  auto type = cast<GlobalType>(tensor.getType());
  int64_t extent = type.getShape()[axis];
  const bool isPacked = axis + 1 == type.getRank() && tile::isPacked(type.getElementType());
  if (!ShapedType::isDynamic(extent)) {
    return arith::ConstantIntOp::create(builder, tensor.getLoc(), isPacked ? extent / 2 : extent,
                                        32);
  }
  Value known = facts.extentOf(tensor, axis);
  if (!isComputedBefore(known)) {
    known = {};
  }
  if (auto workspace = tensor.getDefiningOp<tile::WorkspaceOp>()) {
    unsigned position = llvm::count_if(workspace.getResult().getType().getShape().take_front(axis),
                                       ShapedType::isDynamic);
    known = workspace.getExtents()[position];
    if (!integers.isNonNegative(known)) { // an extent below 0 counts as 0 (docs/pack.md)
      Value zero = arith::ConstantOp::create(hostBuilder, tensor.getLoc(),
                                             hostBuilder.getZeroAttr(known.getType()));
      known = arith::MaxSIOp::create(hostBuilder, tensor.getLoc(), known, zero);
    }
  }
  if (!known) {
    known =
        tile::ExtentOp::create(hostBuilder, tensor.getLoc(), builder.getI32Type(), tensor, axis);
  }
  if (isPacked) { // the runtime takes no other call
    even.insert(known);
    return halfInside(known);
  }
  APInt constant;
  if (matchPattern(known, m_ConstantInt(&constant))) {
    return arith::ConstantOp::create(builder, tensor.getLoc(),
                                     builder.getIntegerAttr(known.getType(), constant));
  }
  return argumentFor(known);
}

Value Outliner::halfInside(Value value) {
  Location loc = value.getLoc();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(value.getType(), constant.getSExtValue() / 2));
  }
  Value &half = halves[value];
  if (!half) {
    Value two =
        arith::ConstantOp::create(hostBuilder, loc, hostBuilder.getIntegerAttr(value.getType(), 2));
    half = arith::DivSIOp::create(hostBuilder, loc, value, two);
  }
  return argumentFor(half);
}

Value Outliner::viewOf(Value tensor) {
  auto type = cast<GlobalType>(tensor.getType());
  Location loc = tensor.getLoc();
  Value base = argumentFor(tensor);
  SmallVector<Value> extents, strides(type.getRank() > 0 ? type.getRank() - 1 : 0);
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    extents.push_back(extentInside(tensor, axis));
  }
  auto argument = dyn_cast<BlockArgument>(tensor);
  bool strided = argument && tile::kStrided.has(host, argument.getArgNumber());
  if (!argument) {
    strides = rowMajorStrides(builder, loc, extents);
  }
  for (int64_t axis = type.getRank() - 2; argument && axis >= 0; --axis) {
    // A stride that is not the last extent comes from the host, so that it is a plain argument.
    if (!strided && axis == type.getRank() - 2) {
      strides[axis] = extents[axis + 1];
      continue;
    }
    Value stride = facts.strideOf(tensor, axis);
    if (!isComputedBefore(stride)) {
      stride = tile::StrideOp::create(hostBuilder, loc, builder.getI64Type(), tensor, axis);
    }
    strides[axis] =
        tile::isPacked(type.getElementType()) ? halfInside(stride) : argumentFor(stride);
  }
  if (!tile::isPacked(type.getElementType())) {
    return tgpu::ViewOp::create(builder, loc, type, base, extents, strides);
  }
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape.back())) {
    shape.back() /= 2;
  }
  auto bytes = GlobalType::get(builder.getContext(), shape, builder.getI8Type());
  Value view = tgpu::ViewOp::create(builder, loc, bytes, base, extents, strides);
  return tile::BitcastViewOp::create(builder, loc, type, view);
}

/// What the host reshapes is another view of the same argument. Extents and strides come from the
/// host, so that they are plain arguments.
FailureOr<Value> Outliner::reshaped(tile::ReshapeOp op) {
  FailureOr<Value> source = inside(op.getSource());
  if (failed(source)) {
    return failure();
  }
  const bool isPacked = tile::isPacked(cast<GlobalType>(op.getResult().getType()).getElementType());
  auto view = source->getDefiningOp<tgpu::ViewOp>();
  if (!view) {
    return emitError(op.getLoc(),
                     diag::formatDiagnostic(diag::Id::NotSupported,
                                            isPacked ? "`reshape` of packed elements"
                                                     : "`reshape` of a part of a tensor"));
  }
  OpBuilder::InsertionGuard guard(hostBuilder);
  hostBuilder.setInsertionPointAfter(op);
  SmallVector<Value> extents = extentsOf(op, op.getExtents(), hostBuilder);
  SmallVector<Value> strides = rowMajorStrides(hostBuilder, op.getLoc(), extents);
  for (SmallVector<Value> *values : {&extents, &strides}) {
    for (Value &value : *values) {
      APInt constant;
      value = matchPattern(value, m_ConstantInt(&constant))
                  ? arith::ConstantOp::create(builder, op.getLoc(),
                                              builder.getIntegerAttr(value.getType(), constant))
                  : argumentFor(value);
    }
  }
  return tgpu::ViewOp::create(builder, op.getLoc(), op.getResult().getType(), view.getBase(),
                              extents, strides, /*reshaped=*/true)
      .getResult();
}

/// A kernel's argument or constant times a number, or divided by one: the host computes it.
Value Outliner::scaledInside(Value value, int64_t times, int64_t by) {
  Location loc = value.getLoc();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    const int64_t number = constant.getSExtValue() * times / by;
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(builder.getI64Type(), number));
  }
  Value host = operands[cast<BlockArgument>(value).getArgNumber()];
  Value &result = scaled[{host.getAsOpaquePointer(), times, by}];
  if (!result) {
    Type wide = hostBuilder.getI64Type();
    Value number =
        arith::ConstantOp::create(hostBuilder, loc, hostBuilder.getIntegerAttr(wide, times * by));
    Value from = host.getType() == wide
                     ? host
                     : arith::ExtSIOp::create(hostBuilder, loc, wide, host).getResult();
    result = by == 1 ? arith::MulIOp::create(hostBuilder, loc, from, number).getResult()
                     : arith::DivSIOp::create(hostBuilder, loc, from, number).getResult();
  }
  return argumentFor(result);
}

FailureOr<Value> Outliner::reinterpreted(tile::BitcastViewOp op) {
  FailureOr<Value> source = inside(op.getSource());
  if (failed(source)) {
    return failure();
  }
  auto view = source->getDefiningOp<tgpu::ViewOp>();
  auto type = cast<GlobalType>(op.getResult().getType());
  if (!view || tile::isPacked(type.getElementType()) ||
      tile::isPacked(cast<GlobalType>(source->getType()).getElementType())) {
    return Value();
  }
  // Rows of a strided tensor may begin in the middle of a larger element.
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  const bool isLarger = tile::getStorageBits(type.getElementType()) >
                        tile::getStorageBits(cast<GlobalType>(source->getType()).getElementType());
  if (isLarger && argument && tile::kStrided.has(host, argument.getArgNumber())) {
    return emitError(op.getLoc(),
                     diag::formatDiagnostic(diag::Id::NotSupported,
                                            "`bitcast` of a `strided` tensor to larger elements"));
  }
  auto isArgument = [](Value value) {
    return isa<BlockArgument>(value) || matchPattern(value, m_Constant());
  };
  if (!llvm::all_of(view.getExtents(), isArgument) ||
      !llvm::all_of(view.getStrides(), isArgument)) {
    return Value();
  }
  return bitcastView(view, type, builder, [&](Value value, int64_t times, int64_t by) {
    return scaledInside(value, times, by);
  });
}

FailureOr<Value> Outliner::inside(Value value) {
  if (Value known = mapping.lookupOrNull(value)) {
    return known;
  }
  Operation *definition = value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<tile::ReshapeOp>(definition)) {
    FailureOr<Value> view = reshaped(reshape);
    if (succeeded(view)) {
      mapping.map(value, *view);
    }
    return view;
  }
  if (auto bitcast = dyn_cast_or_null<tile::BitcastViewOp>(definition)) {
    FailureOr<Value> view = reinterpreted(bitcast);
    if (failed(view)) {
      return failure();
    }
    if (*view) {
      mapping.map(value, *view);
      return view;
    }
  }
  bool view = isa_and_nonnull<tile::SliceOp, tile::BitcastViewOp>(definition);
  if (view || (definition && definition->hasTrait<OpTrait::ConstantLike>())) {
    for (Value operand : definition->getOperands()) {
      if (failed(inside(operand))) {
        return failure();
      }
    }
    builder.clone(*definition, mapping);
    return mapping.lookup(value);
  }
  if (isa<GlobalType>(value.getType())) {
    mapping.map(value, viewOf(value));
    return mapping.lookup(value);
  }
  if (!value.getType().isIntOrFloat()) {
    return emitError(
        launch.getLoc(),
        diag::formatDiagnostic(diag::Id::NotSupported, "this kind of host value in a launch"));
  }
  return argumentFor(value);
}

void Outliner::copyLaunchAttributes() {
  kernel.setClusterAttr(launch.getClusterAttr()); // wanted; MakeVariants.cpp
  overlaps = launch.getOverlap();
  kernel.setMinBlocksAttr(launch.getMinBlocksAttr());
  kernel.setMaxRegistersAttr(launch.getMaxRegistersAttr());
  kernel.setRequireAttr(launch.getRequireAttr());
  kernel.setFastMath(host.getFastMath());
  kernel.setWarpSpecializeAttr(launch.getWarpSpecializeAttr());
  if (launch.getPersistent()) {
    kernel.setPersistentAttr(builder.getI32IntegerAttr(1));
  }
}

/// The counter that deals out grid points: a workspace of the call. No name of the language is like its own.
void Outliner::addPointCounter() {
  Type type = builder.getI32Type();
  Value counter = tile::WorkspaceOp::create(
      hostBuilder, launch.getLoc(), GlobalType::get(builder.getContext(), {1}, type),
      hostBuilder.getStringAttr(name + ".points"), ValueRange(), hostBuilder.getI32IntegerAttr(0),
      hostBuilder.getStringAttr("i32"));
  const unsigned index = cast<BlockArgument>(argumentFor(counter)).getArgNumber();
  tgpu::kPointCounter.set(kernel, index, builder.getUnitAttr());
}

tgpu::KernelOp Outliner::createKernel() {
  builder.setInsertionPointAfter(host);
  // Kernels stand in the order of their launches.
  while (builder.getInsertionPoint() != host->getBlock()->end() &&
         isa<tgpu::KernelOp>(*builder.getInsertionPoint())) {
    builder.setInsertionPointAfter(&*builder.getInsertionPoint());
  }
  auto created = tgpu::KernelOp::create(
      builder, launch.getLoc(), TypeRange(), ValueRange(),
      ArrayRef<NamedAttribute>{
          builder.getNamedAttr("sym_name", builder.getStringAttr(name)),
          builder.getNamedAttr("function_type", TypeAttr::get(builder.getFunctionType({}, {}))),
          builder.getNamedAttr("threads", launch.getThreadsAttr()),
          builder.getNamedAttr("launch", builder.getStringAttr(name))});
  created.getBody().emplaceBlock();
  return created;
}

/// Ranges and divisors of the arguments that a kernel is launched with. That extents are not
/// negative is known of any view's.
static void noteIntegers(tgpu::LaunchOp launch, tgpu::KernelOp kernel,
                         const IntegerAnalysis &integers) {
  Builder builder(kernel.getContext());
  for (auto [index, value] : llvm::enumerate(launch.getArgs())) {
    if (!value.getType().isInteger() || value.getType().isInteger(1)) {
      continue;
    }
    IntegerAttr known = tgpu::kDivisible.get(kernel, index);
    int64_t divisor = std::lcm(integers.divisor(value), known ? known.getInt() : 1);
    if (divisor > 1) {
      tgpu::kDivisible.set(kernel, index, builder.getI64IntegerAttr(divisor));
    }
    Value argument = kernel.getArgument(index);
    auto isExtent = [&](bool reshaped) {
      return llvm::any_of(argument.getUsers(), [&](Operation *user) {
        auto view = dyn_cast<tgpu::ViewOp>(user);
        return view && view.getReshaped() == reshaped &&
               llvm::is_contained(view.getExtents(), argument);
      });
    };
    const unsigned width = value.getType().getIntOrFloatBitWidth();
    const int64_t most = APInt::getSignedMaxValue(width).getSExtValue();
    const int64_t least = isExtent(/*reshaped=*/false) ? 0 : -most - 1;
    IntegerRange range = integers.range(value);
    if (isExtent(/*reshaped=*/true)) { // checked where the host reshapes
      range.low = std::max<int64_t>(range.low, 0);
    }
    if (range.low > least || range.high < most) {
      tgpu::kRange.set(kernel, index, builder.getDenseI64ArrayAttr({range.low, range.high}));
    }
  }
}

FailureOr<tgpu::LaunchOp> Outliner::run() {
  hoistHostValues();
  kernel = createKernel();
  copyLaunchAttributes();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Location loc = launch.getLoc();

  SmallVector<Value> extents;
  for (Value extent : launch.getGrid()) {
    FailureOr<Value> mapped = inside(extent);
    if (failed(mapped)) {
      return failure();
    }
    extents.push_back(
        mapped->getType().isInteger(32)
            ? *mapped
            : Value(arith::TruncIOp::create(builder, loc, builder.getI32Type(), *mapped)));
  }
  const bool isDealt = launch.getPersistent() == StringRef("dynamic");
  // Measured: elsewhere the divisions cost nothing, where points are dealt out they stand between a block's points.
  const SmallVector<Value> inverses =
      isDealt ? inversesOfDivisors(launch, hostBuilder) : SmallVector<Value>();
  llvm::SetVector<Value> used(inverses.begin(), inverses.end());
  if (launch.getRasterize()) {
    used.insert(launch.getRasterize());
  }
  getUsedValuesDefinedAbove(launch.getBody(), used);
  for (Value value : used) {
    if (failed(inside(value))) {
      return failure();
    }
  }

  if (isDealt) {
    addPointCounter();
  }

  Value linear = tgpu::BlockIdOp::create(builder, loc, builder.getI32Type());
  SmallVector<Type> indexTypes(extents.size(), builder.getI32Type());
  auto mapped = [&](Value value) { return mapping.lookup(value); };
  auto point = tgpu::GridPointOp::create(
      builder, loc, indexTypes, linear, extents, mapping.lookupOrNull(launch.getRasterize()),
      llvm::map_to_vector(inverses, mapped), DenseI32ArrayAttr());
  Block &body = launch.getBody().front();
  mapping.map(body.getArguments(), point.getIndices());
  for (Operation &op : body.without_terminator()) {
    builder.clone(op, mapping);
  }
  tgpu::ReturnOp::create(builder, loc);
  if (launch.getNoTma()) {
    kernel.walk([](tile::CopyOp copy) { copy.setNoTma(true); });
  }
  uint32_t prints = 0;
  kernel.walk([&](tile::PrintOp print) { print.setPlace(prints++); });

  for (auto [index, value] : llvm::enumerate(operands)) {
    if (even.contains(value)) {
      tgpu::kDivisible.set(kernel, index, builder.getI64IntegerAttr(2));
    }
  }
  hostBuilder.setInsertionPoint(launch);
  auto outlined = tgpu::LaunchOp::create(hostBuilder, loc, hostBuilder.getStringAttr(name),
                                         launch.getGrid(), operands.getArrayRef());
  launch.erase();
  return outlined;
}

namespace {
struct OutlineLaunches : tilec::impl::OutlineLaunchesBase<OutlineLaunches> {
  void runOnOperation() override {
    for (auto host : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      HostFacts facts(host);
      IntegerAnalysis integers(host);
      SmallVector<tile::LaunchOp> launches;
      host.walk([&](tile::LaunchOp launch) { launches.push_back(launch); });
      SmallVector<OutlinedLaunch> outlined;
      for (auto [index, launch] : llvm::enumerate(launches)) {
        const std::string name = nameOfLaunch(host, index);
        Outliner outliner(host, launch, facts, integers, name);
        FailureOr<tgpu::LaunchOp> result = outliner.run();
        if (failed(result)) {
          return signalPassFailure();
        }
        outlined.push_back({*result, outliner.getKernel(), outliner.mayOverlap()});
      }
      // Of values that the host computes since then the analysis above knows nothing; it may even
      // take one for an operation that stood at its address and left with an earlier launch.
      const IntegerAnalysis all(host);
      for (const OutlinedLaunch &one : outlined) {
        noteIntegers(one.launch, one.kernel, all);
      }
      noteOverlap(host, outlined);
    }
  }
};
} // namespace
