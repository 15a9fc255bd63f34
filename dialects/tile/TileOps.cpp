//===- TileOps.cpp - verifiers and custom assembly of the tile dialect ---===//
#include "dialects/tile/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec::tile;

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.cpp.inc"

/// Shape of a global view, buffer or tile value.
static ArrayRef<int64_t> shapeOf(Type type) {
  return llvm::TypeSwitch<Type, ArrayRef<int64_t>>(type)
      .Case<GlobalType, BufferType, ShapedType>([](auto shaped) { return shaped.getShape(); })
      .Default([](Type) { return ArrayRef<int64_t>(); });
}

static Type elementOf(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<GlobalType, BufferType, ShapedType>([](auto shaped) { return shaped.getElementType(); })
      .Default([](Type scalar) { return scalar; });
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> args, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(args, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  if (!getResultTypes().empty()) {
    return emitOpError("returns nothing");
  }
  for (Type type : getArgumentTypes()) {
    if (!isa<GlobalType>(type) && !type.isIntOrFloat()) {
      return emitOpError("takes views of global memory and scalars, not ") << type;
    }
  }
  return success();
}

StringRef KernelOp::getArgumentName(unsigned index) {
  StringAttr name = getArgAttrOfType<StringAttr>(index, "tile.name");
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
  return success();
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Value SliceOp::getDynamicSize(unsigned axis) {
  if (!ShapedType::isDynamic(getStaticSizes()[axis])) {
    return {};
  }
  unsigned position = llvm::count_if(getStaticSizes().take_front(axis), ShapedType::isDynamic);
  return getSizes()[position];
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
  SmallVector<int64_t> expected;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
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
  return success();
}

/// Checks that `value` is what the whole of `buffer` reads as.
static LogicalResult verifyWholeValue(Operation *op, BufferType buffer, Type value) {
  if (buffer.getRank() == 0) {
    return value == buffer.getElementType()
               ? success()
               : op->emitOpError("value is a scalar of the element type");
  }
  auto tensor = dyn_cast<RankedTensorType>(value);
  if (!tensor || tensor.getElementType() != buffer.getElementType()) {
    return op->emitOpError("value is a tile of the element type");
  }
  ArrayRef<int64_t> shape = tensor.getShape();
  if (buffer.getScope() == Scope::Local && shape.size() == buffer.getShape().size() + 1) {
    shape = shape.drop_front();
  }
  return shape == buffer.getShape() ? success()
                                    : op->emitOpError("value and buffer differ in shape");
}

LogicalResult ReadOp::verify() {
  BufferType buffer = getSource().getType();
  auto tensor = dyn_cast<RankedTensorType>(getResult().getType());
  if (buffer.getScope() == Scope::Local && buffer.getRank() == 0 && tensor &&
      tensor.getRank() == 1) {
    return success(tensor.getElementType() == buffer.getElementType());
  }
  return verifyWholeValue(*this, buffer, getResult().getType());
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
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getSource().getType(), getIndices().size(), getResult().getType());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getDest().getType(), getIndices().size(), getValue().getType());
}

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
