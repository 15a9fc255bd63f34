//===- TgpuOps.cpp - verifiers and custom assembly of the tgpu dialect ---===//
#include "dialects/layout/Conversion.h"
#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/KernelSyntax.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cstdint>

using namespace mlir;
using namespace tilec::tgpu;
using tilec::layout::RegisterLayout;
using tilec::tile::GlobalType;

#define GET_OP_CLASSES
#include "dialects/tgpu/TgpuOps.cpp.inc"

static ArrayRef<int64_t> shapeOf(Type type) {
  return llvm::TypeSwitch<Type, ArrayRef<int64_t>>(type)
      .Case<GlobalType, SmemType, ShapedType>([](auto shaped) { return shaped.getShape(); })
      .Case<PendingType>([](PendingType pending) { return pending.getFragment().getShape(); })
      .Default([](Type) { return ArrayRef<int64_t>(); });
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static KernelOp kernelOf(BlockArgument argument) {
  return dyn_cast_or_null<KernelOp>(argument.getOwner()->getParentOp());
}

bool tilec::tgpu::mayAlias(BlockArgument a, BlockArgument b) {
  if (a == b) {
    return true;
  }
  KernelOp kernel = kernelOf(a);
  if (!kernel || kernel != kernelOf(b)) {
    return true; // nothing is known
  }
  auto admits = [&](BlockArgument from, BlockArgument to) {
    auto list = tilec::tile::kMayAlias.get(kernel, from.getArgNumber());
    Attribute name = tilec::tile::kName.get(kernel, to.getArgNumber());
    return list && name && llvm::is_contained(list, name);
  };
  return admits(a, b) || admits(b, a);
}

bool tilec::tgpu::mayAliasAny(BlockArgument argument) {
  return llvm::any_of(argument.getOwner()->getArguments(), [&](BlockArgument other) {
    return other != argument && isa<GlobalType>(other.getType()) && mayAlias(argument, other);
  });
}

bool tilec::tgpu::hasChecks(KernelOp kernel) {
  return kernel.walk([](tilec::tile::VerifyOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

bool tilec::tgpu::hasPrints(KernelOp kernel) {
  return kernel.walk([](tilec::tile::PrintOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

BlockArgument tilec::tgpu::getBase(Value global) {
  while (Operation *definition = global.getDefiningOp()) {
    if (!isa<tilec::tile::SliceOp, tilec::tile::ReshapeOp, tilec::tile::BitcastViewOp, ViewOp>(
            definition)) {
      return {};
    }
    global = definition->getOperand(0);
  }
  auto argument = cast<BlockArgument>(global);
  return kernelOf(argument) ? argument : BlockArgument();
}

//===----------------------------------------------------------------------===//
// Ranges of results
//===----------------------------------------------------------------------===//

static ConstantIntRanges i32Range(int64_t low, int64_t high) {
  return ConstantIntRanges::fromSigned(APInt(32, low, true), APInt(32, high, true));
}

/// A launch has fewer than 2^31 blocks: the runtime refuses others [grid-too-large].
void BlockIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), i32Range(0, INT32_MAX - 1));
}

void NumBlocksOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), i32Range(1, INT32_MAX));
}

void ClusterIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), i32Range(0, INT32_MAX - 1));
}

void NumClustersOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), i32Range(1, INT32_MAX));
}

/// A block has at most 1024 threads.
void WarpIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), i32Range(0, 31));
}

/// A team has at least a warp.
void TeamOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), i32Range(0, 31));
}

//===----------------------------------------------------------------------===//
// KernelOp, RolesOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return tilec::tile::parseKernel<KernelOp>(parser, result);
}

void KernelOp::print(OpAsmPrinter &printer) { tilec::tile::printKernel(*this, printer); }

