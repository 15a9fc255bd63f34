//===- TileTileOps.cpp - operations on tiles: verifiers and folds ---------===//
#include "dialects/tile/TileShapes.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilec::tile;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LogicalResult CopyOp::verify() {
  if (isa<GlobalType>(getSource().getType()) && isa<GlobalType>(getDest().getType())) {
    return emitOpError("has a tile on at least one side");
  }
  ArrayRef<int64_t> source = shapeOf(getSource().getType());
  ArrayRef<int64_t> dest = shapeOf(getDest().getType());
  if (source.size() != dest.size()) {
    return emitOpError("copies between ranks ") << source.size() << " and " << dest.size();
  }
  for (auto [from, to] : llvm::zip_equal(source, dest)) {
    if (from != to && !ShapedType::isDynamic(from) && !ShapedType::isDynamic(to)) {
      return emitOpError("copies between extents ") << from << " and " << to;
    }
  }
  return success();
}

LogicalResult GemmOp::verify() {
  ArrayRef<int64_t> a = shapeOf(getA().getType());
  ArrayRef<int64_t> b = shapeOf(getB().getType());
  ArrayRef<int64_t> acc = shapeOf(getAcc().getType());
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2) {
    return emitOpError("multiplies matrices");
  }
  if (getAcc().getType().getScope() != Scope::Fragment) {
    return emitOpError("accumulates into a fragment");
  }
  int64_t m = a[getTransposeA() ? 1 : 0], k = a[getTransposeA() ? 0 : 1];
  int64_t kb = b[getTransposeB() ? 1 : 0], n = b[getTransposeB() ? 0 : 1];
  if (k != kb || m != acc[0] || n != acc[1]) {
    return emitOpError("shapes do not agree: ")
           << m << 'x' << k << " times " << kb << 'x' << n << " into " << acc[0] << 'x' << acc[1];
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  ArrayRef<int64_t> shape = shapeOf(getInput().getType());
  std::optional<uint64_t> axis = getAxis();
  if (axis && *axis >= shape.size()) {
    return emitOpError("axis is out of range");
  }
  SmallVector<int64_t> expected;
  if (axis) {
    expected.assign(shape.begin(), shape.end());
    expected.erase(expected.begin() + *axis);
  }
  Type element = elementOf(getInput().getType());
  Type result = expected.empty() ? element : RankedTensorType::get(expected, element);
  // Layout encodings are checked by the dialect that adds them.
  if (shapeOf(getResult().getType()) != shapeOf(result) ||
      elementOf(getResult().getType()) != element) {
    return emitOpError("result type does not follow from the input");
  }
  return success();
}

LogicalResult SplatOp::verify() {
  return elementOf(getResult().getType()) == getInput().getType()
             ? success()
             : emitOpError("result has elements of the type of its operand");
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput().getType()), axes = getAxes();
  SmallVector<int64_t> kept;
  for (auto [axis, extent] : llvm::enumerate(shapeOf(getResult().getType()))) {
    if (!axes.empty() && axes.front() == int64_t(axis)) {
      axes = axes.drop_front();
    } else {
      kept.push_back(extent);
    }
  }
  bool fits = axes.empty() && !getAxes().empty() && from == ArrayRef(kept) &&
              elementOf(getInput().getType()) == elementOf(getResult().getType());
  return fits ? success() : emitOpError("gives its input's elements along more dimensions");
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput().getType()), to = shapeOf(getResult().getType());
  bool fits = from.size() == 2 && to.size() == 2 && from[0] == to[1] && from[1] == to[0] &&
              elementOf(getInput().getType()) == elementOf(getResult().getType());
  return fits ? success() : emitOpError("gives [N, M] from [M, N]");
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  bool isSame =
      getInput().getType() == getResult().getType() && getSrcUnsigned() == getDstUnsigned();
  return isSame ? getInput() : OpFoldResult();
}

/// convert(splat(x)) is splat(convert(x)).
LogicalResult ConvertOp::canonicalize(ConvertOp op, PatternRewriter &rewriter) {
  auto splat = op.getInput().getDefiningOp<SplatOp>();
  if (!splat) {
    return rewriter.notifyMatchFailure(op, "input is not a splat");
  }
  Value scalar = ConvertOp::create(rewriter, op.getLoc(), elementOf(op.getType()), splat.getInput(),
                                   op.getSrcUnsigned(), op.getDstUnsigned());
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), scalar);
  return success();
}

//===----------------------------------------------------------------------===//
// Operations with a body
//===----------------------------------------------------------------------===//

