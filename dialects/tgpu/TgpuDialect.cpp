//===- TgpuDialect.cpp - dialect registration, attributes and types ------===//
#include "dialects/tgpu/Reciprocal.h"
#include "dialects/tgpu/Roles.h"
#include "dialects/tgpu/Tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec::tgpu;
namespace layout = tilec::layout;

#include "dialects/tgpu/TgpuDialect.cpp.inc"
#include "dialects/tgpu/TgpuEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tgpu/TgpuAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/tgpu/TgpuTypes.cpp.inc"

void TgpuDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tgpu/TgpuTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tgpu/TgpuAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tgpu/TgpuOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static bool isLoop(Operation *op) { return isa<scf::ForOp>(op); }
static bool isInLoop(Operation *op) { return isa_and_nonnull<scf::ForOp>(op->getParentOp()); }
static bool isGlobalAccess(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<tilec::tile::GlobalType>);
}
static bool isElementAccess(Operation *op) {
  return isa<tilec::tile::LoadOp, tilec::tile::StoreOp>(op) && isGlobalAccess(op);
}
static bool isTmaLoad(Operation *op) { return isa<TmaLoadOp>(op); }
static bool isKernel(Operation *op) { return isa<KernelOp>(op); }
static bool isAllocation(Operation *op) { return isa<AllocSharedOp>(op); }
static bool isTileProduct(Operation *op) {
  return isa<mlir::arith::MulFOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF32() &&
         isa<RankedTensorType>(op->getResult(0).getType());
}
static bool isAny(Operation *) { return true; }

static constexpr tilec::FactRule kOperationFacts[] = {
    {kSchedule.name, "a #tgpu.stage", tilec::isKindOf<StageAttr>, isInLoop},
    {kPipeline.name, "a #tgpu.pipeline", tilec::isKindOf<PipelineAttr>, isLoop},
    {kInBounds.name, "an array of i1", tilec::isKindOf<DenseBoolArrayAttr>, isGlobalAccess},
    {kAccessBytes.name, "bytes, i32 >= 1",
     [](Attribute value) { return tilec::isI32AtLeast(value, 1); }, isElementAccess},
    {kRefill.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isTmaLoad},
    {kRole.name, "the number of a role, i32 >= 0",
     [](Attribute value) { return tilec::isI32AtLeast(value, 0); }, isAny},
    {kUnderVote.name, "true or false", tilec::isKindOf<BoolAttr>, isTileProduct},
    {kHandOver.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isAllocation},
    {kOfEachTeam.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isAllocation},
};

static constexpr tilec::FactRule kArgumentFacts[] = {
    {kDivisible.name, "a divisor, i64 >= 1",
     [](Attribute value) { return tilec::isI64AtLeast(value, 1); }, isKernel},
    {kRange.name, "the least and the greatest value, two i64",
     [](Attribute value) {
       auto range = llvm::dyn_cast<DenseI64ArrayAttr>(value);
       return range && range.size() == 2 && range[0] <= range[1];
     },
     isKernel},
    {kAlign.name, "bytes, i64, a power of two", tilec::isI64PowerOfTwo, isKernel},
    {kMayBeEmpty.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isKernel},
    {kPointCounter.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isKernel},
    {kWrittenBefore.name, "a unit attribute", tilec::isKindOf<UnitAttr>, isKernel},
    {kReciprocal.name, "the number of an argument, and 0 or 1: two i64",
     [](Attribute value) {
       auto numbers = llvm::dyn_cast<DenseI64ArrayAttr>(value);
       return numbers && numbers.size() == 2 && numbers[0] >= 0 &&
              (numbers[1] == 0 || numbers[1] == 1);
     },
     isKernel},
};

LogicalResult TgpuDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return tilec::verifyFact(kOperationFacts, op, attribute);
}

LogicalResult TgpuDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                    NamedAttribute attribute) {
  return tilec::verifyFact(kArgumentFacts, op, attribute);
}

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError, CopyPath path,
                                   int64_t stages) {
  if (stages < 1) {
    return emitError() << "a pipeline has at least one stage";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes of numbers: what no pass may be handed
//===----------------------------------------------------------------------===//

/// Threads of a block are at most 1024, so warps at most 32.
constexpr int64_t kMaxWarps = 32;
/// Extent of a TMA box in one dimension (CUDA driver API, cuTensorMapEncodeTiled).
constexpr int64_t kMaxBox = 256;
constexpr size_t kMaxMapRank = 5;

LogicalResult MmaAttr::verify(function_ref<InFlightDiagnostic()> emitError, MmaKind kind, int64_t m,
                              int64_t n, int64_t k, int64_t warpsM, int64_t warpsN) {
  if (warpsM < 1 || warpsN < 1 || warpsM > kMaxWarps || warpsN > kMaxWarps) {
    return emitError() << "a product is shared by 1 to " << kMaxWarps
                       << " warps along each dimension";
  }
  // PTX ISA 9.7.15 (wgmma), 9.7.14 (mma): 32 bytes of k at most, 4 for f64.
  bool fits = kind == MmaKind::Wgmma
                  ? m == 64 && n >= 8 && n <= 256 && n % 8 == 0 && k >= 8 && k <= 32
              : kind == MmaKind::MmaSync ? m >= 8 && m <= 16 && n == 8 && k >= 4 && k <= 32
                                         : m >= 1 && n >= 1 && k >= 1;
  if (!fits) {
    return emitError() << "no instruction " << stringifyMmaKind(kind) << " computes " << m << 'x'
                       << n << 'x' << k;
  }
  return success();
}

LogicalResult StageAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t, int64_t,
                                int64_t hold) {
  if (hold < 0 || hold > 100) {
    return emitError() << "`hold` is a percentage";
  }
  return success();
}

LogicalResult DivisibleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t argument,
                                    int64_t divisor) {
  if (argument < 0 || divisor < 1) {
    return emitError() << "names an argument and a divisor of at least 1";
  }
  return success();
}

