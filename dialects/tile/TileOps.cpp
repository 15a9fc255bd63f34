//===- TileOps.cpp - kernels, host code, storage: verifiers, assembly -----===//
#include "dialects/support/LaunchLimits.h"
#include "dialects/tile/ElementNames.h"
#include "dialects/tile/KernelSyntax.h"
#include "dialects/tile/TileShapes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tilec::tile;

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return tilec::tile::parseKernel<KernelOp>(parser, result);
}

void KernelOp::print(OpAsmPrinter &printer) { tilec::tile::printKernel(*this, printer); }

LogicalResult KernelOp::verify() {
  if (!getResultTypes().empty()) {
    return emitOpError("returns nothing");
  }
  for (Type type : getArgumentTypes()) {
    if (!isa<GlobalType>(type) && !type.isIntOrFloat()) {
      return emitOpError("takes views of global memory and scalars, not ") << type;
    }
  }
  llvm::StringSet<> names;
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (StringAttr name = kName.get(*this, index)) {
      if (name.empty()) {
        return emitOpError("has an empty name for argument ") << index;
      }
      if (!names.insert(name.getValue()).second) {
        return emitOpError("has two arguments named `") << name.getValue() << '`';
      }
    }
    auto global = dyn_cast<GlobalType>(type);
    Type element = global ? global.getElementType() : type;
    if (StringAttr dtype = kDtype.get(*this, index);
        dtype && dtype != elementName(element, false) && dtype != elementName(element, true)) {
      return emitOpError("has ") << element << " in argument " << index << ", which is no "
                                 << dtype;
    }
  }
  return success();
}