/// Checks that all `inputs` are tiles of one shape.
static LogicalResult verifyOneShape(Operation *op, TypeRange inputs) {
  if (inputs.empty()) {
    return op->emitOpError("has at least one input");
  }
  for (Type type : inputs) {
    if (shapeOf(type) != shapeOf(inputs.front())) {
      return op->emitOpError("has inputs of one shape");
    }
  }
  return success();
}

/// Checks that the body takes `copies` times the elements of `inputs` and yields those of
/// `results`.
static LogicalResult verifyElementBody(Operation *op, Region &body, TypeRange inputs,
                                       unsigned copies, TypeRange results) {
  SmallVector<Type> expected, yielded;
  for (unsigned i = 0; i != copies; ++i) {
    llvm::append_range(expected, llvm::map_range(inputs, elementOf));
  }
  if (body.getArgumentTypes() != TypeRange(expected)) {
    return op->emitOpError("body takes the elements of the inputs")
           << (copies == 2 ? ", of the first part and then of the second" : "");
  }
  llvm::append_range(yielded, llvm::map_range(results, elementOf));
  if (body.front().getTerminator()->getOperandTypes() != TypeRange(yielded)) {
    return op->emitOpError("body yields one element for each result");
  }
  return success();
}

LogicalResult MapOp::verifyRegions() {
  for (Type type : getResultTypes()) {
    if (!getInputs().empty() && shapeOf(type) != shapeOf(getInputs().getTypes().front())) {
      return emitOpError("has results of the shape of its inputs");
    }
  }
  return failed(verifyOneShape(*this, getInputs().getTypes()))
             ? failure()
             : verifyElementBody(*this, getBody(), getInputs().getTypes(), 1, getResultTypes());
}

LogicalResult ReduceWithOp::verifyRegions() {
  if (failed(verifyOneShape(*this, getInputs().getTypes()))) {
    return failure();
  }
  SmallVector<int64_t> shape;
  if (std::optional<uint64_t> axis = getAxis()) {
    llvm::append_range(shape, shapeOf(getInputs().getTypes().front()));
    if (*axis >= shape.size()) {
      return emitOpError("axis is out of range");
    }
    shape.erase(shape.begin() + *axis);
  }
  for (Type type : getResultTypes()) {
    if (shapeOf(type) != ArrayRef(shape)) {
      return emitOpError("result type does not follow from the inputs");
    }
  }
  if (!llvm::equal(llvm::map_range(getInputs().getTypes(), elementOf),
                   llvm::map_range(getResultTypes(), elementOf))) {
    return emitOpError("has one result for each input, of its element type");
  }
  return verifyElementBody(*this, getCombine(), getInputs().getTypes(), 2, getResultTypes());
}

LogicalResult ScanOp::verify() {
  if (getAxis() >= shapeOf(getInput().getType()).size()) {
    return emitOpError("axis is out of range");
  }
  bool known = llvm::is_contained(
      {CombineKind::Sum, CombineKind::Prod, CombineKind::Max, CombineKind::Min}, getKind());
  return known ? success() : emitOpError("is of a sum, product, maximum or minimum");
}

LogicalResult ScanWithOp::verifyRegions() {
  if (failed(verifyOneShape(*this, getInputs().getTypes()))) {
    return failure();
  }
  if (getAxis() >= shapeOf(getInputs().getTypes().front()).size()) {
    return emitOpError("axis is out of range");
  }
  auto sameType = [](auto pair) {
    auto [input, result] = pair;
    return shapeOf(input) == shapeOf(result) && elementOf(input) == elementOf(result);
  };
  if (getInputs().size() != getNumResults() ||
      !llvm::all_of(llvm::zip_equal(getInputs().getTypes(), getResultTypes()), sameType)) {
    return emitOpError("has one result for each input, of its type");
  }
  return verifyElementBody(*this, getCombine(), getInputs().getTypes(), 2, getResultTypes());
}

LogicalResult ParallelOp::verifyRegions() {
  if (getExtents().empty()) {
    return emitOpError("has at least one extent");
  }
  return getBody().getArgumentTypes() == getExtents().getTypes()
             ? success()
             : emitOpError("body takes an index of the type of each extent");
}

LogicalResult ThreadsOp::verifyRegions() {
  int64_t product = 1;
  for (int32_t extent : getAxes()) {
    product *= extent;
  }
  bool isI32 =
      llvm::all_of(getBody().getArgumentTypes(), [](Type type) { return type.isInteger(32); });
  if (!isI32 || getBody().getNumArguments() != getAxes().size()) {
    return emitOpError("body takes an i32 for each axis");
  }
  auto launch = (*this)->getParentOfType<LaunchOp>();
  if (launch && product != (int64_t)launch.getThreads()) {
    return emitOpError("axes make ")
           << product << " threads, but the launch has " << launch.getThreads();
  }
  return success();
}