LogicalResult TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t argument,
                                    ArrayRef<int64_t> extents, ArrayRef<int64_t> strides,
                                    ArrayRef<int64_t> box, int64_t swizzle) {
  if (argument < 0 || extents.empty() || extents.size() > kMaxMapRank ||
      strides.size() != extents.size() || box.size() != extents.size()) {
    return emitError() << "has an extent, a stride and a box extent for each of 1 to "
                       << kMaxMapRank << " dimensions";
  }
  if (llvm::any_of(box, [](int64_t extent) { return extent < 1 || extent > kMaxBox; })) {
    return emitError() << "boxes have 1 to " << kMaxBox << " elements along each dimension";
  }
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle)) {
    return emitError() << "swizzles 0, 32, 64 or 128 bytes";
  }
  return success();
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots) {
  // Positions are i32, and two barriers of 8 bytes for each slot fit shared memory.
  if (slots < 1 || slots > 4096) {
    return emitError() << "a channel has 1 to 4096 slots";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layout attributes
//===----------------------------------------------------------------------===//

/// Parses `<"text">` with Layout::parse.
template <typename Layout>
static FailureOr<Layout> parseLayout(AsmParser &parser) {
  std::string text;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) || parser.parseString(&text) ||
      parser.parseGreater()) {
    return failure();
  }
  layout::Answer<Layout> parsed = Layout::parse(text);
  if (!parsed) {
    return parser.emitError(loc, parsed.reason());
  }
  return *parsed;
}

Attribute FragmentAttr::parse(AsmParser &parser, Type) {
  FailureOr<layout::RegisterLayout> parsed = parseLayout<layout::RegisterLayout>(parser);
  return failed(parsed) ? Attribute() : get(parser.getContext(), *parsed);
}
void FragmentAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLayout().str() << "\">";
}

LogicalResult FragmentAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  if (shape != getLayout().shape()) {
    return emitError() << "layout is of another shape than its fragment";
  }
  return success();
}

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  FailureOr<layout::SharedLayout> parsed = parseLayout<layout::SharedLayout>(parser);
  return failed(parsed) ? Attribute() : get(parser.getContext(), *parsed);
}
void SharedAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLayout().str() << "\">";
}

const layout::RegisterLayout *tilec::tgpu::getLayout(Type fragment) {
  auto tensor = dyn_cast<RankedTensorType>(fragment);
  auto encoding = tensor ? dyn_cast_or_null<FragmentAttr>(tensor.getEncoding()) : FragmentAttr();
  return encoding ? &encoding.getImpl()->layout : nullptr;
}

RankedTensorType tilec::tgpu::withLayout(RankedTensorType type,
                                         const layout::RegisterLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               FragmentAttr::get(type.getContext(), layout));
}

layout::Answer<layout::RegisterLayout> tilec::tgpu::copyLayout(ArrayRef<int64_t> shape,
                                                               Type element, int64_t bytes,
                                                               int64_t warps, int64_t firstWarp) {
  layout::RegisterLayout::BlockedOptions options;
  options.firstWarp = firstWarp;
  const int64_t bytesOfElement = std::max(8u, tile::getStorageBits(element)) / 8;
  return layout::RegisterLayout::blocked(shape, std::max<int64_t>(1, bytes / bytesOfElement), warps,
                                         options);
}

layout::Answer<layout::Conversion> tilec::tgpu::planConversion(MLIRContext *context,
                                                               const layout::RegisterLayout &from,
                                                               const layout::RegisterLayout &to,
                                                               unsigned elementBits) {
  return context->getLoadedDialect<TgpuDialect>()->getConversionPlans().get(from, to, elementBits);
}

std::optional<layout::Conversion> tilec::tgpu::getExchange(ConvertLayoutOp convert) {
  auto type = cast<RankedTensorType>(convert.getSource().getType());
  const layout::RegisterLayout *from = getLayout(type),
                               *to = getLayout(convert.getResult().getType());
  if (!from || !to) {
    return std::nullopt;
  }
  const unsigned bits = std::max(8u, tile::getStorageBits(type.getElementType()));
  layout::Answer<layout::Conversion> plan = planConversion(convert.getContext(), *from, *to, bits);
  if (!plan || plan->kind != layout::Conversion::Kind::Shared) {
    return std::nullopt;
  }
  return *plan;
}

const layout::SharedLayout *tilec::tgpu::getLayout(SmemType buffer) {
  return buffer.getLayout() ? &buffer.getLayout().getImpl()->layout : nullptr;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type SmemType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SharedAttr layout;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(elementType)) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout)) {
    return {};
  }
  if (parser.parseGreater()) {
    return {};
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, elementType,
                    layout);
}

void SmemType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  if (!getShape().empty()) {
    printer << 'x';
  }
  printer << getElementType();
  if (getLayout()) {
    printer << ", " << getLayout();
  }
  printer << '>';
}

LogicalResult SmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, SharedAttr layout) {
  if (!elementType.isIntOrFloat()) {
    return emitError() << "elements of shared memory are numbers, not " << elementType;
  }
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 1; })) {
    return emitError() << "a buffer in shared memory has an extent of less than 1";
  }
  // A part of a buffer carries the whole buffer's layout, so only the rank must agree.
  if (layout && layout.getLayout().rank() != shape.size()) {
    return emitError() << "layout of rank " << layout.getLayout().rank() << " for a buffer of rank "
                       << shape.size();
  }
  return success();
}