StringRef KernelOp::getArgumentName(unsigned index) {
  StringAttr name = kName.get(*this, index);
  return name ? name.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// Host code and launches
//===----------------------------------------------------------------------===//

LogicalResult WorkspaceOp::verify() {
  size_t dynamic = llvm::count_if(getResult().getType().getShape(), ShapedType::isDynamic);
  if (dynamic != getExtents().size()) {
    return emitOpError("has ") << getExtents().size() << " extents for " << dynamic
                               << " dynamic dimensions";
  }
  return success();
}

/// Checks that `axis` is a dimension of `view`.
static LogicalResult verifyAxis(Operation *op, GlobalType view, uint64_t axis) {
  return axis < (uint64_t)view.getRank()
             ? success()
             : op->emitOpError("axis ") << axis << " is out of range for rank " << view.getRank();
}

LogicalResult DimOp::verify() { return verifyAxis(*this, getTensor().getType(), getAxis()); }
LogicalResult ExtentOp::verify() { return verifyAxis(*this, getSource().getType(), getAxis()); }
LogicalResult StrideOp::verify() { return verifyAxis(*this, getSource().getType(), getAxis()); }

LogicalResult tilec::tile::verifyLaunchLimits(Operation *op,
                                              std::optional<ArrayRef<int32_t>> cluster,
                                              std::optional<uint32_t> minBlocks,
                                              std::optional<uint32_t> maxRegisters) {
  if (cluster) {
    if (cluster->empty() || cluster->size() > 3) {
      return op->emitOpError("has a cluster of 1 to 3 extents");
    }
    int64_t blocks = 1;
    for (int64_t extent : *cluster) {
      if (extent < 1 || extent > kMaxClusterBlocks || (blocks *= extent) > kMaxClusterBlocks) {
        return op->emitOpError("has a cluster of 1 to ") << kMaxClusterBlocks << " blocks";
      }
    }
  }
  if (minBlocks && (*minBlocks < 1 || *minBlocks > kMaxBlocksPerSM)) {
    return op->emitOpError("has room for 1 to ") << kMaxBlocksPerSM << " blocks at least";
  }
  if (maxRegisters && (*maxRegisters < kLeastRegisters || *maxRegisters > kMostRegisters)) {
    return op->emitOpError("has ")
           << kLeastRegisters << " to " << kMostRegisters << " registers in a thread at most";
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  if (getGrid().empty() || getGrid().size() > 5) {
    return emitOpError("has a grid of 1 to 5 extents");
  }
  if (getBody().getNumArguments() != getGrid().size() ||
      llvm::any_of(getBody().getArgumentTypes(), [](Type type) { return !type.isInteger(32); })) {
    return emitOpError("has one i32 body argument for each grid extent");
  }
  if (getThreads() == 0 || getThreads() > 1024 || getThreads() % 32 != 0) {
    return emitOpError("has a multiple of 32 threads, up to 1024");
  }
  APInt group;
  if (getRasterize() && matchPattern(getRasterize(), m_ConstantInt(&group)) &&
      !group.isStrictlyPositive()) {
    return emitOpError("takes tiles in groups of at least 1");
  }
  if (getPersistent() && !llvm::is_contained({"static", "dynamic"}, *getPersistent())) {
    return emitOpError("is persistent `static` or `dynamic`");
  }
  if (getWarpSpecialize() &&
      !llvm::is_contained({"auto", "off", "producer", "operations", "pingpong"},
                          *getWarpSpecialize())) {
    return emitOpError("specialises warps `auto`, `off`, `producer`, `operations` or `pingpong`");
  }
  return verifyLaunchLimits(*this, getCluster(), getMinBlocks(), getMaxRegisters());
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  BufferType type = getResult().getType();
  if (llvm::any_of(type.getShape(), [](int64_t extent) { return extent < 1; })) {
    return emitOpError("has extents of at least 1");
  }
  bool isScalar = type.getRank() == 0;
  if (isScalar && (type.getScope() == Scope::Shared || type.getScope() == Scope::Fragment)) {
    return emitOpError("in this scope has a rank of at least 1");
  }
  if (getLayout() && type.getScope() != Scope::Shared) {
    return emitOpError("has a layout only in shared memory");
  }
  return success();
}

LogicalResult ConstantArrayOp::verify() {
  return getValue().getType() == getResult().getType() ? success()
                                                       : emitOpError("has the type of its value");
}

Value SliceOp::getDynamicSize(unsigned axis) {
  if (!ShapedType::isDynamic(getStaticSizes()[axis])) {
    return {};
  }
  unsigned position = llvm::count_if(getStaticSizes().take_front(axis), ShapedType::isDynamic);
  return getSizes()[position];
}

/// Checks that a view of something lies in the same kind of memory.
static LogicalResult verifySameMemory(Operation *op, Type source, Type result) {
  auto from = dyn_cast<BufferType>(source), to = dyn_cast<BufferType>(result);
  bool sameKind = isa<GlobalType>(source) == isa<GlobalType>(result) && !from == !to;
  return sameKind && (!from || from.getScope() == to.getScope())
             ? success()
             : op->emitOpError("source and result lie in different memory");
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> source = shapeOf(getSource().getType());
  ArrayRef<int64_t> sizes = getStaticSizes();
  if (getOffsets().size() != source.size() || sizes.size() != source.size()) {
    return emitOpError("has one offset and one size for each dimension of its source");
  }
  if ((size_t)llvm::count_if(sizes, ShapedType::isDynamic) != getSizes().size()) {
    return emitOpError("has one size operand for each dynamic size");
  }
  bool isGlobal = isa<GlobalType>(getSource().getType());
  SmallVector<int64_t> expected;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (!isGlobal && ShapedType::isDynamic(size)) {
      return emitOpError("takes a dynamic size of global memory only");
    }
    if (!isGlobal && size > source[axis]) {
      return emitOpError("takes ") << size << " of " << source[axis] << " elements";
    }
    auto gather = dyn_cast<RankedTensorType>(getOffsets()[axis].getType());
    if (gather && !isa<GlobalType>(getSource().getType())) {
      return emitOpError("gathers from global memory only");
    }
    if (gather && size != gather.getDimSize(0)) {
      return emitOpError("gathers as many indices as its index tile has");
    }
    if (size != kDropped) {
      expected.push_back(size);
    }
  }
  if (expected != shapeOf(getResult().getType()) ||
      elementOf(getSource().getType()) != elementOf(getResult().getType())) {
    return emitOpError("result type does not follow from source and sizes");
  }
  return verifySameMemory(*this, getSource().getType(), getResult().getType());
}

/// The whole of something of static shape is that thing.
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool fromZero = llvm::all_of(adaptor.getOffsets(), [](Attribute offset) {
    auto number = dyn_cast_if_present<IntegerAttr>(offset);
    return number && number.getValue().isZero();
  });
  bool isWhole = getSource().getType() == getResult().getType() && getSizes().empty() && fromZero;
  return isWhole ? getSource() : OpFoldResult();
}

