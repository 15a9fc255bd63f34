//===- TileDialect.cpp - dialect registration and types ------------------===//
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec::tile;

#include "dialects/tile/TileDialect.cpp.inc"
#include "dialects/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tile/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static bool isLoop(Operation *op) { return isa<scf::ForOp>(op); }
static bool isArray(Operation *op) { return isa<tilec::tile::ConstantArrayOp>(op); }
static bool isAnyOperation(Operation *) { return true; }
/// Kernels of both dialects; this one does not know the other.
static bool isKernel(Operation *op) {
  return isa<FunctionOpInterface>(op) && op->getName().stripDialect() == "kernel";
}
/// Of elements at indices, and atomic operations; the other dialect has some, too.
static bool isElementAccess(Operation *op) {
  using namespace tilec::tile;
  return isa<LoadOp, StoreOp, AtomicOp, AtomicCasOp, AtomicTileOp>(op) ||
         llvm::is_contained({"gather", "scatter", "atomic", "atomic_tile"},
                            op->getName().stripDialect());
}
static bool isDirection(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && llvm::is_contained({"in", "out", "inout"}, text.getValue());
}

static constexpr tilec::FactRule kOperationFacts[] = {
    {tilec::tile::kStages.name, "a number of stages, i32 >= 1",
     [](Attribute value) { return tilec::isI32AtLeast(value, 1); }, isLoop},
    {tilec::tile::kHold.name, "a share in percent, i32 >= 1",
     [](Attribute value) { return tilec::isI32AtLeast(value, 1); }, isLoop},
    {tilec::tile::kTurns.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isLoop},
    {tilec::tile::kUnroll.name, "a factor, i32 >= 0",
     [](Attribute value) { return tilec::isI32AtLeast(value, 0); }, isLoop},
    {tilec::tile::kRequire.name, "a list of strings", tilec::isStrings, isAnyOperation},
    {tilec::tile::kUnsigned.name, "numbers of results, an i32 array",
     tilec::isKindOf<DenseI32ArrayAttr>, isAnyOperation},
    {tilec::tile::kName.name, "a string", tilec::isKindOf<StringAttr>, isArray},
    {tilec::tile::kCache.name, "a cache hint", tilec::isKindOf<tilec::tile::CacheHintAttr>,
     isElementAccess},
};

static constexpr tilec::FactRule kArgumentFacts[] = {
    {tilec::tile::kName.name, "a string", tilec::isKindOf<StringAttr>, isKernel},
    {tilec::tile::kDtype.name, "a string", tilec::isKindOf<StringAttr>, isKernel},
    {tilec::tile::kDirection.name, "\"in\", \"out\" or \"inout\"", isDirection, isKernel},
    {tilec::tile::kOptional.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isKernel},
    {tilec::tile::kStrided.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isKernel},
    {tilec::tile::kAlign.name, "bytes, i64, a power of two", tilec::isI64PowerOfTwo, isKernel},
    {tilec::tile::kMayAlias.name, "a list of names", tilec::isStrings, isKernel},
};

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tilec::verifyFact(kOperationFacts, op, attribute);
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return tilec::verifyFact(kArgumentFacts, op, attribute);
}

tilec::tile::CacheHint tilec::tile::getCacheHint(Operation *op) {
  CacheHintAttr hint = kCache.get(op);
  return hint ? hint.getValue() : CacheHint::None;
}

void tilec::tile::copyCacheHint(Operation *from, Operation *op) {
  if (CacheHintAttr hint = kCache.get(from)) {
    kCache.set(op, hint);
  }
}

unsigned tilec::tile::getStorageBits(Type elementType) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 1 ? 8 : bits;
}

/// Prints `?x64xf16`; a shape of rank 0 prints the element type alone.
static void printShapedBody(AsmPrinter &printer, ArrayRef<int64_t> shape, Type elementType) {
  printer.printDimensionList(shape);
  if (!shape.empty()) {
    printer << 'x';
  }
  printer << elementType;
}

Type GlobalType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(elementType) || parser.parseGreater()) {
    return {};
  }
  return get(parser.getContext(), shape, elementType);
}

void GlobalType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedBody(printer, getShape(), getElementType());
  printer << '>';
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef scope;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseKeyword(&scope)) {
    return {};
  }
  std::optional<Scope> parsed = symbolizeScope(scope);
  if (!parsed) {
    parser.emitError(parser.getNameLoc(), "unknown buffer scope `") << scope << '`';
    return {};
  }
  if (parser.parseGreater()) {
    return {};
  }
  return get(parser.getContext(), shape, elementType, *parsed);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapedBody(printer, getShape(), getElementType());
  printer << ", " << stringifyScope(getScope()) << '>';
}