LogicalResult KernelOp::verify() {
  if (getThreads() == 0 || getThreads() % 32 != 0 || getLaunchedThreads() > 1024) {
    return emitOpError("runs whole warps, up to 1024 threads");
  }
  if (failed(tile::verifyLaunchLimits(*this, getCluster(), getMinBlocks(), getMaxRegisters()))) {
    return failure();
  }
  if (int32_t(getPersistent().value_or(1)) < 1 || int32_t(getAimedBlocks().value_or(1)) < 1) {
    return emitOpError("has at least one block on a multiprocessor");
  }
  auto isArgument = [&](int64_t index) { return index < int64_t(getArgumentTypes().size()); };
  for (Attribute attribute : getGuard().value_or(ArrayAttr::get(getContext(), {}))) {
    auto divisible = dyn_cast<DivisibleAttr>(attribute);
    if (!divisible || !isArgument(divisible.getArgument())) {
      return emitOpError("guards a variant by #tgpu.divisible of its arguments, not ") << attribute;
    }
  }
  for (Attribute attribute : getTensorMaps().value_or(ArrayAttr::get(getContext(), {}))) {
    auto map = dyn_cast<TensorMapAttr>(attribute);
    if (!map || !isArgument(map.getArgument()) ||
        !isa<GlobalType>(getArgumentTypes()[map.getArgument()]) ||
        !llvm::all_of(map.getExtents(), isArgument) ||
        !llvm::all_of(map.getStrides(), isArgument)) {
      return emitOpError("has #tgpu.tensor_maps of its arguments, not ") << attribute;
    }
  }
  WalkResult clusters = walk([&](Operation *op) {
    auto point = dyn_cast<GridPointOp>(op);
    if (point && point.getCluster() && point.getCluster() != getCluster()) {
      point.emitOpError("has another cluster than its kernel");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return clusters.wasInterrupted() ? failure() : verifyPartialUses(*this);
}

ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> names;
  SmallVector<int32_t> first, count, teams, registers;
  Builder &builder = parser.getBuilder();
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    StringAttr name;
    int32_t firstWarp = 0, numWarps = 0, numTeams = 1, budget = 0;
    NamedAttrList ignored;
    if (parser.parseAttribute(name, "name", ignored) || parser.parseKeyword("warps") ||
        parser.parseInteger(firstWarp) || parser.parseComma() || parser.parseInteger(numWarps)) {
      return failure();
    }
    if (succeeded(parser.parseOptionalKeyword("teams")) && parser.parseInteger(numTeams)) {
      return failure();
    }
    if (succeeded(parser.parseOptionalKeyword("registers")) && parser.parseInteger(budget)) {
      return failure();
    }
    names.push_back(name);
    first.push_back(firstWarp);
    count.push_back(numWarps);
    teams.push_back(numTeams);
    registers.push_back(budget);
    Region *body = result.addRegion();
    if (parser.parseRegion(*body)) {
      return failure();
    }
    if (body->empty()) {
      body->emplaceBlock();
    }
  }
  result.addAttribute(getNamesAttrName(result.name), builder.getArrayAttr(names));
  result.addAttribute(getFirstWarpsAttrName(result.name), builder.getDenseI32ArrayAttr(first));
  result.addAttribute(getNumWarpsAttrName(result.name), builder.getDenseI32ArrayAttr(count));
  result.addAttribute(getTeamsAttrName(result.name), builder.getDenseI32ArrayAttr(teams));
  result.addAttribute(getRegistersAttrName(result.name), builder.getDenseI32ArrayAttr(registers));
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void RolesOp::print(OpAsmPrinter &printer) {
  for (auto [index, body] : llvm::enumerate(getBodies())) {
    printer.printNewline();
    printer << "role " << getNames()[index] << " warps " << getFirstWarps()[index] << ", "
            << getNumWarps()[index];
    if (getTeams()[index] != 1) {
      printer << " teams " << getTeams()[index];
    }
    if (getRegisters()[index] != 0) {
      printer << " registers " << getRegisters()[index];
    }
    printer << ' ';
    printer.printRegion(body);
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getNamesAttrName(), getFirstWarpsAttrName(), getNumWarpsAttrName(),
                            getTeamsAttrName(), getRegistersAttrName()});
}

std::optional<unsigned> RolesOp::getRoleOfTeams() {
  const auto *found = llvm::find_if(getTeams(), [](int32_t teams) { return teams > 1; });
  return found == getTeams().end() ? std::nullopt
                                   : std::optional<unsigned>(found - getTeams().begin());
}

unsigned RolesOp::getRoleOf(Operation *op) {
  auto found = llvm::find_if(getBodies(),
                             [&](Region &body) { return body.isAncestor(op->getParentRegion()); });
  return found->getRegionNumber();
}

LogicalResult RolesOp::verify() {
  size_t count = getBodies().size();
  if (count == 0 || getNames().size() != count || getFirstWarps().size() != count ||
      getNumWarps().size() != count || getTeams().size() != count ||
      getRegisters().size() != count) {
    return emitOpError("has a name, warps, teams and registers for each role");
  }
  if (llvm::count_if(getTeams(), [](int32_t teams) { return teams > 1; }) > 1) {
    return emitOpError("has one role of several teams at most");
  }
  for (size_t i = 0; i < count; ++i) {
    if (getFirstWarps()[i] < 0 || getNumWarps()[i] < 1 || getTeams()[i] < 1 ||
        getNumWarps()[i] > 32 || getTeams()[i] > 32) {
      return emitOpError("role ") << getNames()[i] << " has no warps";
    }
    const int32_t end = getFirstWarps()[i] + getAllWarps(i);
    for (size_t j = 0; j < i; ++j) {
      if (getFirstWarps()[j] < end && getFirstWarps()[i] < getFirstWarps()[j] + getAllWarps(j)) {
        return emitOpError("roles ") << getNames()[j] << " and " << getNames()[i] << " share warps";
      }
    }
    if (getRegisters()[i] != 0 && (getFirstWarps()[i] % 4 != 0 || getNumWarps()[i] % 4 != 0)) {
      return emitOpError("role ") << getNames()[i] << " sets registers for parts of a warpgroup";
    }
  }
  // setmaxnreg works on fragments' owners only: what crosses into a role must be uniform.
  WalkResult crossing = walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (isa<RankedTensorType, PendingType>(operand.getType()) &&
          !getOperation()->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != getOperation()) {
        op->emitOpError("uses a fragment from outside its role");
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(crossing.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult CostOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getOperands().size() != 1 + getTerms().size() ||
      !llvm::all_of(yield.getOperandTypes(), [](Type type) { return type.isF64(); })) {
    return emitOpError("yields the cost and each of its terms, as f64");
  }
  return success();
}

LogicalResult SlotOp::verify() {
  SmemType ring = getRing().getType(), slot = getResult().getType();
  if (ring.getRank() == 0 || ring.getShape().drop_front() != slot.getShape() ||
      ring.getElementType() != slot.getElementType()) {
    return emitOpError("gives one buffer of a ring");
  }
  if (const layout::SharedLayout *layout = getLayout(ring)) {
    if (!getLayout(slot) || *getLayout(slot) != layout->dropLeading()) {
      return emitOpError("layout of the slot is not that of the ring");
    }
  }
  return success();
}

LogicalResult SubviewOp::verify() {
  SmemType source = getSource().getType(), part = getResult().getType();
  if (getOffsets().size() != source.getShape().size() || part.getRank() != source.getRank() ||
      part.getElementType() != source.getElementType() || part.getLayout() != source.getLayout()) {
    return emitOpError("is a part of the same rank, element type and layout");
  }
  for (auto [offset, extent, whole] :
       llvm::zip_equal(getOffsets(), part.getShape(), source.getShape())) {
    if (offset < 0 || offset + extent > whole) {
      return emitOpError("reaches beyond its buffer");
    }
  }
  return success();
}

LogicalResult LocalStoreOp::verify() {
  if (getGroups() == 1) {
    return success();
  }
  auto type = cast<RankedTensorType>(getValue().getType());
  const layout::RegisterLayout *layout = getLayout(type);
  if (!layout || type.getShape() != getDest().getType().getShape() ||
      !layout->hasRowGroups(getGroups())) {
    return emitOpError("is of ") << getGroups()
                                 << " groups of warps, which do not hold rows of their own";
  }
  return success();
}

LogicalResult ZeroBeyondOp::verify() {
  const size_t rank = getDest().getType().getRank();
  if (getLow().size() != rank || getHigh().size() != rank) {
    return emitOpError("has bounds of ") << getLow().size() << " dimensions for rank " << rank;
  }
  return success();
}

static LogicalResult verifyElements(Operation *op, SmemType buffer, size_t numIndices, Type value) {
  auto vector = dyn_cast<VectorType>(value);
  if ((int64_t)numIndices != buffer.getRank()) {
    return op->emitOpError("has ") << numIndices << " indices for rank " << buffer.getRank();
  }
  if (getElementTypeOrSelf(value) != buffer.getElementType()) {
    return op->emitOpError("value type is not the element type");
  }
  if (vector && (vector.getRank() != 1 || numIndices == 0 ||
                 vector.getNumElements() > buffer.getShape().back())) {
    return op->emitOpError("takes neighbours along the last dimension");
  }
  return success();
}

LogicalResult LoadElementOp::verify() {
  return verifyElements(*this, getSource().getType(), getIndices().size(), getResult().getType());
}

LogicalResult StoreElementOp::verify() {
  return verifyElements(*this, getDest().getType(), getIndices().size(), getValue().getType());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult CopyOp::verify() {
  if (isa<GlobalType>(getSource().getType()) == isa<GlobalType>(getDest().getType())) {
    return emitOpError("copies between global and shared memory");
  }
  ArrayRef<int64_t> from = shapeOf(getSource().getType()), to = shapeOf(getDest().getType());
  if (from.size() != to.size()) {
    return emitOpError("copies between ranks ") << from.size() << " and " << to.size();
  }
  return success();
}

/// Of a fragment and the part that is, or becomes, what it has from `offsets` on.
static LogicalResult verifyPart(Operation *op, Type whole, Type part, ArrayRef<int64_t> offsets) {
  auto from = cast<RankedTensorType>(whole), to = cast<RankedTensorType>(part);
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType() ||
      (int64_t)offsets.size() != from.getRank()) {
    return op->emitOpError("is a part of the same rank and element type");
  }
  for (auto [offset, extent, all] : llvm::zip_equal(offsets, to.getShape(), from.getShape())) {
    if (offset < 0 || offset + extent > all) {
      return op->emitOpError("reaches beyond its fragment");
    }
  }
  const RegisterLayout *outer = getLayout(from), *inner = getLayout(to);
  if (!outer || !inner) {
    return success();
  }
  auto registers = isa<FragmentInsertOp>(op)
                       ? tilec::layout::replacedRegisters(*outer, *inner, offsets)
                       : tilec::layout::partRegisters(*outer, *inner, offsets);
  if (!registers) {
    return op->emitOpError("has a layout that is not its fragment's: ") << registers.reason();
  }
  return success();
}

LogicalResult FragmentSliceOp::verify() {
  return verifyPart(*this, getSource().getType(), getResult().getType(), getOffsets());
}

LogicalResult FragmentInsertOp::verify() {
  return verifyPart(*this, getDest().getType(), getSource().getType(), getOffsets());
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = cast<RankedTensorType>(getSource().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType()) {
    return emitOpError("changes the layout only");
  }
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType()) {
    return getSource();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

static LogicalResult verifyProduct(Operation *op, Type aType, Type bType, Type accType,
                                   bool transposeA, bool transposeB) {
  ArrayRef<int64_t> a = shapeOf(aType), b = shapeOf(bType), acc = shapeOf(accType);
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2) {
    return op->emitOpError("multiplies matrices");
  }
  int64_t m = a[transposeA ? 1 : 0], k = a[transposeA ? 0 : 1];
  int64_t kb = b[transposeB ? 1 : 0], n = b[transposeB ? 0 : 1];
  if (k != kb || m != acc[0] || n != acc[1]) {
    return op->emitOpError("shapes do not agree: ")
           << m << 'x' << k << " times " << kb << 'x' << n << " into " << acc[0] << 'x' << acc[1];
  }
  return success();
}

LogicalResult DotOp::verify() {
  if (getAcc().getType() != getResult().getType()) {
    return emitOpError("result is of the accumulator's type");
  }
  return verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType(),
                       getTransposeA(), getTransposeB());
}

/// The fragment behind an accumulator operand.
static RankedTensorType fragmentOf(Type accumulator) {
  if (auto pending = dyn_cast<PendingType>(accumulator)) {
    return pending.getFragment();
  }
  return cast<RankedTensorType>(accumulator);
}

tilec::layout::MmaType tilec::tgpu::mmaTypeOf(Type element) {
  if (element.isF16()) {
    return layout::MmaType::F16;
  }
  if (element.isBF16()) {
    return layout::MmaType::BF16;
  }
  if (element.isF32()) {
    return layout::MmaType::TF32;
  }
  return element.isInteger(8) ? layout::MmaType::I8 : layout::MmaType::F8;
}

tilec::layout::Answer<tilec::layout::MatrixProduct>
tilec::tgpu::matrixProduct(MmaAttr mma, Type operand, int64_t m, int64_t n, int64_t k) {
  using layout::MatrixProduct;
  if (mma.getKind() == MmaKind::Fma) {
    return layout::Refusal{"scalar multiply-adds are no matrix instruction"};
  }
  const bool wide = mma.getKind() == MmaKind::Wgmma;
  auto product = MatrixProduct::get(
      {wide ? MatrixProduct::Instruction::Wgmma : MatrixProduct::Instruction::MmaSync,
       mmaTypeOf(operand), m, n, k, mma.getN(), mma.getWarpsM(), mma.getWarpsN()});
  if (product &&
      (mma.getM() != product->instructionRows() || mma.getK() != product->stepExtent())) {
    return layout::Refusal{"no instruction has " + std::to_string(mma.getM()) + " rows and " +
                           std::to_string(mma.getK()) + " elements of k"};
  }
  return product;
}

/// Each element of the result is accumulated exactly once, as far as layouts are chosen yet. A is
/// given as it is stored, B of mma.sync is never transposed.
static LogicalResult verifyAccumulation(Operation *op, MmaAttr mma, Type aType, Type bType,
                                        RankedTensorType accType, bool transposeA) {
  const RegisterLayout *acc = getLayout(accType);
  if (!acc) {
    return success();
  }
  const auto layoutOf = [](Type type) {
    return isa<RankedTensorType>(type) ? getLayout(type) : nullptr;
  };
  const RegisterLayout *a = layoutOf(aType), *b = layoutOf(bType);
  if ((isa<RankedTensorType>(aType) && !a) || (isa<RankedTensorType>(bType) && !b)) {
    return success();
  }
  Type element = isa<SmemType>(aType) ? cast<SmemType>(aType).getElementType()
                                      : cast<RankedTensorType>(aType).getElementType();
  auto product = matrixProduct(mma, element, accType.getShape()[0], accType.getShape()[1],
                               shapeOf(aType)[transposeA ? 0 : 1]);
  if (!product) {
    return op->emitOpError("is described by an instruction that there is not: ")
           << product.reason();
  }
  RegisterLayout transposed = a && transposeA ? a->transposed() : RegisterLayout();
  std::string fault = product->check(*acc, a && transposeA ? &transposed : a, b);
  return fault.empty() ? success() : op->emitOpError("does not compute the product: ") << fault;
}

LogicalResult WgmmaOp::verify() {
  if (getMma().getKind() != MmaKind::Wgmma) {
    return emitOpError("is described by a wgmma instruction");
  }
  if (fragmentOf(getAcc().getType()) != getResult().getType().getFragment()) {
    return emitOpError("result is the accumulator's fragment, pending");
  }
  if (failed(verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType(),
                           getTransposeA(), getTransposeB()))) {
    return failure();
  }
  return verifyAccumulation(*this, getMma(), getA().getType(), getB().getType(),
                            fragmentOf(getAcc().getType()), getTransposeA());
}