LogicalResult ReshapeOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getSource().getType()), to = shapeOf(getResult().getType());
  if ((size_t)llvm::count_if(to, ShapedType::isDynamic) != getExtents().size()) {
    return emitOpError("has one extent operand for each dynamic dimension");
  }
  bool isStatic = !ShapedType::isDynamicShape(from) && !ShapedType::isDynamicShape(to);
  if (isStatic && ShapedType::getNumElements(from) != ShapedType::getNumElements(to)) {
    return emitOpError("keeps the number of elements");
  }
  if (elementOf(getSource().getType()) != elementOf(getResult().getType())) {
    return emitOpError("keeps the element type");
  }
  return verifySameMemory(*this, getSource().getType(), getResult().getType());
}

LogicalResult BitcastViewOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getSource().getType()), to = shapeOf(getResult().getType());
  if (from.size() != to.size() || from.empty() || from.drop_back() != to.drop_back()) {
    return emitOpError("keeps all extents but the last");
  }
  bool isStatic = !ShapedType::isDynamic(from.back()) && !ShapedType::isDynamic(to.back());
  if (isStatic && from.back() * getStorageBits(elementOf(getSource().getType())) !=
                      to.back() * getStorageBits(elementOf(getResult().getType()))) {
    return emitOpError("keeps the number of bytes");
  }
  return verifySameMemory(*this, getSource().getType(), getResult().getType());
}

/// Checks that `value` is what the whole of `buffer` reads as. In block code that of a `local`
/// buffer has the threads as its first dimension.
static LogicalResult verifyWholeValue(Operation *op, BufferType buffer, Type value) {
  if (elementOf(value) != buffer.getElementType() || isa<VectorType>(value)) {
    return op->emitOpError("value is a scalar or tile of the element type");
  }
  ArrayRef<int64_t> shape = shapeOf(value);
  if (buffer.getScope() == Scope::Local && (int64_t)shape.size() == buffer.getRank() + 1) {
    shape = shape.drop_front();
  }
  return shape == buffer.getShape() ? success()
                                    : op->emitOpError("value and buffer differ in shape");
}

LogicalResult ReadOp::verify() {
  return verifyWholeValue(*this, getSource().getType(), getResult().getType());
}

LogicalResult WriteOp::verify() {
  return verifyWholeValue(*this, getDest().getType(), getValue().getType());
}

/// Checks an access to one element, or to a vector of neighbours, of `container`.
static LogicalResult verifyAccess(Operation *op, Type container, size_t numIndices, Type value) {
  if (numIndices != shapeOf(container).size()) {
    return op->emitOpError("has ")
           << numIndices << " indices for rank " << shapeOf(container).size();
  }
  Type element = isa<VectorType>(value) ? cast<VectorType>(value).getElementType() : value;
  if (element != elementOf(container)) {
    return op->emitOpError("value type is not the element type");
  }
  if (isa<VectorType>(value) && numIndices == 0) {
    return op->emitOpError("takes neighbours along a dimension");
  }
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getSource().getType(), getIndices().size(), getResult().getType());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getDest().getType(), getIndices().size(), getValue().getType());
}