LogicalResult WgmmaWaitOp::verify() {
  if (getInputs().size() != getResults().size()) {
    return emitOpError("gives one result for each accumulator");
  }
  for (auto [input, result] : llvm::zip_equal(getInputs(), getResults())) {
    if (fragmentOf(result.getType()) != cast<PendingType>(input.getType()).getFragment()) {
      return emitOpError("keeps the type of an accumulator");
    }
    if (getPending() == 0 && isa<PendingType>(result.getType())) {
      return emitOpError("waits for all groups, so no accumulator stays pending");
    }
  }
  return success();
}

LogicalResult MmaOp::verify() {
  if (getMma().getKind() != MmaKind::MmaSync) {
    return emitOpError("is described by an mma_sync instruction");
  }
  if (getAcc().getType() != getResult().getType()) {
    return emitOpError("result is of the accumulator's type");
  }
  if (failed(verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType(), false,
                           false))) {
    return failure();
  }
  return verifyAccumulation(*this, getMma(), getA().getType(), getB().getType(),
                            cast<RankedTensorType>(getAcc().getType()), /*transposeA=*/false);
}

LogicalResult FmaOp::verify() {
  if (getAcc().getType() != getResult().getType()) {
    return emitOpError("result is of the accumulator's type");
  }
  return verifyProduct(*this, getA().getType(), getB().getType(), getAcc().getType(),
                       getTransposeA(), getTransposeB());
}
